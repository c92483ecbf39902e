"""docs/testing.md states the budgets that the scripts use."""

import re
import sys
import unittest

from project_copy import PROJECT

sys.path.insert(0, str(PROJECT / "scripts"))
from stage_table import MODE_STAGES, TEST_BUDGETS  # noqa: E402


def documented_budgets() -> dict[str, int]:
    text = (PROJECT / "docs/testing.md").read_text()
    return {name: int(seconds) for name, seconds in re.findall(r"^\| `([a-z-]+)` \|.*\| (\d+) \|$", text, re.MULTILINE)}


def scripted_budgets() -> dict[str, int]:
    text = (PROJECT / "scripts/test").read_text()
    table = re.search(r"declare -A budget=\((.*?)\n\)", text, re.DOTALL)[1]
    return {name: int(seconds) for name, seconds in re.findall(r"\[([a-z-]+)\]=(\d+)", table)}


class TestingDocument(unittest.TestCase):
    def test_given_the_scripts_when_compared_then_the_document_has_every_stage_with_its_budget(self) -> None:
        self.assertEqual(documented_budgets(), scripted_budgets() | TEST_BUDGETS)

    def test_given_the_stages_of_the_gate_when_added_then_they_take_less_than_forty_minutes(self) -> None:
        scripted = scripted_budgets()
        one_of = {name: scripted[f"build-{name}"] + TEST_BUDGETS[name] for name in ("asan", "tsan", "fuzz")}
        builds = [scripted[name] for name in ("set-up", "checks", "build")]
        tests = [TEST_BUDGETS[name] for name in MODE_STAGES["ci"] if name not in one_of]
        self.assertLess(sum(builds) + sum(tests) + max(one_of.values()), 40 * 60)


if __name__ == "__main__":
    unittest.main()
