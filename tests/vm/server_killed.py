#!/usr/bin/env python3
"""Kills the server of a guest's card while the card copies: the program in the guest is told, and a next guest has a card again.

usage: server_killed.py OPTIONS -- PROGRAM     options as those of run_in_guest.py; PROGRAM is datum_guest_test
"""

import io
import sys
import threading
from pathlib import Path

from guest import GUEST_DIED, BoardServer, Machine, RunFolder, run_guest
from run_in_guest import end_orderly, guest_files, parse_arguments

# QEMU 10.1 itself may abort when a card's server goes, about every second time: nobody in the guest can be told then.
MOST_GUESTS = 12
ABORTED = "error_setv: Assertion"


class Failed(Exception):
    """What was to be shown does not hold."""


class Console(io.BytesIO):
    """What the guest's program says; `said_ready` once it copies."""

    def __init__(self) -> None:
        super().__init__()
        self.said_ready = threading.Event()

    def write(self, piece: bytes) -> int:
        count = super().write(piece)
        if b"ready" in self.getvalue():
            self.said_ready.set()
        return count


def lose_the_card(arguments, folder: Path) -> bool:
    """A guest whose card goes away amid its copies. False: QEMU went, too."""
    with BoardServer(arguments.server, arguments.board[0], folder / "card.sock", folder / "card.log") as server:
        console = Console()

        def kill() -> None:
            if console.said_ready.wait(arguments.timeout):
                server.kill()

        threading.Thread(target=kill, daemon=True).start()
        machine = Machine(arguments.parts, arguments.iommu, [server.socket])
        status = run_guest(machine, guest_files(arguments), folder, arguments.timeout, console)
        said = console.getvalue().decode(errors="replace").strip()
        if not console.said_ready.is_set():
            raise Failed(f"no copy began; the program ended with status {status}: {said[-2000:]}")
        if status == GUEST_DIED and ABORTED in (folder / "complaints").read_text(errors="replace"):
            return False
        if status != 0:
            raise Failed(f"the program whose card went away ended with status {status}: {said[-2000:]}")
    print(f"the program whose card went away says: {said.splitlines()[-1]}", flush=True)
    return True


def main() -> int:
    words = sys.argv[1:]
    arguments = parse_arguments([*words, "--scenario=copy_until_gone"])
    end_orderly(arguments.die_with_parent)
    told = False
    for _ in range(MOST_GUESTS):
        with RunFolder() as folder:
            told = lose_the_card(arguments, folder)
        if told:
            break
    if not told:
        raise Failed(f"QEMU aborted {MOST_GUESTS} times, and no program was told")
    with RunFolder() as folder, BoardServer(arguments.server, arguments.board[0], folder / "card.sock", folder / "card.log") as server:
        once = guest_files(parse_arguments([*words, "--scenario=copy"]))
        status = run_guest(Machine(arguments.parts, arguments.iommu, [server.socket]), once, folder, arguments.timeout)
        if status != 0:
            raise Failed(f"the next guest's copy ended with status {status}")
    print("the next guest had its copy")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"server_killed: {failure}")
