"""scripts/run_tests.py: nothing that failed, and nothing that is missing, passes for success."""

import sys
import unittest

from project_copy import PROJECT, ProjectCopy

TEST = 'add_test([=[{name}]=] "{command}")\nset_tests_properties([=[{name}]=] PROPERTIES LABELS "{label}" {more})\n'


class RunTests(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy()
        self.addCleanup(self.tree.__exit__)
        self.builds: dict[str, str] = {}
        self.stages = self.tree.write("stages.tsv", "build\t480\t12\tpassed\n")

    def given_build(self, name: str, *tests: tuple[str, str, str]) -> None:
        folder = self.tree.root / f"build {name}"
        lines = [TEST.format(name=test, command=command, label=label, more="SKIP_RETURN_CODE 77") for test, command, label in tests]
        self.tree.write(f"build {name}/CTestTestfile.cmake", "".join(lines))
        self.builds[name] = str(folder)

    def run_mode(self, mode: str, *options: str) -> tuple[int, list[str]]:
        result = self.tree.run(
            sys.executable, "-B", str(PROJECT / "scripts/run_tests.py"), "--mode", mode, *options, "--stages", str(self.stages),
            "--folder", str(self.tree.root / "run"), *(f"{name}={folder}" for name, folder in self.builds.items()),
        )
        return result.returncode, (result.stdout + result.stderr).splitlines()

    def row(self, output: list[str], stage: str) -> list[str]:
        return next(line.split() for line in output if line.startswith(stage + " "))

    def test_given_passing_tests_when_run_then_the_last_words_are_the_summary_of_ctest(self) -> None:
        self.given_build("dev", ("a", "/bin/true", "unit"), ("b", "/bin/true", "contract"))
        status, output = self.run_mode("quick")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.row(output, "unit")[1], "1")
        self.assertEqual(self.row(output, "build")[-1], "passed")
        self.assertEqual(output[-3], "100% tests passed, 0 tests failed out of 2")
        self.assertTrue(output[-1].startswith("Total Test time (real) ="))

    def test_given_a_failing_test_when_run_then_its_stage_failed(self) -> None:
        self.given_build("dev", ("a", "/bin/false", "unit"), ("b", "/bin/true", "contract"))
        status, output = self.run_mode("quick")
        self.assertEqual(status, 1)
        self.assertEqual(self.row(output, "unit")[-1], "failed")
        self.assertEqual(self.row(output, "contract")[-1], "passed")
        self.assertEqual(output[-1], "FAILED stages: unit")

    def test_given_a_program_that_is_missing_when_run_then_its_stage_failed(self) -> None:
        self.given_build("dev", ("a", "/nowhere/program", "unit"), ("b", "/bin/true", "contract"))
        status, output = self.run_mode("quick")
        self.assertEqual(status, 1)
        self.assertEqual(output[-1], "FAILED stages: unit")

    def test_given_a_stage_without_tests_when_run_then_it_failed(self) -> None:
        self.given_build("dev", ("a", "/bin/true", "unit"))
        status, output = self.run_mode("quick")
        self.assertEqual(status, 1)
        self.assertEqual(self.row(output, "contract")[-1], "empty")
        self.assertEqual(output[-1], "FAILED stages: contract")

    def test_given_a_stage_that_is_left_out_when_run_then_it_is_neither_run_nor_missed(self) -> None:
        self.given_build("dev", ("a", "/bin/true", "unit"), ("b", "/bin/false", "contract"))
        status, output = self.run_mode("quick", "--leave-out", "contract")
        self.assertEqual(status, 0, output)
        self.assertEqual(output[-3], "100% tests passed, 0 tests failed out of 1")

    def test_given_no_build_when_run_then_every_stage_failed(self) -> None:
        status, output = self.run_mode("quick")
        self.assertEqual(status, 1)
        self.assertEqual(output[-1], "FAILED stages: unit, contract")

    def test_given_a_stage_that_failed_before_when_the_tests_pass_then_the_run_failed(self) -> None:
        self.stages.write_text("checks\t60\t2\tfailed\n")
        self.given_build("dev", ("a", "/bin/true", "unit"), ("b", "/bin/true", "contract"))
        status, output = self.run_mode("quick")
        self.assertEqual(status, 1)
        self.assertEqual(output[-1], "FAILED stages: checks")

    def test_given_long_tests_when_run_for_the_gate_then_only_all_runs_them(self) -> None:
        labels = ["unit", "contract", "api", "conformance", "parity", "rtl", "vm", "install", "lint"]
        self.given_build("dev", *((label, "/bin/true", label) for label in labels), ("endless", "/bin/true", "unit;long"),
                         ("client", "/bin/true", "clients;long"), ("memcheck", "/bin/true", "valgrind;long"))
        self.given_build("asan", ("asan/a", "/bin/true", "unit"))
        self.given_build("tsan", ("tsan/a", "/bin/true", "unit"))
        self.given_build("fuzz", ("fuzz.a", "/bin/true", "fuzz"))
        status, output = self.run_mode("ci")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.row(output, "unit")[1], "1")
        status, output = self.run_mode("all")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.row(output, "unit")[1], "2")

    def test_given_tests_of_the_gate_when_a_newcomer_runs_then_they_are_left_out(self) -> None:
        stages = ["unit", "contract", "api", "parity", "vm"]
        self.given_build("dev", *((label, "/bin/true", label) for label in stages), ("whole", "/bin/false", "vm;gate"))
        status, output = self.run_mode("newcomer")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.row(output, "vm")[1], "1")

    def test_given_a_sanitized_build_when_its_tests_carry_labels_then_they_count_for_its_own_stage(self) -> None:
        labels = ["unit", "contract", "api", "conformance", "parity", "rtl", "vm", "install", "lint"]
        self.given_build("dev", *((label, "/bin/true", label) for label in labels))
        self.given_build("asan", ("asan/a", "/bin/false", "unit"))
        self.given_build("tsan", ("tsan/a", "/bin/true", "unit"))
        self.given_build("fuzz", ("fuzz.a", "/bin/true", "fuzz"))
        status, output = self.run_mode("ci")
        self.assertEqual(status, 1)
        self.assertEqual(output[-1], "FAILED stages: asan")

    def test_given_a_skipped_test_when_run_then_the_table_says_so(self) -> None:
        skipping = self.tree.write("skip", "#!/bin/sh\nexit 77\n")
        skipping.chmod(0o755)
        self.given_build("dev", ("a", str(skipping), "unit"), ("b", "/bin/true", "contract"))
        status, output = self.run_mode("quick")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.row(output, "unit")[-3:], ["passed,", "1", "skipped"])


if __name__ == "__main__":
    unittest.main()
