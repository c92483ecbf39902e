#!/usr/bin/env python3
"""Runs one program of a Debian folder with the driver installed there, and judges what it says.

usage: run_client.py --root FOLDER --driver FILE --work FOLDER NAME

NAME is one of CLIENTS below. The folder is entered with a mount namespace of its own, so nothing outside is touched; an
ordinary user gets a user namespace as well.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
LIMIT_S = 150

# $1 folder, $2 of the driver, $3 scratch; then the command. The root of an ordinary user's namespace may bind as well.
MOUNT = """
set -e
mount --rbind /proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
mount --bind "$2" "$1/datum/lib"
mount --bind "$3" "$1/datum/scratch"
root=$1
shift 3
cd /
"""
ENTER = MOUNT + """
exec chroot "$root" "$@"
"""

PORT = 13337
SERVER, CLIENT = "10.77.0.2", "10.77.0.1"
# Two network namespaces with a cable between them: the command up to "--" serves in one, what follows asks from the other.
ENTER_TWO_HOSTS = MOUNT + f"""
PATH=$PATH:/usr/sbin:/sbin
server=()
while [ "$1" != -- ]; do server+=("$1"); shift; done
shift
unshare --net sleep 1000 &
host=$!
trap 'kill "$host" $(jobs -p) 2>/dev/null' EXIT
net=/proc/$host/ns/net
until [ "$(readlink "$net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add cable type veth peer name cable netns "$host"
ip link set lo up
ip addr add {CLIENT}/24 dev cable
ip link set cable up
nsenter --net="$net" ip link set lo up
nsenter --net="$net" ip addr add {SERVER}/24 dev cable
nsenter --net="$net" ip link set cable up
# The kernel tells a moment later that the cable is plugged in, and UCX looks once.
until ip link show cable | grep -q 'state UP' && nsenter --net="$net" ip link show cable | grep -q 'state UP'; do sleep 0.05; done
# A sysfs shows the network of whoever mounted it.
enter() {{ unshare --mount bash -c 'mount -t sysfs sysfs "$0/sys" && exec chroot "$0" "$@"' "$root" "$@"; }}
export -f enter
export root
nsenter --net="$net" bash -c 'enter "$@"' serve "${{server[@]}}" >/dev/null &
serving=$!
# 0A: it listens (proc_pid_net(5), tcp).
until grep -q ':{PORT:04X} 00000000:0000 0A' "/proc/$host/net/tcp" || ! kill -0 "$serving"; do sleep 0.05; done
enter "$@"
wait "$serving"
"""

GPU = {"DATUM_COMPAT": "gpu"}
PING_PONG = ["mpiexec", "-n", "2", "/datum/scratch/ping_pong"]
ALL_BYTES = r"\b8388544 bytes compared\b"
UCX_GPU = GPU | {"UCX_TLS": "self,sm,tcp,ze_copy"}


def ucx_perftest(memory: str, size: int, *where: str) -> list[str]:
    return ["ucx_perftest", *(where or ["-l"]), "-t", "ucp_put_lat", "-s", str(size), "-m", memory, "-n", "2000", "-w", "100"]


@dataclass
class Client:
    command: list[str]
    shows: list[str] = field(default_factory=list)  # patterns of what it has to print
    hides: list[str] = field(default_factory=list)  # patterns of what it must not print
    environment: dict[str, str] = field(default_factory=dict)
    like_without_driver: bool = False  # it says nothing on standard error that it does not say without the driver
    needs_ping_pong: bool = False
    server: list[str] = field(default_factory=list)  # runs on another host beside the command, and ends with it


CLIENTS = {
    "lstopo": Client(
        ["lstopo-no-graphics", "-v", "--whole-io"],
        shows=[r"LevelZeroDeviceType=FPGA", r"LevelZeroCQGroups=1\b", r"LevelZeroDDRSize=[1-9]"],
        like_without_driver=True,
    ),
    "clinfo": Client(["clinfo", "-l"], shows=["Portable Computing Language"], hides=["Datum"], like_without_driver=True),
    "mpi": Client([*PING_PONG, "host"], shows=[ALL_BYTES], like_without_driver=True, needs_ping_pong=True),
    "ucx_info": Client(["ucx_info", "-d"], shows=["Transport: self"], hides=["ze_copy"], like_without_driver=True),
    "gpu.lstopo": Client(
        ["lstopo-no-graphics", "-v", "--whole-io"],
        shows=[r"LevelZeroDeviceType=GPU", r"LevelZeroCQGroups=2\b"],
        environment=GPU,
    ),
    "gpu.clinfo": Client(["clinfo", "-l"], shows=["Portable Computing Language"], environment=GPU),
    "gpu.ucx_info": Client(["ucx_info", "-d"], shows=["ze_copy"], environment=GPU),
    "gpu.mpi": Client([*PING_PONG, "device"], shows=[ALL_BYTES], environment=GPU, needs_ping_pong=True),
    "gpu.mpi_host": Client([*PING_PONG, "host"], shows=[ALL_BYTES], environment=GPU, needs_ping_pong=True),
}
for kind in ("device", "host", "managed"):
    for size in (8, 4096, 1 << 20):
        CLIENTS[f"gpu.ucx_{kind}_{size}"] = Client(
            ucx_perftest(f"ze-{kind}", size), shows=[r"Final: +2000"], hides=["ERROR"], environment=UCX_GPU
        )
for size in (4096, 1 << 20):
    CLIENTS[f"gpu.ucx_two_hosts_{size}"] = Client(
        ucx_perftest("ze-device", size, SERVER, "-p", str(PORT)), shows=[r"Final: +2000"], hides=["ERROR"],
        environment=GPU | {"UCX_TLS": "tcp,ze_copy", "UCX_NET_DEVICES": "cable"}, server=["ucx_perftest", "-p", str(PORT)],
    )


class Folder:
    """The Debian folder with the driver and a scratch folder mounted in it."""

    def __init__(self, root: Path, driver: Path, work: Path) -> None:
        self.root, self.driver, self.work = root, driver, work

    def run(self, command: list[str], environment: dict[str, str], with_driver: bool = True,
            server: list[str] | None = None) -> subprocess.CompletedProcess:
        variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"} | environment
        if with_driver:
            variables |= {"ZE_ENABLE_ALT_DRIVERS": f"/datum/lib/{self.driver.name}", "DATUM_BOARDS": "model:"}
        namespace = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
        clean = ["env", "-i", *[f"{name}={value}" for name, value in variables.items()]]
        script, programs = ENTER, [*clean, *command]
        if server:
            namespace.append("--net")
            script, programs = ENTER_TWO_HOSTS, [*clean, *server, "--", *clean, *command]
        return subprocess.run(
            [*namespace, "bash", "-c", script, "enter", self.root, self.driver.parent, self.work, *programs],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
        )

    def build_ping_pong(self) -> None:
        source = self.work / "ping_pong.c"
        source.write_bytes((SOURCES / "ping_pong.c").read_bytes())
        command = ["mpicc", "-O2", "-Wall", "-Werror", "-o", "/datum/scratch/ping_pong", "/datum/scratch/ping_pong.c", "-lze_loader"]
        built = self.run(command, {}, with_driver=False)
        if built.returncode != 0:
            sys.exit(f"ping_pong.c was not built:\n{built.stdout}{built.stderr}")


def plain(text: str) -> set[str]:
    """The lines without what differs from run to run: times, addresses, numbers of processes."""
    return {re.sub(r"0x[0-9a-f]+|\d+", "#", line) for line in text.splitlines()}


def complaints(client: Client, folder: Folder) -> list[str]:
    outcome = folder.run(client.command, client.environment, server=client.server)
    said = outcome.stdout + outcome.stderr
    found = [] if outcome.returncode == 0 else [f"its status is {outcome.returncode}"]
    found += [f"it does not say '{pattern}'" for pattern in client.shows if not re.search(pattern, said)]
    found += [f"it says '{pattern}'" for pattern in client.hides if re.search(pattern, said)]
    if client.like_without_driver:
        without = folder.run(client.command, client.environment, with_driver=False)
        found += [f"only with the driver it says: {line}" for line in plain(outcome.stderr) - plain(without.stderr)]
    if found:
        print(outcome.stdout + outcome.stderr, flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True, help="the Debian folder that tests/clients/prepare made")
    parser.add_argument("--driver", type=Path, required=True, help="libze_datum.so, with the simulation beside it")
    parser.add_argument("--work", type=Path, required=True, help="a scratch folder of this run's own")
    parser.add_argument("client", choices=sorted(CLIENTS), metavar="NAME", help=", ".join(CLIENTS))
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    client = CLIENTS[arguments.client]
    folder = Folder(arguments.root.resolve(), arguments.driver.resolve(), arguments.work.resolve())
    try:
        if client.needs_ping_pong:
            folder.build_ping_pong()
        found = complaints(client, folder)
    except subprocess.TimeoutExpired as error:
        found = [f"it did not end within {error.timeout:.0f} s"]
    for complaint in found:
        print(f"{arguments.client}: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
