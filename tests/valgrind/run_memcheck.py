#!/usr/bin/env python3
"""Runs a GoogleTest program under valgrind's memcheck: no access it must not make, no use of what was never set, no leak.

usage: run_memcheck.py --excluded FILE PROGRAM [ARGUMENT...]

FILE names what cannot run there, one entry a line: program, GoogleTest pattern, reason. An entry that fits no case is an error.
"""

import argparse
import fnmatch
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOUND = 97
# What is suppressed is glibc's own. What a test program does instead of libc's allocator (to let allocations fail) stays its own.
MEMCHECK = ("--quiet", f"--error-exitcode={FOUND}", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible",
            "--show-leak-kinds=definite,indirect,possible", "--num-callers=30", "--fair-sched=try",
            "--soname-synonyms=somalloc=nouserintercepts", f"--suppressions={Path(__file__).resolve().parent / 'glibc.supp'}")


def read_excluded(file: Path) -> list[tuple[str, str, str]]:
    """Program, pattern and reason of each entry."""
    entries = []
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            words = line.split(maxsplit=2)
            if len(words) != 3:
                sys.exit(f"run_memcheck: {file}:{number} is not a program, a pattern and a reason")
            entries.append((words[0], words[1], words[2]))
    return entries


def cases_of(program: Path) -> list[str]:
    listing = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    cases, suite = [], ""
    for line in listing.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            cases.append(suite + name.strip())
        else:
            suite = name
    return cases


def patterns_for(program: Path, excluded: Path) -> list[str]:
    patterns = [pattern for name, pattern, _ in read_excluded(excluded) if name == program.name]
    cases = cases_of(program) if patterns else []
    for pattern in patterns:
        if not fnmatch.filter(cases, pattern):
            sys.exit(f"run_memcheck: {excluded} leaves out {pattern} of {program.name}, and there is no such case")
    return patterns


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--excluded", type=Path, required=True)
    parser.add_argument("program", type=lambda name: Path(name).resolve())
    parser.add_argument("arguments", nargs="*")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("run_memcheck: valgrind is missing; scripts/setup --all installs it")
    patterns = patterns_for(arguments.program, arguments.excluded)
    filters = ["--gtest_filter=-" + ":".join(patterns)] if patterns else []
    result = subprocess.run(
        ["valgrind", *MEMCHECK, arguments.program, *filters, *arguments.arguments],
        env={**os.environ, "DATUM_TEST_EFFORT": "quick"}, stdin=subprocess.DEVNULL, check=False,
    )
    if result.returncode == FOUND:
        print(f"run_memcheck: valgrind has found something in {arguments.program.name}; it is told above", flush=True)
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


if __name__ == "__main__":
    sys.exit(main())
