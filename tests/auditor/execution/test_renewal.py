"""When workers die: lost chunks are made again, a chunk that ends its workers fails its target alone, nothing else changes."""

import math
import os
import signal
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context

import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor import replay
from dpaudit.auditor.execution import RenewableExecutor, executor_factory, probes
from dpaudit.auditor.runs import dispatch
from dpaudit.errors import DpauditError
from dpaudit.results import Verdict

TARGETS = f"{probes.__name__}:TARGETS"
RUNS = 3000


class Mortal:
    """An executor that works in this thread and dies like a pool that lost a process: what is under way is lost, for good.

    It dies at every call that `fatal` picks out of the calls of all of its kind, and answers only the later half of its calls
    before it does.
    """

    def __init__(self, fatal, calls):
        self._fatal, self._calls = fatal, calls
        self._waiting, self._dead = [], False
        self.ended = False

    def submit(self, function, *arguments):
        if self._dead:
            raise BrokenExecutor
        self._calls.append(arguments)
        future = Future()
        self._waiting.append((future, function, arguments))
        if self._fatal(len(self._calls), *arguments):
            self._dead = True
            for lost, *_ in self._waiting:
                lost.set_exception(BrokenExecutor())
        elif len(self._waiting) == 6:
            self._work(self._waiting[3:])
            del self._waiting[3:]
        future.result = partial(self._result, future)
        return future

    def shutdown(self, *, wait):
        self.ended = True

    def _work(self, calls):
        for future, function, arguments in calls:
            future.set_result(function(*arguments))

    def _result(self, future, timeout=None):
        if not future.done():
            self._work(self._waiting)
            self._waiting = []
        return Future.result(future, timeout)


def mortals(fatal):
    """A renewable executor of mortal ones, and the list of those that were made."""
    made, calls = [], []

    def factory():
        made.append(Mortal(fatal, calls))
        return made[-1]

    return RenewableExecutor(factory), made


def evidence(executor, **options):
    report = audit(TARGETS, runs=RUNS, seed=11, executor=executor, **options)
    return repr((report.settings, [asdict(result) for result in report.results]))


@pytest.fixture(scope="module")
def in_peace():
    return evidence(None)


@pytest.fixture
def one_by_one(monkeypatch):
    """Calls of one chunk each, so that their number does not depend on the machine."""
    monkeypatch.setattr(dispatch, "_SECONDS_A_CALL", 0.0)


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("call", [1, 2, 6, 9, 40])
def test_a_death_at_any_call_changes_nothing_in_the_evidence(call, in_peace):
    executor, made = mortals(lambda count, batch: count == call)

    assert in_peace == evidence(executor)
    assert (1, [True, False]) == (executor.renewals, [one.ended for one in made])


@pytest.mark.usefixtures("one_by_one")
def test_many_deaths_change_nothing_in_the_evidence(in_peace):
    executor, made = mortals(lambda count, batch: count % 11 == 0)

    assert in_peace == evidence(executor)
    assert executor.renewals == len(made) - 1 > 4


def test_the_death_of_a_worker_that_had_many_chunks_changes_nothing_in_the_evidence(in_peace, monkeypatch):
    monkeypatch.setattr(dispatch, "_SECONDS_A_CALL", math.inf)
    sizes = []

    def fatal(count, batch):
        sizes.append(len(batch))
        return len(batch) > 1 and max([1, *sizes[:-1]]) == 1

    executor, _ = mortals(fatal)

    assert in_peace == evidence(executor)
    call = next(place for place, size in enumerate(sizes) if size > 1)
    assert [1] * sizes[call] == sizes[call + 1 :][: sizes[call]], "its chunks are made again one by one"
    assert 1 == executor.renewals


@pytest.mark.usefixtures("one_by_one")
def test_a_chunk_that_ends_its_workers_fails_its_target_and_no_other():
    executor, _ = mortals(lambda count, batch: (batch[0].chunk.target, batch[0].chunk.index) == (1, 2))
    first, second, third = audit(TARGETS, runs=RUNS, seed=11).results
    results = audit(TARGETS, runs=RUNS, seed=11, executor=executor).results

    assert (first, third) == (results[0], results[2])
    assert Verdict.FAILED == results[1].verdict
    assert results[1].failure.startswith("DPA408 the executor could not run a chunk: a chunk of 64 runs ended its worker process 3")
    assert second != results[1]
    assert 4 == executor.renewals, "once in company, then three times alone"


def test_without_renewal_what_was_finished_is_kept_and_the_rest_has_failed():
    executor = Mortal(lambda count, batch: batch[0].chunk.target == 1, [])
    whole = audit(TARGETS, runs=RUNS, seed=11)
    report = audit(TARGETS, runs=RUNS, seed=11, executor=executor)

    assert whole.results[0] == report.results[0]
    assert [Verdict.FAILED] * 2 == [result.verdict for result in report.results[1:]]
    assert all("RenewableExecutor" in result.failure for result in report.results[1:])
    assert 4 == report.exit_code


def test_a_replay_survives_too():
    executor, _ = mortals(lambda count, batch: count == 7)
    report = audit(TARGETS, runs=2000, seed=2)

    assert all(target.same for target in replay(report, executor=executor))
    assert 1 == executor.renewals


def test_a_killed_process_changes_nothing_in_the_evidence(in_peace):
    killed = []

    def kill(progress):
        if progress.done > 1000 and not killed:
            killed.append(next(iter(executor.current._processes)))
            os.kill(killed[0], signal.SIGKILL)

    executor = RenewableExecutor(partial(ProcessPoolExecutor, 2, mp_context=get_context("spawn")))
    with executor:
        assert in_peace == evidence(executor, progress=kill)
    assert 1 == len(killed) == executor.renewals


def test_an_executor_has_the_name_of_its_factory(tmp_path, monkeypatch):
    (tmp_path / "my_cluster.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\ndef make():\n    return ThreadPoolExecutor(1)\nsize = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(os.sys.path))

    with RenewableExecutor(executor_factory("my_cluster:make")) as executor:
        assert [1, 2] == list(executor.map(abs, [-1, -2]))
    assert isinstance(executor.current, ThreadPoolExecutor)
    with pytest.raises(DpauditError, match=r"DPA105 my_cluster:size must be a function"):
        executor_factory("my_cluster:size")


@pytest.mark.parametrize("text", ["", "json", ":loads", "json:", "json:nothing", "no_such_module:make", "json.:loads"])
def test_a_factory_that_cannot_be_found_is_refused(text):
    with pytest.raises(DpauditError, match="DPA105"):
        executor_factory(text)


@pytest.mark.parametrize(("factory", "code"), [(dict, "DPA105"), (lambda: 1 / 0, "DPA408")])
def test_what_gives_no_executor_is_refused(factory, code):
    with pytest.raises(DpauditError, match=code):
        RenewableExecutor(factory)


def test_an_executor_without_shutdown_can_be_renewed_and_left():
    class Plain:
        def submit(self, function, *arguments):
            future = Future()
            future.set_result(function(*arguments))
            return future

    with RenewableExecutor(Plain) as executor:
        executor.renew()
        assert 3 == executor.submit(abs, -3).result()


def test_what_cannot_be_pickled_is_refused_for_renewable_processes_as_for_plain_ones():
    target = Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])

    with RenewableExecutor(partial(ProcessPoolExecutor, 1)) as executor, pytest.raises(DpauditError, match="DPA408"):
        audit(target, runs=1000, executor=executor)
    with RenewableExecutor(ThreadPoolExecutor) as executor:
        assert audit(target, runs=1000).results == audit(target, runs=1000, executor=executor).results
