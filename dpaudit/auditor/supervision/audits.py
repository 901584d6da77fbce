"""A supervised audit: every target examined in a process of its own, and the claims judged together here."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Final

from dpaudit.auditor.examining import Examined, Listener, examine_target
from dpaudit.auditor.progress import Progress
from dpaudit.auditor.request import Given, entry_of
from dpaudit.auditor.runs.renewal import RenewableExecutor
from dpaudit.auditor.supervision.apart import can_supervise, run_apart
from dpaudit.auditor.supervision.candidates import (
    Candidate,
    candidate_of,
    candidates_of,
    is_bundled,
    refusal_of,
    with_distinct_names,
)
from dpaudit.auditor.supervision.child import Json, Send
from dpaudit.auditor.supervision.limits import Limits
from dpaudit.auditor.verdict.proof_lookup import ProofFinding, find_proofs
from dpaudit.codec import decode, encode
from dpaudit.errors import DpauditError, InvalidArgument, MissingExtra, TargetFailure, Unsupported
from dpaudit.own_packages import require_own
from dpaudit.results import Settings, TargetResult
from dpaudit.targets import Reference, Target, bundle_locations

_SHARED: Final = (
    "dpaudit.accounting.engines.evaluate",
    "dpaudit.accounting.laws",
    "dpaudit.accounting.engines.profile",
    "dpaudit.accounting.model.questions",
    "scipy.special",
)
"""What every audit needs after its first run: imported once, before the processes of the targets fork."""

MakeExecutor = Callable[[], Executor]

_OWN: Final = ("dpaudit", "learners", "mechanisms", "proofs")
"""Packages of this distribution, which are loaded once, before the processes of the targets fork."""


@dataclass(frozen=True)
class Job:
    """One target to audit: what is known of it, and the target itself where it was given as an object."""

    candidate: Candidate
    target: Target | None

    @property
    def failure(self) -> TargetResult | None:
        """Its result where it is already known that it cannot be run."""
        return self.candidate.failed(refusal_of(self.candidate)) if self.candidate.refusal[0] else None


def require_supervision() -> None:
    """Refuse limits where processes cannot be forked (DPA416)."""
    if not can_supervise():
        raise Unsupported(
            "DPA416",
            "limits cannot be kept here: the system cannot fork, or MPI was started, which forks break. "
            "Leave out time_limit and memory_limit.",
        )


def maker_of(executor: object) -> MakeExecutor | None:
    """The function by which each process of a target makes its executor."""
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


def jobs_of(targets: Given | Sequence[Given], settings: Settings, limits: Limits) -> list[Job]:
    """All targets of an audit, in their order, with names that differ; those that do not load or cannot be used among them."""
    listed: Sequence[Given] = [targets] if isinstance(targets, (Target, Reference, str)) else targets
    if not isinstance(listed, Sequence):
        raise InvalidArgument("DPA105", f"targets must be a Target, a name, or a sequence of them, got a {type(targets).__name__}.")
    names = list(dict.fromkeys(one if isinstance(one, str) else one.text for one in listed if isinstance(one, (str, Reference))))
    load_shared(names)
    candidates = dict(zip(names, candidates_of(names, settings, limits), strict=True))
    jobs = [job for given in listed for job in _jobs(given, candidates, settings)]
    if not jobs:
        raise InvalidArgument("DPA109", "there is no target to audit. Give at least one.")
    return [replace(job, candidate=one) for job, one in zip(jobs, with_distinct_names(job.candidate for job in jobs), strict=True)]


def proofs_of(jobs: Sequence[Job]) -> dict[str, ProofFinding]:
    """The proofs of this distribution that targets name, looked up once for all; others are looked up where the target is run."""
    with _own_modules_first():
        return find_proofs(job.candidate.proof for job in jobs if _is_own(job.candidate.proof))


def examine_apart(
    job: Job,
    settings: Settings,
    position: int,
    count: int,
    *,
    limits: Limits,
    make: MakeExecutor | None,
    proofs: dict[str, ProofFinding],
    progress: Listener | None,
) -> Examined:
    """Examine one target in a process of its own."""

    def work(send: Send) -> Json:
        with executor_of(make) as executor:
            candidate = job.candidate
            reference = Reference(candidate.text, candidate.place, settings.data) if job.target is None else None
            target = job.target if reference is None else reference.load()
            assert target is not None, "an object or a reference"  # noqa: S101
            entry = entry_of(replace(target, name=candidate.name), reference, settings, executor)
            if executor is not None:
                executor.submit(os.getpid).result()  # workers begin with a target that has not been run
            proof = target.proof
            finding = proofs[proof] if proof in proofs else find_proofs([proof]).get(proof)
            told = None if progress is None else lambda one: send(encode(one, Progress))
            found = examine_target(entry, settings, position, count, executor=executor, progress=told, finding=finding)
            return encode(found, Examined)

    def hear(message: Json) -> None:
        if progress is not None:
            progress(decode(message, Progress, "progress"))

    try:
        return _checked(decode(run_apart(work, limits, hear), Examined, "result"), job.candidate)
    except TargetFailure as failure:
        return _failed(job.candidate, failure)
    except DpauditError:
        return _failed(job.candidate, TargetFailure("DPA413", "it wrote to the pipe of its results something that is none."))


def _checked(found: Examined, candidate: Candidate) -> Examined:
    """What a process sent, refused where it cannot have come from an audit of this target."""
    both = (found.refuted, found.survived)
    fair = math.isfinite(found.p_value) and 0 <= found.p_value <= 1
    if not fair or any(one.name != candidate.name or one.reference != candidate.reference for one in both):
        raise InvalidArgument("DPA501", "the result is not that of the target that was run.")
    return found


def _failed(candidate: Candidate, failure: TargetFailure) -> Examined:
    """The result of a target whose process gave none."""
    result = candidate.failed(failure, f"The target failed to run: {str(failure).rstrip('.')}.")
    return Examined(1.0, result, result)


def _jobs(given: Given, candidates: dict[str, list[Candidate]], settings: Settings) -> Iterator[Job]:
    """The jobs that one argument stands for."""
    if isinstance(given, Target):
        if settings.data is not None:
            raise InvalidArgument(
                "DPA105", f"data= replaces the data of targets given by name; {given.name} was given as an object."
            )
        yield Job(candidate_of(given), given)
    elif isinstance(given, (str, Reference)):
        found = candidates[given if isinstance(given, str) else given.text]
        chosen = [one for one in found if isinstance(given, str) or one.place == given.position]
        yield from (Job(one, None) for one in chosen or found[:1])
    else:
        raise InvalidArgument("DPA105", f"a target must be a Target, a Reference or a name, got a {type(given).__name__}.")


def load_shared(names: Iterable[str]) -> None:
    """Import what every audit needs, and the packages of this distribution that offer the targets of these names.

    The processes of the targets are forked afterwards, so that none has to do it again.
    """
    for module in _SHARED:
        import_module(module)
    if any(map(is_bundled, names)):
        for location, own in bundle_locations().items():
            if own:
                with suppress(MissingExtra, TargetFailure):  # said where the target itself is loaded
                    require_own(location)
                    import_module(location.partition(":")[0])


def _is_own(proof: str) -> bool:
    """Whether a proof stands in a package of this distribution."""
    return proof.partition("#")[0].partition(":")[0].partition(".")[0] in _OWN and not proof.partition(":")[0].endswith(".py")


@contextmanager
def _own_modules_first() -> Iterator[None]:
    """Inside the block the current folder comes last where modules are looked for: a lookup by name would put it first."""
    before, here = list(sys.path), str(Path.cwd())
    sys.path[:] = [*before, here]
    try:
        yield
    finally:
        sys.path[:] = before


@contextmanager
def executor_of(make: MakeExecutor | None) -> Iterator[RenewableExecutor | None]:
    """The executor of one target's process."""
    if make is None:
        yield None
        return
    executor = RenewableExecutor(make)
    yield executor
    executor.shutdown()
    if executor.renewals:
        told = f"workers died and were replaced, {executor.renewals} times; the chunks that were lost were run again."
        print(told, file=sys.stderr)  # noqa: T201 - this process speaks to the terminal through its supervisor
