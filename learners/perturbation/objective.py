"""ObjectivePerturbation: noise in the objective before it is minimised, and a little in the weights for what floats leave open."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, ball_endpoints, shown, working_precision
from dpaudit.releases import Release, note
from learners.perturbation.output import noise_of, spherical_release
from learners.perturbation.weights import Design, PerturbedClassifier, PerturbedPlan, ridge_of
from learners.solvers.certified import minimise, objective
from mechanisms.euclidean import EuclideanLaplace
from mechanisms.noise import bit_source
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from learners.solvers.certified import Objective
    from learners.solvers.losses import Loss
    from mechanisms.sampling.random import BitSource

_OUTPUT_SHARE: Final = Fraction(1, 100)
"""Part of epsilon that pays for the distance to the exact minimiser."""

_TOLERANCE: Final = Fraction(1, 10**4)
_STRETCH_SHARE: Final = Fraction(1, 10)
_LENGTH: Final = 3
"""The ridge is at least so many times the root of the columns over n epsilon, so that noise in the weights stays short."""

_PRECISION: Final = 128


@dataclass(kw_only=True, eq=False, repr=False)
class ObjectivePerturbation(PerturbedClassifier):
    """A linear classifier of two classes whose objective has a random linear term; pure differential privacy.

    The exact minimiser would be private by itself. What is released is that of floats, no further from it than is certified, with
    output noise for that distance; the random term is exactly rounded noise, and its rounding is part of the distance.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      delta: failure probability, exact, in [0, 1); nothing of it is used.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      ridge: factor of half the squared norm of the weights, for records of norm at most 1, public, exact, positive; None takes the
        rule of docs/choices_and_perturbation.md.
      loss: "huber", "logistic", or a `learners.solvers.losses.Loss`.
      fit_intercept: whether a constant of 1/4 of `feature_norm` is appended to every record; its weight is regularised too.
      faithful: the paper's noise, which pays twice for the curvature, and its further ridge where epsilon is small.
    Source: Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2; docs/choices_and_perturbation.md, "Objective perturbation".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 500)
      >>> model = ObjectivePerturbation(epsilon=2, feature_norm=1, classes=[0, 1]).fit(X, [1, 0] * 500)
      >>> model.predict([[1.0, 1.0]]).tolist(), model.privacy_.epsilon <= 2, len(model.privacy_.charges[0].releases)
      ([1], True, 2)
    """

    ridge: Exact | None = None
    faithful: bool = False

    def _design(self, public: Public, columns: int, loss: Loss) -> Design:
        """Noise in the objective for all but a hundredth of epsilon."""
        count, inner = public.records, (1 - _OUTPUT_SHARE) * public.epsilon
        weight = ridge_of(self.ridge, _default_ridge(count, columns, inner, loss))
        weight, linear = (_published_share if self.faithful else _linear_share)(count, weight, inner, loss)
        plan = perturbed_objective(records=count, columns=columns, ridge=weight, loss=loss)
        bits = weight_bits(plan)
        fine = count * weight / 2**bits
        term = linear_release(plan, epsilon=linear, lattice=fine, adjacency=public.adjacency)
        distance = math.ceil(2 * plan.radius * 2**bits) + 2 * whole_root_above(columns)
        output = spherical_release(distance, _OUTPUT_SHARE * public.epsilon, public.adjacency, columns)
        longest = int((output.parameter("scale") + term.parameter("scale") / fine) * (2 * columns + 64)) + 1
        largest = longest + int(plan.weight_norm * 2**bits) + whole_root_above(columns)
        return Design(plan, bits, (term, output), largest)

    def _perturb(self, rows: Rows, plan: PerturbedPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The minimiser with its random term, and output noise."""
        found = minimise_perturbed(rows, plan.objective, plan.weight_bits, plan.releases[0], source)
        return noise_of(plan.releases[1]).release(found, source)


def perturbed_objective(*, records: int, columns: int, ridge: Fraction, loss: Loss) -> Objective:
    """The objective without its random term, whose margins are shifted instead."""
    reach = max(map(abs, map(Fraction, loss.ends))) + loss.steepest / ridge
    return objective(records=records, columns=columns, norm=1, ridge=ridge, loss=loss, tolerance=_TOLERANCE, offset=reach)


def weight_bits(plan: Objective) -> int:
    """The bits of the lattice that weights are released on: rounding moves them by less than the solver may be off."""
    return max(0, math.ceil(whole_root_above(plan.columns) / plan.radius).bit_length())


def linear_release(plan: Objective, *, epsilon: Fraction, lattice: Fraction, adjacency: Adjacency) -> Release:
    """The random linear term of an objective, as it will be logged (Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9)."""
    if epsilon <= 0:
        short = f"the curvature of the loss costs {shown(-epsilon)} more than the share of epsilon for it"
        raise InvalidArgument("DPA103", f"ridge is too small: {short}. Give a larger ridge.")
    moved = 2 * plan.loss.steepest
    steps = math.ceil(moved / (epsilon * lattice))
    law = EuclideanLaplace(steps, dimension=plan.columns)
    stretch = plan.loss.curvature / (plan.records * plan.ridge)
    parameters = (("lattice", lattice), ("scale", law.scale * lattice), ("stretch", stretch))
    return Release("objective_perturbation", parameters, moved, adjacency, plan.columns)


def minimise_perturbed(
    rows: Rows,
    plan: Objective,
    bits: int,
    term: Release,
    source: BitSource | None,
    *,
    offsets: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Weights close to the minimiser of the objective with its random term <b, w> / n, in units of 2**-bits, rounded.

    With w = v - b / (n ridge) the term is a shift of every margin by an integer number of units, so that v is no longer than
    without it and its distance to the exact one has the same bound whatever b is. The random term is drawn and logged here; weights
    that are this close are not private yet.

    Source: Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2.
    """
    drawn_from = bit_source(source)
    hold = note(replace(term, secure=drawn_from.secure))
    law = EuclideanLaplace(term.parameter("scale") / term.parameter("lattice"), dimension=plan.columns)
    drawn = law.sample(source=drawn_from)
    sides = 2 * rows.labels - 1
    reach = float(plan.offset)
    shifts = rows.margins(drawn) * sides * -(float(rows.step) / 2.0**bits)
    if offsets is not None:
        shifts = shifts + offsets
    moved = np.rint(minimise(rows, plan, np.clip(shifts, -reach, reach)) * 2.0**bits).astype(np.int64)
    found = moved - drawn
    # Of what neighbours' objectives read, nothing can be compared: a tape keeps the weights alone.
    return found if hold is None else hold(np.zeros(plan.columns), found)


def stretch_cost(stretch: Fraction) -> Fraction:
    """log(1 + c / (n ridge)), rounded up: what the curvature of one record costs."""
    with working_precision(_PRECISION):
        return Fraction(ball_endpoints(ball(stretch).log1p())[1])


def _linear_share(records: int, ridge: Fraction, epsilon: Fraction, loss: Loss) -> tuple[Fraction, Fraction]:
    """Ridge, and what is left of epsilon once the curvature of a record is paid for."""
    return ridge, epsilon - stretch_cost(loss.curvature / (records * ridge))


def _published_share(records: int, ridge: Fraction, epsilon: Fraction, loss: Loss) -> tuple[Fraction, Fraction]:
    """The same as published: the curvature twice, and a larger ridge where that leaves nothing."""
    left = epsilon - 2 * stretch_cost(loss.curvature / (records * ridge))
    if left > 0:
        return ridge, left
    with working_precision(_PRECISION):
        raised = ball(loss.curvature) / (records * (ball(epsilon / 4).exp() - 1))
        return Fraction(ball_endpoints(raised)[1]), epsilon / 2


def _default_ridge(records: int, columns: int, epsilon: Fraction, loss: Loss) -> Fraction:
    """The ridge at which the curvature costs a tenth of epsilon, or, in many columns, noise in the weights stays short."""
    return max(loss.curvature / _STRETCH_SHARE, Fraction(_LENGTH * whole_root_above(columns))) / (records * epsilon)
