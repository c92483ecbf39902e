"""A board of somebody's own: the example is built out of tree against an installation, and held to the contract and the demo.

usage: own_board_test.py BUILD-FOLDER WORK-FOLDER

The work folder is kept, so that the RTL is compiled again only when it has changed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

BUILD, WORK = Path(), Path()
SMALL_CONTRACT = "*IdentityContract*:*DmaContract*:*OpcodeContract*:*InterruptContract*:*FaultContract*:*ResetContract*"


def output_of(*command: object, **changes: str) -> str:
    ours = ("DATUM_BOARDS", "DATUM_SIM_OPTIONS", "DATUM_SIM_PLUGIN", "DATUM_DESIGN_PATH", "LD_LIBRARY_PATH", "ZE_ENABLE_ALT_DRIVERS")
    variables = {name: value for name, value in os.environ.items() if name not in ours} | changes
    done = subprocess.run([str(word) for word in command], env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


class OwnBoard(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.prefix = WORK / "prefix"
        shutil.rmtree(cls.prefix, ignore_errors=True)
        for component in ("driver", "simulation", "development"):
            output_of("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", component)
        source, build = WORK / "source", WORK / "build"
        shutil.copytree(next(cls.prefix.rglob("examples/my_accelerator")), source, dirs_exist_ok=True)
        launcher = shutil.which("ccache")
        output_of("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.prefix}", "-DMY_ACCELERATOR_OPTIMIZE=-O0", "-DMY_ACCELERATOR_PLANTED_BUG=ON",
                  *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []))
        output_of("cmake", "--build", build)
        cls.build = build
        cls.library = build / "libdatum_board_my_accelerator.so"
        cls.address = f"rtl:design={cls.library}"

    def datum(self, *arguments: str, **changes: str) -> str:
        return output_of(self.prefix / "bin/datum", *arguments, **changes)

    def test_given_the_library_when_its_symbols_are_listed_then_it_exports_one(self) -> None:
        exported = [line.split()[-1] for line in output_of("nm", "-D", "--defined-only", self.library).splitlines()]
        self.assertEqual(exported, ["datum_board_design"])

    def test_given_the_board_when_its_registers_are_read_then_they_are_its_own(self) -> None:
        read = self.datum("regs", "read", "MEMORY_BYTES", "ONCHIP_BYTES", "CHANNEL_COUNT", "--board", self.address)
        self.assertRegex(read, r"MEMORY_BYTES +0x0000000004000000\nONCHIP_BYTES +0x0000000000020000\nCHANNEL_COUNT +0x00000002")

    def test_given_the_board_by_name_when_listed_then_programs_see_it(self) -> None:
        listed = self.datum("info", "rtl:design=my_accelerator", DATUM_DESIGN_PATH=str(self.build))
        self.assertIn("my_accelerator (Verilator)", listed)
        self.assertRegex(listed.lower(), r"da7a")

    def test_given_a_size_that_the_rtl_does_not_have_when_opened_then_the_register_and_the_option_are_named(self) -> None:
        with self.assertRaisesRegex(AssertionError, r"MEMORY_BYTES of the design my_accelerator reads 67108864.*memory.*datum_add_board"):
            self.datum("regs", "read", "MAGIC", "--board", self.address + ",memory=128M")

    def test_given_the_board_when_the_demo_runs_then_every_byte_comes_back(self) -> None:
        output_of("ctest", "--test-dir", self.build, "--output-on-failure", "-R", "^demo$")

    def test_given_its_own_block_when_a_program_asks_it_through_the_driver_then_it_has_counted(self) -> None:
        if not (self.build / "meter").exists():
            self.skipTest("the loader's library for programs is not installed")
        shown = self.datum("run", "--board", self.address, "--", str(self.build / "meter"))
        self.assertIn("meter     5245544d", shown)
        self.assertGreaterEqual(int(re.search(r"metered +(\d+) bytes", shown)[1]), 1 << 20)

    def test_given_the_board_when_held_to_the_contract_then_it_keeps_it(self) -> None:
        shown = output_of(self.prefix / "bin/datum-board-contract", self.address, f"--gtest_filter={SMALL_CONTRACT}")
        self.assertGreater(int(re.search(r"\[  PASSED  \] (\d+) tests", shown)[1]), 40)

    def test_given_the_board_when_random_programs_run_on_it_and_the_model_then_they_agree(self) -> None:
        shown = self.datum("cosim", "--boards", f"model:memory=64M,{self.address},step", "--programs", "3")
        self.assertRegex(shown, r"^3 programs, \d+ operations: 2 boards agree byte for byte\n$")

    def test_given_a_planted_bug_when_random_programs_run_then_it_is_found_and_made_small(self) -> None:
        buggy, junit = f"rtl:design={self.build}/libdatum_board_my_accelerator_with_bug.so,step", WORK / "cosim.xml"
        done = subprocess.run([self.prefix / "bin/datum", "cosim", "--boards", f"model:memory=64M,{buggy}", "--seed", "1", "--programs", "20", "--shrink",
                               "--json", "--junit", junit, "--trace", WORK / "cosim.json", "--waveform", WORK / "cosim.fst"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        found = json.loads(done.stdout)["difference"]
        self.assertEqual((found["board"], found["shortest_operations"]), (buggy, 1), found)
        place = found["place"]
        self.assertEqual((place["operation"], place["memory"], place["expected"] ^ place["found"]), (0, "host", 0xff), found)
        self.assertEqual(place["address"] % 64, 0, "the lowest byte of a beat")
        self.assertLess(place["first_cycle"], place["last_cycle"])
        self.assertEqual(len(place["descriptor"]), 8)
        self.assertIn('failures="1"', junit.read_text())
        self.assertIn(f"[[ATTACHMENT|{WORK}/cosim.json]]", junit.read_text())
        events = json.loads((WORK / "cosim.json").read_text())["traceEvents"]
        ended = [event["args"]["cycle"] for event in events if event.get("cat") == "descriptor"]
        self.assertEqual(len(ended), 2, "one descriptor on each board")
        self.assertTrue(any(place["first_cycle"] <= cycle <= place["last_cycle"] for cycle in ended), (ended, place))
        self.assertIsNone(found["waveform"])
        self.assertIn("without its instrumented model", found["waveform_failure"])

    def test_given_no_board_when_the_contract_is_asked_for_then_its_usage_is_told(self) -> None:
        done = subprocess.run([self.prefix / "bin/datum-board-contract"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 64)
        self.assertIn("usage: datum-board-contract ADDRESS", done.stderr)


if __name__ == "__main__":
    WORK = Path(sys.argv.pop(2))
    BUILD = Path(sys.argv.pop(1))
    unittest.main()
