"""Reads driver/api/functions.toml and joins it with what the headers say."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ddi_headers import Entry, Interface, Table

_VERSION = re.compile(r"^1\.(\d+)$")


class FunctionListError(Exception):
    """functions.toml contradicts itself or the headers."""


@dataclass(frozen=True)
class ListedEntry:
    entry: Entry
    since: int  # the minor version of the API whose table first had the entry
    built: bool


@dataclass(frozen=True)
class ListedTable:
    table: Table
    entries: tuple[ListedEntry, ...]


@dataclass(frozen=True)
class ListedInterface:
    interface: Interface
    tables: tuple[ListedTable, ...]


@dataclass(frozen=True)
class FunctionList:
    minor: int  # the minor version of the API that the tables are complete for
    interfaces: tuple[ListedInterface, ...]
    unlisted: tuple[str, ...]  # in the headers, but not in the file: newer than `minor`

    def tables(self) -> list[ListedTable]:
        return [table for interface in self.interfaces for table in interface.tables]

    def entries(self) -> list[ListedEntry]:
        return [entry for table in self.tables() for entry in table.entries]


def read_function_list(path: Path, interfaces: tuple[Interface, ...]) -> FunctionList:
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise FunctionListError(f"{path}: {error}") from error
    minor = _minor(data.pop("api", None), f"{path}: api")
    unlisted: list[str] = []
    joined = []
    for interface in interfaces:
        tables = []
        for table in interface.tables:
            section = data.pop(table.getter, None)
            if section is None:
                unlisted += [entry.function.name for entry in table.entries]
            else:
                tables.append(_join_table(path, table, section, minor, unlisted))
        joined.append(ListedInterface(interface, tuple(tables)))
    if data:
        raise FunctionListError(f"{path}: the headers have no table {', '.join(data)}")
    return FunctionList(minor, tuple(joined), tuple(unlisted))


def _minor(value: object, where: str) -> int:
    match = _VERSION.match(value) if isinstance(value, str) else None
    if not match:
        raise FunctionListError(f'{where}: a version such as "1.4" is expected, found {value!r}')
    return int(match[1])


def _join_table(path: Path, table: Table, section: dict, minor: int, unlisted: list[str]) -> ListedTable:
    where = f"{path}: [{table.getter}]"
    entries = []
    order = []
    for entry in table.entries:
        name = entry.function.name
        if name not in section:
            unlisted.append(name)
            continue
        order.append(name)
        entries.append(_join_entry(f"{where} {name}", entry, section[name], minor))
    for name in section:
        if name not in order:
            raise FunctionListError(f"{where}: the headers have no entry for {name}")
    if list(section) != order:
        raise FunctionListError(f"{where}: the lines are not in the order of the headers")
    for before, after in zip(entries, entries[1:]):
        # Tables only ever grew at their end: anything else is a slip of the pen that would write past an older table.
        if after.since < before.since:
            raise FunctionListError(f"{where}: {after.entry.function.name} cannot be older than the entry before it")
    return ListedTable(table, tuple(entries))


def _join_entry(where: str, entry: Entry, line: object, minor: int) -> ListedEntry:
    if not isinstance(line, dict) or set(line) != {"since", "built"} or not isinstance(line["built"], bool):
        raise FunctionListError(f'{where}: {{ since = "1.x", built = true or false }} is expected')
    since = _minor(line["since"], where)
    if since > minor:
        raise FunctionListError(f"{where}: since 1.{since} is above api 1.{minor}")
    return ListedEntry(entry, since, line["built"])
