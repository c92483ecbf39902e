#!/usr/bin/env python3
"""Runs Verilator and gathers the C++ files it writes, whose number is not known before, into files of fixed names.

<prefix>_slow.cpp gets what runs once, <prefix>_fast_0.cpp and following what runs in every cycle. So the build system can run Verilator
as an ordinary build step, and no error in the RTL keeps the project from being configured. Verilator runs in the folder of the
sources and knows them by their relative names, so its output is the same in every clone, and a compiler cache serves them all.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path


def gathered(files: list[Path]) -> str:
    return "".join(f'#include "{path.name}"\n' for path in sorted(files))


def write_if_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    else:
        path.touch()


def balanced(files: list[Path], count: int) -> list[list[Path]]:
    """Shares of about equal size; the same for the same files."""
    shares: list[list[Path]] = [[] for _ in range(count)]
    for path in sorted(files, key=lambda p: (-p.stat().st_size, p.name)):
        min(shares, key=lambda share: sum(p.stat().st_size for p in share)).append(path)
    return shares


def relative(argument: str, root: Path) -> str:
    """A file below `root` by its name there; anything else as it is."""
    path = Path(argument)
    return str(path.relative_to(root)) if path.is_absolute() and path.is_relative_to(root) else argument


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verilator", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True, help="the folder of the sources")
    parser.add_argument("--fast-files", type=int, default=2)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="-- and arguments of Verilator")
    options = parser.parse_args(arguments)
    # By its textual name: the sources may be named through a symbolic link.
    options.root = Path(os.path.abspath(options.root))
    directory, prefix = options.directory, options.prefix
    directory.mkdir(parents=True, exist_ok=True)
    outputs = [f"{prefix}_slow.cpp"] + [f"{prefix}_fast_{i}.cpp" for i in range(options.fast_files)]
    for path in directory.glob(f"{prefix}*.cpp"):
        if path.name not in outputs:
            path.unlink()
    rest = options.rest[1:] if options.rest[:1] == ["--"] else options.rest
    command = [options.verilator, "--cc", "--prefix", prefix, "--Mdir", str(directory.absolute())]
    command += [relative(argument, options.root) for argument in rest]
    result = subprocess.run(command, cwd=options.root, check=False)
    if result.returncode != 0:
        return result.returncode
    written = [path for path in directory.glob(f"{prefix}*.cpp") if path.name not in outputs]
    slow = [path for path in written if path.stem.endswith("__Slow")]
    fast = [path for path in written if path not in slow]
    write_if_changed(directory / outputs[0], gathered(slow))
    for name, share in zip(outputs[1:], balanced(fast, options.fast_files)):
        write_if_changed(directory / name, gathered(share))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
