"""Every command in a document's code blocks is run, on simulated boards and in a folder of its own, or stands in NOT_RUN with the reason.

usage: document_runs_test.py BIN-FOLDER LOADER-FOLDER
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterable
from pathlib import Path

from document_text import PROJECT, Command, addresses, shell_blocks

BIN = LOADER = Path()
MOST_SECONDS = 120

CARD = "needs a card, or changes which driver has it; the virtual machine's tests (vm/*) run it on one"
ROOT = "changes the machine, as root; the virtual machine's tests (vm/*) make the same settings in a guest"
BUILDS = "builds or tests the whole project, as whoever runs this test has just done"
OWN_BOARD = "builds a design, which takes minutes: install.own_board"
PACKAGE = "packages.contents makes the packages, packages.clean_root installs them and runs the demo"
VM = "starts a virtual machine: the tests vm/*"

# (place, command, reason): a regular expression for each; every line that is not run is named by one of them, and each names some line.
NOT_RUN = (
    ("", r"scripts/(test|setup|format)( --\w+)?", BUILDS),
    ("", r"cmake --preset \w+.*", BUILDS),
    ("", r"ctest --preset dev -L \w+", BUILDS),
    ("", r"scripts/conformance.py .*", "needs the records of the tests of the API: conformance.page"),
    ("", r"scripts/demo", BUILDS + "; install.demo_arguments runs the script, install.demo_program what it starts"),
    ("", r"scripts/demo --board vfio:.*", CARD),
    ("", r"datum (doctor|bind) (vfio:)?0000:03:00.0.*", CARD + "; install.datum_program has their answers where there is none"),
    ("", r"(build/dev/bin/)?datum(-board-contract| run --board) vfio:0000:03:00.0.*", CARD),
    ("docs/vfio-setup.md", r"(sudo |modprobe |echo |exec su |build/dev/bin/datum udev-rule \| sudo ).*", ROOT),
    ("docs/vfio-setup.md", r"ls -l /sys/bus/pci/.*", CARD),
    ("docs/vfio-setup.md", r"export .*DATUM_BOARDS=vfio:.*", CARD),
    ("docs/vfio-setup.md", r"build/dev/bin/datum-demo FILE", CARD),
    ("docs/bring-up.md", r"(cmake -S|export DATUM_DESIGN_PATH=|datum-board-contract rtl:|datum run --board rtl:design=).*", OWN_BOARD),
    ("docs/co-verification.md", r"datum cosim --boards model:,rtl:design=.*", OWN_BOARD),
    ("docs/packages.md", r"(cd build/release && cpack|sudo apt install) .*", PACKAGE),
    ("docs/performance.md", r"scripts/fetch_peers", "downloads other drivers, for measurements alone"),
    ("docs/performance.md", r"build/release/bin/datum-bench \w+", "measures for minutes, on the release build; install.bench_command runs the program"),
    ("docs/performance.md", r"scripts/profile-rtl", "builds a model of its own, and needs perf; lint.profile_rtl has how samples are counted"),
    ("docs/performance.md", r"build/dev/bin/datum_vfio_test .*", "is a unit test, which ctest runs by its own name"),
    ("docs/testing.md", r"scripts/prove( --check)?", "takes an hour; the tests prove.*, a block each"),
    ("docs/testing.md", r"scripts/synthesize( --\w+)?", "takes minutes; synthesize.sample, synthesize.faults, synthesize.all"),
    ("docs/testing.md", r"scripts/mutate --(sample 40|all)", "takes hours; mutate.sample and mutate.more"),
    ("docs/vm.md", r"scripts/vm.*", VM),
    ("docs/performance.md", r"scripts/vm --bench", VM),
)

# What a reader puts in, or what would take too long, and what stands in its place here.
INSTEAD = (
    (r"(?<![\w/])build/(?:dev|release)/bin/", ""),
    (r"\$PWD/build/dev/lib", "$BUILD/lib"),
    (r"\bPYTHONPATH=python\b", "PYTHONPATH=$PROJECT/python"),
    (r"(?<![\w/])examples/", "$PROJECT/examples/"),
    (r"(?<![\w/])scripts/", "$PROJECT/scripts/"),
    (r"(?<=-I)\.cache/loader|\$PWD/\.cache/loader", "$LOADER"),
    (r"\./application(?= &$)", "./lasting"),
    (r"\./(?:application|your_level_zero_program|program)\b", "datum-demo FILE"),
    (r"/run/user/1000\b|\$XDG_RUNTIME_DIR\b|/run(?=/board)", "$PWD"),
    (r"(?<=--programs )\d+", "2"),
    (r"^datum cosim (?!.*--programs)", "datum cosim --programs 2 "),
    (r"(?<=--count )0", "2"),
    (r"/etc/udev/rules\.d/", ""),
)
# Where it is not 0: what `datum doctor` finds depends on the machine.
STATUSES = {r"datum doctor": (0, 1), r"datum ecc scrub .*": (1,)}  # words were lost, as the document says
STATEFUL = re.compile(r"^(export \w+=|\w+=\S+$|eval |cd )")
SERVES = re.compile(r"^(?:datum-board|datum board) .*--socket (\S+)")
# An application that goes on until the test ends it.
LASTING = """#!/usr/bin/env python3
import sys
sys.path.insert(0, "{python}")
import datum, pathlib, time
with datum.open() as board:
    pathlib.Path("begun").touch()
    while not pathlib.Path("end").exists():
        time.sleep(0.01)
"""
SERVED = re.compile(r"vfio-user:(\S+?)(?:\.look)?(?=[\s,]|$)")


def reason_not_to_run(command: Command) -> str | None:
    return next((reason for place, text, reason in NOT_RUN if command.place.startswith(place) and re.fullmatch(text, command.text)), None)


def as_run_here(text: str) -> str:
    for old, new in INSTEAD:
        text = re.sub(old, new, text)
    return text


class Sandbox:
    """A folder with what documents take for granted: a file, a program, a trace, the RTL; and boards that are served in it."""

    def __init__(self, folder: Path, block: Iterable[Command] = ()) -> None:
        self.folder = folder
        self.children: list[subprocess.Popen[str]] = []
        ours = ("DATUM_SIM_OPTIONS", "DATUM_SIM_PLUGIN", "DATUM_TRACE", "ZE_ENABLE_ALT_DRIVERS")
        self.variables = {name: value for name, value in os.environ.items() if name not in ours} | {
            "PATH": f"{BIN}:{os.environ['PATH']}", "BUILD": str(BIN.parent), "PROJECT": str(PROJECT), "LOADER": str(LOADER), "DATUM_BOARDS": "model:memory=64M"}
        if not any(command.place.startswith("README.md") for command in block):  # which is about how the loader gets to know it
            self.variables["ZE_ENABLE_ALT_DRIVERS"] = str(BIN.parent / "lib/libze_datum.so")
        (folder / "rtl_model").symlink_to(PROJECT / "rtl_model")
        (folder / "FILE").write_bytes(bytes(range(256)) * 64)
        (folder / "difference.json").write_text(json.dumps({"traceEvents": [], "otherData": {}}))
        (folder / "lasting").write_text(LASTING.format(python=PROJECT / "python"))
        (folder / "lasting").chmod(0o700)
        (folder / "program.c").write_text("#include <level_zero/ze_api.h>\nint main(void) { return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : 1; }\n")

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False, timeout=MOST_SECONDS)

    def start(self, script: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=self.variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def start_until(self, script: str, file: Path) -> subprocess.Popen[str]:
        """Comes back when there is the file, which says that the program is ready."""
        child = self.start(script)
        end = time.monotonic() + MOST_SECONDS
        while not file.exists():
            if child.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{script} is not ready: {child.communicate()[1] if child.poll() is not None else ''}")
            time.sleep(0.01)
        return child

    def serve_what_is_named(self, script: str) -> None:
        """A board of the reader's, where no command of the block serves it."""
        for named in SERVED.findall(script):
            socket = Path(named.replace("$PWD", str(self.folder)))
            if not socket.exists():
                self.start_until(f"datum-board --board rtl: --socket {socket} --look", socket)

    def close(self) -> None:
        for child in self.children:
            child.terminate()
            child.wait()
            child.stderr.close()


class DocumentRuns(unittest.TestCase):
    def run_block(self, block: list[Command]) -> None:
        with tempfile.TemporaryDirectory(prefix="datum-test-") as folder:
            sandbox = Sandbox(Path(folder), block)
            self.addCleanup(sandbox.close)
            before, background = "", []
            for command in block:
                text = as_run_here(command.text)
                if served := SERVES.match(text):
                    sandbox.start_until(text.removesuffix("&"), Path(served[1].replace("$PWD", folder)))
                    continue
                sandbox.serve_what_is_named(text)
                if text.endswith("&"):
                    background.append((command, sandbox.start_until(text.removesuffix("&"), Path(folder, "begun"))))
                    continue
                self.check(command, sandbox.run(f"set -e\n{before}{text}\n"))
                before += f"{text}\n" if STATEFUL.match(text) else ""
            Path(folder, "end").touch()
            for command, child in background:
                self.assertEqual((child.wait(MOST_SECONDS), child.stderr.read()), (0, ""), command)
            sandbox.close()

    def check(self, command: Command, result: subprocess.CompletedProcess[str]) -> None:
        statuses = next((known for text, known in STATUSES.items() if re.fullmatch(text, command.text)), (0,))
        self.assertIn(result.returncode, statuses, f"{command.place}: {command.text}\n{result.stdout}{result.stderr}")
        if command.output:
            self.assertEqual(result.stdout.splitlines(), list(command.output), f"{command.place}: {command.text}")

    def test_given_the_commands_of_the_documents_when_run_then_each_does_what_is_said(self) -> None:
        count = 0
        for block in shell_blocks():
            run = [command for command in block if reason_not_to_run(command) is None]
            count += len(run)
            with self.subTest(run[0].place if run else block[0].place):
                self.run_block(run)
        self.assertGreater(count, 30)

    def test_given_the_boards_that_documents_name_when_opened_then_they_are_there(self) -> None:
        self.assertGreater(len(addresses()), 5)
        with tempfile.TemporaryDirectory(prefix="datum-test-") as folder:
            sandbox = Sandbox(Path(folder))
            for address, place in addresses().items():
                result = sandbox.run(f"datum regs read MAGIC --board {shlex.quote(address)}")
                self.assertEqual((result.returncode, result.stderr), (0, ""), f"{place}: {address}")

    def test_given_the_reasons_not_to_run_when_held_against_the_documents_then_each_has_its_line(self) -> None:
        commands = [command for block in shell_blocks() for command in block]
        used = {NOT_RUN.index(entry) for command in commands for entry in NOT_RUN
                if command.place.startswith(entry[0]) and re.fullmatch(entry[1], command.text)}
        self.assertEqual([NOT_RUN[index] for index in range(len(NOT_RUN)) if index not in used], [])

    def test_given_a_reason_that_names_another_test_when_looked_for_then_there_is_that_test(self) -> None:
        # What a machine without some tool leaves out stands in the build's sources all the same.
        tests = subprocess.run(["ctest", "--test-dir", BIN.parent, "-N"], capture_output=True, text=True, check=True).stdout
        sources = "".join(path.read_text(encoding="utf-8") for folder in ("tests", "rtl_model") for path in (PROJECT / folder).rglob("CMakeLists.txt"))
        for name in sorted({name for _, _, reason in NOT_RUN for name in re.findall(r"\b(?:install|packages|synthesize|mutate|conformance)\.\w+", reason)}):
            self.assertTrue(f": {name}\n" in tests or f"NAME {name} " in sources, name)

    def test_given_a_command_that_fails_or_prints_something_else_when_run_then_it_is_told(self) -> None:
        wrong = (Command("a.md:1", "datum regs read NOTHING --board model:"), Command("a.md:2", "$ datum --version", ("datum 99",)),
                 Command("a.md:3", "./no_program"))
        for command in wrong:
            with self.assertRaises(AssertionError, msg=command.text):
                self.run_block([command._replace(text=command.text.removeprefix("$ "))])


if __name__ == "__main__":
    BIN, LOADER = (Path(argument).resolve() for argument in sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
