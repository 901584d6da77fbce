"""A fit followed from inside: every private sum that its plan's mechanisms are given, and what they make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from learners.solvers.gradient import solve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from mechanisms.gaussian import GaussianMechanism
    from mechanisms.sampling.random import BitSource


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
