"""Masses by loss value, and their composition by direct products where no common grid carries the losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from flint import arb, fmpq

from dpaudit.accounting.model.coordinates import Place
from dpaudit.accounting.model.law import Mass

MOST_PRODUCTS: Final = 300_000
"""Most products of masses that a composition off one grid may take."""

LARGEST_RATIONALS: Final = 1 << 26
"""Most bits that exact rational masses may take together; beyond, they become balls."""

OFF_GRID_LENGTH: Final = 1 << 15
"""How many values a composition off one grid is taken to have when that is decided."""

Masses: TypeAlias = tuple[Mass, Mass]
"""P and Q mass."""

Table: TypeAlias = dict[Place, Masses]
"""Masses by coordinates of the loss."""

PackedTable: TypeAlias = dict[int, Masses]
"""Masses by coordinates packed into one integer."""

Composed: TypeAlias = tuple[Place, Mass, Mass | None]
"""Coordinates and masses of one loss value; the Q mass is None where it is to be had from P mass and loss."""


def is_zero(mass: Mass) -> bool:
    """True if a mass is certainly 0; a ball around 0 may hide a positive one."""
    return mass.is_zero() if isinstance(mass, arb) else mass == 0


def fits_exactly(tables: Sequence[tuple[Table, int]], length: int) -> bool:
    """True if all masses are rational and stay small enough as such in a composition of `length` values."""
    bits = 0
    for table, count in tables:
        masses = [mass for pair in table.values() for mass in pair]
        sizes = [int(mass.q).bit_length() for mass in masses if isinstance(mass, fmpq)]
        if len(sizes) < len(masses):
            return False
        bits += count * max(sizes)
    return bits * length <= LARGEST_RATIONALS


def off_grid(tables: Sequence[tuple[Table, int]], size: int) -> list[Composed] | None:
    """Composition by direct products within the budget, None beyond it; places have `size` coordinates."""
    budget = MOST_PRODUCTS
    exact = fits_exactly(tables, OFF_GRID_LENGTH)
    largest = sum(count * max(abs(part) for place in table for part in place) for table, count in tables)
    width = largest.bit_length() + 2
    nothing: PackedTable = {0: (fmpq(1), fmpq(1))}
    whole = nothing
    for table, count in tables:
        packed: PackedTable = {}
        for place, (p_mass, q_mass) in table.items():
            packed[_packed(place, width)] = (p_mass, q_mass) if exact else (arb(p_mass), arb(q_mass))
        power = nothing
        for digit in f"{count:b}":
            for factor in (power, packed if digit == "1" else nothing):
                budget -= len(power) * len(factor)
                if budget < 0:
                    return None
                power = _product(power, factor)
        budget -= len(power) * len(whole)
        if budget < 0:
            return None
        whole = _product(whole, power)
    return [(_unpacked(key, width, size), *masses) for key, masses in whole.items()]


def _packed(place: Place, width: int) -> int:
    """Coordinates as one integer, `width` bits apart, so that sums of places are sums of integers."""
    return sum(part << (index * width) for index, part in enumerate(place))


def _unpacked(key: int, width: int, size: int) -> Place:
    """The coordinates again; each is smaller than half of what fits."""
    place = []
    for _ in range(size):
        part = key & ((1 << width) - 1)
        part -= (part >> (width - 1)) << width
        place.append(part)
        key = (key - part) >> width
    return tuple(place)


def _product(left: PackedTable, right: PackedTable) -> PackedTable:
    """Masses of the sum of two independent losses."""
    result: PackedTable = {}
    for place, (p_mass, q_mass) in left.items():
        for other, (p_other, q_other) in right.items():
            known = result.get(place + other)
            if known is None:
                result[place + other] = (p_mass * p_other, q_mass * q_other)
            else:
                result[place + other] = (known[0] + p_mass * p_other, known[1] + q_mass * q_other)
    return result
