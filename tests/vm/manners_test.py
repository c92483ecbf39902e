"""run_in_guest.py and guest_killed.py: bounded in time, leaves nothing behind however it ends, works again and beside another run.

The machine and the server of its card are stand-ins here: what is shown is how they are started, ended and cleared away.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "run_in_guest.py"
KILLER = HERE / "guest_killed.py"
PATIENCE_S = 60

# Called as QEMU is: its dynamic linker, with the emulator among the arguments.
MACHINE = """#!{python}
import os, shutil, signal, sys
console = next(word.removeprefix("file:") for word in sys.argv if word.startswith("file:"))
behaviour = os.environ["TEST_BEHAVIOUR"]
if "TEST_ARCHIVE" in os.environ:
    shutil.copyfile(sys.argv[sys.argv.index("-initrd") + 1], os.environ["TEST_ARCHIVE"])
open(os.environ["TEST_PIDS"] + "/" + str(os.getpid()), "w").close()
print("the guest is up", flush=True)
if behaviour == "stays":
    while True:
        signal.pause()
if behaviour == "dies":
    sys.exit("qemu: an assertion failed")
open(console, "a").write("datum-vm: status " + behaviour + "\\n")
"""

SERVER = """#!{python}
import os, signal, socket, sys
open(os.environ["TEST_PIDS"] + "/" + str(os.getpid()), "w").close()
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[sys.argv.index("--socket") + 1])
listener.listen()
while True:
    signal.pause()
"""


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def becomes_true(condition) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Manners(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        for folder in ("temporary", "pids", "parts/modules", "parts/qemu/usr/lib/x86_64-linux-gnu"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "parts/busybox").touch()
        self.program("parts/qemu/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", MACHINE)
        self.program("server", SERVER)
        self.addCleanup(self.end_what_is_left)

    def program(self, name: str, text: str) -> None:
        (self.root / name).write_text(text.format(python=sys.executable))
        (self.root / name).chmod(0o755)

    def command(self, program: Path, *options: str) -> list[str]:
        command = [] if "--" in options else ["--", "true"]
        return [sys.executable, "-B", str(program), "--parts", str(self.root / "parts"), "--server", str(self.root / "server"),
                "--board", "model:", *options, *command]

    def start(self, behaviour: str, *options: str, before: tuple[str, ...] = (), program: Path = PROGRAM,
              **changes: str) -> subprocess.Popen:
        environment = {**os.environ, "TMPDIR": str(self.root / "temporary"), "TEST_PIDS": str(self.root / "pids"),
                       "TEST_BEHAVIOUR": behaviour, **changes}
        process = subprocess.Popen([*before, *self.command(program, *options)], env=environment, cwd=self.root,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for clean_up in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(clean_up)
        return process

    def archive_of(self, *options: str) -> dict[str, bytes]:
        """The files that a guest was given."""
        process = self.start("0", *options, TEST_ARCHIVE=str(self.root / "archive"))
        self.assertEqual(process.communicate(timeout=PATIENCE_S)[1], "")
        data, at, files = (self.root / "archive").read_bytes(), 0, {}
        while True:
            size, name_size = (int(data[at + field : at + field + 8], 16) for field in (54, 94))
            name = data[at + 110 : at + 110 + name_size - 1].decode()
            begin = at + (110 + name_size + 3) // 4 * 4
            if name == "TRAILER!!!":
                return files
            files["/" + name] = data[begin : begin + size]
            at = begin + (size + 3) // 4 * 4

    def start_and_see_it_up(self, *options: str, before: tuple[str, ...] = ()) -> subprocess.Popen:
        process = self.start("stays", *options, before=before)
        self.assertEqual(process.stdout.readline(), "the guest is up\n")
        return process

    def pids(self) -> list[int]:
        return [int(path.name) for path in (self.root / "pids").iterdir()]

    def end_what_is_left(self) -> None:
        for pid in self.pids():
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)

    def folders(self) -> list[Path]:
        return list((self.root / "temporary").iterdir())

    def expect_nothing_left(self) -> None:
        self.assertEqual(len(self.pids()), 2, "a machine and a server were started")
        self.assertTrue(becomes_true(lambda: all(is_gone(pid) for pid in self.pids())), "their processes have ended")
        self.assertEqual(self.folders(), [])

    def test_given_a_command_that_ends_when_run_then_its_status_is_passed_on_and_nothing_is_left(self) -> None:
        process = self.start("7")
        output, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, output, errors), (7, "the guest is up\n", ""))
        self.expect_nothing_left()

    def test_given_a_command_that_never_ends_when_its_time_is_up_then_it_is_ended_with_a_sentence(self) -> None:
        process = self.start("stays", "--timeout", "1")
        _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 124)
        self.assertIn("vm: the command did not end within 1 s", errors)
        self.expect_nothing_left()

    def test_given_a_machine_that_dies_when_run_then_its_words_are_passed_on_and_nothing_is_left(self) -> None:
        process = self.start("dies")
        _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 125)
        self.assertIn("vm: QEMU said: qemu: an assertion failed", errors)
        self.expect_nothing_left()

    def test_given_a_run_when_it_is_interrupted_ended_or_loses_its_terminal_then_nothing_is_left(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process = self.start_and_see_it_up()
                process.send_signal(number)
                _, errors = process.communicate(timeout=PATIENCE_S)
                self.assertEqual((process.returncode, errors), (128 + number, ""))
                self.expect_nothing_left()
                for path in (self.root / "pids").iterdir():
                    path.unlink()

    def test_given_a_guest_that_is_to_be_killed_when_its_test_is_ended_then_nothing_is_left(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process = self.start("stays", program=KILLER)
                self.assertTrue(becomes_true(lambda: len(self.pids()) == 2), "a machine and a server are up")
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE_S), 128 + number)
                self.expect_nothing_left()
                for path in (self.root / "pids").iterdir():
                    path.unlink()

    def test_given_arguments_that_name_files_when_run_then_the_guest_has_them_under_the_same_names(self) -> None:
        (self.root / "mine.txt").write_text("the user's own bytes")
        (self.root / "folder").mkdir()
        (self.root / "folder/more").write_text("more")
        (self.root / "further").write_text("asked for")
        root = self.root.resolve()
        files = self.archive_of("--file", "further", "--", "cat", "mine.txt", str(root / "folder/more"), "no such", "/proc/version", "")
        self.assertEqual(files[str(root / "mine.txt")], b"the user's own bytes")
        self.assertEqual(files[str(root / "folder/more")], b"more")
        self.assertEqual(files[str(root / "further")], b"asked for")
        self.assertNotIn("/proc/version", files)
        self.assertTrue(files["/command"].decode().endswith(
            f"cd {root}\nexec cat mine.txt {root}/folder/more 'no such' /proc/version ''\n"), files["/command"])

    def test_given_a_file_that_the_guest_has_no_room_for_when_run_then_it_is_refused_at_once(self) -> None:
        with (self.root / "large").open("wb") as file:
            file.truncate(257 << 20)
        _, errors = self.start("0", "--", "cat", "large").communicate(timeout=PATIENCE_S)
        self.assertEqual(errors, "vm: the files for the guest take 257 MiB, and its memory of 1024 MiB has room for 256\n")
        self.assertEqual(self.pids(), [])

    def test_given_a_run_that_was_killed_when_the_next_one_starts_then_it_removes_what_was_left(self) -> None:
        killed = self.start_and_see_it_up()
        killed.kill()
        killed.wait(PATIENCE_S)
        self.assertTrue(becomes_true(lambda: all(is_gone(pid) for pid in self.pids())), "machine and server ended with it")
        self.assertEqual(len(self.folders()), 1)
        process = self.start("0")
        self.assertEqual(process.wait(PATIENCE_S), 0)
        self.assertEqual(self.folders(), [])

    def test_given_a_run_when_its_parent_is_killed_then_nothing_is_left_if_it_was_told_so(self) -> None:
        parent = self.start_and_see_it_up("--die-with-parent", before=("sh", "-c", '"$@"; exit', "sh"))
        parent.kill()
        parent.wait(PATIENCE_S)
        self.assertTrue(becomes_true(lambda: not self.folders()))
        self.expect_nothing_left()

    def test_given_a_run_when_another_starts_and_ends_beside_it_then_neither_disturbs_the_other(self) -> None:
        first = self.start_and_see_it_up()
        own = self.folders()
        second = self.start("3")
        self.assertEqual(second.communicate(timeout=PATIENCE_S)[0], "the guest is up\n")
        self.assertEqual(second.returncode, 3)
        self.assertEqual(self.folders(), own)
        self.assertIsNone(first.poll())
        self.assertEqual(sum(not is_gone(pid) for pid in self.pids()), 2)
        first.terminate()
        first.wait(PATIENCE_S)
        self.assertEqual(self.folders(), [])


if __name__ == "__main__":
    unittest.main()
