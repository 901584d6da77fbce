"""A second engine: delta by the trapezoidal rule for the inverse Laplace transform, with every error term in the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, repeat
from operator import mul
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import acb, acb_mat, arb

from dpaudit.accounting.engines.characteristic import Elementary, Moments, moments_of, places
from dpaudit.accounting.engines.parts import Parts, parts_of
from dpaudit.accounting.engines.plan import Sketch
from dpaudit.accounting.engines.saddles import FINEST, TILTS_PER_OCTAVE, saddles_of, tilt_at
from dpaudit.accounting.engines.tilted import LARGEST, TAILS, lattice_below, lattice_for
from dpaudit.accounting.laws.between import dominated_laws, dominating_laws
from dpaudit.accounting.laws.distributions import Normal, Thinned
from dpaudit.accounting.model.composition import Composition, DeltaAt, EpsilonAt, Question, infinite_loss
from dpaudit.accounting.model.search import log_of
from dpaudit.accounting.model.transform import is_standard
from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, outward, working_precision

BITS: Final = 160  # Working precision
BITS_OF_FLOATS: Final = 96  # The same where the values along a line come from floats
FADED: Final = 36.0  # Nats by which images and what is left out of a short line are to be smaller than delta
MOST_WORK: Final = 1 << 23  # Products of complex numbers, or as long, beyond which the lattice answers alone
MANY: Final = 16  # Different sampled laws from which on lines are computed in floats
FADED_OF_FLOATS: Final = 19.0  # Nats by which what is left out of such a line is to be smaller than delta
ROUGH: Final = 2.0  # Nats by which bounds in floats may be off
LENGTHENED: Final = 1.5  # Factor by which the line grows until what is left out is small enough
WIDEST: Final = Fraction(1, 1 << 20)  # Relative width of an answer beyond which the lattice is asked instead
CHECKED: Final = 0.02  # Relative width of the lattice that an answer is compared with
CHECKED_ROUGHLY: Final = 0.3  # The same for many laws, each of which takes a lattice
# Standard deviations by which the tilt of a line may miss that of the question, and the widest spacing of tilts: of lines
# that serve many questions, and of shorter ones where these would be too long.
REACHES: Final = ((3.0, 4.0), (0.7, 1.0))
# Relative distances from the root of delta = target at which its side is decided.
FOUND: Final = 1e-8  # Logarithm by which delta at a root may miss, before the last step of Newton's rule
STEPS: Final = tuple(Fraction(1, 1 << bits) for bits in range(44, 11, -3))


NOT_RUN: Final = "the contour was not run: it does not cover a law, or its integrand fades too slowly"


class Order(NamedTuple):
    """A real order and the logarithm of the composed moment there."""

    order: Fraction
    cumulant: arb


@dataclass(frozen=True)
class Contour:
    """Values of M(z)/(z (1 + z)) at the nodes z = theta + i n step, n < side^2, and what bounds the error of their sum."""

    # `above` and `below` are orders on both sides of theta, below >= 0; `left_out` bounds the terms of all further nodes times
    # e^(theta epsilon); `infinity` is the probability of an infinite loss.
    theta: Fraction
    step: Fraction
    side: int
    values: acb_mat
    above: Order
    below: Order
    left_out: arb
    infinity: arb

    def ends(self, epsilon: Fraction) -> tuple[Fraction, Fraction, tuple[arb, arb, arb]]:
        """Both ends of delta; the sum, its images, and what is left out either way."""
        with working_precision(BITS):
            turn = acb(0, ball(-epsilon * self.step)).exp()
            turns = [list(accumulate(repeat(one, self.side - 1), mul, initial=acb(1))) for one in (turn**self.side, turn)]
            whole = (acb_mat([turns[0]]) * self.values * acb_mat([turns[1]]).transpose())[0, 0].real - self.values[0, 0].real / 2
            scale = ball(-self.theta * epsilon).exp() / arb.pi()
            found, rest = scale * ball(self.step) * whole, scale * self.left_out
            images = self._images(self.above, epsilon) + self._images(self.below, epsilon)
            least, most = found - rest - images, found + rest
            ends = ball_endpoints((self.infinity + least).lower())[0], ball_endpoints((self.infinity + most).upper())[1]
        # Ends that contradict what a probability can be are left crossed, so that the interval raises.
        return Fraction(max(ends[0], Fraction(0))), Fraction(min(ends[1], Fraction(1))), (found, images, rest)

    @cached_property
    def _floats(self) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.float64], float]:
        """The values in floats relative to the first one, their heights, and the logarithm of the first times step/pi."""
        with working_precision(BITS):
            first = self.values[0, 0].real
            values = [complex(value / first) for value in self.values.entries()]
            heights = float(self.step) * np.arange(len(values), dtype=np.float64)
            return np.array(values), heights, float((first * ball(self.step) / arb.pi()).log())

    def near(self, log_delta: float, start: float) -> tuple[Fraction, float]:
        """About where the finite part of delta has this logarithm, by Newton's rule in floats, and its slope: they only steer."""
        (values, heights, scale), theta = self._floats, float(self.theta)
        place, slope = start, -theta
        for _ in range(12):
            turned = values * np.exp(-1j * heights * place)
            whole = float(turned.real.sum()) - 0.5
            if not whole > 0:
                return Fraction(start), -theta
            slope = float((heights * turned.imag).sum()) / whole - theta
            moved = (scale - theta * place + math.log(whole) - log_delta) / slope
            if not slope < 0 or math.isnan(moved):
                return Fraction(start), -theta
            place = max(place - moved, 0.0)
            if abs(moved) <= 1e-15 * place:
                break
        return Fraction(place), slope

    def delta(self, epsilon: Fraction) -> Enclosure:
        """Delta of the composition with its error terms."""
        least, most, (found, images, rest) = self.ends(epsilon)
        with working_precision(BITS):
            shares = [_share(term, found) for term in (images, rest)]
        parts = (
            f"{self.side**2} nodes at real part {outward(self.theta, digits=4, up=True)}, balls with the error of every quadrature",
            f"error term: images of the trapezoidal rule: at most {shares[0]} of delta",
            f"error term: the line beyond the last node: at most {shares[1]} of delta",
        )
        reason = Reason("moment functions inverted along a line (docs/engines.md)", tuple(map(Reason, parts)))
        return Enclosure(least, most, reason)

    def _images(self, order: Order, epsilon: Fraction) -> arb:
        """Sum of e^(theta m P) delta(epsilon + m P) over m > 0 or m < 0, delta(y) <= c e^(K(r) - r y), P the period."""
        power = ball(order.order)
        peak = power * power.log() - (1 + power) * (1 + power).log() if order.order else arb(0)
        ratio = (-abs(power - ball(self.theta)) * 2 * arb.pi() / ball(self.step)).exp()
        return (peak + order.cumulant - power * ball(epsilon)).exp() * ratio / (1 - ratio)


def contour_along(
    moments: Sequence[tuple[Moments, int]],
    infinity: arb,
    *,
    theta: Fraction,
    step: Fraction,
    side: int,
    orders: tuple[Fraction, Fraction],
    bits: int = BITS,
) -> Contour:
    """The values along a line; any parameters are sound, with 0 <= orders[0] < theta < orders[1]."""
    with working_precision(bits):
        values = [1 / (z * (1 + z)) for z in places(theta, step, side)]
        for law, count in moments:
            values = [known * value**count for known, value in zip(values, law.grid(theta, step, side).entries(), strict=True)]
        below, above = (Order(order, sum((count * law.at(order).log() for law, count in moments), arb(0))) for order in orders)
        last = (side * side - 1) * step
        left_out = math.prod((law.beyond(theta, last) ** count for law, count in moments), start=arb(1)) / ball(last)
        return Contour(theta, step, side, acb_mat(side, side, values), above, below, left_out, infinity)


def contour(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon in one direction, where a coarse lattice agrees; None where the answer would be wide or take too long."""
    # Where a law is known only between two others, the line gives the upper end, and another one or a lattice the lower one.
    above, limit = parts_of(composition, lower=False), infinite_loss(dominating_laws(composition))
    if not above or all(isinstance(law, Normal) for law, _ in above):  # a normal loss has its closed form in the bounds
        return None
    if (isinstance(question, EpsilonAt) and limit.upper >= question.delta) or not is_standard():
        return None
    log_delta = None if isinstance(question, DeltaAt) else log_of(question.delta - Fraction(limit.upper))
    line, start = contour_for(above, question.epsilon if isinstance(question, DeltaAt) else None, log_delta)
    if line is None:
        return None
    if isinstance(question, DeltaAt):
        place, told = question.epsilon, line.delta(question.epsilon)
        found = told
    else:
        found, told = _epsilon(line, question.delta, Fraction(limit.upper), start)
        place = Fraction(found.upper) if isinstance(found.upper, Fraction) else Fraction(0)
    if isinstance(found.upper, float) or found.width > found.upper * WIDEST:
        return None
    lattice = lattice_for(composition, epsilon=place, width=CHECKED if len(above) < MANY else CHECKED_ROUGHLY)
    if lattice is None:
        found = replace(found, reason=Reason("not compared with a lattice, which would be too long", (found.reason,)))
    else:
        check = told.intersect(lattice.delta(place)).reason.parts[1]
        found = replace(found, reason=Reason("a line and a coarse lattice agree", (found.reason, check)))
    if parts_of(composition, lower=True) == above:
        return found
    low = _from_below(composition, question)
    return low.intersect(Enclosure(Fraction(0), found.upper, Reason("upper end from the laws above", (found.reason,))))


def _from_below(composition: Composition, question: Question) -> Enclosure:
    """The lower end of the laws below, from a line of their own or else a lattice; nothing from above."""
    lowest = dominated_laws(composition)
    line = contour(lowest, question) if lowest.parts else None
    low = lattice_below(composition, question) if line is None else line
    return Enclosure(low.lower, 1 if isinstance(question, DeltaAt) else math.inf, low.reason)


def contour_for(parts: Parts, epsilon: Fraction | None, log_delta: float | None = None) -> tuple[Contour | None, Fraction]:
    """The line for questions near an epsilon or a delta, None where it takes too much work; and an epsilon to begin with."""
    target = float(min(epsilon or 0, LARGEST))
    with np.errstate(all="ignore"):  # floats that overflow make no plan
        for tail in TAILS:
            saddles = saddles_of(parts, tail)
            if saddles is not None:
                place = saddles.for_epsilon(target) if log_delta is None else saddles.for_delta(log_delta)
                if place is None:
                    break
                lines = (_build_line(parts, tail, saddles.coarser(place, near, widest), near) for near, widest in REACHES)
                return next(filter(None, lines), None), Fraction(max(saddles.at(place)[0], 0.0))
    return None, Fraction(0)


def _epsilon(line: Contour, target: Fraction, limit: Fraction, start: Fraction) -> tuple[Enclosure, Enclosure]:
    """Epsilon at which delta is `target`, above `limit`, between points that were decided; and delta at the upper one."""
    finite = target - limit
    with np.errstate(all="ignore"):
        root, slope = line.near(log_of(finite), float(start))
    unknown = 0.0  # how far the root is open, relative to it
    for _ in range(12):  # floats found nearly all of its digits, or nothing
        least, most, _ = line.ends(root)
        middle = (least + most) / 2
        if not middle > limit:
            break
        excess = log_of((middle - limit) / finite)
        unknown = float((most - least) / (middle - limit)) / (2 * abs(slope) * float(root or 1))
        root = _short(max(root - Fraction(excess / slope), Fraction(0)))
        if abs(excess) <= FOUND:
            break
    # Where delta is next to its value at 0, no step may be far enough: then nothing is decided here.
    steps = [by for by in STEPS if by > unknown]
    told = line.delta(root)
    upper: Endpoint = math.inf
    for by in steps:
        told = line.delta(root * (1 + by))
        if told.upper <= target:
            upper = root * (1 + by)
            break
    lower = next((root * (1 - by) for by in steps if line.ends(root * (1 - by))[0] > target), Fraction(0))
    reason = Reason("delta on both sides of epsilon decides its ends (Sommer, Meiser, Mohammadi 2019, Lemma 5)", (told.reason,))
    return Enclosure(lower, upper, reason), told


@lru_cache(maxsize=64)
def _build_line(parts: Parts, tail: int, place: int, near: float) -> Contour | None:
    """The line at a tilt from the geometric grid for questions so many deviations around; None where it would be too long."""
    saddles = saddles_of(parts, tail)
    if saddles is None:
        return None
    sketches, theta = saddles.sketches, tilt_at(place)
    tilt, (epsilon, log_delta, variance) = Fraction(theta), saddles.at(place)
    if place <= FINEST + TILTS_PER_OCTAVE // 2:  # all smaller epsilons come here as well, where delta is nearly 1
        epsilon, log_delta = 0.0, 0.0
    deviation = math.sqrt(variance) or 1.0
    period, orders = period_for(sketches, theta, deviation, epsilon, log_delta - FADED, near)
    spread = math.log(theta * (1 + theta)) + math.log(1 / theta**2 + deviation**2) / 2
    reach = math.sqrt(2 * (FADED + max(spread, 0.0))) / deviation
    if not 0 < reach * period < MOST_WORK:  # no number, or far too long
        return None
    step = Fraction(2 * math.pi / period)
    many = sum(isinstance(law, Thinned) for law, _ in parts) >= MANY
    bits = BITS_OF_FLOATS if many else BITS
    with working_precision(bits):
        while True:
            side = math.isqrt(math.ceil(reach / float(step))) + 1
            last = (side * side - 1) * step
            if side * side > MOST_WORK >> 8:
                return None
            found = [moments_of(*part, greatest=orders[1], place=last, tail=tail, floats=many) for part in parts]
            known = [(entry[0], count) for entry, (_, count) in zip(found, parts, strict=True) if entry is not None]
            if len(known) < len(parts) or sum(law.size for law, _ in known) * side * side > MOST_WORK:
                return None
            faded = FADED_OF_FLOATS if many else _faded(side)
            # Points do not fade, so that there the length of the line alone counts; elsewhere it is room for what floats miss.
            room = ROUGH + (log_of(last) if all(isinstance(law, Elementary) for law, _ in known) else 0.0)
            if sum(count * law.rough_beyond(tilt, last) for law, count in known) - theta * epsilon > log_delta - faded + room:
                reach *= LENGTHENED
                continue
            fallen = math.prod((law.beyond(tilt, last) ** count for law, count in known), start=arb(1)) / ball(last)
            if fallen.log() - theta * epsilon < log_delta - faded:
                break
            reach *= LENGTHENED
        chances = [(1 - entry[1]) ** count for entry, (_, count) in zip(found, parts, strict=True) if entry is not None]
        safe = math.prod(chances, start=arb(1))
    return contour_along(known, 1 - safe, theta=tilt, step=step, side=side, orders=orders, bits=bits)


def _faded(side: int) -> float:
    """Nats by which what is left out must be smaller than delta: fewer for long lines, where points of mass hardly fade."""
    return FADED - 6 * max(0.0, math.log2(side) - 4)


def period_for(
    sketches: Sequence[tuple[Sketch, int]], theta: float, deviation: float, epsilon: float, log_error: float, near: float
) -> tuple[float, tuple[Fraction, Fraction]]:
    """The least period at which images on both sides are small enough, and the orders that show it."""
    margin = (1 + max(near, 1.0)) * deviation
    periods, orders = [], []
    for candidates in (
        np.append(theta * (1 - np.geomspace(0.02, 0.99, 32)), 0.0),
        theta + np.minimum(np.geomspace(0.1, 12.0, 32) / deviation, 2 * theta + 2),
    ):
        cumulants = sum((count * sketch.cumulant(candidates) for sketch, count in sketches), np.zeros(len(candidates)))
        powers = np.maximum(candidates, 1e-300)
        peaks = powers * np.log(powers) - (1 + powers) * np.log1p(powers)
        needed = (peaks + cumulants - candidates * epsilon - log_error) / abs(candidates - theta) + margin
        best = int(np.argmin(needed))
        periods.append(float(needed[best]))
        orders.append(Fraction(float(candidates[best])))
    return max(*periods, margin), (orders[0], orders[1])


def _short(value: Fraction) -> Fraction:
    """A dyadic near a value, so that its digits do not grow."""
    return Fraction(round(value * (1 << 80)), 1 << 80)


def _share(term: arb, whole: arb) -> str:
    """A term relative to the whole, in three digits."""
    share = ball_endpoints(term / whole)[1]
    return "all" if share > 1 else outward(max(share, Fraction(0)), digits=3, up=True)
