"""What `cmake --install` lays down: the driver with the exports that a loader asks for, and no simulator tied to it.

usage: installed_tree_test.py BUILD-FOLDER
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path()


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = Path(folder.name)
        output_of("cmake", "--install", str(BUILD), "--prefix", str(cls.prefix))
        drivers = list(cls.prefix.rglob("libze_datum.so"))
        assert len(drivers) == 1, f"one driver is installed, not {drivers}"
        cls.driver = drivers[0]

    def test_given_the_driver_when_its_exports_are_listed_then_they_are_the_tables_and_nothing_else(self) -> None:
        names = [line.split()[-1].split("@")[0] for line in output_of("nm", "-D", "--defined-only", str(self.driver)).splitlines()]
        tables = [name for name in names if re.fullmatch(r"z(e|et|es|er)Get\w*ProcAddrTable", name)]
        # The symbol version itself is listed as an absolute symbol where the export map names one.
        others = [name for name in names if name not in tables and not name.startswith("DATUM")]
        self.assertEqual(others, [])
        for name in ("zeGetGlobalProcAddrTable", "zeGetDriverProcAddrTable", "zeGetDeviceProcAddrTable", "zesGetGlobalProcAddrTable"):
            self.assertIn(name, tables)

    def test_given_the_driver_when_its_needs_are_listed_then_neither_loader_nor_simulator_is_among_them(self) -> None:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", str(self.driver)))
        self.assertTrue(needed)
        self.assertEqual([name for name in needed if "ze_loader" in name or "datum" in name], [])

    def test_given_the_driver_when_a_program_unloads_the_loader_then_it_stays(self) -> None:
        self.assertRegex(output_of("readelf", "-d", str(self.driver)), r"\(FLAGS_1\).*NODELETE")

    def test_given_the_driver_when_its_run_path_is_read_then_it_names_no_build_folder(self) -> None:
        self.assertNotRegex(output_of("readelf", "-d", str(self.driver)), r"\((RPATH|RUNPATH)\).*\[/")

    def test_given_the_simulator_when_installed_then_it_lies_beside_the_driver(self) -> None:
        self.assertTrue((self.driver.parent / "libdatum_sim.so").is_file())

    def test_given_the_program_when_run_from_the_tree_then_it_finds_driver_and_plugin_there(self) -> None:
        program = self.prefix / "bin/datum"
        self.assertTrue(program.is_file())
        interpreter = output_of("readelf", "-l", str(program))
        self.assertNotIn(".cache", interpreter, "it would run on the builder's machine alone")
        variables = {name: value for name, value in os.environ.items() if name not in ("ZE_ENABLE_ALT_DRIVERS", "DATUM_SIM_PLUGIN")}
        command = [str(program), "doctor", "model:", "--json"]
        checks = json.loads(subprocess.run(command, env=variables, capture_output=True, text=True, check=False).stdout)["checks"]
        plugin, loader = (next(check for check in checks if check["number"] == number) for number in (11, 9))
        self.assertEqual(plugin["outcome"], "ok", plugin["finding"])
        self.assertIn(str(self.driver.parent), plugin["finding"])
        self.assertEqual(loader["outcome"], "failed", "no list of drivers is set")

    def test_given_the_licence_when_installed_then_it_is_there(self) -> None:
        self.assertEqual(len(list(self.prefix.rglob("LICENSE"))), 1)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1))
    unittest.main()
