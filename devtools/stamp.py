"""The stamp in `.venv` that says what it was made from, written last, so that a half-made environment has none."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamp:
    """What an environment was made from.

    `packages` is the SHA-256 of the lock file, this interpreter and the checkout's place; `project` that of pyproject.toml,
    empty until the project itself is installed; `installed` lists what must be found in site-packages.
    """

    packages: str
    project: str
    installed: tuple[str, ...] = ()

    def matches(self, wanted: Stamp) -> bool:
        """Whether an environment with this stamp was made from what `wanted` describes."""
        return (self.packages, self.project) == (wanted.packages, wanted.project)


def wanted_stamp(root: Path) -> Stamp:
    """The stamp of an environment made now from the checkout at `root` with this interpreter."""
    interpreter = f"{sys.implementation.name} {platform.python_version()} {sys.base_prefix}"
    packages = _digest((root / "requirements.lock").read_bytes(), interpreter.encode(), os.fsencode(root))
    return Stamp(packages=packages, project=_digest((root / "pyproject.toml").read_bytes()))


def read_stamp(path: Path) -> Stamp | None:
    """The stamp at `path`; None when there is none or it cannot be read as one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Stamp(packages=str(found["packages"]), project=str(found["project"]), installed=tuple(found["installed"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_stamp(path: Path, stamp: Stamp) -> None:
    """Put `stamp` at `path` in one step: a reader sees the old one, the new one or none."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(stamp), indent=1), encoding="utf-8")
    draft.replace(path)


def _digest(*parts: bytes) -> str:
    """SHA-256 over the parts, each preceded by its length, so that no two lists of parts collide."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
