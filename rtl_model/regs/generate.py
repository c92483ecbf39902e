#!/usr/bin/env python3
"""Writes everything that is derived from board.toml: the SystemVerilog package, the C++ headers, the Python table and docs/registers.md.

--check writes nothing and fails when the description is inconsistent or an output is not what it would write.
"""

import argparse
import sys
from pathlib import Path

import emit_cpp
import emit_details
import emit_markdown
import emit_python
import emit_systemverilog
from description import Description, DescriptionError, load

PROJECT = Path(__file__).resolve().parents[2]
OUTPUTS = {
    "rtl_model/rtl/datum_reg_pkg.sv": emit_systemverilog.emit,
    "include/datum/hw/registers.hpp": emit_cpp.emit,
    "include/datum/hw/register_details.hpp": emit_details.emit,
    "docs/registers.md": emit_markdown.emit,
    "python/datum/register_table.py": emit_python.emit,
}


def stale_outputs(description: Description, root: Path) -> dict[Path, str]:
    """The files under root whose text differs from what the description gives, with that text."""
    stale = {}
    for place, emit in OUTPUTS.items():
        path, text = root / place, emit(description)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale[path] = text
    return stale


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when an output is stale")
    parser.add_argument("--description", type=Path, default=PROJECT / "rtl_model/regs/board.toml")
    parser.add_argument("--root", type=Path, default=PROJECT, help="project folder that the outputs are in")
    options = parser.parse_args(arguments)
    try:
        description = load(options.description)
    except DescriptionError as error:
        print(f"{options.description}:\n{error}", file=sys.stderr)
        return 1
    stale = stale_outputs(description, options.root)
    if options.check:
        for path in stale:
            print(f"{path} is stale: run rtl_model/regs/generate.py", file=sys.stderr)
        return 1 if stale else 0
    # Files that did not change keep their time, so that nothing is rebuilt for them.
    for path, text in stale.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
