"""Workloads, by which workers get a target: itself in this process, or bytes from which each worker loads it once."""

from __future__ import annotations

import hashlib
import pickle
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache

from dpaudit.auditor.pairs.candidates import Neighbours, candidate_pairs, searched_pairs
from dpaudit.auditor.runs.renewal import ForkedWorkers
from dpaudit.errors import TargetFailure, class_name
from dpaudit.loading import Reference
from dpaudit.plain.streams import own_process
from dpaudit.targets import Target


@dataclass(frozen=True)
class Subject:
    """A target and its candidate pairs, ready to run; for `left_out` more pairs made of its data there are too few runs.

    After the pairs that are attacked in any case come those of a search, if there is one: at most `searched`, and ways.
    """

    target: Target
    pairs: tuple[Neighbours, ...]
    left_out: int = 0
    searched: int = 0


def with_searched(subject: Subject, most: int) -> Subject:
    """Return the subject with at most so many pairs that are searched among, and the ways between datasets, after its own pairs."""
    found = searched_pairs(subject.target, subject.pairs, most) if most else ()
    return replace(subject, pairs=(*subject.pairs, *found), searched=most)


@dataclass(frozen=True)
class Workload:
    """A subject for a worker: itself, or bytes that hold it or its reference; None where the worker was forked with it."""

    digest: str
    content: Subject | bytes | None = field(compare=False, repr=False)


_inherited: dict[str, Subject] = {}
"""Subjects that workers inherit, since they are forked from this process after it put them here."""


def workload(subject: Subject, reference: Reference | None, executor: Executor | None) -> Workload:
    """Pack a target for the workers of an executor."""
    target, pairs = subject.target, subject.pairs
    kind = getattr(executor, "current", executor)  # a renewable executor is as the one it holds
    if kind is None or isinstance(kind, ThreadPoolExecutor):
        return Workload("", subject)
    if isinstance(kind, ForkedWorkers):
        digest = str(len(_inherited))
        _inherited[digest] = subject
        return Workload(digest, None)
    made = target.neighbours is None or isinstance(target.neighbours, tuple)
    given = tuple((pair.first, pair.second) for pair in pairs)
    source: Reference | Target = reference or replace(target, neighbours=given, data=None)
    try:
        content = pickle.dumps((source, (_own(subject), subject.searched) if reference and made else pairs))
    except Exception as error:
        if isinstance(kind, ProcessPoolExecutor):
            raise TargetFailure(
                "DPA408",
                f"target {target.name} cannot be sent to worker processes ({class_name(type(error))}). "
                "Give it by import string, MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE, or define its functions at module level.",
            ) from error
        return Workload("", subject)
    return Workload(hashlib.sha256(content).hexdigest(), content)


def subject_of(work: Workload) -> Subject:
    """Unpack the subject of a workload, once in each worker."""
    if work.content is None:
        return _inherited[work.digest]
    return _load_subject(work) if isinstance(work.content, bytes) else work.content


@lru_cache(maxsize=4)
def _load_subject(work: Workload) -> Subject:
    """Unpack the subject inside bytes; cached for the few targets whose chunks a worker gets in turn."""
    assert isinstance(work.content, bytes), "subject_of knows the others"  # noqa: S101
    source, pairs = pickle.loads(work.content)  # noqa: S301 - bytes that this program's own driver wrote for its workers
    own_process()  # bytes come to processes that were made to be workers
    target = source.load() if isinstance(source, Reference) else source
    if pairs and isinstance(pairs[0], Neighbours):
        return Subject(target, pairs)
    own, most = pairs
    return with_searched(Subject(target, candidate_pairs(target)[:own]), most)


def _own(subject: Subject) -> int:
    """Return how many pairs come before those of a search."""
    return sum(not pair.family for pair in subject.pairs)
