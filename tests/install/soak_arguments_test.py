"""scripts/soak-rtl goes on where it ended, tells a failure by its seed, and refuses what it does not know."""

import unittest

from script_sandbox import ScriptSandbox

PARITY = """echo "$DATUM_BOARDS $*" >>"$HOME/calls"
for word; do [[ $before != --seed ]] || seed=$word; before=$word; done
if [[ -f $HOME/bad && $seed == "$(cat "$HOME/bad")" ]]; then echo "datum_parity: program $seed failed"; exit 1; fi"""


class SoakArguments(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = ScriptSandbox()
        self.addCleanup(self.sandbox.close)
        program = self.sandbox.root / "built/bin/datum_parity"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/bash\n{PARITY}\n")
        program.chmod(0o755)
        self.sandbox.give_to_ordinary_user()

    def soak(self, *arguments: str) -> tuple[int, str, str]:
        result = self.sandbox.run("soak-rtl", "--build", str(self.sandbox.root / "built"), *arguments, DATUM_CACHE=str(self.sandbox.home / "cache"))
        return result.returncode, result.stdout, result.stderr

    def calls(self) -> list[str]:
        return (self.sandbox.home / "calls").read_text().splitlines()

    def test_given_programs_that_agree_when_run_then_each_is_run_once_on_boards_by_turns(self) -> None:
        status, output, _ = self.soak("--programs", "250", "--seed", "7")
        self.assertEqual(status, 0)
        self.assertIn("all 250 programs from seed 7 agree byte for byte", output)
        self.assertEqual([call.split(" ", 1)[1] for call in self.calls()],
                         ["--seed 7 --programs 100", "--seed 107 --programs 100", "--seed 207 --programs 50"])
        self.assertEqual(len({call.split(" ", 1)[0].split("seed=")[0] for call in self.calls()}), 3)

    def test_given_a_failure_when_run_then_the_seed_is_told_and_the_next_run_begins_with_it(self) -> None:
        (self.sandbox.home / "bad").write_text("101")
        status, _, errors = self.soak("--programs", "200")
        self.assertEqual(status, 1)
        self.assertIn("datum_parity: program 101 failed", errors)
        self.assertIn("FAILED among the 100 programs from seed 101, after 100 that agreed", errors)
        (self.sandbox.home / "bad").unlink()
        status, output, _ = self.soak("--programs", "200")
        self.assertEqual(status, 0)
        self.assertIn("goes on after 100 programs", output)
        self.assertEqual(len(self.calls()), 3)

    def test_given_a_run_that_ended_when_asked_again_then_it_begins_anew(self) -> None:
        self.soak("--programs", "100")
        self.soak("--programs", "200", "--again")
        self.assertEqual(len(self.calls()), 3)

    def test_given_nonsense_when_run_then_it_is_refused_in_a_sentence(self) -> None:
        for arguments, sentence in (("--programs", "many"), '--programs needs a number, not "many"'), (("--programs", "0"), "0 programs are no run"), \
                (("--loud",), 'unknown argument "--loud"'):
            self.assertEqual(self.soak(*arguments), (2, "", f"soak-rtl: {sentence}; see --help\n"))


if __name__ == "__main__":
    unittest.main()
