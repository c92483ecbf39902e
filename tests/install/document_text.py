"""What the documents have in their code blocks: the commands of those that are for a shell, and addresses of boards."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
SHELL_WORDS = ("|", "||", "&&", "&", ";", ">", ">>", "2>&1")
FOR_A_SHELL = ("", "sh", "bash", "shell")
GENERATED = ("conformance.md", "api-support.md", "registers.md")


class Command(NamedTuple):
    """A line for a shell, or several that backslashes join; `output` is what the document says that it prints."""

    place: str
    text: str
    output: tuple[str, ...] = ()


def documents() -> list[Path]:
    found = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md"), *PROJECT.glob("examples/**/*.md"), *PROJECT.glob(".github/**/*.md")])
    return [path for path in found if path.name not in GENERATED]


def blocks(path: Path) -> list[tuple[str, list[tuple[int, str]]]]:
    """(language, numbered lines) of every code block that is no picture."""
    found, block, language = [], [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := re.match(r"^```(\w*)", line.strip()):
            if language is None:
                block, language = [], match[1]
            else:
                if not any("│" in text for _, text in block):
                    found.append((language, block))
                language = None
        elif language is not None:
            block.append((number, line))
    return found


def without_comment(line: str) -> str:
    """Also without the explanation that scripts have behind them in some documents, after three spaces."""
    if re.match(r"scripts/", line):
        line = re.split(r"\s{3,}(?=[a-z])", line)[0]
    words = shlex.split(line.rstrip("\\"), comments=True)
    return re.sub(r"\s+#\s.*$", "", line).strip() if words else ""


def commands_of_block(path: Path, block: list[tuple[int, str]]) -> list[Command]:
    """Where some lines begin with a prompt, the others are output."""
    prompted = any(line.startswith("$ ") for _, line in block)
    commands: list[Command] = []
    joined = ""
    for number, line in block:
        if prompted and not line.startswith("$ "):
            commands[-1] = commands[-1]._replace(output=(*commands[-1].output, line))
            continue
        text = joined + without_comment(line.removeprefix("$ "))
        joined = text.removesuffix("\\") if text.endswith("\\") else ""
        if text and not joined:
            commands.append(Command(f"{path.relative_to(PROJECT)}:{number}", text))
    return commands


def shell_blocks() -> list[list[Command]]:
    found = []
    for path in documents():
        for language, block in blocks(path):
            if language in FOR_A_SHELL and (commands := commands_of_block(path, block)):
                found.append(commands)
    return found


def simple_commands() -> list[tuple[str, list[str]]]:
    """(place, words) of each simple command."""
    result = []
    for command in (each for block in shell_blocks() for each in block):
        text = re.sub(r'^eval "\$\((.*?)\)".*$', r"\1", command.text)
        simple: list[str] = []
        for word in [*shlex.split(text), ";"]:
            if word in SHELL_WORDS or word.endswith(";"):
                if simple:
                    result.append((command.place, simple))
                simple = []
            else:
                simple.append(word)
    return result


def addresses() -> dict[str, str]:
    """Simulated boards that stand on lines of their own, and where."""
    found = {}
    for path in documents():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if match := re.match(r"^    (?:DATUM_BOARDS=)?((?:rtl|model):\S*)(?:\s{2,}.*)?$", line):
                found[match[1]] = f"{path.relative_to(PROJECT)}:{number}"
    return found
