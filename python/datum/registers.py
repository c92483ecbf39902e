"""Registers of a board by name, while the driver uses the board."""

from ctypes import byref, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING

from .register_table import REGISTERS

if TYPE_CHECKING:
    from .level_zero import Loader


class Registers:
    """Names are those of docs/registers.md, in upper or lower case. A board that is gone reads all ones. What the driver programs
    (rings, address spaces, reset) is better left to it: a write there spoils this process's own work."""

    def __init__(self, loader: "Loader", device: int) -> None:
        self._loader, self._device = loader, device
        self._read = loader.extension("zexDatumDeviceReadRegister", c_void_p, c_uint64, c_uint32, c_void_p)
        self._write = loader.extension("zexDatumDeviceWriteRegister", c_void_p, c_uint64, c_uint32, c_uint64)

    @staticmethod
    def names() -> list[str]:
        return list(REGISTERS)

    def read(self, name: str, index: int = 0) -> int:
        """The whole register; `index` chooses among repeated ones, such as RING_STATE."""
        return self.read_at(*self._place(name, index))

    def fields(self, name: str, index: int = 0) -> dict[str, int]:
        """The register's fields; those that count pages, such as an address, in bytes."""
        value = self.read(name, index)
        described = REGISTERS[name.upper()].fields
        return {field: (value >> low & ((1 << width) - 1)) << shift for field, (low, width, shift) in described.items()}

    def write(self, name: str, value: int, index: int = 0) -> None:
        self.write_at(*self._place(name, index), value)

    def read_at(self, offset: int, size: int) -> int:
        """A register of 4 or 8 bytes at an offset in BAR0: for registers that only your board has."""
        value = c_uint64()
        self._check("zexDatumDeviceReadRegister", self._read(self._device, offset, size, byref(value)))
        return value.value

    def write_at(self, offset: int, size: int, value: int) -> None:
        if not 0 <= value < 1 << 8 * size:
            raise ValueError(f"{value:#x} does not fit a register of {size} bytes")
        self._check("zexDatumDeviceWriteRegister", self._write(self._device, offset, size, value))

    def _check(self, call: str, result: int) -> None:
        if result:
            from .level_zero import Failure
            raise Failure(call, result & 0xFFFFFFFF, self._loader.last_sentence())

    @staticmethod
    def _place(name: str, index: int) -> tuple[int, int]:
        register = REGISTERS.get(name.upper())
        if register is None:
            raise KeyError(f"there is no register {name}")
        if not 0 <= index < register.count:
            raise IndexError(f"{name} has the indices 0 to {register.count - 1}, not {index}")
        return register.offset + index * register.stride, register.size
