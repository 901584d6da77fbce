"""A Gaussian and a Laplace release together: distribution functions and profile of the sum of their losses in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.laws.gaussian import SquaredGaussian, twice_upper_tail
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.model.distribution import Distribution, Nodes, OnlyDiffuse, Sides
from dpaudit.accounting.model.law import FiniteLosses, Symmetric, Unbounded
from dpaudit.exact import ball

SOURCE: Final = "the sum of a normal loss and that of Laplace noise, integrated by parts (docs/prices.md, mixtures of Gaussians)"
MOST_STEPS: Final = 48  # Most places between the two greatest Laplace losses that a plan looks at


@dataclass(frozen=True)
class NormalAndLaplace(Symmetric, FiniteLosses, Unbounded, OnlyDiffuse):
    """The product of N(mu, 1) against N(0, 1) and of Laplace noise against itself moved by `laplace.pure_epsilon`."""

    normal: SquaredGaussian
    laplace: Laplace

    def describe(self) -> str:
        return f"together({self.normal.describe()}, {self.laplace.describe()})"

    def log_moment(self, order: Fraction) -> arb:
        return self.normal.log_moment(order) + self.laplace.log_moment(order)

    def profile(self, epsilon: arb) -> arb:
        """P less e^epsilon Q of all losses beyond epsilon."""
        sides = self.sides([epsilon])[0]
        return (sides.p_above - epsilon.exp() * sides.q_above).nonnegative_part()

    def profile_source(self) -> str:
        return SOURCE

    def distribution(self) -> Distribution:
        return self

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Masses beyond a loss, and by symmetry below it: Q(L > y) = P(L < -y)."""
        return [Sides(self._beyond(-y)[1], self._beyond(y)[0], self._beyond(-y)[0], self._beyond(y)[1]) for y in losses]

    def _beyond(self, loss: arb) -> tuple[arb, arb]:
        """P and Q mass of all larger losses."""
        # With T the upper tail of N(0, 1), r the greatest Laplace loss and D = T((y - r)/mu) - T((y + r)/mu), integration by parts
        # gives T((y - r)/mu - mu/2) - e^((y - r)/2 - mu^2/8) D/2 and T((y + r)/mu + mu/2) + e^(-(y + r)/2 - mu^2/8) D/2.
        mu, end = ball(self.normal.square).sqrt(), ball(self.laplace.pure_epsilon)
        down, up, eighth = loss - end, loss + end, ball(self.normal.square / 8)
        between = _tail(down / mu) - _tail(up / mu) if loss >= 0 else _tail(-up / mu) - _tail(-down / mu)
        p_mass = _tail(down / mu - mu / 2) - (down / 2 - eighth).exp() * between / 2
        q_mass = _tail(up / mu + mu / 2) + (-up / 2 - eighth).exp() * between / 2
        return p_mass.nonnegative_part(), q_mass.nonnegative_part()

    def nodes(self) -> Nodes:
        """The trapezoidal rule for the normal loss, at each place the mean over a few losses of the Laplace noise."""
        import numpy as np

        from dpaudit.accounting.laws.distributions import FINENESS, HIGHEST, LOWEST, MOST_NODES

        mu, end = math.sqrt(self.normal.square), float(self.laplace.pure_epsilon)
        first, last = -LOWEST - end / mu, mu + HIGHEST + end / mu
        places = np.arange(first, last, max(FINENESS, (last - first) / MOST_NODES))
        count = min(max(4, math.ceil(4 * end / mu)), MOST_STEPS)
        width, share = math.log((places[1] - places[0]) / math.sqrt(2 * math.pi)), math.log(end / (2 * count))
        rows = [
            (move, share + (move - end) / 2, share - (move + end) / 2) for move in end * ((2 * np.arange(count) + 1) / count - 1)
        ]
        rows += [(end, -math.log(2), -math.log(2) - end), (-end, -math.log(2) - end, -math.log(2))]
        log_p = [weight + width - (places - move / mu - mu) ** 2 / 2 for move, weight, _ in rows]
        log_q = [weight + width - (places - move / mu) ** 2 / 2 for move, _, weight in rows]
        return Nodes(mu * (places - mu / 2), *(np.logaddexp.reduce(side, axis=0) for side in (log_p, log_q)))

    def ends(self) -> tuple[bool, bool]:
        return False, False


def _tail(place: arb) -> arb:
    """Upper tail of N(0, 1)."""
    return twice_upper_tail(place / arb(2).sqrt()) / 2
