"""scripts/check_generated notices a generated file that was edited, and a description that was changed."""

import os
import unittest

from project_copy import PROJECT, ProjectCopy

# The copy has no cache of its own; it reads the headers of the project.
if (PROJECT / ".cache/loader").is_dir():
    os.environ.setdefault("DATUM_LOADER_ROOT", str(PROJECT / ".cache/loader"))

# What the generators read and write.
PARTS = ("rtl_model/regs", "rtl_model/rtl", "include", "docs", "python", "driver", "vfio_backend", "sim", "tools/api", "tests/loader", "tests/conformance")


class CheckGenerated(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy("scripts/check_generated", *(part for part in PARTS if (PROJECT / part).exists()))
        self.addCleanup(self.tree.__exit__)

    def check(self) -> int:
        return self.tree.run("scripts/check_generated").returncode

    def edit(self, path: str) -> None:
        file = self.tree.root / path
        file.write_text(file.read_text() + "\n// edited by hand\n")

    def test_given_the_project_as_it_is_when_checked_then_everything_is_fresh(self) -> None:
        self.assertEqual(self.check(), 0)

    def test_given_an_edited_register_page_when_checked_then_it_is_stale(self) -> None:
        self.edit("docs/registers.md")
        self.assertEqual(self.check(), 1)

    def test_given_an_edited_api_table_when_checked_then_it_is_stale(self) -> None:
        self.edit("docs/api-support.md")
        self.assertEqual(self.check(), 1)

    def test_given_a_missing_generator_when_checked_then_that_is_a_failure(self) -> None:
        (self.tree.root / "rtl_model/regs/generate.py").unlink()
        self.assertEqual(self.check(), 1)


if __name__ == "__main__":
    unittest.main()
