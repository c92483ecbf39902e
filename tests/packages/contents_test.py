"""Makes the Debian packages of a build and looks into them.

usage: contents_test.py --build FOLDER --packages FOLDER --tool DATUM
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OPTIONS = argparse.Namespace()


def output_of(*command: object) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def make_packages() -> None:
    """In the build folder's own folder, so that other tests can install them."""
    shutil.rmtree(OPTIONS.packages, ignore_errors=True)
    OPTIONS.packages.mkdir(parents=True)
    made = subprocess.run(["cpack", "-G", "DEB", "-B", OPTIONS.packages], cwd=OPTIONS.build, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"cpack failed:\n{made.stdout}{made.stderr}")


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        make_packages()
        folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name)
        cls.files = {}
        for package in ("datum", "datum-simulation", "datum-dev", "python3-datum"):
            found = list(OPTIONS.packages.glob(f"{package}_*.deb"))
            assert len(found) == 1, f"one package {package} is made, not {found}"
            cls.files[package] = found[0]
            output_of("dpkg-deb", "-x", found[0], cls.root / package)

    def find(self, package: str, name: str) -> Path:
        found = list((self.root / package).rglob(name))
        self.assertEqual(len(found), 1, f"{name} in {package}: {found}")
        return found[0]

    def field(self, package: str, name: str) -> str:
        return output_of("dpkg-deb", "-f", self.files[package], name).strip()

    def exports(self, library: Path) -> list[str]:
        return [line.split()[-1].split("@")[0] for line in output_of("nm", "-D", "--defined-only", library).splitlines()]

    def test_given_the_driver_when_its_soname_is_read_then_it_is_versioned_and_links_lead_to_the_file(self) -> None:
        driver = self.find("datum", "libze_datum.so.1")
        self.assertRegex(output_of("readelf", "-d", driver), r"\(SONAME\).*\[libze_datum\.so\.1\]")
        self.assertRegex(driver.resolve().name, r"^libze_datum\.so\.1\.\d+\.\d+\.\d+$")
        self.assertEqual(self.find("datum", "libze_datum.so").resolve(), driver.resolve())

    def test_given_the_libraries_when_their_symbols_are_listed_then_only_the_interface_is_exported(self) -> None:
        driver = [name for name in self.exports(self.find("datum", "libze_datum.so.1")) if not name.startswith("DATUM")]
        self.assertTrue(driver)
        self.assertEqual([name for name in driver if not re.fullmatch(r"z(e|et|es|er)Get\w*ProcAddrTable", name)], [])
        plugin = [name for name in self.exports(self.find("datum-simulation", "libdatum_sim.so")) if not name.startswith("DATUM")]
        self.assertEqual(plugin, ["datum_board_plugin"])

    def test_given_the_driver_package_when_listed_then_a_production_host_gets_no_simulator(self) -> None:
        names = {path.name for path in (self.root / "datum").rglob("*") if path.is_file()}
        self.assertTrue({"datum", "datum.1", "70-datum.rules", "LICENSE"} <= names, names)
        self.assertEqual([name for name in names if "sim" in name or "board" in name or "demo" in name], [])

    def test_given_the_simulation_package_when_listed_then_plugin_server_demo_and_manual_are_there(self) -> None:
        for name in ("libdatum_sim.so", "datum-board", "datum-demo", "datum-board.1"):
            self.find("datum-simulation", name)

    def test_given_the_python_package_when_unpacked_with_the_driver_then_it_finds_it_without_being_told(self) -> None:
        self.assertEqual(self.field("python3-datum", "Architecture"), "all")
        tree = self.root / "python_tree"
        for package in ("datum", "datum-simulation", "python3-datum"):
            shutil.copytree(self.root / package, tree, symlinks=True, dirs_exist_ok=True)
        variables = {name: value for name, value in os.environ.items() if name != "ZE_ENABLE_ALT_DRIVERS"}
        variables["PYTHONPATH"] = str(tree / "usr/lib/python3/dist-packages")
        example = next((tree / "usr/share/doc/python3-datum").rglob("copy.py"))
        result = subprocess.run([sys.executable, "-B", example, "model:"], env=variables, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("every byte came back", result.stdout)

    def test_given_the_packages_when_their_dependencies_are_read_then_they_fit_together(self) -> None:
        version = self.field("datum", "Version")
        for package in ("datum-simulation", "datum-dev", "python3-datum"):
            self.assertEqual(self.field(package, "Version"), version)
            self.assertIn(f"datum (= {version})", self.field(package, "Depends"))
        self.assertIn("libc6", self.field("datum", "Depends"))
        self.assertNotIn("libfmt", self.field("datum", "Depends"), "fmt is compiled in")

    def test_given_the_udev_rule_when_compared_then_it_is_the_one_that_the_command_prints(self) -> None:
        self.assertEqual(self.find("datum", "70-datum.rules").read_text(), output_of(OPTIONS.tool, "udev-rule"))

    def test_given_the_programs_when_their_headers_are_read_then_they_name_nothing_of_the_builders_machine(self) -> None:
        for package, name in (("datum", "bin/datum"), ("datum-simulation", "datum-board"), ("datum-simulation", "datum-demo")):
            program = self.root / package / "usr/bin" / Path(name).name
            self.assertNotIn(".cache", output_of("readelf", "-l", program))
            self.assertNotRegex(output_of("readelf", "-d", program), r"\((RPATH|RUNPATH)\).*\[/")

    def test_given_the_development_files_when_used_then_cmake_and_pkg_config_find_headers_and_driver(self) -> None:
        tree = self.root / "joined"
        for package in ("datum", "datum-dev"):
            shutil.copytree(self.root / package, tree, symlinks=True, dirs_exist_ok=True)
        project = self.root / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(user C)\nfind_package(Datum 0.1 REQUIRED)\n"
            'if(NOT EXISTS "${Datum_DRIVER}")\n  message(FATAL_ERROR "no driver: ${Datum_DRIVER}")\nendif()\n'
            "add_library(user STATIC user.c)\ntarget_link_libraries(user PRIVATE Datum::headers)\n"
            'target_include_directories(user SYSTEM PRIVATE "${LEVEL_ZERO}")\n')
        (project / "user.c").write_text("#include <datum/ze_datum.h>\nconst char* name = ZEX_DATUM_DEVICE_GET_BOARD_CLOCK;\n")
        output_of("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={tree}/usr", f"-DLEVEL_ZERO={level_zero_headers()}")
        output_of("cmake", "--build", project / "build")
        if shutil.which("pkg-config"):
            folder = next(tree.rglob("datum.pc")).parent
            flags = subprocess.run(["pkg-config", "--cflags", "--define-prefix", "datum"], env={"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/bin:/bin"},
                                   capture_output=True, text=True, check=True).stdout
            self.assertTrue(Path(flags.strip().removeprefix("-I")).joinpath("datum/ze_datum.h").is_file(), flags)


def level_zero_headers() -> str:
    cache = (OPTIONS.build / "CMakeCache.txt").read_text()
    root = re.search(r"^DATUM_LOADER_ROOT:PATH=(.*)$", cache, re.MULTILINE)[1]
    unpacked = Path(root) / "usr/include"
    return str(unpacked if (unpacked / "level_zero").is_dir() else Path("/usr/include"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--tool", type=Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
