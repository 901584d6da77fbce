"""`audit`: every target examined, and the claims judged together under one error probability."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import dpaudit
from dpaudit.auditor.examining import Examined, Listener, examined
from dpaudit.auditor.family import rejected
from dpaudit.auditor.progress import AuditInterrupted
from dpaudit.auditor.proof_lookup import looked_up
from dpaudit.auditor.request import Given, entries_of, settings_of
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact
from dpaudit.results import Report, Settings


def audit(  # noqa: PLR0913 - every argument but the first is an option given by name
    targets: Given | Sequence[Given],
    *,
    alpha: Exact = "0.05",
    runs: int | None = None,
    seconds: Exact | None = None,
    executor: Executor | None = None,
    seed: int = 0,
    power_target: Exact = "1.25",
    family: str = "holm",
    data: str | None = None,
    progress: Listener | None = None,
) -> Report:
    """Audit privacy claims: a certified price, an attack on neighbouring datasets, property checks, proofs, and a verdict for each.

    Args:
      targets: a Target, a name that `dpaudit.targets.load_targets` knows, a Reference, or a sequence of them; one claim each.
      alpha: probability of refuting any true claim, over all targets together, exact, from 1e-100 to below 1.
      runs: mechanism calls for each target in all, both datasets, all pairs and checks included, 500 to 2**40;
        1,000,000 unless given.
      seconds: time for the whole audit instead of `runs`, at most 10**9; turned into runs of each target at the end of its pilot.
      executor: any executor of `concurrent.futures` kind; None runs in this thread. The evidence does not depend on it.
      seed: root of all randomness, an integer from 0 on.
      power_target: a surviving claim is consistent if a violation by this factor would have been found, else inconclusive.
      family: "holm" or "bonferroni", how the claims share alpha.
      data: path of a CSV file whose records replace the data of targets given by name.
      progress: called with a `Progress` after every chunk of runs.
    Returns:
      A report with one result for each target, in their order. A claim that survives is never called private.
    Raises:
      InvalidArgument: an argument or a target's datasets are not usable (DPA101 to DPA109, DPA404, DPA407).
      Unsupported: neighbours cannot be made for the claim's adjacency (DPA409).
      TargetFailure: a target does not load (DPA401 to DPA406) or cannot be sent to workers (DPA408). Workers that fail later make
        one failed result of the target they were at.
      AuditInterrupted: the user interrupted; its `report` holds what was finished.
    Source: docs/auditing.md; docs/auditing_statistics.md.
    Example:
      >>> from dpaudit import Claim, PureDP, Target
      >>> leaky = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon="1/2")), neighbours=[(0, 1)])
      >>> audit(leaky, runs=20_000, seed=7).results[0].verdict
      <Verdict.REFUTED: 'refuted'>
    """
    settings = settings_of(alpha=alpha, runs=runs, seconds=seconds, seed=seed, power_target=power_target, family=family, data=data)
    if progress is not None and not callable(progress):
        raise InvalidArgument("DPA105", f"progress must be a function of a Progress, got a {type(progress).__name__}.")
    entries = entries_of(targets, settings, executor)
    found: list[Examined] = []
    times: list[tuple[str, float]] = []
    began = time.monotonic()
    try:
        proofs = looked_up(entry.target.proof for entry in entries)
        for position, entry in enumerate(entries):
            start = time.monotonic()
            finding = proofs.get(entry.target.proof)
            found.append(examined(entry, settings, position, len(entries), executor=executor, progress=progress, finding=finding))
            times.append((entry.target.name, time.monotonic() - start))
    except KeyboardInterrupt as interruption:
        raise AuditInterrupted(_report(len(entries), found, settings, times, began)) from interruption
    return _report(len(entries), found, settings, times, began)


def _report(count: int, found: Sequence[Examined], settings: Settings, times: Sequence[tuple[str, float]], began: float) -> Report:
    """The claims judged together; those that were not finished count as not refuted."""
    p_values = [one.p_value for one in found] + [1.0] * (count - len(found))
    decisions = rejected(p_values, settings.alpha, settings.family)
    return Report(
        settings=settings,
        results=tuple(one.refuted if rejects else one.survived for one, rejects in zip(found, decisions, strict=False)),
        env=_environment(),
        seconds=tuple(sorted((*times, ("total", time.monotonic() - began)))),
        complete=len(found) == count,
        version=dpaudit.__version__,
    )


def _environment() -> tuple[tuple[str, str], ...]:
    """Versions that the numbers may depend on."""
    names = ("dpaudit", "numpy", "scipy", "python-flint", "hypothesis")
    found = [(name, _version(name)) for name in names]
    found += [("python", platform.python_version()), ("platform", f"{platform.system()} {platform.machine()}")]
    return tuple(sorted(found))


@cache
def _version(name: str) -> str:
    """The installed version of a distribution; this package's own also where it is not installed."""
    if name == "dpaudit":
        return dpaudit.__version__
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
