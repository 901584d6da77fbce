"""Mixtures of normal laws on both sides: what a hidden random subset of contributions, or a group under sampling, loses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.laws.gaussian import SquaredGaussian
from dpaudit.accounting.laws.mixed_pair import ALONE, NormalMixtures
from dpaudit.accounting.laws.mixed_quadrature import quadrature
from dpaudit.accounting.model.law import FiniteLosses, Law, LossValue
from dpaudit.exact import ball

SOURCE: Final = (
    "vectors of bounded norm are worst on one line, where half-lines are the best events (docs/prices.md, mixtures of Gaussians)"
)


@dataclass(frozen=True)
class MixedNormals(NormalMixtures, FiniteLosses):
    """The law of a pair of such means; it dominates the same with vectors of those lengths in any dimension."""

    __hash__ = NormalMixtures.__hash__

    def describe(self) -> str:
        return self.name

    def reversed(self) -> MixedNormals:
        return MixedNormals(self.down, self.up, self.unit_squared, self.name)

    def greatest_loss(self) -> LossValue | None:
        """Unbounded, unless P is one normal law and Q may be the same."""
        return LossValue.of_ratio(1 / self.down[0][1]) if self.up == ALONE and not self.down[0][0] else None

    def log_moment(self, order: Fraction) -> arb:
        """The quadrature; where it would be too long, between 0 and the moment of the components, by convexity."""
        rule = quadrature(self, 1, greatest=order, place=Fraction(0))
        if rule is not None:
            return rule.at(order).log()
        unit = ball(self.unit_squared * order * (1 + order) / 2)
        pairs = ((c + d, p * q) for c, p in self.up for d, q in self.down)
        return arb(0).union(sum((ball(weight) * (unit * ball(gap * gap)).exp() for gap, weight in pairs), arb(0)).log())

    def profile(self, epsilon: arb) -> arb:
        """P less e^epsilon Q beyond the output whose loss is epsilon."""
        lowest, highest = self.range_of_losses()
        whole = -epsilon.expm1()
        if highest is not None and epsilon >= highest:
            return arb(0)
        if lowest is not None and epsilon <= lowest:
            return whole
        if (highest is None or epsilon < highest) and (lowest is None or epsilon > lowest):
            sides = self.sides_at(self.threshold(epsilon, self.rough_threshold(float(epsilon))))
            return (sides.p_above - epsilon.exp() * sides.q_above).nonnegative_part()
        if lowest is not None and not epsilon > lowest:  # the ball reaches to where every output loses more
            return whole.union(self.profile(epsilon.upper())) if epsilon.upper() > lowest else whole.union(arb(1) - lowest.exp())
        return arb(0).union(self.profile(epsilon.lower()) if highest is not None and epsilon.lower() < highest else arb(1))

    def profile_source(self) -> str:
        return SOURCE


def mixed_normals(
    up: Iterable[tuple[Fraction, Fraction]], down: Iterable[tuple[Fraction, Fraction]], unit_squared: Fraction, name: str
) -> Law:
    """The law of distances with weights on both sides, equal distances put together; one normal law is Gaussian."""
    sides = []
    for side in (up, down):
        found: dict[Fraction, Fraction] = {}
        for distance, weight in side:
            found[distance] = found.get(distance, Fraction(0)) + weight
        sides.append(tuple(sorted((distance, weight) for distance, weight in found.items() if weight)))
    if len(sides[0]) == len(sides[1]) == 1:
        return SquaredGaussian((sides[0][0][0] + sides[1][0][0]) ** 2 * unit_squared, name)
    return MixedNormals(sides[0], sides[1], unit_squared, name)
