"""Common parts of mechanisms that choose candidates by their scores: parameters, and the releases of those that choose one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, positive, shown
from dpaudit.releases import Release
from mechanisms.noise import open_release, read_count, read_flag
from mechanisms.sampling.random import BitSource
from mechanisms.selection.scores import Scores, read_scores

_TEMPERATURE_EXPONENT: Final = 900


class ChoosesOne(Protocol):
    """A mechanism that chooses one candidate; `release` and `releases` become its methods in the class body."""

    @property
    def _record(self) -> Release:
        """The entry of the release log for one choice."""

    def _choose(self, scores: Scores, bits: BitSource) -> int:
        """The index of one candidate."""

    def _choose_often(self, scores: Scores, count: int, bits: BitSource) -> NDArray[np.int64]:
        """Indices chosen independently."""


def release(self: ChoosesOne, scores: Sequence[Any] | NDArray[Any], source: BitSource | None = None) -> int:
    """The index of one candidate, from 0 to len(scores) - 1.

    `scores` has one number per candidate (ints, floats, Fractions), or is a 1-dimensional array; a float stands for its exact
    binary value, and minus infinity for a candidate that is never chosen. Others are refused (DPA102, DPA103, DPA105, DPA109)
    before randomness is drawn. `source` None takes the operating system's bits.
    """
    read = read_scores(scores)
    bits, hold = open_release(self._record, source)
    chosen = self._choose(read, bits)
    return chosen if hold is None else hold(scores, chosen)


def releases(
    self: ChoosesOne, scores: Sequence[Any] | NDArray[Any], count: int, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Independent choices on the same scores, each paid for; what an audit needs many of. `count` is from 1 to 2**32."""
    read, copies = read_scores(scores), read_count(count)
    bits, hold = open_release(self._record, source, count=copies)
    chosen = self._choose_often(read, copies, bits)
    return chosen if hold is None else hold(scores, chosen)


def read_parameters(*, sensitivity: Exact, epsilon: Exact, monotonic: bool, adjacency: Adjacency | str) -> dict[str, Any]:
    """The common parameters, exact; refused with DPA101, DPA102, DPA103, DPA104 or DPA105."""
    return {
        "sensitivity": positive(sensitivity, "sensitivity"),
        "epsilon": positive(epsilon, "epsilon"),
        "monotonic": read_flag(monotonic, "monotonic"),
        "adjacency": Adjacency.of(adjacency),
    }


def moves(*, monotonic: bool) -> int:
    """The largest change of the distance of two scores, in sensitivities: two where they may move against each other."""
    return 1 if monotonic else 2


def require_temperature(temperature: Fraction) -> None:
    """Refuse temperatures with which gaps of scores would leave the range of floats in every case."""
    limit = Fraction(2) ** _TEMPERATURE_EXPONENT
    if not 1 / limit <= temperature <= limit:
        raise InvalidArgument(
            "DPA103", "sensitivity / epsilon is too large or too small: allowed is 2**-900 to 2**900. Scale scores."
        )


def describe_scores(mechanism: Any) -> str:
    """The end of a mechanism's description: what the scores are, and the price."""
    kind = "monotonic scores" if mechanism.monotonic else "scores"
    return f"{kind} of sensitivity {shown(mechanism.sensitivity)} under {mechanism.adjacency}; epsilon {shown(mechanism.epsilon)}"
