"""Memory of a board, or memory that host and board both see."""

import ctypes
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .board import Board


class Memory:
    """An allocation. `address` is the pointer that Level Zero calls take; freed by `free`, at the end of a `with`, or with its board."""

    def __init__(self, board: "Board", address: int, size: int, kind: str) -> None:
        self._board = board
        self._address = address
        self.size = size
        self.kind = kind

    @property
    def address(self) -> int:
        if self._address is None:
            raise ValueError("this memory was freed")
        return self._address

    @property
    def view(self) -> memoryview:
        """The bytes themselves, of host and shared memory; valid until the memory is freed."""
        if self.kind == "device":
            raise ValueError("device memory has no bytes that the CPU sees: use read, write, or Board.copy")
        return memoryview((ctypes.c_ubyte * self.size).from_address(self.address)).cast("B")

    def read(self, size: int | None = None, offset: int = 0) -> bytes:
        """Bytes from `offset`, when the copies before have ended."""
        size = max(0, self.size - offset) if size is None else size
        target = bytearray(size)
        if size:
            self._board.copy(target, self, size, source_offset=offset).wait()
        return bytes(target)

    def write(self, data: "bytes | bytearray | memoryview", offset: int = 0) -> None:
        """Bytes to `offset`; returns when they are there."""
        data = memoryview(data).cast("B")
        if data.nbytes:
            self._board.copy(self, data, data.nbytes, target_offset=offset).wait()

    def free(self) -> None:
        """Waits for the board's work, so that none of it meets memory that is gone."""
        if self._address is not None:
            self._board.drain()
            self._board.forget(self)
            self._address = None

    def __len__(self) -> int:
        return self.size

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __repr__(self) -> str:
        return f"<{self.kind} memory of {self.size} bytes, " + (f"at {self._address:#x}>" if self._address is not None else "freed>")
