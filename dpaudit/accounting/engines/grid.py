"""Exact composition of masses by loss value: along one grid by powers of polynomials, else by direct products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, log
from typing import Final, TypeAlias

from flint import arb, arb_poly, fmpq, fmpq_poly

from dpaudit.accounting.model.coordinates import Place
from dpaudit.accounting.model.law import Mass

MOST_PRODUCTS: Final = 300_000  # Most products of masses that a composition off one grid may take
LARGEST_RATIONALS: Final = 1 << 26  # Most bits that exact rational masses may take together; beyond, they become balls
OFF_GRID_LENGTH: Final = 1 << 15  # How many values a composition off one grid is taken to have when that is decided
Masses: TypeAlias = tuple[Mass, Mass]  # P and Q mass
Table: TypeAlias = dict[Place, Masses]  # Masses by coordinates of the loss
PackedTable: TypeAlias = dict[int, Masses]  # Masses by coordinates packed into one integer
# Coordinates and masses of one loss value; the Q mass is None where it is to be had from P mass and loss.
Composed: TypeAlias = tuple[Place, Mass, Mass | None]


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
        packed: PackedTable = {}  # coordinates in one integer, `width` bits apart: sums of places are sums of integers
        for place, (p_mass, q_mass) in table.items():
            key = sum(part << (index * width) for index, part in enumerate(place))
            packed[key] = (p_mass, q_mass) if exact else (arb(p_mass), arb(q_mass))
        power = nothing
        for digit in f"{count:b}":
            for factor in (power, packed if digit == "1" else nothing):
                budget -= len(power) * len(factor)
                if budget < 0:
                    return None
                power = _convolve(power, factor)
        budget -= len(power) * len(whole)
        if budget < 0:
            return None
        whole = _convolve(whole, power)
    return [(_unpack(key, width, size), *masses) for key, masses in whole.items()]


def _unpack(key: int, width: int, size: int) -> Place:
    """The coordinates again; each is smaller than half of what fits."""
    place = []
    for _ in range(size):
        part = key & ((1 << width) - 1)
        part -= (part >> (width - 1)) << width
        place.append(part)
        key = (key - part) >> width
    return tuple(place)


def _convolve(left: PackedTable, right: PackedTable) -> PackedTable:
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


LONGEST_GRID: Final = 1 << 15  # Most loss values of a composition on one grid
LONGEST_BINOMIAL: Final = 1 << 16  # The same for many copies of one law with two loss values, whose masses have a closed form
SPREAD_UNIT: Final = 1 << 16  # Bits of spread between the masses that cost about as much again as the multiplication itself
MOST_SPREAD: Final = 1 << 16  # Most loss values of a composition on one grid, weighted with the spread of their masses
NOTHING: Final[Masses] = (fmpq(0), fmpq(0))  # The masses of a grid point that a law does not reach


def common_step(tables: Iterable[Table]) -> Place | None:
    """The step of which all differences of losses within each law are whole multiples, None when there is none."""
    moves = [gap for table in tables for place in table if any(gap := _minus(place, next(iter(table))))]
    if not moves:
        return ()
    primitive = tuple(part // gcd(*moves[0]) for part in moves[0])
    multiples = [_multiple(move, primitive) for move in moves]
    if None in multiples:
        return None
    longest = gcd(*(multiple for multiple in multiples if multiple is not None))
    return tuple(part * longest for part in primitive)


def on_grid(tables: Sequence[tuple[Table, int]], origin: Place, step: Place, most: int) -> list[Composed] | None:
    """The composition along a common step, started at the coordinates of 0; None beyond `most` values or what is affordable."""
    rows, length = [], 1
    for table, count in tables:
        first = next(iter(table))
        indices = {place: _multiple(_minus(place, first), step) or 0 for place in table}
        least, size = min(indices.values()), max(indices.values()) - min(indices.values()) + 1
        origin = tuple(at + count * (part + least * move) for at, part, move in zip(origin, first, step, strict=True))
        length += count * (size - 1)
        rows.append(({index - least: table[place] for place, index in indices.items()}, size, count))
    binomial = len(rows) == 1 and rows[0][1] == 2
    if length > min(most, LONGEST_BINOMIAL if binomial else LONGEST_GRID):
        return None
    exact = fits_exactly(tables, length)
    if not (exact or binomial) and length * (1 + _spread(tables) / SPREAD_UNIT) > MOST_SPREAD:
        return None
    dense = [([row.get(index, NOTHING) for index in range(size)], count) for row, size, count in rows]
    p_masses = _product([([p_mass for p_mass, _ in row], count) for row, count in dense], length, exact=exact)
    q_masses: Sequence[Mass | None] = [None] * length
    if exact:
        q_masses = _product([([q_mass for _, q_mass in row], count) for row, count in dense], length, exact=exact)
    places = (tuple(at + index * move for at, move in zip(origin, step, strict=True)) for index in range(length))
    found = zip(places, p_masses, q_masses, strict=True)
    return [(place, p_mass, q_mass) for place, p_mass, q_mass in found if not is_zero(p_mass)]


def _minus(left: Place, right: Place) -> Place:
    """Difference of two places."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


def _multiple(gap: Place, step: Place) -> int | None:
    """Return how many times `step` goes into `gap`, None when it does not."""
    times = next((whole // part for whole, part in zip(gap, step, strict=True) if part), 0)
    return times if tuple(times * part for part in step) == gap else None


def _spread(tables: Sequence[tuple[Table, int]]) -> float:
    """Bits between the largest and the smallest mass of a composition."""
    bits = 0.0
    for table, count in tables:
        logs = [float(arb(p_mass).abs_upper().log()) for p_mass, _ in table.values() if not is_zero(p_mass)]
        bits += count * (max(logs) - min(logs)) / log(2)
    return bits


def _product(rows: Sequence[tuple[list[Mass], int]], length: int, *, exact: bool) -> list[Mass]:
    """Coefficients of the product of powers of polynomials, all of them down to the constant."""
    if exact:
        whole = fmpq_poly([1])
        for row, count in rows:
            whole *= fmpq_poly([mass for mass in row if isinstance(mass, fmpq)]) ** count
        return [whole[index] for index in range(length)]
    balls = arb_poly([1])
    for row, count in rows:
        balls *= arb_poly(_binomial(arb(row[0]), arb(row[1]), count)) if len(row) == 2 else arb_poly(row) ** count
    return [balls[index] for index in range(length)]


def _binomial(stay: arb, move: arb, count: int) -> list[arb]:
    """Coefficients of (stay + move x)^count, each from the one before."""
    terms, odds = [stay**count], move / stay
    for index in range(count):
        terms.append(terms[-1] * odds * (count - index) / (index + 1))
    return terms
