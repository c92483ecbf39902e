"""The guest's file system: an archive in the kernel's own format (cpio, "newc"), uncompressed, since emulation unpacks slowly."""

import os
import stat
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass
class Entry:
    mode: int
    content: bytes | Path = b""
    user: int = 0
    group: int = 0


class Initramfs:
    """Collects files; `write` puts them into an archive. Folders above a file come by themselves."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def folder(self, path: str, mode: int = 0o755) -> None:
        self._put(path, Entry(stat.S_IFDIR | mode))

    def text(self, path: str, content: str, mode: int = 0o644) -> None:
        self._put(path, Entry(stat.S_IFREG | mode, content.encode()))

    def link(self, path: str, target: str) -> None:
        self._put(path, Entry(stat.S_IFLNK | 0o777, target.encode()))

    def file(self, path: str, source: Path) -> None:
        """The file `source`, with its permissions; where the name leads through symbolic links, what they lead to."""
        self._put(path, Entry(stat.S_IFREG | source.stat().st_mode & 0o777, source))

    def system(self, archive: Path) -> None:
        """A whole system from a tar archive, with owners and all permissions; devices are left to the guest's kernel."""
        kinds = {tarfile.DIRTYPE: stat.S_IFDIR, tarfile.REGTYPE: stat.S_IFREG, tarfile.SYMTYPE: stat.S_IFLNK, tarfile.LNKTYPE: stat.S_IFREG}
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.type not in kinds or member.name in (".", "./"):
                    continue
                content = member.linkname.encode() if member.issym() else b""
                if member.isreg() or member.islnk():
                    content = tar.extractfile(member).read()
                entry = Entry(kinds[member.type] | member.mode, content, member.uid, member.gid)
                self._put(member.name.removeprefix("./"), entry)

    def has(self, path: str) -> bool:
        return self._resolved(path) in self._entries

    def _put(self, path: str, entry: Entry) -> None:
        name = self._resolved(path)
        for parent in list(PurePosixPath(name).parents)[-2::-1]:
            self._entries.setdefault(str(parent), Entry(stat.S_IFDIR | 0o755))
        self._entries[name] = entry

    def _resolved(self, path: str) -> str:
        """Where a link of the archive stands for a folder, that folder: the kernel unpacks by name, and it may not be there yet."""
        words = PurePosixPath(path.strip("/")).parts
        name = ""
        for word in words[:-1]:
            name = f"{name}/{word}".lstrip("/")
            entry = self._entries.get(name)
            if entry is not None and stat.S_ISLNK(entry.mode):
                name = os.path.normpath(os.path.join("/", os.path.dirname(name), entry.content.decode())).lstrip("/")
        return f"{name}/{words[-1]}".lstrip("/")

    def write(self, target: Path) -> None:
        with target.open("wb") as archive, tempfile.TemporaryDirectory() as scratch:
            for number, (name, entry) in enumerate(sorted(self._entries.items()), start=1):
                content = entry.content
                data = content if isinstance(content, bytes) else _without_debug_information(content, Path(scratch))
                archive.write(_record(name, entry, data, number))
            archive.write(_record("TRAILER!!!", Entry(0), b"", 0))


def _record(name: str, entry: Entry, data: bytes, inode: int) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = [inode, entry.mode, entry.user, entry.group, links, 0, len(data), 0, 0, 0, 0, len(encoded), 0]
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
