"""The release log: every private operation leaves a note of what it did, and all prices are computed from these notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol, TypeVar

from dpaudit.claims import Adjacency
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
        ...


class Tape(Protocol):
    """Keeps the inputs and outputs of releases while a function is checked, and may give recorded outputs back."""

    def hold(self, release: Release) -> Hold:
        """A place on the tape for one release."""
        ...


_logs: ContextVar[tuple[list[Release] | Tape, ...]] = ContextVar("dpaudit_release_logs", default=())


@contextmanager
def recording() -> Iterator[list[Release]]:
    """Collect the releases made inside the block, in order; nested blocks each see what happens inside them.

    Example:
      >>> with recording() as log:
      ...     note(Release("discrete_laplace", (("scale", Fraction(2)),), Fraction(1), Adjacency("add_remove")))
      >>> len(log)
      1
    """
    log: list[Release] = []
    token = _logs.set((*_logs.get(), log))
    try:
        yield log
    finally:
        _logs.reset(token)


@contextmanager
def taping(tape: Tape) -> Iterator[None]:
    """Let a tape hold the releases made inside the block; it sees private values, so it stays in memory and in one check.

    Example:
      >>> from dpaudit.auditor.checks.tapes import Recorder
      >>> with taping(tape := Recorder()):
      ...     hold = note(Release("discrete_laplace", (("scale", Fraction(2)),), Fraction(1), Adjacency("add_remove")))
      ...     hold(40, 42)
      42
      >>> tape.entries[0].values
      [40]
    """
    token = _logs.set((*_logs.get(), tape))
    try:
        yield
    finally:
        _logs.reset(token)


def note(release: Release) -> Hold | None:
    """Write one release to every log that is open in this context; called by mechanisms before the noise is drawn.

    Args:
      release: what is about to be done.
    Returns:
      None, unless a tape is open: then the function through which the mechanism has to pass the value that it read and the output
      that it drew, and whose result it has to give instead.
    Source: docs/property_tests.md, "Record and replay".
    Example:
      >>> note(Release("discrete_laplace", (("scale", Fraction(2)),), Fraction(1), Adjacency("add_remove"))) is None
      True
    """
    hold = None
    for log in _logs.get():
        if isinstance(log, list):
            log.append(release)
        else:
            hold = log.hold(release)
    return hold


@contextmanager
def as_one(release: Release) -> Iterator[None]:
    """Note one release that stands for all that are made inside the block, of which the logs outside then see nothing.

    For a run of releases whose price together is not the sum of their prices, and whose number may be secret: private selection
    among a random number of fits. Whoever calls this owes the proof that the one release prices what happens inside.

    Example:
      >>> whole = Release("discrete_laplace", (("scale", Fraction(1)),), Fraction(1), Adjacency("add_remove"))
      >>> with recording() as log, as_one(whole), recording() as inside:
      ...     hold = note(Release("discrete_laplace", (("scale", Fraction(2)),), Fraction(1), Adjacency("add_remove")))
      >>> log == [whole], len(inside)
      (True, 1)
    """
    note(release)
    token = _logs.set(())
    try:
        yield
    finally:
        _logs.reset(token)
