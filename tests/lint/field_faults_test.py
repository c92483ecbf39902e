"""docs/field-faults.md names tests that exist, and every test of tests/field; docs/security.md names tests that exist."""

import subprocess
import sys
import unittest
from pathlib import Path

from project_copy import PROJECT, ProjectCopy

TABLE = "docs/field-faults.md"
SECURITY = "docs/security.md"
PARTS = (TABLE, SECURITY, "tests")


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(PROJECT / "scripts/check_field_faults.py"), str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class FieldFaults(unittest.TestCase):
    def refused(self, before: str, after: str, page: str = TABLE) -> str:
        """What is said when the page has `after` in the place of `before`."""
        with ProjectCopy(*PARTS) as project:
            table = project.root / page
            text = table.read_text()
            self.assertIn(before, text)
            table.write_text(text.replace(before, after))
            result = check(project.root)
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr

    def test_given_the_project_as_it_is_when_checked_then_every_test_is_there(self) -> None:
        result = check(PROJECT)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_given_a_test_that_is_gone_when_checked_then_row_and_test_are_named(self) -> None:
        said = self.refused("`MemoryFree.given_a_null_pointer", "`MemoryFree.given_a_zero_pointer")
        self.assertIn("FR-01: there is no test MemoryFree.given_a_zero_pointer", said)

    def test_given_a_row_without_a_test_when_it_does_not_say_what_is_missing_then_it_is_named(self) -> None:
        row = next(line for line in (PROJECT / TABLE).read_text().splitlines() if line.startswith("| FR-01 |"))
        bare = "|".join(row.split("|")[:3]) + "|  | model |  |"
        self.assertIn("FR-01: has no test and does not say what is missing", self.refused(row, bare))

    def test_given_a_number_twice_when_checked_then_it_is_named(self) -> None:
        self.assertIn("AL-01: has two rows", self.refused("| AL-02 |", "| AL-01 |"))

    def test_given_a_test_that_the_threat_model_names_when_it_is_gone_then_it_is_named(self) -> None:
        said = self.refused("`IpcHandles.given_forged_handles", "`IpcHandles.given_borrowed_handles", SECURITY)
        self.assertIn("docs/security.md: there is no test IpcHandles.given_borrowed_handles", said)


if __name__ == "__main__":
    unittest.main()
