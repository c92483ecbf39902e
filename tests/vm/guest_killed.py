#!/usr/bin/env python3
"""Kills a guest while its card copies, twice, and shows that the card's server lives on and serves the next guest.

usage: guest_killed.py OPTIONS -- PROGRAM     options as those of run_in_guest.py; PROGRAM is datum_guest_test
"""

import selectors
import subprocess
import sys
import time
from pathlib import Path

from guest import BoardServer, Machine, RunFolder, die_with_parent, qemu_command, run_guest
from initramfs import Initramfs
from run_in_guest import end_orderly, guest_files, parse_arguments

ROUNDS = 2


class Failed(Exception):
    """What was to be shown does not hold."""


def kill_amid_copies(machine: Machine, files: Initramfs, folder: Path, timeout_s: float) -> None:
    """Boots the machine, and kills it once its program says that it copies."""
    archive, console = folder / "initramfs", folder / "console"
    files.write(archive)
    console.touch()
    guest = subprocess.Popen(qemu_command(machine, archive, console), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
    said = b""
    deadline = time.monotonic() + timeout_s
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(guest.stdout, selectors.EVENT_READ)
            while b"ready" not in said:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise Failed(f"no copy began within {timeout_s:.0f} s: {said!r} {console.read_text(errors='replace')[-2000:]}")
                piece = guest.stdout.read1()
                if not piece:
                    raise Failed(f"the guest ended before it copied: {said!r} {console.read_text(errors='replace')[-2000:]}")
                said += piece
    finally:
        guest.kill()
        guest.wait()


def main() -> int:
    words = sys.argv[1:]
    arguments = parse_arguments([*words, "--scenario=copy_for_ever"])
    end_orderly(arguments.die_with_parent)
    endless = guest_files(arguments)
    once = guest_files(parse_arguments([*words, "--scenario=copy"]))
    with RunFolder() as folder, BoardServer(arguments.server, arguments.board[0], folder / "card.sock", folder / "card.log") as server:
        machine = Machine(arguments.parts, arguments.iommu, [server.socket])
        for number in range(ROUNDS):
            kill_amid_copies(machine, endless, folder, arguments.timeout)
            print(f"guest {number + 1} was killed amid its copies", flush=True)
            if not server.runs():
                raise Failed(f"the server went with its guest: {(folder / 'card.log').read_text(errors='replace')}")
        status = run_guest(machine, once, folder, arguments.timeout)
        if status != 0 or not server.runs():
            raise Failed(f"the next guest's copy ended with status {status}: {(folder / 'card.log').read_text(errors='replace')}")
    print("the next guest had its copy")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"guest_killed: {failure}")
