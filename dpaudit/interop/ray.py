"""A Ray cluster as an executor of `concurrent.futures`, whose calls are remote functions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

from dpaudit.interop.libraries import library


class RayExecutor(Executor):
    """Calls on the workers of the Ray cluster that this process belongs to; Ray itself repeats the calls of a worker that ended.

    Args:
      ray: the module, initialised.
    """

    def __init__(self, ray: Any) -> None:
        self._ray, self._remote = ray, ray.remote(_outcome)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future that `concurrent.futures.wait` can wait for; cancelling it takes the call back."""
        answer: Future[Any] = Future()
        reference = self._remote.remote(fn, args, kwargs)
        answer.add_done_callback(lambda done: self._ray.cancel(reference) if done.cancelled() else None)
        reference.future().add_done_callback(partial(_settle, answer))
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - PEP 3148
        """Leave the cluster."""
        self._ray.shutdown()


def executor() -> RayExecutor:
    """An executor on the cluster that RAY_ADDRESS names, or on one that is started on this machine."""
    ray = library("ray")
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    return RayExecutor(ray)


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Exception | None]:
    """Run a call in a worker and return its result or its error, since Ray would wrap an error that is raised in its own."""
    try:
        return function(*arguments, **named), None
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to the future
        return None, error


def _settle(answer: Future[Any], done: Future[tuple[Any, Exception | None]]) -> None:
    """Pass on the outcome of a call, unless its future was cancelled."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        value, error = done.result()
    except Exception as failure:  # noqa: BLE001 - of Ray
        value, error = None, failure
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)
