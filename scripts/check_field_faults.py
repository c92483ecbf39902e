#!/usr/bin/env python3
"""Fails if docs/field-faults.md or docs/security.md names a test that the sources do not have, or the first leaves out one of tests/field."""

import re
import sys
from pathlib import Path

TABLE = Path("docs/field-faults.md")
SECURITY = Path("docs/security.md")
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
NAMED = re.compile(r"`([A-Z]\w+\.[a-z]\w*_\w+)`")
ROW = re.compile(r"^\| ([A-Z]{2}-[0-9]{2}) \|[^|]*\|([^|]*)\|[^|]*\|([^|]*)\|$", re.MULTILINE)


def python_tests(text: str) -> set[str]:
    found, suite = set(), ""
    for line in text.splitlines():
        if match := re.match(r"class (\w+)\(", line):
            suite = match[1]
        elif match := re.match(r"    def (test_\w+)\(", line):
            found.add(f"{suite}.{match[1]}")
    return found


def tests_below(folder: Path) -> set[str]:
    found = {f"{suite}.{name}" for file in folder.rglob("*.cpp") for suite, name in TEST.findall(file.read_text())}
    return found.union(*(python_tests(file.read_text()) for file in folder.rglob("*_test.py")))


def complaints(root: Path) -> list[str]:
    rows = ROW.findall((root / TABLE).read_text())
    if not rows:
        return [f"{TABLE}: has no rows; is this a clone?"]
    existing = tests_below(root / "tests")
    named: set[str] = set()
    found: list[str] = []
    for number, tests, missing in rows:
        own = re.findall(r"`(\w+\.\w+)`", tests)
        named.update(own)
        found += [f"{TABLE}: {number}: there is no test {test}" for test in own if test not in existing]
        if not own and not missing.strip().startswith("no test:"):
            found.append(f"{TABLE}: {number}: has no test and does not say what is missing")
    numbers = [number for number, _, _ in rows]
    found += [f"{TABLE}: {number}: has two rows" for number in sorted({n for n in numbers if numbers.count(n) > 1})]
    found += [f"{TABLE}: {test} of tests/field is in no row" for test in sorted(tests_below(root / "tests/field") - named)]
    of_security = sorted(set(NAMED.findall((root / SECURITY).read_text())))
    if not of_security:
        found.append(f"{SECURITY}: names no test")
    return found + [f"{SECURITY}: there is no test {test}" for test in of_security if test not in existing]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = complaints(root)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
