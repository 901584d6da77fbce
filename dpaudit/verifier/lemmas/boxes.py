"""Inequalities between transcendental functions, for every parameter in a box: balls, and subdivision where a ball is too wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from dpaudit.exact import fmpq_of, working_precision

if TYPE_CHECKING:
    from flint import arb, fmpq

Box: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""The least and the largest value of each parameter."""
Margin: TypeAlias = "Callable[[Sequence[arb]], arb]"
"""The quantity that must be positive, from a ball for each parameter to a ball that encloses all its values there."""


@dataclass(frozen=True)
class Inequality:
    """A claim that something is positive everywhere in a box of parameters.

    Args:
      name: its identifier, `group.what`.
      statement: what it says, in words.
      margin: what must be positive, computed with balls.
      box: the least and the largest value of each parameter.
      source: the paper, or what the inequality is a step of.
    Source: docs/proofs.md, "Lemmas".
    Example:
      >>> Inequality("example.exp", "exp(x) > x", lambda x: x[0].exp() - x[0], ((Fraction(0), Fraction(2)),), "analysis").name
      'example.exp'
    """

    name: str
    statement: str
    margin: Margin
    box: Box
    source: str


@dataclass(frozen=True)
class Cover:
    """The result of covering a box.

    Args:
      boxes: how many parts were looked at.
      failing: a part in which the claim was not shown; None where it holds in all.
      refuted: whether it is false in the middle of that part for certain.
    Source: docs/proofs.md, "Lemmas".
    Example:
      >>> Cover(boxes=1, failing=None, refuted=False).holds
      True
    """

    boxes: int
    failing: Box | None
    refuted: bool

    @property
    def holds(self) -> bool:
        """True if the claim holds everywhere in the box."""
        return self.failing is None


def positive_on(margin: Margin, box: Box, *, most: int = 200_000, bits: int = 64) -> Cover:
    """Show that something is positive everywhere in a box, by halving until a ball says so.

    Args:
      margin: what must be positive, from one ball for each parameter to a ball that encloses all its values.
      box: the least and the largest value of each parameter, exact.
      most: how many parts may be looked at, at least 1.
      bits: the precision of the balls.
    Returns:
      How many parts were needed; or the first part in whose middle the claim is false for certain, or that was left when there
      were too many. Equality anywhere cannot be shown.
    Raises:
      ValueError: a least value is above its largest.
    Source: Moore 1966; Johansson 2017 for balls.
    Example:
      >>> positive_on(lambda x: x[0].exp() - x[0], ((Fraction(0), Fraction(2)),)).holds
      True
    """
    from flint import arb

    if any(low > high for low, high in box):
        raise ValueError("each side of a box needs its smaller value first")
    start = tuple((fmpq_of(low), fmpq_of(high)) for low, high in box)
    with working_precision(bits):
        stack, seen = [start], 0
        while stack:
            part = stack.pop()
            seen += 1
            if margin([arb(low).union(arb(high)) for low, high in part]) > 0:
                continue
            refuted = bool(margin([arb((low + high) / 2) for low, high in part]) < 0)
            if refuted or seen >= most or all(low == high for low, high in part):
                return Cover(seen, tuple((_fraction(low), _fraction(high)) for low, high in part), refuted)
            stack += _halves(part, start)
    return Cover(seen, None, refuted=False)


def _halves(part: tuple[tuple[fmpq, fmpq], ...], start: tuple[tuple[fmpq, fmpq], ...]) -> list[tuple[tuple[fmpq, fmpq], ...]]:
    """Two halves along the side that is longest compared with the whole box."""
    sides = zip(part, start, strict=True)
    shares = [(high - low) / (last - first) if last > first else 0 * low for (low, high), (first, last) in sides]
    side = shares.index(max(shares))
    low, high = part[side]
    middle = (low + high) / 2
    return [(*part[:side], half, *part[side + 1 :]) for half in ((middle, high), (low, middle))]


def _fraction(value: fmpq) -> Fraction:
    """The same number."""
    return Fraction(int(value.p), int(value.q))
