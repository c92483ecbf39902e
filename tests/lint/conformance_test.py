"""scripts/conformance.py counts what tests that passed have shown, and fails over rows that none shows and over a stale page."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from project_copy import PROJECT

sys.path.insert(0, str(PROJECT / "scripts"))
import conformance  # noqa: E402

ROWS = """# rows of a small project
code\t0x0\tSUCCESS
code\t0x78000004\tINVALID_ARGUMENT
code\t0x70000001\tDEVICE_LOST
code\t0x7ffffffe\tUNKNOWN
chapter\tmemory\tMemory
row\tmemory\tzeMemFree\t-\tSUCCESS\tboth\t
row\tmemory\tzeMemFree\t-\tINVALID_ARGUMENT\tmodel\t
row\tmemory\tzeMemFree\t-\tDEVICE_LOST\tnever\tboards are not lost
row\tmemory\tzeMemFree\tflags=FAST\tSUCCESS\tdepends\ta fast kernel
row\tmemory\tzeMemGetIpcHandle\t-\tSUCCESS\tboth\t
"""
HEADER = "# rows that no test shows\n"
FUNCTIONS = """api = "1.17"
[zeGetMemProcAddrTable]
zeMemFree = { since = "1.0", built = true }
zeMemGetIpcHandle = { since = "1.0", built = false }
"""
SUCCESS, INVALID_ARGUMENT, DEVICE_LOST, UNKNOWN = "0x0", "0x78000004", "0x70000001", "0x7ffffffe"


def fact(test: str, code: str, board: str = "model", argument: str = "-") -> str:
    return f"fact\t{board}\t{test}\tzeMemFree\t{argument}\t{code}\n"


def passed(test: str) -> str:
    return f"passed\t{test}\n"


FREED = "Free.given_memory_when_freed_then_it_is"
REFUSED = "Free.given_no_memory_when_freed_then_it_is_refused"
ON_MODEL = fact(FREED, SUCCESS) + passed(FREED) + fact(REFUSED, INVALID_ARGUMENT) + passed(REFUSED)
ON_RTL = fact(FREED, SUCCESS, "rtl") + passed(FREED)


class Conformance(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.facts = self.root / "facts"
        self.write("tests/conformance/rows.tsv", ROWS)
        self.write("driver/api/functions.toml", FUNCTIONS)
        self.write("docs/.keep", "")
        self.write("tests/conformance/unshown.tsv", HEADER)
        self.write("facts/run.tsv", "facts\tmodel.Free.tsv\tmodel\nfacts\trtl.Free.tsv\trtl\n")
        self.show(ON_MODEL, ON_RTL)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def show(self, on_model: str, on_rtl: str = ON_RTL) -> None:
        self.write("facts/model.Free.tsv", on_model)
        self.write("facts/rtl.Free.tsv", on_rtl)

    def run_script(self, *arguments: str) -> tuple[int, str]:
        output = io.StringIO()
        command = ["conformance.py", str(self.facts), "--root", str(self.root), *arguments]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            return conformance.main(), output.getvalue()

    def write_page(self) -> str:
        status, output = self.run_script("--write")
        self.assertEqual(status, 0, output)
        return (self.root / "docs/conformance.md").read_text()

    def assert_fault(self, text: str) -> None:
        status, output = self.run_script()
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)

    def test_given_a_page_just_written_when_checked_then_it_is_current_and_names_the_tests(self) -> None:
        page = self.write_page()
        self.assertIn(f"| | `SUCCESS` | model, rtl | `{FREED}` |", page)
        self.assertIn(f"| | `INVALID_ARGUMENT` | model | `{REFUSED}` |", page)
        self.assertIn("| `DEVICE_LOST` | every function | boards are not lost |", page)
        self.assertEqual(self.run_script()[0], 0)

    def test_given_a_row_that_no_test_shows_when_checked_then_it_is_named(self) -> None:
        self.write_page()
        self.show(fact(FREED, SUCCESS) + passed(FREED))
        self.assert_fault("zeMemFree answers INVALID_ARGUMENT: no test that passed shows it on model")

    def test_given_a_row_shown_on_one_board_only_when_checked_then_the_other_is_named(self) -> None:
        self.write_page()
        self.show(ON_MODEL, "")
        self.assert_fault("zeMemFree answers SUCCESS: no test that passed shows it on rtl")

    def test_given_a_test_that_did_not_pass_when_checked_then_its_facts_do_not_count(self) -> None:
        self.write_page()
        self.show(ON_MODEL.replace(passed(REFUSED), ""))
        self.assert_fault("zeMemFree answers INVALID_ARGUMENT: no test that passed")

    def test_given_a_test_that_passed_on_another_board_when_checked_then_only_that_run_counts(self) -> None:
        self.write_page()
        self.show(ON_MODEL, fact(FREED, SUCCESS, "rtl"))
        self.assert_fault("no test that passed shows it on rtl")

    def test_given_a_child_on_another_board_when_checked_then_its_facts_count_for_that_board(self) -> None:
        self.write_page()
        self.show(ON_MODEL.replace(fact(FREED, SUCCESS), ""), ON_RTL + fact(FREED, SUCCESS, "model"))
        self.assertEqual(self.run_script()[0], 0)

    def test_given_a_test_that_is_gone_when_checked_then_the_page_is_stale_until_written(self) -> None:
        self.write_page()
        renamed = FREED + "_indeed"
        self.show(ON_MODEL.replace(FREED, renamed), ON_RTL.replace(FREED, renamed))
        self.assert_fault("docs/conformance.md is stale")
        self.assertIn(renamed, self.write_page())

    def test_given_more_tests_than_the_page_names_when_checked_then_it_stays_current(self) -> None:
        page = self.write_page()
        self.show(ON_MODEL + fact("Aardvark.first", SUCCESS) + passed("Aardvark.first"))
        self.assertEqual(self.run_script()[0], 0)
        self.assertEqual(self.write_page(), page)

    def test_given_an_edited_page_when_checked_then_it_is_stale(self) -> None:
        page = self.write_page()
        self.write("docs/conformance.md", page.replace("model, rtl", "model, rtl, vfio"))
        self.assert_fault("docs/conformance.md is stale")

    def test_given_no_page_when_checked_then_it_is_stale(self) -> None:
        self.assert_fault("docs/conformance.md is stale")

    def test_given_faults_when_told_to_write_then_the_page_stays_as_it_is(self) -> None:
        page = self.write_page()
        self.show("", "")
        self.assertEqual(self.run_script("--write")[0], 1)
        self.assertEqual((self.root / "docs/conformance.md").read_text(), page)

    def test_given_a_code_that_is_never_answered_when_shown_then_that_is_a_fault(self) -> None:
        self.write_page()
        self.show(ON_MODEL + fact(FREED, DEVICE_LOST))
        self.assert_fault("zeMemFree answers DEVICE_LOST")

    def test_given_a_code_that_the_function_does_not_have_when_shown_then_that_is_a_fault(self) -> None:
        self.write_page()
        self.show(ON_MODEL + fact(FREED, UNKNOWN))
        self.assert_fault("which the specification does not provide for")

    def test_given_a_function_that_is_not_built_when_checked_then_its_rows_are_not_demanded(self) -> None:
        self.assertIn("### `zeMemGetIpcHandle`\n\nNot built: answers `UNSUPPORTED_FEATURE`.", self.write_page())

    def test_given_a_function_that_becomes_built_when_checked_then_its_rows_are_demanded(self) -> None:
        self.write_page()
        self.write("driver/api/functions.toml", FUNCTIONS.replace("false", "true"))
        self.assert_fault("zeMemGetIpcHandle answers SUCCESS: no test that passed shows it on model and rtl")

    def test_given_a_row_that_depends_on_the_machine_when_not_shown_then_the_page_keeps_what_it_says(self) -> None:
        fast = "Free.given_a_fast_kernel_when_freed_then_it_is_fast"
        self.show(ON_MODEL + fact(fast, SUCCESS, argument="flags=FAST") + passed(fast))
        self.assertIn(f"| `flags=FAST` | `SUCCESS` | model, rtl | `{fast}`; needs a fast kernel |", self.write_page())
        self.show(ON_MODEL)
        self.assertEqual(self.run_script()[0], 0)

    def test_given_a_row_known_to_have_no_test_when_checked_then_it_is_no_fault_and_the_page_says_so(self) -> None:
        self.write("tests/conformance/unshown.tsv", HEADER + "zeMemFree\t-\tINVALID_ARGUMENT\n")
        self.show(fact(FREED, SUCCESS) + passed(FREED))
        self.assertIn("| | `INVALID_ARGUMENT` | model | no test |", self.write_page())

    def test_given_a_row_known_to_have_no_test_when_it_has_one_then_it_must_leave_the_list(self) -> None:
        self.write("tests/conformance/unshown.tsv", HEADER + "zeMemFree\t-\tINVALID_ARGUMENT\nzeMemGone\t-\tSUCCESS\n")
        self.assert_fault("tests/conformance/unshown.tsv is stale")
        self.write_page()
        self.assertEqual((self.root / "tests/conformance/unshown.tsv").read_text(), HEADER)

    def test_given_a_code_that_one_place_answers_for_all_when_shown_then_it_is_neither_demanded_nor_a_fault(self) -> None:
        self.write("tests/conformance/rows.tsv", ROWS + "row\tmemory\tzeMemFree\t-\tUNKNOWN\tanywhere\tone handler\n")
        self.assertIn("| `UNKNOWN` | every function | one handler |", self.write_page())
        self.show(ON_MODEL + fact(FREED, UNKNOWN))
        self.assertEqual(self.run_script()[0], 0)

    def test_given_instances_of_one_test_when_written_then_it_is_named_once_without_its_parameters(self) -> None:
        first, second = "Kinds/Free.given_any_when_freed/0", "Kinds/Free.given_any_when_freed/1"
        text = "".join(fact(test, SUCCESS) + passed(test) for test in (first, second))
        self.show(text + fact(REFUSED, INVALID_ARGUMENT) + passed(REFUSED), text.replace("\tmodel\t", "\trtl\t"))
        self.assertIn("| | `SUCCESS` | model, rtl | `Free.given_any_when_freed` |", self.write_page())

    def test_given_tests_older_than_the_program_when_checked_then_nothing_is_judged(self) -> None:
        self.write_page()
        program = self.write("facts/program", "")
        self.write("facts/run.tsv", f"program\t{program}\n" + (self.facts / "run.tsv").read_text())
        os.utime(program, (2_000_000_000_000, 2_000_000_000_000))
        status, output = self.run_script()
        self.assertEqual(status, 2)
        self.assertIn("model.Free, rtl.Free. Run ctest -L api first", output)

    def test_given_a_suite_that_did_not_run_when_checked_then_nothing_is_judged(self) -> None:
        self.write_page()
        (self.facts / "rtl.Free.tsv").unlink()
        self.assertEqual(self.run_script()[0], 2)

    def test_given_a_build_without_rtl_when_checked_then_only_the_model_is_asked_for(self) -> None:
        self.write_page()
        self.write("facts/run.tsv", "facts\tmodel.Free.tsv\tmodel\n")
        self.assertEqual(self.run_script()[0], 0)


if __name__ == "__main__":
    unittest.main()
