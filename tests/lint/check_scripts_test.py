"""scripts/check_scripts finds scripts that do not parse."""

import unittest

from project_copy import ProjectCopy


class CheckScripts(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy("scripts/check_scripts")
        self.addCleanup(self.tree.__exit__)

    def check(self) -> tuple[int, str]:
        self.tree.track()
        result = self.tree.run("scripts/check_scripts")
        return result.returncode, result.stdout + result.stderr

    def test_given_sound_scripts_when_checked_then_they_pass(self) -> None:
        self.tree.write("scripts/run", "#!/usr/bin/env bash\necho run\n")
        self.tree.write("tools/gen.py", "print(1)\n")
        status, output = self.check()
        self.assertEqual(status, 0, output)
        self.assertIn("2 shell and 1 Python scripts are sound", output)

    def test_given_an_unfinished_shell_script_when_checked_then_it_is_named(self) -> None:
        self.tree.write("scripts/run", "#!/usr/bin/env bash\nif true; then\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("scripts/run: line ", output)

    def test_given_an_unsound_python_script_without_suffix_when_checked_then_it_is_named(self) -> None:
        self.tree.write("tools/gen", "#!/usr/bin/env python3\ndef f(:\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("tools/gen: ", output)


if __name__ == "__main__":
    unittest.main()
