#!/usr/bin/env python3
"""Mangles register descriptions: the reader takes one or refuses it in words, whatever stands in it.

usage: register_description_fuzz.py [--seconds N] [--seed N] [CORPUS...]

The reader is a Python program and has no coverage for libFuzzer to follow, so known descriptions are changed line by line, token by
token and byte by byte. A description that ends the reader in any other way is printed; the seed repeats it.
"""

import argparse
import os
import random
import re
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "rtl_model/regs"))

import emit_cpp  # noqa: E402
import emit_markdown  # noqa: E402
import emit_systemverilog  # noqa: E402
from description import Description, DescriptionError, parse  # noqa: E402

TOKEN = re.compile(r'"[^"\n]*"|\b0x[0-9a-fA-F_]+\b|\b\d+\b|\b[A-Za-z_]+\b(?=\s*=)')
VALUES = ['""', '"x"', '"31:0"', '"0:31"', '"63"', '"9999999999:0"', "0", "1", "-1", "3", "32", "64", "65", "0x1000", "1.5", "true",
          "9223372036854775807", "[]", '["ONE"]', "[1]", "{}", "[{}]", "{ name = 1 }", "1979-05-27", '"hw"', '"opcode"', '"\\u0000"']


def change_token(text: str, draw: random.Random) -> str:
    tokens = list(TOKEN.finditer(text))
    if not tokens:
        return text
    one = draw.choice(tokens)
    other = draw.choice([draw.choice(tokens).group(0), draw.choice(VALUES)])
    return text[: one.start()] + other + text[one.end() :]


def change_lines(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    what = draw.randrange(3)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(draw.randrange(len(lines) + 1), lines[at])
    else:
        other = draw.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


def change_character(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(['"', "{", "}", "[", "]", "=", ",", "\n", "0", "a", "\0", "\u00e9"]) + text[at + draw.randrange(3) :]


def changed(text: str, draw: random.Random) -> str:
    for _ in range(draw.choice([1, 1, 2, 4])):
        text = draw.choice([change_token, change_token, change_token, change_lines, change_character])(text, draw)
    return text


def use(description: Description) -> None:
    """What the generator makes of one that was taken must be text."""
    for emit in (emit_cpp.emit, emit_systemverilog.emit, emit_markdown.emit):
        assert emit(description)


def try_one(text: str) -> str | None:
    """What went wrong, or None."""
    try:
        description = parse(text)
    except DescriptionError as error:
        return None if str(error) else "it was refused without a word"
    except Exception as error:  # what is looked for: the reader ended in some other way
        return f"the reader ended with {type(error).__name__}: {error}"
    try:
        use(description)
    except Exception as error:
        return f"it was taken, and the generator ended with {type(error).__name__}: {error}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("DATUM_TEST_SEED") or 1), help="default: DATUM_TEST_SEED, or 1")
    parser.add_argument("corpus", nargs="*", type=Path, help="descriptions, or folders of them")
    arguments = parser.parse_args()
    files = [file for path in arguments.corpus for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    texts = [file.read_text(encoding="utf-8") for file in [*files, PROJECT / "rtl_model/regs/board.toml"]]
    draw = random.Random(arguments.seed)
    end = time.monotonic() + arguments.seconds
    tried = 0
    for text in texts:
        if problem := try_one(text):
            print(f"{problem}; description:\n{text}")
            return 1
    while time.monotonic() < end:
        text = changed(draw.choice(texts), draw)
        tried += 1
        if problem := try_one(text):
            print(f"seed {arguments.seed}, input {tried}: {problem}; description:\n{text}")
            return 1
    print(f"{tried} descriptions, each taken or refused in words")
    return 0


if __name__ == "__main__":
    sys.exit(main())
