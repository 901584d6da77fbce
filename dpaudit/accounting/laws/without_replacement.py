"""Sampling without replacement: the loss of a mechanism that sees a uniformly chosen subset of a public size."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.laws.sampled import Sampled, delta_of, profile_of
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.law import Bracketed, Law, LossValue, Symmetric
from dpaudit.claims import Adjacency
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, instance_of, shown, working_precision

GROUND = (
    "a fixed-size sample holds the replaced record with probability size/of "
    "(Balle, Barthe, Gaboardi 2018, Theorem 11; docs/sampling_schemes.md, without replacement)"
)


@dataclass(frozen=True)
class Swapped(Symmetric):
    """The least pair above every sample of share `rate` of a mechanism that stays below `law` when a record is replaced."""

    # Its profile at e >= 0 is rate d(log(1 + (e^e - 1)/rate)), with d the larger of the two profiles of `law`, and it is the same
    # in both directions. It only serves above other laws: its greatest loss is rounded up.
    law: Law
    rate: Fraction

    def describe(self) -> str:
        return f"{self.law.describe()} on a share {shown(self.rate)} without replacement"

    def greatest_loss(self) -> LossValue | None:
        """log(1 + rate (e^g - 1)) rounded up, with g the greatest loss of the law; None when that is unbounded."""
        found = [law.greatest_loss() for law in (self.law, self.law.reversed())]
        bounded = [loss for loss in found if loss is not None]
        if len(bounded) < len(found):
            return None
        with working_precision(128):
            ends = [ball_endpoints(_amplified(loss.ball(), self.rate))[1] for loss in bounded]
        most = max(ends)
        return LossValue(max(most, Fraction(0))) if isinstance(most, Fraction) else None

    def infinity_mass(self) -> Fraction:
        return self.rate * max(self.law.infinity_mass(), self.law.reversed().infinity_mass())

    def log_moment(self, order: Fraction) -> arb | None:
        """The excess of the moment over 1 is at most the rate times that of the law, summed over directions that differ."""
        # The profile here is at most the rate times the larger profile of the law, and E_Q f(dP/dQ) with
        # f(r) = r^(1 + order) - 1 - (1 + order)(r - 1), which is the moment less 1 plus (1 + order) P(L = infinity), is a mean of
        # the profile with weight f''.
        excess = arb(0)
        for law in {self.law, self.law.reversed()}:
            moment = law.log_moment(order)
            if moment is None:
                return None
            excess += moment.expm1() + ball((1 + order) * law.infinity_mass())
        return (ball(self.rate) * excess).log1p()

    def profile(self, epsilon: arb) -> arb:
        """The formula, continued to negative epsilon by the profile of the exchanged pair, which is the pair itself."""
        if epsilon >= 0:
            return self._beyond(epsilon)
        back = -epsilon.expm1() + epsilon.exp() * self._beyond((-epsilon).nonnegative_part())
        return back if epsilon < 0 else back.union(self._beyond(epsilon.nonnegative_part()))

    def _beyond(self, epsilon: arb) -> arb:
        """The formula at an epsilon that is not negative."""
        rate = ball(self.rate)
        at = (epsilon.expm1() / rate).log1p()
        return rate * delta_of(self.law, at).max(delta_of(self.law.reversed(), at))

    def profile_source(self) -> str:
        return GROUND

    def distribution(self) -> Distribution | None:
        """That of a removal above 0 and of an addition below 0; None for a base law whose two directions differ."""
        from dpaudit.accounting.laws.distributions import Halved, distribution_of

        base = distribution_of(self.law) if self.law.reversed() == self.law else None
        return None if base is None else Halved(base, self.rate)


def subsample_without_replacement(loss: Composition, rate: Fraction) -> Composition:
    """Every release made on a uniformly chosen share of the records; DPA202 for laws whose profile is not known."""
    if instance_of(loss, Composition, "loss").adjacency != Adjacency("replace_one"):
        raise Unsupported(
            "DPA202",
            f"sampling without replacement is priced under replace_one, got {loss.adjacency}: its sample size is public and fixed.",
        )
    if rate in {0, 1}:
        return loss * int(rate)
    return merge_parts([(_seen_by_share(law, rate), count) for law, count in loss.parts], loss.adjacency)


def _seen_by_share(law: Law, rate: Fraction) -> Law:
    """A law above the sample, and from below a record that is replaced by one which leaves no trace."""
    above, below = law.bracket() if isinstance(law, Bracketed) else (law, law)
    if profile_of(above) is None:
        raise Unsupported(
            "DPA202",
            f"{law.describe()} has no certified profile to be sampled without replacement. Sample the law of the noise instead.",
        )
    upper = _response(above, rate, up=True) if isinstance(above, Response) else Swapped(above, rate)
    name = f"{law.describe()}.sampled(WithoutReplacement at rate {shown(rate)})"
    if isinstance(law, Response) and law.others >= 1:  # a third answer is what the sample has in place of the record
        return Between(name, upper, _response(law, rate, up=False), GROUND)
    lower = None if below is None or profile_of(below) is None else Sampled(below, rate, removing=True)
    return Between(name, upper, lower, GROUND)


def _response(law: Response, rate: Fraction, *, up: bool) -> Response:
    """The pair above samples of randomized response, which has its shape; rounded up in epsilon and down in the null weight."""
    # Or down in epsilon and up in the null weight, which is below it.
    name, infinity = f"{law.describe()} on a share {shown(rate)} without replacement", rate * law.infinity
    if not law.epsilon:
        return Response(Fraction(0), name, infinity=infinity)
    with working_precision(256):
        unit, epsilon = law.atoms(0).atoms[0].q_mass, _amplified(ball(law.epsilon), rate)
        null = ball(1 - infinity) / unit - epsilon.exp() - 1
        ends = ball_endpoints(epsilon)[up], ball_endpoints(null)[not up]
    return Response(Fraction(ends[0]), name, others=max(Fraction(ends[1]), Fraction(0)), infinity=infinity)


def _amplified(loss: arb, rate: Fraction) -> arb:
    """log(1 + rate (e^loss - 1))."""
    return (ball(rate) * loss.expm1()).log1p()
