"""A copy of scripts/ in a scratch folder, in which they run as an ordinary user with tools of the test's choice."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def ordinary_user() -> int | None:
    """The user to run as when the tests run as root, who may do everything; None: as we are."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


class ScriptSandbox:
    """`clone` looks like a clone with nothing but scripts in it; `tools` is in front of PATH."""

    def __init__(self, clone_name: str = "clone") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        self.root = Path(self._folder.name)
        self.clone = self.root / clone_name
        self.tools = self.root / "tools"
        self.home = self.root / "home"
        shutil.copytree(PROJECT / "scripts", self.clone / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.tools.mkdir()
        self.home.mkdir()
        self.environment = {
            "PATH": f"{self.tools}:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
        }
        self.give_to_ordinary_user()

    def close(self) -> None:
        self._folder.cleanup()

    def give_to_ordinary_user(self) -> None:
        user = ordinary_user()
        if user is not None:
            for path in [self.root, *self.root.rglob("*")]:
                os.chown(path, user, -1, follow_symlinks=False)

    def file(self, name: str, data: bytes = b"data") -> Path:
        path = self.root / name
        path.write_bytes(data)
        return path

    def tool(self, name: str, script: str) -> None:
        """Puts a program in front of the system's of the same name."""
        path = self.tools / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.clone / "scripts" / script), *arguments],
            cwd=self.root, env=self.environment | environment, user=ordinary_user(),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )
