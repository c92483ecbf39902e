"""datum-demo by itself: README shows what it prints, and what it cannot do it says in one line.

usage: demo_program_test.py DATUM-DEMO DRIVER BOARD
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DEMO = DRIVER = BOARD = ""


def shape(text: str) -> list[list[str]]:
    """The words of each line, with numbers and file names blotted out."""
    text = re.sub(r"^(file +).*\(.*\)$", r"\1FILE", text, flags=re.MULTILINE)
    text = re.sub(r"^(device +).* \(type", r"\1NAME (type", text, flags=re.MULTILINE)
    return [re.sub(r"(0x)?[0-9a-f]*[0-9][0-9a-f.]*", "N", line).split() for line in text.strip().splitlines()]


class DemoProgram(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_demo(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = os.environ | {"ZE_ENABLE_ALT_DRIVERS": DRIVER, "DATUM_BOARDS": BOARD} | environment
        return subprocess.run([DEMO, *arguments], env=variables, capture_output=True, text=True, check=False)

    def file(self, data: bytes) -> str:
        path = self.folder / "data"
        path.write_bytes(data)
        return str(path)

    def assert_one_line(self, result: subprocess.CompletedProcess[str], *words: str) -> None:
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_given_a_file_when_run_then_the_output_is_that_of_the_readme(self) -> None:
        result = self.run_demo(self.file(bytes(range(256)) * 5000))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        readme = (PROJECT / "README.md").read_text()
        shown = re.search(r"^```text\n(driver .*?)^```$", readme, re.DOTALL | re.MULTILINE)
        self.assertIsNotNone(shown, "README.md has no block that begins with the driver")
        self.assertEqual(shape(result.stdout), shape(shown[1]))

    def test_given_a_file_of_one_byte_when_run_then_it_comes_back(self) -> None:
        result = self.run_demo(self.file(b"x"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("all 1 bytes came back", result.stdout)

    def test_given_a_file_that_cannot_be_read_when_run_then_one_line_names_it(self) -> None:
        self.assert_one_line(self.run_demo("/nonexistent/file"), "/nonexistent/file", "No such file")
        self.assert_one_line(self.run_demo(str(self.folder)), str(self.folder), "not a regular file")
        self.assert_one_line(self.run_demo(self.file(b"")), "data", "empty")

    def test_given_no_board_when_run_then_the_cause_and_the_cure_are_told(self) -> None:
        result = self.run_demo(self.file(b"x"), DATUM_BOARDS="model:memory=3M")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("memory=3M", result.stderr)
        self.assertIn("DATUM_BOARDS", result.stderr)

    def test_given_a_file_larger_than_the_memory_when_run_then_the_limit_is_told(self) -> None:
        result = self.run_demo(self.file(bytes(17 << 20)), DATUM_BOARDS=f"{BOARD}memory=16M")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("maxMemAllocSize", result.stderr)


if __name__ == "__main__":
    DEMO, DRIVER, BOARD = sys.argv[1:4]
    del sys.argv[1:4]
    unittest.main()
