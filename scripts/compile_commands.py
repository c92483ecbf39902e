#!/usr/bin/env python3
"""How a build tree compiles each source, whether alone or joined with others (cmake/unity_build.cmake).

usage: scripts/compile_commands.py BUILD-FOLDER OUT.json    writes them for tools that read compile_commands.json
"""

import json
import re
import shlex
import sys
from pathlib import Path

INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def sources_of(command: dict) -> list[Path]:
    """The source of an entry of compile_commands.json; of a joined one, those that it joins."""
    file = Path(command["directory"], command["file"])
    if file.parent.name != "Unity":
        return [file.resolve()]
    return [Path(name).resolve() for name in INCLUDED.findall(file.read_text())]


def read_commands(build: Path) -> list[dict]:
    """One entry a source, with `file` absolute."""
    commands = []
    for command in json.loads((build / "compile_commands.json").read_text()):
        for source in sources_of(command):
            text = command["command"].replace(command["file"], shlex.quote(str(source)))
            commands.append({**command, "command": text, "file": str(source)})
    return commands


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build, out = (Path(argument) for argument in sys.argv[1:])
    if not (build / "compile_commands.json").is_file():
        print(f"compile_commands: {build} has no compile_commands.json; configure it first", file=sys.stderr)
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(read_commands(build), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
