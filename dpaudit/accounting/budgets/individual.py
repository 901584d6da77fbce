"""Individual accounting: a budget for every record of its own, spent by what that record contributes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import RDP, ZCDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, positive, rational

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BUDGET_UNITS: Final = 2**40  # A record's budget in the units that costs are rounded up to
# More accounts of 8 bytes fit into no memory; numpy has an error of its own for arrays that cannot be addressed.
MOST_RECORDS: Final = 2**40

_CHUNK: Final = 2**15
_SQUARE_BITS: Final = 40
_PRODUCT_BITS: Final = 62


class IndividualFilter:
    """Keeps each record's own account: a record that contributes little in a round pays little and can take part for longer.

    In every round each record's cost is computed from its own contribution; those whose account covers it take part and pay,
    the others are left out of this round's computation. All rounds together then satisfy the guarantee, where neighbours differ
    by a record that is present or not, although nobody fixed beforehand how often a record may take part.

    **Which records still take part is private**, and so is how many: both depend on the data of the records. The mask may be
    used inside the mechanism only, to leave records out of a sum that noise is added to; it must not be released, logged, or
    decide when to stop. The filter is made for one data set, holds 8 bytes a record, and neither prints nor pickles the accounts.

    Args:
      guarantee: ZCDP, or RDP at exactly one order: the budget of every record.
      records: how many records there are, from 1 to 2**40.
    Raises:
      InvalidArgument: another guarantee or several orders (DPA105), a budget of 0 (DPA104), or no or too many records (DPA103).
    Source: Feldman and Zrnic 2021, Theorems 3.1 and 4.5; docs/budgets.md.
    Example:
      >>> accounts = IndividualFilter(ZCDP(rho=1), records=2)
      >>> [accounts.admit(np.array([4, 1]), unit="1/8").tolist() for _ in range(3)]
      [[True, True], [True, True], [False, True]]
    """

    __slots__ = ("_left", "budget", "guarantee")

    def __init__(self, guarantee: ZCDP | RDP, *, records: int) -> None:
        if not (isinstance(guarantee, ZCDP) or (isinstance(guarantee, RDP) and len(guarantee.orders) == 1)):
            raise InvalidArgument("DPA105", "individual budgets are ZCDP(rho) or RDP({order: bound}) with one order.")
        self.guarantee = guarantee
        budget = rational(guarantee.rho) if isinstance(guarantee, ZCDP) else guarantee.orders[0][1]
        self.budget = positive(budget, "budget")
        self._left = np.full(integer(records, "records", lower=1, upper=MOST_RECORDS), BUDGET_UNITS, dtype=np.int64)

    def admit(self, squares: NDArray[Any], *, unit: Exact) -> NDArray[np.bool_]:
        """Let the records take part that can pay for this round, and charge them.

        Args:
          squares: integer array of shape (records,), at least 0: what each record contributes in this round, as a square. For
            Gaussian noise of deviation sigma (in steps) that is the squared norm of the record's vector in lattice steps.
          unit: cost of a square of 1, exact and positive, in the currency of the budget: 1 / (2 sigma^2) in rho for Gaussian
            noise, order / (2 sigma^2) in Renyi divergence of that order.
        Returns:
          Boolean array of shape (records,), private: the records whose contributions go into this round's sum. Costs are rounded
          up, by at most 2^-19 of the cost and 2^-38 of the budget, never down; not at all where the cost of a square of 1 is
          the budget divided by a power of 2 up to 2^40.
        Raises:
          InvalidArgument: no integer array of that shape (DPA105), a negative square (DPA103), or `unit` is no positive number
            (DPA101, DPA102, DPA104).
        Source: Feldman and Zrnic 2021, Algorithm 3; docs/budgets.md.
        Example:
          >>> IndividualFilter(RDP({8: 1}), records=1).admit(np.array([3]), unit="1/2").tolist()
          [False]
        """
        price = positive(unit, "unit") * BUDGET_UNITS / self.budget
        if not isinstance(squares, np.ndarray) or squares.dtype.kind not in "iu" or squares.shape != self._left.shape:
            raise InvalidArgument(
                "DPA105", f"squares must be an integer array of shape {self._left.shape}. Count contributions in lattice steps."
            )
        if squares.dtype == np.uint64:
            raise InvalidArgument(
                "DPA105", "squares must fit in int64, got uint64. Use a coarser lattice, then astype(numpy.int64)."
            )
        if squares.min() < 0:
            raise InvalidArgument("DPA103", "squares must be at least 0, and one of them is negative. Square the norms.")
        costs_of = _pricing(price, squares.dtype)
        admitted = np.empty(len(self._left), dtype=np.bool_)
        for start in range(0, len(self._left), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            costs, left = costs_of(squares[chunk]), self._left[chunk]
            np.less_equal(costs, left, out=admitted[chunk])
            costs *= admitted[chunk]
            left -= costs
        return admitted

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be copied or pickled: accounts reveal records, and two copies would spend a budget twice."""
        raise TypeError("an individual filter cannot be copied or pickled; its accounts are private and spent once")

    def __repr__(self) -> str:
        """The budget and the number of records; the accounts are private."""
        return f"IndividualFilter({self.guarantee}, records={len(self._left)})"


def _pricing(price: Fraction, kind: np.dtype[Any]) -> Callable[[NDArray[Any]], NDArray[np.int64]]:
    """Squares times the price, rounded up, in int64; exactly where price is a dyadic of moderate size."""
    # A square beyond `largest` is more than any account holds, and so is `largest` itself, to which it is cut.
    largest = min(int(BUDGET_UNITS / price) + 1, np.iinfo(kind).max)
    shift = max(0, largest.bit_length() - _SQUARE_BITS)
    factor, bits = _dyadic(price * 2**shift, 2**_PRODUCT_BITS // ((largest >> shift) + 2))
    cut, low = kind.type(largest), (1 << shift) - 1

    def costs_of(squares: NDArray[Any]) -> NDArray[np.int64]:
        costs: NDArray[np.int64] = np.minimum(squares, cut).astype(np.int64)
        if shift:
            costs = (costs >> shift) + ((costs & low) != 0)
        costs *= factor
        costs += (1 << bits) - 1
        costs >>= bits
        return costs

    return costs_of


def _dyadic(price: Fraction, room: int) -> tuple[int, int]:
    """`price` rounded up to factor / 2**bits with a factor of at most `room`; a price beyond every account stays beyond it."""
    if price > BUDGET_UNITS:
        return BUDGET_UNITS + 1, 0
    exact = price.denominator & (price.denominator - 1) == 0 and price.denominator <= 2**_PRODUCT_BITS
    if exact and price.numerator <= room:
        return price.numerator, price.denominator.bit_length() - 1
    size = price.numerator.bit_length() - price.denominator.bit_length() + 1
    bits = min(max(0, room.bit_length() - 1 - size), _PRODUCT_BITS)
    return -(-price.numerator * 2**bits // price.denominator), bits
