"""Ledgers: charged before the noise, exact to the last cent, shared, and never changed unseen."""

import json
import multiprocessing
import pickle
import sqlite3
import time
from fractions import Fraction
from threading import Thread

import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Curve, PureDP
from dpaudit.accounting import Poisson, gaussian, laplace
from dpaudit.claims import Adjacency
from dpaudit.errors import AdjacencyMismatch, InvalidArgument, LedgerFailure, LedgerRefusal, Unsupported
from dpaudit.ledger import Ledger, LedgerEntry, Scope, verify_ledger
from dpaudit.ledger import store as the_store
from mechanisms import GaussianMechanism, LaplaceMechanism
from tests.support.postgres import psycopg

WHERE = "survey/person/report"


@pytest.fixture
def ledger(place):
    return Ledger.create(place)


@pytest.fixture
def pure(ledger):
    ledger.open_budget("survey/person", PureDP(1))
    return ledger


@pytest.fixture
def pure_file(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger")
    ledger.open_budget("survey/person", PureDP(1))
    return ledger


def left(ledger, scope=WHERE):
    return {name: {unit: Fraction(text) for unit, text in amounts.items()} for name, amounts in ledger.remaining(scope).items()}


def laplace_noise(scale=1):
    return LaplaceMechanism(scale=scale, sensitivity=1)


def test_a_budget_is_spent_to_the_last_and_not_beyond(pure):
    for _ in range(3):
        pure.spend(PureDP("1/3"), scope=WHERE)
    assert {"survey/person": {"epsilon": 0}} == left(pure)
    with pytest.raises(LedgerRefusal, match=r"DPA810 survey/person: .* epsilon would reach"):
        pure.spend(PureDP("1e-300"), scope=WHERE)
    assert {"survey/person": {"epsilon": 0}} == left(pure)
    assert () == pure.verify().problems


def test_every_budget_that_covers_a_scope_pays_and_one_that_is_spent_refuses_for_all(ledger):
    ledger.open_budget("survey/person", PureDP(1))
    ledger.open_budget("survey/person/report", PureDP("1/4"))
    ledger.open_budget("survey/household", PureDP(1))
    receipt = ledger.spend(PureDP("1/8"), scope=WHERE, times=2)
    assert {"survey/person": {"epsilon": "1/4"}, "survey/person/report": {"epsilon": "1/4"}} == receipt.amounts
    with pytest.raises(LedgerRefusal, match="survey/person/report"):
        ledger.spend(PureDP("1/8"), scope=WHERE)
    ledger.spend(PureDP("3/4"), scope="survey/person/model")
    assert {"survey/person": {"epsilon": 0}} == left(ledger, "survey/person")
    assert {"survey/household": {"epsilon": 1}} == left(ledger, "survey/household")


def test_nothing_is_spent_where_no_budget_covers_the_scope(pure):
    for scope in ("survey/household", "census/person/report", "survey/person2"):
        with pytest.raises(LedgerRefusal, match="DPA811"):
            pure.spend(PureDP(0), scope=scope)
    assert 2 == pure.head.number


@pytest.mark.parametrize(
    ("guarantee", "spending", "rest"),
    [
        (ZCDP(1), gaussian(sigma=2), {"rho": Fraction(7, 8)}),
        (GDP(1), gaussian(sigma=2), {"mu squared": Fraction(3, 4)}),
        (PureDP(2), laplace(scale=4), {"epsilon": Fraction(7, 4)}),
        (RDP({2: 1}), gaussian(sigma=2), {"Renyi divergence of order 2": Fraction(3, 4)}),
    ],
)
def test_each_guarantee_is_kept_in_its_currency(ledger, guarantee, spending, rest):
    ledger.open_budget("a/b", guarantee)
    ledger.spend(spending, scope="a/b/c")
    assert {"a/b": rest} == left(ledger, "a/b")
    assert () == ledger.verify().problems


def test_an_approximate_budget_allows_what_a_filter_allows(ledger):
    from dpaudit.accounting import Filter

    ledger.open_budget("a/b", ApproxDP(1, "1e-6"), slack="1e-7")
    other = Filter(ApproxDP(1, "1e-6"), slack="1e-7")
    other.spend(gaussian(sigma=8))
    ledger.spend(gaussian(sigma=8), scope="a/b")
    assert {"a/b": other.remaining} == left(ledger, "a/b")


def test_neighbours_of_another_kind_are_refused(ledger):
    ledger.open_budget("a/b", ZCDP(1), adjacency=Adjacency("hamming", radius=3))
    with pytest.raises(AdjacencyMismatch):
        ledger.spend(gaussian(sigma=2), scope="a/b")
    assert [Adjacency("hamming", radius=3)] == [account.cap.adjacency for account in ledger.accounts()]


def test_a_budget_is_fixed_and_a_curve_is_none(pure):
    with pytest.raises(InvalidArgument, match="DPA802"):
        pure.open_budget("survey/person", PureDP(2))
    with pytest.raises(Unsupported, match="DPA202"):
        pure.open_budget("a/b", Curve(gaussian(sigma=1)))
    assert ["survey/person"] == [str(account.scope) for account in pure.accounts()]


@pytest.mark.parametrize("scope", ["", "a", "a/b/c/d", "a//c", "a/ b", "a/b\n", "a/" + "b" * 101, None, 3])
def test_a_scope_is_two_or_three_names(pure, scope):
    with pytest.raises(InvalidArgument, match="DPA105"):
        pure.spend(PureDP("1/2"), scope=scope)


@pytest.mark.parametrize(
    "given",
    [{"spending": 1}, {"spending": "gaussian"}, {"times": -1}, {"times": True}, {"note": "a\nb"}, {"note": "n" * 201}, {"note": 1}],
)
def test_a_charge_of_another_kind_is_refused_and_writes_nothing(pure, given):
    given = dict(given)
    with pytest.raises(InvalidArgument):
        pure.spend(given.pop("spending", PureDP("1/2")), scope=WHERE, **given)
    assert 2 == pure.head.number


def test_a_charge_is_there_before_its_block_runs(pure, place):
    with pure.charge(laplace_noise(scale=2), scope=WHERE) as charge:
        other = Ledger(place)
        assert {"survey/person": {"epsilon": Fraction(1, 2)}} == left(other)
        assert [charge.receipt.entry] == other.open_charges
        laplace_noise(scale=2).release(40)
    assert [] == pure.open_charges
    assert ["ledger", "budget", "reserve", "commit"] == [entry.kind for entry in pure.entries()]
    assert () == pure.verify().problems


def test_a_refused_charge_does_not_run_its_block(pure):
    ran = []
    with pytest.raises(LedgerRefusal), pure.charge(PureDP(2), scope=WHERE):
        ran.append(True)
    assert [] == ran


def test_after_an_error_the_charge_stays_open_and_spent(pure):
    with pytest.raises(ZeroDivisionError), pure.charge(PureDP("1/2"), scope=WHERE) as charge:
        _ = 1 / 0
    assert ([charge.receipt.entry], {"survey/person": {"epsilon": Fraction(1, 2)}}) == (pure.open_charges, left(pure))
    assert () == pure.verify().problems


def test_a_charge_is_given_back_only_before_anything_is_released(pure):
    with pure.charge(PureDP(1), scope=WHERE) as charge:
        charge.cancel()
        with pytest.raises(LedgerFailure, match="DPA806"):
            charge.cancel()
    assert {"survey/person": {"epsilon": 1}} == left(pure)
    with pure.charge(PureDP(1), scope=WHERE) as charge:
        laplace_noise().release(3)
        with pytest.raises(LedgerFailure, match="noise was drawn"):
            charge.cancel()
    assert {"survey/person": {"epsilon": 0}} == left(pure)
    assert () == pure.verify().problems


def test_more_released_than_reserved_is_charged_and_told(pure):
    with pytest.raises(LedgerFailure, match="DPA807"), pure.charge(laplace_noise(), scope=WHERE, note="twice") as charge:
        laplace_noise().releases(3, 2)
    assert {"survey/person": {"epsilon": -1}} == left(pure)
    found = pure.verify()
    assert ((), (charge.receipt.entry,)) == (found.problems, found.overruns)
    with pytest.raises(LedgerRefusal):
        pure.spend(PureDP("1e-9"), scope=WHERE)


def test_what_has_no_price_in_the_budget_takes_all_that_is_left(pure):
    with pytest.raises(LedgerFailure, match="DPA807"), pure.charge(PureDP("1/4"), scope=WHERE):
        GaussianMechanism(sigma=1, sensitivity=1).release(3)
    assert {"survey/person": {"epsilon": 0}} == left(pure)


def test_a_loss_that_counts_on_sampling_is_not_compared_with_the_log(ledger):
    ledger.open_budget("a/b", ApproxDP(1, "1e-6"))
    loss = gaussian(sigma=40).sampled(Poisson(rate="1/100"))
    with ledger.charge(loss, scope="a/b"):
        GaussianMechanism(sigma=40, sensitivity=1).release(3)
    assert () == ledger.verify().overruns


def test_learners_take_a_handle_that_copies_and_processes_share(pure):
    handle = pure.budget(WHERE, note="fits")
    copied = pickle.loads(pickle.dumps(handle))
    handle.reserve(PureDP("1/2"))
    copied.reserve(PureDP("1/4"))
    assert {"survey/person": {"epsilon": "1/4"}} == handle.remaining == copied.remaining
    assert handle is handle.__sklearn_clone__()
    assert ["fits", "fits"] == [entry.body["note"] for entry in pure.recent(2)]


def test_threads_spend_a_budget_once(pure):
    refused = []

    def spend():
        try:
            pure.spend(PureDP("1/10"), scope=WHERE)
        except LedgerRefusal:
            refused.append(1)

    threads = [Thread(target=spend) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (2, {"survey/person": {"epsilon": 0}}) == (len(refused), left(pure))
    assert () == pure.verify().problems


def release_until_refused(path, released):
    ledger = Ledger(path)
    while True:
        try:
            with ledger.charge(PureDP("1/200"), scope=WHERE) as charge, released.open("a", encoding="ascii") as file:
                file.write(f"{charge.receipt.entry}\n")
        except LedgerRefusal:
            return


def test_writers_that_are_killed_never_spend_too_much_nor_release_unpaid(pure, place, tmp_path):
    context, released = multiprocessing.get_context("spawn"), tmp_path / "released"
    released.touch()
    for _ in range(3):
        writers = [context.Process(target=release_until_refused, args=(place, released)) for _ in range(2)]
        size, patience = released.stat().st_size, time.monotonic() + 60
        for writer in writers:
            writer.start()
        while released.stat().st_size < size + 40 and time.monotonic() < patience:
            time.sleep(0.001)
        for writer in writers:
            writer.kill()
            writer.join()
    assert released.stat().st_size >= 3 * 40
    release_until_refused(place, released)
    found = pure.verify()
    paid = {entry.number for entry in pure.entries() if entry.kind == "reserve"}
    assert () == found.problems
    assert {int(line) for line in released.read_text().split()} <= paid
    assert (200, {"survey/person": {"epsilon": 0}}) == (len(paid), left(pure))


@pytest.mark.parametrize("place", ["take", "_follow", "_move"])
def test_a_change_that_fails_half_way_is_not_made(pure_file, monkeypatch, place):
    before = pure_file.head, left(pure_file)
    whole = getattr(the_store.Filling, place)

    def fails(*given, **named):
        whole(*given, **named)
        raise OSError("no space left on device")

    monkeypatch.setattr(the_store.Filling, place, fails)
    for change in (
        lambda: pure_file.spend(PureDP("1/2"), scope=WHERE),
        lambda: pure_file.open_budget("a/b", PureDP(1)) if place != "_move" else pure_file.spend(PureDP(0), scope=WHERE),
    ):
        with pytest.raises(OSError, match="no space"):
            change()
    monkeypatch.undo()
    assert before == (pure_file.head, left(pure_file))
    assert () == pure_file.verify().problems


def changed(ledger, place, *statements):
    """The ledger after statements of somebody who may do anything with its database, its triggers as they were."""
    if isinstance(place, str):
        with psycopg.connect(place, autocommit=True) as connection:
            for statement in ("SET search_path = dpaudit", "SET session_replication_role = replica", *statements):
                connection.execute(statement)
        return Ledger(place)
    connection = sqlite3.connect(place)
    triggers = connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for statement in ("DROP TRIGGER no_change", "DROP TRIGGER no_removal", *statements, *(text for (text,) in triggers)):
        connection.execute(statement)
    connection.commit()
    connection.close()
    return Ledger(place)


def test_entries_cannot_be_changed_or_removed_by_accident(pure_file):
    connection = sqlite3.connect(pure_file._store.path)
    for statement in ("UPDATE entry SET kind = 'spend'", "DELETE FROM entry WHERE number = 2"):
        with pytest.raises(sqlite3.IntegrityError, match="entries are never"):
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE entry SET body = replace(body, '1/4', '1/8') WHERE number = 3", "entry 3 does not continue the chain"),
        ("UPDATE entry SET time = '2020-01-01T00:00:00Z' WHERE number = 2", "entry 2 does not continue the chain"),
        ("DELETE FROM entry WHERE number = 3", "entry 4 does not continue the chain"),
        ('UPDATE budget SET spent = \'{"epsilon": "0"}\'', "the total of survey/person is not the sum of its entries"),
        ("INSERT INTO open_charge VALUES (3)", "the open charges of the file are not those of its entries"),
    ],
)
def test_what_was_changed_is_found(pure, place, statement, problem):
    pure.spend(PureDP("1/4"), scope=WHERE)
    pure.spend(PureDP("1/2"), scope=WHERE)
    assert problem in " ".join(changed(pure, place, statement).verify().problems)


def test_a_tail_that_was_cut_is_found_by_a_receipt(pure, place):
    receipt = pure.spend(PureDP("1/2"), scope=WHERE)
    assert () == pure.verify(head=receipt.head).problems
    cut = changed(pure, place, "DELETE FROM entry WHERE number = 3", 'UPDATE budget SET spent = \'{"epsilon": "0"}\'')
    assert () == cut.verify().problems
    assert ("entry 3 is not the one of the given head: the ledger was cut, changed or replaced",) == cut.verify(
        head=str(receipt.head)
    ).problems


def test_every_letter_of_an_export_counts(pure):
    pure.spend(PureDP("1/4"), scope=WHERE, note="weekly")
    with pure.charge(laplace_noise(scale=4), scope=WHERE):
        laplace_noise(scale=4).release(1)
    lines = [json.dumps(entry.to_dict()) for entry in pure.entries()]
    assert () == verify_ledger([LedgerEntry.from_dict(json.loads(line)) for line in lines], head=pure.head).problems
    for number, line in enumerate(lines):
        for place in range(len(line)):
            letter = "1" if line[place] != "1" else "2"
            try:
                entry = LedgerEntry.from_dict(json.loads(line[:place] + letter + line[place + 1 :]))
            except (KeyError, TypeError, ValueError):
                continue
            others = [LedgerEntry.from_dict(json.loads(other)) for other in lines]
            others[number] = entry
            assert verify_ledger(others, head=pure.head).problems, (number, place)


@pytest.mark.parametrize("content", [b"", b"not a ledger", b"SQLite format 3\x00" + bytes(4000)])
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises((InvalidArgument, LedgerFailure), match=r"DPA80[15]"):
        Ledger(path)
    with pytest.raises(LedgerFailure, match="DPA803"):
        Ledger.create(path)
    assert content == path.read_bytes()


def test_a_ledger_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(InvalidArgument, match="DPA801"):
        Ledger(tmp_path / "none.ledger")
    assert [] == list(tmp_path.iterdir())


def test_a_ledger_of_another_version_is_refused(pure_file):
    connection = sqlite3.connect(pure_file._store.path)
    connection.execute("PRAGMA user_version = 4")
    connection.close()
    with pytest.raises(InvalidArgument, match="version 4"):
        Ledger(pure_file._store.path)


def test_an_old_sqlite_is_refused(pure_file, monkeypatch):
    monkeypatch.setattr(the_store.sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(LedgerFailure, match=r"SQLite 3\.37"):
        Ledger(pure_file._store.path)


def test_a_file_that_others_hold_is_waited_for_and_then_refused(pure_file, monkeypatch):
    monkeypatch.setattr(the_store, "_PATIENCE", 0.05)
    other, holder = Ledger(pure_file._store.path), sqlite3.connect(pure_file._store.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerFailure, match="DPA804"):
        other.spend(PureDP("1/2"), scope=WHERE)
    holder.close()
    other.spend(PureDP("1/2"), scope=WHERE)
    assert {"survey/person": {"epsilon": Fraction(1, 2)}} == left(pure_file)


def test_only_its_owner_can_read_a_ledger_and_a_copy_is_the_same(pure_file, tmp_path):
    assert 0o600 == pure_file._store.path.stat().st_mode & 0o777
    pure_file.backup(tmp_path / "copy.ledger")
    assert pure_file.entries() == Ledger(tmp_path / "copy.ledger").entries()
    with pytest.raises(LedgerFailure, match="DPA803"):
        pure_file.backup(tmp_path / "copy.ledger")


def test_settings_are_those_that_survive_a_loss_of_power(pure_file):
    connection = pure_file._store._connected()
    found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert ["truncate", 3] == found


def test_a_scope_and_its_text_are_one():
    assert Scope("a", "b", "c") == Scope.of("a/b/c") == Scope.of(Scope.of("a/b/c"))
    assert not Scope.of("a/b/c").covers(Scope.of("a/b"))
