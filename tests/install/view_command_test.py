"""`datum view`, and its page in a browser without a window.

usage: view_command_test.py DATUM DATUM-DEMO
"""

import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

DATUM = DEMO = ""
CALL = {"ph": "X", "cat": "api", "pid": 1, "tid": 1, "ts": 1000.0, "dur": 50.0}


def slice_of(name: str, **changes: object) -> dict:
    return {**CALL, "name": name, **changes}


def colours_of(png: bytes) -> set[bytes]:
    """Colours that a picture without palette and interlace shows, sampled every fourth row and pixel."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
            step = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    data, before, colours = zlib.decompress(data), bytearray(width * step), set()
    for row in range(height):
        start = row * (width * step + 1)
        line = bytearray(data[start + 1:start + 1 + width * step])
        undo_filter(data[start], line, before, step)
        if row % 4 == 0:
            colours.update(bytes(line[x:x + 3]) for x in range(0, len(line), 4 * step))
        before = line
    return colours


def undo_filter(kind: int, line: bytearray, above: bytearray, step: int) -> None:
    """PNG (ISO/IEC 15948), 9.2."""
    for x in range(len(line)):
        left = line[x - step] if x >= step else 0
        corner = above[x - step] if x >= step else 0
        if kind == 4:
            guess = left + above[x] - corner
            distances = [(abs(guess - near), order, near) for order, near in enumerate((left, above[x], corner))]
            add = min(distances)[2]
        else:
            add = (0, left, above[x], (left + above[x]) // 2)[kind]
        line[x] = (line[x] + add) & 255


class ViewCommand(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="datum-test-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def view(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([DATUM, "view", *arguments], cwd=self.folder, capture_output=True, text=True, check=False)

    def write(self, name: str, content: object) -> str:
        (self.folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return name

    def browse(self, *options: str) -> str:
        browser = shutil.which("chromium")
        self.assertIsNotNone(browser, "chromium is missing; scripts/setup --ci installs it")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--window-size=900,500",
                   "--virtual-time-budget=3000", f"--user-data-dir={self.folder}/profile", *options]
        environment = {**os.environ, "HOME": str(self.folder)}
        result = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def page_of(self, trace: object, wish: str = "") -> str:
        """What the page's elements hold after its program has run."""
        result = self.view(self.write("out.json", trace))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "out.html\n", ""))
        return self.browse("--dump-dom", f"file://{self.folder}/out.html{wish}")

    def text_in(self, page: str, identifier: str) -> str:
        inside = re.search(rf'id="{identifier}"[^>]*>(.*?)</(?:span|aside)>', page, re.DOTALL)
        return html.unescape(re.sub(r"<[^>]+>", " ", inside[1]))

    def test_given_the_trace_of_a_program_when_viewed_then_the_page_counts_it_and_opens_at_a_call(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("DATUM_", "ZE_ENABLE"))}
        subprocess.run([DATUM, "run", "--board", "model:", "--trace", "out.json", "--", DEMO, DEMO], cwd=self.folder, env=environment,
                       capture_output=True, check=True)
        trace = json.loads((self.folder / "out.json").read_text())
        events = trace["traceEvents"]
        copy = next(event for event in events if event["name"] == "zeCommandListAppendMemoryCopy")
        page = self.page_of(trace, f"#call={copy['args']['call']}")
        summary = self.text_in(page, "summary")
        self.assertIn(f"{sum(event['ph'] == 'X' for event in events)} slices", summary)
        self.assertIn(f"{sum(event['ph'] in 'tf' for event in events)} arrows", summary)
        self.assertEqual(self.text_in(page, "memory-summary"), f"{sum(event['ph'] == 'b' for event in events)} allocations")
        details = self.text_in(page, "details")
        self.assertIn("zeCommandListAppendMemoryCopy", details)
        self.assertRegex(details, r"leads to\s+COPY")
        self.assertIn(copy["args"]["dstptr"], details)

    def test_given_a_trace_when_viewed_then_its_slices_and_allocations_are_drawn(self) -> None:
        allocation = {"ph": "b", "name": "device memory", "cat": "allocation", "id": "0x1000", "pid": 1, "tid": 0, "ts": 1000.0,
                      "args": {"pointer": "0x1000", "bytes": 4096}}
        drawn = {}
        for name, events in (("empty", []), ("full", [slice_of("zeMemFree"), allocation])):
            self.assertEqual(self.view(self.write(f"{name}.json", {"traceEvents": events})).returncode, 0)
            self.browse(f"--screenshot={self.folder}/{name}.png", f"file://{self.folder}/{name}.html")
            drawn[name] = colours_of((self.folder / f"{name}.png").read_bytes())
        vivid = {name: {colour for colour in colours if max(colour) - min(colour) > 60} for name, colours in drawn.items()}
        self.assertEqual(vivid["empty"], set())
        self.assertGreaterEqual(len(vivid["full"]), 2)

    def test_given_words_that_would_end_the_page_when_viewed_then_they_are_shown_as_words(self) -> None:
        nasty = "</script><script>document.title='owned'</script><b>bold"
        page = self.page_of({"traceEvents": [slice_of("zeMemFree", args={"call": 3, "name": nasty})]}, "#call=3")
        self.assertIn("<title>Datum trace</title>", page)
        self.assertIn("&lt;b&gt;bold", page)

    def test_given_calls_inside_calls_when_searched_then_the_innermost_is_found(self) -> None:
        events = [slice_of("outer"), slice_of("inner", ts=1010.0, dur=5.0, args={"board": 7})]
        page = self.page_of(events, "#search=board=7")
        self.assertEqual(self.text_in(page, "found"), "1 found")
        self.assertIn("inner", self.text_in(page, "details"))

    def test_given_lost_events_and_none_left_when_viewed_then_the_page_says_so(self) -> None:
        page = self.page_of({"traceEvents": [], "otherData": {"lost_events": 5}})
        self.assertIn("0 slices", self.text_in(page, "summary"))
        self.assertIn("5 earlier events lost", self.text_in(page, "summary"))

    def test_given_what_is_no_trace_when_viewed_then_it_is_refused_and_nothing_is_written(self) -> None:
        for content, words in (("", "is empty"), ("{", "is no JSON"), ('{"a": 1}', "no list 'traceEvents'")):
            result = self.view(self.write("bad.json", content))
            self.assertEqual((result.returncode, result.stdout), (2, ""), content)
            self.assertIn(words, result.stderr)
        self.assertEqual(self.view("missing.json").returncode, 2)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["bad.json"])

    def test_given_a_page_that_cannot_be_written_then_it_says_so(self) -> None:
        result = self.view(self.write("out.json", []), "-o", "missing/out.html")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("missing/out.html", result.stderr)
        self.assertIn("No such file", result.stderr)


if __name__ == "__main__":
    DATUM, DEMO = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
