"""Interactive answers of which only updates are paid for: a moment bound whose supremum over all queries is certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Final, NamedTuple

from flint import arb

from dpaudit.accounting.model.law import Atom, Atoms, FiniteLosses, Law, LossValue, Symmetric, Unbounded, sum_of_losses
from dpaudit.exact import ball, ball_endpoints, working_precision

PRECISION: Final = 128  # Bits of working precision, besides those that cancel where the sensitivity is small
TOLERANCE: Final = Fraction(1, 1 << 14)  # Relative excess of the cost of an update at which the search for the worst query ends
# Cells beyond which none is halved; orders close to 1 need as many, since all distances cost nearly the same there.
MOST_CELLS: Final = 256
# Orders that are less above 1 are bounded through this one; they matter for epsilons in the thousands only.
LEAST_ORDER: Final = Fraction(1, 64)
LEVELS: Final = 48  # Most times that the cells are halved
FINEST: Final = 1 << 60  # Share of the sensitivity on the line of which distances are multiples; never reached by halving
STEEPEST: Final = 4096  # Order times sensitivity/scale beyond which no bound is sought: the moments are infinite there
MOST_VALUES: Final = 4096  # Most values of the law from below
SHARPNESS: Final = 1 << 64  # The law from below has probabilities that are multiples of 1 over this


class _Place(NamedTuple):
    """Of a round: log V with its slope; U as a part that bends the other way, with its slope, and a part that is convex."""

    log_silent: arb
    slope: arb
    between: arb
    bend: arb
    beyond: arb


@dataclass(frozen=True)
class Round:
    """Laplace noise of `scale` on a query: the result is shown where it is at least `first` away from 0, else nothing is."""

    # `step` is the lattice on which query, noise and result lie, 0 for the line.
    scale: Fraction
    sensitivity: Fraction
    first: Fraction
    step: Fraction

    @property
    def bits(self) -> int:
        """Working precision at which nothing cancels away."""
        reach = self.sensitivity / self.scale
        return PRECISION + 2 * max(0, reach.denominator.bit_length() - reach.numerator.bit_length())

    def places(self, power: Fraction) -> Callable[[arb], _Place]:
        """V and U of I^power O^(1 - power), by how far before the threshold the law I is centred, with O a sensitivity further."""
        rate, gap, share = 1 / ball(self.scale), ball(self.sensitivity), ball(power)
        reach, stride = rate * gap, rate * ball(self.step)
        weight, opposite = 1 / (1 + (-stride).exp()), (-2 * rate * ball(self.first)).exp()
        growth = (1 - 2 * share) * rate
        spread = (-stride).expm1() / (growth * ball(self.step)).expm1() if self.step else 1 / (2 * share - 1)
        far = weight * (-(1 - share) * reach).exp()
        level = weight * (-share * reach).exp() - far * spread * (growth * gap).exp()
        outside = (weight * ((-stride).exp() - opposite)).log() - reach

        def place(distance: arb) -> _Place:
            near = (-rate * distance).exp()
            away = opposite / near
            inside, between = 1 - weight * (near + away), far * spread * (growth * distance).exp()
            return _Place(
                share * inside.log() + (1 - share) * (outside + rate * distance),
                share * weight * rate * (near - away) / inside + (1 - share) * rate,
                between,
                growth * between,
                level + far * away,
            )

        return place


@dataclass(frozen=True)
class UpdateCharged(Symmetric, FiniteLosses, Unbounded):  # the bound covers both directions, and so does the attack
    """A run of any length that ends with update number `updates`; known by its moments from above, by one attack from below."""

    noise: Round
    updates: int
    name: str

    def describe(self) -> str:
        return self.name

    def log_moment(self, order: Fraction) -> arb | None:
        """The cost of an update, once for each."""
        cost = cost_of_update(self.noise, order)
        return None if cost is None else ball(self.updates * cost)

    def bracket(self) -> tuple[Law, Law | None]:
        """The bound from above, the number of silent rounds from below."""
        return self, repeated_query(self.noise, self.updates)

    def bracket_source(self) -> str:
        return (
            "silence and updates together multiply a moment by at most exp(cost) for each update (docs/prices.md, charged "
            "updates); from below one query that is repeated, seen through the number of silent rounds"
        )


@dataclass(frozen=True)
class Waits(FiniteLosses):
    """Silent rounds before the last of `updates` updates; a round is one with probability `first` under P, `second` under Q."""

    first: Fraction
    second: Fraction
    updates: int

    def describe(self) -> str:
        return f"silent rounds before {self.updates} updates"

    def reversed(self) -> Waits:
        return Waits(self.second, self.first, self.updates)

    def greatest_loss(self) -> LossValue | None:
        """Unbounded where P is silent more often, else that of no silent round."""
        return None if self.first < self.second else self._loss(0)

    def log_moment(self, order: Fraction) -> arb | None:
        """A power of the geometric sum, None where it diverges."""
        sides = ((self.first, self.second), (1 - self.first, 1 - self.second))
        update, silence = (ball(p) * (ball(order) * ball(p / q).log()).exp() for p, q in sides)
        return (update / (1 - silence)).log() * self.updates if silence < 1 else None

    def atoms(self, tail: int) -> Atoms | None:
        """The numbers of silent rounds up to a negligible tail, None where they are too many."""
        p_mass, q_mass = (ball(chance) ** self.updates for chance in (self.first, self.second))
        found, chance = [], 1 - ball(self.first)
        for silent in range(MOST_VALUES):
            found.append(Atom(self._loss(silent), p_mass, q_mass))
            growth = ball(Fraction(silent + self.updates, silent + 1))
            p_mass, q_mass = p_mass * growth * chance, q_mass * growth * (1 - ball(self.second))
            if growth * chance < 1 and (rest := p_mass / (1 - growth * chance)) < arb(2) ** -tail:
                return Atoms(tuple(found), arb(0).union(rest))
        return None

    def _loss(self, silent: int) -> LossValue:
        """The loss of a number of silent rounds."""
        update, silence = LossValue.of_ratio(self.first / self.second), LossValue.of_ratio((1 - self.first) / (1 - self.second))
        return sum_of_losses([(update, self.updates), (silence, silent)])


@lru_cache(maxsize=4096)
def cost_of_update(noise: Round, order: Fraction) -> Fraction | None:
    """The least c, rounded up, for which V + U/e^c <= 1 at Renyi order 1 + `order` whatever is asked; None where none is found."""
    reach = noise.sensitivity / noise.scale
    if order * reach > STEEPEST:
        return None
    if order < LEAST_ORDER and (end := cost_of_update(noise, LEAST_ORDER)) is not None:
        return end * order / LEAST_ORDER  # c is convex in the order and 0 at 0
    with working_precision(noise.bits):
        found = _greatest_ratio(noise, -order, _greatest_ratio(noise, 1 + order, arb(0)))
        most = ball_endpoints(found.log())[1]
    return most if isinstance(most, Fraction) else None


def _greatest_ratio(noise: Round, power: Fraction, best: arb) -> arb:
    """At or above `best` and U/(1 - V) at every distance from one step to the sensitivity: cells are halved until it is close."""
    # On a cell the concave part is replaced by its tangent in the middle: log V where I is P (power > 0), else a part of U. What is
    # then compared with 1, V + U/e^c, is convex for every c, so the ends of the cell decide.
    unit = noise.step or noise.sensitivity / FINEST
    place_at, known = noise.places(power), dict[int, _Place]()

    def visited(index: int) -> _Place:
        """The round at one distance, whose own ratio counts."""
        nonlocal best
        if index not in known:
            known[index] = here = place_at(ball(index * unit))
            best = best.max(_ratio(here.between + here.beyond, here.log_silent))
        return known[index]

    def bound(low: int, high: int) -> arb:
        """At or above the ratio on a cell."""
        middle, most = (low + high) // 2, arb(0)
        centre = visited(middle)
        for end in (low, high):
            here, away = visited(end), ball((end - middle) * unit)
            if power > 0:
                ratio = _ratio(here.between + here.beyond, centre.log_silent + centre.slope * away)
            else:
                ratio = _ratio(centre.between + centre.bend * away + here.beyond, here.log_silent)
            most = most.max(ratio)
        return most

    cells, top = [(int(noise.step > 0), int(noise.sensitivity / unit))], best
    _ = visited(cells[0][0]), visited(cells[0][1])
    for _ in range(LEVELS):
        kept = [(cell, most) for cell in cells if cell[1] - cell[0] > 1 and not (most := bound(*cell)) <= best]
        top = reduce(arb.max, (most for _, most in kept), best)
        if not best.is_finite() or len(kept) > MOST_CELLS or top - 1 <= (best - 1) * (1 + ball(TOLERANCE)):
            break
        cells = [half for (low, high), _ in kept for half in ((low, (low + high) // 2), ((low + high) // 2, high))]
    return top


def _ratio(update: arb, log_silent: arb) -> arb:
    """U/(1 - V), infinite where V may be 1."""
    rest = -log_silent.expm1()
    return update / rest if rest > 0 else arb.pos_inf()


@lru_cache(maxsize=256)
def repeated_query(noise: Round, updates: int) -> Waits | None:
    """Return the pair seen by an analyst who repeats one query and counts, rounded to reveal less, None if that is nothing."""
    before = min(noise.sensitivity * Fraction(7, 10), 2 * noise.scale)
    before = max(before // noise.step, 1) * noise.step if noise.step else before
    with working_precision(noise.bits):
        inside, outside = (ball_endpoints(-noise.places(Fraction(power))(ball(before)).log_silent.expm1()) for power in (1, 0))
    first, second = math.ceil(inside[1] * SHARPNESS), math.floor(outside[0] * SHARPNESS)
    rounds = min(updates, MOST_VALUES // 4)
    return Waits(Fraction(first, SHARPNESS), Fraction(second, SHARPNESS), rounds) if first < second < SHARPNESS else None
