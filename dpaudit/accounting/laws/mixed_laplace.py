"""Groups of records in samples for Laplace noise on a number: mixtures of shifted Laplace laws on both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from dpaudit.accounting.laws.normal_sums import Weights
from dpaudit.accounting.model.distribution import Distribution, Nodes, NoGap, Points, Sides
from dpaudit.accounting.model.law import FiniteLosses, LossValue
from dpaudit.exact import ball, ball_endpoints, working_precision

SOURCE = "in one dimension half-lines are the best events against every shift at once (docs/sampling_schemes.md, groups)"
NODES = 64  # Nodes of a plan between two centres


class Piece(NamedTuple):
    """Outputs between two centres, where P has the density (a/y + b y)/2 and Q (c/y + d y)/2 with y = e^x; losses at both ends."""

    left: arb
    right: arb
    sides: tuple[arb, arb, arb, arb]
    least: arb
    most: arb


@dataclass(frozen=True)
class MixedLaplace(FiniteLosses, NoGap):
    """Mean of Lap(i s) over `up` against mean of Lap(-j s) over `down`, at scale 1; s is `epsilon`, the loss of one step."""

    epsilon: Fraction
    up: Weights
    down: Weights
    name: str = field(compare=False)

    def describe(self) -> str:
        return self.name

    def reversed(self) -> MixedLaplace:
        """The outputs mirrored."""
        return MixedLaplace(self.epsilon, self.down, self.up, self.name)

    def greatest_loss(self) -> LossValue | None:
        """That of all outputs beyond the last centre."""
        with working_precision(128):
            low, high = ball_endpoints(self._pieces()[-1].most)
        most = max(Fraction(high), Fraction(0))
        return LossValue(most, slack=most - max(Fraction(low), Fraction(0)))

    def log_moment(self, order: Fraction) -> arb:
        """Between 0 and the moment of the components, by joint convexity."""
        whole = arb(0)
        for up, p_weight in self.up:
            for down, q_weight in self.down:
                pure = (up + down) * self.epsilon
                rise, fall = ball(order * pure).exp(), ball(-(order + 1) * pure).exp()
                whole += ball(p_weight * q_weight) * (ball(order + 1) * rise + ball(order) * fall) / ball(2 * order + 1)
        return arb(0).union(whole.log())

    def profile(self, epsilon: arb) -> arb:
        """P less e^epsilon Q beyond the output whose loss is epsilon."""
        pieces = self._pieces()
        if epsilon >= pieces[-1].most:
            return arb(0)
        if epsilon <= pieces[0].least:
            return -epsilon.expm1()
        place = self._place(epsilon, pieces)
        p_above, q_above = (self._above(place, centres) for centres in self._centres())
        return (p_above - epsilon.exp() * q_above).nonnegative_part()

    def profile_source(self) -> str:
        return SOURCE

    def distribution(self) -> Distribution:
        return self

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Masses between the first centre and the last."""
        pieces, centres = self._pieces(), self._centres()
        first, last = pieces[0].left, pieces[-1].right
        ends = [[self._above(end, side) for end in (first, last)] for side in centres]
        found = []
        for loss in losses:
            place, masses = self._place(loss, pieces), list[arb]()
            for side, (whole, beyond) in zip(centres, ends, strict=True):
                above = self._above(place, side)
                masses += [(whole - above).nonnegative_part(), (above - beyond).nonnegative_part()]
            found.append(Sides(*masses))
        return found

    def points(self, tail: int) -> Points:  # noqa: ARG002 - there is no tail
        """The outputs before the first and beyond the last centre."""
        pieces = self._pieces()
        p_side, q_side = self._centres()
        first, last = pieces[0].left, pieces[-1].right
        before = [1 - self._above(first, side) for side in (p_side, q_side)]
        beyond = [self._above(last, side) for side in (p_side, q_side)]
        return Points(((pieces[0].least, before[0], before[1]), (pieces[-1].most, beyond[0], beyond[1])), arb(0), arb(0))

    def nodes(self) -> Nodes:
        """Midpoints of equal parts of all pieces."""
        import numpy as np

        rows = []
        for piece in self._pieces():
            left, right, (a, b, c, d) = float(piece.left), float(piece.right), map(float, piece.sides)
            places = left + (right - left) * (np.arange(NODES) + 0.5) / NODES
            logs = [np.log(fall * np.exp(-places) + rise * np.exp(places)) for fall, rise in ((a, b), (c, d))]
            width = math.log((right - left) / NODES / 2)
            rows.append(np.array([logs[0] - logs[1], logs[0] + width, logs[1] + width]))
        return Nodes(*np.concatenate(rows, axis=1))

    def ends(self) -> tuple[bool, bool]:
        return True, True

    def _centres(self) -> tuple[list[tuple[arb, arb]], list[tuple[arb, arb]]]:
        """Centres of the Laplace laws of P and of Q, with their weights."""
        up, down = (
            [(ball(sign * steps * self.epsilon), ball(weight)) for steps, weight in side]
            for side, sign in ((self.up, 1), (self.down, -1))
        )
        return up, down

    def _pieces(self) -> list[Piece]:
        """The pieces from left to right."""
        places = sorted({-steps for steps, _ in self.down} | {steps for steps, _ in self.up})
        ends = [ball(place * self.epsilon) for place in places]
        found = []
        for index in range(len(places) - 1):
            sides = []
            for side, sign in ((self.up, 1), (self.down, -1)):
                fall = rise = arb(0)
                for steps, weight in side:
                    centre = ball(sign * steps * self.epsilon)
                    if sign * steps <= places[index]:
                        fall += ball(weight) * centre.exp()
                    else:
                        rise += ball(weight) * (-centre).exp()
                sides += [fall, rise]
            a, b, c, d = sides
            squares = [(2 * end).exp() for end in ends[index : index + 2]]
            least, most = (((a + b * square) / (c + d * square)).log() for square in squares)
            found.append(Piece(ends[index], ends[index + 1], (a, b, c, d), least, most))
        return found

    def _place(self, loss: arb, pieces: Sequence[Piece]) -> arb:
        """A ball around the output with a loss, the first or last centre where there is none between them."""
        place: arb | None = None
        for piece in pieces:
            if loss > piece.most:
                continue
            if loss < piece.least:
                return piece.left if place is None else place
            a, b, c, d = piece.sides
            ratio = loss.exp()
            inner = ((ratio * c - a) / (b - ratio * d)).log() / 2
            inner = inner.max(piece.left).min(piece.right) if inner.is_finite() else piece.left.union(piece.right)
            place = inner if place is None else place.union(inner)
        return pieces[-1].right if place is None else place

    def _above(self, place: arb, centres: Sequence[tuple[arb, arb]]) -> arb:
        """Mass beyond an output of a mean of Laplace laws."""
        total = arb(0)
        for centre, weight in centres:
            gap = place - centre
            far, near = (-gap.nonnegative_part()).exp() / 2, (-((-gap).nonnegative_part())).exp() / 2
            total += weight * (far if gap >= 0 else 1 - near if gap <= 0 else far + arb(1) / 2 - near)
        return total
