"""Budget: one privacy budget that clones of an estimator, grid searches and threads spend together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn, Protocol, Self, runtime_checkable

from dpaudit.accounting import Filter, PrivacyLoss
from dpaudit.claims import Adjacency, Guarantee
from dpaudit.errors import BudgetExceeded, LedgerFailure, Unsupported
from dpaudit.exact import Exact
from dpaudit.releases import Tally, belonging

if TYPE_CHECKING:
    from mechanisms.sampling.random import BitSource

_IN_ONE_PROCESS = (
    "a budget stays in the process that made it, since two copies would each spend all of it. "
    'Run searches in threads: with joblib.parallel_config(backend="threading"), or n_jobs=1.'
)


@runtime_checkable
class Reserves(Protocol):
    """A budget for fits, which reserves a price or refuses it: `Budget` here, `LedgerBudget` of `dpaudit.ledger`."""

    def reserve(self, loss: PrivacyLoss, /) -> None:
        """Take the price of a fit that is about to be made, or raise BudgetExceeded."""
        ...


@contextmanager
def reserve_price(budget: Reserves | None, loss: PrivacyLoss | None, source: BitSource | None) -> Iterator[None]:
    """Reserve the price of a fit, and charge the releases inside the block to it; DPA809 for seeded noise under a ledger."""
    if budget is None or loss is None:
        yield
        return
    only_secure = bool(getattr(budget, "secure_only", False))
    if only_secure and source is not None and not source.secure:
        raise LedgerFailure(
            "DPA809",
            "a budget of a ledger pays for noise that nobody can repeat, and this fit has a seed. Leave out random_state, or fit "
            "without the budget for a test.",
        )
    budget.reserve(loss)
    with belonging(Tally("a fit", pays=only_secure)):
        yield


class Budget:
    """A privacy budget for fits, shared by identity: whoever copies an estimator keeps spending the same budget.

    A fit reserves the price of everything that it is about to release before it reads a record, and is refused if the budget does
    not cover it. What was reserved stays spent, also if the fit fails later. Searches of scikit-learn pass over fits that fail,
    unless error_score="raise" is given.

    Args:
      guarantee: PureDP, ApproxDP, ZCDP, RDP or GDP; what all fits together may reach.
      adjacency: the neighbouring relation of the guarantee; fits under another one are refused.
      slack: for ApproxDP only, as for `dpaudit.accounting.Filter`.
    Raises:
      InvalidArgument: as for `dpaudit.accounting.Filter` (DPA103, DPA105, DPA106).
      Unsupported: the guarantee is a whole profile (DPA202).
    Source: Rogers, Roth, Ullman, Vadhan 2016; Feldman and Zrnic 2021; docs/learners.md, "Budgets".
    Example:
      >>> from dpaudit import ZCDP
      >>> from dpaudit.accounting import gaussian
      >>> budget = Budget(ZCDP(rho=1))
      >>> budget.reserve(gaussian(sigma=2, adjacency="replace_one"))
      >>> budget.remaining
      {'rho': Fraction(7, 8)}
    """

    __slots__ = ("_filter",)

    def __init__(self, guarantee: Guarantee, *, adjacency: Adjacency | str = "replace_one", slack: Exact | None = None) -> None:
        """Check the budget; nothing is spent yet."""
        self._filter = Filter(guarantee, adjacency=adjacency, slack=slack)

    def reserve(self, loss: PrivacyLoss) -> None:
        """Spend the price of a fit that is about to be made; it is not made if the price is refused.

        Args:
          loss: the loss of everything that the fit will release.
        Raises:
          BudgetExceeded: the budget does not cover it; nothing is spent (DPA204).
          AdjacencyMismatch: the loss is under another neighbouring relation (DPA201).
          Unsupported: the loss has no finite cost in the currency of the budget (DPA202).
        Source: docs/learners.md, "Budgets".
        Example:
          >>> from dpaudit import GDP
          >>> from dpaudit.accounting import gdp
          >>> Budget(GDP(mu=5)).reserve(gdp(3, adjacency="replace_one"))
        """
        self._filter.spend(loss)

    @property
    def spent(self) -> dict[str, Fraction]:
        """Amounts that the fits spent so far, by the name of the currency."""
        return self._filter.spent

    @property
    def remaining(self) -> dict[str, Fraction]:
        """Amounts that may still be spent, by the name of the currency."""
        return self._filter.remaining

    def __sklearn_clone__(self) -> Self:
        """The budget itself: clones of an estimator spend together."""
        return self

    def __copy__(self) -> Self:
        """The budget itself."""
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """The budget itself."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled, for instance by a search in several processes (DPA601)."""
        raise Unsupported("DPA601", _IN_ONE_PROCESS)

    def __repr__(self) -> str:
        """Guarantee and what is left of it."""
        return repr(self._filter).replace("Filter", "Budget", 1)


class BudgetLeftBehind:
    """The placeholder in a pickled model for the budget that its fit spent: the model predicts, but does not fit again."""

    __slots__ = ()

    def reserve(self, _loss: PrivacyLoss) -> NoReturn:
        """Refuse: the budget is in another process (DPA601)."""
        raise BudgetExceeded("DPA601", f"{_IN_ONE_PROCESS} To fit a model again that was read back, set_params(budget=...) first.")

    def __repr__(self) -> str:
        """Return the budget as text."""
        return "BudgetLeftBehind()"
