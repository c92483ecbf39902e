"""scripts/check_analysis: what clang-tidy and cppcheck have to say is heard, also of sources that a build joins."""

import json
import sys
import unittest
from pathlib import Path

from project_copy import PROJECT, ProjectCopy

CLEAN = "namespace {{\nint {name}() {{ return 1; }}\n}}  // namespace\nint use_of_{name}() {{ return {name}(); }}\n"
COPIED = "struct Owner {{\n  int* {name} = nullptr;\n  ~Owner() {{ delete {name}; }}\n}};\n"
UNUSED_USING = "#include <vector>\nusing std::vector;\nint {name}() {{ return 1; }}\n"
OVERRUN = "int {name}() {{\n  int values[4] = {{1, 2, 3, 4}};\n  return values[4];\n}}\n"


class CheckAnalysis(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy()
        self.addCleanup(self.tree.__exit__)
        for file in ("scripts/check_analysis", "scripts/compile_commands.py", ".clang-tidy"):
            self.tree.write(file, (PROJECT / file).read_text())

    def given_build(self, name: str, *files: Path) -> str:
        commands = [{"directory": str(self.tree.root), "command": f"clang++-14 -std=c++20 -o out.o -c {file}", "file": str(file)}
                    for file in files]
        self.tree.write(f"{name}/compile_commands.json", json.dumps(commands))
        return str(self.tree.root / name)

    def given_source(self, file: str, text: str) -> Path:
        return self.tree.write(file, text.format(name=Path(file).stem))

    def given_joined(self, build: str, *sources: Path) -> Path:
        return self.tree.write(f"{build}/Unity/unity_0_cxx.cxx", "".join(f'#include "{source}"\n\n' for source in sources))

    def run_check(self, *builds: str) -> tuple[int, str]:
        result = self.tree.run(sys.executable, "-B", str(self.tree.root / "scripts/check_analysis"), *builds)
        return result.returncode, result.stdout + result.stderr

    def test_given_clean_sources_then_all_are_counted_and_nothing_is_found(self) -> None:
        joined = self.given_joined("build", self.given_source("driver/one.cpp", CLEAN), self.given_source("driver/two.cpp", CLEAN))
        status, output = self.run_check(self.given_build("build", joined, self.given_source("tests/three.cpp", COPIED)))
        self.assertEqual(status, 0, output)
        self.assertIn("clang-tidy over 2 sources in 1 units", output)

    def test_given_joined_sources_of_which_one_has_a_fault_then_it_is_named(self) -> None:
        joined = self.given_joined("build", self.given_source("driver/one.cpp", CLEAN), self.given_source("driver/two.cpp", COPIED))
        status, output = self.run_check(self.given_build("build", joined))
        self.assertEqual(status, 1)
        self.assertIn("driver/two.cpp:1", output)
        self.assertIn("special-member-functions", output)

    def test_given_a_joined_source_with_a_fault_that_shows_only_alone_then_it_is_named(self) -> None:
        joined = self.given_joined("build", self.given_source("driver/one.cpp", UNUSED_USING))
        status, output = self.run_check(self.given_build("build", joined))
        self.assertEqual(status, 1)
        self.assertIn("driver/one.cpp:2", output)
        self.assertIn("misc-unused-using-decls", output)

    def test_given_what_cppcheck_finds_then_it_is_told(self) -> None:
        status, output = self.run_check(self.given_build("build", self.given_source("driver/one.cpp", OVERRUN)))
        self.assertEqual(status, 1)
        self.assertIn("arrayIndexOutOfBounds", output)

    def test_given_a_source_that_only_the_second_tree_has_then_it_is_judged_too(self) -> None:
        one = self.given_source("driver/one.cpp", CLEAN)
        first = self.given_build("build", one)
        second = self.given_build("build-2", self.given_joined("build-2", one, self.given_source("sim/two.cpp", COPIED)))
        status, output = self.run_check(first, second)
        self.assertEqual(status, 1)
        self.assertIn("sim/two.cpp:1", output)

    def test_given_a_tree_that_compiles_nothing_of_the_project_then_that_is_a_failure(self) -> None:
        status, output = self.run_check(self.given_build("build"))
        self.assertEqual(status, 1)
        self.assertIn("compiles no source of this project", output)


if __name__ == "__main__":
    unittest.main()
