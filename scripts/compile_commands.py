"""How build trees compile each source, whether alone or joined with others (cmake/unity_build.cmake), and behind precompiled headers."""

import json
import re
import shlex
from pathlib import Path

INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)
PRECOMPILED = re.compile(r"-Winvalid-pch|-(Xclang )?-?include(-pch)? \S*cmake_pch\S*|-Xclang -fno-pch-timestamp")


def sources_of(command: dict) -> list[Path]:
    """The source of an entry of compile_commands.json; of a joined one, those that it joins."""
    file = Path(command["directory"], command["file"])
    if file.parent.name != "Unity":
        return [file.resolve()]
    return [Path(name).resolve() for name in INCLUDED.findall(file.read_text())]


def read_units(build: Path) -> list[dict]:
    """The entries as they are."""
    return json.loads((build / "compile_commands.json").read_text())


def read_commands(build: Path) -> list[dict]:
    """One entry a source, with `file` absolute."""
    commands = []
    for command in read_units(build):
        for source in sources_of(command):
            text = command["command"].replace(command["file"], shlex.quote(str(source)))
            commands.append({**command, "command": text, "file": str(source)})
    return commands


def without_precompiled(command: str) -> str:
    """The same command line without a precompiled header."""
    text = command.replace("-Xclang -include-pch -Xclang", "-include-pch").replace("-Xclang -include -Xclang", "-include")
    return PRECOMPILED.sub("", text)
