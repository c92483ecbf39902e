"""scripts/test refuses what it does not know before it installs or builds anything."""

import itertools
import unittest

from script_sandbox import ScriptSandbox


class TestArguments(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = ScriptSandbox()
        self.addCleanup(self.sandbox.close)

    def test_given_an_unknown_argument_when_run_then_it_is_refused(self) -> None:
        result = self.sandbox.run("test", "--fast")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, 'test: unknown argument "--fast"; see --help\n')
        self.assertFalse((self.sandbox.clone / ".cache").exists(), "the tests began to set up")

    def test_given_two_modes_when_run_then_neither_is_taken(self) -> None:
        for first, second in itertools.permutations(("--quick", "--ci", "--all"), 2):
            result = self.sandbox.run("test", first, second)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertEqual(result.stderr, f"test: one of {first} and {second}, not both; see --help\n")
        self.assertFalse((self.sandbox.clone / ".cache").exists(), "the tests began to set up")

    def test_given_a_question_when_asked_for_help_then_every_mode_is_named(self) -> None:
        result = self.sandbox.run("test", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for mode in ("--quick", "--ci", "--all"):
            self.assertIn(mode, result.stdout)

    def test_given_packages_that_cannot_be_had_when_run_then_nothing_is_built_and_the_status_tells(self) -> None:
        self.sandbox.tool("dpkg-query", "exit 1")
        self.sandbox.tool("sudo", "exit 1")
        result = self.sandbox.run("test", "--quick")
        self.assertEqual(result.returncode, 1)
        self.assertIn("these packages are missing: ", result.stderr)
        self.assertFalse((self.sandbox.clone / "build").exists())


if __name__ == "__main__":
    unittest.main()
