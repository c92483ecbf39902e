"""The commands of `datum` on a board: registers, memory, faults, counters; and what is installed around the program.

usage: board_commands_test.py DATUM
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/datum"
DATUM = ""
COMMANDS = ("doctor", "list", "info", "status", "bind", "unbind", "udev-rule", "env", "board", "regs", "mem", "faults", "ecc", "perf", "bench", "cosim", "run", "view")


def run_datum(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    ours = ("DATUM_BOARDS", "DATUM_LOG", "DATUM_SIM_PLUGIN", "LD_LIBRARY_PATH", "ZE_ENABLE_ALT_DRIVERS")
    variables = {name: value for name, value in os.environ.items() if name not in ours} | changes
    return subprocess.run([DATUM, *arguments], env=variables, capture_output=True, text=True, check=False)


class Registers(unittest.TestCase):
    def test_given_no_board_when_registers_are_listed_then_their_names_and_meanings_are_told(self) -> None:
        result = run_datum("regs", "list")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^0x00000  ro   32  MAGIC  ")
        self.assertRegex(result.stdout, r"(?m)^0x1000c  ro   32  RING_STATE\[0-63\]  ")
        listed = json.loads(run_datum("regs", "list", "version", "--json").stdout)["registers"]
        self.assertEqual([field["name"] for field in listed[0]["fields"]], ["major", "minor"])

    def test_given_a_board_when_registers_are_read_then_fields_and_codes_are_told(self) -> None:
        result = run_datum("regs", "read", "MEMORY_BYTES", "VERSION.major", "RING_STATE[1]", "--board", "model:memory=16M")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^MEMORY_BYTES +0x0000000001000000\nVERSION\.major +1\nRING_STATE\[1\] .* DISABLED\n$")

    def test_given_boards_in_the_environment_when_none_is_named_then_the_first_is_meant(self) -> None:
        result = run_datum("regs", "read", "MEMORY_BYTES", "--json", DATUM_BOARDS="model:memory=16M,model:memory=32M")
        found = json.loads(result.stdout)
        self.assertEqual(found["board"], "model:memory=16M")
        self.assertEqual(found["registers"][0]["value"], "0x0000000001000000")

    def test_given_a_write_when_made_then_what_the_register_holds_is_shown(self) -> None:
        result = run_datum("regs", "write", "SCRATCH=0x1234", "CHANNEL_ENABLE=2", "-b", "model:memory=16M", "--json")
        values = {each["name"]: each["value"] for each in json.loads(result.stdout)["registers"]}
        self.assertEqual(values, {"SCRATCH": "0x0000000000001234", "CHANNEL_ENABLE": "0x00000002"})

    def test_given_a_write_that_cannot_be_when_asked_for_then_no_board_is_opened(self) -> None:
        result = run_datum("regs", "write", "SCRATCH=1", "MAGIC=1", "--board", "zzz:")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", "datum: MAGIC is only read\n"))

    def test_given_a_name_that_is_none_when_read_then_names_near_it_are_told(self) -> None:
        result = run_datum("regs", "read", "FAULTCOUNT", "--board", "model:")
        self.assertEqual(result.returncode, 2)
        self.assertIn("FAULT_COUNT", result.stderr)

    def test_given_a_watch_when_it_ends_by_itself_then_each_change_is_an_object_on_a_line(self) -> None:
        result = run_datum("regs", "watch", "CYCLES", "--count", "3", "--interval", "5", "--json", "--board", "model:")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual({line["name"] for line in lines}, {"CYCLES"})
        self.assertGreaterEqual(lines[-1]["ms"], lines[0]["ms"])

    def test_given_a_dump_when_made_then_it_has_every_register_and_all_has_every_instance(self) -> None:
        short = json.loads(run_datum("regs", "dump", "--json", "--board", "model:").stdout)["registers"]
        whole = json.loads(run_datum("regs", "dump", "--all", "--json", "--board", "model:").stdout)["registers"]
        self.assertGreater(len(whole), len(short) + 500)
        self.assertIn("PERF_WALKS", {each["name"] for each in short})

    def test_given_no_board_when_one_is_needed_then_the_sentence_says_how_to_name_one(self) -> None:
        result = run_datum("regs", "read", "MAGIC")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--board", result.stderr)


class ServedBoard(unittest.TestCase):
    """A board that lasts: datum-board, which the commands look at."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        socket = f"{self.folder.name}/board"
        self.look = f"vfio-user:{socket}.look"
        self.server = subprocess.Popen([DATUM, "board", "--board", "model:memory=32M,aperture=1M", "--socket", socket, "--look"],
                                       stdout=subprocess.PIPE, text=True)
        self.assertIn("listens at", self.server.stdout.readline())

    def tearDown(self) -> None:
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(timeout=20), 0)
        self.server.stdout.close()
        self.folder.cleanup()

    def on_board(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_datum(*arguments, "--board", self.look)

    def test_given_memory_when_written_then_a_later_command_reads_it(self) -> None:
        self.assertEqual(self.on_board("mem", "write", "20M", "48656c6c6f").returncode, 0)
        result = self.on_board("mem", "read", "0x1400000", "8")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "000001400000  48 65 6c 6c 6f 00 00 00" + " " * 27 + "|Hello...|\n")
        self.assertEqual(json.loads(self.on_board("mem", "read", "20M", "5", "--json").stdout)["data"], "48656c6c6f")

    def test_given_memory_when_filled_and_dumped_then_the_file_has_the_pattern(self) -> None:
        self.assertEqual(self.on_board("mem", "fill", "1000", "100001", "a55a01", "--ordinal", "0").returncode, 0)
        file = Path(self.folder.name) / "dump"
        self.assertEqual(self.on_board("mem", "dump", "1000", "100001", "-o", str(file)).returncode, 0)
        self.assertEqual(file.read_bytes(), (b"\xa5\x5a\x01" * 33334)[:100001])
        self.assertEqual(self.on_board("mem", "write", "2M", "--file", str(file)).returncode, 0)
        copy = subprocess.run([DATUM, "mem", "dump", "2M", "100001", "-o", "-", "--board", self.look], capture_output=True, check=True)
        self.assertEqual(copy.stdout, file.read_bytes())

    def test_given_addresses_that_are_none_when_read_then_the_sentence_has_the_limit(self) -> None:
        for arguments, words in ((("32M", "1"), "33554432"), (("zebra",), "not an address"), (("0", "--space", "1"), "no page table")):
            result = self.on_board("mem", "read", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(words, result.stderr)
        self.assertEqual(self.on_board("mem", "write", "0", "xyz").returncode, 2)

    def test_given_a_ring_that_failed_when_asked_then_the_fault_is_told_until_it_is_cleared(self) -> None:
        self.assertEqual(self.on_board("faults").stdout, "0 faults since the log was cleared\n")
        writes = ("RING_BASE[2]=0x10000000", "RING_COMPLETION[2]=0x10001000", "RING_CONTROL[2].enable=1", "RING_TAIL[2]=1")
        self.assertEqual(self.on_board("regs", "write", *writes).returncode, 0)
        self.on_board("regs", "watch", "RING_STATE[2]", "--count", "20", "--interval", "20")
        result = self.on_board("faults", "show")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("ring 2, descriptor 0: host memory failed at 0x10001000", result.stdout)
        faults = json.loads(self.on_board("faults", "--json").stdout)
        self.assertEqual((faults["count"], faults["first"]["status"], faults["stopped_rings"][0]["ring"]), (1, "HOST_BUS", 2))
        self.assertEqual(self.on_board("faults", "clear").stdout, "1 cleared\n")
        self.assertEqual(json.loads(self.on_board("faults", "--json").stdout)["count"], 0)

    def test_given_an_error_when_injected_then_a_scrub_finds_it_and_reading_is_told_until_cleared(self) -> None:
        self.assertEqual(self.on_board("ecc").stdout, "0 corrected, 0 lost\nscrubber at 0x0, at rest\n")
        # Beyond the fixed part of the aperture, which may be mapped past the memory controller.
        self.assertEqual(self.on_board("mem", "write", "0x1400008", "0123456789abcdef").returncode, 0)
        self.assertEqual(self.on_board("ecc", "inject", "0x1400008", "3").returncode, 0)
        self.assertEqual(json.loads(self.on_board("mem", "read", "0x1400008", "8", "--json").stdout)["data"], "0123456789abcdef")
        self.assertEqual(self.on_board("ecc", "inject", "0x1400008", "3", "70").stdout, "wrong now at 0x1400008: data bits 0x8, check bits 0x40\n")
        result = self.on_board("ecc", "scrub", "20M", "64K")
        self.assertEqual((result.returncode, result.stdout.splitlines()[:2]), (1, ["64 KiB scrubbed", "1 corrected, 1 lost"]), result.stderr)
        errors = json.loads(self.on_board("ecc", "show", "--json").stdout)
        self.assertEqual((errors["first_corrected"]["found_by"], errors["first_lost"]["found_by"]), ("read", "scrub"))
        self.assertEqual((errors["first_lost"]["address"], errors["scrub_position"]), ("0x1400008", "0x1410000"))
        self.assertEqual(self.on_board("ecc", "clear").returncode, 0)
        self.assertEqual(self.on_board("ecc").returncode, 0)
        for arguments in (("inject", "0x1400009", "1"), ("inject", "32M", "1"), ("scrub", "32M")):
            self.assertEqual(self.on_board("ecc", *arguments).returncode, 2, arguments)
        self.assertEqual(self.on_board("ecc", "inject", "0", "72").returncode, 64)

    def test_given_a_board_at_rest_when_counters_are_read_then_rates_and_totals_have_all_columns(self) -> None:
        result = self.on_board("perf", "--interval", "20", "--count", "2")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 3), result.stderr)
        rates = json.loads(self.on_board("perf", "--interval", "20", "--json").stdout)["rates"]
        self.assertEqual((rates["descriptors_per_s"], rates["busy_share"], rates["row_hit_rate"]), (0, 0, None))
        counters = json.loads(self.on_board("perf", "--total", "--json").stdout)["counters"]
        self.assertLessEqual({"dram_activates", "busy_ticks", "stalled_cycles"}, set(counters))


class Environment(unittest.TestCase):
    def test_given_a_shell_when_it_evaluates_the_environment_then_the_driver_is_last_and_boards_are_named(self) -> None:
        result = run_datum("env", "--board", "model:memory=16M", ZE_ENABLE_ALT_DRIVERS="/x y/libze_other.so,,")
        shell = subprocess.run(["sh", "-c", result.stdout + 'printf "%s|%s" "$ZE_ENABLE_ALT_DRIVERS" "$DATUM_BOARDS"'],
                               capture_output=True, text=True, check=True)
        self.assertRegex(shell.stdout, r"^/x y/libze_other\.so,/[^,|]*/libze_datum\.so\|model:memory=16M$")

    def test_given_json_when_asked_for_then_it_has_the_same(self) -> None:
        found = json.loads(run_datum("env", "--json").stdout)
        self.assertEqual(list(found), ["ZE_ENABLE_ALT_DRIVERS"])
        self.assertTrue(found["ZE_ENABLE_ALT_DRIVERS"].endswith("libze_datum.so"))


class Papers(unittest.TestCase):
    """Completion and manual page know every command and option that the program has."""

    def words(self, *before: str) -> list[str]:
        return run_datum("complete-words", "--", *before).stdout.split()

    def all_commands(self) -> list[list[str]]:
        return [[name] for name in COMMANDS] + [[group, each] for group in ("regs", "mem", "faults", "ecc") for each in self.words(group, "")]

    def test_given_bash_when_a_word_is_begun_then_the_file_completes_it(self) -> None:
        script = f"source {TOOL}/shell/datum.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _datum; echo ${{COMPREPLY[@]}}"
        for words, expected in ((("re",), "regs"), (("regs", "read", "PERF_W"), "PERF_WALKS"), (("regs", "write", "SCRA"), "SCRATCH="),
                                (("regs", "dump", "--a"), "--all"), (("perf", "--board", "mod"), "model:"), (("complete",), "")):
            result = subprocess.run(["bash", "-c", script, "bash", DATUM, *words], capture_output=True, text=True, check=True)
            self.assertEqual(result.stdout.strip(), expected, words)

    def test_given_the_program_when_its_commands_are_listed_then_these_are_all(self) -> None:
        self.assertEqual(sorted(self.words("")), sorted(COMMANDS))

    def test_given_each_command_when_the_manual_is_read_then_it_has_the_command_and_its_options(self) -> None:
        page = re.sub(r"\\f[BRI]|\\", "", (TOOL / "man/datum.1").read_text())
        for command in self.all_commands():
            section = next((line for line in page.splitlines() if re.match(rf'\.BR "?{" ".join(command)}\b', line)), None)
            self.assertIsNotNone(section, command)
            for option in self.words(*command, "-"):
                if option not in ("--help", "-h"):
                    self.assertIn(option, section, command)

    def test_given_each_command_when_help_is_asked_for_then_it_has_examples_and_the_option_for_json(self) -> None:
        for command in self.all_commands():
            result = run_datum(*command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), command)
            self.assertRegex(result.stdout, rf"(?m)^Examples:\n(  .*\n)*  .*\bdatum[ -]{' '.join(command)}( |$)", command)
            self.assertTrue(command in (["board"], ["regs"], ["mem"]) or "--json" in result.stdout, command)  # the latter two only lead on

    def test_given_a_number_that_is_none_or_too_large_when_named_then_it_and_its_limits_are_told(self) -> None:
        for words, limits in ((("cosim", "--programs", "0"), "1 to 1000000000"), (("ecc", "interval", "99999999999"), "0 to 4294967295"),
                              (("perf", "--count", "-1"), "0 to 1000000000"), (("regs", "watch", "CYCLES", "--count", "1e30"), "0 to 1000000000")):
            result = run_datum(*words)
            self.assertEqual((result.returncode, result.stdout), (64, ""), words)
            self.assertIn(f"{words[-1]} not in range {limits}", result.stderr)

    def test_given_json_when_a_command_does_no_more_than_print_or_start_then_it_is_obeyed_too(self) -> None:
        rules = run_datum("udev-rule", "--group", "fpga", "--json")
        self.assertEqual(json.loads(rules.stdout), {"group": "fpga", "rules": run_datum("udev-rule", "--group", "fpga").stdout})
        for words, status in ((("view", "/nonexistent.json", "--json"), 2), (("run", "--board", "model:", "--json", "--", "/nonexistent/program"), 127)):
            failed = run_datum(*words)
            self.assertEqual((failed.returncode, failed.stderr), (status, ""), words)
            self.assertIn("/nonexistent", json.loads(failed.stdout)["error"]["message"])


if __name__ == "__main__":
    DATUM = sys.argv.pop(1)
    unittest.main()
