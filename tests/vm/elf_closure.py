"""Which files an ELF program needs: its dynamic linker, and what that linker would load."""

import struct
import subprocess
from pathlib import Path

PT_INTERP = 3


class NotElf(Exception):
    """The file is no 64-bit little-endian ELF file."""


def interpreter_of(path: Path) -> Path | None:
    """The dynamic linker that a program names; None for a library or a static program."""
    with path.open("rb") as file:
        header = file.read(64)
        if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
            raise NotElf(f"{path} is no 64-bit ELF file")
        table_offset, entry_size, entries = struct.unpack_from("<Q14xHH", header, 32)
        for index in range(entries):
            file.seek(table_offset + index * entry_size)
            kind, _, offset, _, _, size = struct.unpack("<IIQQQQ", file.read(40))
            if kind == PT_INTERP:
                file.seek(offset)
                return Path(file.read(size).rstrip(b"\0").decode())
    return None


def closure_of(path: Path, linker: Path | None = None) -> set[Path]:
    """`path`, its dynamic linker and all libraries. A library is resolved by `linker`, as a program with it would."""
    found = {path}
    linker = interpreter_of(path) or linker
    if linker is None:
        return found
    found.add(linker)
    answer = subprocess.run([str(linker), "--list", str(path)], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise NotElf(f"{linker} cannot resolve the libraries of {path}: {answer.stderr.strip() or answer.stdout.strip()}")
    for line in answer.stdout.splitlines():
        words = line.split()
        if "=>" in words and len(words) > 2 and words[2].startswith("/"):
            found.add(Path(words[2]))
        elif words and words[0].startswith("/"):
            found.add(Path(words[0]))
    return found
