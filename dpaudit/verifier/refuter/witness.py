"""A counterexample with everything that is needed to check it again: neighbours, event, and certified probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.exact import Enclosure, ball, ball_endpoints, working_precision
from dpaudit.verifier.ir import Program
from dpaudit.verifier.refuter.events import BITS, Event, probability
from dpaudit.verifier.refuter.neighbours import Neighbours, admissible, claimed, contract_of
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.supports import Space, lonely_space


@dataclass(frozen=True)
class Witness:
    """Neighbours and an event that break a claim.

    `event` is an event of the typed output, or the affine space in which outputs lie on the first dataset but not on the second.
    `first` and `second` enclose its probability on the two datasets; `lower` is a certified lower bound of the privacy loss in
    nats, ln((first - delta) / second), None where the second probability is 0.
    """

    pair: Neighbours
    event: Event | Space
    first: Enclosure
    second: Enclosure
    lower: Fraction | None

    @property
    def runs(self) -> int:
        """About how many runs on each dataset show the event at all: a few times one over its larger probability."""
        likelier = Fraction(self.first.upper)
        return int(10 / likelier) + 1 if likelier else 0


@dataclass(frozen=True)
class Weighed:
    """The probabilities of an event on two datasets, and the witness that they are if they break the claim."""

    witness: Witness | None
    lower: Fraction | None


def weighed(program: Program, pair: Neighbours, event: Event) -> Weighed:
    """How likely an event is on both datasets: a lower bound of the privacy loss, None where it is infinite, and a witness.

    Raises:
      Undecided: a probability cannot be enclosed, or the claim is not about probabilities of events (zcdp).
    """
    if contract_of(program).cost == "zcdp":
        raise Undecided("a zero-concentrated claim is not about one event")
    first, second = probability(program, pair.first, event), probability(program, pair.second, event)
    _, _, delta = claimed(program, pair.first)
    return Weighed(_broken(program, pair, event, first, second), log_ratio(first, second, delta))


def judged_space(program: Program, pair: Neighbours) -> Witness | None:
    """The witness that a pair is by the affine spaces of its outputs, if there is one."""
    found = lonely_space(program, pair)
    if found is None:
        return None
    space, mass = found
    return _broken(program, pair, space, Enclosure(mass, Fraction(1)), Enclosure(Fraction(0), Fraction(0)))


def recheck(program: Program, witness: Witness) -> bool:
    """Whether a witness holds, computed anew from the program: types, neighbours, direction, event and both probabilities."""
    if not admissible(program, witness.pair):
        return False
    if isinstance(witness.event, Event):
        again = weighed(program, witness.pair, witness.event).witness
    else:
        again = judged_space(program, witness.pair)
    return again is not None


def log_ratio(first: Enclosure, second: Enclosure, delta: Fraction = Fraction(0)) -> Fraction | None:
    """A lower bound of ln((first - delta) / second); None where the second probability is 0 and the first one is not."""
    lead = Fraction(first.lower) - delta
    if lead <= 0:
        return Fraction(-(10**6))
    if second.upper == 0:
        return None
    with working_precision(BITS):
        return Fraction(ball_endpoints((ball(lead) / ball(Fraction(second.upper))).log())[0])


def _broken(program: Program, pair: Neighbours, event: Event | Space, first: Enclosure, second: Enclosure) -> Witness | None:
    """The witness if P(first) > odds e^claim P(second) + delta for certain."""
    claim, odds, delta = claimed(program, pair.first)
    with working_precision(BITS):
        allowed = ball(odds) * ball(claim).exp() * ball(Fraction(second.upper)) + ball(delta)
        if not bool(arb(ball(Fraction(first.lower))) > allowed):
            return None
    return Witness(pair, event, first, second, log_ratio(first, second, delta))
