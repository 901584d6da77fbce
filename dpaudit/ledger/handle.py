"""The handle by which learners spend from a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss
    from dpaudit.claims import Guarantee
    from dpaudit.ledger.entries import Receipt, Scope


class Spends(Protocol):
    """The methods of a ledger that a handle calls."""

    def spend(self, spending: Any, *, scope: Scope | str, times: int = 1, note: str = "") -> Receipt:
        """Charge what is about to be released."""
        ...

    def remaining(self, scope: Scope | str) -> dict[str, dict[str, str]]:
        """Return what may still be spent on a scope, for each budget that pays for it."""
        ...


class LedgerBudget:
    """A budget of a ledger as learners take it: copies, threads and processes all charge the same file.

    Args:
      ledger: the file.
      scope: what the fits are charged to.
      note: written with each charge.
    Source: docs/ledger.md, "Learners".
    Example:
      >>> import tempfile
      >>> from dpaudit import ZCDP
      >>> from dpaudit.ledger import Ledger, Scope
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     ledger = Ledger.create(f"{folder}/budget.ledger")
      ...     _ = ledger.open_budget("survey/person", ZCDP(rho=1))
      ...     handle = LedgerBudget(ledger, Scope.of("survey/person/model"))
      ...     handle.reserve(ZCDP(rho="1/4"))
      ...     handle.remaining
      {'survey/person': {'rho': '3/4'}}
    """

    secure_only: ClassVar[bool] = True
    """A fit with a seeded source is refused: the budget of a ledger pays for releases, not for tests."""

    def __init__(self, ledger: Spends, scope: Scope, note: str = "") -> None:
        self.ledger, self.scope, self.note = ledger, scope, note

    def reserve(self, loss: PrivacyLoss | Guarantee) -> None:
        """Charge the price of a fit that is about to be made; a fit whose price is refused is not made.

        Args:
          loss: of everything that the fit will release.
        Raises:
          LedgerRefusal: a budget does not cover it, or there is none (DPA810, DPA811).
        Source: docs/ledger.md, "Learners".
        Example:
          >>> import tempfile
          >>> from dpaudit import PureDP
          >>> from dpaudit.ledger import Ledger
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     _ = ledger.open_budget("survey/person", PureDP(epsilon=1))
          ...     ledger.budget("survey/person/model").reserve(PureDP(epsilon=1))
        """
        self.ledger.spend(loss, scope=self.scope, note=self.note)

    @property
    def remaining(self) -> dict[str, dict[str, str]]:
        """The amounts that may still be spent, for each budget that pays."""
        return self.ledger.remaining(self.scope)

    def __sklearn_clone__(self) -> Self:
        """The handle itself: clones of an estimator spend together."""
        return self

    def __repr__(self) -> str:
        """Scope and what is left."""
        return f"LedgerBudget({self.scope}; remaining: {self.remaining})"
