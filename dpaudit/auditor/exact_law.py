"""The exact output law that a target declares, against its claim: no runs, no error probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dpaudit.auditor.neighbours import Neighbours
from dpaudit.auditor.points import lines_of
from dpaudit.auditor.records import copied
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.exact import outward
from dpaudit.results import Property
from dpaudit.targets import Target

if TYPE_CHECKING:
    from dpaudit.accounting.loss import PrivacyLoss

EXACT_LAW: Final = "declared output law"


def check_exact_law(target: Target, pairs: Sequence[Neighbours]) -> tuple[Property, ...]:
    """The declared law of the output on every pair, both ways round, against the claim; nothing where none is declared.

    Args:
      target: with `pmf`, a function from a dataset to a mapping from output to exact probability.
      pairs: neighbouring datasets.
    Returns:
      One property: violated if at a point of the claim the exact delta of a pair is above the claimed one.
    Source: Zhu, Dong, Wang 2022; docs/auditing.md, "Declared output law".
    """
    if target.pmf is None:
        return ()
    lines = lines_of(target.claim)
    for place, pair in enumerate(pairs):
        try:
            loss = _loss(target, target.pmf(copied(pair.first)), target.pmf(copied(pair.second)))
        except DpauditError as error:
            return (Property(EXACT_LAW, "not applicable", place + 1, f"pair {place}: {error.message}"),)
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises is reported by type
            return (Property(EXACT_LAW, "not applicable", place + 1, f"pair {place}: pmf raises {type(error).__name__}"),)
        for line in lines:
            delta = loss.delta(epsilon=line.epsilon)
            if delta.lower > line.delta:
                found = (
                    f"delta is {outward(delta.lower, digits=4, up=False)} at epsilon = {outward(line.epsilon, digits=4, up=True)}"
                )
                allowed = f"the claim allows {outward(line.delta, digits=4, up=True)}"
                return (Property(EXACT_LAW, "violated", place + 1, f"pair {place} ({pair.difference}): {found}, {allowed}"),)
    points = "at the claim" if len(lines) == 1 else f"at {len(lines)} points of the claimed curve"
    return (Property(EXACT_LAW, "holds", len(pairs), f"no larger delta {points} on any pair tried"),)


def _loss(target: Target, first: Any, second: Any) -> PrivacyLoss:
    """The exact loss of one pair of laws, both directions."""
    from dpaudit.accounting import explicit_pair

    for law in (first, second):
        if not isinstance(law, Mapping):
            raise InvalidArgument("DPA105", f"pmf must return a mapping from output to probability, got a {type(law).__name__}.")
    outputs = dict.fromkeys((*first, *second))
    sides = ([law.get(output, 0) for output in outputs] for law in (first, second))
    return explicit_pair(*sides, adjacency=target.claim.relation)
