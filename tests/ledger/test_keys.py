"""Keys: what a scheduler runs again is charged once, and what came to its end is not released again."""

import os
import threading
from contextlib import suppress

import pytest

from dpaudit import PureDP
from dpaudit.errors import InvalidArgument, LedgerFailure, LedgerRefusal
from dpaudit.ledger import Ledger, LedgerEntry, verify_ledger
from mechanisms import LaplaceMechanism

WHERE = "survey/person/report"
NOISE = LaplaceMechanism(scale=4, sensitivity=1)


@pytest.fixture
def ledger(place):
    made = Ledger.create(place)
    made.open_budget("survey/person", PureDP(1))
    return made


def dies(ledger, key):
    """An attempt that charged, released and did not come to its end."""
    with suppress(ZeroDivisionError), ledger.charge(NOISE, scope=WHERE, key=key):
        _ = NOISE.release(3) / 0


def left(ledger):
    return ledger.remaining(WHERE)["survey/person"]["epsilon"]


def test_an_attempt_that_died_stays_charged_and_the_next_one_pays_nothing(ledger):
    dies(ledger, "task-1")
    assert ("3/4", [3]) == (left(ledger), ledger.open_charges)
    dies(ledger, "task-1")
    with ledger.charge(NOISE, scope=WHERE, key="task-1") as charge:
        NOISE.release(3)
    assert (3, True, {"survey/person": {"epsilon": "3/4"}}) == (
        charge.receipt.entry,
        charge.receipt.repeated,
        charge.receipt.remaining,
    )
    assert ("3/4", []) == (left(ledger), ledger.open_charges)
    found = ledger.verify(head=charge.receipt.head)
    assert ((), (3, 3)) == (found.problems, found.repeated)


def test_a_release_that_was_made_is_not_made_again_under_its_key(ledger):
    with ledger.charge(NOISE, scope=WHERE, key="task-1"):
        NOISE.release(3)
    ran = []
    with pytest.raises(LedgerFailure, match=r"DPA815 .* has ended"), ledger.charge(NOISE, scope=WHERE, key="task-1"):
        ran.append(True)
    assert ([], "3/4") == (ran, left(ledger))


@pytest.mark.parametrize(
    "other",
    [
        {"spending": PureDP("1/8")},
        {"scope": "survey/person/other"},
        {"times": 2},
    ],
)
def test_a_key_of_another_charge_is_refused(ledger, other):
    ledger.spend(PureDP("1/4"), scope=WHERE, key="task-1")
    with pytest.raises(LedgerFailure, match="DPA815"):
        ledger.spend(**({"spending": PureDP("1/4"), "scope": WHERE, "key": "task-1"} | other))
    with pytest.raises(LedgerFailure, match="DPA815"), ledger.charge(PureDP("1/4"), scope=WHERE, key="task-1"):
        pass
    assert "3/4" == left(ledger)


def test_a_spend_that_is_repeated_gives_its_receipt_even_where_nothing_is_left(ledger):
    first = ledger.spend(PureDP(1), scope=WHERE, key="task-1")
    again = ledger.spend(PureDP(1), scope=WHERE, key="task-1")
    assert (first.entry, first.amounts, first.remaining, True) == (again.entry, again.amounts, again.remaining, again.repeated)
    with pytest.raises(LedgerRefusal):
        ledger.spend(PureDP(1), scope=WHERE, key="task-2")


def test_what_has_a_key_is_not_given_back_since_another_attempt_may_have_released(ledger):
    with ledger.charge(NOISE, scope=WHERE, key="task-1") as charge, pytest.raises(LedgerFailure, match=r"DPA806 .* has a key"):
        charge.cancel()
    assert ("3/4", []) == (left(ledger), ledger.open_charges)


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", 3, b"x"])
def test_a_key_is_printable_text(ledger, key):
    with pytest.raises(InvalidArgument, match="DPA105 key"):
        ledger.spend(PureDP("1/4"), scope=WHERE, key=key)
    assert "1" == left(ledger)


def test_attempts_at_the_same_time_are_charged_once_and_one_of_them_ends(ledger, place):
    ended, refused, barrier = [], [], threading.Barrier(6)

    def attempt():
        mine = Ledger(place)
        barrier.wait()
        try:
            with mine.charge(NOISE, scope=WHERE, key="task-1"):
                NOISE.release(3)
            ended.append(True)
        except LedgerFailure as error:
            refused.append(error.code)

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ([True], {"DPA806", "DPA815"} | set(refused)) == (ended, {"DPA806", "DPA815"})
    assert ("3/4", ()) == (left(ledger), ledger.verify().problems)


def test_a_forged_repetition_or_refund_is_found(ledger):
    ledger.spend(PureDP("1/4"), scope=WHERE)
    dies(ledger, "task-1")
    entries = ledger.entries()
    last = entries[-1]
    for kind, body in (
        ("repeat", {"charge": 3}),
        ("repeat", {"charge": 99}),
        ("cancel", {"charge": 4}),
        ("reserve", last.body),
        ("spend", {**entries[2].body, "key": "task-1"}),
        ("arrived", {"closed": True}),
        ("arrived", {"closed": "no"}),
    ):
        assert verify_ledger([*entries, LedgerEntry.after(last, kind, last.time, body)]).problems, kind
    moved = LedgerEntry.after(last, "moved", last.time, {})
    assert () == verify_ledger([*entries, moved]).problems
    assert verify_ledger([*entries, moved, LedgerEntry.after(moved, "spend", last.time, entries[2].body)]).problems


def on_a_cluster(place, folder, number):
    """A task that charges under the key of its work, and whose worker dies in the first attempt of some; a result is made once."""
    result, mark = folder / f"{number}.result", folder / f"{number}.mark"
    if result.exists():  # the cluster lost what this task had returned
        return number
    with Ledger(place).charge(PureDP("1/64"), scope=WHERE, key=f"part-{number}"):
        if number % 3 == 0 and not mark.exists():
            mark.touch()
            os._exit(1)
        result.touch()
    return number


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tasks_of_a_cluster_whose_workers_die_are_charged_once(ledger, place, tmp_path):
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = [client.submit(on_a_cluster, place, tmp_path, number, pure=False, retries=20) for number in range(6)]
        assert list(range(6)) == sorted(client.gather(futures))
    found = ledger.verify()
    reserved = {entry.body["key"]: entry.number for entry in ledger.entries() if entry.kind == "reserve"}
    assert (6, "29/32", ()) == (len(reserved), left(ledger), found.problems)
    assert {reserved["part-0"], reserved["part-3"]} <= set(found.repeated)
