"""scripts/check_documents.py finds links that lead nowhere and documents that nobody finds."""

import sys
import unittest

from project_copy import PROJECT, ProjectCopy


class CheckDocuments(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy()
        self.addCleanup(self.tree.__exit__)
        self.tree.write("README.md", "[one](docs/one.md)\n")

    def check(self, document: str) -> tuple[int, str]:
        self.tree.write("docs/one.md", document)
        result = self.tree.run(sys.executable, str(PROJECT / "scripts/check_documents.py"), str(self.tree.root))
        return result.returncode, result.stderr

    def test_given_links_that_lead_somewhere_when_checked_then_all_is_well(self) -> None:
        self.assertEqual(self.check("# A `b`: c, d\n[up](../README.md) [here](#a-b-c-d) [out](https://example.org/x)\n"), (0, ""))

    def test_given_a_file_that_is_not_there_when_checked_then_the_line_is_told(self) -> None:
        self.assertEqual(self.check("text\n[gone](two.md)\n"), (1, "docs/one.md:2: there is no two.md\n"))

    def test_given_a_heading_that_is_not_there_when_checked_then_it_is_told(self) -> None:
        self.assertEqual(self.check("# One\n[two](#two)\n"), (1, "docs/one.md:2: one.md has no heading #two\n"))

    def test_given_brackets_in_code_when_checked_then_they_are_no_links(self) -> None:
        self.assertEqual(self.check("`a[0](b)`\n```\n[x](y.md)\n# no heading\n```\n"), (0, ""))

    def test_given_a_document_that_nobody_names_when_checked_then_it_is_told(self) -> None:
        self.tree.write("docs/two.md", "# Two\n")
        self.assertEqual(self.check("# One\n"), (1, "docs/two.md: no document leads to it from README.md\n"))

    def test_given_the_project_when_checked_then_every_link_leads_somewhere(self) -> None:
        result = self.tree.run(sys.executable, str(PROJECT / "scripts/check_documents.py"), str(PROJECT))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
