"""Many claims, one error probability: which p-values reject so that the chance of any false rejection is at most alpha."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpaudit.exact import word

FAMILIES: Final = ("holm", "bonferroni")


def rejected(p_values: Sequence[float], alpha: Fraction, family: str = "holm") -> tuple[bool, ...]:
    """Which claims are refuted when the chance of refuting any true claim is to be at most `alpha`.

    Args:
      p_values: one for each claim of the family that was fixed in advance; 1 for claims that were not finished.
      alpha: family-wise error probability, in (0, 1).
      family: "holm", or "bonferroni", which compares every p-value with alpha over their number.
    Returns:
      One decision for each claim, valid whatever the dependence between the p-values.
    Raises:
      InvalidArgument: an unknown family (DPA103).
    Source: Holm 1979.
    Example:
      >>> rejected([0.01, 0.9, 0.02], Fraction(1, 20))
      (True, False, True)
    """
    word(family, "family", FAMILIES)
    decisions = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: (p_values[place], place))):
        comparisons = len(p_values) - (rank if family == "holm" else 0)
        if Fraction(p_values[place]) * comparisons > alpha:
            break
        decisions[place] = True
    return tuple(decisions)
