"""tools/api/generate_tables.py refuses a list of functions that contradicts itself or the headers.

usage: generate_tables_test.py FOLDER    (the include folder that holds level_zero/)
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HEADERS = Path("/usr/include")

FIRST_LINE = 'zeInit = { since = "1.0", built = true }'
SECOND_LINE = 'zeInitDrivers = { since = "1.10", built = true }'


class GenerateTables(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(PROJECT / "tools/api", self.root / "tools/api", ignore=shutil.ignore_patterns("__pycache__"))
        self.list = self.root / "driver/api/functions.toml"
        self.list.parent.mkdir(parents=True)
        shutil.copy2(PROJECT / "driver/api/functions.toml", self.list)

    def generate(self, *options: str, headers: Path | None = None) -> subprocess.CompletedProcess[str]:
        script = self.root / "tools/api/generate_tables.py"
        command = [sys.executable, "-B", str(script), "--headers", str(headers or HEADERS), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def replace(self, old: str, new: str) -> None:
        text = self.list.read_text()
        self.assertEqual(text.count(old), 1, f"'{old}' is not in the list once")
        self.list.write_text(text.replace(old, new))

    def expect_refusal(self, sentence: str) -> None:
        done = self.generate()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse((self.root / "docs").exists(), "something was written")

    def test_given_the_list_as_it_is_when_generated_then_the_files_are_those_of_the_project(self) -> None:
        self.assertEqual(self.generate().returncode, 0)
        written = [file.relative_to(self.root) for file in self.root.rglob("*") if file.suffix in (".hpp", ".inc", ".map", ".md")]
        self.assertEqual(len(written), 5)
        for file in written + [Path("driver/api/tables/core_tables.cpp")]:
            self.assertEqual((self.root / file).read_text(), (PROJECT / file).read_text(), file)

    def test_given_generated_files_when_checked_then_only_a_change_is_reported(self) -> None:
        self.assertEqual(self.generate("--check").returncode, 1)
        self.assertEqual(self.generate().returncode, 0)
        self.assertEqual(self.generate("--check").returncode, 0)
        self.replace(SECOND_LINE, SECOND_LINE.replace("true", "false"))
        done = self.generate("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/api-support.md is out of date", done.stderr)

    def test_given_a_function_is_no_longer_built_when_generated_then_its_declaration_is_gone_and_its_entry_is_not(self) -> None:
        self.replace(SECOND_LINE, SECOND_LINE.replace("true", "false"))
        self.assertEqual(self.generate().returncode, 0)
        self.assertNotIn("zeInitDrivers", (self.root / "driver/api/tables/entry_points.hpp").read_text())
        tables = (self.root / "driver/api/tables/core_tables.cpp").read_text()
        self.assertIn('.pfnInitDrivers = unsupported<ze_pfnInitDrivers_t, "zeInitDrivers">', tables)

    def test_given_an_entry_older_than_the_one_before_it_then_it_is_refused(self) -> None:
        self.replace(FIRST_LINE, FIRST_LINE.replace("1.0", "1.11"))
        self.expect_refusal("zeInitDrivers cannot be older than the entry before it")

    def test_given_an_entry_newer_than_the_api_then_it_is_refused(self) -> None:
        self.replace(SECOND_LINE, SECOND_LINE.replace("1.10", "1.18"))
        self.expect_refusal("since 1.18 is above api 1.17")

    def test_given_lines_in_another_order_then_they_are_refused(self) -> None:
        self.replace(f"{FIRST_LINE}\n{SECOND_LINE}", f"{SECOND_LINE}\n{FIRST_LINE}")
        self.expect_refusal("not in the order of the headers")

    def test_given_a_function_that_the_headers_lack_then_it_is_refused(self) -> None:
        self.replace(SECOND_LINE, SECOND_LINE + '\nzeInitBoards = { since = "1.17", built = true }')
        self.expect_refusal("the headers have no entry for zeInitBoards")

    def test_given_a_table_that_the_headers_lack_then_it_is_refused(self) -> None:
        self.list.write_text(self.list.read_text() + "\n[zeGetBoardProcAddrTable]\n")
        self.expect_refusal("the headers have no table zeGetBoardProcAddrTable")

    def test_given_a_line_that_does_not_say_what_is_needed_then_it_is_refused(self) -> None:
        self.replace(SECOND_LINE, 'zeInitDrivers = { since = "1.10" }')
        self.expect_refusal("is expected")

    def test_given_a_list_that_is_no_toml_then_it_is_refused(self) -> None:
        self.list.write_text("[zeGetGlobalProcAddrTable")
        self.expect_refusal("functions.toml")

    def test_given_no_headers_then_one_line_says_so(self) -> None:
        done = self.generate(headers=self.root)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot read", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_given_headers_newer_than_the_list_when_generated_then_the_surplus_is_named_and_left_out(self) -> None:
        self.replace("\n" + SECOND_LINE, "")
        done = self.generate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not listed: zeInitDrivers", done.stdout)
        self.assertNotIn("pfnInitDrivers", (self.root / "driver/api/tables/core_tables.cpp").read_text())


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        HEADERS = Path(sys.argv.pop(1))
    unittest.main()
