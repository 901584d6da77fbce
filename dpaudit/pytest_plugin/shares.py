"""Shares of a run's false-alarm budget: exact parts by weight, and seeds by name, whatever the order and the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256


@dataclass(frozen=True)
class Share:
    """What one test may use: `alpha` of the run's false-alarm budget, and the `seed` of all its random streams."""

    alpha: Fraction
    seed: int


def shares_of(budget: Fraction, seed: int, tests: Sequence[tuple[str, Fraction]]) -> list[Share]:
    """The share of each test."""
    whole = sum((weight for _, weight in tests), Fraction(0))
    return [Share(budget * weight / whole, _seed_of(seed, name)) for name, weight in tests]


def _seed_of(seed: int, name: str) -> int:
    """A 63-bit seed that depends on the run's seed and the test's name only."""
    return int.from_bytes(sha256(f"{seed}:{name}".encode()).digest()[:8], "big") >> 1
