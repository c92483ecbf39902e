#!/usr/bin/env python3
"""Generates the driver's API tables from driver/api/functions.toml and the Level Zero headers.

    tools/api/generate_tables.py [--headers FOLDER]           writes what has changed
    tools/api/generate_tables.py [--headers FOLDER] --check   writes nothing; status 1 if a file is out of date
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cpp_output
import text_output
from ddi_headers import HeaderError, read_headers
from function_list import FunctionList, FunctionListError, read_function_list

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    arguments = parse_arguments()
    try:
        functions = read_function_list(ROOT / "driver/api/functions.toml", read_headers(arguments.headers))
    except (HeaderError, FunctionListError) as error:
        print(f"generate_tables.py: {error}", file=sys.stderr)
        return 2
    if functions.unlisted:
        print(f"note: these headers are newer than API 1.{functions.minor}; not listed: {', '.join(functions.unlisted)}")
    stale = [path for path, text in outputs(functions).items() if read_if_there(ROOT / path) != text]
    if arguments.check:
        for path in stale:
            print(f"{path} is out of date: run tools/api/generate_tables.py", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(outputs(functions)[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--headers",
        type=Path,
        default=default_headers(),
        metavar="FOLDER",
        help="the include folder that holds level_zero/ (default: what scripts/setup unpacked, else /usr/include)",
    )
    parser.add_argument("--check", action="store_true", help="only say whether the generated files are up to date")
    return parser.parse_args()


def default_headers() -> Path:
    """Where cmake/level_zero.cmake finds the headers: what scripts/setup unpacked, else the system's own."""
    if root := os.environ.get("DATUM_LOADER_ROOT"):
        return Path(root) / "usr/include"
    cache = Path(os.environ.get("DATUM_CACHE") or ROOT / ".cache")
    unpacked = cache / "loader/usr/include"
    return unpacked if (unpacked / "level_zero").is_dir() else Path("/usr/include")


def outputs(functions: FunctionList) -> dict[str, str]:
    """Every generated file and what it should hold."""
    files = {
        "driver/api/tables/entry_points.hpp": cpp_output.entry_points_header(functions),
        "driver/api/tables/dispatch_tables.hpp": cpp_output.dispatch_tables_header(functions),
        "driver/api/tables/exports.map": text_output.exports_map(functions),
        "docs/api-support.md": text_output.support_page(functions),
        "tests/loader/entry_list.inc": cpp_output.entry_list(functions),
        "tests/loader/call_recorders.cpp": cpp_output.call_recorders(functions),
    }
    for listed in functions.interfaces:
        files[f"driver/api/tables/{listed.interface.title}_tables.cpp"] = cpp_output.tables_source(functions, listed)
    return files


def read_if_there(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
