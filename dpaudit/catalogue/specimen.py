"""A specimen: a mechanism with a claim, the pair of neighbours on which it shows, and what is exactly true of that pair."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, Guarantee
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Target

Sampler: TypeAlias = Callable[[Any, int, Generator], NDArray[Any]]

ALL_MOVE: Final = Adjacency("norm_ball", norm="linf", radius=1)
"""Every answer may move by 1."""

ONE_MOVES: Final = Adjacency("norm_ball", norm="l1", radius=1)
"""The answers move by 1 in all."""


@dataclass(frozen=True)
class Truth:
    """What is exactly true of the pair of a specimen, at one point of its claim.

    Args:
      at_epsilon: epsilon of the claimed point, in nats; for claims of a whole curve a point on it.
      at_delta: delta that the claim allows there.
      epsilon: least epsilon of the pair at `at_delta`, both directions, in nats; infinite if there is none.
      delta: least delta of the pair at `at_epsilon`, both directions.
      how: how it was computed.
    Source: docs/catalogue.md, "The zoo".
    Example:
      >>> Truth(at_epsilon=1.0, at_delta=0.0, epsilon=2.0, delta=0.3, how="closed form").violates
      True
    """

    at_epsilon: float
    at_delta: float
    epsilon: float
    delta: float
    how: str

    @property
    def violates(self) -> bool:
        """Whether the pair breaks the claim at this point."""
        return self.delta > self.at_delta + 1e-12


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A mechanism of the zoo.

    Args:
      name: short, unique among specimens of one epsilon.
      description: what it does and, if it is broken, what is wrong.
      source: who published it, or where the mistake is known from.
      guarantee: what is claimed.
      pair: two neighbouring inputs.
      sample: function (data, count, rng) -> array of that many independent outputs.
      broken: whether the claim is false, on this very pair.
      adjacency: the neighbouring relation of the claim.
      score: function (output) -> number, a hint for the auditor.
    Source: docs/catalogue.md, "The zoo".
    Example:
      >>> from dpaudit.catalogue import specimens
      >>> next(iter(specimens(1))).target.name
      'zoo_laplace'
    """

    name: str
    description: str
    source: str
    guarantee: Guarantee
    pair: tuple[Any, Any]
    sample: Sampler
    broken: bool = False
    adjacency: Adjacency = ALL_MOVE
    score: Callable[[Any], float] | None = None

    @property
    def target(self) -> Target:
        """What the auditor is given: the mechanism, its claim and its pair, but not whether it is broken."""
        return Target(
            name=f"zoo_{self.name}",
            description=f"{self.description} ({self.source})",
            sample=self.sample,
            claim=Claim(self.guarantee, adjacency=self.adjacency),
            neighbours=[self.pair],
            score=self.score,
            public_data=True,
        )

    @property
    def truth(self) -> Truth:
        """The exact truth about the pair; InvalidArgument (DPA103) where none is stored for the claim."""
        found = _truths().get((self.name, str(self.guarantee)))
        if found is None:
            raise InvalidArgument(
                "DPA103",
                f"no truth is stored of {self.name} with the claim {self.guarantee}. Truths are stored for the specimens of "
                "epsilon 1/10, 1/2 and 1; take one of these.",
            )
        return found


@lru_cache(maxsize=1)
def _truths() -> dict[tuple[str, str], Truth]:
    """Every stored truth, by name and claim of its specimen."""
    rows = json.loads(files("dpaudit.catalogue").joinpath("truths.json").read_text(encoding="utf-8"))["rows"]
    return {
        (row["name"], row["claim"]): Truth(
            at_epsilon=float(row["at_epsilon"]),
            at_delta=float(row["at_delta"]),
            epsilon=float(row["epsilon"]),
            delta=float(row["delta"]),
            how=row["how"],
        )
        for row in rows
    }


def rounded_up(value: float) -> Fraction:
    """The least multiple of a millionth that is at least `value`: a claim that a computed epsilon keeps."""
    return Fraction(math.ceil(value * 10**6), 10**6)
