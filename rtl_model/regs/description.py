"""The register description: loading board.toml and checking that it is consistent."""

import json
import re
import tomllib
import zlib
from dataclasses import dataclass, field
from pathlib import Path

ACCESS_KINDS = ("ro", "rw", "wo", "w1c", "w1s")
MAXIMUM_REGISTER_BYTES = 8
WORD_BITS = 64
NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")

# What each key holds, wherever it stands; `enum` is a list of tables at the top and a name elsewhere.
TEXTS = {"name", "description", "bits", "access", "type", "enum"}
NUMBERS = {"magic", "version_major", "version_minor", "bar0_bytes", "base", "stride", "count", "offset", "width", "number", "bytes",
           "word", "shift"}
TABLES = {"block", "register", "field", "value", "layout"}


class DescriptionError(Exception):
    """One or more rules are broken; the text has a line for each."""


@dataclass(frozen=True)
class Field:
    name: str
    high: int
    low: int
    description: str
    enum: str | None = None
    shift: int = 0  # the field counts units of 2^shift
    word: int = 0  # layouts only: which 64-bit word
    only: tuple[str, ...] = ()  # layouts only: the opcodes that have the field; empty: all

    @property
    def width(self) -> int:
        return max(self.high - self.low + 1, 0)

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.low


@dataclass(frozen=True)
class Register:
    name: str
    offset: int
    width: int
    access: str
    reset: int | None  # None: driven by hardware
    description: str
    enum: str | None = None
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Block:
    name: str
    base: int
    stride: int
    count: int
    description: str
    registers: tuple[Register, ...] = ()

    @property
    def index_name(self) -> str:
        """What an index of the repeated block counts: 'ring' for ring_page."""
        return self.name.split("_")[0]


@dataclass(frozen=True)
class Value:
    name: str
    number: int
    description: str


@dataclass(frozen=True)
class Enum:
    name: str
    width: int
    description: str
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Layout:
    name: str
    type: str
    bytes: int
    description: str
    fields: tuple[Field, ...] = ()

    @property
    def words(self) -> int:
        return self.bytes * 8 // WORD_BITS


@dataclass(frozen=True)
class Description:
    name: str
    description: str
    magic: int
    version_major: int
    version_minor: int
    bar0_bytes: int
    crc: int
    blocks: tuple[Block, ...] = ()
    enums: tuple[Enum, ...] = ()
    layouts: tuple[Layout, ...] = ()


@dataclass
class Checker:
    problems: list[str] = field(default_factory=list)

    def expect(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)

    def name(self, name: str, where: str) -> None:
        self.expect(NAME_PATTERN.match(name) is not None, f"{where}: '{name}' is not a name")

    def described(self, item: dict, where: str) -> str:
        text = item.get("description", "")
        self.expect(isinstance(text, str) and text.strip() != "", f"{where}: missing description")
        return text

    def unique(self, names: list[str], where: str) -> None:
        seen: set[str] = set()
        for name in names:
            self.expect(name.lower() not in seen, f"{where}: duplicate name '{name}'")
            seen.add(name.lower())

    def keys(self, item: dict, allowed: set[str], required: set[str], where: str) -> None:
        for key in sorted(set(item) - allowed - required):
            self.problems.append(f"{where}: unknown key '{key}'")
        missing = sorted(required - set(item))
        if missing:
            raise DescriptionError(f"{where}: missing {', '.join(missing)}")


def has_its_type(key: str, value: object, top: bool) -> bool:
    if key in TABLES or (key == "enum" and top):
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)
    if key in TEXTS:
        return isinstance(value, str)
    if key in NUMBERS:
        return type(value) is int and 0 <= value < 1 << WORD_BITS
    if key == "reset":
        return type(value) is int or isinstance(value, str)
    if key == "only":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return key != "device" or isinstance(value, dict)


def check_types(table: dict, where: str, top: bool = False) -> None:
    """Everything that follows may rely on these. Keys that mean nothing are told later."""
    for key, value in table.items():
        if not has_its_type(key, value, top):
            raise DescriptionError(f"{where}: '{key}' holds {value!r}, which is of another kind than it has to be")
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                check_types(item, f"{where}, {key}")


def parse_bits(text: str, where: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,3})(?::([0-9]{1,3}))?", text)
    if match is None:
        raise DescriptionError(f"{where}: bits '{text}' are neither 'high:low' nor 'bit'")
    high = int(match.group(1))
    low = int(match.group(2)) if match.group(2) is not None else high
    return high, low


def read_field(check: Checker, item: dict, where: str, limit: int, words: int) -> Field:
    check.keys(item, {"description", "enum", "shift", "word", "only"}, {"name", "bits"}, where)
    where = f"{where}.{item['name']}"
    check.name(item["name"], where)
    high, low = parse_bits(item["bits"], where)
    check.expect(high >= low, f"{where}: bits {high}:{low} run backwards")
    check.expect(high < limit, f"{where}: bit {high} is outside {limit} bits")
    word, shift = item.get("word", 0), item.get("shift", 0)
    check.expect(max(high - low + 1, 0) + shift <= WORD_BITS, f"{where}: its bits, shifted by {shift}, pass {WORD_BITS} bits")
    check.expect(0 <= word < words, f"{where}: word {word} is outside {words} words")
    return Field(item["name"], high, low, check.described(item, where), item.get("enum"), shift, word,
                 tuple(item.get("only", ())))


def may_overlap(one: Field, other: Field) -> bool:
    """Fields of different opcodes never meet in one descriptor."""
    return bool(one.only) and bool(other.only) and not set(one.only) & set(other.only)


def check_fields(check: Checker, fields: tuple[Field, ...], where: str) -> None:
    check.unique([f.name for f in fields], where)
    for index, one in enumerate(fields):
        for other in fields[:index]:
            if one.word == other.word and one.mask & other.mask and not may_overlap(one, other):
                check.problems.append(f"{where}: fields {other.name} and {one.name} overlap")


def read_register(check: Checker, item: dict, block: str) -> Register:
    where = f"block {block}"
    check.keys(item, {"description", "field", "enum"}, {"name", "offset", "width", "access", "reset"}, where)
    where = f"{where}: {item['name']}"
    check.name(item["name"], where)
    width, offset, reset = item["width"], item["offset"], item["reset"]
    if width not in (32, 64):
        raise DescriptionError(f"{where}: width {width} is neither 32 nor 64")
    check.expect(offset >= 0 and offset % (width // 8 or 1) == 0, f"{where}: offset {offset:#x} is misaligned")
    check.expect(item["access"] in ACCESS_KINDS, f"{where}: access '{item['access']}' is none of {', '.join(ACCESS_KINDS)}")
    if reset != "hw":
        check.expect(isinstance(reset, int) and reset >= 0, f"{where}: reset '{reset}' is neither a number nor 'hw'")
        check.expect(not isinstance(reset, int) or reset < 1 << width, f"{where}: reset {reset!r} is wider than {width} bits")
    fields = tuple(read_field(check, f, where, width, 1) for f in item.get("field", []))
    check_fields(check, fields, where)
    return Register(item["name"], offset, width, item["access"], None if reset == "hw" else reset,
                    check.described(item, where), item.get("enum"), fields)


def read_block(check: Checker, item: dict) -> Block:
    check.keys(item, {"description", "stride", "count"}, {"name", "base", "register"}, "block")
    where = f"block {item['name']}"
    check.name(item["name"], where)
    registers = tuple(read_register(check, r, item["name"]) for r in item["register"])
    count = item.get("count", 1)
    end = max((r.offset + r.width // 8 for r in registers), default=0)
    stride = item.get("stride", end)
    if stride == 0:
        raise DescriptionError(f"{where}: no registers, or a stride of 0")
    check.expect(count >= 1, f"{where}: count {count} is less than 1")
    check.expect(count == 1 or "stride" in item, f"{where}: repeats without a stride")
    check.expect(item["base"] % MAXIMUM_REGISTER_BYTES == 0, f"{where}: base {item['base']:#x} is misaligned")
    check.expect(count == 1 or stride & (stride - 1) == 0, f"{where}: stride {stride} is no power of two")
    check.expect(count == 1 or item["base"] % stride == 0, f"{where}: base is no multiple of the stride")
    check.expect(end <= stride, f"{where}: registers reach {end:#x}, beyond the stride of {stride:#x}")
    ordered = sorted(registers, key=lambda r: r.offset)
    for before, after in zip(ordered, ordered[1:]):
        check.expect(before.offset + before.width // 8 <= after.offset, f"{where}: {before.name} and {after.name} overlap")
    return Block(item["name"], item["base"], stride, count, check.described(item, where), registers)


def read_enum(check: Checker, item: dict) -> Enum:
    check.keys(item, {"description"}, {"name", "width", "value"}, "enum")
    where = f"enum {item['name']}"
    check.name(item["name"], where)
    if not 1 <= item["width"] <= WORD_BITS:
        raise DescriptionError(f"{where}: width {item['width']} is not 1 to {WORD_BITS}")
    values = []
    for entry in item["value"]:
        check.keys(entry, {"description"}, {"name", "number"}, where)
        check.name(entry["name"], where)
        check.expect(0 <= entry["number"] < 1 << item["width"], f"{where}: {entry['name']} does not fit {item['width']} bits")
        values.append(Value(entry["name"], entry["number"], check.described(entry, f"{where}: {entry['name']}")))
    check.unique([v.name for v in values], where)
    numbers = [v.number for v in values]
    check.expect(len(set(numbers)) == len(numbers), f"{where}: duplicate number")
    return Enum(item["name"], item["width"], check.described(item, where), tuple(values))


def read_layout(check: Checker, item: dict) -> Layout:
    check.keys(item, {"description"}, {"name", "type", "bytes", "field"}, "layout")
    where = f"layout {item['name']}"
    check.name(item["name"], where)
    check.expect(item["bytes"] > 0 and item["bytes"] % 8 == 0, f"{where}: {item['bytes']} bytes are no whole 64-bit words")
    fields = tuple(read_field(check, f, where, WORD_BITS, item["bytes"] // 8) for f in item["field"])
    check_fields(check, fields, where)
    return Layout(item["name"], item["type"], item["bytes"], check.described(item, where), fields)


def check_whole(check: Checker, blocks: tuple[Block, ...], enums: tuple[Enum, ...], layouts: tuple[Layout, ...],
                bar0_bytes: int, version: int) -> None:
    check.unique([b.name for b in blocks], "blocks")
    check.unique([r.name for b in blocks for r in b.registers], "registers")
    check.unique([e.name for e in enums], "enums")
    check.unique([item.name for item in layouts], "layouts")
    ordered = sorted(blocks, key=lambda b: b.base)
    for before, after in zip(ordered, ordered[1:]):
        check.expect(before.base + before.stride * before.count <= after.base,
                     f"blocks {before.name} and {after.name} overlap")
    for block in blocks:
        check.expect(block.base + block.stride * block.count <= bar0_bytes, f"block {block.name}: outside the BAR")
    stated = [r.reset for b in blocks for r in b.registers if r.name == "VERSION" and r.reset is not None]
    check.expect(all(reset == version for reset in stated), f"VERSION: its reset is not the device's version, {version:#x}")
    by_name = {e.name: e for e in enums}
    opcodes = {v.name for v in by_name["opcode"].values} if "opcode" in by_name else set()
    for where, item in ([(r.name, f) for b in blocks for r in b.registers for f in (r, *r.fields)] +
                        [(layout.name, f) for layout in layouts for f in layout.fields]):
        if item.enum is not None:
            check.expect(item.enum in by_name, f"{where}.{item.name}: there is no enum '{item.enum}'")
            fits = item.enum not in by_name or by_name[item.enum].width <= item.width
            check.expect(fits, f"{where}.{item.name}: enum '{item.enum}' is wider than the field")
        if isinstance(item, Field):
            for opcode in item.only:
                check.expect(opcode in opcodes, f"{where}.{item.name}: there is no opcode '{opcode}'")


def meaning(item: object) -> object:
    """The description without its prose: what a driver and a board must agree on."""
    if isinstance(item, dict):
        return {key: meaning(value) for key, value in item.items() if key != "description"}
    if isinstance(item, list):
        return [meaning(value) for value in item]
    return item


def parse(text: str) -> Description:
    """Raises DescriptionError with every problem found."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(str(error)) from error
    check_types(data, "description", top=True)
    check = Checker()
    check.keys(data, {"enum", "layout"}, {"device", "block"}, "description")
    device = data["device"]
    check.keys(device, {"description"}, {"name", "magic", "version_major", "version_minor", "bar0_bytes"}, "device")
    blocks = tuple(read_block(check, b) for b in data["block"])
    enums = tuple(read_enum(check, e) for e in data.get("enum", []))
    layouts = tuple(read_layout(check, item) for item in data.get("layout", []))
    check_whole(check, blocks, enums, layouts, device["bar0_bytes"], device["version_major"] << 16 | device["version_minor"])
    text_of_device = check.described(device, "device")
    if check.problems:
        raise DescriptionError("\n".join(check.problems))
    crc = zlib.crc32(json.dumps(meaning(data), sort_keys=True).encode())
    return Description(device["name"], text_of_device, device["magic"], device["version_major"], device["version_minor"],
                       device["bar0_bytes"], crc, blocks, enums, layouts)


def load(path: Path) -> Description:
    return parse(path.read_text(encoding="utf-8"))
