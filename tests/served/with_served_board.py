"""Runs a command with DATUM_BOARDS naming boards that a server of its own serves.

usage: with_served_board.py DATUM_BOARD BOARD[+BOARD]... COMMAND [ARGUMENT]...
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(arguments: list[str]) -> int:
    if len(arguments) < 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program, boards, *command = arguments
    with tempfile.TemporaryDirectory(prefix="datum-") as folder:
        paths, options = [], []
        for number, board in enumerate(boards.split("+")):
            paths.append(Path(folder) / f"board{number}")
            options += ["--board", board, "--socket", str(paths[-1])]
        server = subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True)
        try:
            for _ in paths:
                line = server.stdout.readline()
                if " listens at " not in line:
                    print(f"the server does not start: {line!r}", file=sys.stderr)
                    return 1
            served = ",".join(f"vfio-user:{path}" for path in paths)
            status = subprocess.run(command, env=os.environ | {"DATUM_BOARDS": served}, check=False).returncode
        finally:
            server.terminate()
            ended = server.wait()
        left = [str(path) for path in paths if path.exists()]
        if ended != 0 or left:
            print(f"the server ended with {ended}, and left {left or 'no socket'}", file=sys.stderr)
            return 1
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
