"""The guest's file system: an archive in the kernel's own format (cpio, "newc"), uncompressed, since emulation unpacks slowly."""

import os
import stat
import subprocess
import tempfile
from pathlib import Path, PurePosixPath


class Initramfs:
    """Collects files; `write` puts them into an archive. Folders above a file come by themselves."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, bytes | Path]] = {}

    def folder(self, path: str, mode: int = 0o755) -> None:
        self._parents(path)
        self._entries[path.strip("/")] = (stat.S_IFDIR | mode, b"")

    def text(self, path: str, content: str, mode: int = 0o644) -> None:
        self._parents(path)
        self._entries[path.strip("/")] = (stat.S_IFREG | mode, content.encode())

    def link(self, path: str, target: str) -> None:
        self._parents(path)
        self._entries[path.strip("/")] = (stat.S_IFLNK | 0o777, target.encode())

    def file(self, path: str, source: Path) -> None:
        """The file `source`, with its permissions; where the name leads through symbolic links, what they lead to."""
        self._parents(path)
        mode = source.stat().st_mode & 0o777
        self._entries[path.strip("/")] = (stat.S_IFREG | mode, source)

    def _parents(self, path: str) -> None:
        for parent in list(PurePosixPath(path.strip("/")).parents)[-2::-1]:
            self._entries.setdefault(str(parent), (stat.S_IFDIR | 0o755, b""))

    def write(self, target: Path) -> None:
        with target.open("wb") as archive, tempfile.TemporaryDirectory() as scratch:
            for number, (name, (mode, content)) in enumerate(sorted(self._entries.items()), start=1):
                data = content if isinstance(content, bytes) else _without_debug_information(content, Path(scratch))
                archive.write(_record(name, mode, data, number))
            archive.write(_record("TRAILER!!!", 0, b"", 0))


def _record(name: str, mode: int, data: bytes, inode: int) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = [inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(encoded), 0]
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return header + _padding(header) + data + _padding(data)


def _padding(data: bytes) -> bytes:
    return b"\0" * (-len(data) % 4)


def _without_debug_information(source: Path, scratch: Path) -> bytes:
    """An ELF file as it is installed; anything else as it is."""
    with source.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return source.read_bytes()
    stripped = scratch / "stripped"
    answer = subprocess.run(["strip", "--strip-debug", "-o", str(stripped), str(source)], capture_output=True, check=False)
    if answer.returncode != 0:
        return source.read_bytes()
    data = stripped.read_bytes()
    os.unlink(stripped)
    return data
