"""Ledgers that move between files, servers and exports: one chain, one budget, one place that takes charges."""

import itertools

import pytest

from dpaudit import PureDP
from dpaudit.errors import InvalidArgument, LedgerFailure, LedgerRefusal
from dpaudit.ledger import Ledger, migrate, moving, verify_file
from mechanisms import LaplaceMechanism
from tests.ledger.crafted import sql

WHERE = "survey/person/report"
NOISE = LaplaceMechanism(scale=16, sensitivity=1)


@pytest.fixture
def places(server, tmp_path):
    """New places of each kind."""
    names = itertools.count()
    return lambda kind: server.database() if kind == "server" else tmp_path / f"{next(names)}.{kind}"


def made(place):
    """A ledger with everything that a ledger can hold."""
    ledger = Ledger.create(place)
    ledger.open_budget("survey/person", PureDP(1))
    ledger.open_budget("survey/person/report", PureDP("1/2"))
    ledger.spend(PureDP("1/16"), scope=WHERE, note="ünïcode", key="nightly")
    with ledger.charge(NOISE, scope=WHERE):
        NOISE.release(3)
    with ledger.charge(NOISE, scope=WHERE) as charge:
        charge.cancel()
    with pytest.raises(LedgerFailure, match="DPA807"), ledger.charge(NOISE, scope=WHERE):
        NOISE.releases(3, 2)
    with pytest.raises(ZeroDivisionError), ledger.charge(NOISE, scope=WHERE, key="open"):
        _ = 1 / 0
    return ledger


def state(ledger):
    return ledger.name, [(str(one.scope), one.cap, one.spent) for one in ledger.accounts()], ledger.open_charges


@pytest.mark.parametrize(
    "way",
    [("ledger", "server", "ledger"), ("server", "ledger", "server"), ("ledger", "jsonl", "server"), ("server", "jsonl", "ledger")],
)
def test_a_ledger_goes_on_where_it_was_moved_and_takes_no_charges_where_it_was(places, way):
    here, *others = map(places, way)
    ledger = made(here)
    before, entries = state(ledger), ledger.entries()
    for there in others:
        head = migrate(here, there)
        found = verify_file(there, head=head)
        assert () == found.problems
        here = there
    moved = Ledger(here)
    assert (before, entries) == (state(moved), moved.entries()[: len(entries)])
    receipt = moved.spend(PureDP("1/16"), scope=WHERE, key="nightly")
    assert receipt.repeated
    moved.spend(PureDP("1/16"), scope=WHERE)
    with pytest.raises(LedgerRefusal):
        moved.spend(PureDP("1/2"), scope=WHERE)
    assert () == moved.verify().problems
    for change in (
        lambda: ledger.spend(PureDP("1/16"), scope=WHERE),
        lambda: ledger.open_budget("a/b", PureDP(1)),
        lambda: ledger.charge(NOISE, scope=WHERE).__enter__(),
    ):
        with pytest.raises(LedgerFailure, match="DPA814"):
            change()
    assert () == ledger.verify().problems


@pytest.mark.parametrize("kind", ["ledger", "server"])
def test_a_place_that_is_taken_is_refused_before_anything_is_closed(places, kind):
    here, there = places("ledger"), places(kind)
    ledger = made(here)
    Ledger.create(there)
    with pytest.raises(LedgerFailure, match="DPA803"):
        migrate(here, there)
    ledger.spend(PureDP("1/16"), scope=WHERE)


def test_a_move_that_failed_is_made_again(places, monkeypatch):
    here, there = places("ledger"), places("server")
    ledger = made(here)
    monkeypatch.setattr(moving, "fill_store", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        migrate(here, there)
    monkeypatch.undo()
    with pytest.raises(LedgerFailure, match="DPA814"):
        ledger.spend(PureDP("1/16"), scope=WHERE)
    migrate(here, there)
    Ledger(there).spend(PureDP("1/16"), scope=WHERE)
    assert 1 == sum(entry.kind == "moved" for entry in Ledger(there).entries())


def test_a_ledger_that_is_not_intact_is_not_moved(places):
    here = places("ledger")
    made(here)
    sql(here, 'UPDATE budget SET spent = \'{"epsilon": "0"}\'')
    with pytest.raises(LedgerFailure, match="DPA805"):
        migrate(here, places("server"))


def test_an_export_is_moved_only_if_it_closed_its_ledger_or_that_is_lost(places):
    here, out, there = places("ledger"), places("jsonl"), places("server")
    moving.write_export(out, made(here).entries())
    with pytest.raises(InvalidArgument, match="DPA106 the ledger of this export may still be charged"):
        migrate(out, there)
    with pytest.raises(InvalidArgument, match="DPA106 only an export"):
        migrate(here, there, lost=True)
    head = migrate(out, there, lost=True)
    found = verify_file(there)
    assert ((), (head.number,)) == (found.problems, found.restored)
    closed = places("jsonl")
    migrate(here, closed)
    with pytest.raises(InvalidArgument, match="DPA106 this export closed"):
        migrate(closed, places("ledger"), lost=True)
    assert () == verify_file(closed).problems
