"""Poisson sampling of any law, and the privacy profile of one release: closed, listed, or of a sample of either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpaudit.accounting.laws.pairs import ExplicitPair
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Bracketed, Finite, Law, LossValue, Profiled
from dpaudit.claims import Adjacency
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, instance_of, shown, working_precision


@dataclass(frozen=True)
class Sampled:
    """`law` seen through Poisson sampling at `rate` in (0, 1), when a record is removed or when one is added."""

    # `removing`: `law` is (with, without) and the pair is ((1 - rate) without + rate with, without). Else `law` is (without, with)
    # and the pair is (without, (1 - rate) without + rate with).
    law: Law
    rate: Fraction
    removing: bool

    def describe(self) -> str:
        return f"{self.law.describe()}.sampled(Poisson({shown(self.rate)}))"

    def reversed(self) -> Sampled:
        return Sampled(self.law.reversed(), self.rate, removing=not self.removing)

    def greatest_loss(self) -> LossValue | None:
        """That of the law after sampling, up to rounding; -log(1 - rate) where a record is added that can lose everything."""
        loss, sign = self.law.greatest_loss(), 1 if self.removing else -1
        if not self.removing and (loss is None or self.law.infinity_mass()):
            return LossValue.of_ratio(1 / (1 - self.rate))
        if loss is None:
            return None
        with working_precision(128):
            low, high = ball_endpoints(sign * (ball(self.rate) * (sign * loss.ball()).expm1()).log1p())
        if isinstance(high, float) or isinstance(low, float):  # a loss beyond all balls: sampling makes it no larger
            low, high = Fraction(0), Fraction(loss.ends()[1])
        most, least = max(high, Fraction(0)), max(low, Fraction(0))
        return LossValue(most, slack=most - least)

    def infinity_mass(self) -> Fraction:
        """The rate times that of the law where a record is removed; adding one never reveals everything."""
        return self.rate * self.law.infinity_mass() if self.removing else Fraction(0)

    def log_moment(self, order: Fraction) -> arb | None:
        """From the moment M of the law itself, since x^(1 + order) and x^-order are convex."""
        # Removing: E_Q[(1 - rate + rate R)^(1 + order)] <= 1 - rate + rate M. Adding: E_P[(1 - rate + rate/R)^-order] is at most
        # 1 - rate + rate M over finite losses, and (1 - rate)^-order times the mass of the infinite ones, which become finite.
        moment, infinite = self.law.log_moment(order), ball(self.law.infinity_mass())
        if moment is None:
            return None
        rate = ball(self.rate)
        if self.removing or infinite.is_zero():
            return (rate * moment.expm1()).log1p()
        return ((1 - rate) * (1 - infinite) + rate * moment.exp() + infinite * (1 - rate) ** ball(-order)).log()

    def bracket(self) -> tuple[Law, Law | None]:
        """Samples of the two ends of a class of mechanisms; the law itself where it is one law."""
        base = self.law
        if not isinstance(base, (Bracketed, BoundedRange)):
            return self, self
        above, below = base.bracket() if isinstance(base, Bracketed) else (base, base.below())
        ends = [None if law is None else Sampled(law, self.rate, removing=self.removing) for law in (above, below)]
        return ends[0] or self, ends[1]

    def bracket_source(self) -> str:
        return "a sample mixes each end of the class with a law that tells nothing (Balle, Barthe, Gaboardi 2018, Theorem 8)"


def subsample_poisson(composition: Composition, rate: Fraction) -> Composition:
    """Return the laws after Poisson sampling of the records; DPA202 where the adjacency is not add_remove of records.

    Sampling amplifies less under other adjacencies. Source: Zhu, Dong, Wang 2022, Theorem 11; docs/engines.md.
    """
    adjacency = instance_of(composition, Composition, "loss").adjacency
    if adjacency != Adjacency("add_remove"):
        raise Unsupported(
            "DPA202", f"Poisson sampling of records is priced under add_remove, got {adjacency}: it amplifies less elsewhere."
        )
    if rate in {0, 1}:
        return composition * int(rate)
    return merge_parts([(_sample_of(law, rate), count) for law, count in composition.parts], composition.adjacency)


def _sample_of(law: Law, rate: Fraction) -> Law:
    """The law of a sample when a record is removed; an explicit pair stays one, since its masses stay rational."""
    if not isinstance(law, ExplicitPair):
        return Sampled(law, rate, removing=True)
    mixed = [((1 - rate) * q_mass + rate * p_mass, q_mass) for p_mass, q_mass in (*law.common, (Fraction(0), law.only_q)) if q_mass]
    common = tuple(sorted(mixed, key=lambda masses: masses[0] / masses[1]))
    return ExplicitPair(common, rate * law.only_p, Fraction(0), f"{law.describe()}.sampled(Poisson({shown(rate)}))")


ProfileBall: TypeAlias = Callable[[arb], arb]  # A ball around delta at an epsilon of any sign, at the current precision
TAIL: Final = 1200  # Bits of the tail at which a law with endlessly many values is cut

SAMPLED: Final = "mixture of a law with one that tells nothing (Balle, Barthe, Gaboardi 2018, Theorem 8)"


def delta_of(law: Law, epsilon: arb) -> arb:
    """Delta of a law, a ball that says nothing where its profile is not known."""
    profile = profile_of(law)
    return arb(0).union(arb(1)) if profile is None else profile(epsilon)


def profile_of(law: Law) -> ProfileBall | None:
    """The profile of a law in its direction, None where it is not known."""
    match law:
        case Sampled():
            base = profile_of(law.law)
            return None if base is None else lambda epsilon: _sampled_profile(law, base, epsilon)
        case Profiled():
            return law.profile
        case Finite() if law.atoms(TAIL) is not None:
            return lambda epsilon: _listed_profile(law, epsilon)
    return None


def source_of(law: Law) -> str:
    """The theorem behind a profile that is not read off listed values."""
    return law.profile_source() if isinstance(law, Profiled) else SAMPLED


def _sampled_profile(law: Sampled, delta: ProfileBall, epsilon: arb) -> arb:
    """Removing: rate d(log(1 + (e^e - 1)/rate)). Adding, with c = 1 - (1 - rate) e^e: c d(log(rate e^e/c)), or 0 for c <= 0."""
    rate = ball(law.rate)
    odds = 1 + epsilon.expm1() / rate if law.removing else 1 - (1 - rate) * epsilon.exp()
    if law.removing:
        edge = -epsilon.expm1()
        return rate * delta(odds.log()) if odds > 0 else edge if odds <= 0 else edge.union(rate)
    return odds * delta((rate * epsilon.exp() / odds).log()) if odds > 0 else arb(0) if odds <= 0 else odds.union(arb(0))


def _listed_profile(law: Finite, epsilon: arb) -> arb:
    """The infinite loss and the positive parts of P - e^epsilon Q."""
    found, growth = law.atoms(TAIL), epsilon.exp()
    if found is None:
        return arb(0).union(arb(1))
    gains = (arb(atom.p_mass) - growth * atom.q_mass for atom in found.atoms)
    return sum((gain.nonnegative_part() for gain in gains), arb(found.infinity))
