"""A design as Verilator elaborated it, read from what its --xml-only writes: types, scopes and the variables in them.

yosys of Debian reads a small part of SystemVerilog; Verilator reads what this project writes. So Verilator resolves parameters, packages, generate
blocks, structs and widths, and plain_verilog.py writes down the rest for yosys.
"""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

BASIC_WIDTHS = {"int": 32, "integer": 32, "byte": 8, "shortint": 16, "longint": 64, "time": 64}


class Unsupported(Exception):
    """The design uses something that plain_verilog.py has no translation for."""


def constant_value(node: ElementTree.Element) -> int:
    """Of a <const>: its name is 32'h5, 32'sh5 or the like."""
    match = re.fullmatch(r"(\d+)'s?([hbd])([0-9a-fA-F_]+)", node.get("name"))
    if not match:
        raise Unsupported(f"constant {node.get('name')}")
    return int(match[3].replace("_", ""), {"h": 16, "b": 2, "d": 10}[match[2]])


class Types:
    """Widths of the data types of a netlist, by their identifiers."""

    def __init__(self, netlist: ElementTree.Element) -> None:
        self.nodes = {node.get("id"): node for node in netlist.find("typetable") if node.get("id")}

    def resolved(self, identifier: str) -> ElementTree.Element:
        node = self.nodes[identifier]
        while node.tag in ("refdtype", "constdtype", "enumdtype"):
            node = self.nodes[node.get("sub_dtype_id")]
        return node

    @staticmethod
    def count(node: ElementTree.Element) -> int:
        left, right = (constant_value(bound) for bound in node.find("range").iter("const"))
        return abs(left - right) + 1

    def width(self, identifier: str) -> int:
        """Bits of a value of the type; of an array, of all its elements."""
        node = self.resolved(identifier)
        if node.tag == "basicdtype":
            if node.get("left") is not None:
                return abs(int(node.get("left")) - int(node.get("right"))) + 1
            return BASIC_WIDTHS.get(node.get("name"), 1)
        if node.tag == "structdtype":
            return sum(self.width(member.get("sub_dtype_id")) for member in node.findall("memberdtype"))
        if node.tag in ("packarraydtype", "unpackarraydtype"):
            return self.count(node) * self.width(node.get("sub_dtype_id"))
        raise Unsupported(f"type {node.tag}")

    def element(self, identifier: str) -> str | None:
        """The type of an unpacked array's elements; None for anything else."""
        node = self.resolved(identifier)
        return node.get("sub_dtype_id") if node.tag == "unpackarraydtype" else None


@dataclass
class Variable:
    name: str                    # in the flat module
    width: int
    element_width: int           # of a memory; else the same as width
    port: str | None = None      # "input" or "output"
    constant: int | None = None  # of a parameter
    whole: bool = False          # used as a whole somewhere, so that it cannot be a memory
    array: bool = False
    loop: bool = False           # counts the rounds of a loop, which is unrolled

    MEMORY_BITS = 8192           # from here on an array is kept as a memory and not as one wide word

    @property
    def memory(self) -> bool:
        return self.array and not self.whole and self.width > self.MEMORY_BITS


@dataclass
class Scope:
    """What a name means at some place of the design: an instance, a generate block or a named block."""

    prefix: str
    parent: "Scope | None" = None          # of a block: where names are looked up further
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, ElementTree.Element] = field(default_factory=dict)
    children: dict[str, "Scope"] = field(default_factory=dict)
    instances: dict[int, "Scope"] = field(default_factory=dict) # by id() of the <instance>
    blocks: dict[int, "Scope"] = field(default_factory=dict)    # by id() of the <begin>

    def variable(self, name: str) -> Variable:
        scope = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        raise Unsupported(f"{self.prefix}: no variable {name}")

    def function(self, name: str) -> "tuple[Scope, ElementTree.Element] | None":
        scope = self
        while scope is not None:
            if name in scope.functions:
                return scope, scope.functions[name]
            scope = scope.parent
        return None

    def below(self, dotted: str) -> "Scope":
        """The scope that a path of names leads to, from here or from any scope around."""
        parts = readable(dotted).split(".")
        scope = self
        while scope is not None and parts[0] not in scope.children:
            scope = scope.parent
        if scope is None:
            raise Unsupported(f"{self.prefix}: no scope {dotted}")
        for part in parts:
            scope = scope.children[part]
        return scope


def readable(name: str) -> str:
    return name.replace("__BRA__", "[").replace("__KET__", "]").replace("__DOT__", ".")


def flat(name: str) -> str:
    return re.sub(r"\W", "_", readable(name))


STATEMENTS = {"assign", "assigndly", "begin", "if", "case", "while", "jumpblock", "jumpgo", "display", "stop", "finish"}


def loop_condition(loop: ElementTree.Element) -> int:
    """Which part of a <while> is its condition; the other ones are statements."""
    return next(index for index, part in enumerate(loop) if len(part) == 1 and part[0].tag not in STATEMENTS)


def mark_loop(loop: ElementTree.Element, scope: Scope) -> None:
    """Notes the variables that a loop counts with: those that its condition compares and its last part sets."""
    compared = {name.get("name") for name in loop[loop_condition(loop)].iter("varref")}
    for assignment in loop[-1].iter("assign"):
        if assignment[1].tag == "varref" and assignment[1].get("name") in compared:
            scope.variable(assignment[1].get("name")).loop = True


class Design:
    """The tree of scopes below the top module."""

    def __init__(self, xml: Path) -> None:
        self.netlist = ElementTree.parse(xml).getroot().find("netlist")
        self.types = Types(self.netlist)
        self.modules = {module.get("name"): module for module in self.netlist.iter("module")}
        self.packages = Scope("")
        for package in self.netlist.iter("package"):
            self.declare(package, self.packages, package.get("name") + "_")
        top = next(module for module in self.modules.values() if module.get("topModule"))
        self.top = self.instantiated(top, "")

    def instantiated(self, module: ElementTree.Element, prefix: str) -> Scope:
        scope = Scope(prefix, self.packages)
        self.declare(module, scope, prefix)
        return scope

    def variable(self, node: ElementTree.Element, prefix: str) -> Variable:
        identifier = node.get("dtype_id")
        element = self.types.element(identifier)
        width = self.types.width(identifier)
        variable = Variable(prefix + flat(node.get("name")), width, self.types.width(element) if element else width, array=bool(element))
        variable.port = node.get("dir")
        if node.get("param") or node.get("localparam"):
            value = node.find("const")
            variable.constant = constant_value(value) if value is not None else None
        # An array of arrays is one wide word: yosys knows memories of words only. So is a port.
        variable.whole = bool(element and (self.types.element(element) or variable.port))
        return variable

    def declare(self, body: ElementTree.Element, scope: Scope, prefix: str) -> None:
        for node in body:
            if node.tag == "var":
                if node.get("dtype_id") and not self.is_text(node):
                    scope.variables[node.get("name")] = self.variable(node, prefix)
            elif node.tag == "func":
                scope.functions[node.get("name")] = node
            elif node.tag == "instance":
                name = flat(node.get("name"))
                child = self.instantiated(self.modules[node.get("defName")], f"{prefix}{name}__")
                scope.children[readable(node.get("name"))] = scope.instances[id(node)] = child
            elif node.tag in ("begin", "always", "initial", "initialstatic", "if", "while", "case", "caseitem"):
                self.declare_block(node, scope, prefix)

    def declare_block(self, node: ElementTree.Element, scope: Scope, prefix: str) -> None:
        if node.tag != "begin":
            self.declare(node, scope, prefix)
            if node.tag == "while":
                mark_loop(node, scope)
            return
        name = node.get("name") or ""
        block_prefix = f"{prefix}{flat(name)}__" if name else f"{prefix}b{len(scope.blocks)}__"
        block = Scope(block_prefix, scope)
        scope.blocks[id(node)] = block
        if name:
            scope.children[readable(name)] = block
        self.declare(node, block, block_prefix)

    def is_text(self, node: ElementTree.Element) -> bool:
        return self.types.resolved(node.get("dtype_id")).get("name") == "string"
