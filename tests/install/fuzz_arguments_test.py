"""scripts/fuzz refuses what it does not know before it builds anything, and names what it knows."""

import unittest
from pathlib import Path

from script_sandbox import ScriptSandbox

PROJECT = Path(__file__).resolve().parents[2]


class FuzzArguments(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = ScriptSandbox()
        self.addCleanup(self.sandbox.close)

    def refused(self, *arguments: str) -> str:
        result = self.sandbox.run("fuzz", *arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertFalse((self.sandbox.clone / "build").exists(), "something was built")
        return result.stderr

    def test_given_a_question_when_asked_for_help_then_every_fuzzer_of_the_tree_is_named(self) -> None:
        result = self.sandbox.run("fuzz", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        fuzzers = {file.name.removesuffix("_fuzz.cpp") for file in (PROJECT / "tests/fuzz").glob("*_fuzz.cpp")}
        fuzzers |= {file.name.removesuffix("_fuzz.py") for file in (PROJECT / "tests/fuzz").glob("*_fuzz.py")}
        named = {line.strip() for line in result.stdout.splitlines() if line.startswith("  ")}
        self.assertEqual(fuzzers, fuzzers & named)

    def test_given_no_name_when_run_then_the_usage_is_shown(self) -> None:
        self.assertIn("usage: scripts/fuzz NAME", self.refused())

    def test_given_an_unknown_name_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(self.refused("everything"), 'fuzz: there is no fuzzer "everything"; see --help for their names\n')

    def test_given_neither_seconds_nor_a_file_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(self.refused("api", "soon"), 'fuzz: "soon" is neither a number of seconds nor a file; see --help\n')
        self.assertEqual(self.refused("api", "0"), "fuzz: 0 seconds are no run\n")

    def test_given_a_file_for_all_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(self.refused("all", __file__), 'fuzz: a file is for one fuzzer; name it instead of "all"\n')


if __name__ == "__main__":
    unittest.main()
