"""Shapes that targets share: what all of them state alike, and a choice whose law is computed from the losses of its candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact import ball, ball_endpoints, working_precision
from dpaudit.targets import Target
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpaudit.claims import Claim
    from mechanisms.exponential import ExponentialMechanism

Losses = Sequence[int | Fraction] | NDArray[np.int64]
"""One for each candidate of a choice; the smaller, the likelier."""


def make_target(
    name: str, description: str, sample: Callable[..., Any], claim: Claim, *pairs: Any, learner: str = "", **declared: Any
) -> Target:
    """A target on made-up records, which reports may print; it names the proof of the learner's claim, if one is given."""
    proof = f"proofs.chain#{learner}.claim" if learner else ""
    return Target(
        name=name, description=description, sample=sample, claim=claim, neighbours=pairs, public_data=True, proof=proof, **declared
    )


def law_of(losses: Losses, temperature: Fraction) -> dict[int, Fraction]:
    """Probability of each candidate by its loss under an exponential mechanism, within 2**-190, as Fractions that sum to 1."""
    exact = _listed(losses)
    least = min(exact)
    with working_precision(256):
        weights = [(-ball(Fraction(loss - least) / temperature)).exp() for loss in exact]
        total = sum(weights[1:], start=weights[0])
        shares = [Fraction(round(Fraction(ball_endpoints(weight / total)[0]) * 2**200), 2**200) for weight in weights]
    law = dict(enumerate(shares))
    law[shares.index(max(shares))] += 1 - sum(shares)  # an audit wants laws that sum to exactly 1
    return law


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice among few candidates, whose declared law is compared with its claim exactly."""

    losses: Callable[[Any], Losses]  # of every candidate on a dataset
    mechanism: ExponentialMechanism  # makes the choice

    def sample(self, data: Any, count: int, rng: Generator) -> NDArray[Any]:
        """Places of the candidates chosen."""
        return self.mechanism.releases([-loss for loss in _listed(self.losses(data))], count, source_from(rng))

    def law(self, data: Any) -> dict[int, Fraction]:
        """The probability of each place."""
        return law_of(self.losses(data), self.mechanism.temperature)

    def target(self, name: str, description: str, *pairs: Any, claim: Claim | None = None, learner: str = "") -> Target:
        """A target that claims what the mechanism states, unless another claim is given."""
        return make_target(name, description, self.sample, claim or self.mechanism.claim, *pairs, learner=learner, pmf=self.law)


def _listed(losses: Losses) -> Sequence[int | Fraction]:
    """Losses as numbers of Python."""
    return losses.tolist() if isinstance(losses, np.ndarray) else losses
