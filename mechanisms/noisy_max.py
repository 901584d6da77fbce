"""Report noisy max: the candidate whose score plus integer noise on a lattice is greatest, ties broken evenly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import mechanisms.noise
from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, positive, shown, word
from dpaudit.releases import Release
from mechanisms.laws import DiscreteLaplace, Geometric
from mechanisms.noise import open_release, read_count, require_multiple, store
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import BitSource
from mechanisms.selection import choosing
from mechanisms.selection.coins import below
from mechanisms.selection.scores import Scores, read_scores
from mechanisms.steps import array_steps, number_steps

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

NoiseName: TypeAlias = Literal["geometric", "laplace"]
"""The noise that is added to every score."""

_NOISES: Final = ("geometric", "laplace")
_LARGEST_SCALE: Final = 2**54  # steps, as for arrays of results: a score of 2**60 and noise below 2**62 fit int64
_BATCH: Final = 2**18  # noisy scores at once


@dataclass(frozen=True, init=False)
class NoisyMax:
    """Adds independent integer noise to every score, on a lattice, and releases the index of the greatest; never its value.

    With geometric noise, P(k) proportional to e^(-k lattice / scale) for k >= 0, it is permute-and-flip's relative for counts; with
    discrete Laplace noise it is the textbook mechanism. Tied candidates are chosen from evenly.

    Args:
      sensitivity: largest change of any single score on neighbours, exact, a multiple of `lattice`, in the units of the scores.
      epsilon: privacy parameter in nats, exact and positive.
      lattice: scores are multiples of this, exact and positive.
      noise: "geometric" or "laplace".
      monotonic: whether on every pair of neighbours all scores move in one direction, as counts do when a record is added;
        the same epsilon then allows half the scale.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), of another type (DPA105), not a
        multiple of the lattice (DPA107), or `noise` or the scale lies outside what is allowed (DPA103).
    Source: Dwork and Roth 2014, Claim 3.9; Ding et al. 2021; docs/selection_and_queries.md (proof on a lattice, with ties).
    Example:
      >>> mechanism = NoisyMax(sensitivity=1, epsilon="1/2", monotonic=True)
      >>> mechanism.scale, mechanism.release([3, 400, 7])
      (Fraction(2, 1), 1)
    """

    sensitivity: Fraction
    epsilon: Fraction
    lattice: Fraction
    noise: NoiseName
    monotonic: bool
    adjacency: Adjacency

    to_dict = mechanisms.noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        epsilon: Exact,
        lattice: Exact = 1,
        noise: NoiseName = "geometric",
        monotonic: bool = False,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        word(noise, "noise", _NOISES)
        common = choosing.read_parameters(sensitivity=sensitivity, epsilon=epsilon, monotonic=monotonic, adjacency=adjacency)
        step = positive(lattice, "lattice")
        require_multiple(common["sensitivity"], step, "sensitivity")
        store(self, lattice=step, noise=noise, **common)
        choosing.require_temperature(self.scale)
        if self.scale / step > _LARGEST_SCALE:
            raise InvalidArgument(
                "DPA103", "the noise may have a scale of at most 2**54 steps of the lattice. Use a coarser lattice."
            )

    @property
    def scale(self) -> Fraction:
        """Scale of the noise, in the units of the scores."""
        return choosing.moves(monotonic=self.monotonic) * self.sensitivity / self.epsilon

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one choice: at most pure epsilon."""
        from dpaudit.accounting import price_releases

        return price_releases([self._record])

    def release(self, scores: Sequence[Any] | NDArray[Any], source: BitSource | None = None) -> int:
        """The index of one candidate.

        Args:
          scores: one multiple of the lattice per candidate (exact numbers), or a 1-dimensional integer or float64 array; minus
            infinity stands for a candidate that is never chosen. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          An index from 0 to len(scores) - 1.
        Raises:
          InvalidArgument: wrong type or shape (DPA105), no candidate (DPA109), NaN or plus infinity (DPA102), more than 2**30
            candidates (DPA103), off the lattice (DPA107) or too large (DPA108), before randomness is drawn.
        Source: Dwork and Roth 2014, Claim 3.9.
        Example:
          >>> NoisyMax(sensitivity=1, epsilon=1, lattice="1/2").release([float("-inf"), 0.5])
          1
        """
        return int(self._choices(scores, 1, source)[0])

    def releases(self, scores: Sequence[Any] | NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent choices on the same scores, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          int64 array of `count` indices.
        Example:
          >>> NoisyMax(sensitivity=1, epsilon=1).releases([0, 1000], 3).tolist()
          [1, 1, 1]
        """
        return self._choices(scores, read_count(count), source)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"noisy max with {self.noise} noise of scale {shown(self.scale)} on multiples of {shown(self.lattice)}; "
            f"{choosing.describe_scores(self)}"
        )

    def _choices(self, scores: Sequence[Any] | NDArray[Any], count: int, source: BitSource | None) -> NDArray[np.int64]:
        """Check, note, draw: `count` indices."""
        positions, steps = lattice_steps(read_scores(scores), self.lattice)
        bits, hold = open_release(self._record, source, count=count)
        rows, chosen = max(1, _BATCH // steps.size), []
        for start in range(0, count, rows):
            size = min(rows, count - start)
            noisy = self._law.sample(size * steps.size, source=bits).reshape(size, steps.size)
            noisy += steps
            chosen.append(greatest(noisy, bits))
        result = positions[np.concatenate(chosen)]
        return result if hold is None else hold(scores, result)

    @cached_property
    def _law(self) -> Geometric | DiscreteLaplace:
        """The noise in steps of the lattice."""
        width = self.scale / self.lattice
        return Geometric(width) if self.noise == "geometric" else DiscreteLaplace(width)

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for one choice."""
        parameters = (
            ("geometric", Fraction(int(self.noise == "geometric"))),
            ("lattice", self.lattice),
            ("monotonic", Fraction(int(self.monotonic))),
            ("temperature", self.scale),
        )
        return Release("noisy_max", parameters, self.sensitivity, self.adjacency)


def lattice_steps(scores: Scores, lattice: Fraction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the candidates that may be chosen, and their scores in steps, at most 2**60 in size."""
    positions = scores.possible()
    if scores.kind == "exact" or (scores.kind == "integer" and lattice.denominator != 1):
        steps = [number_steps(scores.best - gap, lattice) for gap in map(scores.gap, positions.tolist()) if gap is not None]
        if max(map(abs, steps)) > 2**60:
            raise InvalidArgument("DPA108", "scores must be at most 2**60 steps of the lattice in size. Use a coarser lattice.")
        return positions, np.array(steps, dtype=np.int64)
    return positions, array_steps(scores.values[positions], lattice)[0]


def greatest(noisy: NDArray[np.int64], source: BitSource, bits: int = 64) -> NDArray[np.int64]:
    """The position of the greatest number of each row, drawn evenly where several are."""
    first: NDArray[np.int64] = noisy.argmax(axis=1)
    tied = noisy == np.take_along_axis(noisy, first[:, None], axis=1)
    for row in np.flatnonzero(np.count_nonzero(tied, axis=1) > 1):
        among = np.flatnonzero(tied[row])
        first[row] = among[below(among.size, LazyUniform(source, bits, bits))]
    return first
