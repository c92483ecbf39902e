"""tools/api/generate_errors.py reads sentences and hints off the sources as a reader would."""

import contextlib
import io
import sys
import unittest

from project_copy import PROJECT, ProjectCopy

sys.path.insert(0, str(PROJECT / "tools/api"))
import generate_errors  # noqa: E402


class GenerateErrors(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy()
        self.addCleanup(self.tree.__exit__)

    def rows(self, source: str) -> list[tuple[str, str, str]]:
        self.tree.write("driver/a.cpp", source)
        return generate_errors.rows(self.tree.root)

    def test_given_plain_words_over_lines_when_read_then_they_are_one_sentence(self) -> None:
        self.assertEqual(self.rows('make_error(ErrorCode::not_available, "it is "\n  "gone, (really)", "call, it back");'),
                         [("NOT_AVAILABLE", "it is gone, (really)", "call, it back")])

    def test_given_a_format_when_read_then_what_is_filled_in_is_left_open(self) -> None:
        self.assertEqual(self.rows('make_error(ErrorCode::unknown, fmt::format("{} of {:#x} failed", f(a, b), "x"), "try \\"it\\" anew");'),
                         [("UNKNOWN", "\u2026 of \u2026 failed", 'try "it" anew')])

    def test_given_alternatives_when_read_then_both_are_told(self) -> None:
        self.assertEqual(self.rows('make_error(ErrorCode::unknown, bad ? "it is bad" : "it is good", "look at it");'),
                         [("UNKNOWN", "it is bad / it is good", "look at it")])

    def test_given_no_hint_or_a_comment_when_read_then_there_is_no_row(self) -> None:
        self.assertEqual(self.rows('make_error(ErrorCode::unknown, "it failed"); // make_error(ErrorCode::unknown, "a b", "c d");'), [])

    def test_given_another_hint_when_checked_then_the_page_is_stale_until_it_is_written_anew(self) -> None:
        (self.tree.root / "docs").mkdir()
        for hint in ("do it anew", "do it again"):
            self.tree.write("driver/a.cpp", f'make_error(ErrorCode::unknown, "it all failed", "{hint}");')
            check = ["--check", "--root", str(self.tree.root)]
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(generate_errors.main(check), 1)
            self.assertEqual(generate_errors.main(check[1:]), 0)
            self.assertEqual(generate_errors.main(check), 0)
            self.assertIn(hint, (self.tree.root / "docs/errors.md").read_text())

    def test_given_the_project_when_read_then_what_users_meet_first_is_there(self) -> None:
        told = [sentence for code, sentence, _ in generate_errors.rows(PROJECT) if code == "UNINITIALIZED"]
        self.assertTrue(any("no board is bound to VFIO" in sentence for sentence in told), told)
        self.assertGreater(len(generate_errors.rows(PROJECT)), 40)


if __name__ == "__main__":
    unittest.main()
