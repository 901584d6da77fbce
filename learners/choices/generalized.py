"""Generalised exponential mechanism: choose a small score among scores of different sensitivities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Adjacency, Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, ball_endpoints, in_range, positive, rational, working_precision
from mechanisms.exponential import ExponentialMechanism
from mechanisms.noise import store

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss
    from mechanisms.sampling.random import BitSource


@dataclass(frozen=True, init=False)
class GeneralizedExponential:
    """A choice among scores that prefers small ones and trusts each as far as its own sensitivity allows.

    Scores are rounded to a grid first, which makes them move by up to a step more on neighbours: that is paid for here.

    Source: Raskhodnikova and Smith 2016, section 4.
    """

    sensitivities: tuple[Fraction, ...]  # largest change of each score on neighbours, public, exact, positive
    epsilon: Fraction  # privacy parameter in nats, exact, positive
    grid: Fraction  # step of the grid that scores are rounded to, public, exact; 0 for scores that are used as they are
    failure: Fraction  # probability, in (0, 1), of a score worse than the bound below; privacy does not need it
    adjacency: Adjacency  # the neighbouring relation of the sensitivities

    def __init__(
        self,
        *,
        sensitivities: Sequence[Exact],
        epsilon: Exact,
        grid: Exact = 0,
        failure: Exact = "1/20",
        adjacency: Adjacency | str = "replace_one",
    ) -> None:
        """Check the parameters and store them exactly."""
        if not len(sensitivities):
            raise InvalidArgument("DPA109", "sensitivities must name at least one score, got none. Give one for each score.")
        store(
            self,
            sensitivities=tuple(positive(each, "sensitivity") for each in sensitivities),
            epsilon=positive(epsilon, "epsilon"),
            grid=_step(grid),
            failure=in_range(failure, "failure", lower=0, upper=1, lower_open=True, upper_open=True),
            adjacency=Adjacency.of(adjacency),
        )

    @cached_property
    def raised(self) -> tuple[Fraction, ...]:
        """The sensitivities of the scores on the grid."""
        return tuple(sensitivity + self.grid for sensitivity in self.sensitivities)

    @cached_property
    def choice(self) -> ExponentialMechanism:
        """The exponential mechanism that chooses among the normalised scores, of sensitivity 1."""
        return ExponentialMechanism(sensitivity=1, epsilon=self.epsilon, adjacency=self.adjacency)

    @property
    def claim(self) -> Claim:
        """The claim of one choice: pure differential privacy."""
        return self.choice.claim

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one choice: bounded range epsilon."""
        return self.choice.loss

    @cached_property
    def threshold(self) -> Fraction:
        """The number of sensitivities by which a score must be better: 2 ln(k / failure) / epsilon, rounded up."""
        with working_precision(128):
            bound = 2 * ball(len(self.sensitivities) / self.failure).log() / ball(self.epsilon)
            return Fraction(math.ceil(ball_endpoints(bound)[1] * 2**20), 2**20)

    def normalised(self, scores: Sequence[Exact]) -> list[Fraction]:
        """Compute the scores to minimise: the largest lead of another, in units of both sensitivities; 0 for the best."""
        if len(scores) != len(self.sensitivities):
            counts = f"one score for each of {len(self.sensitivities)} sensitivities, got {len(scores)}"
            raise InvalidArgument("DPA105", f"scores must hold {counts}. Give them in the order of the sensitivities.")
        shifted = [self._on_grid(score) + self.threshold * each for score, each in zip(scores, self.raised, strict=True)]
        pairs = list(zip(shifted, self.raised, strict=True))
        return [max((own - other) / (mine + its) for other, its in pairs) for own, mine in pairs]

    def release(self, scores: Sequence[Exact], source: BitSource | None = None) -> int:
        """Choose a score; but for `failure`, at most the minimum over j of score_j + 2 threshold sensitivity_j."""
        return self.choice.release([-score for score in self.normalised(scores)], source)

    def _on_grid(self, score: Any) -> Fraction:
        """A score at the nearest point of the grid; halves go to the even one."""
        try:
            exact = rational(score)
        except InvalidArgument as error:
            raise InvalidArgument(
                error.code, f"scores must be finite numbers, got a {type(score).__name__} that is none."
            ) from None
        return round(exact / self.grid) * self.grid if self.grid else exact


def _step(grid: Exact) -> Fraction:
    """The step of a grid; 0 for none."""
    exact = rational(grid, "grid")
    return exact if exact == 0 else positive(exact, "grid")
