#!/usr/bin/env python3
"""The generator refuses inconsistent register descriptions and writes the same text every time."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "rtl_model/regs"))

import emit_cpp  # noqa: E402
import emit_systemverilog  # noqa: E402
import generate  # noqa: E402
from description import DescriptionError, parse  # noqa: E402

SMALL = """
[device]
name = "board"
description = "A board."
magic = 1
version_major = 1
version_minor = 0
bar0_bytes = 0x1000
[[block]]
name = "first"
base = 0
description = "First block."
register = [
  { name = "ALPHA", offset = 0, width = 32, access = "rw", reset = 7, description = "A.", field = [
    { name = "low", bits = "3:0", description = "Low." },
    { name = "high", bits = "31:28", description = "High." } ] },
  { name = "BETA", offset = 8, width = 64, access = "ro", reset = "hw", description = "B." } ]
[[block]]
name = "many_things"
base = 0x100
stride = 16
count = 4
description = "Repeated block."
register = [ { name = "GAMMA", offset = 4, width = 32, access = "rw", reset = 0, description = "C." } ]
[[enum]]
name = "opcode"
width = 8
description = "Codes."
value = [ { name = "ONE", number = 1, description = "1." }, { name = "TWO", number = 2, description = "2." } ]
[[layout]]
name = "record"
type = "Record"
bytes = 16
description = "A record."
field = [
  { name = "code", word = 0, bits = "7:0", enum = "opcode", description = "Code." },
  { name = "of_one", word = 1, bits = "15:0", only = ["ONE"], description = "X." },
  { name = "of_two", word = 1, bits = "31:8", only = ["TWO"], description = "Y." } ]
"""


class RefusedDescriptions(unittest.TestCase):
    def refuse(self, old: str, new: str, because: str) -> None:
        self.assertEqual(SMALL.count(old), 1, f"'{old}' must stand once in the sample")
        with self.assertRaises(DescriptionError) as raised:
            parse(SMALL.replace(old, new))
        self.assertIn(because, str(raised.exception))

    def test_the_sample_itself_is_accepted(self):
        self.assertEqual([b.name for b in parse(SMALL).blocks], ["first", "many_things"])

    def test_values_of_another_kind(self):
        self.refuse('{ name = "ALPHA", offset = 0', '{ name = "ALPHA", offset = "0"', "of another kind")
        self.refuse('name = "many_things"', "name = 7", "of another kind")
        self.refuse('only = ["ONE"]', "only = [1]", "of another kind")
        self.refuse("base = 0x100", "base = true", "of another kind")

    def test_numbers_that_are_no_sizes(self):
        self.refuse("stride = 16", "stride = 0", "stride of 0")
        self.refuse('bits = "3:0"', 'bits = "9999999999:0"', "neither")
        self.refuse('name = "opcode"\nwidth = 8', 'name = "opcode"\nwidth = 4096', "not 1 to 64")
        self.refuse("count = 4", "count = -1", "of another kind")

    def test_overlapping_registers(self):
        self.refuse('"BETA", offset = 8, width = 64', '"BETA", offset = 0, width = 64', "overlap")

    def test_misaligned_register(self):
        self.refuse('"BETA", offset = 8', '"BETA", offset = 12', "misaligned")

    def test_duplicate_register_of_another_block(self):
        self.refuse('"GAMMA"', '"ALPHA"', "duplicate name")

    def test_field_outside_its_register(self):
        self.refuse('"31:28"', '"32:28"', "outside 32 bits")

    def test_field_whose_unit_passes_a_word(self):
        shifted = '{ name = "low", bits = "3:0", shift = %d'
        parse(SMALL.replace('{ name = "low", bits = "3:0"', shifted % 60))
        self.refuse('{ name = "low", bits = "3:0"', shifted % 61, "shifted by 61, pass 64 bits")

    def test_field_that_runs_backwards(self):
        self.refuse('"31:28"', '"28:31"', "backwards")

    def test_overlapping_fields(self):
        self.refuse('"31:28"', '"31:3"', "overlap")

    def test_reset_wider_than_the_register(self):
        self.refuse("reset = 7", "reset = 0x100000000", "wider than 32")

    def test_missing_description_of_a_register(self):
        self.refuse(', description = "B."', "", "missing description")

    def test_blank_description_of_a_value(self):
        self.refuse('description = "2."', 'description = " "', "missing description")

    def test_unknown_access(self):
        self.refuse('access = "ro"', 'access = "rx"', "access 'rx'")

    def test_overlapping_blocks(self):
        self.refuse("base = 0x100", "base = 0x0", "overlap")

    def test_block_outside_the_bar(self):
        self.refuse("count = 4", "count = 4096", "outside the BAR")

    def test_register_beyond_the_stride(self):
        self.refuse('"GAMMA", offset = 4', '"GAMMA", offset = 16', "beyond the stride")

    def test_enum_number_too_large(self):
        self.refuse("number = 2", "number = 256", "does not fit 8 bits")

    def test_enum_number_used_twice(self):
        self.refuse("number = 2", "number = 1", "duplicate number")

    def test_fields_of_one_opcode_that_overlap(self):
        self.refuse('only = ["TWO"]', 'only = ["ONE", "TWO"]', "overlap")

    def test_field_of_an_unknown_opcode(self):
        self.refuse('only = ["TWO"]', 'only = ["THREE"]', "no opcode 'THREE'")

    def test_version_register_of_another_version(self):
        beta = '{ name = "BETA", offset = 8, width = 64, access = "ro", reset = "hw"'
        parse(SMALL.replace(beta, '{ name = "VERSION", offset = 8, width = 64, access = "ro", reset = 0x10000'))
        self.refuse(beta, '{ name = "VERSION", offset = 8, width = 64, access = "ro", reset = 0x10001', "not the device's version, 0x10000")

    def test_word_outside_the_layout(self):
        self.refuse('"of_one", word = 1', '"of_one", word = 2', "outside 2 words")

    def test_unknown_enum(self):
        self.refuse('enum = "opcode"', 'enum = "nothing"', "no enum 'nothing'")

    def test_misspelt_key(self):
        self.refuse("stride = 16", "strde = 16", "unknown key 'strde'")

    def test_text_that_is_no_toml(self):
        with self.assertRaises(DescriptionError):
            parse("[device")

    def test_every_problem_is_named_at_once(self):
        with self.assertRaises(DescriptionError) as raised:
            parse(SMALL.replace("reset = 7", "reset = 0x100000000").replace('"31:28"', '"32:28"'))
        self.assertIn("wider than 32", str(raised.exception))
        self.assertIn("outside 32 bits", str(raised.exception))


class BuildId(unittest.TestCase):
    def test_prose_does_not_change_it(self):
        self.assertEqual(parse(SMALL).crc, parse(SMALL.replace('"First block."', '"Another text."')).crc)

    def test_an_offset_changes_it(self):
        self.assertNotEqual(parse(SMALL).crc, parse(SMALL.replace('"BETA", offset = 8', '"BETA", offset = 16')).crc)


class Outputs(unittest.TestCase):
    def test_package_has_offsets_codes_and_positions(self):
        text = emit_systemverilog.emit(parse(SMALL))
        for line in ("localparam logic [11:0] BETA_OFFSET = 12'h008;", "localparam logic [7:0] OPCODE_TWO = 8'h02;",
                     "localparam int unsigned RECORD_OF_TWO_BIT = 72;", "localparam int unsigned MANY_THINGS_STRIDE = 16;"):
            self.assertIn(line, text)

    def test_header_has_a_function_for_a_repeated_register(self):
        self.assertIn("std::uint32_t gamma(std::uint32_t many)", emit_cpp.emit(parse(SMALL)))

    def test_check_fails_on_a_stale_output_and_passes_after_writing(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            arguments = ["--root", folder]
            self.assertEqual(generate.main(["--check", *arguments]), 1)
            self.assertIn("is stale", said.getvalue())
            self.assertEqual(generate.main(arguments), 0)
            self.assertEqual(generate.main(["--check", *arguments]), 0)
            package = Path(folder, "rtl_model/rtl/datum_reg_pkg.sv")
            package.write_text(package.read_text().replace("OPCODE_COPY", "OPCODE_COPIES"))
            self.assertEqual(generate.main(["--check", *arguments]), 1)

    def test_check_fails_on_an_inconsistent_description(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            path = Path(folder, "bad.toml")
            path.write_text(SMALL.replace('"31:28"', '"31:3"'))
            self.assertEqual(generate.main(["--check", "--description", str(path), "--root", folder]), 1)
            self.assertIn("overlap", said.getvalue())

    def test_outputs_in_the_tree_are_what_the_description_gives(self):
        self.assertEqual(generate.main(["--check"]), 0)


if __name__ == "__main__":
    unittest.main()
