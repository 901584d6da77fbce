"""Private empirical risk minimisation of the hinge loss: passes of phased descent in secret orders, and a choice among them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from dpaudit.accounting import RandomOrder, compose, gaussian
from dpaudit.accounting.laws.random_order import multiplicity_squares, position_squares
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, outward, positive, word
from dpaudit.releases import recording
from learners.choices.counts import Listed, choose, ramps
from learners.choices.levels import choice_release
from learners.record import Charge, PrivacyRecord
from learners.rows.rows import Rows
from learners.solvers.hinge import hinges
from learners.solvers.orders import random_order, random_places
from learners.solvers.phased import WEIGHT_BITS, Schedule, batches, phased_sgd, schedule
from mechanisms.exponential import ExponentialMechanism
from mechanisms.noise import bit_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.choices.counts import Loss
    from mechanisms.sampling.random import BitSource

Variant = Literal["direct", "permutation", "faithful"]

KNOWN_ORDER: Final = "The order of the records came from a seeded source. To whoever knows it, epsilon is {} instead."

_VARIANTS: Final = ("direct", "permutation", "faithful")
_CALIBRATIONS: Final = ("exact", "paper")
_SCORES: Final = ("ramp", "hinge")
_SCORE_BITS: Final = 10
_MULTIPLIER_BITS: Final = 12
_SPARE: Final = 1 - 2.0**-10
"""Part of delta that floats seek noise for; the rest is room for their errors, so that the certified price is within the budget."""

_WIDEST: Final = 2.0**40
_NARROWEST: Final = 2.0**-10


@dataclass(frozen=True)
class ErmPlan:
    """The plan of a run, decided from public numbers alone (Bassily, Mohri, Suresh 2022, Algorithm 4)."""

    schedule: Schedule  # the phases of a pass
    rounds: int  # passes, each in an order of its own
    replacement: bool  # True if an order draws every place again, instead of being a permutation
    by_place: bool  # True if the price counts the place of a record in its phase, and not only which phase has it
    choice: ExponentialMechanism | None  # chooses one of the passes; None for a single pass
    chosen_by: str  # the loss by which it does: ramp or hinge
    margin: int  # where the loss ends, in steps of a row times 2**-WEIGHT_BITS

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        if not self.schedule.phases:
            return ()
        made, drawn = self.schedule, self.replacement
        scheme = RandomOrder(
            records=made.records, batches=made.batches, replacement=drawn, averaged=self.by_place, rounds=self.rounds
        )
        passes = Charge(made.releases * self.rounds, scheme)
        return (passes,) if self.choice is None else (passes, Charge((choice_release(self.choice),)))

    def known_order(self, delta: Exact) -> Fraction | float:
        """Compute the cost of a run if its orders are known: the most over all orders."""
        if not self.schedule.phases:
            return Fraction(0)
        if self.replacement:
            return math.inf
        release = self.schedule.releases[0]
        once = gaussian(sigma=release.parameter("sigma"), sensitivity=release.sensitivity, adjacency=release.adjacency)
        loss = self.rounds * once
        parts = [loss] if self.choice is None else [loss, Charge((choice_release(self.choice),)).loss]
        return compose(*parts).epsilon(delta=delta).upper


@dataclass(frozen=True, eq=False)
class ErmResult:
    """The result of `private_erm`: weights, what was done, and what it cost."""

    weights: NDArray[np.float64]  # of shape (k,), of norm at most `weight_norm`; positive margins predict label 1
    plan: ErmPlan
    privacy: PrivacyRecord


def erm_plan(  # noqa: PLR0913 - the public numbers of one run
    *,
    records: int,
    columns: int,
    bound: int,
    margin: Exact,
    epsilon: Exact,
    delta: Exact,
    adjacency: Adjacency | str = "replace_one",
    variant: Variant = "direct",
    calibration: Literal["exact", "paper"] = "exact",
    chosen_by: Literal["ramp", "hinge"] = "ramp",
    failure: Exact = "1/20",
    choice_share: Exact = "1/10",
    by_place: bool = True,
) -> ErmPlan:
    """Plan a run and its noise (Bassily, Mohri, Suresh 2022, Algorithm 4)."""
    word(variant, "variant", _VARIANTS)
    word(calibration, "calibration", _CALIBRATIONS)
    word(chosen_by, "chosen_by", _SCORES)
    total, risk = positive(epsilon, "epsilon"), in_range(delta, "delta", lower=0, upper=1, lower_open=True, upper_open=True)
    failing = in_range(failure, "failure", lower=0, upper=1, lower_open=True, upper_open=True)
    share = in_range(choice_share, "choice_share", lower=0, upper=1, lower_open=True, upper_open=True)
    faithful, single = variant == "faithful", variant == "direct"
    if calibration == "paper" and not faithful:
        raise InvalidArgument("DPA103", "calibration='paper' needs variant='faithful'. Leave it out, or take that variant.")
    if single and chosen_by != "ramp":
        raise InvalidArgument("DPA103", "variant='direct' makes no choice among passes. Leave chosen_by out, or change variant.")
    rounds = 1 if single else math.ceil(math.log(2 / failing))
    chosen = Fraction(0) if single else total * (Fraction(1, 2) if calibration == "paper" else share)
    sizes = batches(records)
    if not sizes:
        multiplier = Fraction(1)
    elif calibration == "paper":
        multiplier = _paper_multiplier(total, risk, rounds)
    else:
        drawn = (records, sizes, rounds)
        squares = multiplicity_squares(*drawn) if faithful else position_squares(*drawn, averaged=by_place)
        multiplier = _least_multiplier(*squares, float(total), float(risk), float(chosen))
    relative = in_range(margin, "margin", lower=0, upper=1, lower_open=True)
    made = schedule(
        records=records, columns=columns, bound=bound, margin=relative, noise_multiplier=multiplier, adjacency=adjacency
    )
    end = max(1, round(relative * bound * 2**WEIGHT_BITS))
    change = 2**_SCORE_BITS if chosen_by == "ramp" else _hinge(end, bound)[1]
    choice = None if single else ExponentialMechanism(sensitivity=change, epsilon=chosen, adjacency=adjacency)
    return ErmPlan(made, rounds, faithful, by_place and not faithful, choice, chosen_by, end)


def run(rows: Rows, plan: ErmPlan, source: BitSource | None = None) -> NDArray[np.int64]:
    """Make the planned releases (Bassily, Mohri, Suresh 2022, Algorithm 4)."""
    if not plan.schedule.phases:
        return np.zeros(plan.schedule.columns, dtype=np.int64)
    count, found = plan.schedule.records, []
    for _ in range(plan.rounds):
        order = random_places(count, count, source) if plan.replacement else random_order(count, source)
        found.append(phased_sgd(rows, plan.schedule, order, source))
    if plan.choice is None:
        return found[0]
    loss = ramps(margin=plan.margin, bits=_SCORE_BITS) if plan.chosen_by == "ramp" else _hinge(plan.margin, plan.schedule.bound)[0]
    return choose(rows, Listed(np.stack(found, axis=1)), loss, plan.choice, source)


def private_erm(  # noqa: PLR0913 - the public numbers of one run
    rows: Rows,
    *,
    margin: Exact,
    epsilon: Exact,
    delta: Exact,
    weight_norm: Exact = 1,
    adjacency: Adjacency | str = "replace_one",
    variant: Variant = "permutation",
    calibration: Literal["exact", "paper"] = "exact",
    chosen_by: Literal["ramp", "hinge"] = "ramp",
    failure: Exact = "1/20",
    choice_share: Exact = "1/10",
    by_place: bool = True,
    source: BitSource | None = None,
) -> ErmResult:
    """A linear classifier whose mean hinge loss is small, with (epsilon, delta)-differential privacy.

    Args:
      rows: records as integers, with labels 0 and 1; their number, width, bound and step are public.
      margin: where the hinge loss ends, exact, in the units of the features times those of the weights.
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      weight_norm: radius of the ball of weights, public, exact.
      adjacency: replace_one or zero_out.
      variant: "direct" for one pass over a random permutation, "permutation" for several and a private choice among them,
        "faithful" for several that draw every place again, as published.
      calibration: "exact" for the least noise that meets the budget; "paper" for the published constants, with variant "faithful".
      chosen_by: the loss by which a pass is chosen, "ramp" or "hinge".
      failure: probability with which the promised accuracy may be missed, exact, in (0, 1); it sets the number of passes.
      choice_share: part of epsilon for the choice, exact, in (0, 1).
      by_place: whether the price counts the place of a record in its phase, and not only which phase has it.
      source: random bits; None takes the operating system's. A seeded source is for tests: the record says so, and what the run
        would cost to whoever knows the order.
    Returns:
      An `ErmResult`.
    Raises:
      InvalidArgument: a parameter that is not allowed (DPA101 to DPA109), before anything is drawn.
      Unsupported: another neighbouring relation (DPA604).
    Source: Bassily, Mohri, Suresh 2022, Algorithm 4; docs/margins.md, Theorem 1.
    Example:
      >>> from learners.rows.ingest import to_rows
      >>> rows = to_rows(np.eye(4), np.array([0, 1, 0, 1]), feature_norm=1, lattice_bits=10)
      >>> result = private_erm(rows, margin="1/4", epsilon=1, delta="1e-5", variant="direct")
      >>> result.weights.shape, result.privacy.epsilon <= 1
      ((4,), True)
    """
    radius = positive(weight_norm, "weight_norm")
    relation, risk, bits = Adjacency.of(adjacency), positive(delta, "delta"), bit_source(source)
    instance_of(rows, Rows, "rows")
    plan = erm_plan(
        records=rows.steps.shape[0],
        columns=rows.steps.shape[1],
        bound=rows.bound,
        margin=positive(margin, "margin") / (radius * rows.bound * rows.step),
        epsilon=epsilon,
        delta=risk,
        adjacency=relation,
        variant=variant,
        calibration=calibration,
        chosen_by=chosen_by,
        failure=failure,
        choice_share=choice_share,
        by_place=by_place,
    )
    public = {"records": plan.schedule.records, "columns": plan.schedule.columns, "variant": variant, "margin": str(margin)}
    notes = [] if bits.secure else [known_order_note(plan, risk)]
    promised = PrivacyRecord.of(plan.charges, adjacency=relation, delta=risk, public=public, notes=notes)
    if promised.epsilon > positive(epsilon, "epsilon"):
        raise AssertionError("the passes are planned to cost more than epsilon")
    with recording() as log:
        weights = run(rows, plan, bits)
    privacy = promised.ran(log)
    return ErmResult(weights * (float(radius) / 2**WEIGHT_BITS), plan, privacy)


def known_order_note(plan: ErmPlan, delta: Fraction) -> str:
    """Return what a record says about a run whose order came from a seeded source."""
    epsilon = plan.known_order(delta)
    return KNOWN_ORDER.format(outward(epsilon, digits=6, up=True) if isinstance(epsilon, Fraction) else "infinite")


def _hinge(margin: int, bound: int) -> tuple[Loss, int]:
    """The hinge loss on its grid for weights of norm at most 2**WEIGHT_BITS, with its sensitivity."""
    return hinges(margin=margin, bits=_SCORE_BITS, largest=bound << WEIGHT_BITS)


def _least_multiplier(
    squares: tuple[tuple[Fraction, Fraction], ...], beyond: Fraction, epsilon: float, delta: float, width: float
) -> Fraction:
    """The least noise at which the mean over orders of the profile, beside a choice of range `width`, is below delta, rounded up.

    Floats find it, a thousandth of delta below the budget; the accountant certifies afterwards what a run costs.
    """
    roots = np.sqrt(np.array([float(square) for square, _ in squares]))
    chances = np.array([float(chance) for _, chance in squares])[roots > 0]
    roots = roots[roots > 0]
    target = delta * _SPARE - float(beyond)
    if target <= 0:
        least = f"above {float(beyond):.3g} for records drawn with replacement, got {delta:.3g}"
        raise InvalidArgument("DPA103", f"delta must be {least}. Give a larger one, or take variant='permutation'.")

    def profile(multiplier: float) -> float:
        """Mean over orders of delta at epsilon."""
        return float(chances @ _normal_profiles(roots / multiplier, epsilon, width))

    low, high = _NARROWEST, _WIDEST
    if profile(high) > target:
        raise InvalidArgument("DPA108", "epsilon and delta need more noise than 64 bits hold. Give larger ones.")
    while high > low * (1 + 2.0**-30):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if profile(middle) <= target else (middle, high)
    return Fraction(math.ceil(high * 2**_MULTIPLIER_BITS), 2**_MULTIPLIER_BITS)


def _normal_profiles(means: NDArray[np.float64], epsilon: float, width: float) -> NDArray[np.float64]:
    """Deltas of normal losses, alone or beside the worst loss of range `width`, as floats: docs/sampling_schemes.md."""
    from scipy.special import log_ndtr

    if not width:
        above, below = log_ndtr(means / 2 - epsilon / means), log_ndtr(-means / 2 - epsilon / means)
        return np.asarray(np.exp(above) * -np.expm1(np.minimum(epsilon + below - above, 0.0)))
    total = np.zeros_like(means)
    for sign in (1, -1):
        places = (epsilon - sign * width) / means
        outer = np.exp(sign * width / 2 + log_ndtr(means / 2 - places)) + np.exp(
            epsilon - sign * width / 2 + log_ndtr(-means / 2 - places)
        )
        total += sign * (outer - 2 * np.exp(epsilon / 2 - means**2 / 8 + log_ndtr(-places)))
    return np.asarray(total / (2 * math.sinh(width / 2)))


def _paper_multiplier(epsilon: Fraction, delta: Fraction, rounds: int) -> Fraction:
    """The noise by the paper's constants, relative to the sensitivity of a phase, rounded up."""
    if float(epsilon) > math.log(1 / float(delta)):
        raise InvalidArgument("DPA103", "calibration='paper' needs epsilon of at most log(1/delta). Use calibration='exact'.")
    share = float(epsilon) / (4 * rounds * math.log(2 * rounds / float(delta)))
    risk = math.log(4 * rounds * math.log(2 * rounds / float(delta)) / float(delta) ** 2)
    return Fraction(math.ceil(2 * math.sqrt(risk) / share * 2**_MULTIPLIER_BITS), 2**_MULTIPLIER_BITS)
