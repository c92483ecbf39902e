"""The figures of `datum-bench rtl` are cycles, so they are exact enough to be tested: each has its form and meets its goal.

usage: bench_figures_test.py DATUM-BENCH
"""

import json
import subprocess
import sys
import unittest

BENCH = ""
# What does not meet its goal yet, with what it does meet. Whoever reaches the goal takes the line out.
BELOW_THE_GOAL = {"board_copy_4k_pages": 86.5, "board_random_64b_mixed": 42.0}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, check=False)


class BenchFigures(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        result = run("rtl", "--json")
        assert result.returncode == 0, result.stderr
        cls.figures = json.loads(result.stdout)

    def test_given_the_figures_when_read_then_each_has_the_one_form(self) -> None:
        for figure in self.figures:
            with self.subTest(figure=figure["name"]):
                self.assertLessEqual({"name", "value", "unit", "goal", "better", "noisy"}, figure.keys())
                self.assertIsInstance(figure["value"], float)
                self.assertIn(figure["better"], ("lower", "higher"))
        names = [figure["name"] for figure in self.figures]
        self.assertEqual(len(names), len(set(names)))

    def test_given_engine_and_whole_board_when_measured_then_goals_are_met_but_for_those_that_are_told(self) -> None:
        for prefix in ("engine_", "board_"):
            self.assertTrue([figure for figure in self.figures if figure["name"].startswith(prefix)], prefix)
        for figure in self.figures:
            with self.subTest(figure=figure):
                self.assertIsNotNone(figure["goal"])
                better = figure["value"] - figure["goal"]
                met = (better if figure["better"] == "higher" else -better) >= 0
                if least := BELOW_THE_GOAL.get(figure["name"]):
                    self.assertGreaterEqual(figure["value"], least)
                    self.assertFalse(met, "this figure meets its goal now: take it out of BELOW_THE_GOAL")
                else:
                    self.assertTrue(met)

    def test_given_an_unknown_group_when_asked_for_then_the_groups_are_named_and_nothing_is_printed(self) -> None:
        result = run("nonsense", "--json")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        for group in ("memory", "commands", "rtl", "sim"):
            self.assertIn(group, result.stderr)


if __name__ == "__main__":
    BENCH = sys.argv.pop(1)
    unittest.main()
