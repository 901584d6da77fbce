"""Questions to an engine: one number of a composition's privacy profile."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True)
class DeltaAt:
    """The smallest delta at `epsilon`, in nats, at least 0."""

    epsilon: Fraction


@dataclass(frozen=True)
class EpsilonAt:
    """The smallest epsilon at `delta`, in [0, 1)."""

    delta: Fraction


Question: TypeAlias = DeltaAt | EpsilonAt
