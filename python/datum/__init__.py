"""Boards that the Datum driver drives, from Python: allocate, copy, wait, read and write registers.

    import datum

    with datum.open("rtl:") as board:
        memory = board.allocate(4096)
        board.copy(memory, b"on the board and back").wait()
        print(memory.read(21), hex(board.registers.read("MAGIC")))

Nothing but Python and a Level Zero loader is needed. docs/python.md has more.
"""

from .board import Board, Pending, open
from .level_zero import Failure
from .memory import Memory
from .registers import Registers

__all__ = ["Board", "Failure", "Memory", "Pending", "Registers", "open"]
