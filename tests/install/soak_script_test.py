"""scripts/soak refuses what it does not know before it builds anything."""

import unittest

from script_sandbox import ScriptSandbox


class SoakScript(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = ScriptSandbox()
        self.addCleanup(self.sandbox.close)

    def refused(self, *arguments: str) -> str:
        result = self.sandbox.run("soak", *arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertFalse((self.sandbox.clone / "build").exists(), "something was built")
        return result.stderr

    def test_given_a_question_when_asked_for_help_then_the_usage_is_shown(self) -> None:
        result = self.sandbox.run("soak", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("usage: scripts/soak [MINUTES]", result.stdout)

    def test_given_no_number_of_minutes_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(self.refused("soon"), 'soak: MINUTES takes a number of at least 1, not "soon"; see --help\n')
        self.assertEqual(self.refused("0"), 'soak: MINUTES takes a number of at least 1, not "0"; see --help\n')

    def test_given_an_option_that_is_none_or_lacks_its_value_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(self.refused("--quietly"), 'soak: unknown argument "--quietly"; see --help\n')
        self.assertEqual(self.refused("--seed"), "soak: --seed needs a value; see --help\n")
        self.assertEqual(self.refused("--threads", "many"), 'soak: --threads takes a number of at least 1, not "many"; see --help\n')

    def test_given_a_build_that_is_none_when_run_then_it_is_refused(self) -> None:
        self.assertEqual(self.refused("--build", "debug"), 'soak: --build takes dev, release, asan or tsan, not "debug"\n')


if __name__ == "__main__":
    unittest.main()
