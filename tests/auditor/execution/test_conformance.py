"""The check of an executor: it passes those that serve an audit and names what is wrong with every other."""

import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.execution import RenewableExecutor, check_executor, conformance, probes
from dpaudit.auditor.runs.chunks import ChunkRuns
from dpaudit.auditor.runs.dispatch import perform_all
from dpaudit.errors import DpauditError

NAMES = ["calls", "repetition", "errors", "cancellation", "surroundings", "evidence", "death of a worker"]
INLINE = []


class Direct:
    """An executor that makes a call when it is submitted; the faulty ones differ from it in one method."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(self.answer(function, *arguments))
        except Exception as error:  # noqa: BLE001 - a future holds whatever was raised
            future.set_exception(self.error(error))
        return future

    def answer(self, function, *arguments):
        return function(*arguments)

    def error(self, error):
        return error


class Remembering(Direct):
    def __init__(self):
        self.known = {}

    def answer(self, function, *arguments):
        key = function, repr(arguments)
        if key not in self.known:
            self.known[key] = function(*arguments)
        return self.known[key]


class Wrapping(Direct):
    def error(self, error):
        return RuntimeError(str(error))


class OtherNumpy(Direct):
    def answer(self, function, *arguments):
        found = function(*arguments)
        return (*found[:2], ("numpy", "1.0"), *found[3:]) if function is probes.surroundings else found


class Drifting(Direct):
    """One of the features of every chunk is off by one unit in the last place."""

    def answer(self, function, *arguments):
        found = function(*arguments)
        if function is perform_all:
            for chunk in found[0]:
                if isinstance(chunk, ChunkRuns):
                    chunk.features[-1] *= 1 + 2**-40
        return found


class OtherFutures(Direct):
    def submit(self, function, *arguments):
        return {"result": function(*arguments)}


class Refusing(Direct):
    def submit(self, function, *arguments):
        raise OSError("no machine")


class Uncancelling(Direct):
    """An executor that breaks when a call is cancelled."""

    def answer(self, function, *arguments):
        if function is probes.pause:
            self.submit = Refusing().submit
        return function(*arguments)


@pytest.fixture(autouse=True)
def short_audits(monkeypatch):
    """Audits of few runs, the one inline made once."""
    evidence = conformance._evidence_on

    def kept(executor, *rest):
        if executor is not None:
            return evidence(executor, *rest)
        if not INLINE:
            INLINE.append(evidence(None))
        return INLINE[0]

    monkeypatch.setattr(conformance, "_RUNS", 2000)
    monkeypatch.setattr(conformance, "_evidence_on", kept)


def states(findings):
    return {finding.name: finding.state for finding in findings}


def test_threads_pass_and_are_not_ended():
    with ThreadPoolExecutor(3) as threads:
        findings = check_executor(threads, end_a_worker=True)

    assert dict.fromkeys(NAMES, "passed") | {"death of a worker": "skipped"} == states(findings)
    assert NAMES == [finding.name for finding in findings]


class Breaking(Direct):
    """A pool of processes in pretence, broken for good once a worker has ended."""

    def __init__(self):
        self.broken = False

    def answer(self, function, *arguments):
        self.broken = self.broken or function is probes.end_worker
        if self.broken:
            raise BrokenExecutor
        return probes.Worker("there", 1, "SpawnProcess", 1, mpi=False) if function is probes.worker else function(*arguments)


def test_a_worker_is_ended_where_that_is_asked_for():
    renewable = RenewableExecutor(Breaking)

    assert dict.fromkeys(NAMES, "passed") == states(check_executor(renewable, end_a_worker=True))
    assert 1 == renewable.renewals
    assert dict.fromkeys(NAMES, "passed") | {"death of a worker": "FAILED"} == states(check_executor(Breaking(), end_a_worker=True))
    assert dict.fromkeys(NAMES, "passed") | {"death of a worker": "skipped"} == states(check_executor(Breaking()))


@pytest.mark.parametrize(
    ("executor", "faults"),
    [
        (Remembering(), {"repetition"}),
        (Wrapping(), {"errors"}),
        (OtherNumpy(), {"surroundings"}),
        (Drifting(), {"evidence"}),
        (Uncancelling(), {"cancellation", "surroundings", "evidence"}),
    ],
)
def test_each_fault_is_found_where_it_is(executor, faults):
    findings = check_executor(executor)

    assert faults == {finding.name for finding in findings if finding.state == "FAILED"}
    assert "skipped" == findings[-1].state


@pytest.mark.parametrize("executor", [OtherFutures(), Refusing()])
def test_what_is_no_executor_fails_from_the_start(executor):
    assert "FAILED" == check_executor(executor)[0].state


class Silent:
    """An executor that takes calls and never answers, or does not even take them."""

    def __init__(self, seconds):
        self.seconds = seconds

    def submit(self, function, *arguments):
        time.sleep(self.seconds)
        return Future()


@pytest.mark.parametrize("seconds", [0, 3])
def test_an_executor_that_never_answers_is_stuck_and_the_rest_is_skipped(seconds):
    began = time.monotonic()
    findings = check_executor(Silent(seconds), timeout="1/10")

    assert ["STUCK", *["skipped"] * 6] == [finding.state for finding in findings]
    assert time.monotonic() - began < 3


@given(timeout=st.integers(max_value=0) | st.sampled_from([float("nan"), float("inf"), "soon", None, True]))
def test_a_time_limit_that_is_no_positive_number_is_refused_before_any_call(timeout):
    with pytest.raises(DpauditError, match=r"DPA10[1-4]"):
        check_executor(Refusing(), timeout=timeout)


def test_workers_of_an_mpi_job_are_not_ended(monkeypatch):
    monkeypatch.setattr(probes, "worker", lambda: probes.Worker("there", 1, "MainProcess", 1, mpi=True))

    assert "MPI" in check_executor(Direct(), end_a_worker=True)[-1].detail


def test_the_mark_of_a_worker_that_was_ended_keeps_a_repeated_call_from_ending_another(tmp_path, monkeypatch):
    monkeypatch.setattr(probes.tempfile, "gettempdir", lambda: str(tmp_path))
    exits = []
    monkeypatch.setattr(probes.os, "_exit", exits.append)
    probes.end_worker("name")
    probes.end_worker("name")

    assert [1] == exits
