"""The part of Level Zero that the module uses: structures, the loader's functions, results as exceptions."""

import ctypes
from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

NOT_READY = 1
RESULT_NAMES = {
    0x00000001: "NOT_READY", 0x70000001: "DEVICE_LOST", 0x70000002: "OUT_OF_HOST_MEMORY", 0x70000003: "OUT_OF_DEVICE_MEMORY",
    0x70010000: "INSUFFICIENT_PERMISSIONS", 0x70010001: "NOT_AVAILABLE", 0x70020000: "DEPENDENCY_UNAVAILABLE",
    0x78000001: "UNINITIALIZED", 0x78000002: "UNSUPPORTED_VERSION", 0x78000003: "UNSUPPORTED_FEATURE", 0x78000004: "INVALID_ARGUMENT",
    0x78000005: "INVALID_NULL_HANDLE", 0x78000006: "HANDLE_OBJECT_IN_USE", 0x78000007: "INVALID_NULL_POINTER", 0x78000008: "INVALID_SIZE",
    0x78000009: "UNSUPPORTED_SIZE", 0x7800000A: "UNSUPPORTED_ALIGNMENT", 0x7800000B: "INVALID_SYNCHRONIZATION_OBJECT",
    0x7800000C: "INVALID_ENUMERATION", 0x7800000D: "UNSUPPORTED_ENUMERATION", 0x7800001A: "OVERLAPPING_REGIONS",
    0x7FFFFFFE: "UNKNOWN",
}


class Failure(Exception):
    """A call that failed: `code` is the ze_result_t, `name` its name, the text the driver's own sentence where there is one."""

    def __init__(self, call: str, code: int, sentence: str = "") -> None:
        self.code = code
        self.name = RESULT_NAMES.get(code, f"0x{code:08x}")
        super().__init__(f"{call} answered {self.name}" + (f": {sentence}" if sentence else ""))


class Described(ctypes.Structure):
    """Every structure begins with its type and a chain that is not used here."""

    _fields_ = [("stype", c_uint32), ("next", c_void_p)]
    STYPE = 0

    def __init__(self, **members: int) -> None:
        super().__init__(stype=self.STYPE, **members)


class DeviceProperties(Described):
    STYPE = 0x3
    _fields_ = [("type", c_uint32), ("vendor_id", c_uint32), ("device_id", c_uint32), ("flags", c_uint32), ("subdevice_id", c_uint32),
                ("core_clock_mhz", c_uint32), ("largest_allocation_bytes", c_uint64), ("shape", c_uint32 * 7),
                ("timer_resolution", c_uint64), ("timestamp_bits", c_uint32 * 2), ("uuid", c_uint8 * 16), ("name", c_char * 256)]


class ContextDescription(Described):
    STYPE = 0xD
    _fields_ = [("flags", c_uint32)]


class QueueDescription(Described):
    STYPE = 0xE
    _fields_ = [("ordinal", c_uint32), ("index", c_uint32), ("flags", c_uint32), ("mode", c_uint32), ("priority", c_uint32)]
    IN_ORDER = 2
    ASYNCHRONOUS = 2


class EventPoolDescription(Described):
    STYPE = 0x10
    _fields_ = [("flags", c_uint32), ("count", c_uint32)]
    HOST_VISIBLE = 1


class EventDescription(Described):
    STYPE = 0x11
    _fields_ = [("index", c_uint32), ("signal", c_uint32), ("wait", c_uint32)]
    SCOPE_HOST = 4


class DeviceMemoryDescription(Described):
    STYPE = 0x15
    _fields_ = [("flags", c_uint32), ("ordinal", c_uint32)]


class HostMemoryDescription(Described):
    STYPE = 0x16
    _fields_ = [("flags", c_uint32)]


_handle, _handles, _count = c_void_p, POINTER(c_void_p), POINTER(c_uint32)
SIGNATURES = {
    "zeInit": [c_uint32],
    "zeDriverGet": [_count, _handles],
    "zeDriverGetExtensionFunctionAddress": [_handle, c_char_p, _handles],
    "zeDeviceGet": [_handle, _count, _handles],
    "zeDeviceGetProperties": [_handle, POINTER(DeviceProperties)],
    "zeContextCreate": [_handle, POINTER(ContextDescription), _handles],
    "zeContextDestroy": [_handle],
    "zeCommandListCreateImmediate": [_handle, _handle, POINTER(QueueDescription), _handles],
    "zeCommandListDestroy": [_handle],
    "zeEventPoolCreate": [_handle, POINTER(EventPoolDescription), c_uint32, _handles, _handles],
    "zeEventPoolDestroy": [_handle],
    "zeEventCreate": [_handle, POINTER(EventDescription), _handles],
    "zeEventDestroy": [_handle],
    "zeEventHostReset": [_handle],
    "zeEventHostSynchronize": [_handle, c_uint64],
    "zeMemAllocDevice": [_handle, POINTER(DeviceMemoryDescription), c_size_t, c_size_t, _handle, _handles],
    "zeMemAllocHost": [_handle, POINTER(HostMemoryDescription), c_size_t, c_size_t, _handles],
    "zeMemAllocShared": [_handle, POINTER(DeviceMemoryDescription), POINTER(HostMemoryDescription), c_size_t, c_size_t, _handle, _handles],
    "zeMemFree": [_handle, c_void_p],
    "zeCommandListAppendMemoryCopy": [_handle, c_void_p, c_void_p, c_size_t, _handle, c_uint32, _handles],
    "zeCommandListAppendMemoryFill": [_handle, c_void_p, c_void_p, c_size_t, c_size_t, _handle, c_uint32, _handles],
}
LAST_ERROR = "zeDriverGetLastErrorDescription"  # newer than Debian 12's loader


class Loader:
    """The loader's functions. `call` raises Failure where the function does not answer SUCCESS."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libze_loader.so.1")
        except OSError as error:
            raise Failure("loading libze_loader.so.1", 0x70020000, f"{error} (on Debian: apt install libze1)") from None
        for name, arguments in SIGNATURES.items():
            function = getattr(self._library, name)
            function.argtypes, function.restype = arguments, c_uint32
        self._driver = None

    def call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result:
            raise Failure(name, result, self.last_sentence())

    def result(self, name: str, *arguments: object) -> int:
        return getattr(self._library, name)(*arguments)

    def handle(self, name: str, *arguments: object) -> int:
        """What a function that creates something writes into its last argument."""
        made = c_void_p()
        self.call(name, *arguments, byref(made))
        return made.value

    def handles(self, name: str, *arguments: object) -> list[int]:
        count = c_uint32()
        self.call(name, *arguments, byref(count), None)
        found = (c_void_p * count.value)()
        self.call(name, *arguments, byref(count), found)
        return list(found)

    def use_driver(self, driver: int) -> None:
        self._driver = driver

    def last_sentence(self) -> str:
        """Why the last call of this thread failed; empty where loader or driver do not tell."""
        describe = getattr(self._library, LAST_ERROR, None)
        text = c_char_p()
        if self._driver is None or describe is None or describe(c_void_p(self._driver), byref(text)) or not text.value:
            return ""
        return text.value.decode(errors="replace")

    def extension(self, name: str, *arguments: type) -> object:
        """A function of the driver that no loader knows; None where the driver has none of that name."""
        address = c_void_p()
        if self.result("zeDriverGetExtensionFunctionAddress", self._driver, name.encode(), byref(address)) or not address.value:
            return None
        return ctypes.CFUNCTYPE(c_int, *arguments)(address.value)
