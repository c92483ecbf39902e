"""A QEMU guest whose PCI cards are served by other processes: made, run, and cleared away whatever happens."""

import ctypes
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from initramfs import Initramfs

STATUS = re.compile(rb"datum-vm: status (\d+)")
PR_SET_PDEATHSIG = 1

# Status of scripts/vm where the command did not end by itself.
TIMED_OUT = 124
GUEST_DIED = 125

# The device must stand before the cards on QEMU's command line. Without caching-mode QEMU gives up when the guest maps; without
# interrupt remapping, which only Intel's offers here, the guest's kernel wants to be told that it may go on.
IOMMUS = {
    "intel48": ["-device", "intel-iommu,intremap=on,caching-mode=on,aw-bits=48"],
    "intel39": ["-device", "intel-iommu,intremap=on,caching-mode=on,aw-bits=39"],
    "virtio": ["-device", "virtio-iommu-pci"],
    "none": [],
}

# no_timer_check: on a loaded machine an emulated timer is late, which the kernel takes for broken. The rest saves time.
KERNEL_ARGUMENTS = (
    "console=ttyS0 quiet panic=-1 no_timer_check intel_iommu=on mitigations=off random.trust_cpu=on audit=0 apparmor=0 selinux=0 "
    "cryptomgr.notests rcupdate.rcu_expedited=1"
)


@dataclass
class Machine:
    """What the guest is made of."""

    parts: Path
    iommu: str = "intel48"
    sockets: list[Path] = field(default_factory=list)
    neighbour: bool = False  # the first card shares its IOMMU group with a serial port
    memory_mib: int = 1024
    processors: int = 2
    kernel_arguments: list[str] = field(default_factory=list)
    first_bus: int = 1  # that of the first card; the ports before it are empty


def signal_when_parent_ends(number: int) -> None:
    """This process gets the signal when the one that started it ends, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def die_with_parent() -> None:
    """For a child process: it is killed when this process ends, however it ends."""
    signal_when_parent_ends(signal.SIGKILL)


class RunFolder:
    """A folder of this run. Folders whose run was killed are removed by the next run."""

    PREFIX = "datum-vm-"

    def __init__(self) -> None:
        # A socket's name holds 107 bytes, so the folder is not in the cache.
        base = Path(tempfile.gettempdir())
        for left in base.glob(self.PREFIX + "*"):
            self._remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=self.PREFIX, dir=base))
        self._lock = (self.path / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @staticmethod
    def _remove_if_left(folder: Path) -> None:
        try:
            if folder.stat().st_uid != os.getuid():
                return
            with (folder / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            return  # somebody else's, or in use, or being made

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


class BoardServer:
    """A `datum-board` process for the time of a with statement."""

    def __init__(self, program: Path, board: str, socket: Path, log: Path, timeout_s: float = 30.0) -> None:
        self._command = [str(program), "--board", board, "--socket", str(socket)]
        self.socket = socket
        self._log = log
        self._timeout_s = timeout_s
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> "BoardServer":
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             preexec_fn=die_with_parent)
        deadline = time.monotonic() + self._timeout_s
        while not self.socket.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError(f"{' '.join(self._command)} offers no socket: {self._log.read_text(errors='replace').strip()}")
            time.sleep(0.02)
        return self

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def qemu_command(machine: Machine, initramfs: Path, console: Path) -> list[str]:
    root = machine.parts / "qemu"
    library = root / "usr/lib/x86_64-linux-gnu"
    linker = next(library.glob("ld-linux-x86-64.so.2"), root / "usr/lib64/ld-linux-x86-64.so.2")
    command = [str(linker), "--library-path", str(library), str(root / "usr/bin/qemu-system-x86_64"),
               "-L", str(root / "usr/share/qemu"), "-L", str(root / "usr/share/seabios"),
               "-machine", "q35,kernel-irqchip=split,memory-backend=memory", "-accel", "tcg,thread=multi", "-cpu", "qemu64",
               "-smp", str(machine.processors), "-m", f"{machine.memory_mib}M",
               # Shared, or the cards would read zeros of their own.
               "-object", f"memory-backend-memfd,id=memory,size={machine.memory_mib}M,share=on",
               "-nodefaults", "-display", "none", "-vga", "none", "-no-reboot",
               "-serial", f"file:{console}", "-chardev", "stdio,id=output,signal=off", "-serial", "chardev:output",
               *IOMMUS[machine.iommu]]
    for number in range(1, machine.first_bus):
        command += ["-device", f"pcie-root-port,id=empty{number},bus=pcie.0,chassis={100 + number},slot={100 + number}"]
    for number, socket in enumerate(machine.sockets):
        # A faster port says that it tells when its link is up, and QEMU's does not: the kernel then gives up after a bus reset.
        command += ["-device", f"pcie-root-port,id=port{number},bus=pcie.0,chassis={number + 1},slot={number + 1},x-speed=5"]
        bus = f"port{number}"
        if machine.neighbour and number == 0:
            # Behind a conventional bridge an IOMMU cannot tell devices apart: they are one group.
            command += ["-device", f"pcie-pci-bridge,id=bridge,bus={bus}", "-device", "pci-serial,bus=bridge,addr=2"]
            bus = "bridge"
        command += ["-device", '{"driver":"vfio-user-pci","bus":"%s","id":"card%d","addr":"%s","socket":{"type":"unix","path":"%s"}}'
                    % (bus, number, "1" if bus == "bridge" else "0", socket)]
    return command + ["-kernel", str(machine.parts / "vmlinux"), "-initrd", str(initramfs), "-append",
                      " ".join([KERNEL_ARGUMENTS, *machine.kernel_arguments])]


def run_guest(machine: Machine, files: Initramfs, folder: Path, timeout_s: float, output=sys.stdout.buffer) -> int:
    """Boots the machine with `files`, passes the command's output on as it comes, and returns the command's status."""
    archive, console, complaints = folder / "initramfs", folder / "console", folder / "complaints"
    files.write(archive)
    console.touch()
    # A file: QEMU waits for a pipe that nobody reads, and it may have much to say (virtio-iommu: of each refused access).
    with complaints.open("wb") as errors:
        process = subprocess.Popen(qemu_command(machine, archive, console), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=errors, preexec_fn=die_with_parent)
    timed_out = _pass_on(process, output, time.monotonic() + timeout_s)
    process.wait()
    process.stdout.close()
    complaint = first_lines(complaints.read_text(errors="replace"), 5)
    log = console.read_bytes()
    if timed_out:
        _explain(f"the command did not end within {timeout_s:.0f} s", log, complaint)
        return TIMED_OUT
    found = STATUS.findall(log)
    if not found:
        _explain(f"the guest ended without a status (QEMU: status {process.returncode})", log, complaint)
        return GUEST_DIED
    return int(found[-1])


def _pass_on(process: subprocess.Popen, output, deadline: float) -> bool:
    """Copies what the guest writes until it ends; True if the deadline came first and the guest was killed."""
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        data = process.stdout.read()
        if data:
            output.write(data)
            output.flush()
        elif data == b"":
            return False
        elif time.monotonic() > deadline:
            process.kill()
            return True
        else:
            time.sleep(0.02)


def first_lines(text: str, count: int) -> str:
    return "\n".join(text.strip().splitlines()[:count])


def _explain(what: str, console: bytes, complaint: str) -> None:
    print(f"vm: {what}", file=sys.stderr)
    if complaint:
        print(f"vm: QEMU said: {complaint}", file=sys.stderr)
    for line in console.decode(errors="replace").splitlines()[-25:]:
        print(f"vm: console: {line}", file=sys.stderr)
