"""Exponential mechanism: chooses a candidate with probability proportional to e^(score / temperature), exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, positive, shown
from dpaudit.releases import Release, note
from mechanisms.noise import as_text, bit_source
from mechanisms.proposals import draw_many, draw_one, finest_precision, propose, repeated_precision
from mechanisms.sampling.random import BitSource
from mechanisms.scores import read_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dpaudit.claims import PrivacyLoss

_TEMPERATURE_EXPONENT: Final = 900


@dataclass(frozen=True, init=False)
class ExponentialMechanism:
    """Chooses one of several candidates, the better ones more often: P(i) is proportional to e^(score_i / temperature).

    Args:
      sensitivity: largest change of any single score on neighbours, exact, in the units of the scores.
      epsilon: privacy parameter in nats, exact and positive.
      monotonic: whether on every pair of neighbours all scores move in one direction, as counts do when a record is added;
        the same epsilon then allows half the temperature.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), `monotonic` is no bool (DPA105), or
        the temperature lies outside 2**-900 to 2**900 (DPA103).
    Source: McSherry and Talwar 2007; Dong, Durfee, Rogers 2020 (bounded range, and the monotonic case).
    Example:
      >>> mechanism = ExponentialMechanism(sensitivity=1, epsilon=1)
      >>> mechanism.temperature, mechanism.release([0, 40, 1000])
      (Fraction(2, 1), 2)
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotonic: bool
    adjacency: Adjacency

    def __init__(
        self, *, sensitivity: Exact, epsilon: Exact, monotonic: bool = False, adjacency: Adjacency | str = "add_remove"
    ) -> None:
        """Check the parameters and store them exactly."""
        if not isinstance(monotonic, bool):
            raise InvalidArgument("DPA105", f"monotonic must be True or False, got a {type(monotonic).__name__}.")
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "monotonic", monotonic)
        object.__setattr__(self, "adjacency", Adjacency.of(adjacency))
        limit = Fraction(2) ** _TEMPERATURE_EXPONENT
        if not 1 / limit <= self.temperature <= limit:
            raise InvalidArgument("DPA103", "2 sensitivity / epsilon must be from 2**-900 to 2**900. Scale the scores.")

    @property
    def temperature(self) -> Fraction:
        """By how much a score must rise for the odds of its candidate to rise by a factor e, in the units of the scores."""
        return self.sensitivity * (1 if self.monotonic else 2) / self.epsilon

    @property
    def claim(self) -> Claim:
        """What an audit may test: pure differential privacy."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one choice: bounded range epsilon, which is less than pure epsilon under composition."""
        from dpaudit.accounting import bounded_range

        return bounded_range(epsilon=self.epsilon, adjacency=self.adjacency)

    def release(self, scores: Sequence[Any] | NDArray[Any], source: BitSource | None = None) -> int:
        """The index of one candidate.

        For arrays, and lists of ints or of floats, the time taken depends on how many scores there are and not on what they
        are, but for the one trial in 5000 that is decided by further bits.

        Args:
          scores: one number per candidate (ints, floats, Fractions), or a 1-dimensional array; a float stands for its exact
            binary value, and minus infinity for a candidate that is never chosen. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          An index from 0 to len(scores) - 1.
        Raises:
          InvalidArgument: wrong type or shape (DPA105), no candidate (DPA109), NaN or plus infinity (DPA102), or more than
            2**30 candidates (DPA103), before randomness is drawn.
        Source: McSherry and Talwar 2007; docs/exact_sampling.md (staircase proposals).
        Example:
          >>> ExponentialMechanism(sensitivity=1, epsilon=1).release([float("-inf"), 0.5])
          1
        """
        checked = read_scores(scores)
        bits = bit_source(source)
        self._note(1, secure=bits.secure)
        return draw_one(propose(checked, self.temperature, finest_precision(checked.size)), bits)

    def releases(self, scores: Sequence[Any] | NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent choices on the same scores, each paid for; what an audit needs many of.

        Args:
          scores: as for `release`.
          count: how many, at least 1.
          source: random bits; None takes the operating system's.
        Returns:
          int64 array of `count` indices.
        Raises:
          InvalidArgument: as for `release`, or `count` is no positive integer (DPA103, DPA105).
        Source: design rule 4 (the log counts every one of them).
        Example:
          >>> ExponentialMechanism(sensitivity=1, epsilon=1).releases([0, 1000], 3).tolist()
          [1, 1, 1]
        """
        checked, copies = read_scores(scores), integer(count, "count", lower=1)
        bits = bit_source(source)
        self._note(copies, secure=bits.secure)
        return draw_many(propose(checked, self.temperature, repeated_precision(checked.size)), copies, bits)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        kind = "monotonic scores" if self.monotonic else "scores"
        return (
            f"exponential mechanism at temperature {shown(self.temperature)}; {kind} of sensitivity {shown(self.sensitivity)} "
            f"under {self.adjacency}; epsilon {shown(self.epsilon)}"
        )

    def to_dict(self) -> dict[str, str]:
        """The mechanism as plain text values, exact, from which it can be built again."""
        return as_text(self, "sensitivity", "epsilon", "monotonic", "adjacency")

    def _note(self, count: int, *, secure: bool) -> None:
        """Write the release log."""
        parameters = (("monotonic", Fraction(int(self.monotonic))), ("temperature", self.temperature))
        note(Release("exponential_mechanism", parameters, self.sensitivity, self.adjacency, 1, count, secure))
