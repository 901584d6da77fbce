"""Delta from composed masses: weighted sums, what lies outside the window, rounding, spread points, and the infinite loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from flint import arb

from dpaudit.accounting.engines.convolution import Composed, convolve_laws
from dpaudit.accounting.engines.lattice import MASS_BITS, Lattice, at_most, log_moments, powers, unit_sum
from dpaudit.accounting.engines.plan import Plan
from dpaudit.accounting.model.composition import Ends
from dpaudit.accounting.model.search import Guess
from dpaudit.accounting.model.transform import Reals
from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, outward, working_precision

FADED: Final = 60  # The bump is summed up to where it has fallen by e^-60
STEEP: Final = 2  # The bump falls at least this many times as fast as the weights of the tilt, or nothing is claimed from below
MASS_ROOM: Final = 44  # The masses of a spread point are within 2^-44 of the true ones for each use of its law, and for each fold
ROOM: Final = 1 + 2.0**-20  # Covers the rounding of weights and of sums of at most 2^21 positive terms


@dataclass(frozen=True)
class Bump:
    """height e^(-rate |u|) (2 - e^(-2 rate |u|)) at the loss epsilon + u, taken off the lower law for its spread points."""

    # Spreading moves the loss of a composition at random by a little, which raises delta only where epsilon is near. The bump,
    # moved in the same way, is everywhere at least as large as what is gained. docs/engines.md has the proof.
    rate: Fraction
    height: float

    @cached_property
    def _known(self) -> dict[tuple[Fraction, Fraction, int], tuple[_Turn, _Turn]]:
        """What was computed for a tilt, a step and a size: every question about one lattice has the same."""
        return {}

    def _turns(self, tilt: Fraction, step: Fraction, size: int) -> tuple[_Turn, _Turn]:
        """What sums above and below epsilon need, computed once."""
        key = tilt, step, size
        if key not in self._known:
            found = []
            for turn in (1, -1):
                rates = self.rate + turn * tilt, 3 * self.rate + turn * tilt
                reach = min(math.ceil(FADED / (rates[0] * step)) + 1, size // 2)
                falling = [powers(-rate * step, reach)(np.arange(reach)) for rate in rates]
                with working_precision(MASS_BITS):
                    slow, fast = (-ball(rate) for rate in rates)
                    rest = (slow * ball(reach * step)).exp()
                found.append(_Turn(turn, reach, (slow, fast), falling, [float(one.sum()) for one in falling], rest))
            self._known[key] = (found[0], found[1])
        return self._known[key]

    def tilted_sum(
        self, masses: Reals, error: float, whole: float, *, tilt: Fraction, step: Fraction, first: int, gap: Fraction
    ) -> float:
        """At or above the sum of the bump times e^(-tilt u) over masses at consecutive places, each known up to the error."""
        # The place at position `first` is the first one beyond epsilon, by `gap`; `whole` bounds the sum of all masses.
        total = 0.0
        above, below = self._turns(tilt, step, masses.size)
        for side, near, start in ((above, gap, first), (below, step - gap, first - 1)):
            with working_precision(MASS_BITS):
                distance = ball(near)
                slow, fast = ((rate * distance).exp() for rate in side.rates)
                rest, fronts = at_most(slow * side.rest), (float(slow), float(fast))
            chosen = _stretch(masses, start, side.turn, side.reach)
            # The second sum is at most half of the first: little is lost when it is taken off.
            sums, ends = [float((chosen * one).sum()) for one in side.falling], side.ends
            total += 2 * fronts[0] * (sums[0] + error * ends[0]) - fronts[1] * (sums[1] + error * ends[1]) + 2 * rest * whole
        return self.height * total * ROOM


class _Turn(NamedTuple):
    """Places on one side of epsilon: minus the rates of fall of the two terms, their powers with sums, and what follows them."""

    turn: int
    reach: int
    rates: tuple[arb, arb]
    falling: list[Reals]
    ends: list[float]
    rest: arb


def _stretch(masses: Reals, start: int, turn: int, count: int) -> Reals:
    """So many masses from a place on, upward or downward, the last one being followed by the first."""
    begin = start % masses.size
    if turn == 1 and begin + count <= masses.size:
        return masses[begin : begin + count]
    if turn == -1 and begin >= count:
        return masses[begin : begin - count : -1]
    return masses[(start + turn * np.arange(count)) % masses.size]


def bump_of(lattices: Sequence[Lattice], tilt: Fraction, size: int) -> Bump | None:
    """The bump for all points that are spread, None where there are none; its height is infinite where they are spread too far."""
    spread = sum((lattice.count * lattice.spread**2 for lattice in lattices), Fraction(0))
    if not spread:
        return None
    rate = Fraction(2 / math.sqrt(spread)).limit_denominator(1 << 20)
    if rate <= STEEP * (1 + tilt):
        return Bump(rate, math.inf)
    touched = sum(lattice.count * (2 + int(lattice.index[-1] - lattice.index[0]) // size) for lattice in lattices)
    with working_precision(MASS_BITS):
        exact = ball(rate)
        logarithm = (exact - 1) * (exact - 1).log() - exact * exact.log() + ball(spread * rate * (rate + 1) / 4)
        return Bump(rate, at_most((logarithm + arb(touched) * arb(2) ** -MASS_ROOM).exp()))


class Outside(NamedTuple):
    """What a lattice says alike at every epsilon: the greatest weight, sums of weights, and tilted masses outside the window."""

    # The weight e^(-tilt u) (1 - e^-u) is largest at u = `summit`; `slow` and `fast` are 1/(1 - e^(-rate step)) at both rates.
    summit: arb
    peak: float
    slow: arb
    fast: arb
    above: float
    below: float


BLOCK: Final = 1 << 12  # Places whose weighted sums are kept together, so that a question adds up one block only
NEWTON: Final = 24  # Steps after which a root is given up
UNDERFLOW: Final = 2.0**-900  # More than all weights and products that are too small for doubles


@dataclass(frozen=True)
class Evaluated:
    """A composition on its lattice, ready to be asked for delta at epsilons near that of the plan."""

    plan: Plan
    lattices: tuple[Lattice, ...]

    @cached_property
    def _masses(self) -> Composed:
        """Composed masses on the window."""
        return convolve_laws(self.lattices, self.plan.first, self.plan.size)

    @cached_property
    def _offset(self) -> Fraction:
        """Loss at index 0 of the composition."""
        return sum((lattice.count * lattice.raster.offset for lattice in self.lattices), Fraction(0))

    @cached_property
    def _support(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest loss of the composition."""
        ends = ([lattice.count * lattice.raster.place(int(lattice.index[side])) for lattice in self.lattices] for side in (0, -1))
        return sum(next(ends), Fraction(0)), sum(next(ends), Fraction(0))

    @cached_property
    def _log_scale(self) -> Fraction:
        """The logarithm of what all masses are scaled by."""
        return sum((lattice.count * lattice.log_scale for lattice in self.lattices), Fraction(0))

    @cached_property
    def _infinities(self) -> tuple[arb, arb]:
        """Balls around the probability of an infinite loss, of upper and lower laws; no number where one is not known."""
        with working_precision(MASS_BITS + 64):
            upper = sum((one.count * (-_clip(one.upper_infinity.upper())).log1p() for one in self.lattices), arb(0))
            lower = sum((one.count * (-_clip(one.lower_infinity.lower())).log1p() for one in self.lattices), arb(0))
            return -upper.expm1(), -lower.expm1()

    @cached_property
    def _moments(self) -> dict[tuple[bool, str], arb]:
        """Logarithms of total masses and of moments at the further tilts, for upper and lower laws."""
        low, high = self.plan.chernoff
        found = {}
        for name, tilt in (("whole", Fraction(0)), ("above", high), ("below", -low)):
            found[True, name], found[False, name] = log_moments(self.lattices, tilt)
        return found

    @cached_property
    def _lower_whole(self) -> float:
        """At or above the sum of all lower masses."""
        with working_precision(MASS_BITS):
            return at_most(self._moments[False, "whole"].exp())

    @cached_property
    def _weights(self) -> tuple[Reals, Reals]:
        """Powers of e^(-tilt step) and of e^(-(1 + tilt) step) from 0 to the length of a block."""
        count = min(BLOCK, self.plan.size) + 1
        slow, fast = (powers(-rate * self.plan.step, count)(np.arange(count)) for rate in (self.plan.tilt, 1 + self.plan.tilt))
        return slow, fast

    @cached_property
    def _beyond(self) -> list[list[float]]:
        """Weighted sums of all masses from each block on, seen from its start: of upper and lower masses, with both weights."""
        found = []
        for masses in (self._masses.upper, self._masses.lower):
            for weights in self._weights:
                sums = [0.0]
                for row in masses.reshape(-1, weights.size - 1)[::-1]:
                    sums.append(float((row * weights[:-1]).sum()) + float(weights[-1]) * sums[-1])
                found.append(sums[::-1])
        return found

    def _sums(self, first: int, side: int) -> list[float]:
        """Weighted sums of all upper (0) or lower (1) masses from a position on, with both weights."""
        found, size = [], self._weights[0].size - 1
        block, place = divmod(first, size)
        near = (self._masses.lower if side else self._masses.upper)[first : first - place + size]
        for weights, beyond in zip(self._weights, self._beyond[2 * side : 2 * side + 2], strict=True):
            found.append(float((near * weights[: near.size]).sum()) + float(weights[near.size]) * beyond[block + 1])
        return found

    @cached_property
    def _bump(self) -> Bump | None:
        """Return what is taken off the lower law because its points are spread."""
        return bump_of(self.lattices, self.plan.tilt, self.plan.size)

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Epsilons between which this is best asked: around that of the plan, as far as the answers stay narrow."""
        middle = (self.plan.near[0] + self.plan.near[1]) / 2
        first, last = max(self._place(0), self.plan.near[0]), min(self._place(self.plan.size - 2), self.plan.near[1])
        for _ in range(8):
            found = self.delta(first)
            if found.width < found.upper / 4:
                break
            first = (first + middle) / 2
        return first, max(first, last)

    @cached_property
    def at_ends(self) -> tuple[Enclosure, Enclosure]:
        """Delta at both ends, which bound it beyond them."""
        return self.delta(self.ends[0]), self.delta(self.ends[1])

    @cached_property
    def _outside(self) -> Outside:
        """What does not depend on epsilon."""
        tilt, step = self.plan.tilt, self.plan.step
        above, below = (
            self._tail(self._place(place), upper=upper, above=place > 0) for place, upper in ((self.plan.size, True), (0, False))
        )
        with working_precision(MASS_BITS):
            slow, fast = (-1 / (-ball(rate * step)).expm1() for rate in (tilt, 1 + tilt))
            return Outside(ball(1 / tilt).log1p(), at_most(1 / ball(1 + tilt)), slow, fast, above, below)

    def _place(self, position: int) -> Fraction:
        """Loss at a position of the window."""
        return self._offset + (self.plan.first + position) * self.plan.step

    def _tail(self, place: Fraction, *, upper: bool, above: bool) -> float:
        """Bound on the tilted mass at or above a place, or below it."""
        if self._support[1] < place if above else self._support[0] >= place:
            return 0.0
        low, high = self.plan.chernoff
        with working_precision(MASS_BITS):
            shift = -ball(high * place) if above else ball(low * place)
            bound = self._moments[upper, "above" if above else "below"] + shift
            return min(at_most(bound.exp()), at_most(self._moments[upper, "whole"].exp()))

    def delta(self, epsilon: Fraction, ends: Ends = "both") -> Enclosure:
        """Delta of the composition, the trivial answer outside the window; an end that is not wanted is trivial, too."""
        # Floats that overflow become infinite or no number, and those become the trivial end here.
        first = math.floor((epsilon - self._offset) / self.plan.step) + 1 - self.plan.first
        if not 0 <= first < self.plan.size:
            return Enclosure(0, 1, Reason("epsilon lies outside the window of the lattice"))
        with np.errstate(all="ignore"):
            upper, lower, terms = self._finite(epsilon, first, ends)
        tilt = self.plan.tilt
        least: Endpoint = Fraction(0)
        most: Endpoint = Fraction(1)
        with working_precision(MASS_BITS + 64):
            factor, (beyond, surely) = ball(self._log_scale - tilt * epsilon).exp(), self._infinities
            if ends != "lower" and not beyond.is_nan():
                most = min(most, ball_endpoints(factor * arb(upper) + beyond)[1])
            if ends != "upper" and not surely.is_nan():
                least = max(least, ball_endpoints(factor * arb(lower) + surely)[0])
        return Enclosure(least, most, self._reason(terms, lower if ends == "lower" else upper))

    def near(self, log_delta: float) -> Guess | None:
        """About where the finite part of delta has this logarithm, by Newton's rule in floats, and its slope; None if lost."""
        tilt, step, start = float(self.plan.tilt), float(self.plan.step), float(self._place(0))
        scale, slope = float(self._log_scale), 0.0
        low, high = max(start, 0.0), start + (self.plan.size - 2) * step
        place = min(max(float(self.plan.near[0] + self.plan.near[1]) / 2, low), high)
        with np.errstate(all="ignore"):
            for _ in range(NEWTON):
                first = math.floor((place - start) / step) + 1
                behind = place - start - first * step
                gain, cost = (
                    one * math.exp(rate * behind) for one, rate in zip(self._sums(first, 0), (tilt, 1 + tilt), strict=True)
                )
                if not 0 < cost < gain < math.inf:  # too far out for floats
                    high, place = place, (low + place) / 2
                    continue
                slope = -cost / (gain - cost)
                excess = scale - tilt * place + math.log(gain - cost) - log_delta
                low, high = (place, high) if excess > 0 else (low, place)
                before, place = place, place - excess / slope
                if not low <= place <= high:
                    place = (low + high) / 2
                if abs(place - before) <= 1e-12 * abs(place):
                    break
        return (Fraction(place), slope) if place > 0 > slope else None

    def _finite(self, epsilon: Fraction, first: int, ends: Ends) -> tuple[float, float, tuple[float, float]]:
        """Bounds on the weighted sum of tilted masses beyond epsilon, and their terms for rounding and for the window."""
        tilt, plan, outside = self.plan.tilt, self.plan, self._outside
        start, beyond = self._place(first), self._place(plan.size)
        with working_precision(MASS_BITS):
            behind = ball(epsilon - start)
            slow_front, fast_front = ((ball(rate) * behind).exp() for rate in (tilt, 1 + tilt))
            # of the weights at all places, endlessly many
            spread = at_most(slow_front * outside.slow - fast_front * outside.fast) + UNDERFLOW
            past = ball(epsilon - beyond)
            last = at_most((ball(tilt) * past).exp()) if -past > outside.summit else outside.peak
        unit = unit_sum(BLOCK + 8 * plan.size // self._weights[0].size)
        fronts = float(slow_front), float(fast_front)
        most, least, rounding, window = math.inf, 0.0, 0.0, 0.0
        if ends != "lower":
            upper_gain, upper_cost = (one * front for one, front in zip(self._sums(first, 0), fronts, strict=True))
            upper_error = unit * (upper_gain + upper_cost) + self._masses.upper_error * spread + UNDERFLOW
            upper, left_out = upper_gain - upper_cost, last * outside.above
            most = (upper + upper_error + left_out) * (1 + 2.0**-48)
            rounding, window = upper_error, left_out
        if ends != "upper":
            lower_gain, lower_cost = (one * front for one, front in zip(self._sums(first, 1), fronts, strict=True))
            lower_error = unit * (lower_gain + lower_cost) + self._masses.lower_error * spread + UNDERFLOW
            wrapped = outside.peak * (outside.below + self._tail(epsilon + plan.size * plan.step, upper=False, above=True))
            lower, smeared = lower_gain - lower_cost, self._smeared(first, start - epsilon)
            least = (lower - lower_error - wrapped - smeared) * (1 - 2.0**-48)
            rounding, window = max(rounding, lower_error), window + wrapped
        return most, least if least > 0 else 0.0, (rounding, window)

    def _smeared(self, first: int, gap: Fraction) -> float:
        """What is taken off the lower law for its spread points, the first place beyond epsilon being further by `gap`."""
        if self._bump is None:
            return 0.0
        masses, error, plan = self._masses.lower, self._masses.lower_error, self.plan
        return self._bump.tilted_sum(masses, error, self._lower_whole, tilt=plan.tilt, step=plan.step, first=first, gap=gap)

    def _reason(self, terms: tuple[float, float], upper: float) -> Reason:
        """Theorems and error terms."""
        (lattice, infinite), size = self._grounds, self.plan.size
        rounding, window = (_share(term, upper) for term in terms)
        parts = (
            lattice,
            Reason(f"error term: rounding in transforms of length {size}, in powers and sums: at most {rounding} of the upper end"),
            Reason(f"error term: losses outside the window: at most {window} of the upper end"),
            infinite,
        )
        return Reason("composed on a tilted lattice between an upper and a lower law (docs/engines.md)", parts)

    @cached_property
    def _grounds(self) -> tuple[Reason, Reason]:
        """What reasons say alike at every epsilon: about the lattice, and about the infinite loss."""
        plan, laws, cells = self.plan, len(self.lattices), sum(lattice.index.size - 1 for lattice in self.lattices)
        step, tilt = (outward(value, digits=4, up=True) for value in (plan.step, plan.tilt))
        beyond = self._infinities[0]
        infinite = ball_endpoints(beyond)[1] if beyond.is_finite() else math.inf
        return (
            Reason(
                f"lattice: spreading raises and fusion lowers every profile; {cells} cells of {laws} laws, step {step}, tilt {tilt}"
            ),
            Reason(f"infinite loss, or one beyond the lattice: at most {outward(infinite, digits=3, up=True)}"),
        )


def _share(term: float, whole: float) -> str:
    """A term relative to the whole, in three digits."""
    share = term / whole if whole else math.inf
    return outward(Fraction(share), digits=3, up=True) if math.isfinite(share) else "all"


def _clip(mass: arb) -> arb:
    """A probability between 0 and 1."""
    return mass.max(arb(0)).min(arb(1))
