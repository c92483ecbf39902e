#!/usr/bin/env python3
"""Runs the tests of several build trees in one ctest, and puts a table of stages before ctest's own summary.

usage: run_tests.py --mode MODE [--leave-out STAGE]... --stages FILE --folder FOLDER [--jobs N] [NAME=BUILD-FOLDER...]

NAME is dev, asan, tsan or fuzz. Tests of dev form one stage per label; those of another tree form the stage of its name.
"""

import argparse
import json
import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from stage_table import LEFT_OUT, MODE_STAGES, TEST_BUDGETS, Stage, format_table, read_stages

HEARTBEAT_S = 15
STARTED = re.compile(r"^\s*Start\s+(\d+): (.*)$")
FINISHED = re.compile(r"^\s*\d+/\d+ Test\s+#(\d+): .*?(Passed|\*\*\*\S[^0-9]*?|Not Run[^0-9]*)\s+([0-9.]+) sec")
SUMMARY = re.compile(r"^\d+% tests passed, ")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=sorted(MODE_STAGES), required=True)
    parser.add_argument("--leave-out", action="append", default=[], metavar="STAGE", help="of the mode's stages, one that is not run")
    parser.add_argument("--stages", type=Path, required=True, help="what scripts/test noted of the stages before")
    parser.add_argument("--folder", type=Path, required=True, help="scratch folder for this run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("builds", nargs="*", metavar="NAME=FOLDER")
    return parser.parse_args()


def join_builds(folder: Path, builds: dict[str, Path]) -> None:
    """Makes `folder` a test tree that consists of those of `builds`."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f'subdirs("{build}")\n' for build in builds.values()]
    (folder / "CTestTestfile.cmake").write_text("".join(lines))


def stage_of(test: dict, builds: dict[str, Path]) -> str | None:
    """The stage that a test of ctest's list belongs to; None for one that no stage runs."""
    properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
    labels = properties.get("LABELS", [])
    folder = Path(properties.get("WORKING_DIRECTORY", "/"))
    for name, build in builds.items():
        if name != "dev" and folder.is_relative_to(build):
            return name
    return next((label for label in labels if label in TEST_BUDGETS), None)


def list_tests(folder: Path, builds: dict[str, Path]) -> dict[int, tuple[str | None, set[str]]]:
    """ctest's number of each test -> its stage and its labels."""
    answer = subprocess.run(
        ["ctest", "--test-dir", str(folder), "--show-only=json-v1"], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        sys.exit(f"run_tests: ctest cannot list the tests: {answer.stderr.strip()}")
    tests = {}
    for number, test in enumerate(json.loads(answer.stdout)["tests"], start=1):
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        tests[number] = (stage_of(test, builds), set(properties.get("LABELS", [])))
    return tests


def number_ranges(numbers: list[int]) -> str:
    """ctest's -I argument that selects exactly these numbers."""
    return "0,0,0," + ",".join(str(number) for number in numbers)


class Run:
    """One run of ctest: passes its lines on as they come, holds its summary back, and adds up what each stage took."""

    def __init__(self, tests: dict[int, str]) -> None:
        self.tests = tests
        self.seconds = dict.fromkeys(tests.values(), 0.0)
        self.failures = dict.fromkeys(tests.values(), 0)
        self.skipped = dict.fromkeys(tests.values(), 0)
        self.running: dict[int, tuple[str, float]] = {}
        self.done = 0
        self.summary: list[str] = []

    def take(self, line: str) -> None:
        if self.summary or SUMMARY.match(line):
            self.summary.append(line)
            return
        if match := STARTED.match(line):
            self.running[int(match[1])] = (match[2], time.monotonic())
        elif match := FINISHED.match(line):
            self.finish(int(match[1]), match[2].strip(), float(match[3]))
        print(line, flush=True)

    def finish(self, number: int, result: str, seconds: float) -> None:
        self.running.pop(number, None)
        self.done += 1
        stage = self.tests.get(number)
        if stage is not None:
            self.seconds[stage] += seconds
            self.skipped[stage] += result == "***Skipped"
            self.failures[stage] += result not in ("Passed", "***Skipped")

    def show_life(self) -> None:
        now = time.monotonic()
        running = ", ".join(f"{name} ({now - start:.0f} s)" for name, start in self.running.values())
        print(f"  ... {self.done} of {len(self.tests)} tests done; running: {running or 'nothing yet'}", flush=True)

    def follow(self, command: list[str]) -> int:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   text=True, errors="replace")
        lines: queue.Queue[str | None] = queue.Queue()

        def read() -> None:
            for line in process.stdout:
                lines.put(line.rstrip("\n"))
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=HEARTBEAT_S)
            except queue.Empty:
                self.show_life()
                continue
            if line is None:
                return process.wait()
            self.take(line)


def test_stages(names: list[str], selected: dict[int, str], run: Run) -> list[Stage]:
    stages = []
    for name in names:
        count = sum(1 for stage in selected.values() if stage == name)
        outcome = "empty" if count == 0 else "failed" if run.failures[name] else "passed"
        skipped = run.skipped.get(name, 0)
        stages.append(Stage(name, TEST_BUDGETS[name], run.seconds.get(name, 0.0), outcome, count, skipped))
    return stages


def main() -> int:
    arguments = parse_arguments()
    builds = {name: Path(folder).resolve() for name, folder in (build.split("=", 1) for build in arguments.builds)}
    join_builds(arguments.folder, builds)
    wanted = [name for name in MODE_STAGES[arguments.mode] if name not in arguments.leave_out]
    selected = {
        number: stage
        for number, (stage, labels) in list_tests(arguments.folder, builds).items()
        if stage in wanted and not labels & LEFT_OUT[arguments.mode]
    }
    run = Run(selected)
    status = 1
    if selected:
        status = run.follow(
            ["ctest", "--test-dir", str(arguments.folder), "--output-on-failure", "--no-label-summary",
             "-j", str(arguments.jobs), "-I", number_ranges(list(selected))]
        )
    stages = read_stages(arguments.stages.read_text()) + test_stages(wanted, selected, run)
    bad = [stage.name for stage in stages if stage.outcome != "passed"]
    print("\n" + format_table(stages) + "\n")
    print("\n".join(run.summary))
    for stage in stages:
        if stage.outcome == "empty":
            print(f"Stage {stage.name} has no tests: nothing was built for it, or nothing carries its label.")
    if bad:
        print(f"FAILED stages: {', '.join(bad)}")
    return 1 if bad or status else 0


if __name__ == "__main__":
    sys.exit(main())
