"""Checks of ledgers: charges are counted once, refused beyond a budget, and what was changed is found."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from dataclasses import replace
from fractions import Fraction

from dpaudit.claims import PureDP
from dpaudit.errors import DpauditError
from dpaudit.ledger import Ledger, verify
from mechanisms import LaplaceMechanism

SCOPE = "survey/person/report"


@contextlib.contextmanager
def ledger():
    """A ledger with a budget of epsilon 1."""
    with tempfile.TemporaryDirectory() as folder:
        made = Ledger.create(f"{folder}/budget.ledger")
        made.open_budget("survey/person", PureDP(1))
        yield made


def left(of):
    """What is left of the budget."""
    return Fraction(of.remaining(SCOPE)["survey/person"]["epsilon"])


def charges_are_counted_once_and_refused_beyond_a_budget():
    with ledger() as one:
        one.spend(PureDP("1/4"), scope=SCOPE, times=2)
        with one.charge(PureDP("1/4"), scope=SCOPE):
            pass
        with one.charge(PureDP("1/4"), scope=SCOPE) as charge:
            charge.cancel()
        assert left(one) == Fraction(1, 4)
        for spend in (lambda: one.spend(PureDP("1/3"), scope=SCOPE), lambda: one.spend(PureDP(0), scope="survey/household")):
            with contextlib.suppress(DpauditError):
                spend()
                raise AssertionError("a charge that no budget covers was admitted")
        assert (one.verify().problems, one.head.number) == ((), 7)


def more_than_was_reserved_is_charged_and_nothing_released_is_given_back():
    noise = LaplaceMechanism(scale=4, sensitivity=1)
    with ledger() as one:
        with contextlib.suppress(DpauditError), one.charge(noise, scope=SCOPE):
            noise.releases(1, 3)
        assert (left(one), one.verify().problems, one.verify().overruns) == (Fraction(1, 4), (), (3,))
        with contextlib.suppress(DpauditError), one.charge(noise, scope=SCOPE) as charge:
            noise.release(1)
            charge.cancel()
        assert left(one) == 0


def what_was_changed_is_found():
    with ledger() as one:
        one.open_budget("survey/person/report", PureDP(1))
        receipt = one.spend(PureDP("1/2"), scope=SCOPE)
        entries = one.entries()
        changed = [*entries[:-1], replace(entries[-1], body={**entries[-1].body, "note": "other"})]
        assert verify(changed).problems
        assert verify(entries[:-1], head=receipt.head).problems
        unpaid = type(entries[-1]).after(entries[-2], "spend", "", {**entries[-1].body, "amounts": {"2": {"epsilon": "1/2"}}})
        assert verify([*entries[:-1], unpaid]).problems
        assert not entries[-1].follows(replace(entries[-2], digest=bytes(range(32))))
        connection = sqlite3.connect(one._store.path)
        connection.execute('UPDATE budget SET spent = \'{"epsilon": "0"}\'')
        connection.commit()
        connection.close()
        assert one.verify().problems


CHECKS = (
    charges_are_counted_once_and_refused_beyond_a_budget,
    more_than_was_reserved_is_charged_and_nothing_released_is_given_back,
    what_was_changed_is_found,
)
