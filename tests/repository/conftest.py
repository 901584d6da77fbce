"""A checkout with a made-up environment, whose programs are small shell scripts that write down how they were called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devtools import environment, verbs
from devtools.environment import Checkout


@dataclass
class FakeSetUp:
    """A checkout in which creating, pip and compiling are replaced; `steps` lists what was done, `fail` what to raise at a step."""

    checkout: Checkout
    steps: list[str] = field(default_factory=list)
    fail: dict[str, BaseException] = field(default_factory=dict)
    uv_ends_with: int = 0

    def create(self, checkout: Checkout) -> None:
        self.take("create")
        self.program("python")
        (checkout.environment / "lib" / "python3.11" / "site-packages" / "pip-1.dist-info").mkdir(parents=True)

    def pip(self, checkout: Checkout, *arguments: str) -> None:
        kind = "project" if "--require-hashes" not in arguments else "uv" if arguments[-1].endswith("uv.txt") else "packages"
        (checkout.environment / "lib" / "python3.11" / "site-packages" / f"{kind}-1.dist-info").mkdir(exist_ok=True)
        self.take(kind)

    def take(self, step: str) -> None:
        self.steps.append(step)
        if step in self.fail:
            raise self.fail.pop(step)

    def program(self, name: str, code: int = 0, output: str = "") -> Path:
        """Put a program into the environment that appends its name, folder and arguments to calls.txt and prints `output`."""
        path = self.checkout.program(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        calls = self.checkout.root / "calls.txt"
        path.write_text(
            f'#!/bin/sh\n[ "$1 $2" = "-I -S" ] && exit 0\necho "{name} in $PWD: $*" >> "{calls}"\n'
            f"cat <<'END'\n{output}\nEND\nexit {code}\n",
            encoding="utf-8",
        )
        path.chmod(0o755)
        return path

    @property
    def calls(self) -> list[str]:
        """What the programs were called with, in order."""
        path = self.checkout.root / "calls.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSetUp:
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "requirements.lock").write_text("one==1 \\\n    --hash=sha256:00\n", encoding="utf-8")
    (root / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    made = FakeSetUp(Checkout(root))
    monkeypatch.setattr(environment, "_create", made.create)
    monkeypatch.setattr(environment, "_pip", made.pip)
    monkeypatch.setattr(environment, "_compile", lambda checkout: made.take("compile"))
    monkeypatch.setattr(verbs, "CHECKOUT", made.checkout)
    return made


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Make an executable shell script from its text."""

    def make(text: str) -> Path:
        path = tmp_path / f"script-{len(list(tmp_path.iterdir()))}"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return make
