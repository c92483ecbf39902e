"""`datum run` and the timeline that it writes of datum-demo.

usage: run_command_test.py DATUM DATUM-DEMO
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DATUM = DEMO = ""


class RunCommand(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_datum(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        ours = ("DATUM_BOARDS", "DATUM_LOG", "DATUM_SIM_OPTIONS", "DATUM_SIM_PLUGIN", "DATUM_TRACE", "ZE_ENABLE_ALT_DRIVERS")
        variables = {name: value for name, value in os.environ.items() if name not in ours} | changes
        return subprocess.run([DATUM, "run", *arguments], env=variables, cwd=self.folder, capture_output=True, text=True, check=False)

    def timeline_of_demo(self, **changes: str) -> dict:
        result = self.run_datum("--board", "model:", "--trace", "out.json", "--", DEMO, DEMO, **changes)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("came back", result.stdout)
        return json.loads((self.folder / "out.json").read_text())

    def test_given_a_program_when_run_then_it_gets_its_arguments_and_gives_its_status(self) -> None:
        result = self.run_datum("--board", "model:", "--", "sh", "-c", 'echo "$0|$1|$DATUM_BOARDS"; exit 7', "--board", "x y")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, "--board|x y|model:\n", ""))

    def test_given_no_board_when_run_then_the_environment_chooses_and_else_the_rtl(self) -> None:
        self.assertEqual(self.run_datum("--", "printenv", "DATUM_BOARDS", DATUM_BOARDS="model:seed=2").stdout, "model:seed=2\n")
        if not list(Path("/sys/bus/pci/drivers").glob("vfio-pci/*:*")):
            result = self.run_datum("--", "printenv", "DATUM_BOARDS")
            self.assertEqual(result.stdout, "rtl:\n")
            self.assertIn("datum: no board is named and no card is bound; the program gets a simulated board, rtl:", result.stderr)

    def test_given_a_file_that_cannot_be_when_wanted_then_nothing_is_started_and_it_is_told_why(self) -> None:
        (self.folder / "there").mkdir()
        for option, file, words in (("--trace", "none/out.json", f"there is no folder '{self.folder}/none'"), ("--waveform", "/nonexistent/out.fst", "there is no folder '/nonexistent'"),
                                    ("--trace", "there", "'there' is a folder"), ("--trace", "/proc/version/out.json", "there is no folder '/proc/version'")):
            result = self.run_datum("--board", "rtl:", option, file, "--", "echo", "started")
            self.assertEqual((result.returncode, result.stdout), (2, ""), file)
            self.assertIn(f"{option}: {words}", result.stderr)
            self.assertNotIn("DATUM_TRACE", result.stderr)

    def test_given_a_program_that_is_none_when_run_then_the_status_is_that_of_a_shell(self) -> None:
        result = self.run_datum("--", "/nonexistent/program")
        self.assertEqual((result.returncode, result.stdout), (127, ""))
        self.assertIn("/nonexistent/program", result.stderr)
        self.assertEqual(self.run_datum("--", "/etc/passwd").returncode, 126)
        self.assertEqual(self.run_datum().returncode, 64)

    def test_given_a_board_of_no_kind_when_named_then_nothing_is_started_and_the_kinds_are_told(self) -> None:
        result = self.run_datum("--board", "zzz:", "--", "echo", "started")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("unknown scheme 'zzz'", result.stderr)

    def test_given_a_waveform_when_wanted_then_it_is_an_option_of_the_rtl_and_refused_elsewhere(self) -> None:
        shown = self.run_datum("--board", "rtl:", "--waveform", "out.fst", "--", "printenv", "DATUM_SIM_OPTIONS", DATUM_SIM_OPTIONS="seed=3")
        self.assertEqual(shown.stdout, f"seed=3,wave={self.folder.resolve()}/out.fst\n")
        refused = self.run_datum("--board", "model:", "--waveform", "out.fst", "--", "true")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("only rtl: boards have waveforms", refused.stderr)

    def test_given_a_program_that_ends_with_its_board_open_then_the_waveform_and_the_coverage_are_whole(self) -> None:
        (self.folder / "file").write_text("few bytes")
        coverage = {"DATUM_SIM_OPTIONS": f"coverage={self.folder.resolve()}/out.dat"}
        result = self.run_datum("--board", "rtl:", "--waveform", "out.fst", "--", DEMO, str(self.folder / "file"), **coverage)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        waveform = (self.folder / "out.fst").read_bytes()
        self.assertEqual(waveform[0], 0, "an FST file begins with its header block")
        started, ended = (int.from_bytes(waveform[at : at + 8], "big") for at in (9, 17))
        self.assertEqual(started, 0)
        self.assertGreater(ended, 1_000_000, "picoseconds")
        self.assertEqual(sorted(path.name for path in self.folder.glob("out.fst*")), ["out.fst"])
        self.assertGreater((self.folder / "out.dat").stat().st_size, 1000)

    def test_given_the_demo_when_traced_then_calls_allocations_descriptors_and_interrupts_are_there(self) -> None:
        timeline = self.timeline_of_demo()
        events = timeline["traceEvents"]
        names = collections.Counter(event["name"] for event in events if event.get("cat") == "api")
        for name in ("zeMemAllocDevice", "zeMemAllocHost", "zeCommandListCreateImmediate", "zeCommandListAppendMemoryCopy", "zeMemFree"):
            self.assertGreater(names[name], 0, name)
        self.assertEqual(names["zeMemAllocDevice"] + names["zeMemAllocHost"], sum(event["ph"] == "b" for event in events))
        self.assertGreater(sum(event["name"] == "COPY" for event in events if event.get("cat") == "descriptor"), 0)
        self.assertGreater(sum(event.get("cat") == "interrupt" for event in events), 0)
        ended = [event["args"] for event in events if event.get("cat") == "descriptor" and event["args"]["status"] == "OK"]
        self.assertTrue(ended and all(each["timer"] > 0 and "cycle" in each for each in ended), ended[:3])
        self.assertLessEqual({"rows opened", "refreshes", "page walks", "words corrected", "words lost", "stalled cycles"}, {event["name"] for event in events if event["ph"] == "C"})
        self.assertEqual(timeline["otherData"]["lost_events"], 0)

    def test_given_the_demo_when_traced_then_slices_of_a_track_lie_beside_or_inside_one_another(self) -> None:
        tracks = collections.defaultdict(list)
        for event in self.timeline_of_demo()["traceEvents"]:
            if event["ph"] == "X":
                begin = round(event["ts"] * 1000)
                tracks[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000), event["name"]))
        for track, slices in tracks.items():
            open_ends = []
            for begin, end, name in sorted(slices, key=lambda each: (each[0], -each[1])):
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                self.assertTrue(not open_ends or end <= open_ends[-1], f"{name} at {begin} of {track}")
                open_ends.append(end)

    def test_given_the_demo_when_traced_then_each_arrow_leads_from_a_call_over_a_descriptor_onwards(self) -> None:
        events = self.timeline_of_demo()["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]

        def categories_at(arrow: dict) -> set[str]:
            return {each["cat"] for each in slices if (each["pid"], each["tid"]) == (arrow["pid"], arrow["tid"])
                    and each["ts"] - 0.001 <= arrow["ts"] <= each["ts"] + each["dur"] + 0.001}

        arrows = collections.defaultdict(dict)
        for event in events:
            if event["ph"] in "stf":
                arrows[event["id"]][event["ph"]] = event
        self.assertGreater(sum("t" in arrow for arrow in arrows.values()), 0, "none leads to an interrupt")
        for arrow in arrows.values():
            self.assertIn("api", categories_at(arrow["s"]))
            self.assertIn("descriptor", categories_at(arrow.get("t", arrow["f"])))
            if "t" in arrow:
                self.assertIn("interrupt", categories_at(arrow["f"]))

    def test_given_a_small_buffer_when_traced_then_the_end_is_kept_and_the_rest_counted(self) -> None:
        for size, told in (("1024", ""), ("3", "DATUM_TRACE_EVENTS is '3'")):
            result = self.run_datum("--board", "model:", "--trace", "out.json", "--", DEMO, DEMO, DATUM_TRACE_EVENTS=size)
            self.assertEqual(result.returncode, 0)
            self.assertIn(told, result.stderr)
            self.assertLessEqual(json.loads((self.folder / "out.json").read_text())["otherData"]["events"], 262144)

    def test_given_a_file_that_cannot_be_written_when_traced_then_the_program_runs_and_it_is_told(self) -> None:
        result = self.run_datum("--board", "model:", "--", DEMO, DEMO, DATUM_TRACE="/nonexistent/out.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("cannot be written", result.stderr)


if __name__ == "__main__":
    DATUM, DEMO = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
