"""An overview of a ledger as plain data: what is left, who spent on what, planned releases, and the state of the chain."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dpaudit.accounting.budgets.filters import Amounts
from dpaudit.errors import DpauditError, LedgerFailure
from dpaudit.ledger.accounts import Account, charge_accounts, shares_over_time
from dpaudit.ledger.anchors import Anchor, compare_with_anchors
from dpaudit.ledger.charges import requested_loss
from dpaudit.ledger.entries import RESTORE, LedgerEntry, Scope
from dpaudit.ledger.examination import verify_file
from dpaudit.ledger.losses import describe_spending
from dpaudit.ledger.places import open_store

_MOST_POINTS = 400
"""Of a budget's history that an overview holds."""


@dataclass
class _Spent:
    """Everything that one role spent on one scope."""

    charges: int = 0
    returned: int = 0
    last: str = ""
    amounts: dict[int, Amounts] = field(default_factory=dict)


def overview(
    place: str | os.PathLike[str], *, planned: Sequence[tuple[Scope | str, Any]] = (), anchors: Sequence[Anchor] = ()
) -> dict[str, Any]:
    """Describe a ledger as one document of JSON values, with exact amounts as text.

    Args:
      place: of the ledger.
      planned: releases that are not made yet, each a scope and what `Ledger.charge` takes; they are priced in this order.
      anchors: to compare the ledger with.
    Returns:
      ledger, head, time, entries, chain, budgets, spent, planned.
    Raises:
      LedgerFailure: the ledger cannot be used (DPA804, DPA805, DPA812).
      InvalidArgument: no ledger (DPA801), scope, loss (DPA105) or anchor of this ledger (DPA106).
    Source: docs/ledger.md, "A page to look at".
    Example:
      >>> import tempfile
      >>> from dpaudit import PureDP
      >>> from dpaudit.ledger import Ledger
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     ledger = Ledger.create(f"{folder}/budget.ledger")
      ...     _ = ledger.open_budget("survey/person", PureDP(1))
      ...     overview(f"{folder}/budget.ledger", planned=[("survey/person/report", PureDP("1/4"))])["planned"][0]["covered"]
      True
    """
    found = verify_file(place)
    store = open_store(place)
    name, accounts, entries = store.read(lambda state: (state.name(), state.accounts(), list(state.entries())))
    compared = compare_with_anchors(place, anchors) if anchors else ()
    chain = {**asdict(found), "head": None if found.head is None else str(found.head), "against": list(compared)}
    chain["anchors"] = len(anchors)
    with adding_up():
        budgets, spent = [_budget(account, entries) for account in accounts], _who_spent(accounts, entries)
    return {
        "ledger": name,
        "head": str(entries[-1].head),
        "time": entries[-1].time,
        "entries": len(entries),
        "chain": chain,
        "budgets": budgets,
        "spent": spent,
        "planned": _planned(accounts, planned),
    }


@contextmanager
def adding_up() -> Iterator[None]:
    """Turn whatever goes wrong with the content of entries into DPA805: they hold anything once somebody changed them."""
    try:
        yield
    except DpauditError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LedgerFailure("DPA805", f"the entries cannot be added up, since one of them was changed. {RESTORE}") from error


def _budget(account: Account, entries: Sequence[LedgerEntry]) -> dict[str, Any]:
    """Describe a budget and its history."""
    cap = account.cap
    history = shares_over_time(account, entries)
    step = -(-len(history) // _MOST_POINTS)
    return {
        "scope": str(account.scope),
        "guarantee": str(cap.guarantee),
        "adjacency": str(cap.adjacency),
        "limits": cap.written(cap.limits),
        "spent": cap.written(account.spent),
        "remaining": account.remaining,
        "share": history[-1][1],
        "history": [list(point) for point in [*history[:-1:step], history[-1]]],
    }


def _who_spent(accounts: Sequence[Account], entries: Iterable[LedgerEntry]) -> list[dict[str, Any]]:
    """Add up charges by scope and role; a file does not know who wrote it."""
    caps = {account.number: account for account in accounts}
    spent: dict[tuple[str, str], _Spent] = {}
    charges: dict[int, tuple[_Spent, Mapping[str, Any]]] = {}
    for entry in entries:
        body = entry.body
        if entry.kind in {"spend", "reserve"}:
            line = spent.setdefault((str(body["scope"]), str(body.get("by", ""))), _Spent())
            charges[entry.number] = line, body["amounts"]
            line.charges += 1
            line.last = entry.time
            _add(line, caps, body["amounts"], 1)
        elif entry.kind in {"cancel", "overrun"}:
            line, amounts = charges[body["charge"]]
            line.returned += entry.kind == "cancel"
            _add(line, caps, body.get("amounts", amounts), -1 if entry.kind == "cancel" else 1)
    return [
        {
            "scope": scope,
            "by": by,
            "charges": line.charges,
            "returned": line.returned,
            "last": line.last,
            "amounts": {str(caps[number].scope): caps[number].cap.written(sums) for number, sums in line.amounts.items()},
        }
        for (scope, by), line in spent.items()
    ]


def _add(line: _Spent, caps: Mapping[int, Account], amounts: Mapping[str, Mapping[str, str]], sign: int) -> None:
    """Add the amounts of one charge."""
    for number, text in amounts.items():
        if int(number) in caps:  # a spender may not read every budget
            cap = caps[int(number)].cap
            change = tuple(sign * amount for amount in cap.read(dict(text)))
            line.amounts[int(number)] = cap.after(line.amounts.get(int(number), cap.nothing), change)


def _planned(accounts: Sequence[Account], planned: Iterable[tuple[Scope | str, Any]]) -> list[dict[str, Any]]:
    """Price releases one after the other; one that is refused takes nothing from those after it."""
    now, lines = {account.number: account for account in accounts}, []
    for scope, spending in planned:
        place, loss = Scope.of(scope), requested_loss(spending)
        paying = [account for account in now.values() if account.scope.covers(place)]
        line: dict[str, Any] = {"scope": str(place), "spending": describe_spending(loss, 1), "amounts": {}, "refusal": None}
        try:
            amounts = charge_accounts(paying, place, loss, 1)
        except DpauditError as error:
            line["refusal"] = str(error)
        else:
            for account in paying:
                after = account.after(amounts[str(account.number)])
                now[account.number] = replace(account, spent=after.spent)
            line["amounts"] = {str(account.scope): amounts[str(account.number)] for account in paying}
        line["covered"] = line["refusal"] is None
        line["remaining"] = {str(account.scope): now[account.number].remaining for account in paying}
        lines.append(line)
    return lines
