#!/usr/bin/env python3
"""Writes a design that Verilator elaborated (--xml-only) as one flat module of plain Verilog, which every version of yosys reads.

usage: plain_verilog.py DESIGN.xml [BITS] >DESIGN.v

Arrays of more than BITS bits are kept as memories, smaller ones become one wide word.
Variables named prove_NAME and assume_NAME at the top (rtl_model/proofs/proofs.svh) become assertions and assumptions.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from array_choice import choice
from elaborated import STATEMENTS, Design, Scope, Unsupported, Variable, constant_value, flat, loop_condition, mark_loop

Node = ElementTree.Element

BINARY = {
    "and": "&", "or": "|", "xor": "^", "logand": "&&", "logor": "||", "eq": "==", "neq": "!=", "eqcase": "==", "neqcase": "!=", "lt": "<",
    "gt": ">", "lte": "<=", "gte": ">=", "add": "+", "sub": "-", "mul": "*", "div": "/", "moddiv": "%", "shiftl": "<<", "shiftr": ">>",
}
SIGNED = {"lts": "<", "gts": ">", "ltes": "<=", "gtes": ">=", "shiftrs": ">>>", "muls": "*"}
UNARY = {"not": "~", "lognot": "!", "negate": "-", "redand": "&", "redor": "|", "redxor": "^"}
# What says something to whoever simulates.
IGNORED = {"display", "stop", "finish", "jumplabel", "jumpgo", "comment", "typedef", "sentree", "var", "range", "assertintrinsic", "cexpr"}
FOLDED = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "lt": lambda a, b: a < b, "gt": lambda a, b: a > b, "lte": lambda a, b: a <= b,
    "gte": lambda a, b: a >= b, "eq": lambda a, b: a == b, "neq": lambda a, b: a != b,
}


class Writer:
    CHOSEN_ELEMENTS = 0          # arrays of up to so many are read by a choice among their elements

    def __init__(self, design: Design) -> None:
        self.design = design
        self.types = design.types
        self.items: list[str] = []
        self.functions: dict[tuple[int, str], str] = {}
        self.function_texts: list[str] = []
        self.environment: dict[str, int] = {}     # values of loop variables, by flat name

    # ---- what a name or part of a variable is ----

    def find(self, node: Node, scope: Scope) -> Variable:
        if node.tag == "varxref":
            return scope.below(node.get("dotted")).variable(node.get("name"))
        return scope.variable(node.get("name"))

    def place(self, node: Node, scope: Scope) -> tuple[Variable, str | None, list[str], int] | None:
        """Variable, word of a memory, terms of the bit offset, and width; None where the node is no part of a variable."""
        width = self.types.width(node.get("dtype_id"))
        if node.tag in ("varref", "varxref"):
            variable = self.find(node, scope)
            return variable, None, [], variable.width
        if node.tag not in ("arraysel", "sel"):
            return None
        inner = self.place(node[0], scope)
        if inner is None:
            return None
        variable, word, terms, _ = inner
        index = f"{{{self.expression(node[1], scope)}}}"    # braces: worked out at its own width
        if node.tag == "sel":
            return variable, word, [*terms, index], constant_value(node[2])
        if variable.memory:
            return variable, index, terms, width
        return variable, word, [*terms, f"({index} * {width})"], width

    def place_text(self, node: Node, scope: Scope, chosen: int = 0) -> str | None:
        place = self.place(node, scope)
        if place is None:
            return None
        variable, word, terms, width = place
        if variable.constant is not None or variable.name in self.environment:
            return None
        text = variable.name if word is None else f"{variable.name}[{word}]"
        if width == (variable.element_width if word is not None else variable.width) and not terms:
            return text
        offset = " + ".join(terms) if terms else "0"
        part = choice(variable.name, variable.width, terms, width, chosen) if word is None else None
        return part or f"{text}[(32'd0 + {offset}) +: {width}]"

    # ---- expressions ----

    def expression(self, node: Node, scope: Scope) -> str:
        tag = node.tag
        if tag == "const" or (self.environment and (tag in FOLDED or tag in ("sel", "extend", "extends"))):
            # What depends on nothing but the rounds of loops is a number: an index that yosys knows costs nothing.
            try:
                width = self.types.width(node.get("dtype_id"))
                return f"{width}'h{self.folded(node, scope) % 2 ** width:x}"
            except Unsupported:
                pass
        if tag in ("varref", "varxref", "sel", "arraysel"):
            return self.selection(node, scope)
        if tag in BINARY:
            return f"({self.expression(node[0], scope)} {BINARY[tag]} {self.expression(node[1], scope)})"
        if tag in SIGNED:
            left, right = (self.expression(child, scope) for child in node[:2])
            # Counts of ones have fewer bits than Verilator compares them by.
            less = self.types.width(node[0].get("dtype_id")) - self.types.width(node[1].get("dtype_id"))
            if less and tag != "shiftrs":
                left, right = (left, f"{{{less}'h0, {right}}}") if less > 0 else (f"{{{-less}'h0, {left}}}", right)
            right = right if tag == "shiftrs" else f"$signed({right})"
            return f"$unsigned($signed({left}) {SIGNED[tag]} {right})"
        if tag in UNARY:
            return f"({UNARY[tag]}{self.expression(node[0], scope)})"
        if tag == "cond":
            return f"({' '.join((self.expression(node[0], scope), '?', self.expression(node[1], scope), ':', self.expression(node[2], scope)))})"
        if tag == "concat":
            return f"{{{self.expression(node[0], scope)}, {self.expression(node[1], scope)}}}"
        if tag == "replicate":
            return f"{{{constant_value(node[1])}{{{self.expression(node[0], scope)}}}}}"
        if tag in ("signed", "unsigned", "sampled", "resizelvalue"):
            return self.expression(node[0], scope)
        if tag == "extend":
            more = self.types.width(node.get("dtype_id")) - self.types.width(node[0].get("dtype_id"))
            inner = self.expression(node[0], scope)
            return f"{{{more}'h0, {inner}}}" if more > 0 else inner
        if tag == "extends":
            return self.helper("extends", node, scope)
        if tag in ("countones", "onehot", "onehot0"):
            return self.helper(tag, node, scope)
        if tag == "funcref":
            return self.call(node, scope)
        raise Unsupported(f"expression {tag} in {scope.prefix}")

    def selection(self, node: Node, scope: Scope) -> str:
        text = self.place_text(node, scope, self.CHOSEN_ELEMENTS)
        if text is not None:
            return text
        if node.tag in ("varref", "varxref"):
            variable = self.find(node, scope)
            value = self.environment.get(variable.name, variable.constant)
            if value is None:
                raise Unsupported(f"parameter {variable.name} has no value")
            return f"{variable.width}'h{value % 2 ** variable.width:x}"
        if node.tag == "arraysel":
            raise Unsupported(f"element of a value in {scope.prefix}")
        width, whole = constant_value(node[2]), self.types.width(node[0].get("dtype_id"))
        name = f"part_{width}_of_{whole}"
        if name not in self.functions.values():
            self.functions[(0, name)] = name
            self.function_texts.append(f"function automatic [{width - 1}:0] {name};\n  input [{whole - 1}:0] x;\n  input [31:0] at;\n"
                                       f"  {name} = x >> at;\nendfunction\n")
        return f"{name}({self.expression(node[0], scope)}, {{{self.expression(node[1], scope)}}})"

    def helper(self, tag: str, node: Node, scope: Scope) -> str:
        """Functions on one word that plain Verilog lacks."""
        source = self.types.width(node[0].get("dtype_id"))
        width = self.types.width(node.get("dtype_id"))
        name = f"{tag}_{source}_to_{width}"
        if name not in self.functions.values():
            self.functions[(0, name)] = name
            body = {
                "countones": " + ".join(f"{width}'d0 + x[{bit}]" for bit in range(source)),
                "onehot": "x != 0 && (x & (x - 1'b1)) == 0",
                "onehot0": "(x & (x - 1'b1)) == 0",
                "extends": f"{{{{{width - source}{{x[{source - 1}]}}}}, x}}" if width > source else "x",
            }[tag]
            self.function_texts.append(f"function automatic [{width - 1}:0] {name};\n  input [{source - 1}:0] x;\n  {name} = {body};\nendfunction\n")
        return f"{name}({self.expression(node[0], scope)})"

    def call(self, node: Node, scope: Scope) -> str:
        found = scope.function(node.get("name"))
        if found is None:
            raise Unsupported(f"function {node.get('name')}")
        owner, function = found
        key = (id(owner), node.get("name"))
        if key not in self.functions:
            self.functions[key] = f"{owner.prefix}{flat(node.get('name'))}_f{len(self.functions)}"
            self.function_texts.append(self.function(function, owner, self.functions[key]))
        arguments = [argument[0] if argument.tag == "arg" else argument for argument in node]
        return f"{self.functions[key]}({', '.join(self.expression(argument, scope) for argument in arguments)})"

    def function(self, node: Node, owner: Scope, name: str) -> str:
        inside = Scope(name + "__", owner)
        lines = []
        for variable in node.iter("var"):
            known = self.design.variable(variable, "")
            if variable.get("name") == node.get("name"):
                known.name = name
                lines.insert(0, f"function automatic [{known.width - 1}:0] {name};")
            else:
                known.name = "v_" + known.name
                lines.append(f"  {'input' if variable.get('dir') == 'input' else 'reg'} [{known.width - 1}:0] {known.name};")
            inside.variables[variable.get("name")] = known
        for loop in node.iter("while"):
            mark_loop(loop, inside)
        body = "".join(self.statement(child, inside, "    ") for child in node)
        return "\n".join(lines) + f"\n  begin\n{body}  end\nendfunction\n"

    # ---- statements ----

    def statements(self, nodes: list[Node], scope: Scope, indent: str) -> str:
        return "".join(self.statement(node, scope, indent) for node in nodes)

    def statement(self, node: Node, scope: Scope, indent: str) -> str:
        tag = node.tag
        if tag in IGNORED:
            return ""
        if tag in ("assign", "assigndly"):
            return self.assignment(node, scope, indent, "<=" if tag == "assigndly" else "=")
        if tag == "begin":
            return self.statements(list(node), scope.blocks.get(id(node), scope), indent)
        if tag == "jumpblock":
            return self.statements(list(node), scope, indent)
        if tag == "if":
            return self.conditional(node, scope, indent)
        if tag == "case":
            return self.case(node, scope, indent)
        if tag == "while":
            return self.loop(node, scope, indent)
        raise Unsupported(f"statement {tag} in {scope.prefix}")

    def target(self, node: Node, scope: Scope) -> str:
        if node.tag == "concat":
            return f"{{{self.target(node[0], scope)}, {self.target(node[1], scope)}}}"
        text = self.place_text(node, scope)
        if text is None:
            raise Unsupported(f"assignment to {node.tag}")
        return text

    def assignment(self, node: Node, scope: Scope, indent: str, operator: str) -> str:
        if node[1].tag == "varref" and (variable := self.find(node[1], scope)).loop:
            self.environment[variable.name] = self.folded(node[0], scope)
            return ""
        return f"{indent}{self.target(node[1], scope)} {operator} {self.expression(node[0], scope)};\n"

    def conditional(self, node: Node, scope: Scope, indent: str) -> str:
        parts = [self.statements(list(part), scope.blocks.get(id(part), scope), indent + "  ") for part in node[1:]]
        if not any(parts):
            return ""
        text = f"{indent}if ({self.expression(node[0], scope)}) begin\n{parts[0]}{indent}end\n"
        if len(parts) > 1 and parts[1]:
            text += f"{indent}else begin\n{parts[1]}{indent}end\n"
        return text

    def case(self, node: Node, scope: Scope, indent: str) -> str:
        text = f"{indent}case ({self.expression(node[0], scope)})\n"
        for item in node.findall("caseitem"):
            is_statement = [child.tag in STATEMENTS or child.tag in IGNORED for child in item]
            conditions = [child for child, late in zip(item, is_statement) if not late]
            body = [child for child, late in zip(item, is_statement) if late]
            label = ", ".join(self.expression(condition, scope) for condition in conditions) or "default"
            text += f"{indent}  {label}: begin\n{self.statements(body, scope, indent + '    ')}{indent}  end\n"
        return text + f"{indent}endcase\n"

    def loop(self, node: Node, scope: Scope, indent: str) -> str:
        """Loops have bounds that are known; they are unrolled."""
        position = loop_condition(node)
        text = ""
        for _ in range(4096):
            if not self.folded(node[position][0], scope):
                return text
            for index, part in enumerate(node):
                if index != position:
                    text += self.statements(list(part), scope.blocks.get(id(part), scope), indent)
        raise Unsupported(f"loop without end in {scope.prefix}")

    def folded(self, node: Node, scope: Scope) -> int:
        tag = node.tag.rstrip("s") if node.tag in SIGNED else node.tag
        if tag == "const":
            return constant_value(node)
        if tag in ("varref", "varxref"):
            variable = self.find(node, scope)
            value = self.environment.get(variable.name, variable.constant)
            if value is None:
                raise Unsupported(f"{variable.name} is not known in a loop's bounds")
            return value
        if tag in ("extend", "extends"):
            return self.folded(node[0], scope)
        if tag == "sel":
            return (self.folded(node[0], scope) >> self.folded(node[1], scope)) % 2 ** constant_value(node[2])
        if tag in FOLDED:
            return int(FOLDED[tag](self.folded(node[0], scope), self.folded(node[1], scope)))
        if tag == "logand":
            return int(bool(self.folded(node[0], scope)) and bool(self.folded(node[1], scope)))
        raise Unsupported(f"{tag} in a loop's bounds")

    # ---- the module ----

    def note_whole(self, node: Node, scope: Scope) -> None:
        """Arrays that are connected or assigned as a whole are wide words."""
        if node.tag == "func":
            return
        scope = scope.blocks.get(id(node), scope)
        for position, child in enumerate(node):
            if child.tag in ("varref", "varxref"):
                if not (node.tag == "arraysel" and position == 0):
                    self.find(child, scope).whole = True
            else:
                self.note_whole(child, scope)

    def walk(self, module: Node, scope: Scope, visit) -> None:
        visit(module, scope)
        for instance in module.iter("instance"):
            inner = next(s for s in self.holders(scope) if id(instance) in s.instances).instances[id(instance)]
            self.walk(self.design.modules[instance.get("defName")], inner, visit)

    def holders(self, scope: Scope):
        yield scope
        for block in scope.blocks.values():
            yield from self.holders(block)

    def item(self, node: Node, scope: Scope) -> None:
        tag = node.tag
        if tag == "contassign":
            self.items.append(f"  assign {self.target(node[1], scope)} = {self.expression(node[0], scope)};\n")
        elif tag in ("always", "initial", "initialstatic"):
            self.process(node, scope)
        elif tag == "instance":
            self.connections(node, scope)
        elif tag == "begin":
            for child in node:
                self.item(child, scope.blocks[id(node)])
        elif tag not in IGNORED and tag != "func":
            raise Unsupported(f"{tag} in a module")

    def process(self, node: Node, scope: Scope) -> None:
        self.environment.clear()
        edges = [item for item in node.iter("senitem") if item.get("edgeType") in ("POS", "NEG")]
        body = self.statements([child for child in node if child.tag != "sentree"], scope, "    ")
        if not body:
            return
        if node.tag != "always":
            head = "initial"
        elif edges:
            names = [f"{item.get('edgeType').lower()}edge {self.expression(item[0], scope)}" for item in edges]
            head = f"always_ff @({' or '.join(names)})"
        else:
            head = "always_comb"
        self.items.append(f"  {head} begin\n{body}  end\n")
        self.environment.clear()

    def connections(self, node: Node, scope: Scope) -> None:
        inner = scope.instances[id(node)]
        for port in node.findall("port"):
            if not len(port):
                continue
            variable = inner.variables[port.get("name")]
            if variable.port == "input":
                self.items.append(f"  assign {variable.name} = {self.expression(port[0], scope)};\n")
            else:
                self.items.append(f"  assign {self.target(port[0], scope)} = {variable.name};\n")

    def declarations(self, scope: Scope, top: bool) -> list[str]:
        lines = []
        for variable in scope.variables.values():
            if variable.constant is not None or variable.loop or (top and variable.port):
                continue
            if variable.memory:
                lines.append(f"  logic [{variable.element_width - 1}:0] {variable.name} [0:{variable.width // variable.element_width - 1}];\n")
            else:
                lines.append(f"  logic [{variable.width - 1}:0] {variable.name};\n")
        for inner in (*scope.blocks.values(), *scope.instances.values()):
            lines += self.declarations(inner, False)
        return lines

    def module(self) -> str:
        top = next(module for module in self.design.modules.values() if module.get("topModule"))
        self.walk(top, self.design.top, self.note_whole)
        self.walk(top, self.design.top, lambda module, scope: [self.item(child, scope) for child in module])
        variables = self.design.top.variables
        ports = [f"  {v.port} logic [{v.width - 1}:0] {v.name}" for v in variables.values() if v.port]
        checks = []
        for name in variables:
            if name.startswith("prove_"):
                checks.append(f"  always_comb assert ({name});\n")
            elif name.startswith("assume_"):
                checks.append(f"  always_comb assume ({name});\n")
        return (f"module {top.get('name')} (\n" + ",\n".join(ports) + "\n);\n" + "".join(self.function_texts)
                + "".join(self.declarations(self.design.top, True)) + "".join(self.items) + "".join(checks) + "endmodule\n")


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    if len(sys.argv) == 3:
        Variable.MEMORY_BITS = int(sys.argv[2])
    try:
        print(Writer(Design(Path(sys.argv[1]))).module())
    except Unsupported as error:
        print(f"plain_verilog: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
