"""The exact output law that a target declares, against its claim: no runs, no error probability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from dpaudit.auditor.data.disclosure import text_of
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.claims import RDP, ZCDP, ApproxDP, Claim, PureDP
from dpaudit.errors import DpauditError, InvalidArgument, class_name
from dpaudit.exact import Endpoint, outward, rational
from dpaudit.results import Property
from dpaudit.targets import Target

if TYPE_CHECKING:
    from dpaudit.accounting.privacy_loss import PrivacyLoss

EXACT_LAW: Final = "declared output law"

_ORDERS: Final = tuple(Fraction(order) for order in ("5/4", "3/2", "2", "3", "4", "8", "16", "64"))
_CERTIFIED: Final = 8
_RANKING: Final = tuple(Fraction(step, 8) ** 2 for step in range(33))


@dataclass(frozen=True)
class Allowance:
    """What a claim allows: points of its profile, Renyi divergences, and the curve with which events are compared.

    `lines`, pairs (e^epsilon, delta) as floats, only rank the events.
    """

    points: tuple[ClaimPoint, ...]
    divergences: tuple[tuple[Fraction, Fraction], ...] = ()
    curve: PrivacyLoss | None = None
    lines: tuple[tuple[float, float], ...] = ()


def check_exact_law(target: Target, pairs: Sequence[Neighbours]) -> tuple[Property, ...]:
    """Compare the declared law of the output on every pair, both ways round, with the claim; () where none is declared.

    Source: Zhu, Dong, Wang 2022; Dong, Roth, Su 2022.
    """
    if target.pmf is None:
        return ()
    allowance = _allowance_of(target.claim)
    unusable = []
    for place, pair in enumerate(pairs):
        try:
            sides = _probabilities(target.pmf(copy_of(pair.first)), target.pmf(copy_of(pair.second)))
            found = next(_violations(target.claim, allowance, sides), "")
        except DpauditError as error:
            unusable.append(f"pair {place}: {text_of(error, target)}")
            continue
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises is reported by type
            unusable.append(f"pair {place}: pmf raises {class_name(type(error))}")
            continue
        if found:
            return (Property(EXACT_LAW, "violated", place + 1, f"pair {place} ({pair.difference}): {found}"),)
    compared = len(pairs) - len(unusable)
    if compared == 0:
        return (Property(EXACT_LAW, "not run", 0, unusable[0]),)
    left = f"; {len(unusable)} pairs left out, the first is {unusable[0]}" if unusable else ""
    return (Property(EXACT_LAW, "holds", compared, _agreement(allowance) + left),)


def _allowance_of(claim: Claim) -> Allowance:
    """Return what to compare a law with: one point says all of a pure or approximate claim, divergences all of an RDP claim."""
    points, guarantee = lines_of(claim), claim.guarantee
    if isinstance(guarantee, (PureDP, ApproxDP)):
        return Allowance(points)
    if isinstance(guarantee, RDP):
        return Allowance(points, guarantee.orders)
    if isinstance(guarantee, ZCDP):
        return Allowance(points, tuple((order, order * rational(guarantee.rho)) for order in _ORDERS))
    from dpaudit.accounting import loss_of_claim

    curve = loss_of_claim(claim)
    lines = tuple((math.exp(float(epsilon)), float(curve.delta(epsilon=epsilon).upper)) for epsilon in _RANKING)
    return Allowance(points, (), curve, lines)


def _agreement(allowance: Allowance) -> str:
    """Say what was compared, in a few words."""
    if len(allowance.points) == 1:
        return "no larger delta at the claim on any pair tried"
    more = (
        f"at {len(allowance.divergences)} orders" if allowance.divergences else f"on the {_CERTIFIED} events closest to the curve"
    )
    return f"no larger delta at {len(allowance.points)} points of the claimed curve, nor {more}, on any pair tried"


def _probabilities(first: Any, second: Any) -> tuple[list[Any], list[Any]]:
    """Return the probabilities of both laws, in the same order of outputs."""
    for law in (first, second):
        if not isinstance(law, Mapping):
            raise InvalidArgument("DPA105", f"pmf must return a mapping from output to probability, got a {class_name(type(law))}.")
    outputs = dict.fromkeys((*first, *second))
    return [first.get(output, 0) for output in outputs], [second.get(output, 0) for output in outputs]


def _violations(claim: Claim, allowance: Allowance, sides: tuple[list[Any], list[Any]]) -> Iterator[str]:
    """Yield what a pair of laws shows against the claim."""
    from dpaudit.accounting import explicit_pair

    loss = explicit_pair(*sides, adjacency=claim.relation)
    for line in allowance.points:
        delta = loss.delta(epsilon=line.epsilon)
        if delta.lower > line.delta:
            found = f"delta is {_least(delta.lower)} at epsilon = {_most(line.epsilon)}"
            yield f"{found}, the claim allows {_most(line.delta)}"
    for order, bound in allowance.divergences:
        divergence = loss.renyi(order=order)
        if divergence.lower > bound:
            found = f"the Renyi divergence of order {order} is {_least(divergence.lower)}"
            yield f"{found}, the claim allows {_most(bound)}"
    if allowance.curve is not None:
        for missed, caught in _closest(sides, allowance):
            allowed = allowance.curve.tradeoff(alpha=missed, of="profile")  # all that a curve of epsilons and deltas promises
            if 1 - caught < allowed.lower:
                found = f"an event of probability {_least(caught)} on one dataset has {_most(missed)} on the other"
                yield f"{found}, the claimed curve allows {_most(1 - allowed.lower)}"


def _closest(sides: tuple[list[Any], list[Any]], allowance: Allowance) -> list[tuple[Fraction, Fraction]]:
    """Return probabilities under the second and the first law of the events that come closest to the claimed curve.

    By Neyman and Pearson no event errs less than the sets of outputs whose ratio of probabilities is largest. The claimed curve is
    symmetric, so one order of the two laws shows what both do.
    """
    pairs = [(rational(p), rational(q)) for p, q in zip(*sides, strict=True)]
    ordered = sorted((pair for pair in pairs if any(pair)), key=lambda pair: -pair[0] / (pair[0] + pair[1]))
    events = [(q, p) for p, q in accumulate(ordered, lambda total, pair: (total[0] + pair[0], total[1] + pair[1]))]

    def share(event: tuple[Fraction, Fraction]) -> float:
        """Return the part of what the lines allow that an event or its complement uses up."""
        missed, caught = map(float, event)
        used = [(caught, missed), (1 - missed, 1 - caught)]
        return max(more / max(min(odds * less + delta for odds, delta in allowance.lines), 1e-300) for more, less in used)

    return sorted(events[:-1], key=share, reverse=True)[:_CERTIFIED]


def _least(value: Endpoint) -> str:
    """Write a number rounded down."""
    return outward(value, digits=4, up=False)


def _most(value: Endpoint) -> str:
    """Write a number rounded up."""
    return outward(value, digits=4, up=True)
