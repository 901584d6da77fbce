"""Interrupts at every step of a change: nothing released is unpaid, no budget is passed, and nobody is locked out."""

import os
import shutil
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import dpaudit.releases
from dpaudit import PureDP
from dpaudit.errors import DpauditError, LedgerFailure
from dpaudit.ledger import Ledger, book, verify_file
from dpaudit.ledger import store as the_store
from mechanisms import GaussianMechanism, LaplaceMechanism

WHERE = "survey/person/report"
NOISE = LaplaceMechanism(scale=16, sensitivity=1)
COST = Fraction(1, 16)
TRACED = (str(Path(book.__file__).parent), dpaudit.releases.__file__)
ERRORS = (KeyboardInterrupt, SystemExit, MemoryError)


STRIDE = int(os.environ.get("LEDGER_STRIDE", "0"))


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "budget.ledger"
    Ledger.create(path).open_budget("survey/person", PureDP(1))
    return path


class Interrupter:
    """Raises an error at one line of the ledger's code, the n-th that is about to run."""

    def __init__(self, step, error):
        self.left, self.error = step, error

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise self.error("injected")
        return self


def interrupted(work, step):
    """The error that a piece of work ended with when it was interrupted at a step, and whether there was such a step."""
    tracer, before = Interrupter(step, ERRORS[step % 3]), sys.gettrace()
    sys.settrace(tracer)
    try:
        work()
    except (*ERRORS, DpauditError) as error:
        return error, tracer.left <= 0
    finally:
        sys.settrace(before)
    return None, tracer.left <= 0


def spends(ledger, made):
    ledger.spend(NOISE.loss, scope=WHERE)


def charges(ledger, made):
    with ledger.charge(NOISE, scope=WHERE):
        made.append(NOISE.release(3))


def releases_more(ledger, made):
    with ledger.charge(NOISE, scope=WHERE):
        for _ in range(3):
            made.append(NOISE.release(3))


def fails_after_more(ledger, made):
    with ledger.charge(NOISE, scope=WHERE):
        for _ in range(3):
            made.append(NOISE.release(3))
        raise LedgerFailure("DPA806", "a block may fail")


def cancels(ledger, made):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        charge.cancel()


def is_refused(ledger, made):
    ledger.spend(PureDP(2), scope=WHERE)


def charges_twice(ledger, made):
    with ledger.charge(NOISE, scope=WHERE):
        made.append(NOISE.release(3))
        with ledger.charge(NOISE, scope=WHERE):
            made.append(NOISE.release(3))


@pytest.mark.parametrize(
    ("work", "stride"),
    [(spends, 1), (charges, 5), (releases_more, 11), (fails_after_more, 11), (cancels, 5), (is_refused, 1), (charges_twice, 23)],
)
def test_an_interrupt_at_any_step_loses_no_release_and_locks_nobody_out(template, tmp_path, monkeypatch, work, stride):
    """Every `stride`-th step; a stride of 1 throughout takes minutes."""
    monkeypatch.setattr(the_store, "_PATIENCE", 0.1)
    stride = STRIDE or stride
    step, reached = 0, True
    while reached:
        step += stride
        path = tmp_path / f"{step}.ledger"
        shutil.copy(template, path)
        ledger, made = Ledger(path), []
        error, reached = interrupted(lambda ledger=ledger, made=made: work(ledger, made), step)
        # The error is kept here, and so are the frames that it went through.
        Ledger(path).spend(PureDP("1/1000"), scope=WHERE)
        spent = 1 - Fraction(ledger.remaining(WHERE)["survey/person"]["epsilon"]) - Fraction(1, 1000)
        assert spent >= len(made) * COST, (step, error)
        assert spent <= 3 * COST, (step, error)
        assert () == verify_file(path).problems, (step, error)
        del error
        found = []
        thread = threading.Thread(target=lambda found=found: found.append(NOISE.release(3)))
        thread.start()
        thread.join()
        assert 1 == len(found), step
        path.unlink()
    assert step > 20


def test_an_interrupt_of_a_writer_that_waits_changes_nothing_and_locks_nobody_out(template, tmp_path, monkeypatch):
    monkeypatch.setattr(the_store, "_PATIENCE", 0.02)
    for step in range(1, 60):
        path = tmp_path / f"{step}.ledger"
        shutil.copy(template, path)
        ledger = Ledger(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            error, _ = interrupted(lambda ledger=ledger: ledger.spend(NOISE.loss, scope=WHERE), step)
            assert error is not None
        Ledger(path).spend(PureDP("1/1000"), scope=WHERE)
        assert (3, ()) == ((found := verify_file(path)).entries, found.problems)


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_signal_reaches_a_writer_that_waits_soon_and_locks_nobody_out(template, tmp_path, begin):
    path = tmp_path / "budget.ledger"
    shutil.copy(template, path)
    ledger = Ledger(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute(begin)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ledger.spend(NOISE.loss, scope=WHERE)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 30
    holder.close()
    Ledger(path).spend(PureDP(1), scope=WHERE)
    assert () == verify_file(path).problems


def test_a_signal_handler_that_uses_the_ledger_in_the_middle_of_a_change_is_refused_and_breaks_nothing(
    template, tmp_path, monkeypatch
):
    monkeypatch.setattr(the_store, "_PATIENCE", 0.05)
    path = tmp_path / "budget.ledger"
    shutil.copy(template, path)
    ledger, refused = Ledger(path), []

    def plan(_state):
        with pytest.raises(LedgerFailure, match="DPA804") as found:
            ledger.spend(NOISE.loss, scope=WHERE)
        refused.append(found.value)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger._store.write(plan)
    assert 1 == len(refused)
    ledger.spend(PureDP(1), scope=WHERE)
    assert (3, ()) == ((found := verify_file(path)).entries, found.problems)


def test_what_an_interrupted_block_released_beyond_its_charge_is_charged(template, tmp_path):
    path = tmp_path / "budget.ledger"
    shutil.copy(template, path)
    ledger = Ledger(path)

    def interrupted_block():
        with ledger.charge(NOISE, scope=WHERE):
            NOISE.releases(3, 5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as found:
        interrupted_block()
    assert {"survey/person": {"epsilon": "11/16"}} == ledger.remaining(WHERE)
    assert "DPA807" in found.value.__notes__[0]
    assert ((), (3,)) == ((said := ledger.verify()).problems, said.overruns)


def test_a_release_without_a_price_under_a_full_reservation_is_told_and_leaves_an_intact_ledger(template, tmp_path):
    path = tmp_path / "budget.ledger"
    shutil.copy(template, path)
    ledger = Ledger(path)
    with pytest.raises(LedgerFailure, match="DPA807"), ledger.charge(PureDP(1), scope=WHERE) as charge:
        GaussianMechanism(sigma=1, sensitivity=1).release(3)
    assert ((), (charge.receipt.entry,)) == ((said := ledger.verify()).problems, said.overruns)


def test_a_release_without_a_price_also_takes_what_open_charges_would_give_back(template, tmp_path):
    path = tmp_path / "budget.ledger"
    shutil.copy(template, path)
    ledger = Ledger(path)
    with (
        pytest.raises(LedgerFailure, match="DPA807"),
        ledger.charge(PureDP("1/2"), scope=WHERE) as other,
        pytest.raises(LedgerFailure, match="DPA807"),
        ledger.charge(PureDP("1/4"), scope=WHERE),
    ):
        GaussianMechanism(sigma=1, sensitivity=1).release(3)
    assert {"survey/person": {"epsilon": "-1/2"}} == ledger.remaining(WHERE)
    assert () == ledger.verify().problems
    assert other.receipt.entry in ledger.verify().overruns
