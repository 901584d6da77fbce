"""A supervised audit: every target is loaded and examined in a process of its own, which hands back a result or its failure."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from dpaudit.auditor.examining import Examined, Listener, examine_target
from dpaudit.auditor.progress import Progress
from dpaudit.auditor.request import Given, entry_of, make_names_distinct
from dpaudit.auditor.runs.renewal import RenewableExecutor, Workers
from dpaudit.auditor.supervision.apart import NO_RESULT, can_supervise, steps_apart
from dpaudit.auditor.supervision.candidates import Candidate, candidate_of, candidates_of, is_bundled
from dpaudit.auditor.supervision.child import Json, Send
from dpaudit.auditor.supervision.limits import MOST_MEMORY, Limits, limits_of
from dpaudit.auditor.supervision.turns import Piece, Steps, side_by_side
from dpaudit.auditor.verdict.proof_lookup import ProofFinding, find_proofs
from dpaudit.codec import decode, encode
from dpaudit.errors import CODES, DpauditError, InvalidArgument, TargetFailure, Unsupported
from dpaudit.exact import Exact
from dpaudit.loading import Reference, bundle_locations
from dpaudit.own_packages import require_own
from dpaudit.results import ProofStep, Settings, TargetResult
from dpaudit.targets import Target

_SHARED: Final = (
    "dpaudit.accounting.engines.evaluate",
    "dpaudit.accounting.laws",
    "dpaudit.accounting.engines.closed_forms",
    "dpaudit.accounting.model.composition",
    "scipy.special",
)
"""What every audit needs after its first run: imported once, before the processes of the targets fork."""
_OWN: Final = ("dpaudit", "learners", "mechanisms", "proofs")
"""Packages of this distribution, which are loaded once, before the processes of the targets fork."""

MakeExecutor = Callable[[], Executor]
Finished: TypeAlias = tuple[int, Examined, float]
"""The place of a target, what was found, and the seconds that it took."""
_Findings: TypeAlias = tuple[tuple[str, str, str, str, tuple[ProofStep, ...], tuple[str, ...]], ...]


@dataclass(frozen=True)
class Job:
    """One target to audit: what is known of it, and the target itself where it was given as an object."""

    candidate: Candidate
    target: Target | None

    @property
    def failure(self) -> TargetResult | None:
        """Its result where it is already known that it cannot be run."""
        code, message = self.candidate.refusal
        # The candidate came from a process of the target, which may send a code that is none.
        return self.candidate.failed(TargetFailure(code if code in CODES else "DPA413", message)) if code else None


def supervision_limits(time_limit: Exact | None, memory_limit: int | str | None, *, supervised: bool) -> Limits | None:
    """Return the limits of supervised targets, None for an audit in this process; refuse limits that cannot be kept (DPA416)."""
    limited = time_limit is not None or memory_limit is not None
    if not supervised and not limited:
        return None
    limits = limits_of(time_limit, memory_limit)
    if limited and not can_supervise():
        raise Unsupported(
            "DPA416",
            "limits cannot be kept here: the system cannot fork, or MPI was started, which forks break. "
            "Leave out time_limit and memory_limit.",
        )
    return limits


def maker_of(executor: object) -> MakeExecutor | None:
    """Return the function by which the process of each target makes its executor."""
    if executor is None:
        return None
    if isinstance(executor, RenewableExecutor):
        return executor.factory
    if callable(executor) and not hasattr(executor, "submit"):
        return executor
    raise Unsupported(
        "DPA416",
        f"a supervised target makes its executor in a process of its own, and a {type(executor).__name__} was made here. "
        "Give a function that makes it, or RenewableExecutor(function).",
    )


def jobs_of(given: Sequence[Given], settings: Settings, limits: Limits) -> list[Job]:
    """Return all targets of an audit, in their order, with names that differ; those that do not load or cannot be used too."""
    names = list(dict.fromkeys(one if isinstance(one, str) else one.text for one in given if not isinstance(one, Target)))
    load_shared(names)
    candidates = dict(zip(names, candidates_of(names, settings, limits), strict=True))
    jobs = [job for one in given for job in _jobs(one, candidates)]
    distinct = make_names_distinct([job.candidate.name for job in jobs])
    return [replace(job, candidate=replace(job.candidate, name=name)) for job, name in zip(jobs, distinct, strict=True)]


def examine_jobs(
    jobs: Sequence[Job], *, settings: Settings, limits: Limits, make: MakeExecutor | None, progress: Listener | None
) -> Generator[Finished]:
    """Examine targets, each in a process of its own, and yield each as it ends: with `Workers` side by side, else in turn.

    Where a time is given they take turns with all workers, since each has its share of it.
    """
    side = make if isinstance(make, Workers) and settings.seconds is None and len(jobs) > 1 else None
    apart, here = list[Job](), list[Job]()
    for job in jobs:
        (apart if side and _is_graph(job.candidate.proof) else here).append(job)
    proofs = _look_up(here)
    shares: dict[int, float] = {}
    began: dict[int, float] = {}

    def tell(one: Progress) -> None:
        assert progress is not None, "nobody reports progress otherwise"  # noqa: S101
        shares[one.position] = one.share
        progress(replace(one, before=sum(shares.values()) - one.share))

    def piece_of(position: int, job: Job) -> Piece[Any]:
        def start(workers: int) -> Steps[Examined]:
            began[position] = time.monotonic()
            own = make if side is None else Workers(workers) if workers > 1 else None
            told = None if progress is None else tell
            return examine_apart(job, position, len(jobs), proofs, settings=settings, limits=limits, make=own, progress=told)

        return Piece(start, waits=side is not None and _is_graph(job.candidate.proof))

    first: list[Piece[Any]] = [Piece(lambda _: _look_up_apart(apart))] if apart else []
    pieces = [*first, *(piece_of(position, job) for position, job in enumerate(jobs))]
    with closing(side_by_side(pieces, 1 if side is None else side.count)) as ended:
        for place, found in ended:
            if place < len(first):
                proofs.update(found)
                continue
            position = place - len(first)
            shares[position] = 1.0
            yield position, found, time.monotonic() - began[position]


def _look_up(jobs: Iterable[Job]) -> dict[str, ProofFinding]:
    """Look up the proofs of this distribution that targets name, once for all; others are looked up where the target is run."""
    # The current folder comes last here: a lookup by name would put it first, and find a user's module in the place of ours.
    before, here = list(sys.path), str(Path.cwd())
    sys.path[:] = [*before, here]
    try:
        return find_proofs(job.candidate.proof for job in jobs if _is_own(job.candidate.proof))
    finally:
        sys.path[:] = before


def _look_up_apart(jobs: Sequence[Job]) -> Steps[dict[str, ProofFinding]]:
    """Look up claims of proof graphs in a process of its own, while targets without one are examined."""

    def work(_: Send) -> Json:
        found = _look_up(jobs).items()
        return encode(tuple((name, one.status, one.claim, one.reason, one.steps, one.logged) for name, one in found), _Findings)

    try:
        # Only code of this distribution runs there, and a solver may take its time.
        sent = yield from steps_apart(work, Limits(silence=math.inf, memory=MOST_MEMORY))
    except TargetFailure as failure:
        return {job.candidate.proof: ProofFinding("unknown", reason=f"not checked: {failure}") for job in jobs}
    return {name: ProofFinding(*rest) for name, *rest in decode(sent, _Findings, "proofs")}


def examine_apart(
    job: Job,
    position: int,
    count: int,
    proofs: Mapping[str, ProofFinding],
    *,
    settings: Settings,
    limits: Limits,
    make: MakeExecutor | None,
    progress: Listener | None,
) -> Steps[Examined]:
    """Examine one target in a process of its own."""

    def work(send: Send) -> Json:
        with executor_of(make) as executor:
            candidate = job.candidate
            reference = Reference(candidate.text, candidate.place, settings.data, settings.asked) if job.target is None else None
            target = job.target if reference is None else reference.load()
            assert target is not None, "an object or a reference"  # noqa: S101
            entry = entry_of(replace(target, name=candidate.name), reference, settings, executor)
            if executor is not None:
                executor.submit(os.getpid).result()  # workers begin with a target that has not been run
            known = proofs if target.proof in proofs else find_proofs([target.proof])
            report = None if progress is None else lambda one: send(encode(one, Progress))
            found = examine_target(entry, position, count, known, settings=settings, executor=executor, progress=report)
            return encode(found, Examined)

    def hear(message: Json) -> None:
        if progress is not None:
            progress(decode(message, Progress, "progress"))

    try:
        return _check_result(decode((yield from steps_apart(work, limits, hear)), Examined, "result"), job.candidate)
    except TargetFailure as error:
        failure = error
    except DpauditError:
        failure = TargetFailure("DPA413", NO_RESULT)
    result = job.candidate.failed(failure, f"The target failed to run: {str(failure).rstrip('.')}.")
    return Examined(1.0, result, result)


def _check_result(found: Examined, candidate: Candidate) -> Examined:
    """Return what a process sent; refuse what cannot have come from an audit of this target (DPA501)."""
    both = (found.refuted, found.survived)
    fair = math.isfinite(found.p_value) and 0 <= found.p_value <= 1
    if not fair or any(one.name != candidate.name or one.reference != candidate.reference for one in both):
        raise InvalidArgument("DPA501", "the result is not that of the target that was run.")
    return found


def _jobs(given: Given, candidates: Mapping[str, list[Candidate]]) -> Iterator[Job]:
    """Yield the jobs that one argument stands for."""
    if isinstance(given, Target):
        yield Job(candidate_of(given), given)
    elif isinstance(given, str):
        yield from (Job(one, None) for one in candidates[given])
    else:
        found = candidates[given.text]
        yield Job(next((one for one in found if one.place == given.position), found[0]), None)


def load_shared(names: Iterable[str]) -> None:
    """Import once, before processes are forked, what all audits need, and this distribution's packages that offer these targets."""
    for module in _SHARED:
        import_module(module)
    if any(map(is_bundled, names)):
        load_own(location for location, own in bundle_locations().items() if own)


def load_own(locations: Iterable[str]) -> None:
    """Import modules of this distribution before processes are forked, so that none of them repeats it; failures are said there."""
    for location in filter(_is_own, locations):
        with suppress(Exception):
            require_own(location)
            import_module(location.partition(":")[0])


def _is_graph(proof: str) -> bool:
    """True if a proof is a claim of a graph of this distribution: what is found of it is data alone, which a process can send."""
    return "#" in proof and _is_own(proof)


def _is_own(proof: str) -> bool:
    """True if a proof is in a package of this distribution."""
    return proof.partition("#")[0].partition(":")[0].partition(".")[0] in _OWN and not proof.partition(":")[0].endswith(".py")


@contextmanager
def executor_of(make: MakeExecutor | None) -> Iterator[RenewableExecutor | None]:
    """Make the executor of one target's process, and shut it down after the block."""
    if make is None:
        yield None
        return
    executor = RenewableExecutor(make)
    yield executor
    executor.shutdown()
    if executor.renewals:
        lost = f"workers died and were replaced, {executor.renewals} times; the chunks that were lost were run again."
        print(lost, file=sys.stderr)  # noqa: T201 - this process speaks to the terminal through its supervisor
