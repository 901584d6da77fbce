"""The release log: every private operation leaves a note of what it did, and all prices are computed from these notes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.claims import Adjacency

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


_logs: ContextVar[tuple[list[Release], ...]] = ContextVar("dpaudit_release_logs", default=())


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


def note(release: Release) -> None:
    """Write one release to every log that is open in this context; called by mechanisms before the noise is drawn."""
    for log in _logs.get():
        log.append(release)
