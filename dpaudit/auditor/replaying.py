"""`replay`: the runs of a report made again from its references and seeds, and compared bit for bit."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from typing import Final

from dpaudit.auditor.attack.plans import Plan
from dpaudit.auditor.attack.trial import try_claim
from dpaudit.auditor.checks.properties import check_target
from dpaudit.auditor.examining import case_of
from dpaudit.auditor.membership.canaries import PROPERTY as CANARIES
from dpaudit.auditor.request import entry_of, require_executor
from dpaudit.auditor.supervision.apart import run_apart
from dpaudit.auditor.supervision.audits import MakeExecutor, executor_of, load_shared, maker_of, supervision_limits
from dpaudit.auditor.supervision.child import Json, Send
from dpaudit.auditor.supervision.limits import Limits
from dpaudit.codec import decode, encode
from dpaudit.errors import InvalidArgument, TargetFailure, Unsupported
from dpaudit.exact import Exact, instance_of
from dpaudit.loading import reference_at
from dpaudit.results import Attack, Report, Settings, TargetResult
from dpaudit.targets import Target

_NO_RUNS: Final = "the report holds no runs of it"
_NO_FUNCTION: Final = "its outputs were collected elsewhere; audit the same two samples with the same seed again"
_NO_TARGET: Final = "it was given as an object; give it again in targets="


@dataclass(frozen=True)
class ReplayResult:
    """One target of a report, run again.

    Args:
      name: the target's name.
      seed: root of the seed tree that was used.
      recorded: the attack in the report, None where there was none.
      repeated: the attack as repeated, None where that was not possible.
      differences: what differs, in words; empty where every number is the same, and always with a fresh seed.
      reason: why it could not be repeated; empty otherwise.
    Source: docs/auditing.md, "Replay".
    Example:
      >>> ReplayResult("count", 7, None, None, reason="the report holds no runs of it").same
      False
    """

    name: str
    seed: int
    recorded: Attack | None
    repeated: Attack | None
    differences: tuple[str, ...] = ()
    reason: str = ""

    @property
    def same(self) -> bool:
        """True if the runs were repeated and every number came out as recorded."""
        return self.repeated is not None and self.repeated == self.recorded


def replay(
    report: Report,
    *,
    only: str | None = None,
    fresh: bool = False,
    targets: Sequence[Target] = (),
    executor: Executor | Callable[[], Executor] | None = None,
    supervised: bool = False,
    time_limit: Exact | None = None,
    memory_limit: int | str | None = None,
) -> tuple[ReplayResult, ...]:
    """Repeat the runs of a report.

    Args:
      report: as read from its JSON.
      only: name of the one target to repeat; all unless given.
      fresh: use a new seed from the operating system instead of the recorded one, as an independent confirmation.
      targets: the Targets that were given as objects, found again by their names; those given by name load themselves.
      executor: an executor as of `concurrent.futures`, None for this thread; with `supervised`, a function that makes one.
      supervised: whether every target is loaded and run in a forked process of its own, as by `dpaudit.audit`; the entry of one
        that does not load or ends its process then says why among its differences.
      time_limit: seconds for each target, as for `dpaudit.audit`.
      memory_limit: bytes for each target, as for `dpaudit.audit`.
    Returns:
      One entry for each target asked for. With the recorded seed every difference is listed; with a fresh one the repeated attack
      is a result of its own, at the same error probability.
    Raises:
      InvalidArgument: no target of that name (DPA103), or no report, targets or executor (DPA105).
      TargetFailure: a target no longer loads (DPA401 to DPA406), its `sample` (DPA405) or a worker (DPA408) fails.
      Unsupported: the report is of canaries, whose learner it does not name (DPA506), or limits cannot be kept here (DPA416).
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from fractions import Fraction
      >>> replay(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=()))
      ()
    """
    chosen = [result for result in instance_of(report, Report, "report").results if only in (None, result.name)]
    if only is not None and not chosen:
        names = ", ".join(result.name for result in report.results) or "none"
        raise InvalidArgument("DPA103", f"the report has no target called {only!r}. It has: {names}.")
    seed = secrets.randbits(63) if fresh else report.settings.seed
    limits = supervision_limits(time_limit, memory_limit, supervised=supervised)
    make, workers = (None, require_executor(executor)) if limits is None else (maker_of(executor), None)
    if canaries := [result.name for result in chosen if any(check.name == CANARIES for check in result.properties)]:
        raise Unsupported(
            "DPA506",
            f"{canaries[0]} was audited with canaries, whose learner and score a report does not name. "
            "Call audit_canaries again with the same functions and arguments and the seed of the report.",
        )
    given = [instance_of(target, Target, "each of targets") for target in instance_of(targets, Sequence, "targets")]
    objects = {target.name: target for target in given}
    settings = replace(report.settings, seed=seed)
    if limits is None:
        return tuple(_repeat_runs(result, objects.get(result.name), settings, fresh=fresh, executor=workers) for result in chosen)
    load_shared(result.reference for result in chosen if result.reference is not None)
    return tuple(_repeat_apart(result, objects.get(result.name), settings, limits, make, fresh=fresh) for result in chosen)


def _repeat_apart(
    result: TargetResult, target: Target | None, settings: Settings, limits: Limits, make: MakeExecutor | None, *, fresh: bool
) -> ReplayResult:
    """Run one target again in a process of its own."""
    recorded = result.attack
    if recorded is None:
        return ReplayResult(result.name, settings.seed, None, None, reason=_NO_RUNS)

    def work(_: Send) -> Json:
        with executor_of(make) as executor:
            return encode(_repeat_runs(result, target, settings, fresh=fresh, executor=executor), ReplayResult)

    try:
        found: ReplayResult = decode(run_apart(work, limits), ReplayResult, "replayed")
    except (TargetFailure, InvalidArgument) as failure:
        return ReplayResult(result.name, settings.seed, recorded, None, (f"not run: {failure}",), str(failure))
    # That process is asked for the repeated runs alone; what was recorded is taken from the report.
    differences = () if fresh or found.repeated is None else _differences(recorded, found.repeated)
    return replace(found, name=result.name, seed=settings.seed, recorded=recorded, differences=differences or found.differences)


def _repeat_runs(
    result: TargetResult, target: Target | None, settings: Settings, *, fresh: bool, executor: Executor | None
) -> ReplayResult:
    """Run one target again."""
    recorded = result.attack
    if recorded is None:
        return ReplayResult(result.name, settings.seed, None, None, reason=_NO_RUNS)
    if result.samples is not None:
        return ReplayResult(result.name, settings.seed, recorded, None, reason=_NO_FUNCTION)
    reference = None if result.reference is None else reference_at(result.reference, settings.data, settings.asked)
    if reference is not None:
        target = reference.load()
    if target is None:
        return ReplayResult(result.name, settings.seed, recorded, None, reason=_NO_TARGET)
    entry = entry_of(target, reference, settings, executor)
    position = recorded.seed_path[0]
    checks = check_target(entry.subject, settings.seed, position)
    if checks.failure:
        return ReplayResult(result.name, settings.seed, recorded, None, ("every run fails now",), checks.failure)
    case = case_of(entry, settings, position, 1, checks, executor)
    search = case.search if recorded.searched is None else recorded.searched
    repeated = try_claim(replace(case, alpha=recorded.alpha, plan=Plan(*recorded.plan, search=search), search=search)).attack
    differences = () if fresh else _differences(recorded, repeated)
    return ReplayResult(result.name, settings.seed, recorded, repeated, differences)


def _differences(recorded: Attack, repeated: Attack) -> tuple[str, ...]:
    """List every field that differs, counts and wealth spelled out."""
    found = []
    for field in fields(Attack):
        before, after = getattr(recorded, field.name), getattr(repeated, field.name)
        if before == after:
            continue
        if field.name == "bound" and before is not None and after is not None:
            found.append(f"counts: recorded {before.counts}, repeated {after.counts}")
        elif field.name == "sequential":
            found.append(
                f"wealth: recorded 10^{before.log10_wealth!r} after {before.runs} runs, "
                f"repeated 10^{after.log10_wealth!r} after {after.runs} runs"
            )
        else:
            found.append(f"{field.name}: recorded {before}, repeated {after}")
    return tuple(found)
