#!/usr/bin/env python3
"""Runs one fuzzer over its corpus and new input, or over the files that are named.

usage: run_fuzzer.py --build FOLDER [--seconds N] [--fresh] NAME [FILE...]

FOLDER is a tree of the preset fuzz with NAME built. New inputs that reach new code stay in FOLDER/fuzz/NAME/new, and the next run goes
on from them unless it is to be --fresh; an input that finds something is written beside it. Status 1: something was found.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEARTBEAT_S = 5
SAID_LINES = 120
# Longer inputs reach nothing that shorter ones do not.
MOST_BYTES = 1024


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--fresh", action="store_true", help="forget new inputs of earlier runs")
    parser.add_argument("name")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    return parser.parse_args()


def fixed_addresses() -> list[str]:
    """The sanitizers of clang 14 cannot place their shadow memory where the kernel randomises more than 28 bits."""
    bits = Path("/proc/sys/vm/mmap_rnd_bits")
    return ["setarch", "-R"] if bits.exists() and int(bits.read_text()) > 28 else []


class Progress:
    """What libFuzzer says: counts become a line now and then, everything else is kept for the end."""

    def __init__(self, name: str, seconds: int) -> None:
        self.name = name
        self.seconds = seconds
        self.start = time.monotonic()
        self.inputs = 0
        self.reached = 0
        self.said: list[str] = []
        self.ended = threading.Event()

    def take(self, line: str) -> None:
        words = line.split()
        if line.startswith("#") and words[0][1:].isdigit():
            self.inputs = int(words[0][1:])
            if "cov:" in words:
                self.reached = int(words[words.index("cov:") + 1])
            return
        if not line.startswith(("INFO:", "\tNEW_FUNC", "\tNEW_PC")):
            self.said = [*self.said[-SAID_LINES:], line]

    def show(self) -> None:
        while not self.ended.wait(HEARTBEAT_S):
            spent = time.monotonic() - self.start
            print(f"  ... {self.name}: {spent:.0f} of {self.seconds} s, {self.inputs} inputs, {self.reached} places reached", flush=True)


def follow(command: list[str], progress: Progress) -> int:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    threading.Thread(target=progress.show, daemon=True).start()
    for line in process.stdout:
        progress.take(line.rstrip("\n"))
    status = process.wait()
    progress.ended.set()
    return status


def fuzz(arguments: argparse.Namespace, program: Path) -> int:
    work = arguments.build / "fuzz" / arguments.name
    if arguments.fresh:
        shutil.rmtree(work, ignore_errors=True)
    (work / "new").mkdir(parents=True, exist_ok=True)
    earlier = set(work.iterdir())
    seed = int(os.environ.get("DATUM_TEST_SEED") or 1) % 0x7FFFFFFF + 1
    progress = Progress(arguments.name, arguments.seconds)
    status = follow(
        [*fixed_addresses(), str(program), f"-max_total_time={arguments.seconds}", f"-seed={seed}", f"-max_len={MOST_BYTES}", "-len_control=10", "-timeout=60",
         "-rss_limit_mb=1500", f"-artifact_prefix={work}/", str(work / "new"), str(HERE / "corpus" / arguments.name)],
        progress,
    )
    spent = time.monotonic() - progress.start
    if status == 0 and progress.inputs:
        print(f"{arguments.name}: {progress.inputs} inputs in {spent:.0f} s, {progress.reached} places reached, nothing found")
        return 0
    print("\n".join(progress.said))
    print(f"{arguments.name}: FOUND something after {progress.inputs} inputs and {spent:.0f} s (seed {seed})")
    for file in sorted(set(work.iterdir()) - earlier):
        print(f"  repeat: scripts/fuzz {arguments.name} {file}")
    return 1


def main() -> int:
    arguments = parse_arguments()
    program = arguments.build / "bin" / f"datum_fuzz_{arguments.name}"
    if not program.exists():
        sys.exit(f"run_fuzzer: there is no {program}; scripts/fuzz builds it")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    if not arguments.files:
        return fuzz(arguments, program)
    status = subprocess.run([*fixed_addresses(), str(program), *map(str, arguments.files)], check=False).returncode
    print(f"{arguments.name}: {'nothing found' if status == 0 else 'FOUND again'}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
