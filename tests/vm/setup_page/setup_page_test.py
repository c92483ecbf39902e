"""A new user of a Debian machine that nobody has set up types what docs/vfio-setup.md says in short, up to the first copy.

usage: setup_page_test.py --parts FOLDER --system TAR --server PROGRAM --datum PROGRAM --demo PROGRAM
       --driver LIBRARY --plugin LIBRARY --loader LIBRARY

The commands are taken from the page, and are typed one after the other into the user's shell, with a line behind each that tells
how it ended. The user's clone has the built programs and the project's own scripts/demo; what sets up and builds is empty there,
since the machine has no network.
"""

import argparse
import io
import json
import re
import shlex
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

from elf_closure import closure_of, interpreter_of  # noqa: E402
from guest import BoardServer, Machine, RunFolder, run_guest  # noqa: E402
from initramfs import Initramfs  # noqa: E402
from run_in_guest import end_orderly  # noqa: E402

OPTIONS = argparse.Namespace()
CLONE = "/newcomer/clone"
MOST_COMMANDS = 10
MEMORY_MIB = 1536
TIMEOUT_S = 340
LAST_WORDS = 'echo "datum-last $(id -un)|$(id -u)|$(id -Gn)|$(ulimit -l)|$(stat -c "%G %a" /dev/iommu)"'


def lines_of_page() -> list[str]:
    page = (PROJECT / "docs/vfio-setup.md").read_text()
    section = page.split("\n## In short\n", 1)[1].split("\n## ", 1)[0]
    return section.split("\n```\n", 2)[1].splitlines()


def commands_in(line: str) -> int:
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.commenters = "#"
    return 1 + sum(word in ("&&", "||", ";", "&") for word in words)


def board_of(lines: list[str]) -> str:
    return re.search(r"--board (\S+)", lines[-1])[1]


def typed(lines: list[str]) -> str:
    told = (f'{line}\necho "datum-step {number} ${{PIPESTATUS[*]:-$?}}"\n' for number, line in enumerate(lines, start=1))
    return "cd datum\n" + "".join(told) + LAST_WORDS + "\n"


def add_clone(files: Initramfs) -> None:
    linker = interpreter_of(OPTIONS.datum)
    built = {"bin/datum": OPTIONS.datum, "bin/datum-demo": OPTIONS.demo, "lib/libze_datum.so": OPTIONS.driver, "lib/libdatum_sim.so": OPTIONS.plugin}
    for name, path in built.items():
        files.file(f"{CLONE}/build/dev/{name}", path)
    # Libraries that the system has are its own.
    needed = set().union(*(closure_of(path, linker) for path in (*built.values(), OPTIONS.loader))) - set(built.values())
    for path in needed:
        if not files.has(str(path)):
            files.file(str(path), path)
    for name in ("demo", "workspace.sh", "progress.sh"):
        files.file(f"{CLONE}/scripts/{name}", PROJECT / "scripts" / name)
    files.text(f"{CLONE}/scripts/setup", "#!/bin/sh\n", 0o755)
    files.text(f"{CLONE}/scripts/build.sh", "datum_build_preset() { :; }\n")


def machine_of_debian(lines: list[str]) -> Initramfs:
    files = Initramfs()
    files.system(OPTIONS.system)
    files.file("/init", HERE / "init")
    files.file("/busybox", OPTIONS.parts / "busybox")
    for module in (OPTIONS.parts / "modules").glob("*.ko"):
        files.file(f"/modules/{module.name}", module)
    add_clone(files)
    files.text("/etc/hostname", "newcomer\n")
    files.text("/etc/hosts", "127.0.0.1 localhost newcomer\n")
    files.text("/newcomer/typed", typed(lines))
    files.text("/newcomer/board", board_of(lines))
    return files


def checks_in(report: str) -> dict[int, dict]:
    answer, _ = json.JSONDecoder().raw_decode(report, report.index("{"))
    return {check["number"]: check for check in answer["checks"]}


class SetUpPage(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.lines = lines_of_page()
        files = machine_of_debian(cls.lines)
        said = io.BytesIO()
        bus = int(re.search(r":([0-9a-f]{2}):00\.0$", board_of(cls.lines))[1], 16)
        with RunFolder() as folder, BoardServer(OPTIONS.server, "model:", folder / "card.sock", folder / "card.log") as server:
            machine = Machine(OPTIONS.parts, sockets=[server.socket], memory_mib=MEMORY_MIB, first_bus=bus)
            status = run_guest(machine, files, folder, TIMEOUT_S, said)
        cls.said = said.getvalue().decode(errors="replace")
        print(cls.said, flush=True)
        if status != 0:
            raise RuntimeError(f"the machine ended with status {status}")
        cls.parts = dict(re.findall(r"^datum-part (\w+)\n(.*?)(?=^datum-part )", cls.said, re.MULTILINE | re.DOTALL))

    def test_given_the_page_when_its_commands_are_typed_as_they_stand_then_each_succeeds(self) -> None:
        steps = re.findall(r"^datum-step (\d+) (.*)$", self.parts["page"], re.MULTILINE)
        self.assertEqual([int(number) for number, _ in steps], list(range(1, len(self.lines) + 1)))
        for (_, statuses), line in zip(steps, self.lines, strict=True):
            self.assertEqual(set(statuses.split()), {"0"}, line)

    def test_given_the_page_when_it_has_been_followed_then_a_copy_has_come_back_from_the_card(self) -> None:
        copied = self.parts["page"].split("datum-step %d " % (len(self.lines) - 1), 1)[1]
        self.assertRegex(copied, rf"DATUM_BOARDS={re.escape(board_of(self.lines))}\n")
        self.assertRegex(copied, r"(?m)^compare +all \d{6,} bytes came back$")

    def test_given_the_page_when_it_has_been_followed_then_the_user_is_not_root_and_has_group_and_limit(self) -> None:
        name, number, groups, limit, node = re.search(r"(?m)^datum-last (.*)$", self.parts["page"])[1].split("|")
        self.assertEqual(name, "newcomer")
        self.assertNotEqual(int(number), 0)
        self.assertIn("datum", groups.split())
        self.assertEqual(limit, "unlimited")
        self.assertEqual(node, "datum 660", "the node of iommufd was made before its rule")

    def test_given_the_page_when_its_commands_are_counted_then_they_are_few(self) -> None:
        self.assertLessEqual(sum(map(commands_in, self.lines)), MOST_COMMANDS)

    def test_given_a_machine_that_nobody_set_up_when_doctor_is_asked_then_it_says_how_to_bind_the_card(self) -> None:
        check = checks_in(self.parts["untouched"])[2]
        self.assertEqual(check["outcome"], "failed")
        self.assertIn("it must be bound to vfio-pci", check["finding"])
        self.assertIn("modprobe vfio-pci", check["cure"])

    def test_given_a_user_without_the_group_when_doctor_is_asked_then_it_names_node_rules_and_group(self) -> None:
        check = checks_in(self.parts["without_group"])[4]
        self.assertEqual(check["outcome"], "failed")
        self.assertRegex(check["finding"], r"this user may not open /dev/\S+")
        self.assertIn("datum udev-rule", check["cure"])
        self.assertIn("usermod -aG datum", check["cure"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("parts", "system", "server", "datum", "demo", "driver", "plugin", "loader"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    end_orderly(with_parent=True)
    unittest.main(argv=[sys.argv[0], *rest])
