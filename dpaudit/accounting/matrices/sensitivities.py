"""Sensitivity of a strategy matrix: how far a record can move all its rows, given when it may take part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dpaudit.accounting.matrices.participation import CyclicPoisson, FixedOrder, MinSeparation, Participation, Single
from dpaudit.accounting.matrices.strategies import MOST_STEPS, Dense, Strategy, Toeplitz, Tree, pattern_sum, strategy_of
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Enclosure, Reason, ball, ball_endpoints, kind_of, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.model.transform import Reals


ROUNDING: Final = Fraction(1, 1 << 30)  # Covers what sums of doubles lose, far more than they do
MOST_PATTERNS: Final = 1 << 12  # Patterns up to which each is looked at
MOST_PAIRS: Final = 1 << 22  # Pairs of columns beyond which no pattern is summed up
MOST_TABLE: Final = 1 << 31  # Steps squared times participations beyond which the search is not begun


class Squared(NamedTuple):
    """Ends of the squared sensitivity, and why they hold."""

    low: Fraction
    high: Fraction
    ground: str


def sensitivity(matrix: Any, participation: Participation) -> Enclosure:
    """Compute how far the rows of a strategy matrix move when one record's contributions of norm at most 1 are left out.

    Args:
      matrix: a `toeplitz(...)`, a `Tree`, or the rows of a lower triangular matrix, exact; floats are the binary numbers they are.
      participation: Single, FixedOrder or MinSeparation.
    Returns:
      Enclosure of the largest Frobenius norm over all allowed steps and vectors, in units of the clip norm; a point up to rounding
      wherever the worst pattern is known.
    Raises:
      InvalidArgument: a matrix that is not square, lower triangular and invertible, or whose size is not that of the pattern
        (DPA103, DPA105).
      Unsupported: a pattern by chance, which has no sensitivity, or a search that is too long (DPA202).
    Source: docs/prices.md, "Matrix mechanisms".
    Example:
      >>> from dpaudit.accounting import MinSeparation, prefix_root, toeplitz
      >>> print(sensitivity(toeplitz(prefix_root(bands=8), steps=2000), MinSeparation(8, participations=250)))
      [20.7266, 20.7267]
    """
    found = squared_sensitivity(strategy_of(matrix), participation)
    with working_precision(192):
        low, high = ball_endpoints(ball(found.low).sqrt())[0], ball_endpoints(ball(found.high).sqrt())[1]
    return Enclosure(low, high, Reason(found.ground))


def squared_sensitivity(matrix: Strategy, participation: Participation) -> Squared:
    """The square of the sensitivity."""
    match participation:
        case Single():
            largest = max_column(matrix)
            return Squared(largest, largest, "the longest column")
        case FixedOrder():
            return _of_epochs(matrix, participation)
        case MinSeparation():
            return _of_separated(matrix, participation)
        case CyclicPoisson():
            raise Unsupported("DPA202", "steps that are drawn by chance have no sensitivity: give them to matrix_mechanism.")
    raise InvalidArgument(
        "DPA105", f"participation is Single(), FixedOrder, MinSeparation or CyclicPoisson, got {kind_of(participation)}."
    )


def max_column(matrix: Strategy) -> Fraction:
    """Squared length of the longest column: the first one of a Toeplitz matrix and of a tree."""
    if isinstance(matrix, (Toeplitz, Tree)):
        return matrix.product(0, 0)
    return max(matrix.product(step, step) for step in range(matrix.steps))


def _of_epochs(matrix: Strategy, order: FixedOrder) -> Squared:
    """The worst of the patterns i, i + steps, ...; exact where no two of their columns have a negative product."""
    if order.epochs * order.steps != matrix.steps:
        raise InvalidArgument(
            "DPA103", f"epochs * steps must be the {matrix.steps} steps of the matrix, got {order.epochs} * {order.steps}."
        )
    if isinstance(matrix, Toeplitz) and matrix.falling:
        whole = _of_leftmost(matrix, order.steps, order.epochs)
        return Squared(whole, whole, LEFTMOST)
    if order.steps * order.epochs**2 > MOST_PAIRS:
        raise Unsupported("DPA202", f"a search over {order.steps} patterns of {order.epochs} steps is too long.")
    patterns = [range(start, matrix.steps, order.steps) for start in range(order.steps)]
    low = max(pattern_sum(matrix, pattern) for pattern in patterns)
    high = max(pattern_sum(matrix, pattern, abs) for pattern in patterns)
    return Squared(low, high, "the worst of all places of an epoch")


def _of_leftmost(matrix: Toeplitz, separation: int, count: int) -> Fraction:
    """What the earliest pattern sums up to; DPA202 where it has too many pairs of columns."""
    if count * min(count, 1 + (matrix.bandwidth - 1) // separation) > MOST_PAIRS:
        raise Unsupported("DPA202", f"the pairs of {count} steps that are {separation} apart are too many.")
    return pattern_sum(matrix, range(0, count * separation, separation))


LEFTMOST: Final = "coefficients do not increase, so the earliest pattern is worst (docs/prices.md, matrix mechanisms)"


def _of_separated(matrix: Strategy, apart: MinSeparation) -> Squared:
    """By the theorem of its kind; else between the best pattern found and a bound by two dynamic programs."""
    count = min(apart.participations, 1 + (matrix.steps - 1) // apart.separation)
    if isinstance(matrix, Toeplitz) and (matrix.falling or matrix.bandwidth <= apart.separation):
        whole = _of_leftmost(matrix, apart.separation, count)
        ground = LEFTMOST if matrix.falling else "columns of a pattern have nothing in common, and earlier ones are longer"
        return Squared(whole, whole, ground)
    if matrix.steps > MOST_STEPS or matrix.steps**2 * count > MOST_TABLE:
        raise Unsupported("DPA202", f"a search over {matrix.steps} steps and {count} participations is too long.")
    if matrix.bandwidth <= apart.separation:
        lengths = [matrix.product(step, step) for step in range(matrix.steps)]
        whole = sum((lengths[step] for step in _best_pattern(lengths, apart.separation, count)), Fraction(0))
        return Squared(whole, whole, "columns of a pattern have nothing in common: the best pattern by a dynamic program")
    if sum(_number(matrix.steps, apart.separation, size) for size in range(1, count + 1)) <= MOST_PATTERNS:
        return _of_few(matrix, apart.separation, count)
    high, reach = _row_bound(matrix, apart.separation, count)
    tried = [range(0, count * apart.separation, apart.separation), _best_pattern(reach, apart.separation, count)]
    low = max(max_column(matrix), *(pattern_sum(matrix, pattern) for pattern in tried))
    return Squared(low, max(low, high), "above by what one column shares with the others of a pattern; below by the best one found")


def _number(steps: int, separation: int, size: int) -> int:
    """How many patterns of a size there are."""
    return math.comb(max(steps - (size - 1) * (separation - 1), 0), size)


def _of_few(matrix: Strategy, separation: int, count: int) -> Squared:
    """The worst of all patterns, one after the other; exact where no two of their columns have a negative product."""
    products = [[matrix.product(one, other) for other in range(matrix.steps)] for one in range(matrix.steps)]
    low = high = Fraction(0)
    patterns: list[tuple[tuple[int, ...], Fraction, Fraction]] = [((), Fraction(0), Fraction(0))]
    while patterns:
        pattern, signed, sizes = patterns.pop()
        low, high = max(low, signed), max(high, sizes)
        if len(pattern) < count:
            for step in range(pattern[-1] + separation if pattern else 0, matrix.steps):
                shared = [2 * products[step][other] for other in pattern]
                more = signed + products[step][step] + sum(shared), sizes + products[step][step] + sum(map(abs, shared))
                patterns.append(((*pattern, step), *more))
    return Squared(low, high, "the worst of all patterns")


def _best_pattern(values: Sequence[Fraction], separation: int, count: int) -> list[int]:
    """The steps of the largest sum of `count` values at least 0 that are so far apart."""
    size = len(values)
    best = [[Fraction(0)] * (count + 1) for _ in range(size + separation)]
    for step in range(size - 1, -1, -1):
        for left in range(1, count + 1):
            best[step][left] = max(best[step + 1][left], values[step] + best[step + separation][left - 1])
    pattern, step, left = list[int](), 0, count
    while step < size and left:
        if best[step][left] == best[step + 1][left]:
            step += 1
        else:
            pattern.append(step)
            step, left = step + separation, left - 1
    return pattern


def _row_bound(matrix: Strategy, separation: int, count: int) -> tuple[Fraction, list[Fraction]]:
    """At or above the squared sensitivity, and what each column can share with a pattern that has it."""
    import numpy as np

    unit = max_column(matrix)
    table = np.array(matrix.shares() if isinstance(matrix, Dense) else _shares(matrix, unit))
    right, left = _beside(table, separation, count), _beside(table[::-1, ::-1], separation, count)[::-1]
    reach = table.diagonal() + np.max([right[:, taken] + left[:, count - 1 - taken] for taken in range(count)], axis=0)
    values = [Fraction(float(value)) * (1 + ROUNDING) * unit for value in reach]
    return sum((values[step] for step in _best_pattern(values, separation, count)), Fraction(0)), values


def _shares(matrix: Strategy, unit: Fraction) -> list[list[float]]:
    """Sizes of all scalar products in units."""
    return [[float(abs(matrix.product(one, other)) / unit) for other in range(matrix.steps)] for one in range(matrix.steps)]


def _beside(table: Reals, separation: int, count: int) -> Reals:
    """For each column and each number below `count`, the most it shares with so many later columns of a pattern, in doubles."""
    import numpy as np

    size = len(table)
    best = np.zeros((separation + 1, count, size))  # for the columns from a step on, kept for `separation` steps
    found = np.zeros((size, count))
    for step in range(size - 1, -1, -1):
        after, beyond = best[(step + 1) % (separation + 1)], best[(step + separation) % (separation + 1)]
        here = after.copy()
        here[1:] = np.maximum(here[1:], table[:, step] + beyond[:-1])
        best[step % (separation + 1)] = here
        if step >= separation:
            found[step - separation] = here[:, step - separation]
    return found
