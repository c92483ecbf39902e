"""`scripts/site` renders the documents: every page, every link, a search."""

import html.parser
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SITE = PROJECT / "scripts/site"


class Page(html.parser.HTMLParser):
    """Where a page leads, and what it can be entered at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id") or "")
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def render(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SITE), *arguments], capture_output=True, text=True, check=False)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name) / "site"
        cls.rendered = render(str(cls.root))

    def test_given_the_documents_when_rendered_then_each_has_a_page(self) -> None:
        self.assertEqual(self.rendered.returncode, 0, self.rendered.stderr)
        documents = {path.stem for path in (PROJECT / "docs").glob("*.md")} | {"index", "CONTRIBUTING", "CHANGELOG"}
        self.assertEqual({path.stem for path in self.root.glob("*.html")} - {"404"}, documents)
        self.assertEqual(self.rendered.stdout, f"{len(documents)} pages in {self.root}/index.html\n")

    def test_given_the_pages_when_read_then_every_link_leads_to_a_page_and_a_heading(self) -> None:
        pages = {path.name: Page(path) for path in self.root.glob("*.html")}
        self.assertGreater(sum(len(page.links) for page in pages.values()), 1000)
        for name, page in pages.items():
            if name == "404.html":
                continue
            for link in page.links:
                target, _, anchor = link.partition("#")
                if "://" in link or (target and not target.endswith(".html")):
                    continue
                self.assertIn(target or name, pages, f"{name}: {link}")
                self.assertTrue(not anchor or anchor in pages[target or name].anchors, f"{name}: {link}")

    def test_given_a_word_of_one_page_when_searched_for_then_the_index_leads_there(self) -> None:
        entries = json.loads((self.root / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
        found = {entry["location"].partition("#")[0] for entry in entries if "udev-rule" in entry["text"]}
        self.assertIn("vfio-setup.html", found)

    def test_given_a_folder_with_something_else_when_rendered_into_then_it_is_left_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            precious = Path(folder) / "precious"
            precious.write_text("mine", encoding="utf-8")
            result = render(folder)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("holds something that is no site", result.stderr)
            self.assertEqual(precious.read_text(encoding="utf-8"), "mine")

    def test_given_arguments_that_are_none_when_run_then_they_are_refused(self) -> None:
        self.assertEqual(render("--fast").returncode, 2)
        self.assertEqual(render("a", "b").returncode, 2)


if __name__ == "__main__":
    unittest.main()
