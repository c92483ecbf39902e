"""scripts/demo refuses what it cannot do with one line and status 2, before it installs or builds anything."""

import os
import re
import unittest

from script_sandbox import PROJECT, ScriptSandbox


class DemoArguments(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = ScriptSandbox()
        self.addCleanup(self.sandbox.close)

    def assert_refused(self, *arguments: str, sentence: str) -> None:
        result = self.sandbox.run("demo", *arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, f"demo: {sentence}\n")
        self.assertFalse((self.sandbox.clone / ".cache").exists(), "the demo began to set up")

    def test_given_a_missing_file_when_asked_for_then_it_is_refused(self) -> None:
        self.assert_refused("no such file", sentence='there is no file "no such file"')

    def test_given_a_folder_when_asked_for_then_it_is_refused(self) -> None:
        self.assert_refused("/usr", sentence='"/usr" is a folder, not a file')

    def test_given_an_empty_file_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("empty", b"")
        self.assert_refused("empty", sentence='"empty" is empty; there is nothing to copy')

    def test_given_a_file_without_permission_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("secret").chmod(0)
        self.assert_refused("secret", sentence='"secret" cannot be read: permission denied')

    def test_given_a_device_when_asked_for_then_it_is_refused(self) -> None:
        self.assert_refused("/dev/zero", sentence='"/dev/zero" is not an ordinary file')

    def test_given_a_pipe_when_asked_for_then_it_is_refused_and_nobody_waits(self) -> None:
        os.mkfifo(self.sandbox.root / "pipe")
        self.assert_refused("pipe", sentence='"pipe" is not an ordinary file')

    def test_given_an_empty_name_when_asked_for_then_it_is_refused(self) -> None:
        self.assert_refused("", sentence="FILE is an empty name")

    def test_given_two_files_when_asked_for_then_they_are_refused(self) -> None:
        self.assert_refused("a", "b", sentence='one FILE only, not "a" and "b"; see --help')

    def test_given_an_unknown_option_when_asked_for_then_it_is_refused(self) -> None:
        self.assert_refused("--fast", sentence='unknown option "--fast"; see --help')

    def test_given_an_option_without_its_value_when_asked_for_then_it_is_refused(self) -> None:
        self.assert_refused("--trace", sentence="--trace needs a value; see --help")
        self.assert_refused("--board", sentence="--board needs a value; see --help")

    def test_given_a_waveform_in_no_folder_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("data")
        self.assert_refused(
            "data", "--trace", "nowhere/out.fst", sentence='--trace: the folder of "nowhere/out.fst" does not exist'
        )

    def test_given_a_waveform_that_cannot_be_written_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("data")
        self.assert_refused("data", "--trace", "/proc/out.fst", sentence='--trace: "/proc/out.fst" cannot be written')

    def test_given_a_waveform_name_that_would_end_the_address_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("data")
        self.assert_refused(
            "data", "--trace", "a,b.fst", sentence='--trace: a comma in "a,b.fst" would end the board\'s address'
        )

    def test_given_a_board_of_no_kind_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("data")
        kinds = "it begins with rtl:, model:, vfio: or vfio-user:"
        for board in ("zzz:", "RTL:", ":", "0000:03:00.0"):
            self.assert_refused(
                "data", "--board", board, sentence=f'--board: "{board}" is no address of a board; {kinds}'
            )

    def test_given_a_board_that_cannot_be_when_asked_for_then_it_is_refused(self) -> None:
        self.sandbox.file("data")
        for size in ("3G", "8M", "128G", "16m", "", "G", "0x", "x", "99999999999G"):
            self.assert_refused(
                "data", "--board", f"model:memory={size}",
                sentence=f'--board: "memory={size}" cannot be: a board needs a power of two from 16M to 64G',
            )
        self.assert_refused("data", "--board", "rtl:speed=3", sentence='--board: a simulated board has no option "speed"; docs/simulation.md lists them')
        self.assert_refused("data", "--board", "rtl:step,seed=1,step", sentence='--board: the option "step" is named twice')
        for options in ("step,", ",", "step,,seed=1"):
            self.assert_refused("data", "--board", f"rtl:{options}", sentence=f'--board: there is a comma too many in "{options}"')

    def test_given_a_board_that_can_be_when_asked_for_then_the_set_up_begins(self) -> None:
        self.sandbox.file("data")
        self.sandbox.tool("dpkg-query", "exit 1")
        self.sandbox.tool("sudo", "exit 1")
        # Tables of options have four columns.
        options = re.findall(r"^\| `(\w+)(?:=[^`]*)?`.*\|.*\|.*\|.*\|$", (PROJECT / "docs/simulation.md").read_text(), re.MULTILINE)
        self.assertLess({"locked", "design"}, set(options))
        for board in ("model", "rtl:", "rtl:memory=0x1000000", "model:memory=64G", f"rtl:{','.join(sorted(set(options) - {'memory'}))}"):
            result = self.sandbox.run("demo", "data", "--board", board)
            self.assertEqual(result.returncode, 1, f"{board}: {result.stderr}")
            self.assertIn("these packages are missing: ", result.stderr)

    def test_given_a_question_when_asked_for_help_then_every_option_is_named(self) -> None:
        result = self.sandbox.run("demo", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for option in ("FILE", "--trace", "--board", "--help"):
            self.assertIn(option, result.stdout)


if __name__ == "__main__":
    unittest.main()
