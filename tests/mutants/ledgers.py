"""Checks of ledgers: charges are counted once, refused beyond a budget, and what was changed is found."""

from __future__ import annotations

import contextlib
import contextvars
import sqlite3
import tempfile
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpaudit.claims import PureDP
from dpaudit.errors import DpauditError, LedgerFailure
from dpaudit.ledger import Ledger, anchors_of, compare_with_anchors, migrate, verify_ledger, write_anchor
from dpaudit.ledger.accounts import shares_over_time
from mechanisms import GaussianMechanism, LaplaceMechanism, source_from

SCOPE = "survey/person/report"
CHANGE = "CREATE TRIGGER no_change BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END"


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
        assert verify_ledger(changed).problems
        assert verify_ledger(entries[:-1], head=receipt.head).problems
        unpaid = type(entries[-1]).after(
            entries[-2], "spend", entries[-1].time, {**entries[-1].body, "amounts": {"2": {"epsilon": "1/2"}}}
        )
        assert verify_ledger([*entries[:-1], unpaid]).problems
        assert not entries[-1].follows(replace(entries[-2], digest=bytes(range(32))))
        connection = sqlite3.connect(one._store.path)
        connection.execute('UPDATE budget SET spent = \'{"epsilon": "0"}\'')
        connection.commit()
        connection.close()
        assert one.verify().problems


def what_ran_is_priced_again():
    noise = LaplaceMechanism(scale=4, sensitivity=1)
    with ledger() as one:
        with one.charge(noise, scope=SCOPE):
            noise.release(1)
        *others, last = one.entries()
        ran = {**last.body, "ran": [*last.body["ran"]] * 2}
        commit = type(last).after(others[-1], "commit", last.time, ran)
        overrun = type(last).after(commit, "overrun", last.time, {"charge": 3, "amounts": {"2": {"epsilon": "0"}}})
        assert verify_ledger([*others, commit]).problems
        assert verify_ledger([*others, commit, overrun]).problems


def what_was_charged_is_priced_again():
    with ledger() as one:
        one.spend(PureDP("1/4"), scope=SCOPE)
        *others, last = one.entries()
        without = {name: value for name, value in last.body.items() if name not in {"loss", "times"}}
        changed = [
            {**last.body, "amounts": {"2": {"epsilon": "0"}}},
            {**last.body, "spending": "epsilon = 100"},
            without,
        ]
        for body in changed:
            assert verify_ledger([*others, type(last).after(others[-1], "spend", last.time, body)]).problems


def a_release_without_a_price_is_told():
    with ledger() as one:
        told = None
        try:
            with one.charge(PureDP(1), scope=SCOPE):
                GaussianMechanism(sigma=1, sensitivity=1).release(1)
        except LedgerFailure as error:
            told = error.code
        assert told == "DPA807"
        assert (one.verify().overruns, one.verify().problems) == ((3,), ())


def a_changed_budget_admits_nothing():
    for statements in (
        ("DROP TRIGGER no_change", "UPDATE entry SET time = '2020-01-01T00:00:00Z' WHERE number = 2", CHANGE),
        ("DROP TRIGGER no_change",),
    ):
        with ledger() as one:
            connection = sqlite3.connect(one._store.path, isolation_level=None)
            for statement in statements:
                connection.execute(statement)
            connection.close()
            with contextlib.suppress(DpauditError):
                Ledger(one._store.path).spend(PureDP("1/4"), scope=SCOPE)
                raise AssertionError("a charge was admitted by what was changed")


def releases_outside_a_charge_are_refused():
    noise = LaplaceMechanism(scale=4, sensitivity=1)
    with ledger() as one:
        with one.charge(PureDP("1/2"), scope=SCOPE):
            context = contextvars.copy_context()
            assert in_thread(noise.release, 1) == "DPA808"
            assert refusal(noise.release, 1, source_from(np.random.default_rng(1))) == "DPA809"
        assert refusal(context.run, noise.release, 1) == "DPA808"


def refusal(function, *arguments):
    """The code of the error that a call ends with, None for none."""
    try:
        function(*arguments)
    except DpauditError as error:
        return error.code
    return None


def in_thread(function, *arguments):
    """The refusal of a call in a thread of its own."""
    found = []
    thread = threading.Thread(target=lambda: found.append(refusal(function, *arguments)))
    thread.start()
    thread.join()
    return found[0]


def an_interrupted_change_locks_nobody_out():
    with ledger() as one:
        with contextlib.suppress(KeyboardInterrupt):
            one._store.write(interrupt)
        other = sqlite3.connect(one._store.path, timeout=0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.close()


def interrupt(_connection):
    """What a signal does in the middle of a change."""
    raise KeyboardInterrupt


def budgets_over_time_end_where_the_ledger_does():
    with ledger() as one:
        one.spend(PureDP("1/4"), scope=SCOPE)
        with one.charge(PureDP("1/2"), scope=SCOPE) as charge:
            charge.cancel()
        one.spend(PureDP("1/8"), scope=SCOPE)
        (account,) = one.accounts()
        shares = [share for _, share in shares_over_time(account, one.entries())]
        assert shares == [0, 0.25, 0.75, 0.25, 0.375]
        assert shares[-1] == 1 - left(one)


def a_key_is_charged_once_and_stays_spent():
    with ledger() as one:
        with contextlib.suppress(ZeroDivisionError), one.charge(PureDP("1/4"), scope=SCOPE, key="a"):
            _ = 1 / 0
        with one.charge(PureDP("1/4"), scope=SCOPE, key="a") as charge, contextlib.suppress(LedgerFailure):
            charge.cancel()
        assert left(one) == Fraction(3, 4)
        with contextlib.suppress(LedgerFailure), one.charge(PureDP("1/4"), scope=SCOPE, key="a"):
            raise AssertionError("a release that was made was made again")
        with contextlib.suppress(LedgerFailure):
            one.spend(PureDP("1/8"), scope=SCOPE, key="a")
            raise AssertionError("another charge was taken for one that was made")
        assert left(one) == Fraction(3, 4)


def a_moved_ledger_takes_no_charges():
    with tempfile.TemporaryDirectory() as folder:
        made = Ledger.create(f"{folder}/one.ledger")
        made.open_budget("survey/person", PureDP(1))
        write_anchor(f"{folder}/one.ledger", f"{folder}/anchors")
        migrate(f"{folder}/one.ledger", f"{folder}/two.ledger")
        with contextlib.suppress(LedgerFailure):
            made.spend(PureDP("1/4"), scope=SCOPE)
            raise AssertionError("two ledgers take charges")
        last = made.entries()[-1]
        after = type(last).after(last, "budget", last.time, {**made.entries()[1].body, "scope": "a/b"})
        assert verify_ledger([*made.entries(), after]).problems
        (anchor,) = anchors_of(f"{folder}/anchors")
        changed = replace(anchor, head=anchor.head[:-1] + ("0" if anchor.head[-1] != "0" else "1"))
        assert not compare_with_anchors(f"{folder}/two.ledger", [anchor])
        assert compare_with_anchors(f"{folder}/two.ledger", [changed])


CHECKS = (
    a_key_is_charged_once_and_stays_spent,
    a_moved_ledger_takes_no_charges,
    budgets_over_time_end_where_the_ledger_does,
    charges_are_counted_once_and_refused_beyond_a_budget,
    more_than_was_reserved_is_charged_and_nothing_released_is_given_back,
    what_was_changed_is_found,
    what_ran_is_priced_again,
    what_was_charged_is_priced_again,
    a_release_without_a_price_is_told,
    a_changed_budget_admits_nothing,
    releases_outside_a_charge_are_refused,
    an_interrupted_change_locks_nobody_out,
)
