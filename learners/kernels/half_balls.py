"""A point of the unit ball with density proportional to exp(rate |<z, v>|), drawn as a real vector and cut to a lattice, exactly.

The law is two half-balls of equal mass. Along v, the size s = sin(a) of the coordinate has its angle a with density proportional to
cos(a)^D exp(rate |v| sin(a)); across, the point is uniform in a ball of radius cos(a) of one dimension less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from flint import acb, arb

from dpaudit.exact import ball, working_precision
from mechanisms.euclidean import drawn_reals
from mechanisms.noise import bit_source
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.reals import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.sampling.random import BitSource
    from mechanisms.sampling.reals import DrawnReals

FIRST_BITS: Final = 64
"""The angle is first known to this many binary digits of a right angle; no influence on the law."""

_GUARD_BITS: Final = 64
"""Working precision beyond what is known of a point; too little of it costs time, never exactness, since balls enclose errors."""


@dataclass(frozen=True)
class Angle:
    """An angle that is known to lie in cell number `place` of 2**bits equal parts of a right angle."""

    dimension: int
    strength: Fraction
    squared: int
    place: int = 0
    bits: int = 0

    def ball(self) -> arb:
        """The angle in radians."""
        return arb((2 * self.place + 1, -self.bits - 1), (1, -self.bits - 1)) * arb.pi() / 2

    def left_share(self) -> arb:
        """Ball around the share of the cell's mass that lies in its left half."""
        left, middle, right = (arb((2 * self.place + half, -self.bits - 1)) for half in range(3))
        first, second = self._mass(left, middle), self._mass(middle, right)
        return first / (first + second)

    def half(self, source: BitSource, step: int) -> Angle:
        """Draw the half in which the angle lies."""
        right = not LazyUniform(source, step, step).less(self._share_at)
        return replace(self, place=2 * self.place + right, bits=self.bits + 1)

    def _share_at(self, precision: int) -> arb:
        """The share, with as many more bits as a narrow cell loses."""
        with working_precision(precision + self.bits + _GUARD_BITS):
            return self.left_share()

    def _mass(self, start: arb, end: arb) -> arb:
        """Mass between two parts of a right angle, over a factor that is the same for a whole cell."""
        strength = ball(self.strength) * ball(self.squared).sqrt()
        top = (end * arb.pi() / 2).sin()

        def density(part: acb, _: bool) -> acb:  # noqa: FBT001 - as the quadrature calls it
            """Entire in the angle."""
            angle = part * arb.pi() / 2
            return angle.cos() ** self.dimension * ((angle.sin() - top) * strength).exp()

        mass = acb.integral(density, acb(start), acb(end), abs_tol=arb(0)).real
        return mass * ((top - 1) * strength).exp()


def draw_from_half_balls(
    direction: Sequence[int],
    rate: Fraction,
    source: BitSource | None = None,
    *,
    lattice_bits: int = 20,
    reals: DrawnReals | None = None,
    first_bits: int = FIRST_BITS,
) -> NDArray[np.int64]:
    """Draw a point of the unit ball with density proportional to exp(rate |<z, v>|), every coordinate cut toward zero.

    The real point is drawn as far as its coordinates on the lattice need, by balls: the result is a fixed function of it.

    Source: Jain, Thakurta 2013, section 6.
    """
    bits = bit_source(source)
    drawn = drawn_reals(bits) if reals is None else reals
    point = _Point(direction, rate, bits, drawn, first_bits)
    while True:
        with working_precision(2 * point.bits + _GUARD_BITS):
            found = [_cut(coordinate * (1 << lattice_bits)) for coordinate in point.balls()]
        if all(each is not None for each in found):
            return point.sign * np.array(found, dtype=np.int64)
        point.reveal()


class _Point:
    """A point as far as its random parts are known: its angle, a normal vector, a uniform number, a fair sign."""

    __slots__ = ("_angle", "_cells", "_digits", "_direction", "_known", "_reals", "_source", "sign")

    def __init__(self, direction: Sequence[int], rate: Fraction, source: BitSource, reals: DrawnReals, first_bits: int) -> None:
        self._direction = [int(entry) for entry in direction]
        if not any(self._direction):  # the density is constant then, as it is at rate 0 in any direction
            self._direction[0], rate = 1, Fraction(0)
        dimension = len(self._direction)
        self._source, self._reals = source, reals
        self._angle = Angle(dimension, rate, sum(entry * entry for entry in self._direction))
        self.sign = 1 - 2 * source.bits(1)
        self._cells = [Cell.around(int(nearest), reals.revealing.normal_bits) for nearest in reals.normals(dimension)]
        (self._digits,) = reals.uniforms(1).tolist()
        self._known = reals.revealing.uniform_bits
        for _ in range(first_bits):
            self._angle = self._angle.half(source, FIRST_BITS)

    @property
    def bits(self) -> int:
        """Digits that any part is known to, at most."""
        return max(self._angle.bits, self._known, self._cells[0].bits)

    def balls(self) -> list[arb]:
        """Coordinates of the point, but for its sign; NaN as long as nothing bounds them."""
        dimension, angle = len(self._cells), self._angle.ball()
        length = ball(self._angle.squared).sqrt()
        unit = [entry / length for entry in self._direction]
        if dimension == 1:
            return [angle.sin() * unit[0]]
        normals = [cell.ball() for cell in self._cells]
        along = _product(normals, unit)
        across = [normal - along * entry for normal, entry in zip(normals, unit, strict=True)]
        uniform = arb((2 * self._digits + 1, -self._known - 1), (1, -self._known - 1))
        radius = angle.cos() * (uniform.log() / (dimension - 1)).exp() / _product(across, across).sqrt()
        return [angle.sin() * entry + radius * other for entry, other in zip(unit, across, strict=True)]

    def reveal(self) -> None:
        """Reveal one more digit of normal numbers and angle, and some of the uniform number."""
        self._cells = [self._reals.half(cell, position) for position, cell in enumerate(self._cells)]
        step = self._reals.revealing.step
        if self._known < self._angle.bits:
            (further,) = self._reals.digits(range(1), self._known)
            self._digits, self._known = self._digits << step | further, self._known + step
        self._angle = self._angle.half(self._source, FIRST_BITS)


def _product(first: Sequence[arb], second: Sequence[arb]) -> arb:
    """Inner product."""
    return sum((one * other for one, other in zip(first, second, strict=True)), arb(0))


def _cut(value: arb) -> int | None:
    """A number cut toward zero; None where its ball leaves that open."""
    if not value.is_finite():
        return None
    size = abs(value).floor().unique_fmpz()
    if size is None or not size:
        return None if size is None else 0
    return int(size) if value > 0 else -int(size)
