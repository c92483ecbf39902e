"""Runs a command with DATUM_BOARDS naming a board that a server of its own serves.

usage: with_served_board.py DATUM_BOARD BOARD COMMAND [ARGUMENT]...
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
    program, board, *command = arguments
    with tempfile.TemporaryDirectory(prefix="datum-") as folder:
        path = Path(folder) / "board"
        server = subprocess.Popen([program, "--board", board, "--socket", str(path)], stdout=subprocess.PIPE, text=True)
        try:
            line = server.stdout.readline()
            if " listens at " not in line:
                print(f"the server does not start: {line!r}", file=sys.stderr)
                return 1
            status = subprocess.run(command, env=os.environ | {"DATUM_BOARDS": f"vfio-user:{path}"}, check=False).returncode
        finally:
            server.terminate()
            ended = server.wait()
        if ended != 0 or path.exists():
            print(f"the server ended with {ended}, its socket is {'still there' if path.exists() else 'gone'}", file=sys.stderr)
            return 1
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
