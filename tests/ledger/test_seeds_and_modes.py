"""Seeds are refused in charges, files are for their owner, and ledgers of the first format are read and said to be old."""

import json
import os
import shutil
import sqlite3
import stat
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from dpaudit import ApproxDP, PureDP
from dpaudit.cli import main
from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.ledger import Ledger, LedgerEntry, verify_file, verify_ledger
from dpaudit.ledger.entries import canonical
from learners import Budget, PrivateClassifier
from mechanisms import (
    ExponentialMechanism,
    GaussianMechanism,
    InsecureSeededSourceForTestsOnly,
    LaplaceMechanism,
    OsBitSource,
    RandomizedResponse,
    source_from,
)
from tests.support.sources import RecordingSource, TapeSource

WHERE = "survey/person/report"
NOISE = LaplaceMechanism(scale=16, sensitivity=1)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "budget.ledger")
    made.open_budget("survey/person", PureDP(1))
    return made


def seeded():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return InsecureSeededSourceForTestsOnly(7)


SOURCES = {
    "a seed": seeded,
    "a generator": lambda: source_from(np.random.default_rng(1)),
    "a tape": lambda: TapeSource(0, 10_000),
    "a recorded seed": lambda: RecordingSource(seeded()),
}
RELEASES = {
    "one number": lambda source: NOISE.release(3, source),
    "many": lambda source: NOISE.releases(3, 5, source),
    "an array": lambda source: NOISE.release(np.array([1, 2, 3]), source),
    "Gaussian": lambda source: GaussianMechanism(sigma=20, sensitivity=1).release(3, source),
    "a choice": lambda source: ExponentialMechanism(epsilon="1/8", sensitivity=1).release([1, 2, 3], source),
    "a response": lambda source: RandomizedResponse(epsilon="1/8").release(1, source),
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("source", SOURCES)
def test_noise_that_can_be_repeated_is_refused_in_a_charge_before_it_is_drawn(ledger, source, release):
    taken = RecordingSource(SOURCES[source]())
    with ledger.charge(PureDP("1/2"), scope=WHERE) as charge:
        with pytest.raises(LedgerFailure, match=r"DPA809.*Leave out source"):
            RELEASES[release](taken)
        charge.cancel()
    assert [] == taken.calls
    assert {"survey/person": {"epsilon": "1"}} == ledger.remaining(WHERE)


def test_noise_of_the_operating_system_is_taken_in_a_charge(ledger):
    with ledger.charge(NOISE.loss, scope=WHERE, times=2):
        NOISE.release(3, OsBitSource())
        NOISE.release(3, RecordingSource(OsBitSource()))
    assert () == ledger.verify().problems


def model(**parts):
    return PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=1, classes=[0, 1], **parts)


@pytest.fixture
def data():
    features = np.random.default_rng(2).standard_normal((60, 3))
    return features, (features[:, 0] > 0).astype(int)


@pytest.mark.parametrize("state", [0, np.random.default_rng(1)])
def test_a_fit_with_a_seed_is_refused_by_a_ledger_and_costs_nothing(tmp_path, data, state):
    ledger = Ledger.create(tmp_path / "fits.ledger")
    ledger.open_budget("people/person", ApproxDP(5, "1e-3"), adjacency="replace_one")
    before = ledger.head
    with pytest.raises(LedgerFailure, match="DPA809"):
        model(random_state=state, budget=ledger.budget("people/person/model")).fit(*data)
    assert before == ledger.head
    with ledger.charge(ApproxDP(1, "1e-5"), scope="people/person/model"), pytest.raises(LedgerFailure, match="DPA809"):
        model(random_state=state).fit(*data)
    model(random_state=state, budget=Budget(ApproxDP(2, "1e-4"))).fit(*data)


def test_a_commit_of_insecure_noise_is_not_intact(ledger):
    with ledger.charge(NOISE, scope=WHERE):
        NOISE.release(3)
    *others, last = ledger.entries()
    (ran,) = last.body["ran"]
    forged = LedgerEntry.after(others[-1], "commit", last.time, {**last.body, "ran": [{**ran, "secure": False}]})
    assert "insecure source" in verify_ledger([*others, forged]).problems[0]


def test_verify_prices_the_releases_of_every_commit(ledger):
    """Each of two commits in turn gets a release that its charge did not reserve, with the chain made to fit."""
    for _ in range(2):
        with ledger.charge(NOISE, scope=WHERE):
            NOISE.release(3)
    entries = ledger.entries()
    for changed in (3, 5):
        last, forged = None, []
        for place, entry in enumerate(entries):
            body = {**entry.body, "ran": [*entry.body["ran"]] * 2} if place == changed else entry.body
            last = LedgerEntry.after(last, entry.kind, entry.time, body)
            forged.append(last)
        assert (f"entry {changed} released more than it reserved, and that was never charged",) == verify_ledger(forged).problems
    assert () == verify_ledger(entries).problems


# --- modes ---


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_exports_and_copies_are_for_their_owner_whatever_the_umask(ledger, tmp_path, umask):
    before = os.umask(umask)
    try:
        words = [
            "export",
            str(ledger._store.path),
            "--output",
            str(tmp_path / "out.jsonl"),
            "--backup",
            str(tmp_path / "copy.ledger"),
        ]
        assert 0 == CliRunner().invoke(main, ["ledger", *words]).exit_code
        made = Ledger.create(tmp_path / "new.ledger")
        made.open_budget("a/b", PureDP(1))
        with made._store.path.with_name("new.ledger-journal").open("ab"):
            made.spend(PureDP(1), scope="a/b")
    finally:
        os.umask(before)
    assert {0o600} == {mode(path) for path in tmp_path.iterdir()}
    assert Ledger(tmp_path / "copy.ledger").entries() == ledger.entries()


def test_a_copy_and_an_export_are_never_written_into_a_file_that_is_there(ledger, tmp_path):
    for name in ("copy.ledger", "out.jsonl"):
        (tmp_path / name).write_text("mine")
        (tmp_path / name).chmod(0o666)
    with pytest.raises(LedgerFailure, match="DPA803"):
        ledger.backup(tmp_path / "copy.ledger")
    words = ["export", str(ledger._store.path), "--output", str(tmp_path / "out.jsonl")]
    assert 2 == CliRunner().invoke(main, ["ledger", *words]).exit_code
    assert ["mine", "mine"] == [(tmp_path / name).read_text() for name in ("copy.ledger", "out.jsonl")]


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_files_beside_a_ledger_lose_the_rights_that_the_ledger_does_not_give(ledger, tmp_path, end):
    beside = tmp_path / f"budget.ledger{end}"
    beside.touch()
    beside.chmod(0o666)
    Ledger(ledger._store.path).spend(PureDP("1/2"), scope=WHERE)
    assert not beside.exists() or mode(beside) == 0o600


# --- the first format ---


@pytest.fixture
def old(ledger):
    """A ledger as the first format wrote it: charges keep no loss."""
    ledger.spend(PureDP("1/4"), scope=WHERE)
    with ledger.charge(NOISE, scope=WHERE):
        NOISE.release(3)
    last, rows = None, []
    for entry in ledger.entries():
        body = {name: value for name, value in entry.body.items() if name not in {"loss", "times"}}
        last = LedgerEntry.after(last, entry.kind, entry.time, body | ({"format": 1} if entry.kind == "ledger" else {}))
        rows.append((last.number, last.kind, last.time, canonical(dict(last.body)), last.digest))
    with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM entry")
        connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", rows)
        for _, text in triggers:
            connection.execute(text)
        connection.execute("DROP TABLE keyed")
        connection.execute("PRAGMA user_version = 1")
    return ledger._store.path


def test_an_old_ledger_is_read_and_said_to_be_old(old):
    found = verify_file(old)
    assert ((), (3, 4)) == (found.problems, found.taken)
    assert "keeps no losses" in CliRunner().invoke(main, ["ledger", "verify", str(old)]).stdout
    assert [3, 4] == json.loads(CliRunner().invoke(main, ["ledger", "verify", str(old), "--json"]).stdout)["taken"]


def test_the_first_change_brings_an_old_ledger_to_the_new_format_and_no_charge_after_it_may_lack_its_loss(old):
    ledger = Ledger(old)
    ledger.spend(PureDP("1/8"), scope=WHERE)
    assert ["format", "spend"] == [entry.kind for entry in ledger.recent(2)]
    found = ledger.verify()
    assert ((), (3, 4), (3, 7)) == (found.problems, found.taken, found.elsewhere)
    *others, last = ledger.entries()
    bare = {name: value for name, value in last.body.items() if name not in {"loss", "times"}}
    assert verify_ledger([*others, LedgerEntry.after(others[-1], "spend", last.time, bare)]).problems


def test_an_old_ledger_under_which_something_without_a_price_took_nothing_is_intact(tmp_path):
    def chain(*said):
        last = None
        for kind, body in said:
            last = LedgerEntry.after(last, kind, "2026-01-01T00:00:00Z", body)
            yield last

    ledger = Ledger.create(tmp_path / "other.ledger")
    ledger.open_budget("a/b", PureDP(1))
    with pytest.raises(LedgerFailure, match="DPA807"), ledger.charge(PureDP(1), scope="a/b"):
        GaussianMechanism(sigma=1, sensitivity=1).release(3)
    first, budget, reserve, commit, _ = ledger.entries()
    bare = {name: value for name, value in reserve.body.items() if name not in {"loss", "times"}}
    entries = list(
        chain(("ledger", {**first.body, "format": 1}), ("budget", budget.body), ("reserve", bare), ("commit", commit.body))
    )
    assert () == verify_ledger(entries).problems
    assert verify_ledger([first, budget, reserve, commit]).problems


def test_each_part_of_a_charge_is_checked_against_its_loss(ledger):
    ledger.spend(PureDP("1/4"), scope=WHERE, times=2)
    *others, last = ledger.entries()
    for change in (
        {"times": 1},
        {"times": 3},
        {"spending": "epsilon = 1/4"},
        {"amounts": {"2": {"epsilon": "1/4"}}},
        {"loss": {"guarantee": {"name": "PureDP", "epsilon": "1/3"}}},
    ):
        forged = LedgerEntry.after(others[-1], last.kind, last.time, {**last.body, **change})
        assert verify_ledger([*others, forged]).problems, change
    assert replace(last) == last


def test_an_unknown_version_is_refused(ledger, tmp_path):
    shutil.copy(ledger._store.path, tmp_path / "later.ledger")
    with closing(sqlite3.connect(tmp_path / "later.ledger")) as connection:
        connection.execute("PRAGMA user_version = 4")
    with pytest.raises(InvalidArgument, match="DPA801"):
        Ledger(tmp_path / "later.ledger")
