"""A Dask cluster on loopback, as the documentation shows it: a scheduler and two workers, each a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpaudit import audit
from dpaudit.auditor.execution import RenewableExecutor, executor_factory
from dpaudit.report import evidence_bytes

ROOT = Path(__file__).parents[2]
ALL = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
LOCAL = ("--scheduler-file", "cluster.json", "--no-dashboard", "--host", "127.0.0.1")
PATIENCE = 90

RELEASES = """
import time
from pathlib import Path

from dpaudit import Claim, PureDP, Target


def counted(data, count, rng):
    return len(data) + rng.laplace(size=count)


def slow(data, rng):
    Path("started").touch()
    time.sleep(0.02)
    return len(data) + rng.laplace()


def target(**parts):
    return Target(claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], **parts)


TARGETS = [target(sample=counted), target(run=slow)]
QUICK = target(sample=counted)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of a user, with the example's file and the file of the targets."""
    place = tmp_path_factory.mktemp("cluster")
    shutil.copy(ROOT / "examples" / "dask_cluster.py", place)
    (place / "releases.py").write_text(RELEASES)
    return place


@pytest.fixture(scope="module")
def workers(folder):
    """The processes of two workers, of a scheduler that ends with the tests."""

    def start(program, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *LOCAL, *options]
        return subprocess.Popen(command, cwd=folder, env=ALL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    scheduler = start("scheduler", "--port", "0")
    until = time.monotonic() + PATIENCE
    while not (folder / "cluster.json").exists():
        assert time.monotonic() < until, "the scheduler did not start"
        time.sleep(0.1)
    made = [start("worker", "--nthreads", "1", "--no-nanny", "--name", f"{place}") for place in range(2)]
    yield made
    for process in (*made, scheduler):  # asked to end, a worker would first wait for its scheduler to come back
        process.kill()
        process.wait(PATIENCE)


@pytest.fixture
def cluster(workers, folder, monkeypatch):
    """An executor on the cluster, named as on the command line."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with RenewableExecutor(executor_factory("dask_cluster:make")) as executor:
        client = executor.current._client
        client.wait_for_workers(1, timeout=PATIENCE)
        yield executor
    client.close()


pytestmark = pytest.mark.filterwarnings("default")  # other projects' own


def test_a_worker_that_is_killed_changes_nothing_and_progress_is_told(cluster, workers):
    inline = evidence_bytes(audit("releases.py:QUICK", runs=20_000, seed=4))
    cluster.current._client.wait_for_workers(2, timeout=PATIENCE)
    told = []

    def progress(news):
        told.append(news.done)
        if news.done > 5_000 and workers[0].poll() is None:
            workers[0].kill()
            workers[0].wait()

    assert inline == evidence_bytes(audit("releases.py:QUICK", runs=20_000, seed=4, executor=cluster, progress=progress))
    assert workers[0].returncode == -signal.SIGKILL
    assert told == sorted(told)


def test_the_interrupt_key_leaves_a_report_and_the_cluster_goes_on(cluster, folder):
    words = ["audit", "releases.py:TARGETS", "--runs", "20000", "--executor", "dask_cluster:make", "--report", "out", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dpaudit", *words], cwd=folder, env=ALL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + PATIENCE
    while not (folder / "started").exists():
        assert time.monotonic() < until, "the second target did not start"
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert 3 == process.returncode, err
    evidence = json.loads(out)["evidence"]
    assert (False, ["consistent"]) == (evidence["complete"], [result["verdict"] for result in evidence["results"]])
    assert evidence == json.loads((folder / "out" / "report.json").read_text())["evidence"]
    assert 3 == cluster.submit(len, "abc").result(PATIENCE)
