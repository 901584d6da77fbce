"""Composition of laws whose losses lie on one grid: the masses are coefficients of powers and products of polynomials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, log
from typing import Final

from flint import arb, arb_poly, fmpq, fmpq_poly

from dpaudit.accounting.model.coordinates import Place
from dpaudit.accounting.model.law import Mass
from dpaudit.accounting.model.tables import Composed, Masses, Table, fits_exactly, is_zero

LONGEST_GRID: Final = 1 << 15
"""Most loss values of a composition on one grid."""

LONGEST_BINOMIAL: Final = 1 << 16
"""The same for many copies of one law with two loss values, whose masses have a closed form."""

SPREAD_UNIT: Final = 1 << 16
"""Bits of spread between the masses that cost about as much again as the multiplication itself."""

MOST_SPREAD: Final = 1 << 16
"""Most loss values of a composition on one grid, weighted with the spread of their masses."""

NOTHING: Final[Masses] = (fmpq(0), fmpq(0))
"""The masses of a grid point that a law does not reach."""


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
