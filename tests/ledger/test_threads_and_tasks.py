"""Charges and what runs beside them: each release is paid for by the charge that it is made in, or refused before its noise."""

import asyncio
import contextvars
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction

import pytest

from dpaudit import PureDP
from dpaudit.errors import LedgerFailure
from dpaudit.ledger import Ledger
from dpaudit.releases import as_one, outside_charges, recording
from mechanisms import LaplaceMechanism

WHERE = "survey/person/report"
NOISE = LaplaceMechanism(scale=16, sensitivity=1)
COST = Fraction(1, 16)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "budget.ledger")
    made.open_budget("survey/person", PureDP(1))
    return made


def spent(ledger):
    return 1 - Fraction(ledger.remaining(WHERE)["survey/person"]["epsilon"])


def ran(ledger):
    """How many releases each commit holds, by the entry of its charge."""
    return {entry.body["charge"]: len(entry.body["ran"]) for entry in ledger.entries() if entry.kind == "commit"}


def in_thread(function):
    """What a function gave or raised in a thread of its own."""
    found = []

    def run():
        try:
            found.append(function())
        except BaseException as error:  # noqa: BLE001 - given back
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def release():
    return NOISE.release(3)


def is_refused(found):
    return isinstance(found, LedgerFailure) and found.code == "DPA808"


# --- seen by the charge ---


def test_a_thread_with_a_copied_context_belongs_to_the_charge(ledger):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        context = contextvars.copy_context()
        assert isinstance(in_thread(lambda: context.run(release)), int)
    assert {charge.receipt.entry: 1} == ran(ledger)


def test_a_pool_that_is_given_copied_contexts_belongs_to_the_charge(ledger):
    with ThreadPoolExecutor(2) as pool, ledger.charge(NOISE.loss, scope=WHERE, times=3):
        futures = [pool.submit(contextvars.copy_context().run, release) for _ in range(3)]
        assert 3 == len([future.result() for future in futures])
    assert [3] == list(ran(ledger).values())


def test_what_a_pool_releases_beyond_the_charge_is_charged(ledger):
    with (
        ThreadPoolExecutor(2) as pool,
        pytest.raises(LedgerFailure, match="DPA807"),
        ledger.charge(NOISE, scope=WHERE),
    ):
        assert 4 == len([future.result() for future in [pool.submit(contextvars.copy_context().run, release) for _ in range(4)]])
    assert 4 * COST == spent(ledger)
    assert () == ledger.verify().problems


def test_asyncio_tasks_and_to_thread_belong_to_the_charge(ledger):
    async def work():
        with ledger.charge(NOISE.loss, scope=WHERE, times=3):
            await asyncio.gather(asyncio.to_thread(release), asyncio.create_task(later()), later())

    async def later():
        await asyncio.sleep(0)
        return release()

    asyncio.run(work())
    assert [3] == list(ran(ledger).values())


def test_two_charges_in_two_threads_each_see_their_own_releases(ledger):
    ready = threading.Barrier(2)

    def charged(count):
        with ledger.charge(NOISE.loss, scope=WHERE, times=count) as charge:
            ready.wait(30)
            for _ in range(count):
                release()
            ready.wait(30)
        return charge.receipt.entry

    with ThreadPoolExecutor(2) as pool:
        entries = [future.result() for future in [pool.submit(charged, count) for count in (2, 3)]]
    assert dict(zip(entries, (2, 3), strict=True)) == ran(ledger)
    assert 5 * COST == spent(ledger)


def test_two_charges_in_two_tasks_each_see_their_own_releases(ledger):
    async def charged(count):
        with ledger.charge(NOISE.loss, scope=WHERE, times=count) as charge:
            for _ in range(count):
                await asyncio.sleep(0)
                release()
        return charge.receipt.entry

    async def work():
        return await asyncio.gather(charged(2), charged(4))

    assert dict(zip(asyncio.run(work()), (2, 4), strict=True)) == ran(ledger)


def test_nested_charges_both_see_a_release(ledger):
    with ledger.charge(NOISE.loss, scope=WHERE, times=2) as outer:
        release()
        with ledger.charge(NOISE, scope=WHERE) as inner:
            release()
    assert {outer.receipt.entry: 2, inner.receipt.entry: 1} == ran(ledger)


def generated(ledger, count):
    with ledger.charge(NOISE.loss, scope=WHERE, times=4) as charge:
        for _ in range(count):
            release()
            yield charge.receipt.entry


def test_generators_that_end_in_the_order_in_which_they_began_lose_no_release(ledger):
    one, two = generated(ledger, 1), generated(ledger, 3)
    first, second = next(one), next(two)
    assert [] == list(one)
    assert [second, second] == list(two)
    assert 1 <= ran(ledger)[first]
    assert 3 == ran(ledger)[second]
    assert isinstance(release(), int), "no charge is left behind"


def test_a_generator_that_is_dropped_ends_its_charge(ledger):
    one = generated(ledger, 3)
    entry = next(one)
    del one
    gc.collect()
    assert [entry] == ledger.open_charges
    assert isinstance(release(), int)
    assert isinstance(in_thread(release), int)


# --- refused, before noise is drawn ---


def test_a_plain_thread_inside_a_charge_is_refused(ledger):
    with ledger.charge(NOISE, scope=WHERE):
        found = in_thread(release)
        assert is_refused(found)
        assert "copy_context" in str(found)
        release()
    assert [1] == list(ran(ledger).values())
    assert isinstance(in_thread(release), int)


@pytest.mark.parametrize("before", [True, False])
def test_pool_workers_inside_a_charge_are_refused_whenever_they_began(ledger, before):
    with ThreadPoolExecutor(1) as pool:
        if before:
            pool.submit(int).result()
        with ledger.charge(NOISE, scope=WHERE):
            assert is_refused(pool.submit(release).exception())
        assert isinstance(pool.submit(release).result(), int)


def test_an_executor_of_an_event_loop_is_refused(ledger):
    async def work():
        with ledger.charge(NOISE, scope=WHERE):
            await asyncio.get_running_loop().run_in_executor(None, release)

    with pytest.raises(LedgerFailure, match="DPA808"):
        asyncio.run(work())


def test_a_task_from_before_the_charge_is_refused_while_it_is_open(ledger):
    async def work():
        go, found = asyncio.Event(), []

        async def waits():
            await go.wait()
            try:
                release()
            except LedgerFailure as error:
                found.append(error)

        task = asyncio.create_task(waits())
        with ledger.charge(NOISE, scope=WHERE):
            go.set()
            await task
        return found[0]

    assert is_refused(asyncio.run(work()))


def test_a_task_that_outlives_its_charge_is_refused_and_may_charge_itself(ledger):
    async def work():
        go = asyncio.Event()

        async def outlives():
            await go.wait()
            with pytest.raises(LedgerFailure, match=r"DPA808.*has ended"):
                release()
            with outside_charges():
                release()
            with ledger.charge(NOISE, scope=WHERE) as own:
                release()
            return own.receipt.entry

        with ledger.charge(NOISE, scope=WHERE):
            task = asyncio.create_task(outlives())
        go.set()
        return await task

    own = asyncio.run(work())
    assert 1 == ran(ledger)[own]


def test_a_thread_with_a_copied_context_that_outlives_its_charge_is_refused(ledger):
    with ledger.charge(NOISE, scope=WHERE):
        context = contextvars.copy_context()
    assert is_refused(in_thread(lambda: context.run(release)))


def test_an_outer_charge_does_not_pay_for_a_context_of_an_inner_one_that_ended(ledger):
    with ledger.charge(NOISE, scope=WHERE):
        with ledger.charge(NOISE, scope=WHERE):
            context = contextvars.copy_context()
        assert is_refused(in_thread(lambda: context.run(release)))
    assert [0, 0] == list(ran(ledger).values())


def test_nothing_is_released_under_a_charge_that_was_given_back(ledger):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        charge.cancel()
        with pytest.raises(LedgerFailure, match="DPA808"):
            release()
    assert 0 == spent(ledger)


def test_a_context_of_releases_that_are_priced_as_one_ends_with_them(ledger):
    with recording() as log, outside_charges():
        release()
    (whole,) = log
    with ledger.charge(NOISE.loss, scope=WHERE, times=1):
        with as_one(whole):
            context = contextvars.copy_context()
            release()
        assert is_refused(in_thread(lambda: context.run(release)))
    assert [1] == list(ran(ledger).values())


def test_what_belongs_to_no_charge_says_so(ledger):
    def outside():
        with outside_charges(), recording() as log:
            release()
        return len(log)

    with ledger.charge(NOISE, scope=WHERE):
        assert 1 == in_thread(outside)
        with pytest.raises(LedgerFailure, match="DPA808"), outside_charges():
            release()
    assert [0] == list(ran(ledger).values())


def test_a_charge_of_a_thread_that_failed_leaves_nobody_locked_out(ledger):
    def fails():
        with ledger.charge(NOISE, scope=WHERE):
            raise ZeroDivisionError

    assert isinstance(in_thread(fails), ZeroDivisionError)
    assert isinstance(release(), int)
    assert isinstance(in_thread(release), int)


# --- processes ---


def code_of_release(ledger, how):
    try:
        if how == "own charge":
            with Ledger(ledger._store.path).charge(NOISE, scope=WHERE):
                return release()
        return release()
    except LedgerFailure as error:
        return error.code


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_inside_a_charge_releases_only_under_a_charge_of_its_own(ledger):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            assert "DPA808" == pool.submit(code_of_release, ledger, "no charge").result()
            assert isinstance(pool.submit(code_of_release, ledger, "own charge").result(), int)
        release()
    assert 1 == ran(ledger)[charge.receipt.entry]
    assert [1, 1] == list(ran(ledger).values())
    assert () == ledger.verify().problems


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_does_not_end_the_charge_of_its_parent(ledger):
    reading, writing = os.pipe()
    with ledger.charge(NOISE, scope=WHERE) as charge:
        release()
        child = os.fork()
        if child == 0:
            code = b"none"
            try:
                charge_ends(ledger, charge)
            except LedgerFailure as error:
                code = error.code.encode()
            finally:
                os.write(writing, code)
                os._exit(0)
        os.waitpid(child, 0)
        assert b"DPA808" == os.read(reading, 100)
        assert [charge.receipt.entry] == Ledger(ledger._store.path).open_charges
    assert [1] == list(ran(ledger).values())


def charge_ends(ledger, charge):
    """What the end of a block does, in a process that forked inside it."""
    charge._tally.require_process()
    ledger.entries()


def test_what_the_log_did_not_see_is_said_in_the_verdict(ledger):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        program = "from mechanisms import LaplaceMechanism; LaplaceMechanism(scale=16, sensitivity=1).release(3)"
        subprocess.run([sys.executable, "-c", program], check=True)
    assert (charge.receipt.entry,) == ledger.verify().unseen
