#!/usr/bin/env python3
"""Runs a command in a QEMU guest whose PCI cards are simulated boards, behind an emulated IOMMU and the kernel's own VFIO.

usage: run_in_guest.py --parts FOLDER --server PROGRAM [options] [--] COMMAND [ARGUMENT...]

COMMAND is a program of this machine, which is taken into the guest with its libraries, or one of the guest's busybox. An
ARGUMENT that names an ordinary file of this machine has that file in the guest, under the same name. Prints what it prints; the
status is its own, 124 if it took too long, 125 if the guest died, 2 for bad arguments.
"""

import argparse
import os
import shlex
import shutil
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from elf_closure import NotElf, closure_of, interpreter_of
from guest import IOMMUS, BoardServer, Machine, RunFolder, run_guest, signal_when_parent_ends
from initramfs import Initramfs

HERE = Path(__file__).resolve().parent
CARD_VENDOR, CARD_DEVICE = "0x1234", "0xda70"
MEMLOCK_KIB = 8192  # what systemd gives to a user
GUESTS_OWN = ("/proc", "/sys", "/dev")  # names that mean something of the guest's


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run_in_guest.py", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", type=Path, required=True, help="what scripts/vm made of Debian's packages")
    parser.add_argument("--server", type=Path, help="the datum-board program; needed with cards")
    parser.add_argument("--board", action="append", default=[], metavar="ADDRESS",
                        help="a card of the guest, such as rtl: or model:memory=1G; may be repeated")
    parser.add_argument("--iommu", choices=sorted(IOMMUS), default="intel48")
    parser.add_argument("--neighbour", action="store_true", help="the first card shares its IOMMU group with a serial port")
    parser.add_argument("--unbound", action="store_true", help="leave the cards without a driver")
    parser.add_argument("--user", action="store_true", help=f"as an ordinary user who may lock {MEMLOCK_KIB // 1024} MiB")
    parser.add_argument("--file", action="append", default=[], type=Path, metavar="PATH",
                        help="a further file for the guest, under the same name; a library with what it needs")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB")
    parser.add_argument("--kernel-argument", action="append", default=[], metavar="WORD", help="a further one for the guest's kernel")
    parser.add_argument("--die-with-parent", action="store_true", help="end when the process that started this one ends, however it does")
    parser.add_argument("--kernel-log", action="store_true", help="show the guest's kernel log on standard error")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args(words)
    if arguments.command[:1] == ["--"]:
        arguments.command.pop(0)
    if not arguments.command:
        parser.error("no command given")
    if arguments.board and arguments.server is None:
        parser.error("--board needs --server")
    if any("=" not in setting for setting in arguments.env):
        parser.error("--env wants NAME=VALUE")
    return arguments


def add_program(files: Initramfs, path: Path, linker: Path | None) -> None:
    for needed in closure_of(path, linker):
        files.file(str(needed), needed)


def add_command(files: Initramfs, command: list[str]) -> Path | None:
    """Puts the command's program into the guest if this machine has it; returns its dynamic linker."""
    found = shutil.which(command[0])
    if found is None or "/" not in command[0]:
        return None  # busybox has it, or the guest's shell says that nobody has
    program = Path(found).absolute()
    command[0] = str(program)
    add_program(files, program, None)
    return interpreter_of(program)


def named_files(words: list[str]) -> list[Path]:
    """The ordinary files of this machine that arguments of the command name."""
    absolute = [Path(os.path.abspath(word)) for word in words if word]
    return [path for path in absolute if path.is_file() and not any(path.is_relative_to(folder) for folder in GUESTS_OWN)]


def check_size(paths: list[Path], memory_mib: int) -> None:
    """The guest holds its files in memory, twice while it unpacks them, and has to work besides."""
    total_mib = sum(path.stat().st_size for path in paths) >> 20
    if total_mib > memory_mib // 4:
        raise ValueError(f"the files for the guest take {total_mib} MiB, and its memory of {memory_mib} MiB has room for {memory_mib // 4}")


def guest_files(arguments: argparse.Namespace) -> Initramfs:
    files = Initramfs()
    command = list(arguments.command)
    linker = add_command(files, command)
    named = named_files(command[1:])
    check_size([*arguments.file, *named], arguments.memory)
    for path in named:
        files.file(str(path), path)
    for path in arguments.file:
        absolute = path.absolute()
        try:
            add_program(files, absolute, linker)
        except NotElf:
            files.file(str(absolute), absolute)
    # There names without a folder mean what they mean here.
    here = os.getcwd()
    if here != "/":
        files.folder(here)
    files.file("/init", HERE / "guest_init")
    files.file("/busybox", arguments.parts / "busybox")
    for module in sorted((arguments.parts / "modules").iterdir()):
        files.file(f"/modules/{module.name}", module)
    files.text("/etc/passwd", "root:x:0:0:root:/tmp:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n")
    files.text("/etc/group", "root:x:0:\nuser:x:1000:\n")
    files.text("/settings", "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in {
        "card_vendor": CARD_VENDOR,
        "card_device": CARD_DEVICE,
        "unsafe_interrupts": int(arguments.iommu == "virtio"),
        "bind_cards": int(not arguments.unbound),
        "as_user": int(arguments.user),
        "memlock_kib": MEMLOCK_KIB,
        "show_log": int(arguments.kernel_log),
    }.items()))
    settings = "".join(f"export {name}={shlex.quote(value)}\n" for name, _, value in (s.partition("=") for s in arguments.env))
    files.text("/command", settings + f"cd {shlex.quote(here)}\nexec " + " ".join(shlex.quote(word) for word in command) + "\n")
    return files


def end_orderly(with_parent: bool) -> None:
    """Signals that end a program end this one by an exception, so that its with statements clear up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    if with_parent:
        signal_when_parent_ends(signal.SIGTERM)


def main() -> int:
    arguments = parse_arguments(sys.argv[1:])
    end_orderly(arguments.die_with_parent)
    try:
        files = guest_files(arguments)
    except (OSError, NotElf, ValueError) as error:
        print(f"vm: {error}", file=sys.stderr)
        return 2
    with ExitStack() as stack:
        folder = stack.enter_context(RunFolder())
        sockets = []
        for number, board in enumerate(arguments.board):
            server = BoardServer(arguments.server, board, folder / f"card{number}.sock", folder / f"card{number}.log")
            sockets.append(stack.enter_context(server).socket)
        machine = Machine(arguments.parts, arguments.iommu, sockets, arguments.neighbour, arguments.memory,
                          kernel_arguments=arguments.kernel_argument)
        status = run_guest(machine, files, folder, arguments.timeout)
        if arguments.kernel_log:
            sys.stderr.write((folder / "console").read_text(errors="replace"))
    return status


if __name__ == "__main__":
    sys.exit(main())
