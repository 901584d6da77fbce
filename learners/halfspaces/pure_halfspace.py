"""PureHalfspaceClassifier: the point of a net with the fewest records short of a margin, chosen at pure epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer
from learners.choices.counts import errors, totals
from learners.choices.covers import MOST_DIMENSIONS, LatticeCover, ball_volume_above
from learners.choices.levels import choose_level, counts_mechanism
from learners.choices.planned import ChoicePlan
from learners.estimator import Public
from learners.halfspaces.unit_records import UnitRecordClassifier, open_fraction
from learners.halfspaces.utility import HalfspaceBound, choice_bound
from learners.rows.labels import require_two
from learners.rows.signs import sign_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from learners.budget import Reserves
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

MOST_POINTS: Final = 5 * 10**6
MOST_WORK: Final = 2 * 10**10
"""Largest number of records times points."""

_USUAL_DIMENSION: Final = 3


class PureHalfspaceClassifier(UnitRecordClassifier):
    """A halfspace through the origin at pure epsilon, for records with a margin in few columns: the exponential mechanism on a net.

    Every record is divided by its norm, mapped by public random signs where it has more columns, and divided by its norm again. The
    score of a point of the net is how many records it has short of a tenth of the margin, counted exactly.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      margin: gamma, public, exact, above 0 and at most 1: of records of norm 1.
      delta: at which `privacy_` states epsilon, in [0, 1); the choice is pure whatever it is.
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      adjacency: "replace_one".
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      dimension: columns that are chosen in, public, at most 4; None takes 3. With fewer features there is no map.
      seed: public, of the map, chosen before the records are seen.
      failure: probability with which the promised accuracy may be missed, exact, between 0 and 1.
    Source: Nguyen, Ullman, Zakynthinou 2020, Algorithm 2; docs/halfspaces.md, "The pure classifier".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> model = PureHalfspaceClassifier(epsilon=1, margin="1/2", classes=[0, 1]).fit(X, [1, 0] * 200)
      >>> model.predict([[6, 8], [-8, 6]]).tolist(), model.privacy_.epsilon
      ([1, 0], Fraction(1, 1))
    """

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters from here
        self,
        *,
        epsilon: Exact,
        margin: Exact,
        delta: Exact = 0,
        classes: Any = None,
        adjacency: Adjacency | str = "replace_one",
        budget: Reserves | None = None,
        random_state: int | np.random.Generator | None = None,
        dimension: int | None = None,
        seed: int = 0,
        failure: Exact = "1/20",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            feature_norm=1,
            delta=delta,
            adjacency=adjacency,
            classes=classes,
            budget=budget,
            random_state=random_state,
        )
        self.margin = margin
        self.dimension = dimension
        self.seed = seed
        self.failure = failure

    @property
    def utility_(self) -> HalfspaceBound:
        """The certified bound on the error of records that have the margin: a bound, or void and why."""
        return self._bound(self.plan_, self.privacy_.public["records"])

    def _plan(self, public: Public) -> ChoicePlan:
        """Map and net, from public numbers."""
        require_two(public.classes)
        open_fraction(self.failure, "failure")
        wanted = _USUAL_DIMENSION if self.dimension is None else integer(self.dimension, "dimension", lower=1)
        net = shell_net(dimension=min(wanted, public.features), margin=self.margin)
        if net.size * public.records > MOST_WORK:
            work = f"{net.size} points and {public.records} records"
            raise InvalidArgument("DPA103", f"{work} are more than {MOST_WORK} margins. Take a larger margin or fewer columns.")
        image = None
        if wanted < public.features:
            image = sign_map(dimension_in=public.features, dimension_out=wanted, seed=self.seed)
        return ChoicePlan(counts_mechanism(epsilon=public.epsilon, adjacency=public.adjacency), net, image)

    def _bound(self, plan: ChoicePlan, records: int) -> HalfspaceBound:
        """The certified bound: void after a map, since no map to so few columns keeps margins for sure."""
        net: Any = plan.cover
        return choice_bound(
            candidates=net.size,
            records=records,
            columns=net.dimension,
            epsilon=float(plan.mechanism.epsilon),
            failure=float(open_fraction(self.failure, "failure")),
            unmapped=0.0 if plan.image is None else 1.0,
        )

    def _facts(self, plan: ChoicePlan, public: Public) -> dict[str, Any]:
        """The candidates and the bound."""
        net: Any = plan.cover
        return {"candidates": net.size, "utility": str(self._bound(plan, public.records))}

    def _learn(self, rows: Rows, plan: ChoicePlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """One choice: how many points have which count, which count, and which of its points."""
        net: Any = plan.cover
        counts = net_errors(rows, net)

        def point(count: int, place: int) -> NDArray[np.int64]:
            """The point of a count at a place among those that have it."""
            chosen: NDArray[np.int64] = net.candidate(int(np.flatnonzero(counts == count)[place]))
            return chosen

        chosen = choose_level(np.bincount(counts), point, plan.mechanism, source, scores=lambda: -counts)
        return {"embedded_weights_": chosen}


def shell_net(*, dimension: int, margin: Exact) -> LatticeCover:
    """Lattice points within margin / 10 of every point of the unit sphere (Nguyen, Ullman, Zakynthinou 2020, Algorithm 2)."""
    # With r = margin / 10 the lattice has the step h = 2 r / sqrt(m), and a point p of integers is in the net if the norm of h p
    # is within r of 1. Lengths of candidates are in steps: `threshold` states a margin of r in those.
    columns = integer(dimension, "dimension", lower=1, upper=MOST_DIMENSIONS)
    radius = in_range(margin, "margin", lower=0, upper=1, lower_open=True) / 10
    inner, outer = (columns * (end / (2 * radius)) ** 2 for end in (1 - radius, 1 + radius))
    net = LatticeCover(columns, math.floor(outer), math.ceil(inner))
    # Cubes around the points fill a shell that is thicker by half of their diagonals on either side, at most 1.
    widest, narrowest = math.isqrt(net.radius_squared) + 2, max(0, math.isqrt(net.least_squared) - 1)
    if ball_volume_above(columns) * (widest**columns - narrowest**columns) > 4 * MOST_POINTS or net.size > MOST_POINTS:
        raise InvalidArgument("DPA103", f"the net would have more than {MOST_POINTS} points. Take a larger margin or fewer.")
    return net


def threshold(*, dimension: int, bound: int) -> int:
    """The largest signed margin of a point of the net with a record that is short of margin / 10: an error."""
    # The margin of the point h p with a record q of norm `bound` steps is h <p, q> / bound, and h = 2 r / sqrt(m): it is below r
    # if 2 <p, q> < bound sqrt(m), whatever the margin is.
    return math.isqrt(-(-dimension * bound**2 // 4) - 1)


def net_errors(rows: Rows, net: LatticeCover) -> NDArray[np.int64]:
    """Count the records that each point of a net has short of a tenth of the margin."""
    return totals(rows, net, errors(threshold(dimension=net.dimension, bound=rows.bound)))
