#!/usr/bin/env python3
"""Fills device memory, copies it across the board and back, compares, and tells how many clock cycles that took.

usage: copy.py [BOARD]     such as rtl:, model:memory=64M, vfio:0000:03:00.0; else DATUM_BOARDS, else the bound cards
"""

import sys

import datum

SIZE = 1 << 20


def main(address: str | None) -> int:
    with datum.open(address) as board:
        version = board.registers.fields("VERSION")
        print(f"board     {board.name}, registers {version['major']}.{version['minor']}, {board.registers.read('CHANNEL_COUNT')} channels")
        source, target, back = board.allocate(SIZE), board.allocate(SIZE), board.allocate_host(SIZE)

        board.fill(source, b"DATUMDAT")
        before = board.registers.read("CYCLES")
        board.copy(target, source)
        board.copy(back, target).wait()      # work is done in the order in which it was given
        cycles = board.registers.read("CYCLES") - before

        same = back.view == b"DATUMDAT" * (SIZE // 8)
        print(f"copied    2 x {SIZE} bytes in {cycles} cycles")
        print("compare   " + ("every byte came back" if same else "the bytes differ"))
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
