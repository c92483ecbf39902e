"""The program `datum`, run as a user runs it: output, JSON and exit status of each command.

usage: datum_program_test.py DATUM DRIVER
"""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DATUM = DRIVER = ""


class DatumProgram(unittest.TestCase):
    def run_datum(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        ours = ("DATUM_BOARDS", "DATUM_LOG", "DATUM_SIM_PLUGIN", "ZE_ENABLE_ALT_DRIVERS")
        variables = {name: value for name, value in os.environ.items() if name not in ours} | changes
        return subprocess.run([DATUM, *arguments], env=variables, capture_output=True, text=True, check=False)

    def checks_of(self, result: subprocess.CompletedProcess[str]) -> dict[int, dict]:
        return {check["number"]: check for check in json.loads(result.stdout)["checks"]}

    def test_given_a_board_when_listed_then_it_has_one_line(self) -> None:
        result = self.run_datum("list", "model:memory=16M")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^0  da70:00:00\.0 .* Datum golden model\n$")

    def test_given_boards_in_the_environment_when_listed_then_each_is_in_the_json(self) -> None:
        result = self.run_datum("list", "--json", DATUM_BOARDS="model:memory=16M,model:memory=32M")
        self.assertEqual(result.returncode, 0, result.stderr)
        devices = json.loads(result.stdout)["devices"]
        self.assertEqual([device["number"] for device in devices], [0, 1])
        self.assertEqual([device["memories"][0]["bytes"] for device in devices], [16 << 20, 32 << 20])

    def test_given_an_address_when_named_then_it_takes_the_place_of_the_environment(self) -> None:
        result = self.run_datum("list", "model:memory=16M", "--json", DATUM_BOARDS="zzz:")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(json.loads(result.stdout)["devices"]), 1)

    def test_given_a_board_when_info_is_asked_for_then_memory_queues_and_extensions_are_told(self) -> None:
        result = self.run_datum("info", "model:memory=16M")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for words in ("DRAM, 16 MiB", "1234:da70", "queue group", "ZEX_datum_board_clock"):
            self.assertIn(words, result.stdout)

    def test_given_no_board_when_listed_then_the_driver_says_why_and_the_status_is_2(self) -> None:
        result = self.run_datum("list", "zzz:")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("unknown scheme 'zzz'", result.stderr)
        self.assertIn("datum doctor", result.stderr)
        self.assertIn("error", json.loads(self.run_datum("list", "zzz:", "--json").stdout))

    def test_given_a_simulated_board_when_examined_then_all_is_well(self) -> None:
        result = self.run_datum("doctor", "model:", "--json", ZE_ENABLE_ALT_DRIVERS=DRIVER)
        checks = self.checks_of(result)
        self.assertEqual((result.returncode, sorted(checks)), (0, list(range(1, 13))), result.stdout)
        self.assertEqual({number for number, check in checks.items() if check["outcome"] == "ok"}, {8, 9, 10, 11, 12})

    def test_given_no_list_of_drivers_when_examined_then_the_cure_is_the_line_for_the_shell(self) -> None:
        result = self.run_datum("doctor", "model:", "--json")
        self.assertEqual(result.returncode, 2)
        named = Path(DRIVER).resolve().parent / "libze_datum.so"  # the name that no later version changes
        cure = self.checks_of(result)[9]["cure"]
        self.assertRegex(cure, rf"^export ZE_ENABLE_ALT_DRIVERS=(\S+,)?{re.escape(str(named))}$")
        self.assertEqual(cure, self.run_datum("env").stdout.splitlines()[0])

    def test_given_a_driver_of_somebody_else_in_the_list_when_examined_then_the_cure_keeps_it(self) -> None:
        result = self.run_datum("doctor", "model:", "--json", ZE_ENABLE_ALT_DRIVERS="/nonexistent/libze_other.so")
        self.assertEqual(result.returncode, 2)
        self.assertIn("=/nonexistent/libze_other.so,/", self.checks_of(result)[9]["cure"])

    def test_given_an_empty_entry_when_examined_then_it_is_told_and_no_loader_is_crashed(self) -> None:
        for drivers in ("", f"{DRIVER},"):
            result = self.run_datum("doctor", "model:", "--json", ZE_ENABLE_ALT_DRIVERS=drivers)
            self.assertEqual(result.returncode, 2)
            self.assertIn("empty entry", self.checks_of(result)[9]["finding"])
            self.assertEqual(self.run_datum("list", "model:", ZE_ENABLE_ALT_DRIVERS=drivers).returncode, 2)

    def test_given_a_board_that_does_not_open_when_examined_then_the_driver_is_found_and_its_word_is_told(self) -> None:
        result = self.run_datum("doctor", "model:memory=3M", "--json", ZE_ENABLE_ALT_DRIVERS=DRIVER)
        checks = self.checks_of(result)
        self.assertEqual((result.returncode, checks[9]["outcome"], checks[10]["outcome"]), (2, "ok", "failed"))
        self.assertIn("memory=3M", checks[10]["finding"])
        self.assertIn("in place of 'model:memory=3M' name a board that there is", checks[10]["cure"])

    def test_given_a_plugin_that_is_missing_when_examined_then_only_simulated_boards_mind(self) -> None:
        for board, outcome in (("model:", "failed"), ("vfio:0000:03:00.0", "skipped")):
            result = self.run_datum("doctor", board, "--json", DATUM_SIM_PLUGIN="/nonexistent/plugin.so")
            check = self.checks_of(result)[11]
            self.assertEqual(check["outcome"], outcome)
            self.assertIn("/nonexistent/plugin.so", check["finding"])

    def test_given_no_such_card_when_its_binding_is_asked_for_then_the_status_is_2(self) -> None:
        for command in (("status",), ("bind",), ("bind", "--dry-run"), ("unbind", "--dry-run")):
            result = self.run_datum(*command, "ffff:ff:1f.7", "--json")
            self.assertEqual(result.returncode, 2, command)
            self.assertIn("there is no PCI device ffff:ff:1f.7", json.loads(result.stdout)["error"]["message"])

    def test_given_no_address_when_status_is_asked_for_then_cards_are_a_list(self) -> None:
        result = self.run_datum("status", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIsInstance(json.loads(result.stdout)["cards"], list)

    def test_given_an_address_that_is_none_when_bound_then_the_status_is_64(self) -> None:
        for address in ("zebra", "03:00.0", "../../../etc"):
            self.assertEqual(self.run_datum("bind", address, "--dry-run").returncode, 64)

    def test_given_a_group_when_udev_rules_are_asked_for_then_they_are_those_of_the_document(self) -> None:
        result = self.run_datum("udev-rule")
        self.assertEqual(result.returncode, 0)
        self.assertIn(result.stdout, (PROJECT / "docs/vfio-setup.md").read_text())
        self.assertEqual(self.run_datum("udev-rule", "--group", "fpga").stdout, result.stdout.replace("datum", "fpga"))

    def test_given_no_terminal_when_examined_then_nothing_is_coloured(self) -> None:
        result = self.run_datum("doctor", "model:", ZE_ENABLE_ALT_DRIVERS=DRIVER)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertNotIn("\x1b", result.stdout)

    def test_given_help_when_asked_for_then_examples_and_exit_statuses_are_told(self) -> None:
        result = self.run_datum("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for words in ("Examples:", "Exit status:", "doctor", "list", "info"):
            self.assertIn(words, result.stdout)

    def test_given_a_command_line_that_means_nothing_when_run_then_the_status_is_64(self) -> None:
        for arguments in ((), ("bogus",), ("list", "--bogus"), ("info", "model:", "rtl:")):
            result = self.run_datum(*arguments)
            self.assertEqual((result.returncode, result.stdout), (64, ""), arguments)
            self.assertTrue(result.stderr)

    def test_given_a_command_that_is_none_when_run_then_it_is_named_with_the_nearest_and_all_others(self) -> None:
        for word, near in (("docter", "did you mean 'doctor'?"), ("lst", "did you mean 'list'?"), ("bogus", "'bogus'; the commands are doctor, list")):
            result = self.run_datum(word)
            self.assertEqual((result.returncode, result.stdout), (64, ""))
            self.assertIn(f"datum: 'datum' has no command '{word}'", result.stderr)
            self.assertIn(near, result.stderr)
            self.assertIn("udev-rule", result.stderr)
            self.assertNotIn("complete-words", result.stderr)
        self.assertIn("'datum regs' has no command 'raed', did you mean 'read'?; the commands are list, read", self.run_datum("regs", "raed").stderr)

    def test_given_the_version_when_asked_for_then_it_is_that_of_the_project(self) -> None:
        version = re.search(r"^project\(.*?VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE | re.DOTALL)
        result = self.run_datum("--version")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, f"datum {version[1]}\n", ""))

    def test_given_boards_that_are_none_when_the_environment_is_asked_for_then_it_is_refused(self) -> None:
        for boards, words in (("bogus:", "unknown scheme 'bogus'"), ("model:,zzz:", "unknown scheme 'zzz'"), ("model:,", "has an empty entry")):
            result = self.run_datum("env", "--board", boards)
            self.assertEqual((result.returncode, result.stdout), (2, ""), boards)
            self.assertIn(words, result.stderr)
        self.assertEqual(self.run_datum("env", "--board", "model:seed=3,rtl:").stdout.splitlines()[1], "export DATUM_BOARDS=model:seed=3,rtl:")

    def test_given_an_address_with_a_mistake_when_listed_then_it_is_told_what_was_meant(self) -> None:
        for address, words in (("model:memory=16m", "memory=16M"), ("model:memory=16M,memory=32M", "named twice"), ("model:memory=16M,,step", "has an empty entry")):
            result = self.run_datum("list", address)
            self.assertEqual((result.returncode, result.stdout), (2, ""), address)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    DATUM, DRIVER = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
