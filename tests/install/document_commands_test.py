"""Every command in a document's code blocks is one that there is: programs, scripts, presets, and each of their options. Those that
need nothing but a simulated board are run.

usage: document_commands_test.py BIN-FOLDER
"""

import json
import os
import re
import subprocess
import sys
import unittest
from functools import cache
from pathlib import Path

from document_text import PROJECT, simple_commands

BIN = Path()
PROGRAMS = ("datum", "datum-board", "datum-board-contract", "datum-bench", "datum-demo")
# Of the system, of a user, or words of the shell.
OTHERS = {"apt", "cat", "cd", "chroot", "cpack", "echo", "eval", "export", "git", "jq", "lspci", "modprobe", "pkg-config", "qemu-system-x86_64", "setarch", "sed",
          "sysctl", "tee", "udevadm", "ulimit", "usermod", "verilator_coverage", "gtkwave", "gdb"}
PLACEHOLDER = re.compile(r"^(ADDRESS|BDF|COMMAND|FILE|GROUP|LIST|N|NAME|PATH|PROGRAM|SIZE)$|\.\.\.|<")


@cache
def help_of(program: str, *subcommands: str) -> str:
    result = subprocess.run([BIN / program, *subcommands, "--help"], capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else ""


@cache
def subcommands_of(program: str, *before: str) -> tuple[str, ...]:
    listed = re.search(r"^Subcommands:\n(.*?)(?:\n\S|\Z)", help_of(program, *before), re.MULTILINE | re.DOTALL)
    return tuple(re.findall(r"^  (\S+)", listed[1], re.MULTILINE)) if listed else ()


def complaint_about_program(words: list[str]) -> str | None:
    program, rest = Path(words[0]).name, words[1:]
    if not (BIN / program).exists():
        return f"there is no program {program}"
    path: list[str] = []
    while rest and rest[0] in subcommands_of(program, *path):
        path.append(rest.pop(0))
    if subcommands_of(program, *path) and rest and not rest[0].startswith("-"):
        return f"'{' '.join([program, *path])}' has no command {rest[0]}"
    text = help_of(program, *path)
    for word in rest:
        if word == "--":
            break
        option = word.partition("=")[0]
        if option.startswith("-") and not PLACEHOLDER.search(option) and option not in ("-", "--help") and not option.startswith("--gtest"):
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
                return f"'{' '.join([program, *path])}' has no option {option}"
    return None


def complaint_about_script(words: list[str]) -> str | None:
    script = PROJECT / words[0]
    if not os.access(script, os.X_OK):
        return f"there is no {words[0]} that can be run"
    text = script.read_text(encoding="utf-8")
    for word in words[1:]:
        if word.startswith("--") and word != "--" and not PLACEHOLDER.search(word) and word.partition("=")[0] not in text:
            return f"{words[0]} has no option {word}"
    return None


def complaint_about_preset(words: list[str]) -> str | None:
    presets = json.loads((PROJECT / "CMakePresets.json").read_text())
    known = {preset["name"] for kind in ("configurePresets", "buildPresets", "testPresets") for preset in presets.get(kind, [])}
    for before, word in zip(words, words[1:]):
        if before == "--preset" and word not in known and not PLACEHOLDER.search(word):
            return f"there is no preset {word}"
    return None


def complaint(words: list[str]) -> str | None:
    words = list(words)
    while words and (re.match(r"^[A-Z_]+=", words[0]) or words[0] == "sudo"):
        words.pop(0)
    if not words or words[0] in OTHERS:
        return None
    if Path(words[0]).name in PROGRAMS:
        return complaint_about_program(words)
    if words[0].startswith("scripts/"):
        return complaint_about_script(words)
    if words[0] in ("cmake", "ctest"):
        return complaint_about_preset(words)
    return None  # a program of the reader's


class DocumentCommands(unittest.TestCase):
    def test_given_the_documents_when_their_commands_are_read_then_each_is_one_that_there_is(self) -> None:
        found = simple_commands()
        self.assertGreater(len(found), 50)
        problems = [f"{place}: {told}" for place, words in found if (told := complaint(words)) is not None]
        self.assertEqual(problems, [])

    def test_given_commands_that_are_none_when_read_then_they_are_told(self) -> None:
        for words in (["datum", "lost"], ["datum", "list", "--jsn"], ["scripts/nothing"], ["cmake", "--preset", "nothing"], ["datum-board", "--sockets", "x"]):
            self.assertIsNotNone(complaint(words), words)
        self.assertIsNone(complaint(["DATUM_BOARDS=rtl:", "datum", "list", "--json"]))


if __name__ == "__main__":
    BIN = Path(sys.argv.pop(1)).resolve()
    unittest.main()
