#!/usr/bin/env python3
"""Fails if a C++ file includes what its layer must not know. docs/architecture.md explains the layers.

usage: scripts/check_includes.py [ROOT]
"""

import re
import sys
from pathlib import Path

# Layer (a folder) -> the folders whose headers it may include, besides its own. Files belong to the longest match.
ALLOWED = {
    "include": [],
    "driver/api": ["driver", "include"],
    "driver/object": ["driver/memory", "driver/command", "driver/device", "driver/trace", "include"],
    "driver/command": ["driver/object", "driver/memory", "driver/device", "driver/trace", "include"],
    "driver/memory": ["driver/device", "driver/trace", "include"],
    "driver/device": ["driver/trace", "include"],
    "driver/trace": ["include"],
    "vfio_user": ["include"],
    "vfio_backend": ["include", "vfio_user"],
    "sim": ["include", "vfio_user", "rtl_model/verilated_runtime"],
    "rtl_model/verilated_runtime": [],
    "rtl_model/bench": ["include", "rtl_model/verilated_runtime"],
    "cosim": ["include", "driver/trace"],
    "tools": ["include"],
    "tools/bench": ["tools", "include", "rtl_model/bench", "vfio_backend"],
    "tools/datum": ["tools", "include", "vfio_backend", "driver/device", "cosim"],
    "tests": ["include", "driver", "vfio_user", "vfio_backend", "sim", "rtl_model/verilated_runtime", "rtl_model/bench", "cosim", "tools"],
}

# The one place where the driver learns which backends are linked into it.
EXCEPTIONS = {"driver/device/backend_table.cpp": ["vfio_backend"]}

SOURCE_SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".cc", ".hh", ".inc"}
TOP_FOLDERS = ("include", "driver", "vfio_user", "vfio_backend", "sim", "rtl_model", "cosim", "tools", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
# What Verilator writes goes by these names and lies in the build folder.
VERILATED = re.compile(r"^(V[A-Za-z0-9_]+|verilated\w*)\.h$")


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def layer_of(path: str) -> str | None:
    matches = [layer for layer in ALLOWED if is_inside(path, layer)]
    return max(matches, key=len, default=None)


def included_file(root: Path, includer: str, style: str, name: str) -> str | None:
    """The project path that an include names; None where it names a library's header."""
    if name.startswith("datum/"):
        return f"include/{name}"
    if name.split("/")[0] in TOP_FOLDERS:
        return name
    if style == '"':
        folder = (root / includer).parent
        beside = (folder / name).resolve()
        if beside.is_relative_to(root) and (beside.exists() or name.startswith(".")):
            return beside.relative_to(root).as_posix()
    return None


def complaint(root: Path, includer: str, style: str, name: str) -> str | None:
    layer = layer_of(includer)
    if layer is None:
        return f"{includer} belongs to no layer of scripts/check_includes.py"
    target = included_file(root, includer, style, name)
    if target is None:
        if style == '"' and not (layer in ("sim", "rtl_model/bench", "tests") and VERILATED.match(name)):
            return f'"{name}" is no file of the project; libraries are included with <>'
        return None
    if ".." in Path(name).parts:
        return f'"{name}" climbs out of its folder; name it by its path from the root'
    allowed = [layer, *ALLOWED[layer], *EXCEPTIONS.get(includer, [])]
    if any(is_inside(target, folder) for folder in allowed):
        return None
    return f"{layer} must not include {target}; it may include {', '.join(allowed)}"


def check_file(root: Path, path: str) -> list[str]:
    problems = []
    lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        match = INCLUDE.match(line)
        problem = complaint(root, path, match[1], match[2]) if match else None
        if problem:
            problems.append(f"{path}:{number}: {problem}")
    return problems


def sources(root: Path) -> list[str]:
    found = []
    for folder in TOP_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCE_SUFFIXES and file.is_file():
                found.append(file.relative_to(root).as_posix())
    return found


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    files = sources(root)
    if not files:
        print(f"check_includes: no C++ source below {root}", file=sys.stderr)
        return 1
    problems = [problem for file in files for problem in check_file(root, file)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"check_includes: {len(files)} files include only what their layer may")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
