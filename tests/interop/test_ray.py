"""The adapter for Ray, with threads in its place: calls, errors, cancellation, a lost cluster, and an audit's evidence."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from dpaudit import audit
from dpaudit.auditor.execution import RenewableExecutor, check_executor, probes
from dpaudit.errors import TargetFailure, Unsupported
from dpaudit.interop.ray import executor


class RayTaskError(Exception):
    """What Ray wraps the error of a remote function in."""


class Reference:
    """What a remote function gives at once."""

    def __init__(self, pool, function, arguments):
        def call():
            try:
                return function(*arguments)
            except Exception as error:
                raise RayTaskError(type(error).__name__) from error

        self.made = pool.submit(call)

    def future(self):
        return self.made


class Ray(SimpleNamespace):
    """As much of Ray's interface as the adapter uses, on two threads."""

    def __init__(self):
        super().__init__(pool=None, settings=None)

    def is_initialized(self):
        return self.pool is not None

    def init(self, **settings):
        self.pool, self.settings = ThreadPoolExecutor(2), settings

    def remote(self, function):
        return SimpleNamespace(remote=lambda *arguments: Reference(self.pool, function, arguments))

    def cancel(self, reference):
        reference.made.cancel()

    def shutdown(self):
        self.pool.shutdown()
        self.pool = None


@pytest.fixture
def ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", stand_in := Ray())
    return stand_in


def test_an_audit_on_ray_has_the_evidence_of_one_inline(ray):
    place = f"{probes.__name__}:TARGETS"
    with executor() as on_ray:
        assert audit(place, runs=2000, seed=3).results == audit(place, runs=2000, seed=3, executor=on_ray).results
    assert not ray.is_initialized()


def test_every_check_of_an_executor_passes(ray):
    with RenewableExecutor(executor) as on_ray:
        findings = check_executor(on_ray)
    assert {"passed", "skipped"} == {finding.state for finding in findings}, findings
    assert "skipped" == findings[-1].state


def test_an_error_comes_back_as_it_was_raised(ray):
    with executor() as on_ray:
        error = on_ray.submit(probes.fail).exception()
    assert (TargetFailure, "DPA405") == (type(error), error.code)


def test_an_error_of_ray_itself_is_handed_on_and_a_cancelled_call_is_taken_back(ray):
    def lost(reference):
        lost_one = Future()
        lost_one.set_exception(RayTaskError("the worker died"))
        return lost_one

    started, go_on = threading.Event(), threading.Event()

    def wait():
        started.set()
        return go_on.wait(60)

    with executor() as on_ray:
        first, _ = on_ray.submit(wait), on_ray.submit(wait)
        waiting = on_ray.submit(len, "abc")
        assert started.wait(60)
        assert waiting.cancel()
        go_on.set()
        assert first.result(60)
        Reference.future, kept = lost, Reference.future
        try:
            assert isinstance(on_ray.submit(len, "abc").exception(60), RayTaskError)
        finally:
            Reference.future = kept


def test_a_cluster_that_is_there_is_used_as_it_is(ray):
    ray.init(address="there")
    executor()
    assert {"address": "there"} == ray.settings


def test_without_ray_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unsupported, match="DPA205 ray is not installed"):
        executor()
    with pytest.raises(Unsupported, match="DPA205"):
        RenewableExecutor(executor)
