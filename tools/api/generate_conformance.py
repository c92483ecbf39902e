#!/usr/bin/env python3
"""Generates what docs/conformance.md is checked against from tests/conformance/judgement.toml and the Level Zero headers.

    tools/api/generate_conformance.py [--headers FOLDER]           writes what has changed
    tools/api/generate_conformance.py [--headers FOLDER] --check   writes nothing; status 1 if a file is out of date

The page itself comes from a run of the tests: scripts/conformance.py.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from conformance_output import observers_source, rows_file, wrap_list
from conformance_rows import JudgementError, read_conformance
from ddi_headers import HeaderError, read_prototypes
from generate_tables import ROOT, default_headers, read_if_there
from type_headers import read_types

FOLDER = Path("tests/conformance")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=Path, default=default_headers(), metavar="FOLDER",
                        help="the include folder that holds level_zero/ (default: what scripts/setup unpacked, else /usr/include)")
    parser.add_argument("--check", action="store_true", help="only say whether the generated files are up to date")
    arguments = parser.parse_args()
    try:
        types = read_types(arguments.headers)
        conformance = read_conformance(ROOT / FOLDER / "judgement.toml", read_prototypes(arguments.headers), types)
    except (HeaderError, JudgementError) as error:
        print(f"generate_conformance.py: {error}", file=sys.stderr)
        return 2
    files = {
        FOLDER / "rows.tsv": rows_file(conformance, types),
        FOLDER / "wrapped_functions.txt": wrap_list(conformance),
        FOLDER / "observers.cpp": observers_source(conformance, types),
    }
    stale = [path for path, text in files.items() if read_if_there(ROOT / path) != text]
    for path in stale:
        if arguments.check:
            print(f"{path} is out of date: run tools/api/generate_conformance.py", file=sys.stderr)
        else:
            (ROOT / path).write_text(files[path], encoding="utf-8")
            print(f"wrote {path}")
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
