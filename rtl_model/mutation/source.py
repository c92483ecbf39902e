"""Reads the places of a SystemVerilog source that can be mutated: assignments, conditions and connections, with their tokens.

It knows as much of the language as rtl_model/rtl uses, and leaves alone assertions and what has to be constant: headers, declarations, bounds of loops,
generate blocks.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|`ifdef\ DATUM_ASSERTIONS.*?`endif)
  | (?P<text>"(?:\\.|[^"])*")
  | (?P<number>\d*'[sS]?[bdhoBDHO][0-9a-fA-F_]+|'[01](?!\w)|\d[\d_]*)
  | (?P<name>[A-Za-z_$`][\w$]*)
  | (?P<sign><<<|>>>|===|!==|==\?|!=\?|\|->|\|=>|<=|>=|==|!=|&&|\|\||<<|>>|\+\+|--|[-+|&^]=|::|'\{|\+:|-:|\*\*|.)
""", re.VERBOSE | re.DOTALL)
OPENS = {"(": ")", "[": "]", "{": "}", "'{": "}"}
CLOSES = set(OPENS.values())
ASSIGNS = ("=", "<=", "|=", "&=", "^=", "+=", "-=")


@dataclass
class Token:
    text: str
    kind: str
    start: int
    end: int


@dataclass
class Site:
    """A piece of the source that is replaced as a whole. `expression` is what operators look at."""

    kind: str                  # "assign", "statement", "condition", "port"
    start: int
    end: int
    expression: list[Token]
    target: str = ""           # of an assignment, with its sign
    default: bool = False      # of combinational logic, made in any case: without it there would be a latch, which synthesis refuses


@dataclass
class Source:
    text: str
    tokens: list[Token] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    header_end: int = 0        # behind the semicolon of the header
    kind: str = "module"       # or "package"
    conditions: int = 1        # around the statement that is read; 0: none, and it is combinational

    def __post_init__(self) -> None:
        for match in TOKEN.finditer(self.text):
            if match.lastgroup != "skip":
                self.tokens.append(Token(match[0], match.lastgroup, match.start(), match.end()))
        at = 0
        while at < len(self.tokens):
            if self.tokens[at].text in ("module", "package"):
                self.kind = self.tokens[at].text
                at = self.module(at)
            at += 1

    # ---- moving ----

    def closing(self, at: int) -> int:
        """The token that closes what opens at `at`."""
        depth = 0
        while True:
            text = self.tokens[at].text
            depth += (text in OPENS) - (text in CLOSES)
            if depth == 0:
                return at
            at += 1

    def semicolon(self, at: int) -> int:
        while self.tokens[at].text != ";":
            at = self.closing(at) + 1 if self.tokens[at].text in OPENS else at + 1
        return at

    def first(self, at: int, end: int, wanted: tuple[str, ...]) -> int | None:
        """The first of the signs between `at` and `end` that stands in no brackets."""
        while at < end:
            if self.tokens[at].text in wanted:
                return at
            at = self.closing(at) + 1 if self.tokens[at].text in OPENS else at + 1
        return None

    # ---- items of a module, or of a package, whose functions hold logic ----

    def module(self, at: int) -> int:
        at += 1
        while self.tokens[at + 1].text == "import":
            at = self.semicolon(at + 1)
        at = self.semicolon(at + 1)
        self.header_end = self.tokens[at].end
        at += 1
        while self.tokens[at].text not in ("endmodule", "endpackage"):
            at = self.item(at)
        return at

    def item(self, at: int) -> int:
        text = self.tokens[at].text
        if text == "assign":
            return self.assign(at)
        if text == "always_comb":
            self.conditions = 0
            at = self.statement(at + 1)
            self.conditions = 1
            return at
        if text == "always_ff":
            return self.statement(self.closing(at + 2) + 1)
        if text == "function":
            at = self.semicolon(at) + 1
            while self.tokens[at].text != "endfunction":
                at = self.statement(at)
            return at + 1
        if text in ("for", "if"):
            return self.closing(at + 1) + 1
        if text in ("begin", "end", "else") or self.tokens[at].kind == "sign":
            return at + 1
        if self.tokens[at + 1].text == ":" and text != "default":
            return self.semicolon(at) + 1 if self.tokens[at + 2].text in ("assert", "cover", "assume") else at + 1
        if text.startswith("datum_"):
            return self.instance(at)
        return self.semicolon(at) + 1 if self.tokens[at - 1].text != ":" else at + 1

    def assign(self, at: int) -> int:
        end = self.semicolon(at)
        sign = self.first(at, end, ("=",))
        target = self.text[self.tokens[at + 1].start:self.tokens[sign].end]
        self.sites.append(Site("assign", self.tokens[at].start, self.tokens[end].end, self.tokens[sign + 1:end], target))
        return end + 1

    def instance(self, at: int) -> int:
        end = self.semicolon(at)
        if self.tokens[at + 1].text == "#":
            at = self.closing(at + 2)
        begin = self.first(at + 1, end, ("(",))
        if begin is None:
            return end + 1
        for port in range(begin, end - 2):
            if self.tokens[port].text == "." and self.tokens[port + 2].text == "(":
                inside = self.tokens[port + 3:self.closing(port + 2)]
                if inside and not all(token.kind == "name" or token.text in "[].:" for token in inside):
                    self.sites.append(Site("port", inside[0].start, inside[-1].end, inside))
        return end + 1

    # ---- statements ----

    def statement(self, at: int) -> int:
        text = self.tokens[at].text
        if text in ("unique", "priority"):
            return self.statement(at + 1)
        if text == "begin":
            at += 3 if self.tokens[at + 1].text == ":" else 1
            while self.tokens[at].text != "end":
                at = self.statement(at)
            return at + 3 if self.tokens[at + 1].text == ":" else at + 1
        if text == "if":
            end = self.closing(at + 1)
            inside = self.tokens[at + 2:end]
            self.sites.append(Site("condition", inside[0].start, inside[-1].end, inside))
            self.conditions += 1
            at = self.statement(end + 1)
            at = self.statement(at + 1) if self.tokens[at].text == "else" else at
            self.conditions -= 1
            return at
        if text == "for":
            return self.statement(self.closing(at + 1) + 1)
        if text == "case":
            self.conditions += 1
            at = self.cases(self.closing(at + 1) + 1)
            self.conditions -= 1
            return at
        return self.simple(at)

    def cases(self, at: int) -> int:
        while self.tokens[at].text != "endcase":
            while self.tokens[at].text != ":":
                at = self.closing(at) + 1 if self.tokens[at].text in OPENS else at + 1
            at = self.statement(at + 1)
        return at + 1

    def simple(self, at: int) -> int:
        end = self.semicolon(at)
        sign = self.first(at, end, ASSIGNS)
        if sign is not None and (self.tokens[at].kind == "name" or self.tokens[at].text == "{") and self.is_place(at, sign):
            target = self.text[self.tokens[at].start:self.tokens[sign].end]
            self.sites.append(Site("statement", self.tokens[at].start, self.tokens[end].end, self.tokens[sign + 1:end], target, self.conditions == 0))
        return end + 1

    def is_place(self, at: int, end: int) -> bool:
        """Not a declaration, where two names follow each other."""
        while at + 1 < end:
            if self.tokens[at].text in OPENS:
                at = self.closing(at)
            elif self.tokens[at].kind == "name" and self.tokens[at + 1].kind == "name":
                return False
            at += 1
        return True
