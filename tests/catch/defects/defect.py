"""A defect: one claim, one pair of neighbours, a release that breaks the claim and its twin that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, Guarantee, PureDP
from dpaudit.results import TargetResult, Verdict
from dpaudit.targets import Sensitivity, Target

Query = Callable[[Any], Any]
Sampler = Callable[[Any, int, Generator], Any]
Law = Callable[[Any], Mapping[Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A broken release and its sound twin.

    `kind` is the class of defects that it stands for, `wrong` what the broken one does, `right` what the twin does instead.
    `broken` and `sound` draw many releases; `declared` and `laws`, broken first, are the sensitivities and the exact laws that the
    two declare. Both get the same claim, pair and score.
    """

    name: str
    kind: str
    wrong: str
    right: str
    pair: tuple[Any, Any]
    broken: Sampler
    sound: Sampler
    guarantee: Guarantee = PureDP(epsilon=1)  # noqa: RUF009 - frozen
    adjacency: Adjacency | str = "add_remove"
    declared: tuple[Sensitivity, Sensitivity] | None = None
    laws: tuple[Law, Law] | None = None
    score: Callable[[Any], float] | None = None

    @property
    def mutant(self) -> Target:
        """The broken release as the auditor is given it."""
        return self._target(0, "broken", self.broken)

    @property
    def twin(self) -> Target:
        """The sound release as the auditor is given it."""
        return self._target(1, "sound", self.sound)

    def _target(self, place: int, word: str, sample: Sampler) -> Target:
        """One of the two."""
        return Target(
            name=f"{word}_{self.name}",
            sample=sample,
            claim=Claim(self.guarantee, adjacency=self.adjacency),
            neighbours=[self.pair],
            sensitivity=self.declared and self.declared[place],
            pmf=self.laws and self.laws[place],
            score=self.score,
        )


def witnesses(result: TargetResult) -> tuple[str, ...]:
    """Which parts of an audit speak against a claim: properties by name, "price" and "attack"."""
    found = [check.name for check in result.properties if check.status == "violated"]
    found += ["price"] if result.price is not None and result.price.status == "above" else []
    found += ["attack"] if result.rejected_in_family else []
    return tuple(found) or (("verdict",) if result.verdict in {Verdict.REFUTED, Verdict.FAILED} else ())


def laplace(query: Query, scale: float) -> Sampler:
    """Releases of a number, or a row of numbers, with Laplace noise of its own on each."""
    return _noisy(query, lambda rng, shape: rng.laplace(scale=scale, size=shape))


def gaussian(query: Query, sigma: float) -> Sampler:
    """Releases of a number, or a row of numbers, with Gaussian noise of its own on each."""
    return _noisy(query, lambda rng, shape: rng.normal(scale=sigma, size=shape))


def _noisy(query: Query, noise: Callable[[Generator, tuple[int, ...]], NDArray[Any]]) -> Sampler:
    """Releases of a query with additive noise."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        value = np.asarray(query(data), dtype=float)
        return value + noise(rng, (count, *value.shape))

    return sample


def one_by_one(release: Callable[[Any, Generator], Any]) -> Sampler:
    """Releases made one after another, by a function that makes one."""
    return lambda data, count, rng: [release(data, rng) for _ in range(count)]
