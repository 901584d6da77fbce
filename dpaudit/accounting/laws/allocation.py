"""Random allocation: the loss of a record that takes part in one of several steps, chosen uniformly and kept secret."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from flint import arb, arb_poly, fmpq, fmpq_poly

from dpaudit.accounting.coordinates import common_unit
from dpaudit.accounting.law import Atom, Atoms, Bracketed, Finite, Law, Mass
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.values import LossValue, total
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, fmpq_of, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.numeric.distributions import Distribution, Point, Points, Sides

LENGTH: Final = 1 << 14
"""Most places of the sum of the likelihood ratios of all steps."""

TAIL_BITS: Final = 44
"""Likelihood ratios beyond a tail of this many bits count as revealing the record."""

LARGEST_RATIO: Final = 40
"""Logarithm of the largest likelihood ratio that is followed."""

LIGHTEST: Final = arb(2) ** -100
"""Places with less P and Q mass than this count as revealing the record, or as nothing, depending on the side."""

MOST_DIGITS: Final = 1 << 22
"""Most bits that the rational masses of all sums may take together; beyond, ratios are spread over a grid."""

BITS: Final = 160
"""Working precision of a table."""

GROUND = "the likelihood ratio of one step among several is the mean of theirs (docs/sampling_schemes.md, random allocation)"


@dataclass(frozen=True)
class AllocatedAbove:
    """One of `steps` steps under `law`, the others under its second half, against the second half in all; or the reverse.

    `removing`: `law` is (with, without) and the pair is (mean over i of without x ... x with at i x ... x without, without^steps).
    Else `law` is (without, with) and the pair is (without^steps, that mean). The likelihood ratios of one step are spread over
    an arithmetic grid, which raises the loss; a grid that carries them all changes nothing.
    """

    law: Law
    steps: int
    removing: bool

    def describe(self) -> str:
        """The law and the number of steps."""
        return f"{self.law.describe()} in one of {self.steps} steps, from above"

    def reversed(self) -> AllocatedAbove:
        """The other direction."""
        return AllocatedAbove(self.law.reversed(), self.steps, not self.removing)

    def greatest_loss(self) -> LossValue | None:
        """The last of the values."""
        atoms = self._atoms().atoms
        return atoms[-1].loss if atoms else LossValue()

    def infinity_mass(self) -> Fraction:
        """The P mass that no value has, rounded up where it is not rational."""
        infinity = self._atoms().infinity
        if isinstance(infinity, fmpq):
            return Fraction(int(infinity.p), int(infinity.q))
        return min(Fraction(1), Fraction(ball_endpoints(infinity)[1]))

    def log_moment(self, order: Fraction) -> arb | None:
        """At most that of the law itself, since the ratio is a mean of ratios; None where an infinite loss would turn finite."""
        return self.law.log_moment(order) if self.removing or not self.law.infinity_mass() else None

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - the tail was cut with the table
        """One atom for each place of the mean ratio."""
        return self._atoms()

    def _atoms(self) -> Atoms:
        """The atoms, from the table in which a record is removed."""
        return _spread(self.law, self.steps) if self.removing else _exchanged(self.law.reversed(), self.steps)


@dataclass(frozen=True)
class AllocatedBelow:
    """The same pair when of each step only the nearest place of its likelihood ratio is seen, and of all steps their sum."""

    law: Law
    steps: int
    removing: bool

    def describe(self) -> str:
        """The law and the number of steps."""
        return f"{self.law.describe()} in one of {self.steps} steps, from below"

    def reversed(self) -> AllocatedBelow:
        """The other direction."""
        return AllocatedBelow(self.law.reversed(), self.steps, not self.removing)

    def greatest_loss(self) -> LossValue | None:
        """The last of the values, rounded down."""
        losses = [loss for loss, _, _ in self.points(TAIL_BITS).finite]
        low = ball_endpoints(max(losses, key=float))[0]
        return LossValue(low) if isinstance(low, Fraction) else None

    def infinity_mass(self) -> Fraction:
        """That of the law where a record is removed."""
        return self.law.infinity_mass() if self.removing else Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """Direct sum."""
        power = ball(order)
        return sum((p_mass * (power * loss).exp() for loss, p_mass, _ in self.points(TAIL_BITS).finite), arb(0)).log()

    def points(self, tail: int) -> Points:  # noqa: ARG002 - the tail was cut with the table
        """The sums of places with their masses; what only the dataset without the record gives has place 0."""
        from dpaudit.accounting.numeric.distributions import Points

        law = self.law if self.removing else self.law.reversed()
        finite, infinity = _fused(law, self.steps)
        if self.removing:
            return Points(finite, infinity, arb(0))
        return Points(tuple((-loss, q_mass, p_mass) for loss, p_mass, q_mass in finite), arb(0), infinity)

    def distribution(self) -> Distribution:
        """That of the points."""
        from dpaudit.accounting.numeric.mixtures import Scattered

        return Scattered(self)


def allocated(law: Law, steps: int) -> Law:
    """A release in one of several steps, between two finite laws; DPA202 for laws whose distribution is not known."""
    above, below = law.bracket() if isinstance(law, Bracketed) else (law, law)
    for known in (above, below):
        if known is not None:
            _known(known)
    name = f"{law.describe()}.sampled(RandomAllocation(steps={steps}))"
    upper, lower = AllocatedAbove(above, steps, removing=True), None
    if below is not None:
        exact = below == above and (below.infinity_mass() == 1 or _exact_step(below, steps))
        lower = upper if exact else AllocatedBelow(below, steps, removing=True)
    return Between(name, upper, lower, GROUND)


@lru_cache(maxsize=16)
def _exchanged(law: Law, steps: int) -> Atoms:
    """The atoms above in the other direction; what the first of the two has beside them is infinite."""
    atoms = _spread(law, steps).atoms
    turned = (Atom(total([(atom.loss, -1)]), atom.q_mass, atom.p_mass) for atom in reversed(atoms))
    with working_precision(BITS):
        return Atoms(tuple(turned), _rest([atom.q_mass for atom in atoms]))


@lru_cache(maxsize=16)
def _spread(law: Law, steps: int) -> Atoms:
    """The mean ratio of all steps, each of them spread over the places of a grid; exact where a grid carries its ratios."""
    atoms = list[Atom]()
    with working_precision(BITS):
        step = _exact_step(law, steps)
        if step:
            powers = fmpq_poly(_listed(law, step)) ** steps
            masses: Sequence[Mass] = [powers[index] for index in range(powers.length())]
        else:
            step, last = _grid(law, steps)
            masses = _power(arb_poly(_spread_once(_known(law), step, last)), steps)
        for index, mass in enumerate(masses):
            ratio = index * step / steps
            light = isinstance(mass, arb) and mass < LIGHTEST and mass * math.ceil(ratio) < LIGHTEST
            if index and mass != 0 and not light:
                atoms.append(Atom(LossValue.of_ratio(ratio), mass * fmpq_of(ratio), mass))
        return Atoms(tuple(atoms), _rest([atom.p_mass for atom in atoms]))


@lru_cache(maxsize=16)
def _fused(law: Law, steps: int) -> tuple[tuple[Point, ...], arb]:
    """Losses with P and Q masses when only the sum of the nearest places of all ratios is seen, and the infinite loss."""
    with working_precision(BITS):
        p_once, q_once = _nearest(_known(law), *_grid(law, steps))
        rest = _power(arb_poly(q_once), steps - 1)
        p_masses, q_masses = (_product(arb_poly(rest), arb_poly(once)) for once in (p_once, q_once))
        p_masses += [arb(0)] * (len(q_masses) - len(p_masses))
        infinity = ball(law.infinity_mass())
        p_masses.append((1 - infinity - sum(p_masses, arb(0))).nonnegative_part())
        q_masses.append((1 - sum(q_masses, arb(0))).nonnegative_part())
        kept, waiting, finite = False, (arb(0), arb(0)), list[tuple[arb, arb]]()
        for p_mass, q_mass in zip(p_masses, q_masses, strict=True):
            p_sum, q_sum = waiting[0] + p_mass, waiting[1] + q_mass
            kept = p_sum > LIGHTEST and q_sum > LIGHTEST
            waiting = (arb(0), arb(0)) if kept else (p_sum, q_sum)
            if kept:
                finite.append((p_sum, q_sum))
        finite[-1] = (finite[-1][0] + waiting[0], finite[-1][1] + waiting[1])
        return tuple(((p_mass / q_mass).log(), p_mass, q_mass) for p_mass, q_mass in finite), infinity


def _rest(masses: Sequence[Mass]) -> Mass:
    """What masses leave of 1."""
    left = 1 - sum(masses, fmpq(0))
    return left if isinstance(left, fmpq) else left.nonnegative_part()


def _known(law: Law) -> Distribution:
    """The distribution of a law that was found to have one."""
    from dpaudit.accounting.numeric.distributions import distribution_of

    found = distribution_of(law)
    if found is None:
        raise Unsupported("DPA202", f"{law.describe()} has no distribution that is known, so it cannot be allocated.")
    return found


def _exact_step(law: Law, steps: int) -> Fraction | None:
    """A step that carries all ratios of a law with rational masses; None when its power would have too many digits."""
    atoms = law.atoms(TAIL_BITS) if isinstance(law, Finite) else None
    ratios = [] if atoms is None else [ratio for atom in atoms.atoms if (ratio := _ratio(atom)) is not None]
    if atoms is None or not ratios or len(ratios) < len(atoms.atoms):
        return None
    unit, digits = (
        common_unit(ratios),
        max(int(atom.q_mass.q).bit_length() for atom in atoms.atoms if isinstance(atom.q_mass, fmpq)),
    )
    return unit if steps**2 * digits * max(ratios) / unit <= MOST_DIGITS else None


def _ratio(atom: Atom) -> Fraction | None:
    """P over Q mass of an atom with rational masses."""
    if not (isinstance(atom.p_mass, fmpq) and isinstance(atom.q_mass, fmpq)):
        return None
    quotient = atom.p_mass / atom.q_mass
    return Fraction(int(quotient.p), int(quotient.q))


def _listed(law: Law, step: Fraction) -> list[fmpq]:
    """Q masses by multiples of a step that carries all ratios; what only Q has is at 0."""
    atoms = law.atoms(TAIL_BITS) if isinstance(law, Finite) else None
    places = {int((_ratio(atom) or 0) / step): atom.q_mass for atom in (atoms.atoms if atoms else ())}
    masses = [mass if isinstance(mass := places.get(index), fmpq) else fmpq(0) for index in range(max(places) + 1)]
    masses[0] = 1 - sum(masses, fmpq(0))
    return masses


def _reach(law: Distribution) -> float:
    """Logarithm of a ratio beyond which hardly any P mass lies."""
    points = law.points(TAIL_BITS).finite
    place = 0.25
    while place < LARGEST_RATIO:
        beyond = law.sides([arb(place)])[0].p_above + sum((mass for loss, mass, _ in points if not loss < place), arb(0))
        if float(beyond) < 2.0**-TAIL_BITS:
            break
        place += 0.25
    return place


@lru_cache(maxsize=16)
def _grid(law: Law, steps: int) -> tuple[Fraction, int]:
    """A step with which the sums of ratios that matter have `LENGTH` places, and the last place of one ratio."""
    with working_precision(BITS):
        reach, moment = _reach(_known(law)), law.log_moment(Fraction(1))
    variance = math.expm1(min(float(moment), 2 * reach)) if moment is not None else math.exp(reach)
    largest = math.exp(reach)
    length = min(steps * largest, 1.25 * largest + steps + 8 * math.sqrt(max(steps * variance, 0.0)))
    step = Fraction(math.ceil(length * 2**20), LENGTH << 20)
    return step, math.ceil(largest / step)


def _spread_once(law: Distribution, step: Fraction, last: int) -> list[arb]:
    """Q masses when the outputs between two places of the ratio go to these two, keeping P and Q; beyond the last to 0."""
    width, masses = ball(step), [arb(0)] * (last + 1)
    ends = [(width * index).log() for index in range(1, last + 1)]

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
        if final < last:
            place(first, final + 1 - first, p_mass, q_mass)
    masses[0] += arb(_rest(masses))
    return masses


def _floor(value: arb) -> int:
    """The floor of an exact ball; one that is no number lies beyond every place."""
    floor = value.floor().unique_fmpz()
    return 1 << 64 if floor is None else int(floor)


def _nearest(law: Distribution, step: Fraction, last: int) -> tuple[list[arb], list[arb]]:
    """P and Q masses of the outputs by the place nearest to their ratio, the last place for all beyond."""
    points, half = law.points(TAIL_BITS), ball(step / 2)
    sides = law.sides([(half * (2 * index + 1)).log() for index in range(last)])
    masses = [*_between(sides), (sides[-1].p_above, sides[-1].q_above)]
    for loss, p_mass, q_mass in points.finite:
        index = min(last, round(math.exp(min(float(loss), LARGEST_RATIO)) / step))
        masses[index] = (masses[index][0] + p_mass, masses[index][1] + q_mass)
    masses[0] = (masses[0][0], masses[0][1] + points.q_only)
    return [p_mass for p_mass, _ in masses], [q_mass for _, q_mass in masses]


def _between(sides: Sequence[Sides]) -> list[tuple[arb, arb]]:
    """P and Q mass below the first place and between neighbouring ones."""
    found = [(sides[0].p_below, sides[0].q_below)]
    for left, right in pairwise(sides):
        p_mass = right.p_below - left.p_below if right.p_below < left.p_above else left.p_above - right.p_above
        q_mass = right.q_below - left.q_below if right.q_below < left.q_above else left.q_above - right.q_above
        found.append((p_mass, q_mass))
    return found


def _power(poly: arb_poly, times: int) -> list[arb]:
    """Coefficients of a power, cut to the places that are followed."""
    result = arb_poly([1])
    for digit in f"{times:b}":
        result = (result * result).truncate(LENGTH + 1)
        result = (result * poly).truncate(LENGTH + 1) if digit == "1" else result
    return [result[index].nonnegative_part() for index in range(result.length())]


def _product(one: arb_poly, other: arb_poly) -> list[arb]:
    """Coefficients of a product, cut likewise."""
    product = (one * other).truncate(LENGTH + 1)
    return [product[index].nonnegative_part() for index in range(product.length())]
