"""Runs mutants: builds a copy of the project whose RTL holds them all, and lets its tests say which of them they notice."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mutants import Mutant, Source, instrumented

ROOT = Path(__file__).resolve().parents[2]
# Mutants are not to be beautiful.
LENIENT = ('"--cc", ', '"--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style", ')
PACKAGES = ("datum_pkg", "datum_reg_pkg", "datum_ecc_pkg", "datum_dram_pkg", "datum_mmu_pkg", "datum_dma_pkg")
FAULT = re.compile(r'^// fault (\S+): ', re.MULTILINE)


class Broken(Exception):
    """No mutant can be judged."""


@dataclass
class Bench:
    name: str
    target: str
    files: list[str]
    arguments: list[str] = field(default_factory=list)
    then: str = ""


def say(text: str) -> None:
    print(text, flush=True)


def run(command: list[str], what: str, log: Path, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """The output; a failure is told with its end."""
    begin = time.monotonic()
    result = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    with log.open("a", encoding="utf-8") as file:
        file.write(result.stdout)
    if result.returncode != 0:
        raise Broken(f"{what} failed ({log}):\n{result.stdout[-1500:]}")
    say(f"  {what}: {time.monotonic() - begin:.0f} s")
    return result.stdout


class Tree:
    """A copy of the project below `folder`, built for one bench."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self.source = folder / bench.name / "source"
        self.build = self.source / "build/dev"
        self.log = folder / bench.name / "log"
        self.log.parent.mkdir(parents=True, exist_ok=True)

    def fill(self, sources: dict[str, Source], numbered: dict[str, list[tuple[int, Mutant]]]) -> None:
        """The project as it is, but with all these mutants in its RTL. What is the same keeps its time."""
        listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            origin, copy = ROOT / name, self.source / name
            if not origin.is_file():
                continue
            inside = name.removeprefix("rtl_model/")
            text = origin.read_bytes()
            if name.startswith("rtl_model/rtl/") and numbered.get(inside):
                text = instrumented(sources[inside], numbered[inside]).encode()
            elif name == "rtl_model/verilate.py":
                if text.count(LENIENT[0].encode()) != 1:
                    raise Broken("rtl_model/verilate.py does not call Verilator as it did")
                text = text.replace(*(part.encode() for part in LENIENT))
            if not copy.is_file() or copy.read_bytes() != text:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(text)
                shutil.copymode(origin, copy)

    def compile(self, jobs: int) -> None:
        cache = Path(os.environ.get("DATUM_CACHE", ROOT / ".cache"))
        environment = os.environ | {"CCACHE_BASEDIR": str(self.source), "CCACHE_DIR": os.environ.get("CCACHE_DIR", str(cache / "ccache"))}
        loader = os.environ.get("DATUM_LOADER_ROOT", str(cache / "loader"))
        run(["cmake", "--preset", "dev", f"-DDATUM_LOADER_ROOT={loader}", "-DDATUM_PRECOMPILED_HEADERS=ON", "-DDATUM_UNITY_BUILD=ON", "-DDATUM_DEBUG_INFO=lines"],
            f"{self.bench.name}: configured", self.log, self.source, environment)
        run(["cmake", "--build", str(self.build), "--target", self.bench.target, "-j", str(jobs)], f"{self.bench.name}: built", self.log, self.source, environment)

    def program(self) -> Path:
        found = [path for path in self.build.rglob(self.bench.target) if path.is_file()]
        if len(found) != 1:
            raise Broken(f"{self.bench.target} was not built")
        return found[0]

    def killed(self, number: int, seconds: float | None) -> tuple[str, float]:
        """Why the tests fail with the mutant ("": they do not), and how long they took."""
        begin = time.monotonic()
        command = [str(self.program()), "--gtest_fail_fast", "--gtest_brief=1", *self.bench.arguments]
        process = subprocess.Popen(command, cwd=self.log.parent, env=os.environ | {"DATUM_MUTANT": str(number)}, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return "the tests do not end", time.monotonic() - begin
        failed = re.search(r"\[  FAILED  \] (\S+)", output)
        why = "" if process.returncode == 0 else failed[1] if failed else f"the tests end with {process.returncode}"
        return why, time.monotonic() - begin


def linted(mutant: Mutant, source: Source) -> str:
    """What lint, which sees each commit first, says of the mutant; "": nothing. The wires of a block alone may be unused."""
    if source.kind == "package":
        return ""
    with tempfile.TemporaryDirectory(prefix="datum-mutate-") as temporary:
        rtl = Path(temporary) / "rtl"
        shutil.copytree(ROOT / "rtl_model/rtl", rtl)
        path = rtl.parent / mutant.file
        path.write_text(mutant.applied(source.text), encoding="utf-8")
        packages = sorted(rtl.rglob("*_pkg.sv"), key=lambda package: PACKAGES.index(package.stem))
        command = ["verilator", "--lint-only", "-Wall", "-Wno-fatal", "--top-module", path.stem, str(ROOT / "rtl_model/lint.vlt"), *map(str, packages), str(path)]
        for folder in sorted(rtl.iterdir()):
            command += ["-y", str(folder)] if folder.is_dir() else []
        output = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        found = re.findall(r"%(?:Warning|Error)(?:-(\w+))?: " + re.escape(str(path)), output)
        return next((f"lint {rule or 'error'}" for rule in found if not rule.startswith("UNUSED")), "")


def proofs_of(file: str) -> list[str]:
    """The harnesses that plant faults into the file: those are about it."""
    harnesses = sorted((ROOT / "rtl_model/proofs").glob("*.sv"))
    return [path.stem for path in harnesses if file in FAULT.findall(path.read_text(encoding="utf-8"))]


def refuted(mutant: Mutant, source: Source, seconds: int = 60) -> str:
    """The proof that a mutant breaks; "": none, or none was found in time."""
    for name in proofs_of(mutant.file):
        with tempfile.TemporaryDirectory(prefix="datum-mutate-") as temporary:
            folder = Path(temporary)
            for part in ("scripts/prove", "rtl_model/proofs", "rtl_model/rtl"):
                copy = folder / part
                copy.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / part).is_dir() else shutil.copy2)(ROOT / part, copy)
            (folder / "rtl_model" / mutant.file).write_text(mutant.applied(source.text), encoding="utf-8")
            result = subprocess.run([sys.executable, "-B", str(folder / "scripts/prove"), "--seconds", str(seconds), name], capture_output=True, text=True, check=False)
            # Not to be proved is not enough: a counterexample is asked for.
            if "REFUTED" in result.stdout:
                return f"proof {name}"
    return ""
