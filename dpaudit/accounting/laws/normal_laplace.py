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

SOURCE: Final = "the sum of a normal loss and that of Laplace noise, integrated by parts (docs/prices.md, releases on one sample)"
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
        """The nodes of the normal loss moved by a few losses of the Laplace noise."""
        import numpy as np

        from dpaudit.accounting.laws.distributions import Normal

        base, end = Normal(self.normal.square).nodes(), float(self.laplace.pure_epsilon)
        count = min(max(4, math.ceil(4 * end / math.sqrt(self.normal.square))), MOST_STEPS)
        moves = end * ((2 * np.arange(count) + 1) / count - 1)
        width = math.log(end / (2 * count))
        rows = [(move, width + (move - end) / 2, width - (move + end) / 2) for move in moves.tolist()]
        rows += [(end, -math.log(2), -math.log(2) - end), (-end, -math.log(2) - end, -math.log(2))]
        whole = np.concatenate([np.array([part + shift for part, shift in zip(base, row, strict=True)]) for row in rows], axis=1)
        return Nodes(*whole[:, np.argsort(whole[0])])

    def ends(self) -> tuple[bool, bool]:
        return False, False


def _tail(place: arb) -> arb:
    """Upper tail of N(0, 1)."""
    return twice_upper_tail(place / arb(2).sqrt()) / 2
