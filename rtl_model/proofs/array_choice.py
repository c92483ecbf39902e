"""A part of an array that is one wide word, as a choice among the array's elements: yosys takes minutes to make one of a shift by a product."""

import re

# Of the offset of a part: what an index that is known makes, and what an index of an array does.
KNOWN = re.compile(r"\{\d+'h[0-9a-f]+\}|\(\{\d+'h[0-9a-f]+\} \* \d+\)")
ELEMENT = re.compile(r"\((\{.*\}) \* (\d+)\)")


def choice(name: str, bits: int, terms: list[str], width: int, most: int) -> str | None:
    """Of the variable `name` of so many bits, `width` of them at the sum of `terms`; None where that is no choice among at most `most` elements."""
    moving = [term for term in terms if not KNOWN.fullmatch(term)]
    element = ELEMENT.fullmatch(moving[0]) if len(moving) == 1 else None
    if element is None or bits // int(element[2]) > most:
        return None
    rest = "".join(f" + {term}" for term in terms if term is not moving[0])
    parts = [f"{name}[(32'd0 + {at}{rest}) +: {width}]" for at in range(0, bits, int(element[2]))]
    return "(" + "".join(f"{element[1]} == {number} ? {part} : " for number, part in enumerate(parts[:-1])) + f"{parts[-1]})"
