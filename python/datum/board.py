"""A board: its memory, copies that run beside the program, and waiting for them."""

import collections
import ctypes
import os
import time
from ctypes import byref, c_void_p
from pathlib import Path

from . import level_zero as ze
from .memory import Memory
from .registers import Registers

DRIVER_VARIABLE, BOARD_VARIABLE = "ZE_ENABLE_ALT_DRIVERS", "DATUM_BOARDS"
COPIES_IN_FLIGHT = 64
FOREVER = 2**64 - 1

_loader: ze.Loader | None = None
_boards_asked_for: str | None = None


def _installed_driver() -> str | None:
    """libze_datum.so.1 of the tree that this module is installed in: PREFIX/lib/python3/dist-packages/datum."""
    parents = Path(__file__).resolve().parents
    patterns = ("lib/*/libze_datum.so.1", "lib/libze_datum.so.1", "lib64/libze_datum.so.1")
    found = [str(driver) for pattern in patterns for driver in parents[4].glob(pattern)] if len(parents) > 4 else []
    return found[0] if found else None


def _start(address: str | None) -> ze.Loader:
    """The loader with the driver in it, which looks at its environment once in a process."""
    global _loader, _boards_asked_for
    if _loader is None:
        if address is not None:
            os.environ[BOARD_VARIABLE] = address
        if DRIVER_VARIABLE not in os.environ and (driver := _installed_driver()) is not None:
            os.environ[DRIVER_VARIABLE] = driver
        loader = ze.Loader()
        if result := loader.result("zeInit", 0):
            raise ze.Failure("zeInit", result, "no driver has a board; a line on standard error says why, and 'datum doctor' what to do")
        _loader, _boards_asked_for = loader, os.environ.get(BOARD_VARIABLE)
    elif address is not None and address != _boards_asked_for:
        raise ValueError(f"this process has the boards '{_boards_asked_for}', and a driver opens its boards once: '{address}' is for another process, "
                         "or name all of them at the first open, separated by commas, and choose with index=")
    return _loader


def _datum_driver(loader: ze.Loader) -> int:
    for driver in loader.handles("zeDriverGet"):
        loader.use_driver(driver)
        if loader.extension("zexDatumDeviceReadRegister") is not None:
            return driver
    raise ze.Failure("zeDriverGet", 0x78000001, f"there is no Datum driver among the loader's; {DRIVER_VARIABLE} names it, 'datum doctor' says more")


def open(address: str | None = None, index: int = 0) -> "Board":
    """Opens a board: 'rtl:', 'model:memory=64M', 'vfio:0000:03:00.0'; None: DATUM_BOARDS, else the bound cards. The first call in a
    process decides which boards there are; `index` chooses among several."""
    loader = _start(address)
    driver = _datum_driver(loader)
    devices = loader.handles("zeDeviceGet", driver)
    if not 0 <= index < len(devices):
        raise IndexError(f"there are {len(devices)} boards, so index goes from 0 to {len(devices) - 1}, not {index}")
    return Board(loader, driver, devices[index])


class Pending:
    """Work that was given to the board. Work of one board is done in the order in which it was given."""

    def __init__(self, board: "Board", event: int, keeps: tuple) -> None:
        self._board, self._event, self._keeps = board, event, keeps
        self._failure: ze.Failure | None = None

    @property
    def done(self) -> bool:
        return self._event is None or self._board.look(self, 0)

    def wait(self, timeout: float | None = None) -> None:
        """Returns when the work is done. TimeoutError after `timeout` seconds; Failure where the work failed."""
        if self._event is not None and not self._board.look(self, FOREVER if timeout is None else max(0, int(timeout * 1e9))):
            raise TimeoutError(f"the board was not ready after {timeout} seconds")
        if self._failure is not None:
            raise self._failure


class Board:
    """One board with a context and an in-order queue of its own. Not for several threads at once; a thread opens a board of its own."""

    def __init__(self, loader: ze.Loader, driver: int, device: int) -> None:
        self._loader, self._device = loader, device
        self._context = loader.handle("zeContextCreate", driver, byref(ze.ContextDescription()))
        self._list = loader.handle("zeCommandListCreateImmediate", self._context, device, byref(ze.QueueDescription(
            flags=ze.QueueDescription.IN_ORDER, mode=ze.QueueDescription.ASYNCHRONOUS)))
        self._pool = loader.handle("zeEventPoolCreate", self._context, byref(ze.EventPoolDescription(
            flags=ze.EventPoolDescription.HOST_VISIBLE, count=COPIES_IN_FLIGHT)), 0, None)
        scope = ze.EventDescription.SCOPE_HOST
        self._events = [loader.handle("zeEventCreate", self._pool, byref(ze.EventDescription(index=number, signal=scope, wait=scope)))
                        for number in range(COPIES_IN_FLIGHT)]
        self._free_events = list(self._events)
        self._in_flight: collections.deque[Pending] = collections.deque()
        self._memories: set[Memory] = set()
        self.registers = Registers(loader, device)
        properties = ze.DeviceProperties()
        loader.call("zeDeviceGetProperties", device, byref(properties))
        self.name = properties.name.decode(errors="replace")

    def allocate(self, size: int, *, ordinal: int = 0) -> Memory:
        """Device memory: ordinal 0 is DRAM, 1 on-chip memory."""
        return self._allocated("device", size, "zeMemAllocDevice", self._context, byref(ze.DeviceMemoryDescription(ordinal=ordinal)),
                               size, 0, self._device)

    def allocate_host(self, size: int) -> Memory:
        return self._allocated("host", size, "zeMemAllocHost", self._context, byref(ze.HostMemoryDescription()), size, 0)

    def allocate_shared(self, size: int) -> Memory:
        return self._allocated("shared", size, "zeMemAllocShared", self._context, byref(ze.DeviceMemoryDescription()),
                               byref(ze.HostMemoryDescription()), size, 0, self._device)

    def copy(self, target: object, source: object, size: int | None = None, *, target_offset: int = 0, source_offset: int = 0) -> Pending:
        """Gives the board a copy between memories, or from and to bytes-like objects of Python. `size`: all that fits, unless given.
        Do not change the source, nor read the target, before the copy is done; bytes that cannot be written are copied at once."""
        to, to_size = self._place(target, True)
        origin, from_size = self._place(source, False)
        size = min(to_size - target_offset, from_size - source_offset) if size is None else size
        self._check_range("target", target_offset, size, to_size)
        self._check_range("source", source_offset, size, from_size)
        return self._give((target, source, to, origin), "zeCommandListAppendMemoryCopy", self._list, _number(to) + target_offset,
                          _number(origin) + source_offset, size)

    def fill(self, target: Memory, pattern: bytes, size: int | None = None, *, offset: int = 0) -> Pending:
        """Gives the board a fill with a pattern of 1, 2, 4, 8 or 16 bytes."""
        size = target.size - offset if size is None else size
        self._check_range("target", offset, size, target.size)
        words = ctypes.create_string_buffer(pattern, len(pattern))
        return self._give((target, words), "zeCommandListAppendMemoryFill", self._list, target.address + offset,
                          ctypes.addressof(words), len(pattern), size)

    def wait(self, timeout: float | None = None) -> None:
        """Returns when all that was given is done. A Failure of work that nobody has waited for is raised here."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._in_flight:
            self._in_flight[0].wait(None if deadline is None else deadline - time.monotonic())

    def close(self) -> None:
        """Waits for the work and frees everything; closing twice is nothing."""
        if self._context is None:
            return
        self.drain()
        for memory in list(self._memories):
            memory.free()
        for event in self._events:
            self._loader.call("zeEventDestroy", event)
        self._loader.call("zeEventPoolDestroy", self._pool)
        self._loader.call("zeCommandListDestroy", self._list)
        self._loader.call("zeContextDestroy", self._context)
        self._context = None

    def __enter__(self) -> "Board":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def look(self, pending: Pending, timeout_ns: int) -> bool:
        """Whether the work has ended, well or not, when `timeout_ns` have passed; for Pending."""
        result = self._loader.result("zeEventHostSynchronize", pending._event, timeout_ns)
        if result == ze.NOT_READY:
            return False
        if result:
            pending._failure = ze.Failure("zeEventHostSynchronize", result, self._loader.last_sentence())
        self._loader.call("zeEventHostReset", pending._event)
        self._free_events.append(pending._event)
        self._in_flight.remove(pending)
        pending._event, pending._keeps = None, ()
        return True

    def drain(self) -> None:
        """Waits for all work, also for what fails: that is told to who waits for it; for Memory."""
        while self._in_flight:
            self.look(self._in_flight[0], FOREVER)

    def forget(self, memory: Memory) -> None:
        """Frees it; for Memory."""
        self._loader.call("zeMemFree", self._context, memory.address)
        self._memories.discard(memory)

    def _allocated(self, kind: str, size: int, *call: object) -> Memory:
        memory = Memory(self, self._loader.handle(*call), size, kind)
        self._memories.add(memory)
        return memory

    def _give(self, keeps: tuple, *call: object) -> Pending:
        if not self._free_events:
            self.look(self._in_flight[0], FOREVER)
        event = self._free_events.pop()
        try:
            self._loader.call(*call, event, 0, None)
        except ze.Failure:
            self._free_events.append(event)
            raise
        pending = Pending(self, event, keeps)
        self._in_flight.append(pending)
        return pending

    def _place(self, what: object, to_be_written: bool) -> tuple[object, int]:
        """Where the bytes are, an address or an object of ctypes that keeps them there, and how many."""
        if isinstance(what, Memory):
            return what.address, what.size
        view = memoryview(what).cast("B")
        array = ctypes.c_char * view.nbytes
        if not view.readonly:
            return array.from_buffer(view), view.nbytes
        if to_be_written:
            raise TypeError(f"a {type(what).__name__} cannot be written; a bytearray can")
        return array.from_buffer_copy(view), view.nbytes

    @staticmethod
    def _check_range(name: str, offset: int, size: int, whole: int) -> None:
        if offset < 0 or size < 0 or offset + size > whole:
            raise ValueError(f"{size} bytes from {offset} do not lie in the {name}, which has {whole}")


def _number(place: object) -> int:
    return place if isinstance(place, int) else ctypes.addressof(place)
