"""The program in docs/python.md runs as it stands, and what it prints is what it says.

usage: document_snippet_test.py BOARD     with PYTHONPATH and ZE_ENABLE_ALT_DRIVERS
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

BOARD = ""
PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"


class Snippets(unittest.TestCase):
    def test_given_the_page_when_its_program_is_run_then_the_bytes_have_been_round(self) -> None:
        programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        self.assertEqual(len(programs), 1)
        program = programs[0].replace('datum.open("rtl:")', f'datum.open("{BOARD}")')
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\Ab'datum!'\n\{'major': 1, 'minor': \d+\} \d+\n\Z")


if __name__ == "__main__":
    BOARD = sys.argv.pop(1)
    unittest.main()
