"""Reads the tables, their entries and the prototypes of the functions from the Level Zero headers."""

import re
from dataclasses import dataclass
from pathlib import Path

# prefix, title: the four interfaces, in the order in which ze_handle_t names their tables.
INTERFACES = (("ze", "core"), ("zet", "tools"), ("zes", "sysman"), ("zer", "runtime"))

_TABLE = re.compile(r"^typedef struct _(\w+_dditable_t)\n\{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
_SLOT = re.compile(r"^\s*((ze[tsr]?)_pfn(\w+)_t)\s+(pfn\w+);", re.MULTILINE)
_GETTER = re.compile(
    r"^ZE_DLLEXPORT ze_result_t ZE_APICALL\n(\w+ProcAddrTable)\(\n[^\n]*\n\s*(\w+_dditable_t)\* pDdiTable", re.MULTILINE
)
_AGGREGATE = re.compile(r"^typedef struct _(\w+_dditable_driver_t)\n\{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
_AGGREGATE_FIELD = re.compile(r"^\s*(\w+_dditable_t) \*\s+(\w+);", re.MULTILINE)
_PROTOTYPE = re.compile(r"^ZE_APIEXPORT (\w+) ZE_APICALL\n(\w+)\(\n(.*?)^\s*\);", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^(.*?[\s*])(\w+)$", re.DOTALL)


class HeaderError(Exception):
    """The headers are missing or not of the form that this reader knows."""


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str


@dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple[Parameter, ...]

    def signature(self, named: bool = True) -> str:
        """The parameter list without its parentheses."""
        return ", ".join(f"{p.type} {p.name}" if named else p.type for p in self.parameters)


@dataclass(frozen=True)
class Entry:
    """One pointer of a table: its member, the type of the pointer, and the function that it leads to."""

    member: str
    pointer_type: str
    function: Function


@dataclass(frozen=True)
class Table:
    getter: str  # the exported function that fills it
    type: str
    field: str  # its member in the aggregate of the interface
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Interface:
    prefix: str
    title: str
    aggregate: str  # the struct of pointers to all tables of this interface
    tables: tuple[Table, ...]


def read_headers(include_folder: Path) -> tuple[Interface, ...]:
    """The four interfaces of the headers below `include_folder`/level_zero."""
    folder = include_folder / "level_zero"
    return tuple(_read_interface(folder, prefix, title) for prefix, title in INTERFACES)


def read_prototypes(include_folder: Path) -> dict[str, Function]:
    """The functions of the core interface by name."""
    return _read_prototypes(_read_text(include_folder / "level_zero/ze_api.h"))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise HeaderError(f"cannot read {path}: {error.strerror}") from error


def _read_interface(folder: Path, prefix: str, title: str) -> Interface:
    ddi = _read_text(folder / f"{prefix}_ddi.h")
    functions = _read_prototypes(_read_text(folder / f"{prefix}_api.h"))
    getters = {table_type: getter for getter, table_type in _GETTER.findall(ddi)}
    bodies = dict(_TABLE.findall(ddi))
    aggregates = _AGGREGATE.findall(ddi)
    if len(aggregates) != 1:
        raise HeaderError(f"{prefix}_ddi.h: one aggregate of tables expected, found {len(aggregates)}")
    aggregate, fields = aggregates[0]
    tables = []
    for table_type, field in _AGGREGATE_FIELD.findall(fields):
        if table_type not in getters or table_type not in bodies:
            raise HeaderError(f"{prefix}_ddi.h: {table_type} has no struct or no function that fills it")
        entries = tuple(
            Entry(member, pointer, _find(functions, f"{interface}{name}", prefix))
            for pointer, interface, name, member in _SLOT.findall(bodies[table_type])
        )
        if len(entries) != bodies[table_type].count(";"):
            raise HeaderError(f"{prefix}_ddi.h: {table_type} holds something that is no function pointer")
        tables.append(Table(getters[table_type], table_type, field, entries))
    if len(tables) != len(getters):
        raise HeaderError(f"{prefix}_ddi.h: {aggregate} does not name all {len(getters)} tables")
    return Interface(prefix, title, aggregate, tuple(tables))


def _find(functions: dict[str, Function], name: str, prefix: str) -> Function:
    if name not in functions:
        raise HeaderError(f"{prefix}_api.h has no prototype of {name}, which {prefix}_ddi.h has an entry for")
    return functions[name]


def _read_prototypes(text: str) -> dict[str, Function]:
    functions = {}
    for result, name, parameters in _PROTOTYPE.findall(text):
        plain = re.sub(r"///<[^\n]*", "", parameters)
        functions[name] = Function(name, result, tuple(_read_parameters(name, plain)))
    return functions


def _read_parameters(function: str, text: str) -> list[Parameter]:
    words = " ".join(text.split())
    if words == "void":
        return []
    parameters = []
    for piece in words.split(","):
        match = _PARAMETER.match(piece.strip())
        if not match:
            raise HeaderError(f"{function}: cannot read the parameter '{piece.strip()}'")
        parameters.append(Parameter(match[1].strip(), match[2]))
    return parameters
