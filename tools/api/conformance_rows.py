"""Joins tests/conformance/judgement.toml with the headers: which rows docs/conformance.md must have."""

import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ddi_headers import Function
from type_headers import Structure, Types

STYPE = "ZE_STRUCTURE_TYPE_"
_SETTINGS = {"common", "codes", "also", "next", "answers", "outputs", "never", "model", "depends"}


class JudgementError(Exception):
    """judgement.toml contradicts itself or the headers."""


@dataclass(frozen=True)
class Row:
    """One line of the table: what `function` answers, when called with `argument` or at all."""

    chapter: str
    function: str
    argument: str  # "-" for a row of a result code alone
    code: str
    demand: str  # "both", "model", "depends", "never" or "anywhere"
    reason: str = ""


@dataclass(frozen=True)
class ObservedFunction:
    function: Function
    rows: tuple[Row, ...]
    structures: tuple[Structure, ...]  # those it takes and those on their chains


@dataclass(frozen=True)
class Conformance:
    chapters: dict[str, str]
    functions: tuple[ObservedFunction, ...]


def read_conformance(path: Path, prototypes: dict[str, Function], types: Types) -> Conformance:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise JudgementError(f"{path}: {error}") from error
    chapters, common, anywhere = data.pop("chapters"), data.pop("common"), data.pop("anywhere")
    functions = []
    for chapter, sections in data.items():
        if chapter not in chapters:
            raise JudgementError(f"{path}: chapter {chapter} has no title")
        for name, settings in sections.items():
            if name not in prototypes or name not in types.results:
                raise JudgementError(f"{path}: the headers have no function {name}")
            if unknown := set(settings) - _SETTINGS:
                raise JudgementError(f"{path}: {name}: {', '.join(sorted(unknown))} means nothing")
            functions.append(_FunctionRows(chapter, prototypes[name], settings, common, anywhere, types).read())
    return Conformance(chapters, tuple(functions))


def structure_of(type_name: str, types: Types) -> Structure | None:
    """The structure that a parameter of type `T*` or `const T*` points to."""
    if not type_name.endswith("*") or type_name.endswith("**"):
        return None
    return types.structures.get(type_name.removeprefix("const ").removesuffix("*").strip())


def fields_of(structure: Structure, types: Types) -> list[tuple[str, str, str]]:
    """Member, label and type of each member of a structure that has named values."""
    return [(name, f"{structure.name}.{name}", kind) for kind, name in structure.members if types.choices(kind)]


class _FunctionRows:
    """Collects the rows of one function, and sees to it that every setting of its section is used."""

    def __init__(self, chapter: str, function: Function, settings: dict, common: dict[str, str],
                 anywhere: dict[str, str], types: Types) -> None:
        self.chapter = chapter
        self.function = function
        self.settings = settings
        self.common = common
        self.anywhere = anywhere
        self.types = types
        self.used: set[tuple[str, str]] = set()
        self.rows: list[Row] = []
        self.structures: list[Structure] = []

    def read(self) -> ObservedFunction:
        self._results()
        for parameter in self.function.parameters:
            structure = structure_of(parameter.type, self.types)
            if structure:
                self._structure(structure, parameter.type.startswith("const"))
            elif choices := self.types.choices(parameter.type.removesuffix("*").strip()):
                is_input = not parameter.type.endswith("*")
                if is_input or self._uses("outputs", parameter.name):
                    self._choices(parameter.name, choices)
        for name in self.settings.get("also", []):
            self._add(STYPE + name, self._answer(STYPE + name), STYPE + name)
        for name in self.settings.get("next", []):
            structure = self.types.by_stype.get(STYPE + name)
            if structure is None:
                raise JudgementError(f"{self.function.name}: the headers have no structure {name}")
            is_input = any(kind == "const void*" and member == "pNext" for kind, member in structure.members)
            self._structure(structure, is_input)
        for setting in ("answers", "outputs", "never", "model", "depends"):
            for entry in self.settings.get(setting, []):
                if (setting, entry) not in self.used:
                    raise JudgementError(f"{self.function.name}: {setting}: nothing is called {entry}")
        return ObservedFunction(self.function, tuple(self.rows), tuple(self.structures))

    def _results(self) -> None:
        wanted = self.settings.get("common", [])
        listed = self.types.results[self.function.name] + self.settings.get("codes", [])
        for code in wanted:
            if code not in listed or code not in self.common | self.anywhere:
                raise JudgementError(f"{self.function.name}: {code} is no code of the common set that it may answer")
        for code in listed:
            if code in wanted or self._matches("never", code):
                self._add("-", code, code)
            elif code in self.common:
                self.rows.append(self._row("-", code, "never", self.common[code]))
            elif code in self.anywhere:
                self.rows.append(self._row("-", code, "anywhere", self.anywhere[code]))
            else:
                self._add("-", code, code)

    def _structure(self, structure: Structure, is_input: bool) -> None:
        if structure in self.structures:
            return
        self.structures.append(structure)
        self._add(structure.stype, self._answer(structure.stype), structure.stype)
        for _, label, kind in fields_of(structure, self.types):
            if is_input or self._uses("outputs", label):
                self._choices(label, self.types.choices(kind) or {})

    def _choices(self, label: str, choices: dict[str, int]) -> None:
        for enumerator in choices:
            argument = f"{label}={enumerator}"
            self._add(argument, self._answer(argument), argument)

    def _add(self, argument: str, code: str, key: str) -> None:
        for demand in ("never", "depends", "model"):
            if pattern := self._matches(demand, key):
                setting = self.settings[demand]
                reason = setting[pattern] if isinstance(setting, dict) else ""
                self.rows.append(self._row(argument, code, demand, reason))
                return
        self.rows.append(self._row(argument, code, "both"))

    def _row(self, argument: str, code: str, demand: str, reason: str = "") -> Row:
        return Row(self.chapter, self.function.name, argument, code, demand, reason)

    def _answer(self, argument: str) -> str:
        pattern = self._matches("answers", argument)
        return self.settings["answers"][pattern] if pattern else "SUCCESS"

    def _matches(self, setting: str, key: str) -> str | None:
        """The first pattern of a setting that `key` matches; all that match count as used."""
        found = [entry for entry in self.settings.get(setting, []) if fnmatch.fnmatchcase(key, entry)]
        self.used.update((setting, entry) for entry in found)
        return found[0] if found else None

    def _uses(self, setting: str, name: str) -> bool:
        return self._matches(setting, name) is not None
