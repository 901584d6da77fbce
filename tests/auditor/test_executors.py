"""One evidence, whoever runs the chunks and in whatever order they finish."""

import os
import random
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import distributed
import pytest
from loky import get_reusable_executor

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor import AuditInterrupted
from dpaudit.errors import TargetFailure
from dpaudit.report import evidence_bytes, from_json
from dpaudit.results import Verdict

CODE = textwrap.dedent(
    """
    from dpaudit import Claim, PureDP, Target

    RECORDS = [{"age": age, "smoker": age % 3 == 0} for age in (31, 17, 64, 45, 28, 90)]

    def count(data, rng):
        return sum(record["smoker"] for record in data) + rng.laplace(scale=1.1)

    def ages(data, n, rng):
        return sum(record["age"] for record in data) + rng.laplace(scale=45, size=n)

    TARGETS = [
        Target(run=count, claim=Claim(PureDP(epsilon=1)), data=RECORDS),
        Target(sample=ages, claim=Claim(PureDP(epsilon=1)), data=RECORDS),
    ]
    """
)


class Shuffled:
    """An executor whose tasks finish in an order of their own: one worker takes the waiting task that chance picks."""

    def __init__(self):
        self._random = random.Random(5)  # noqa: S311 - the order of completion is no secret
        self._waiting = []
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, function, *args):
        future = Future()
        with self._changed:
            self._waiting.append((future, function, args))
            self._changed.notify()
        return future

    def _work(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                future, function, args = self._waiting.pop(self._random.randrange(len(self._waiting)))
            if future.set_running_or_notify_cancel():
                future.set_result(function(*args))


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "releases.py"
    path.write_text(CODE)
    return f"{path}:TARGETS"


def evidence(reference, executor):
    """The bytes of everything in the report but the environment and the times."""
    return evidence_bytes(audit(reference, runs=20_000, seed=11, executor=executor))


def test_inline_processes_threads_and_shuffled_completion_give_one_evidence(reference):
    report = audit(reference, runs=20_000, seed=11)
    inline = evidence_bytes(report)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes, ThreadPoolExecutor(3) as threads:
        assert inline == evidence(reference, processes)
        assert inline == evidence(reference, threads)
    assert inline == evidence(reference, Shuffled())
    assert [Verdict.CONSISTENT, Verdict.REFUTED] == [result.verdict for result in report.results]


def dask():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    return distributed.Client(cluster, set_as_default=False).get_executor(pure=False)


def loky():
    return get_reusable_executor(2)


@pytest.mark.filterwarnings("default")  # other projects' own
@pytest.mark.parametrize("factory", [dask, loky])
def test_executors_of_other_projects_give_the_same_evidence(reference, factory):
    with factory() as executor:
        assert evidence(reference, None) == evidence(reference, executor)


def test_an_mpi_job_gives_the_same_evidence(reference):
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("the packages of MPI are for Linux and macOS")
    audited = ["-m", "dpaudit", "audit", reference, "--runs", "20000", "--json"]
    job = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", *audited, "--executor", "mpi4py.futures:MPIPoolExecutor"]
    documents = [
        subprocess.run(command, capture_output=True, check=False, text=True, env={**os.environ, "HYDRA_LAUNCHER": "fork"}).stdout
        for command in (job, [sys.executable, *audited])
    ]

    assert evidence_bytes(from_json(documents[0])) == evidence_bytes(from_json(documents[1]))


def test_an_object_that_cannot_be_pickled_is_refused_for_processes_before_any_run():
    target = Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes, pytest.raises(TargetFailure, match="DPA408"):
        audit(target, runs=1000, executor=processes)


def test_an_object_that_cannot_be_pickled_runs_on_threads():
    target = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])

    with ThreadPoolExecutor(2) as threads:
        assert audit(target, runs=3000).results == audit(target, runs=3000, executor=threads).results


def test_a_target_that_workers_cannot_import_has_a_failed_result(tmp_path, monkeypatch):
    (tmp_path / "vanishing.py").write_text("def run(data, rng):\n    return 0.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from vanishing import run

    target = Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])
    (tmp_path / "vanishing.py").unlink()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        report = audit(target, runs=1000, executor=processes)
    assert Verdict.FAILED == report.results[0].verdict
    assert report.results[0].failure.startswith("DPA408 the executor could not run a chunk")


class Interrupting(Shuffled):
    """An executor at which the user presses the interrupt key after some chunks."""

    def __init__(self, after):
        super().__init__()
        self._left = after

    def submit(self, function, *args):
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return super().submit(function, *args)


def test_an_interrupted_audit_keeps_what_was_finished(reference):
    def press(progress):
        if progress.position == 1 and progress.done > 1000:
            raise KeyboardInterrupt

    whole = audit(reference, runs=20_000, seed=11)
    with pytest.raises(AuditInterrupted) as interruption:
        audit(reference, runs=20_000, seed=11, executor=Shuffled(), progress=press)
    report = interruption.value.report

    assert not report.complete
    assert 1 == len(report.results)
    assert whole.results[0] == report.results[0]
    assert isinstance(interruption.value, KeyboardInterrupt)


def test_an_interruption_before_the_first_result_leaves_an_empty_report(reference):
    with pytest.raises(AuditInterrupted) as interruption:
        audit(reference, runs=20_000, executor=Interrupting(3))

    assert () == interruption.value.report.results
    assert 3 == interruption.value.report.exit_code
