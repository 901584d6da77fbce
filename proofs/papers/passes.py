"""Differentially Private Learning with Margin Guarantees: passes of noisy descent, their steps, floats and orders."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.accounting import compose
from dpaudit.dossier import Found, Standing
from dpaudit.exact import ball, ball_endpoints, working_precision
from learners.rows.rows import Rows
from learners.solvers.phased import WEIGHT_BITS, batches, noisy_means, phased_sgd, schedule
from mechanisms.sampling.random import source_from
from proofs.papers.costs import plan_of
from proofs.papers.witnessing import (
    claims,
    computed,
    decision,
    digits,
    gaussian_delta,
    gaussian_loss,
    law,
    lemma,
    priced,
    proof,
    refuted,
    survives,
)

_claim = claims("Margin guarantees")
_MILLIONTH: Final = "1e-6"
_HALF: Final = Fraction(1, 2)


@_claim(
    "A7",
    "implicit in Algorithm 4, step 7",
    promised="The weights among which a pass is chosen lie in the ball that they were searched in.",
    expects=Standing.FAILS,
    correction="The last noisy mean is projected to the ball, exactly, before anything is scored with it.",
    code=("learners/solvers/phased.py:phased_sgd",),
)
def _a7(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Last means of passes before and after the projection, and what a weight outside does to a hinge loss."""
    source, outside, inside, count = source_from(np.random.default_rng(7)), 0, True, 100
    records, bound = 128, 2**10
    plan = schedule(records=records, columns=1, bound=bound, margin=1, noise_multiplier=1)
    rows = Rows(np.full((records, 1), bound, dtype=np.int32), bound, Fraction(1, bound), np.ones(records, dtype=np.int64))
    for _ in range(count):
        *_, last = noisy_means(rows, plan, np.arange(records), source)
        outside += bool(np.square(last * plan.phases[-1].lattice).sum() > 1)
        weights = phased_sgd(rows, plan, np.arange(records), source)
        inside &= sum(int(weight) ** 2 for weight in weights) <= 4**WEIGHT_BITS
    far = 1 + Fraction(100) / Fraction(1, 10)
    return decision(
        f"Of {count} passes {outside} ended outside of the ball. At weights of norm 100 one record moves a hinge loss by {far}, "
        "where 11 is the most inside of it, so that no noise covers it.",
        f"{outside} of {count} outside",
        computed(outside == 0, f"{outside} of {count} last noisy means are longer than the radius", kind="test"),
        computed(inside, f"all {count} projected ones are within it, in whole numbers", about="correction", kind="test"),
        *lemma("passes.ball", "sensitivity.clip", about="correction"),
    )


@_claim(
    "A8",
    "Appendix B.2, step 6 of Algorithm 4",
    promised="Phased descent with noise 4 L eta sqrt(log(1/delta))/epsilon is (epsilon, delta)-private.",
    expects=Standing.PART,
    correction=(
        "It is up to epsilon = 2.34 log(1/delta), if steps are smooth enough, records are used once and means are rounded first."
    ),
    code=("learners/solvers/phased.py:schedule", "learners/solvers/hinge.py:HingeStep"),
)
def _a8(runs: int) -> Found:
    """The printed noise inside of the range and outside, the lemma on steps, and what happens without each condition."""
    largest, inside, outside = 8 * (1 - 1 / math.sqrt(2)), True, False
    with working_precision(192):
        for below in (10, 10**3, 10**6, 10**12):
            logarithm = ball(below).log()
            for share in (Fraction(1, 100), Fraction(1), Fraction(234, 100)):
                epsilon = logarithm * ball(share)
                inside &= bool(gaussian_delta(epsilon, epsilon / (2 * logarithm.sqrt())) <= ball(Fraction(1, below)))
            epsilon = 16 * logarithm
            found = gaussian_delta(epsilon, epsilon / (2 * logarithm.sqrt()))
            outside |= bool(found > ball(Fraction(1, below)))
    return decision(
        f"With that noise delta is kept for epsilon up to {largest:.3f} log(1/delta) and lost at 16 log(1/delta), where it is "
        f"{float(found):.3f}. A corner that is left in the loss, a record that is used again and a mean that is not rounded each "
        "break it.",
        f"epsilon up to {largest:.2f} log(1/delta)",
        computed(inside, "delta of the printed noise at epsilon up to 2.34 log(1/delta), four values of delta: kept"),
        *lemma("learners.gradient_step_line", "passes.step", "passes.own_step", "composition.parallel"),
        computed(not outside, f"at 16 log(1/delta) it is {float(found):.4f} for delta 1e-12"),
        refuted("broken_corner", runs),
        refuted("broken_used_again", runs),
        refuted("broken_loose_mean", runs),
        survives("phased_first_mean", runs),
        proof("MarginClassifier"),
    )


@_claim(
    "A9",
    "Appendix B.2, step 6 of Algorithm 4",
    promised="Gradients of the smoothed loss may be computed with an error alpha without more noise.",
    expects=Standing.PART,
    correction=(
        "They may if 2 n eta alpha is added to what a phase is noised for. The shipped step is a closed form without an oracle."
    ),
    code=("learners/solvers/hinge.py:HingeStep",),
)
def _a9(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Two runs of n steps whose errors point in opposite directions."""
    count, eta, alpha = 1000, Fraction(1, 100), Fraction(1, 100)
    apart, total = 2 * eta, Fraction(0)
    for _ in range(count):
        total += apart
        apart += 2 * eta * alpha
    moved, exact, charged = total / count, 2 * eta, 2 * eta + 2 * count * eta * alpha
    return decision(
        f"In a phase of {count} steps with errors of 1/100 of a step's length two runs come {digits(moved / exact)} times as far "
        f"apart as exact ones; with the term added the noise covers {digits(charged / exact)} times as much.",
        f"{digits(moved / exact)} times too far",
        computed(moved <= charged, f"means apart by {digits(moved)}, {digits(charged)} is charged with the term"),
        *lemma("passes.drift_step"),
        computed(moved <= exact, f"means apart by {digits(moved)}, {digits(exact)} is charged without it"),
    )


@_claim(
    "A11",
    "Theorem 3.2, Algorithm 2",
    promised="The efficient learner is (epsilon, delta)-private.",
    expects=Standing.FAILS,
    correction=(
        "It is with the true range of the loss by which passes are chosen (A6), weights in their ball (A7), and any epsilon."
    ),
    code=("learners/margins/margin.py:MarginClassifier", "learners/margins/erm.py:private_erm"),
)
def _a11(runs: int) -> Found:
    """The choice alone spends more than everything may, and the corrected plan does not."""
    broken, spent = law("broken_hinge_choice", about="claim")
    plan = plan_of(records=300, columns=4, variant="faithful", chosen_by="hinge")
    total = compose(*(charge.loss for charge in plan.charges))
    return decision(
        "At epsilon 1 the last step alone, a choice at epsilon 1/2 by the hinge loss with the printed sensitivity, spends "
        f"{digits(spent)}, which is more than the whole promise.",
        f"epsilon {digits(spent)} of 1",
        computed(
            spent <= 1, f"the choice at the printed sensitivity spends {digits(spent)} where the total is 1", kind="enumeration"
        ),
        broken,
        priced(total, _MILLIONTH, 1, "passes and choice of the shipped learner", about="correction"),
        survives("margin_classifier", runs),
        survives("phased_first_mean", runs),
        proof("MarginClassifier"),
    )


def _drift() -> list[Fraction]:
    """What rounding in floats may add to the sensitivity of each phase, as a share of what a record adds, in a large run."""
    columns = 2048
    plan = schedule(records=100_000, columns=columns, bound=2**20, margin="1/10", noise_multiplier="169/40")
    first = Fraction(plan.phases[0].step.limit)
    each = (4 * columns + 16) * Fraction(1, 2**53) * (1 + first)
    return [2 * phase.records * each / (2 * Fraction(phase.step.limit)) for phase in plan.phases]


@_claim(
    "A21",
    "implicit throughout",
    promised="Sensitivities that are proved for real numbers are those of the program that runs.",
    expects=Standing.FAILS,
    correction=(
        "Records, sums and noise are whole numbers; what rounding may add to an iterate is part of the sensitivity of its phase."
    ),
    code=("learners/solvers/phased.py:schedule", "learners/rows/rows.py:Rows"),
)
def _a21(runs: int) -> Found:
    """One step of two neighbours at an iterate of 1, where floats round, and the allowance by phase."""
    length = Fraction(1, 2**53) + Fraction(1, 2**80)
    up, down = (Fraction(1.0 + sign * float(length)) for sign in (1, -1))
    moved = (up - down) / (2 * length)
    shares = _drift()
    return decision(
        f"From the iterate 1 two steps of length 2^-53 in opposite directions end {float(moved):.2f} times as far apart in floats "
        f"as in real numbers. In a pass over 100,000 records rounding may add {100 * float(shares[0]):.2g} % to the first phase "
        f"and {100 * float(shares[-1]):.0f} % to the last.",
        f"{float(moved):.2f} times too far",
        computed(moved <= 1, f"distance in floats over distance in reals: {float(moved):.4f}"),
        computed(
            shares[-1] < _HALF, f"allowance for rounding in the last of {len(shares)} phases: {float(shares[-1]):.3f} of 2 L eta"
        ),
        *lemma("passes.drift", "passes.drift_step", "passes.nearest", "passes.rounded", "sums.exact", about="correction"),
        refuted("broken_loose_mean", runs),
    )


@_claim(
    "A25",
    "section 2, neighbouring datasets",
    promised='Datasets are neighbours if they "differ in one sample".',
    expects=Standing.PART,
    correction=(
        "Read: one record is replaced. The number of records is public, and learners refuse to have records added or removed."
    ),
    code=("learners/margins/margin.py:MarginClassifier",),
)
def _a25(runs: int) -> Found:
    """What an added record changes that everyone sees."""
    from learners.margins.margin import MarginClassifier

    before, after = len(batches(63)), len(batches(64))
    refusal = ""
    try:
        MarginClassifier(epsilon=1, delta="1e-6", margin="1/4", feature_norm=1, adjacency="add_remove").fit([[1.0], [0.0]], [0, 1])
    except Exception as error:  # noqa: BLE001 - the code of whatever is raised is looked at
        refusal = getattr(error, "code", "")
    return decision(
        f"If a record is replaced the claims stand. If one is added to 63, a pass has {after} phases instead of {before}, which "
        "tells the two apart with certainty.",
        f"{before} against {after} releases",
        survives("phased_first_mean", runs, about="claim"),
        computed(before == after, f"{before} releases with 63 records, {after} with 64"),
        refuted("broken_dropped_record", runs),
        computed(refusal, f"the learner refuses add_remove ({refusal})", about="correction", kind="test"),
    )


def _draws(counts: tuple[int, ...], epsilon: Fraction) -> Fraction:
    """Mean number of draws until rejection sampling accepts a candidate, from below."""
    with working_precision(128):
        kept = sum(((-ball(epsilon / 2 * (count - min(counts)))).exp() for count in counts), start=ball(0))
        return Fraction(ball_endpoints(len(counts) / kept)[0])


@_claim(
    "A26",
    "implicit: how long a run takes",
    promised="The time of a run says nothing about the records.",
    expects=Standing.FAILS,
    correction="Nothing shipped promises that either: time is outside of every claim here, and the documentation says so.",
    code=("mechanisms/exponential.py:ExponentialMechanism",),
)
def _a26(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Rejection sampling of the exponential mechanism on two neighbours."""
    counts = (tuple([0] + [40] * 99), tuple([1] + [39] * 99))
    first, second = (_draws(each, Fraction(1, 5)) for each in counts)
    return decision(
        f"Textbook sampling of a choice draws {digits(first)} candidates on one dataset and {digits(second)} on its neighbour, on "
        "average.",
        f"{digits(first)} against {digits(second)} draws",
        computed(first == second, f"mean number of draws: {digits(first)} against {digits(second)}"),
    )


@_claim(
    "A27",
    "implicit: the order of the records",
    promised="A random order of the records may be counted on, because nobody knows it.",
    expects=Standing.PART,
    correction="It must be drawn in secret for every fit. Seeds are never accepted, and a run with a known order is priced as one.",
    code=("learners/margins/erm.py:erm_plan", "learners/solvers/orders.py:random_order"),
)
def _a27(runs: int) -> Found:
    """The noise for a secret order, priced for one that is known."""
    plan = plan_of()
    secret = priced(plan.charges[0].loss, _MILLIONTH, 1, "one pass in a secret order")
    known = plan.known_order(_MILLIONTH)
    release = plan.schedule.releases[0]
    worst = gaussian_loss(Fraction(release.sensitivity) / release.parameter("sigma")).epsilon(delta=_MILLIONTH)
    return decision(
        f"Noise that costs epsilon 1 as long as the order is secret costs {digits(known)} to whoever knows it.",
        f"epsilon {digits(known)} of 1",
        secret,
        *lemma("passes.mixture"),
        computed(
            worst.upper <= 1,
            f"the same noise in a known order: epsilon between {digits(worst.lower)} and {digits(worst.upper)}",
            kind="price",
        ),
        refuted("broken_known_order", runs),
        survives("phased_secret_order", runs),
    )


ITEMS: Final = (_a7, _a8, _a9, _a11, _a21, _a25, _a26, _a27)
"""All of them."""
