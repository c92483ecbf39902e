"""scripts/workspace.sh: a clone in an awkward place is built elsewhere, under a name that build tools can digest."""

import subprocess
import unittest
from pathlib import Path

from script_sandbox import ScriptSandbox, ordinary_user

PRINT = 'set -eu; . scripts/workspace.sh; datum_enter_workspace "$PWD"; printf "%s\\n" "$datum_source" "$datum_build" "$DATUM_CACHE"'


class Workspace(unittest.TestCase):
    def enter(self, sandbox: ScriptSandbox, **environment: str) -> tuple[list[Path], str]:
        result = subprocess.run(
            ["bash", "-c", PRINT], cwd=sandbox.clone, env=sandbox.environment | environment, user=ordinary_user(),
            capture_output=True, text=True, check=True,
        )
        return [Path(line) for line in result.stdout.splitlines()], result.stderr

    def sandbox(self, name: str) -> ScriptSandbox:
        sandbox = ScriptSandbox(name)
        self.addCleanup(sandbox.close)
        return sandbox

    def test_given_a_plain_path_when_entered_then_everything_lies_in_the_clone(self) -> None:
        sandbox = self.sandbox("datum")
        (source, build, cache), remark = self.enter(sandbox)
        self.assertEqual((source, build, cache), (sandbox.clone, sandbox.clone / "build", sandbox.clone / ".cache"))
        self.assertEqual(remark, "")

    def test_given_a_path_with_blanks_when_entered_then_a_link_without_stands_for_it(self) -> None:
        sandbox = self.sandbox("my clone, of Datum")
        (source, build, cache), remark = self.enter(sandbox)
        self.assertEqual(source.resolve(), sandbox.clone.resolve())
        for path in (source, build, cache):
            self.assertTrue(path.is_relative_to(sandbox.home / ".cache/datum"))
            self.assertNotRegex(str(path), r"[ ,]")
        self.assertIn(f'The path "{sandbox.clone}" would confuse the build tools; building in ', remark)

    def test_given_two_awkward_clones_when_entered_then_they_do_not_share_a_build(self) -> None:
        sandbox, other = self.sandbox("a b"), self.sandbox("c d")
        first, _ = self.enter(sandbox)
        second, _ = self.enter(other, HOME=str(sandbox.home))
        self.assertNotEqual(first[1], second[1])

    def test_given_a_cache_of_the_users_choice_when_entered_then_it_is_taken(self) -> None:
        sandbox = self.sandbox("datum")
        chosen = sandbox.root / "chosen"
        (_, _, cache), _ = self.enter(sandbox, DATUM_CACHE=str(chosen))
        self.assertEqual(cache, chosen)
        self.assertTrue(chosen.is_dir())


if __name__ == "__main__":
    unittest.main()
