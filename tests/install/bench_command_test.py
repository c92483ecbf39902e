"""`datum bench`: sweeps over sizes on a board.

usage: bench_command_test.py DATUM
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DATUM = ""
SWEEPS = {"copy": 3, "fill": 1, "latency": 2, "allocation": 3, "mapping": 1}


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    ours = ("DATUM_BOARDS", "DATUM_LOG", "DATUM_SIM_PLUGIN", "ZE_ENABLE_ALT_DRIVERS")
    variables = {name: value for name, value in os.environ.items() if name not in ours}
    command = [DATUM, "bench", "--board", "model:memory=64M", "--per-point", "1", *arguments]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


class Bench(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_given_no_sweep_named_when_run_then_all_are_measured_in_every_form(self) -> None:
        table, page = self.folder / "all.csv", self.folder / "all.html"
        result = bench("--largest", "16K", "--json", "--csv", str(table), "--html", str(page))
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual({sweep["name"]: len(sweep["series"]) for sweep in report["sweeps"]}, SWEEPS)
        points = [point for sweep in report["sweeps"] for series in sweep["series"] for point in series["points"]]
        self.assertTrue(all(0 < point["fastest_us"] <= point["median_us"] <= point["slowest_us"] for point in points), points)
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["bytes"]) for row in rows], [point["bytes"] for point in points])
        text = page.read_text(encoding="utf-8")
        self.assertEqual(text.count("<svg "), len(SWEEPS))
        self.assertEqual(text.count("<circle "), len(points))

    def test_given_sweeps_named_when_run_then_only_they_are_shown_and_progress_is_told_apart(self) -> None:
        result = bench("fill", "allocation", "--largest", "4K")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?s)^[^\n]+\n\nFills of device memory, MB/s\n.*\n\nAllocating and freeing, us\n")
        self.assertEqual(result.stderr, "0/7 fill, fill\n4/7 allocation, device\n5/7 allocation, host\n6/7 allocation, shared\n")

    def test_given_a_file_that_cannot_be_written_when_run_then_nothing_is_measured(self) -> None:
        result = bench("--html", str(self.folder / "missing" / "page.html"))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"^datum: '.*page\.html' cannot be written: No such file or directory\n")

    def test_given_a_size_beyond_the_device_when_run_then_size_and_limit_are_told(self) -> None:
        result = bench("--largest", "1G")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"--largest is 1 GiB, and the device allocates .* at most")

    def test_given_a_size_that_is_none_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(bench("--largest", "1K").returncode, 2)
        self.assertEqual(bench("--largest", "much").returncode, 2)

    def test_given_a_sweep_that_is_none_when_run_then_the_command_line_is_not_understood(self) -> None:
        self.assertEqual(bench("swim").returncode, 64)


if __name__ == "__main__":
    DATUM = sys.argv.pop(1)
    unittest.main()
