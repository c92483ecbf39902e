"""Mutants of a source: small changes, each of which a test has to notice."""

import re
from dataclasses import dataclass
from pathlib import Path

from source import CLOSES, OPENS, Site, Source, Token

SWAPS = {
    "==": ("!=", "comparison turned"), "!=": ("==", "comparison turned"), "<": ("<=", "boundary moved"), "<=": ("<", "boundary moved"),
    ">": (">=", "boundary moved"), ">=": (">", "boundary moved"), "&&": ("||", "operator swapped"), "||": ("&&", "operator swapped"),
    "<<": (">>", "operator swapped"), ">>": ("<<", "operator swapped"),
}
BINARY = {"+": "-", "-": "+", "&": "|", "|": "&", "^": "|"}      # where an operand stands before them
UNARY = {"!": "", "~": ""}


@dataclass(frozen=True)
class Mutant:
    file: str                  # below rtl_model
    line: int
    operator: str
    start: int                 # what is replaced
    end: int
    text: str
    site: int                  # index in the source's sites

    def applied(self, source: str) -> str:
        return source[:self.start] + self.text + source[self.end:]

    def lines(self, source: str) -> tuple[str, str]:
        """The line before and after."""
        begin = source.rfind("\n", 0, self.start) + 1
        end = source.find("\n", self.end)
        return source[begin:end].strip(), (source[begin:self.start] + self.text + source[self.end:end]).strip()


def is_operand(token: Token) -> bool:
    return token.kind in ("name", "number") or token.text in (")", "]", "}")


def constant_places(tokens: list[Token]) -> set[int]:
    """Tokens of widths, counts of replications and ranges: what has to be constant, or changes the width of a value."""
    found: set[int] = set()
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in OPENS:
            if token.text == "{" and index and is_operand(tokens[index - 1]) and stack and tokens[stack[-1]].text == "{":
                found.update(range(stack[-1] + 1, index))
            stack.append(index)
        elif token.text in CLOSES and stack:
            begin = stack.pop()
            follows = tokens[index + 1].text if index + 1 < len(tokens) else ""
            inside = [tokens[k].text for k in range(begin, index)]
            if (token.text == ")" and follows == "'") or (token.text == "]" and any(text in (":", "+:", "-:") for text in inside)):
                found.update(range(begin, index + 1))
            elif token.text == "]":
                found.update(k for k in range(begin, index) if tokens[k].kind == "number")
        elif token.kind == "number" and index + 1 < len(tokens) and tokens[index + 1].text == "'":
            found.add(index)
    return found


def other_number(text: str) -> str | None:
    if text in ("'0", "'1"):
        return "'1" if text == "'0" else "'0"
    if text.isdigit():
        return str(int(text) + 1)
    match = re.fullmatch(r"(\d+)'([bdh])([0-9a-fA-F_]+)", text)
    if not match:
        return None
    width, base = int(match[1]), {"b": 2, "d": 10, "h": 16}[match[2]]
    value = (int(match[3].replace("_", ""), base) + 1) % 2 ** width
    return f"{width}'{match[2]}{value:{ {2: 'b', 10: 'd', 16: 'x'}[base] }}"


def condition_start(tokens: list[Token], question: int) -> int:
    """The first token of the condition that the question mark belongs to."""
    depth, at = 0, question - 1
    while at >= 0:
        text = tokens[at].text
        if text in CLOSES:
            depth += 1
        elif text in OPENS:
            depth -= 1
            if depth < 0:
                return at + 1
        elif depth == 0 and text in (",", "?", ":", "="):
            return at + 1
        at -= 1
    return 0


def changes(site: Site, tokens: list[Token]) -> list[tuple[int, int, str, str]]:
    """(start, end, text, operator) of each."""
    found = []
    constant = constant_places(tokens)
    for index, token in enumerate(tokens):
        if index in constant:
            continue
        before = tokens[index - 1] if index else None
        if token.kind == "number":
            other = other_number(token.text)
            if other is not None:
                found.append((token.start, token.end, other, "constant changed"))
        elif token.text in SWAPS and before:
            found.append((token.start, token.end, *SWAPS[token.text]))
        elif token.text in BINARY and before and is_operand(before):
            found.append((token.start, token.end, BINARY[token.text], "operator swapped"))
        elif token.text in UNARY and not (before and is_operand(before)):
            found.append((token.start, token.end, UNARY[token.text], "negation dropped"))
        elif token.text == "?":
            begin = condition_start(tokens, index)
            found.append((tokens[begin].start, tokens[begin].start, "!(", "condition negated"))
            found[-1] = (tokens[begin].start, tokens[index - 1].end, "!(%s)", "condition negated")
    if site.kind == "condition":
        found.append((site.start, site.end, "!(%s)", "condition negated"))
    if site.kind == "statement" and not site.default:
        found.append((site.start, site.end, ";", "assignment dropped"))
    return found


def mutants_of(path: Path, root: Path) -> tuple[Source, list[Mutant]]:
    source = Source(path.read_text(encoding="utf-8"))
    found = []
    for index, site in enumerate(source.sites):
        if site.target.startswith("unused_"):
            continue        # it is there for lint, and nothing reads it
        for start, end, text, operator in changes(site, site.expression):
            new = text.replace("%s", source.text[start:end])
            found.append(Mutant(str(path.relative_to(root)), source.text.count("\n", 0, start) + 1, operator, start, end, new, index))
    return source, found


# ---- all mutants of a source in one, chosen when the model is made -------------------------------------------------------

CHOSEN = '$c32("(std::getenv(\\"DATUM_MUTANT\\") ? std::atoi(std::getenv(\\"DATUM_MUTANT\\")) : 0)")'
# A package has no `initial`.
CHOICE = {"module": f" int unsigned mutant_; initial mutant_ = {CHOSEN};", "package": f" int unsigned mutant_ = {CHOSEN};"}


def expression_of(source: Source, site: Site, mutant: Mutant | None) -> str:
    begin, end = site.expression[0].start, site.expression[-1].end
    if mutant is None:
        return source.text[begin:end]
    return source.text[begin:mutant.start] + mutant.text + source.text[mutant.end:end]


def choosing(source: Source, site: Site, numbered: list[tuple[int, Mutant]]) -> str:
    """The text in the site's place."""
    plain = expression_of(source, site, None)
    if site.kind in ("condition", "port") or (site.kind == "assign" and "'{" not in plain):
        text = "".join(f"(mutant_ == {number}) ? ({expression_of(source, site, mutant)}) : " for number, mutant in numbered) + f"({plain})"
        return text if site.kind != "assign" else f"assign {site.target} {text};"
    arms = "".join(f" {number}: " + (";" if mutant.operator == "assignment dropped" else f"{site.target} {expression_of(source, site, mutant)};")
                   for number, mutant in numbered)
    head = "begin" if site.kind == "statement" else "always_comb begin"
    return f"{head} case (mutant_){arms} default: {site.target} {plain}; endcase end"


def instrumented(source: Source, numbered: list[tuple[int, Mutant]]) -> str:
    """The source with all these mutants in it; the number in DATUM_MUTANT chooses one when a model begins."""
    by_site: dict[int, list[tuple[int, Mutant]]] = {}
    for number, mutant in numbered:
        by_site.setdefault(mutant.site, []).append((number, mutant))
    text = source.text
    for index in sorted(by_site, key=lambda k: -source.sites[k].start):
        site = source.sites[index]
        text = text[:site.start] + choosing(source, site, by_site[index]) + text[site.end:]
    return text[:source.header_end] + CHOICE[source.kind] + text[source.header_end:]
