"""Strange targets beside honest ones, in a folder of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

HONEST = """
from dpaudit import Claim, PureDP, Target


def honest(name, scale):
    def release(data, count, rng):
        return len(data) + rng.laplace(scale=scale, size=count)

    return Target(name=name, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], sample=release)


sound, broken, after, broken_after, strange = (
    honest(name, scale)
    for name, scale in (("sound", 1.0), ("broken", 0.3), ("after", 1.0), ("broken after", 0.3), ("strange", 1.0))
)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be in, with honest targets; what loading changes is put back."""
    (tmp_path / "honest.py").write_text(HONEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path
