"""Many noisy copies of a private vector of whole numbers, as one number each: how they lean towards the one of two neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.targets import Target
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.claims import Claim
    from mechanisms.gaussian import GaussianMechanism


@dataclass(frozen=True)
class Noisy:
    """A Gaussian release of a vector, projected on the direction in which it differs for a pair.

    Args:
      value: from a dataset to whole numbers, shape (k,).
      pair: neighbouring datasets.
      mechanism: adds the noise, whose sensitivity may be false.
    """

    value: Callable[[Any], NDArray[np.int64]]
    pair: tuple[Any, Any]
    mechanism: GaussianMechanism

    def sample(self, data: Any, count: int, rng: Generator) -> NDArray[np.float64]:
        """How far each copy lies in that direction, in units of the noise."""
        first, second = (self.value(each) for each in self.pair)
        direction = (second - first) / (max(float(np.linalg.norm(second - first)), 1.0) * float(self.mechanism.sigma))
        copies = self.mechanism.releases(self.value(data), count, source_from(rng))
        return np.asarray(np.einsum("ij,j->i", copies, direction))

    def target(self, name: str, description: str, claim: Claim | None = None) -> Target:
        """A target of that name, which claims what the mechanism says unless told otherwise."""
        return Target(
            name=name,
            description=description,
            sample=self.sample,
            claim=self.mechanism.claim if claim is None else claim,
            neighbours=[self.pair],
            public_data=True,
        )
