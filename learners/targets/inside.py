"""Learners of noisy sums seen from inside: all releases of a fit, at weights that the audit chooses, as one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dpaudit.accounting import compose
from dpaudit.claims import GDP, Claim, Curve, PureDP
from learners.solvers.gradient import solve
from learners.targets.harness import make_target
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from dpaudit.targets import Target
    from learners.estimator import Plan, PrivateEstimator
    from learners.record import Charge
    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from mechanisms.gaussian import GaussianMechanism
    from mechanisms.sampling.random import BitSource

Records = tuple[tuple[tuple[float, ...], int], ...]
"""Features of each record in their own units, and the position of its label among the classes."""


def mu_of(releases: Sequence[Release]) -> Fraction:
    """Compute the joint mu of Gaussian releases: root of the sum of squares, rounded up (Dong, Roth, Su 2022, Corollary 3.3)."""
    squares = sum(((each.sensitivity / each.parameter("sigma")) ** 2 for each in releases), Fraction(0))
    return Fraction(math.isqrt(math.floor(squares * 2**60)) + 1, 2**30)


def claim_of(charges: Sequence[Charge]) -> Claim:
    """The claim of a fit's record: a Gaussian mu, pure epsilon, or the curve of what is priced by the order of the records."""
    releases = [release for charge in charges for release in charge.releases]
    loss, adjacency = compose(*(charge.loss for charge in charges)), releases[0].adjacency
    if is_ordered(charges):
        return Claim(Curve(loss), adjacency=adjacency)
    if all(release.kind == "rounded_gaussian" for release in releases):
        return Claim(GDP(mu=mu_of(releases)), adjacency=adjacency)
    return Claim(PureDP(epsilon=Fraction(loss.epsilon(delta=0).upper)), adjacency=adjacency)


def is_ordered(charges: Sequence[Charge]) -> bool:
    """True if releases are priced by the order of the records."""
    return any(charge.scheme is not None for charge in charges)


def plan_fit(model: PrivateEstimator, records: Records) -> Plan:
    """Plan a fit on as many records."""
    return model._plan(model._public(_features(model, records), len(model.classes)))  # noqa: SLF001 - what `fit` does, step by step


def read_rows(model: PrivateEstimator, records: Records, plan: Plan) -> Rows:
    """Records as the learner reads them."""
    labels = np.array([label for _, label in records], dtype=np.int64)
    return model._rows(_features(model, records), labels, plan)  # noqa: SLF001 - what `fit` does, step by step


@dataclass(frozen=True)
class Watched:
    """A planned mechanism that keeps what it is given and what it makes of it; without noise where there is no mechanism."""

    mechanism: GaussianMechanism | None
    seen: list[tuple[NDArray[np.int64], NDArray[np.int64]]]

    def release(self, value: NDArray[np.int64], source: BitSource | None) -> NDArray[np.int64]:
        """The mechanism's release."""
        noisy = value if self.mechanism is None else self.mechanism.release(value, source)
        self.seen.append((value, noisy))
        return noisy


@dataclass(frozen=True)
class WatchedPlan:
    """A plan that a solver follows as it would follow the plan itself, while all of its releases are seen."""

    plan: SolverPlan
    seen: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    noisy: bool

    def __getattr__(self, name: str) -> Any:
        """What the plan itself holds under this name."""
        return getattr(self.plan, name)

    def noise(self, release: Release) -> Watched:
        """The mechanism that makes a planned release, watched."""
        return Watched(self.plan.noise(release) if self.noisy else None, self.seen)


def transcript(
    rows: Rows, plan: SolverPlan, source: BitSource | None = None, *, noisy: bool = True
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Every sum of a fit before and after its noise, in order."""
    watched = WatchedPlan(plan, [], noisy)
    solve(rows, cast("SolverPlan", watched), source)
    return watched.seen


@dataclass(frozen=True)
class Inside:
    """Fits of a learner of noisy sums, seen from inside, whose weights the audit puts back to zero before every step.

    A learner's proof holds whatever weights its steps start from. At zero every record pulls with all its strength, so no other
    weights separate the pair better; and the sums before the noise are the same in all fits, which makes many fits fast. The
    output is the log-likelihood ratio of all releases: the sums projected on the directions in which the pair differs.
    """

    model: PrivateEstimator  # whose plan is that of `solve`, or of a learner of such behind a public map
    pair: tuple[Records, Records]  # neighbouring records

    def sample(self, records: Records, count: int, rng: Generator) -> NDArray[np.float64]:
        """The log-likelihood ratio of `count` fits, up to a constant."""
        source, total = source_from(rng), np.zeros(count)
        sums = self._sums[self.pair.index(records)] if records in self.pair else self._sums_of(records)
        for (release, times), value, direction in zip(self._releases, sums, self._directions, strict=True):
            noisy = self._solver.noise(release).releases(value, count * times, source)
            total += np.einsum("ijk,k->i", noisy.reshape(count, times, -1), direction)
        return total

    def target(self, name: str, description: str) -> Target:
        """The target on these fits."""
        return make_target(name, description, self.sample, self.claim, self.pair, learner=type(self.model).__name__)

    @property
    def claim(self) -> Claim:
        """The claim of the record of a fit."""
        return claim_of(self._plan.charges)

    @property
    def share(self) -> float:
        """The part of the claimed mu that the pair uses: no audit certifies more of it."""
        used = sum(
            times * float(direction @ direction) * float(release.parameter("sigma")) ** 2
            for (release, times), direction in zip(self._releases, self._directions, strict=True)
        )
        return math.sqrt(used) / float(cast("GDP", self.claim.guarantee).mu)

    @cached_property
    def _plan(self) -> Plan:
        """The plan of the whole."""
        return plan_fit(self.model, self.pair[0])

    @property
    def _solver(self) -> SolverPlan:
        """The plan of the solver."""
        return cast("SolverPlan", getattr(self._plan, "inner", self._plan))

    @property
    def _releases(self) -> list[tuple[Release, int]]:
        """The kinds of release of a fit, each with how often it is made."""
        plan = self._solver
        before = ((plan.profile, plan.profiles), (plan.moment, 1))
        return [*((release, times) for release, times in before if release is not None), (plan.gradient, plan.steps)]

    @cached_property
    def _sums(self) -> list[list[NDArray[np.int64]]]:
        """The private sums of the pair."""
        return [self._sums_of(records) for records in self.pair]

    @cached_property
    def _directions(self) -> list[NDArray[np.float64]]:
        """How far the second dataset moves each sum, over the variance of its noise."""
        return [
            np.ravel(after - before) / float(release.parameter("sigma")) ** 2
            for before, after, (release, _) in zip(*self._sums, self._releases, strict=True)
        ]

    def _sums_of(self, records: Records) -> list[NDArray[np.int64]]:
        """What the solver gives to its mechanisms first: profile and second moment, if it has any, and the gradient at zero."""
        seen = transcript(read_rows(self.model, records, self._plan), self._solver, noisy=False)
        places = [0, *accumulate(times for _, times in self._releases[:-1])]
        return [seen[place][0] for place in places]


def _features(model: PrivateEstimator, records: Records) -> Any:
    """The features as the estimator reads them."""
    return model._read_features(np.array([features for features, _ in records], dtype=np.float64), may_be_empty=True)  # noqa: SLF001
