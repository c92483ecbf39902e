"""Every command in a document's code blocks is one that there is: programs, scripts, presets, and each of their options. Those that
need nothing but a simulated board are run.

usage: document_commands_test.py BIN-FOLDER
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BIN = Path()
PROGRAMS = ("datum", "datum-board", "datum-board-contract", "datum-bench", "datum-demo")
# Of the system, of a user, or words of the shell.
OTHERS = {"apt", "cat", "cd", "chroot", "cpack", "echo", "eval", "export", "git", "jq", "lspci", "modprobe", "pkg-config", "qemu-system-x86_64", "setarch", "sed",
          "sysctl", "tee", "udevadm", "ulimit", "usermod", "verilator_coverage", "gtkwave", "gdb"}
SHELL_WORDS = ("|", "||", "&&", "&", ";", ">", ">>", "2>&1")
PLACEHOLDER = re.compile(r"^(ADDRESS|BDF|COMMAND|FILE|GROUP|LIST|N|NAME|PATH|PROGRAM|SIZE)$|\.\.\.|<")
# What runs here and now, on a simulated board, within seconds, and changes nothing.
RUN = re.compile(r"^datum (list|info|env|regs (list|read|dump)|mem (read|walk)|faults|perf|doctor) .*\b(model|rtl):")


def blocks(path: Path) -> list[tuple[int, str, str]]:
    """(line, language, text of the line) of every line in code blocks; pictures are none."""
    found, block, language = [], [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := re.match(r"^```(\w*)", line.strip()):
            if language is None:
                block, language = [], match[1]
            else:
                found += [] if any("│" in text for _, _, text in block) else block
                language = None
        elif language is not None:
            block.append((number, language, line))
    return found


def commands() -> list[tuple[str, list[str]]]:
    """(place, words) of each simple command in blocks that are for a shell."""
    result = []
    for path in sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md"), *PROJECT.glob("examples/**/*.md")]):
        if path.name in ("conformance.md", "api-support.md", "registers.md"):
            continue
        for number, language, line in blocks(path):
            text = line.strip().removeprefix("$ ")
            if language not in ("", "sh", "bash", "shell") or not re.match(r"^(?:[A-Z_]+=\S* )*(?:sudo )?(?:eval \"\$\()?(?:\S*/)?(?:datum(?:-\w+)?|scripts/\w+|ctest|cmake)(?: |$)", text):
                continue
            text = re.sub(r'^eval "\$\((.*?)\)".*$', r"\1", text)
            try:
                words = shlex.split(text, comments=True)
            except ValueError:
                words = text.split()
            simple: list[str] = []
            for word in [*words, ";"]:
                if word in SHELL_WORDS or word.endswith(";"):
                    if simple:
                        result.append((f"{path.relative_to(PROJECT)}:{number}", simple))
                    simple = []
                else:
                    simple.append(word)
    return result


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
        found = commands()
        self.assertGreater(len(found), 50)
        problems = [f"{place}: {told}" for place, words in found if (told := complaint(words)) is not None]
        self.assertEqual(problems, [])

    def test_given_commands_that_need_a_simulated_board_alone_when_run_then_they_do_what_is_said(self) -> None:
        named = [[Path(words[0]).name, *words[1:]] for _, words in commands()]
        run = {shlex.join(words) for words in named if RUN.match(" ".join(words)) and not any(PLACEHOLDER.search(word) for word in words)}
        self.assertGreater(len(run), 2)
        ours = ("DATUM_BOARDS", "DATUM_SIM_OPTIONS", "DATUM_SIM_PLUGIN", "ZE_ENABLE_ALT_DRIVERS")
        variables = {name: value for name, value in os.environ.items() if name not in ours} | {"PATH": f"{BIN}:{os.environ['PATH']}"}
        with tempfile.TemporaryDirectory(prefix="datum-test-") as folder:
            for command in sorted(run):
                result = subprocess.run(["sh", "-c", command], cwd=folder, env=variables, capture_output=True, text=True, check=False)
                self.assertIn(result.returncode, (0, 1) if " doctor" in command else (0,), f"{command}\n{result.stdout}{result.stderr}")

    def test_given_commands_that_are_none_when_read_then_they_are_told(self) -> None:
        for words in (["datum", "lost"], ["datum", "list", "--jsn"], ["scripts/nothing"], ["cmake", "--preset", "nothing"], ["datum-board", "--sockets", "x"]):
            self.assertIsNotNone(complaint(words), words)
        self.assertIsNone(complaint(["DATUM_BOARDS=rtl:", "datum", "list", "--json"]))


if __name__ == "__main__":
    BIN = Path(sys.argv.pop(1)).resolve()
    unittest.main()
