#!/usr/bin/env python3
"""Checks docs/conformance.md, and that the API tests have shown every row of it; or writes it.

usage: conformance.py FOLDER [--write]

FOLDER is where the API tests of a build have left what they showed: build/dev/conformance after `ctest --preset dev -L api`.
Without --write: status 1 if a row that tests/conformance/rows.tsv demands was shown by no test that passed, if a test showed
what the rows exclude, or if the page does not say what the tests show. Rows of tests/conformance/unshown.tsv are known to have
no test; --write takes out those that have one by now.
"""

import argparse
import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNSHOWN = "tests/conformance/unshown.tsv"
SHOWABLE = ("both", "model", "depends")  # demands of rows that the page has a line for
TESTS_NAMED = 2  # in a row of the page
HEADER = """# Conformance

<!-- Written by scripts/conformance.py from a run of the API tests; do not edit. docs/testing.md says how a row comes to be. -->

What each function of these chapters answers, to whom, and which tests show it through the stock loader. A row without an
argument is a result code alone. The tests named are examples that hold; others may show the same.
"""


class ConformanceError(Exception):
    """What was asked for cannot be judged."""


@dataclass(frozen=True)
class Key:
    """What a test shows and a row demands. `argument` is "-" where the code alone matters."""

    function: str
    argument: str
    code: str

    def __str__(self) -> str:
        argument = "" if self.argument == "-" else f" with {self.argument}"
        return f"{self.function}{argument} answers {self.code}"


@dataclass(frozen=True)
class Row:
    key: Key
    chapter: str
    demand: str  # "both", "model", "depends", "never" or "anywhere"
    reason: str

    def boards(self) -> tuple[str, ...]:
        return ("model",) if self.demand == "model" else ("model", "rtl")

    def lacks(self, shown: "Shown", boards: set[str]) -> list[str]:
        """The boards of the run that the row should have been shown on and was not."""
        return [board for board in self.boards() if board in boards and board not in shown.get(self.key, {})]


@dataclass
class Rows:
    codes: dict[int, str] = field(default_factory=dict)
    chapters: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    built: set[str] = field(default_factory=set)
    unshown: set[Key] = field(default_factory=set)  # rows that are known to have no test

    def demanded(self) -> list[Row]:
        return [row for row in self.rows if row.demand in ("both", "model") and row.key.function in self.built]

    def functions(self) -> list[str]:
        return list(dict.fromkeys(row.key.function for row in self.rows))


Shown = dict[Key, dict[str, set[str]]]  # what was shown -> board -> tests


def read_rows(root: Path) -> Rows:
    rows = Rows()
    for line in (root / "tests/conformance/rows.tsv").read_text().splitlines():
        kind, *parts = line.split("\t")
        if kind == "code":
            rows.codes[int(parts[0], 0)] = parts[1]
        elif kind == "chapter":
            rows.chapters[parts[0]] = parts[1]
        elif kind == "row":
            chapter, function, argument, code, demand, reason = parts
            rows.rows.append(Row(Key(function, argument, code), chapter, demand, reason))
    for line in (root / UNSHOWN).read_text().splitlines():
        if line and not line.startswith("#"):
            rows.unshown.add(Key(*line.split("\t")))
    tables = tomllib.loads((root / "driver/api/functions.toml").read_text())
    for table in tables.values():
        if isinstance(table, dict):
            rows.built |= {name for name, entry in table.items() if entry["built"]}
    return rows


def read_run(folder: Path) -> tuple[list[Path], set[str]]:
    """The files of facts that a whole run leaves, and the boards of the run. Fails if one is missing or out of date."""
    listing = folder / "run.tsv"
    if not listing.is_file():
        raise ConformanceError(f"{listing} is missing: the folder is that of a build, such as build/dev/conformance")
    lines = [line.split("\t") for line in listing.read_text().splitlines()]
    built_at = max((os.path.getmtime(path) for kind, path, *_ in lines if kind == "program"), default=0.0)
    files, boards, missing = [], set(), []
    for kind, name, *rest in lines:
        if kind != "facts":
            continue
        file = folder / name
        boards.add(rest[0])
        files.append(file)
        if not file.is_file() or file.stat().st_mtime < built_at:
            missing.append(name.removesuffix(".tsv"))
    if missing:
        raise ConformanceError(f"the API tests have not run since they were built: {', '.join(missing)}. Run ctest -L api first")
    return files, boards


def plain_name(test: str) -> str:
    """A test's name without what parameters add to it: Kinds/Suite.name/3 is Suite.name."""
    suite, _, name = test.partition(".")
    return f"{suite.rpartition('/')[2]}.{name.partition('/')[0]}"


def read_facts(files: list[Path], codes: dict[int, str]) -> Shown:
    """What tests that passed have shown. A fact of a test that failed, was skipped or did not end does not count."""
    shown: Shown = {}
    for file in files:
        lines = [line.split("\t") for line in file.read_text().splitlines()]
        passed = {line[1] for line in lines if line[0] == "passed"}
        for line in lines:
            if line[0] == "fact" and len(line) == 6 and line[2] in passed:
                _, board, test, function, argument, code = line
                number = int(code, 0)
                key = Key(function, argument, codes.get(number, hex(number)))
                shown.setdefault(key, {}).setdefault(board, set()).add(plain_name(test))
    return shown


def find_faults(rows: Rows, shown: Shown, boards: set[str]) -> list[str]:
    faults = []
    for row in rows.rows:
        if row.key.function not in rows.built:
            continue
        seen = shown.get(row.key, {})
        if row.demand == "never" and seen:
            test = min(min(tests) for tests in seen.values())
            faults.append(f"{row.key}, as {test} shows, but judgement.toml says never: {row.reason}")
    for row in rows.demanded():
        if row.key not in rows.unshown and (lacking := row.lacks(shown, boards)):
            faults.append(f"{row.key}: no test that passed shows it on {' and '.join(lacking)}")
    allowed = {row.key for row in rows.rows if row.key.argument == "-"}
    for key in sorted(shown, key=str):
        if key.argument == "-" and key not in allowed and key.function in rows.built:
            tests = set().union(*shown[key].values())
            faults.append(f"{key}, as {min(tests)} shows, which the specification does not provide for")
    return faults


def still_unshown(text: str, rows: Rows, shown: Shown, boards: set[str]) -> str:
    """unshown.tsv without what is shown by now or is no row any more; only a run on every board can tell."""
    if not {"model", "rtl"} <= boards:
        return text
    lacking = {"\t".join((row.key.function, row.key.argument, row.key.code)) for row in rows.demanded() if row.lacks(shown, boards)}
    return "".join(line for line in text.splitlines(True) if line.startswith("#") or line.rstrip("\n") in lacking)


# --- the page ----------------------------------------------------------------------------------------------------------


def read_page(text: str) -> dict[Key, list[str]]:
    """The tests that a page names for each row."""
    named: dict[Key, list[str]] = {}
    function = ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"### `(\w+)`", line):
            function = heading[1]
        elif row := re.fullmatch(r"\| (?:`(\S+)`)? ?\| `(\w+)` \| [a-z, ]+ \| (.*) \|", line):
            named[Key(function, row[1] or "-", row[2])] = re.findall(r"`([^`]+)`", row[3])
    return named


def choose_tests(row: Row, shown: Shown, named: list[str], aim: "Aim") -> list[str]:
    """What the page names and still holds; else the tests that show the row on most boards and are most about its function."""
    seen = shown.get(row.key, {})
    if row.demand == "depends" and not seen:
        return named  # this machine cannot tell
    boards_of: dict[str, int] = {}
    for tests in seen.values():
        for test in tests:
            boards_of[test] = boards_of.get(test, 0) + 1
    if kept := [test for test in named if test in boards_of]:
        return kept
    return sorted(boards_of, key=lambda test: (-boards_of[test], *aim.of(test, row.key.function), test))[:TESTS_NAMED]


class Aim:
    """What tests are about, by how much of what they show concerns a function."""

    def __init__(self, shown: Shown) -> None:
        self.all: dict[str, int] = {}
        self.own: dict[tuple[str, str], int] = {}
        for key, boards in shown.items():
            for test in set().union(*boards.values()):
                self.all[test] = self.all.get(test, 0) + 1
                self.own[test, key.function] = self.own.get((test, key.function), 0) + 1

    def of(self, test: str, function: str) -> tuple[float, int]:
        """Smaller for a better example."""
        return -self.own[test, function] / self.all[test], self.all[test]


def page_row(row: Row, tests: list[str]) -> str:
    argument = "" if row.key.argument == "-" else f"`{row.key.argument}` "
    shown_by = "<br>".join(f"`{test}`" for test in tests) or "no test"
    if row.demand == "depends":
        shown_by += f"; needs {row.reason}"
    return f"| {argument}| `{row.key.code}` | {', '.join(row.boards())} | {shown_by} |"


def excluded_table(rows: Rows, demand: str) -> list[str]:
    """What is not demanded, with the functions that share the reason."""
    functions = [name for name in rows.functions() if name in rows.built]
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows.rows:
        if row.demand == demand and row.key.function in rows.built:
            what = row.key.code if row.key.argument == "-" else row.key.argument.partition("=")[0]
            groups.setdefault((what, row.reason), []).append(row.key.function)
    lines = ["| what | by | because |", "|---|---|---|"]
    for (what, reason), names in sorted(groups.items()):
        names = list(dict.fromkeys(names))
        others = [name for name in functions if name not in names]
        if not others:
            by = "every function"
        elif len(others) < len(names):
            by = "every function but " + ", ".join(f"`{name}`" for name in others)
        else:
            by = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| `{what}` | {by} | {reason} |")
    return lines + [""]


def write_page(rows: Rows, shown: Shown, named: dict[Key, list[str]]) -> str:
    aim = Aim(shown)
    lines = [HEADER]
    for chapter, title in rows.chapters.items():
        lines += [f"## {title}", ""]
        for function in rows.functions():
            own = [row for row in rows.rows if row.key.function == function]
            if own[0].chapter != chapter:
                continue
            lines += [f"### `{function}`", ""]
            if function not in rows.built:
                lines += ["Not built: answers `UNSUPPORTED_FEATURE`.", ""]
                continue
            lines += ["| argument | answers | on | shown by |", "|---|---|---|---|"]
            lines += [
                page_row(row, choose_tests(row, shown, named.get(row.key, []), aim)) for row in own if row.demand in SHOWABLE
            ]
            lines.append("")
    lines += ["## Never answered", "", "What the specification allows and no test can show.", "", *excluded_table(rows, "never")]
    lines += ["## Answered alike", "", "What one place answers for all functions.", "", *excluded_table(rows, "anywhere")]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/conformance.md, and shorten unshown.tsv")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    try:
        rows = read_rows(arguments.root)
        files, boards = read_run(arguments.folder)
        shown = read_facts(files, rows.codes)
    except (ConformanceError, OSError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    faults = find_faults(rows, shown, boards)
    page, unshown = arguments.root / "docs/conformance.md", arguments.root / UNSHOWN
    current = {path: path.read_text() if path.is_file() else "" for path in (page, unshown)}
    wanted = {
        page: write_page(rows, shown, read_page(current[page])),
        unshown: still_unshown(current[unshown], rows, shown, boards),
    }
    for path in (path for path in wanted if wanted[path] != current[path]):
        if arguments.write and not faults:
            path.write_text(wanted[path])
            print(f"wrote {path}")
        else:
            faults.append(f"{path.relative_to(arguments.root)} is stale: run scripts/conformance.py {arguments.folder} --write")
    for fault in faults:
        print(f"conformance: {fault}", file=sys.stderr)
    print(f"conformance: {len(rows.demanded())} rows demanded on {', '.join(sorted(boards))}, {len(rows.unshown)} of them without a "
          f"test; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
