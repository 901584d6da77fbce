"""The release log: every private operation leaves a note of what it did, and all prices are computed from these notes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol, TypeVar

from dpaudit.claims import Adjacency
from dpaudit.errors import LedgerFailure
from dpaudit.exact import integer, rational

DISTRIBUTIONS: Final = (
    "discrete_laplace",
    "discrete_gaussian",
    "rounded_gaussian",
    "staircase",
    "truncated_discrete_laplace",
    "truncated_discrete_gaussian",
    "finite_noise",
    "randomized_response",
    "exponential_mechanism",
    "permute_and_flip",
    "top_k",
    "noisy_max",
    "real_laplace",
    "real_gaussian",
    "euclidean_laplace",
    "above_threshold",
    "sparse_vector",
    "stability_histogram",
    "partition_selection",
    "objective_perturbation",
    "best_of_runs",
    "update_charged",
)
"""Kinds of release that the accounting prices; one entry per mechanism family."""


@dataclass(frozen=True)
class Release:
    """What one private operation did: enough to price it, nothing that depends on data.

    Args:
      kind: one of `DISTRIBUTIONS`.
      parameters: exact noise parameters by name, for instance (("scale", Fraction(2)),), sorted by name.
      sensitivity: exact sensitivity that the noise was scaled to, in the units of the parameters.
      adjacency: the neighbouring relation that the sensitivity is about.
      dimension: number of coordinates released together under that one sensitivity.
      count: how many independent releases of this form were made.
      secure: False when the noise came from the deterministic test source.
    """

    kind: str
    parameters: tuple[tuple[str, Fraction], ...]
    sensitivity: Fraction
    adjacency: Adjacency
    dimension: int = 1
    count: int = 1
    secure: bool = True

    def parameter(self, name: str) -> Fraction:
        """The exact noise parameter called `name`."""
        return dict(self.parameters)[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the adjacency as JSON values, exact numbers as text."""
        return {
            "kind": self.kind,
            "parameters": {name: str(value) for name, value in self.parameters},
            "sensitivity": str(self.sensitivity),
            "dimension": self.dimension,
            "count": self.count,
            "secure": self.secure,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], adjacency: Adjacency) -> Release:
        """A release as `to_dict` gives it; KeyError for a part that is missing, InvalidArgument for one that is no number."""
        parameters = tuple(sorted((name, rational(value, name)) for name, value in values["parameters"].items()))
        dimension, count = (integer(values[name], name, lower=1) for name in ("dimension", "count"))
        sensitivity = rational(values["sensitivity"], "sensitivity")
        return cls(values["kind"], parameters, sensitivity, adjacency, dimension, count, bool(values["secure"]))


_Output = TypeVar("_Output")


class Hold(Protocol):
    """One release on a tape: takes each value that it reads and what it would give, and says what it gives."""

    def __call__(self, value: Any, output: _Output) -> _Output:
        """The output to give: the one given here, or the one that was recorded in its place."""


class Tape(Protocol):
    """Keeps the inputs and outputs of releases while a function is checked, and may give recorded outputs back."""

    def hold(self, release: Release) -> Hold:
        """A place on the tape for one release."""


class Tally:
    """The releases of one block that is paid for; it takes none after the block, and none of another process or an insecure source.

    Args:
      of: the block, in words of an error.
      pays: whether noise in it has to be unpredictable, and belongs to this process.
    """

    def __init__(self, of: str, *, pays: bool = True) -> None:
        self.of, self.pays = of, pays
        self.process, self.closed = os.getpid(), False
        self._releases: list[Release] = []

    def require_open(self, release: Release) -> None:
        """Refuse a release that this block does not pay for: DPA808, and DPA809 for an insecure source."""
        self.require_process()
        if self.closed:
            raise LedgerFailure("DPA808", f"{self.of} has ended, and a release that is made now would not be paid for. {_OWN}")
        if self.pays and not release.secure:
            raise LedgerFailure(
                "DPA809",
                f"noise of {self.of} would come from a seeded or recorded source, which whoever knows the seed can take away. "
                "Leave out source and random_state; tests that need a seed run outside of charges.",
            )

    def require_process(self) -> None:
        """Refuse another process than the one that made the block (DPA808)."""
        if self.pays and self.process != os.getpid():
            raise LedgerFailure("DPA808", f"{self.of} belongs to the process that made it, and this is another. {_OWN}")

    def take(self, release: Release) -> None:
        """Note a release, before the block is checked: one that a block misses because it ends at that moment is refused."""
        self._releases.append(release)
        self.require_open(release)

    def close(self) -> tuple[Release, ...]:
        """Take nothing from now on; what was taken."""
        self.closed = True
        return tuple(self._releases)

    def close_if_empty(self) -> bool:
        """Take nothing from now on, unless something was taken before; whether it is closed."""
        self.closed = True
        self.closed = not self._releases
        return self.closed


_OWN: Final = (
    "Make a charge of its own in the thread, task or process that releases, or, for a release that no charge is about, put it into "
    "`with dpaudit.releases.outside_charges():`."
)

_logs: ContextVar[tuple[list[Release] | Tape | Tally, ...]] = ContextVar("dpaudit_release_logs", default=())

_paying: set[Tally] = set()
"""Blocks of this process that are open, of all its threads and tasks."""


@contextmanager
def recording() -> Iterator[list[Release]]:
    """Collect the releases made inside the block, in order; nested blocks each see what happens inside them."""
    log: list[Release] = []
    _logs.set((*_logs.get(), log))
    try:
        yield log
    finally:
        _leave(log)


@contextmanager
def taping(tape: Tape) -> Iterator[None]:
    """Let a tape hold the releases made inside the block; it sees private values, so it stays in memory and in one check."""
    _logs.set((*_logs.get(), tape))
    try:
        yield
    finally:
        _leave(tape)


@contextmanager
def paying(tally: Tally) -> Iterator[None]:
    """Let a tally take the releases made inside the block, and refuse those of this process that no tally takes meanwhile.

    A context that is copied inside the block, as asyncio tasks do and `contextvars.copy_context().run`, belongs to it.
    """
    try:
        _paying.add(tally)
        with belonging(tally):
            yield
    finally:
        _paying.discard(tally)


@contextmanager
def belonging(tally: Tally) -> Iterator[None]:
    """Let a tally take the releases made inside the block, whatever other threads and tasks release meanwhile.

    For a block that makes all its releases itself, as the fit of a learner does, which compares them with its plan.
    """
    try:
        # What ended belongs to a block around the one that made this context; a block of its own pays for all that follows.
        _logs.set((*(log for log in _logs.get() if not _is_over(log)), tally))
        yield
    finally:
        try:
            _leave(tally)
        finally:
            tally.close()


@contextmanager
def outside_charges() -> Iterator[None]:
    """Say that the releases inside the block belong to no charge of a ledger, though one is open in another thread or task."""
    before = _logs.get()
    kept = tuple(log for log in before if not _is_over(log))
    if any(isinstance(log, Tally) and log.pays for log in kept):
        raise LedgerFailure("DPA808", "this is inside an open charge, which pays for every release of its block. End it before.")
    token = _logs.set((*kept, Tally("a block outside of charges", pays=False)))
    try:
        yield
    finally:
        _logs.reset(token)


def _is_over(log: list[Release] | Tape | Tally) -> bool:
    """True if a block has ended, or belongs to the process from which this one was forked."""
    return isinstance(log, Tally) and (log.closed or log.process != os.getpid())


def _leave(log: list[Release] | Tape | Tally) -> None:
    """Take a log out of this context, wherever it is in it: generators may end in another order than they began."""
    _logs.set(tuple(one for one in _logs.get() if one is not log))


def _require_place(logs: tuple[list[Release] | Tape | Tally, ...], release: Release) -> None:
    """Refuse a release that a charge should pay for and would not see, before any log takes it."""
    placed = False
    for log in logs:
        if isinstance(log, Tally):
            log.require_open(release)
            placed = True
    if placed or not _paying:
        return
    for tally in tuple(_paying):
        if tally.process == os.getpid() and not tally.closed:
            raise LedgerFailure(
                "DPA808",
                f"{tally.of} is open in another thread or task, and would not see this release. If it belongs to it, start its "
                "thread with `contextvars.copy_context().run`, as in `pool.submit(contextvars.copy_context().run, release)`. "
                f"{_OWN}",
            )


def note(release: Release) -> Hold | None:
    """Write one release to every log that is open in this context; called by mechanisms before the noise is drawn."""
    logs = _logs.get()
    if not (logs or _paying):
        return None
    _require_place(logs, release)
    hold = None
    for log in logs:
        if isinstance(log, list):
            log.append(release)
        elif isinstance(log, Tally):
            log.take(release)
        else:
            hold = log.hold(release)
    return hold


@contextmanager
def as_one(release: Release) -> Iterator[None]:
    """Note one release that stands for all that are made inside the block, of which the logs outside then see nothing.

    For a run of releases whose price together is not the sum of their prices, and whose number may be secret: private selection
    among a random number of fits. Whoever calls this owes the proof that the one release prices what happens inside.
    """
    note(release)
    inside = Tally("a block whose releases are priced as one", pays=False)
    token = _logs.set((inside,))
    try:
        yield
    finally:
        inside.close()
        _logs.reset(token)
