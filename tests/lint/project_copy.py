"""A scratch folder with parts of the project in it, for tests that break things."""

import shutil
import subprocess
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


class ProjectCopy:
    """A temporary folder; `root` is its path. Gone when the context ends."""

    def __init__(self, *parts: str, name: str = "project") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="datum-test-")
        self.root = Path(self._folder.name) / name
        self.root.mkdir()
        for part in parts:
            source = PROJECT / part
            target = self.root / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, target)

    def __enter__(self) -> "ProjectCopy":
        return self

    def __exit__(self, *exception: object) -> None:
        self._folder.cleanup()

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def track(self) -> None:
        """Makes the folder a git repository that tracks all that is in it."""
        subprocess.run(["git", "init", "-q", "."], cwd=self.root, check=True)
        subprocess.run(["git", "add", "-A"], cwd=self.root, check=True)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
