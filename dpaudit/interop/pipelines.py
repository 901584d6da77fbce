"""Pipelines of PipelineDP on a local backend as audit targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpaudit.claims import Adjacency, ApproxDP, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, kind_of, non_negative
from dpaudit.interop.functions import seeded_target
from dpaudit.interop.libraries import library
from dpaudit.targets import Target


def from_pipeline_dp(
    pipeline: Callable[[Any, Any, Any], Any],
    *,
    epsilon: Exact,
    delta: Exact = 0,
    adjacency: Adjacency | str = "add_remove",
    backend: Any = None,
    **others: Any,
) -> Target:
    """A computation of PipelineDP as an audit target, with the budget of its accountant as the claim.

    Args:
      pipeline: function (rows, backend, accountant) that makes a `DPEngine(accountant, backend)` and returns the collection that is
        released; every run gets a new accountant, and its budgets are computed afterwards.
      epsilon: the accountant's total epsilon, exact.
      delta: its total delta, exact.
      adjacency: what the claim is about; the library hides one privacy ID with all its rows, which is one row here, unless the
        neighbours that are given differ in all rows of one.
      backend: a backend that runs in this process, `LocalBackend()` unless given.
      others: what else a Target takes: `neighbours` or `data`, `name` and others.
    Returns:
      A Target whose output is a dict of metrics by partition, or the list of partitions that were selected, sorted. The library's
      noise comes from the operating system, so runs cannot be replayed.
    Raises:
      InvalidArgument: not a function (DPA105), or what a Claim or a Target refuses.
      Unsupported: PipelineDP is not installed (DPA205), from runs.
    Source: docs/adapters.md, "PipelineDP".
    Example:
      >>> def counts(rows, backend, accountant):  # a pipeline would return DPEngine(accountant, backend).aggregate(...)
      ...     return rows
      >>> str(from_pipeline_dp(counts, epsilon=1, data=[("a", 1)]).claim)
      'epsilon = 1 under add_remove'
    """
    if not callable(pipeline):
        raise InvalidArgument("DPA105", f"a function (rows, backend, accountant) is expected, got {kind_of(pipeline)}.")
    spent = {"total_epsilon": float(non_negative(epsilon, "epsilon")), "total_delta": float(non_negative(delta, "delta"))}

    def run(data: Any) -> Any:
        package = library("pipeline_dp")
        accountant = package.NaiveBudgetAccountant(**spent)
        released = pipeline(data, package.LocalBackend() if backend is None else backend, accountant)
        accountant.compute_budgets()
        return _collected(list(released))

    claim = Claim(ApproxDP(epsilon, delta) if spent["total_delta"] else PureDP(epsilon), adjacency, "PipelineDP's accountant")
    return seeded_target(run, pipeline, claim=claim, **others)


def _collected(rows: list[Any]) -> Any:
    """Return metrics by partition, or partitions in an order that says nothing."""
    if rows and all(isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], (tuple, dict)) for row in rows):
        metrics = {key: found._asdict() if hasattr(found, "_asdict") else found for key, found in rows}
        return {key: metrics[key] for key in sorted(metrics, key=repr)}
    return sorted(rows, key=repr)
