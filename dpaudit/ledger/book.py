"""The ledger: budgets by scope, charged before noise is drawn, by any number of programs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from dpaudit.accounting.budgets.filters import Cap
from dpaudit.claims import Adjacency, Guarantee
from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.exact import Exact, integer
from dpaudit.ledger.accounts import Account, charge_accounts
from dpaudit.ledger.charges import Charge, commit, requested_loss, reserve, settle_after_error
from dpaudit.ledger.entries import ChainHead, LedgerEntry, Receipt, Scope, now
from dpaudit.ledger.examination import examine
from dpaudit.ledger.handle import LedgerBudget
from dpaudit.ledger.places import fill_store, open_store
from dpaudit.ledger.plain import adjacency_to_dict, guarantee_to_dict
from dpaudit.ledger.state import Draft, State
from dpaudit.ledger.tables import VERSION
from dpaudit.ledger.verification import LedgerVerification
from dpaudit.releases import Tally, paying


class Ledger:
    """Privacy budgets in a file or on a PostgreSQL server, and everything that was charged to them.

    A charge is durable before its noise is drawn and refused if a budget does not cover it; each budget is a filter, so that
    charges may be chosen adaptively, from all earlier outputs. Programs of one machine may share a file, those of many a server.
    Nothing of the data is kept, only what the accounting needs.

    Args:
      place: the path of a file made by `create`, or text postgresql://USER@HOST/DATABASE.
    Raises:
      InvalidArgument: no ledger there, or none of a version that this program knows (DPA801).
      LedgerFailure: it cannot be used or is damaged (DPA804, DPA805), or the role has no right to it (DPA812).
      MissingExtra: a server without the extra `postgres` (DPA206).
    Source: Rogers, Roth, Ullman, Vadhan 2016 for filters; docs/ledger.md.
    Example:
      >>> import tempfile
      >>> from dpaudit import ZCDP
      >>> from dpaudit.accounting import gaussian
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     ledger = Ledger.create(f"{folder}/budget.ledger")
      ...     _ = ledger.open_budget("survey/person", ZCDP(rho=1))
      ...     with ledger.charge(gaussian(sigma=2), scope="survey/person/report") as charge:
      ...         pass  # make the release here
      ...     ledger.remaining("survey/person")
      {'survey/person': {'rho': '7/8'}}
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._store = open_store(place)
        self.name = self._store.read(State.name)

    @classmethod
    def open(cls, place: str | os.PathLike[str]) -> Self:
        """Open a ledger, as `Ledger(place)` does.

        Args:
          place: of a file, or text postgresql://USER@HOST/DATABASE.
        Returns:
          The ledger.
        Raises:
          DpauditError: as for the class.
        Source: docs/ledger.md, "A server for a team".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     made = Ledger.create(f"{folder}/budget.ledger")
          ...     Ledger.open(f"{folder}/budget.ledger").name == made.name
          True
        """
        return cls(place)

    @classmethod
    def create(cls, place: str | os.PathLike[str]) -> Self:
        """Create a ledger without budgets.

        Args:
          place: of a file that does not exist yet, which only its owner will be able to read; or a server whose database has no
            ledger yet, where the role that connects becomes the ledger's owner.
        Returns:
          The ledger.
        Raises:
          LedgerFailure: the ledger exists or cannot be made (DPA803), or SQLite or the server is not fit for one (DPA804).
        Source: docs/ledger.md.
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     Ledger.create(f"{folder}/budget.ledger").head.number
          1
        """
        fill_store(place, [LedgerEntry.after(None, "ledger", now(), {"name": secrets.token_hex(16), "format": VERSION})])
        return cls(place)

    def open_budget(
        self, scope: Scope | str, guarantee: Guarantee, *, adjacency: Adjacency | str = "add_remove", slack: Exact | None = None
    ) -> ChainHead:
        """Add a budget, which cannot be changed afterwards.

        Args:
          scope: what it is for; one budget a scope.
          guarantee: PureDP, ApproxDP, ZCDP, RDP or GDP; what everything charged to it may reach together.
          adjacency: the neighbouring relation of the guarantee; spending under another one is refused.
          slack: for ApproxDP only, as for `dpaudit.accounting.Filter`.
        Returns:
          The entry.
        Raises:
          InvalidArgument: no scope or guarantee of that kind (DPA103, DPA105, DPA106), or the scope has a budget (DPA802).
          LedgerFailure: the file cannot be used (DPA804, DPA805).
          Unsupported: the guarantee is a whole profile (DPA202).
        Source: docs/ledger.md, "Scopes".
        Example:
          >>> import tempfile
          >>> from dpaudit import ApproxDP
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     ledger.open_budget("survey/person", ApproxDP(1, "1e-6"), adjacency="replace_one").number
          2
        """
        place, cap = Scope.of(scope), Cap.of(guarantee, adjacency=adjacency, slack=slack)
        body = {
            "scope": str(place),
            "guarantee": guarantee_to_dict(guarantee),
            "adjacency": adjacency_to_dict(cap.adjacency),
            "limits": cap.written(cap.limits),
        }

        def plan(state: State) -> list[Draft]:
            if any(account.scope == place for account in state.accounts(place)):
                raise InvalidArgument("DPA802", f"{place} has a budget already, and budgets are fixed. Choose another scope.")
            return [Draft("budget", body)]

        return self._store.write(plan).entries[0].head

    @contextmanager
    def charge(
        self, spending: Any, *, scope: Scope | str, times: int = 1, note: str = "", key: str | None = None
    ) -> Iterator[Charge]:
        """Reserve what the releases inside the block may cost; the block runs only if every budget of the scope covers it.

        When the block ends, what the release log says was released is compared with what was reserved, unless the loss counts on
        sampling or a random order, which a log does not show. After an error, or if the program dies, the reservation stays
        spent: noise may have been drawn.

        Args:
          spending: a loss, a guarantee, a mechanism or a learner's record; `times` of it.
          scope: a dataset, a unit and a purpose that at least one budget covers.
          times: how many such releases, at least 0.
          note: up to 200 letters for those who read the ledger; nothing of the data.
          key: of this release, where a scheduler may run the block again: it is charged once, and a block that came to its end
            is refused. What an attempt that failed has shown to anybody is not paid for, so let nothing leave the block before.
        Returns:
          The charge, with its receipt.
        Raises:
          LedgerRefusal: a budget does not cover it, or there is none; the block did not run, nothing was spent (DPA810, DPA811).
          LedgerFailure: more was released than reserved, which is charged nevertheless (DPA807); the key's block has ended, or was
            about something else (DPA815); the ledger cannot be used (DPA804, DPA805, DPA812, DPA814), or fell silent, so that the
            charge may have been made though the block did not run (DPA813).
          InvalidArgument: a scope, count, note or spending of another kind (DPA103, DPA105).
          AdjacencyMismatch: spending under another neighbouring relation (DPA201).
          Unsupported: no finite cost in the currency of a budget (DPA202).
        Source: docs/ledger.md, "Charges".
        Example:
          >>> import tempfile
          >>> from dpaudit import PureDP
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     _ = ledger.open_budget("survey/person", PureDP(epsilon=1))
          ...     with ledger.charge(PureDP(epsilon="1/2"), scope="survey/person/report") as charge:
          ...         charge.receipt.remaining
          {'survey/person': {'epsilon': '1/2'}}
        """
        receipt = reserve(self._store, self.name, "reserve", spending, scope, times, note, key)
        tally, over = Tally(f"the charge of entry {receipt.entry}"), None
        # Two nested ends, each of which does all that is left to do: an interrupt may arrive in the first.
        try:
            try:
                with paying(tally):
                    yield Charge(self._store, receipt, tally, has_key=key is not None)
                    cancelled = tally.closed
                tally.require_process()
                over = False if cancelled else commit(self._store, receipt, tally.close())
            finally:
                if over is None:
                    settle_after_error(self._store, receipt, tally)
        finally:
            if over is None:
                settle_after_error(self._store, receipt, tally)
        if over:
            raise LedgerFailure(
                "DPA807",
                f"what was released under entry {receipt.entry} costs more than was reserved, or has no price in a budget; the "
                "difference, or all that was left, was charged as well. Reserve the loss of everything that the block releases.",
            )

    def spend(self, spending: Any, *, scope: Scope | str, times: int = 1, note: str = "", key: str | None = None) -> Receipt:
        """Charge what is about to be released elsewhere; takes what `charge` takes, and is called before the noise is drawn.

        With a key, a call that repeats an earlier one returns its charge; whether its release was made is for the caller to know.

        Returns:
          The receipt.
        Raises:
          DpauditError: as `charge` does before its block runs; nothing was spent then.
        Source: docs/ledger.md, "Charges".
        Example:
          >>> import tempfile
          >>> from dpaudit import PureDP
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     _ = ledger.open_budget("survey/person", PureDP(epsilon=1))
          ...     ledger.spend(PureDP(epsilon="1/10"), scope="survey/person/report", times=10).remaining
          {'survey/person': {'epsilon': '0'}}
        """
        return reserve(self._store, self.name, "spend", spending, scope, times, note, key)

    def check(self, spending: Any, *, scope: Scope | str, times: int = 1) -> dict[str, dict[str, str]]:
        """Return what would be left if this were spent now, without spending it; takes what `charge` takes, but no note.

        Returns:
          By the scope of each budget that would pay: exact text by the name of its currency.
        Raises:
          DpauditError: as `charge` does before its block runs.
        Source: docs/ledger.md, "Charges".
        Example:
          >>> import tempfile
          >>> from dpaudit import PureDP
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     _ = ledger.open_budget("survey/person", PureDP(epsilon=1))
          ...     ledger.check(PureDP(epsilon="3/4"), scope="survey/person/report")
          {'survey/person': {'epsilon': '1/4'}}
        """
        place, loss = Scope.of(scope), requested_loss(spending)

        def question(state: State) -> dict[str, dict[str, str]]:
            accounts = state.accounts(place)
            amounts = charge_accounts(accounts, place, loss, times)
            after = [account.after(amounts[str(account.number)]) for account in accounts]
            return {str(account.scope): account.remaining for account in after}

        return self._store.read(question)

    def accounts(self, scope: Scope | str | None = None) -> list[Account]:
        """Return the current state of all budgets, or of those that pay for a scope.

        Args:
          scope: None for all.
        Returns:
          In the order in which they were opened.
        Raises:
          InvalidArgument: no scope (DPA105).
          LedgerFailure: the file cannot be used (DPA804, DPA805).
        Source: docs/ledger.md, "Scopes".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     Ledger.create(f"{folder}/budget.ledger").accounts()
          []
        """
        place = None if scope is None else Scope.of(scope)
        return self._store.read(lambda state: state.accounts(place))

    def remaining(self, scope: Scope | str) -> dict[str, dict[str, str]]:
        """Return what may still be spent on a scope, for each budget that pays for it.

        Args:
          scope: a dataset, a unit and perhaps a purpose.
        Returns:
          By the scope of each budget: exact text by the name of its currency.
        Raises:
          InvalidArgument: no scope (DPA105).
          LedgerFailure: the file cannot be used (DPA804, DPA805).
        Source: docs/ledger.md, "Scopes".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     Ledger.create(f"{folder}/budget.ledger").remaining("survey/person")
          {}
        """
        return {str(account.scope): account.remaining for account in self.accounts(scope)}

    def budget(self, scope: Scope | str, *, note: str = "") -> LedgerBudget:
        """Return a handle that a learner takes as its `budget`, also in other processes.

        Args:
          scope: as for `charge`.
          note: as for `charge`.
        Returns:
          The handle; each fit is a charge.
        Raises:
          InvalidArgument: no scope (DPA105).
        Source: docs/ledger.md, "Learners".
        Example:
          >>> import tempfile
          >>> from dpaudit import PureDP
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     _ = ledger.open_budget("survey/person", PureDP(epsilon=1))
          ...     ledger.budget("survey/person/model").reserve(PureDP(epsilon="1/2"))
          ...     ledger.remaining("survey/person")
          {'survey/person': {'epsilon': '1/2'}}
        """
        return LedgerBudget(self, Scope.of(scope), note)

    def grant(self, role: str, may: str, scope: Scope | str | None = None) -> list[str]:
        """Give a role of the server a right to this ledger; call it as the ledger's owner.

        Args:
          role: that exists on the server.
          may: "audit", to read and verify everything, or "spend", to read and charge one scope.
          scope: a dataset and unit, or one purpose of them; None with "audit".
        Returns:
          The statements that were run.
        Raises:
          InvalidArgument: no such right, scope or role (DPA105).
          LedgerFailure: a file has no roles (DPA804), or the caller is not the owner (DPA812).
        Source: docs/ledger.md, "A server for a team".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     try:
          ...         Ledger.create(f"{folder}/budget.ledger").grant("carol", "audit")
          ...     except LedgerFailure as error:
          ...         error.code
          'DPA804'
        """
        if may not in {"audit", "spend"} or (may == "audit") != (scope is None):
            raise InvalidArgument("DPA105", 'a role may "audit", which takes no scope, or "spend" on one.')
        return self._store.grant(role, may, ("", "", "") if scope is None else Scope.of(scope).key)

    @property
    def head(self) -> ChainHead:
        """The newest entry; keep it elsewhere to be able to show that nothing was cut off."""
        newest = self._store.read(State.newest)
        self._store.settle(newest)
        return newest.head

    @property
    def open_charges(self) -> list[int]:
        """Entries that reserved and neither committed nor cancelled: under way, or ended by an error; they are spent."""
        return self._store.read(State.open_charges)

    def entries(self) -> list[LedgerEntry]:
        """Return every entry, the oldest first.

        Returns:
          As they stand in one state of the file.
        Raises:
          LedgerFailure: the file cannot be used (DPA804, DPA805).
        Source: docs/ledger.md, "Entries".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     [entry.kind for entry in Ledger.create(f"{folder}/budget.ledger").entries()]
          ['ledger']
        """
        return self._store.read(lambda state: list(state.entries()))

    def recent(self, count: int) -> list[LedgerEntry]:
        """Return the newest entries, the oldest of them first.

        Args:
          count: how many at most, at least 0.
        Returns:
          As they stand in one state of the file.
        Raises:
          InvalidArgument: `count` is no count (DPA103, DPA105).
          LedgerFailure: the file cannot be used (DPA804, DPA805).
        Source: docs/ledger.md, "Entries".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     len(Ledger.create(f"{folder}/budget.ledger").recent(5))
          1
        """
        most = integer(count, "count", lower=0)
        return self._store.read(lambda state: list(state.entries(after=state.newest().number - most)))

    def verify(self, *, head: ChainHead | str | None = None) -> LedgerVerification:
        """Verify the hash chain, and recompute every total and every price.

        Args:
          head: of an earlier receipt or copy; the ledger must hold that entry unchanged.
        Returns:
          What was found; its `problems` are empty where all is well.
        Raises:
          InvalidArgument: no head (DPA105). What the file holds raises nothing: it is a problem of the verdict.
        Source: docs/ledger.md, "What the chain shows".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     Ledger.create(f"{folder}/budget.ledger").verify().problems
          ()
        """
        return examine(self._store, head)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the ledger as it is now to a new file.

        Args:
          path: of a file that does not exist yet.
        Raises:
          LedgerFailure: the file exists or cannot be written (DPA803, DPA804), or the ledger is on a server (DPA804).
        Source: docs/ledger.md, "Copies".
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     ledger.backup(f"{folder}/copy.ledger")
          ...     Ledger(f"{folder}/copy.ledger").head == ledger.head
          True
        """
        self._store.backup(path)
