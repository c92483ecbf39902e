"""scripts/check_self_contained: what compiles only behind a precompiled header is found."""

import json
import shutil
import sys
import unittest
from pathlib import Path

from project_copy import PROJECT, ProjectCopy

NAMES_WHAT_IT_USES = "#include <vector>\nstd::vector<int> numbers();\n"
NAMES_NOTHING = "std::vector<int> numbers();\n"


class CheckSelfContained(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy()
        self.addCleanup(self.tree.__exit__)
        for script in ("check_self_contained", "compile_commands.py"):
            self.tree.write(f"scripts/{script}", (PROJECT / "scripts" / script).read_text())
        self.precompiled = self.tree.write("build/cmake_pch.hxx", "#include <vector>\n")

    def run_check(self, sources: dict[str, str], *options: str) -> tuple[int, str]:
        compiler = shutil.which("c++")
        commands = []
        for name, text in sources.items():
            file = self.tree.write(name, text)
            if file.suffix == ".cpp":
                line = f"{compiler} -Winvalid-pch -include {self.precompiled} -o out.o -c {file}"
                commands.append({"directory": str(self.tree.root), "command": line, "file": str(file)})
        self.tree.write("build/compile_commands.json", json.dumps(commands))
        script = self.tree.root / "scripts/check_self_contained"
        result = self.tree.run(sys.executable, "-B", str(script), str(Path(self.tree.root, "build")), *options)
        return result.returncode, result.stdout + result.stderr

    def test_given_a_source_that_misses_an_include_then_it_is_named(self) -> None:
        status, output = self.run_check({"driver/good.cpp": NAMES_WHAT_IT_USES, "driver/bad.cpp": NAMES_NOTHING})
        self.assertEqual(status, 1)
        self.assertIn("driver/bad.cpp:1", output)
        self.assertIn("1 of 2 files name what they use", output)

    def test_given_a_header_that_misses_an_include_then_it_is_named(self) -> None:
        status, output = self.run_check({"driver/good.cpp": NAMES_WHAT_IT_USES, "driver/bad.hpp": NAMES_NOTHING})
        self.assertEqual(status, 1)
        self.assertIn("driver/bad.hpp:1", output)

    def test_given_sources_that_a_build_joins_then_each_is_compiled_alone(self) -> None:
        good = self.tree.write("driver/good.cpp", NAMES_WHAT_IT_USES)
        bad = self.tree.write("driver/bad.cpp", NAMES_NOTHING)
        joined = self.tree.write("build/driver/Unity/unity_0_cxx.cxx", f'#include "{good}"\n\n#include "{bad}"\n\n')
        line = f"{shutil.which('c++')} -o out.o -c {joined}"
        commands = [{"directory": str(self.tree.root), "command": line, "file": str(joined)}]
        self.tree.write("build/compile_commands.json", json.dumps(commands))
        script = self.tree.root / "scripts/check_self_contained"
        result = self.tree.run(sys.executable, "-B", str(script), str(Path(self.tree.root, "build")))
        self.assertEqual(result.returncode, 1)
        self.assertIn("driver/bad.cpp:1", result.stdout)
        self.assertIn("1 of 2 files name what they use", result.stdout)

    def test_given_headers_of_which_all_name_what_they_use_then_all_are_counted(self) -> None:
        header = "#pragma once\n" + NAMES_WHAT_IT_USES + "namespace { [[maybe_unused]] int unused() { return 1; } }\n"
        status, output = self.run_check({"driver/good.cpp": NAMES_WHAT_IT_USES, "driver/good.hpp": header})
        self.assertEqual(status, 0, output)
        self.assertIn("2 of 2 files name what they use", output)

    def test_given_a_header_then_it_is_compiled_as_who_includes_it_is(self) -> None:
        user = '#include "driver/needs.hpp"\nint one() { return needed; }\n'
        self.tree.write("driver/needs.hpp", "#pragma once\nconstexpr int needed = FROM_THE_BUILD;\n")
        commands = []
        for name, text, options in (("driver/aaa.cpp", NAMES_WHAT_IT_USES, ""), ("driver/user.cpp", user, "-DFROM_THE_BUILD=1")):
            file = self.tree.write(name, text)
            line = f"{shutil.which('c++')} -I{self.tree.root} {options} -o out.o -c {file}"
            commands.append({"directory": str(self.tree.root), "command": line, "file": str(file)})
        self.tree.write("build/compile_commands.json", json.dumps(commands))
        script = self.tree.root / "scripts/check_self_contained"
        result = self.tree.run(sys.executable, "-B", str(script), str(Path(self.tree.root, "build")))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("3 of 3 files name what they use", result.stdout)

    def test_given_a_sample_then_only_so_many_are_compiled(self) -> None:
        sources = {f"driver/good{index}.cpp": NAMES_WHAT_IT_USES for index in range(4)}
        status, output = self.run_check(sources, "--sample", "2", "--seed", "7")
        self.assertEqual(status, 0, output)
        self.assertIn("2 of 2 files", output)

    def test_given_a_tree_that_is_not_configured_then_it_says_so(self) -> None:
        script = PROJECT / "scripts/check_self_contained"
        result = self.tree.run(sys.executable, "-B", str(script), str(self.tree.root))
        self.assertEqual(result.returncode, 1)
        self.assertIn("configure it first", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
