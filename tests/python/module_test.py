"""The Python module on a simulated board, through the system's loader.

usage: module_test.py EXAMPLE     with PYTHONPATH, ZE_ENABLE_ALT_DRIVERS and DATUM_BOARDS
"""

import os
import random
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

import datum

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = ""
INVALID_SIZE = 0x78000008


class Module(unittest.TestCase):
    def setUp(self) -> None:
        self.board = datum.open()
        self.addCleanup(self.board.close)

    def test_given_each_kind_of_memory_when_copied_round_then_the_bytes_come_back(self) -> None:
        data = random.Random(8).randbytes(70_001)
        memories = [self.board.allocate(len(data)), self.board.allocate(len(data), ordinal=1), self.board.allocate_host(len(data)),
                    self.board.allocate_shared(len(data))]
        self.board.copy(memories[0], data)
        for earlier, later in zip(memories, memories[1:]):
            self.board.copy(later, earlier)
        back = bytearray(len(data))
        self.board.copy(back, memories[-1]).wait()
        self.assertEqual(bytes(back), data)
        self.assertEqual(bytes(memories[2].view), data)
        self.assertEqual(memories[1].read(100, offset=500), data[500:600])

    def test_given_a_part_when_written_and_filled_then_the_rest_stays(self) -> None:
        memory = self.board.allocate(64)
        self.board.fill(memory, b"\x00")
        memory.write(b"datum", offset=3)
        self.board.fill(memory, b"ab", 4, offset=60).wait()
        self.assertEqual(memory.read(), b"\0\0\0datum" + bytes(52) + b"abab")

    def test_given_more_copies_than_are_in_flight_at_once_when_given_then_all_are_done_in_order(self) -> None:
        memory = self.board.allocate(256)
        works = [self.board.copy(memory, bytes([number]) * 256) for number in range(200)]
        self.board.wait(timeout=60)
        self.assertTrue(all(work.done for work in works))
        self.assertEqual(memory.read(), bytes([199]) * 256)

    def test_given_a_range_outside_when_copied_then_it_is_refused_before_the_board_sees_it(self) -> None:
        memory = self.board.allocate(100)
        for wrong in (lambda: self.board.copy(memory, bytes(101), 101), lambda: self.board.copy(memory, bytes(8), target_offset=101),
                      lambda: self.board.fill(memory, b"a", 50, offset=51), lambda: memory.read(1, offset=100), lambda: memory.write(b"ab", offset=99)):
            self.assertRaises(ValueError, wrong)
        self.assertRaises(TypeError, self.board.copy, b"cannot be written", memory)

    def test_given_freed_memory_when_used_then_that_is_told(self) -> None:
        with self.board.allocate(10) as memory:
            memory.write(b"0123456789")
        self.assertRaises(ValueError, memory.read)
        self.assertIn("freed", repr(memory))

    def test_given_an_allocation_that_cannot_be_when_made_then_the_result_has_its_name(self) -> None:
        with self.assertRaises(datum.Failure) as caught:
            self.board.allocate(1 << 50)
        self.assertIn(caught.exception.name, ("UNSUPPORTED_SIZE", "OUT_OF_DEVICE_MEMORY"))

    def test_given_registers_when_read_by_name_then_values_fields_and_instances_are_the_boards(self) -> None:
        registers = self.board.registers
        self.assertEqual(registers.read("magic"), 0x4D544144)
        device = tomllib.loads((PROJECT / "rtl_model/regs/board.toml").read_text(encoding="utf-8"))["device"]
        self.assertEqual(registers.fields("VERSION"), {"major": device["version_major"], "minor": device["version_minor"]})
        self.assertEqual(registers.read("MEMORY_BYTES"), 64 << 20)
        self.assertEqual(registers.read("RING_STATE", registers.read("RING_COUNT") - 1), 0)
        self.assertIn("CYCLES", registers.names())
        self.assertRaises(KeyError, registers.read, "NO_SUCH_REGISTER")
        self.assertRaises(IndexError, registers.read, "RING_STATE", 64)

    def test_given_a_register_when_written_then_it_holds_the_value_and_what_does_not_fit_is_refused(self) -> None:
        registers = self.board.registers
        registers.write("SCRATCH", 0x1122334455667788)
        self.assertEqual(registers.read("SCRATCH"), 0x1122334455667788)
        self.assertRaises(ValueError, registers.write, "PARK_RECHECK_NS", 1 << 32)
        with self.assertRaises(datum.Failure) as caught:
            registers.read_at(0, 2)
        self.assertEqual(caught.exception.code, INVALID_SIZE)
        for offset in (2, 0x80000):
            with self.assertRaises(datum.Failure) as caught:
                registers.read_at(offset, 4)
            self.assertEqual(caught.exception.name, "INVALID_ARGUMENT")

    def test_given_another_address_when_opened_in_the_same_process_then_it_is_told_why_not(self) -> None:
        with self.assertRaisesRegex(ValueError, "opens its boards once"):
            datum.open("model:memory=16M")
        self.assertRaises(IndexError, datum.open, None, 1)

    def test_given_a_closed_board_when_closed_again_then_nothing_happens(self) -> None:
        self.board.close()
        self.board.close()

    def test_given_the_example_when_run_then_every_byte_came_back(self) -> None:
        result = subprocess.run([sys.executable, EXAMPLE, "model:"], env=os.environ, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("every byte came back", result.stdout)

    def test_given_no_driver_when_opened_then_the_failure_says_where_to_look(self) -> None:
        result = subprocess.run([sys.executable, EXAMPLE, "model:no_such_option"], env=os.environ, capture_output=True, text=True, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("datum doctor", result.stderr)


if __name__ == "__main__":
    EXAMPLE = sys.argv.pop(1)
    unittest.main()
