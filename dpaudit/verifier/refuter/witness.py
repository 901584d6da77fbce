"""A counterexample with everything that is needed to check it again: neighbours, event, and certified probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.exact import Enclosure, ball, ball_endpoints, working_precision
from dpaudit.verifier.ir import Program, contract_of
from dpaudit.verifier.refuter.events import BITS, Event, forget_paths, probability
from dpaudit.verifier.refuter.neighbours import InputPair, claim_values, is_admissible
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.supports import Space, lonely_space

_LEVEL: Final = 0.05
_QUANTILES: Final = (1.6449, 1.2816)
"""Of the normal law, for that level and for the power."""
_NONE: Final = Fraction(-(10**6))
"""Stands for minus infinity: the loss that an event shows which is no likelier than delta excuses."""
_MANY: Final = 10**18
"""More runs than anyone makes."""


@dataclass(frozen=True)
class Witness:
    """InputPair and an event that break a claim.

    `event` is an event of the typed output, or the affine space in which outputs lie on the first dataset but not on the second.
    `first` and `second` enclose its probability on the two datasets; `lower` is a certified lower bound of the privacy loss in
    nats, ln((first - delta) / second), None where the second probability is 0. `runs` is about how many runs would show it.
    """

    pair: InputPair
    event: Event | Space
    first: Enclosure
    second: Enclosure
    lower: Fraction | None
    runs: int


@dataclass(frozen=True)
class EventMeasure:
    """The probabilities of an event on two datasets, and the witness that they are if they break the claim."""

    witness: Witness | None
    lower: Fraction | None


def measure_event(program: Program, pair: InputPair, event: Event) -> EventMeasure:
    """Measure an event on both datasets: a lower bound of the privacy loss, None where it is infinite, and a witness."""
    if contract_of(program).cost == "zcdp":
        raise Undecided("a zero-concentrated claim is not about one event")
    first, second = probability(program, pair.first, event), probability(program, pair.second, event)
    _, _, delta = claim_values(program, pair.first)
    return EventMeasure(witness_if_broken(program, pair, event, first, second), log_ratio(first, second, delta))


def measure_space(program: Program, pair: InputPair) -> Witness | None:
    """The witness that a pair is by the affine spaces of its outputs, if there is one."""
    found = lonely_space(program, pair)
    if found is None:
        return None
    space, mass = found
    return witness_if_broken(program, pair, space, Enclosure(mass, Fraction(1)), Enclosure(Fraction(0), Fraction(0)))


def recheck(program: Program, witness: Witness) -> bool:
    """True if a witness holds, computed again from the program: types, neighbours, direction, event and both probabilities."""
    if not is_admissible(program, witness.pair):
        return False
    forget_paths()
    if isinstance(witness.event, Event):
        again = measure_event(program, witness.pair, witness.event).witness
    else:
        again = measure_space(program, witness.pair)
    return again is not None


def log_ratio(first: Enclosure, second: Enclosure, delta: Fraction = Fraction(0)) -> Fraction | None:
    """A lower bound of ln((first - delta) / second); None where the second probability is 0 and the first one is not."""
    lead = Fraction(first.lower) - delta
    if lead <= 0:
        return _NONE
    if second.upper == 0:
        return None
    with working_precision(BITS):
        return Fraction(ball_endpoints((ball(lead) / ball(Fraction(second.upper))).log())[0])


def runs_needed(first: Enclosure, second: Enclosure, factor: float, delta: Fraction = Fraction(0)) -> int:
    """About how many runs, each on one of two datasets by a fair coin, show that an event is too likely on the first.

    One event is looked at, at level 0.05 and with power 0.9. Of the runs in which it occurs, the claim P <= factor Q + delta
    allows a share `most` to be on the first dataset; the truth is the share `seen`. The hits it takes are the larger of two
    estimates: the normal one, and the one by relative entropy, which holds where the share is near 1.
    """
    one, two = float(first.lower), float(second.upper)
    mass = (one + two) / 2
    most, seen = (factor + float(delta) / (2 * mass)) / (1 + factor), one / (one + two)
    if not most < seen:
        return _MANY
    spread = _QUANTILES[0] * math.sqrt(most * (1 - most)) + _QUANTILES[1] * math.sqrt(seen * (1 - seen))
    rest = (1 - seen) * math.log((1 - seen) / (1 - most)) if seen < 1 else 0.0
    hits = max((spread / (seen - most)) ** 2, math.log(1 / _LEVEL) / (seen * math.log(seen / most) + rest))
    # Hits are integers: the usual correction for continuity.
    hits *= (1 + math.sqrt(1 + 2 / (hits * (seen - most)))) ** 2 / 4
    return min(math.ceil(hits / mass), _MANY)


def witness_if_broken(
    program: Program, pair: InputPair, event: Event | Space, first: Enclosure, second: Enclosure
) -> Witness | None:
    """The witness if P(first) > odds e^claim P(second) + delta for certain."""
    claim, odds, delta = claim_values(program, pair.first)
    with working_precision(BITS):
        allowed = ball(odds) * ball(claim).exp() * ball(Fraction(second.upper)) + ball(delta)
        if not bool(arb(ball(Fraction(first.lower))) > allowed):
            return None
    loss = log_ratio(first, second, delta)
    return Witness(pair, event, first, second, loss, runs_needed(first, second, odds * math.exp(claim), delta))
