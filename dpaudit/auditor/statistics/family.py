"""One error probability for many claims: which p-values reject so that the chance of any false rejection is at most alpha."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpaudit.exact import word

FAMILIES: Final = ("holm", "bonferroni")


def reject_claims(p_values: Sequence[float], alpha: Fraction, family: str = "holm") -> tuple[bool, ...]:
    """Decide which claims are refuted, so that the chance of refuting any true one is at most `alpha` (Holm 1979)."""
    word(family, "family", FAMILIES)
    decisions = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: (p_values[place], place))):
        comparisons = len(p_values) - (rank if family == "holm" else 0)
        if Fraction(p_values[place]) * comparisons > alpha:
            break
        decisions[place] = True
    return tuple(decisions)
