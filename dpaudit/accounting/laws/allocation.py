"""Random allocation: the loss of a record that takes part in one of several steps, chosen uniformly and kept secret."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from flint import arb, arb_poly, fmpq, fmpq_poly

from dpaudit.accounting.laws.between import Between, end_of, law_below
from dpaudit.accounting.laws.geometric_ratios import geometric_points, has_geometric_points
from dpaudit.accounting.laws.mixed_moments import between_whole, mean_moments
from dpaudit.accounting.laws.pairs import ExplicitPair
from dpaudit.accounting.laws.sampled import Sampled, profile_of
from dpaudit.accounting.laws.seen import Cumulated, Seen, cumulate
from dpaudit.accounting.model.coordinates import common_unit
from dpaudit.accounting.model.distribution import Distribution, Point, Points, Scattered, Sides
from dpaudit.accounting.model.law import Finite, GaussianShaped, Law, LossValue, Mass, sum_of_losses
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, fmpq_of, working_precision

LENGTH: Final = 1 << 14  # Most places of the sum of the likelihood ratios of all steps
TAIL_BITS: Final = 44  # Likelihood ratios beyond a tail of this many bits count as revealing the record
LARGEST_RATIO: Final = 40  # Logarithm of the largest likelihood ratio that is followed
MOST_ONCE: Final = 1 << 13  # Most places of the ratio of one step
# Places further out are of no use where the distance of two becomes more than this part of the deviation of the ratio.
CLOSE: Final = 0.03
# Parts of odd places that go up when places are merged: from above both neighbours have a half, from below they are joined.
SPREAD, JOINED = Fraction(1, 2), Fraction(0)
NOTHING: Final = arb(2) ** -170  # Sums with less mass than this are left out
# Places with less P and Q mass than this count as revealing the record, or as nothing, depending on the side.
LIGHTEST: Final = arb(2) ** -120
# Most bits that the rational masses of all sums may take together; beyond, ratios are spread over a grid.
MOST_DIGITS: Final = 1 << 22
# An even grid is finer than places in geometric progression where ratios are close to 1: below mu^2 = 1, or this for few steps.
FAR_APART, FEW = Fraction(1, 4), 4
BITS: Final = 176  # Working precision of a table

GROUND = "the likelihood ratio of one step among several is the mean of theirs (docs/sampling_schemes.md, random allocation)"


@dataclass(frozen=True)
class Allocated:
    """One of `steps` steps under `law`, the others under its second half, against the second half in all; or the reverse."""

    # `removing`: `law` is (with, without) and the pair is (mean over i of without x ... x with at i x ... x without,
    # without^steps). Else `law` is (without, with) and the pair is (without^steps, that mean). Its distribution dominates: the
    # likelihood ratios of one step are spread over an arithmetic grid, and those beyond it reveal the record.
    law: Law
    steps: int
    removing: bool

    def describe(self) -> str:
        return f"{self.law.describe()} in one of {self.steps} steps"

    def reversed(self) -> Allocated:
        return Allocated(self.law.reversed(), self.steps, not self.removing)

    def greatest_loss(self) -> LossValue | None:
        """That of the law; log(steps) more where it is added and only one step has a ratio that is not 0."""
        loss = self.law.greatest_loss()
        fewer = loss is not None and not self.removing and self.law.infinity_mass() > 0
        return sum_of_losses([(loss, 1), (LossValue.of_ratio(Fraction(self.steps)), 1)]) if fewer and loss is not None else loss

    def infinity_mass(self) -> Fraction:
        """That of the law where a record is removed, else that of all steps together, rounded up."""
        mass = self.law.infinity_mass()
        if self.removing or not mass:
            return mass
        with working_precision(BITS):
            return min(Fraction(1), Fraction(ball_endpoints(ball(mass) ** self.steps)[1]))

    def log_moment(self, order: Fraction) -> arb | None:
        """Removing: moments of the mean ratio; adding: by the geometric mean, which is below it. At most that of one step."""
        if self.removing:
            found, once = mean_moments(self.law, self.steps), self.law.log_moment(order)
            near = None if found is None else between_whole(found, 1 + order)
            return once if near is None else near[1]
        part = None if self.law.infinity_mass() else self.law.log_moment(order / self.steps)
        return None if part is None else part * self.steps

    def profile(self, epsilon: arb) -> arb:
        return _cumulated(self).most(epsilon)

    def profile_source(self) -> str:
        return GROUND

    def points(self, tail: int) -> Points:  # noqa: ARG002 - the tail was cut with the table
        """One point for each place of the mean ratio."""
        found = geometric_points(self.law, self.steps, above=True)
        if found is not None:
            return found if self.removing else found.turned()
        finite, p_left, q_left = _spread(self.law if self.removing else self.law.reversed(), self.steps)
        if self.removing:
            return Points(finite, p_left, q_left)
        return Points(tuple((-loss, q_mass, p_mass) for loss, p_mass, q_mass in finite), q_left, p_left)

    def distribution(self) -> Distribution:
        return Scattered(self)


@dataclass(frozen=True)
class Sums:
    """The removal seen through the nearest place of the likelihood ratio of each step, and of all steps their sum."""

    law: Law
    steps: int

    def describe(self) -> str:
        return f"{self.law.describe()} in one of {self.steps} steps, of which sums are seen"

    def points(self, tail: int) -> Points:  # noqa: ARG002 - the tail was cut with the table
        """The sums of places with their masses; what only the dataset without the record gives has place 0."""
        finite, infinity = _fused(self.law, self.steps)
        return Points(finite, infinity, arb(0))


@dataclass(frozen=True)
class Fused:
    """The removal of normal laws, seen through the place of the mean ratio among places in geometric progression."""

    law: Law
    steps: int

    def describe(self) -> str:
        return f"{self.law.describe()} in one of {self.steps} steps, of which mean ratios are seen"

    def points(self, tail: int) -> Points:  # noqa: ARG002 - the tail was cut with the table
        """The places with their masses."""
        found = geometric_points(self.law, self.steps, above=False)
        unknown = arb(0).union(arb(1))
        return Points((), unknown, unknown) if found is None else found


def allocate(law: Law, steps: int) -> Law:
    """A release in one of several steps: exactly or between two laws; DPA202 for laws whose distribution is not known."""
    name = f"{law.describe()}.sampled(RandomAllocation(steps={steps}))"
    if law.infinity_mass() == 1:
        return law
    exact = _exact_step(law, steps)
    if exact:
        return _exact(law, steps, exact, name)
    above, below = end_of(law, 0) or law, law_below(law)
    _require_distribution(above)
    return Between(
        name, Allocated(above, steps, removing=True), None if below is None else allocate_from_below(below, steps), GROUND
    )


def allocate_from_below(law: Law, steps: int) -> Law:
    """A law below: the sums of places, and beside it one step by itself; DPA202 where the distribution is not known."""
    _require_distribution(law)
    alone: Law | None = None if profile_of(law) is None else Sampled(law, Fraction(1, steps), removing=True)
    if not isinstance(law, GaussianShaped) or not has_geometric_points(law, steps):
        return Seen(Sums(law, steps), alone)
    if law.mu_squared >= (FAR_APART if steps <= FEW else 1):
        return Seen(Fused(law, steps), alone)
    return Seen(Sums(law, steps), Seen(Fused(law, steps), alone))


def _exact(law: Law, steps: int, step: Fraction, name: str) -> ExplicitPair:
    """The pair itself, from a power of the Q masses by multiples of a step that carries all ratios."""
    places = {int(p_mass / q_mass / step): q_mass for p_mass, q_mass in _masses(law) or ()}
    once = [places.get(index, Fraction(0)) for index in range(max(places) + 1)]
    once[0] += 1 - sum(once, Fraction(0))  # what only Q gives
    sums = fmpq_poly([fmpq_of(mass) for mass in once]) ** steps
    q_masses = [Fraction(int(sums[index].p), int(sums[index].q)) for index in range(sums.length())]
    common = [(index * step / steps * mass, mass) for index, mass in enumerate(q_masses) if index and mass]
    return ExplicitPair(tuple(common), 1 - sum((p_mass for p_mass, _ in common), Fraction(0)), q_masses[0], name)


@lru_cache(maxsize=16)
def _spread(law: Law, steps: int) -> tuple[tuple[Point, ...], arb, arb]:
    """Losses with P and Q masses of the mean ratio, that of each step spread over a grid, and what is left of P and of Q."""
    with working_precision(BITS):
        grid = _grid(law)
        once = arb_poly(_spread_once(_require_distribution(law), grid))
        _, sums, width = _sum_places(arb_poly([]), once, steps, grid, SPREAD)
        finite: list[Point] = []
        for index, mass in enumerate(_coefficients(sums)):
            ratio = ball(index * width / steps)
            if index and not mass * ratio.max(arb(1)) < LIGHTEST:
                finite.append((ratio.log(), mass * ratio, mass))
        p_left, q_left = (1 - sum((point[side] for point in finite), arb(0)) for side in (1, 2))
        return tuple(finite), p_left.nonnegative_part(), q_left.nonnegative_part()


@lru_cache(maxsize=8)
def _cumulated(law: Allocated) -> Cumulated:
    """Sums of the points of a law."""
    with working_precision(BITS):
        return cumulate(law.points(TAIL_BITS))


@lru_cache(maxsize=16)
def _fused(law: Law, steps: int) -> tuple[tuple[Point, ...], arb]:
    """Losses with P and Q masses when only the sum of the places of all ratios is seen, and the infinite loss."""
    with working_precision(BITS):
        grid = _grid(law)
        p_once, q_once = (arb_poly(side) for side in _nearest(_require_distribution(law), grid))
        p_sums, q_sums, _ = _sum_places(p_once, q_once, steps, grid, JOINED)
        length, infinity = max(p_sums.length(), q_sums.length()), ball(law.infinity_mass())
        masses = [(p_sums[index].nonnegative_part(), q_sums[index].nonnegative_part()) for index in range(length)]
        left = [1 - sum((pair[side] for pair in masses), arb(0)) for side in (0, 1)]
        masses.append(((left[0] - infinity).nonnegative_part(), left[1].nonnegative_part()))
        p_sum, q_sum, groups = arb(0), arb(0), list[tuple[arb, arb]]()
        for p_mass, q_mass in masses:
            p_sum, q_sum = p_sum + p_mass, q_sum + q_mass
            if p_sum > LIGHTEST and q_sum > LIGHTEST:
                groups.append((p_sum, q_sum))
                p_sum, q_sum = arb(0), arb(0)
        groups[-1] = (groups[-1][0] + p_sum, groups[-1][1] + q_sum)
        return tuple(((p_mass / q_mass).log(), p_mass, q_mass) for p_mass, q_mass in groups), infinity


def _sum_places(p_once: arb_poly, q_once: arb_poly, steps: int, grid: Grid, part: Fraction) -> tuple[arb_poly, arb_poly, Fraction]:
    """P and Q masses of the sum of all places when one of the steps has P, and the width of a place."""
    # By doubling. Where sums reach further than `LENGTH` places, pairs of places are merged: of those with an odd index `part` goes
    # up and the rest down. What lies beyond the reach of a sum is cut off.
    p_sums, q_sums, count, width = p_once, q_once, 1, grid.width
    for digit in f"{steps:b}"[1:]:
        p_sums, q_sums, count = p_sums * q_sums, q_sums * q_sums, 2 * count
        if digit == "1":
            p_sums = (p_sums * q_once * count + q_sums * p_once) * (arb(1) / (count + 1))
            q_sums, count = q_sums * q_once, count + 1
        length = math.ceil(grid.reach(count) / width) + 1
        p_sums, q_sums = (arb_poly(_coefficients(poly.truncate(length))) for poly in (p_sums, q_sums))
        while length > LENGTH:
            p_sums, q_sums, p_once, q_once = (_merge_places(poly, part) for poly in (p_sums, q_sums, p_once, q_once))
            length, width = length // 2 + 1, 2 * width
    return p_sums, q_sums, width


def _merge_places(poly: arb_poly, part: Fraction) -> arb_poly:
    """Half as many places."""
    masses = [*_coefficients(poly), arb(0), arb(0)]
    up, down = ball(part), ball(1 - part)
    odd = [arb(0), *masses[1::2]]
    return arb_poly([even + down * after + up * before for even, before, after in zip(masses[::2], odd, odd[1:], strict=False)])


def _require_distribution(law: Law) -> Distribution:
    """The distribution of a law that was found to have one."""
    from dpaudit.accounting.laws.distributions import distribution_of

    found = distribution_of(law)
    if found is None:
        raise Unsupported("DPA202", f"{law.describe()} has no distribution that is known, so it cannot be allocated.")
    return found


def _masses(law: Law) -> list[tuple[Fraction, Fraction]] | None:
    """P and Q mass of every value of a law on rational masses; None for other laws."""
    atoms = law.atoms(TAIL_BITS) if isinstance(law, Finite) else None
    if atoms is None or not all(isinstance(mass, fmpq) for atom in atoms.atoms for mass in (atom.p_mass, atom.q_mass)):
        return None
    return [(_fraction(atom.p_mass), _fraction(atom.q_mass)) for atom in atoms.atoms]


def _fraction(mass: Mass) -> Fraction:
    """A rational mass."""
    return Fraction(int(mass.p), int(mass.q)) if isinstance(mass, fmpq) else Fraction(0)


def _exact_step(law: Law, steps: int) -> Fraction | None:
    """A step that carries all ratios of a law with rational masses; None when its power would have too many digits."""
    masses = _masses(law)
    if not masses:
        return None
    ratios = [p_mass / q_mass for p_mass, q_mass in masses]
    unit, digits = common_unit(ratios), max(q_mass.denominator.bit_length() for _, q_mass in masses)
    return unit if steps**2 * digits * max(ratios) / unit <= MOST_DIGITS else None


@dataclass(frozen=True)
class Grid:
    """Places of the ratio of one step: multiples of a width up to the last; the variance says how far sums reach."""

    width: Fraction
    last: int
    variance: float

    def reach(self, steps: int) -> float:
        """A sum of as many ratios beyond which hardly any mass lies."""
        largest = float(self.width * self.last)
        return min(steps * largest, 1.25 * largest + steps + 8 * math.sqrt(steps * self.variance))


@lru_cache(maxsize=16)
def _grid(law: Law) -> Grid:
    """Places up to where hardly any P mass is left, and further as long as they are close for the spread of the ratio."""
    known = _require_distribution(law)
    with working_precision(BITS):
        points, moment, place = known.points(TAIL_BITS).finite, law.log_moment(Fraction(1)), 0.0
        rough = math.inf if moment is None else float(moment)
        tail, near = 1.0, math.log(max(CLOSE * MOST_ONCE * math.sqrt(math.expm1(min(rough, 1.0))), 1.0))
        while place < LARGEST_RATIO and (tail >= 2.0**-TAIL_BITS or (place < near and tail > 0)):
            place += 0.25
            tail = float(known.sides([arb(place)])[0].p_above + sum((mass for loss, mass, _ in points if not loss < place), arb(0)))
    width = Fraction(math.ceil(math.exp(place) / MOST_ONCE * 2**20), 1 << 20)
    return Grid(width, math.ceil(math.exp(place) / width), math.expm1(min(rough, 2 * place)))


def _spread_once(law: Distribution, grid: Grid) -> list[arb]:
    """Q masses when the outputs between two places of the ratio go to these two, keeping P and Q; beyond the last to 0."""
    width, masses = ball(grid.width), [arb(0)] * (grid.last + 1)
    ends = [(width * index).log() for index in range(1, grid.last + 1)]

    def place(first: int, span: int, p_mass: arb, q_mass: arb) -> None:
        """Spread over places first and first + span."""
        low, high = width * first, width * (first + span)
        masses[first] += ((high * q_mass - p_mass) / (width * span)).nonnegative_part()
        masses[first + span] += ((p_mass - low * q_mass) / (width * span)).nonnegative_part()

    for index, (p_mass, q_mass) in enumerate(_between(law.sides(ends))):
        place(index, 1, p_mass, q_mass)
    for loss, p_mass, q_mass in law.points(TAIL_BITS).finite:
        near = loss.exp() / width
        first, final = (_floor(end) for end in (near.lower(), near.upper()))
        if final < grid.last:
            place(first, final + 1 - first, p_mass, q_mass)
    masses[0] += (1 - sum(masses, arb(0))).nonnegative_part()
    return masses


def _floor(value: arb) -> int:
    """The floor of an exact ball; one that is no number lies beyond every place."""
    floor = value.floor().unique_fmpz()
    return 1 << 64 if floor is None else int(floor)


def _nearest(law: Distribution, grid: Grid) -> tuple[list[arb], list[arb]]:
    """P and Q masses of the outputs by the place nearest to their ratio, the last place for all beyond."""
    points, half = law.points(TAIL_BITS), ball(grid.width / 2)
    sides = law.sides([(half * (2 * index + 1)).log() for index in range(grid.last)])
    masses = [*_between(sides), (sides[-1].p_above, sides[-1].q_above)]
    for loss, p_mass, q_mass in points.finite:
        index = min(grid.last, round(math.exp(min(float(loss), LARGEST_RATIO)) / grid.width))
        masses[index] = (masses[index][0] + p_mass, masses[index][1] + q_mass)
    masses[0] = (masses[0][0], masses[0][1] + points.q_only)
    return [p_mass for p_mass, _ in masses], [q_mass for _, q_mass in masses]


def _between(sides: Sequence[Sides]) -> list[tuple[arb, arb]]:
    """P and Q mass below the first place and between neighbouring ones."""
    return [(sides[0].p_below, sides[0].q_below), *(left.up_to(right) for left, right in pairwise(sides))]


def _coefficients(poly: arb_poly) -> list[arb]:
    """Masses, none of which is negative; products of polynomials are slow where some are next to nothing, so these are left out."""
    masses = (poly[index].nonnegative_part() for index in range(poly.length()))
    return [arb(0) if mass < NOTHING else mass for mass in masses]
