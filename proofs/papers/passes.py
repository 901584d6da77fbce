"""Differentially Private Learning with Margin Guarantees: passes of noisy descent, their steps, floats and orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.accounting import compose
from dpaudit.dossier import Found, Kind, Standing
from dpaudit.exact import ball, ball_endpoints, working_precision
from learners.rows.rows import Rows
from learners.solvers.phased import WEIGHT_BITS, batches, noisy_means, phased_sgd, schedule
from mechanisms.sampling.random import source_from
from proofs.papers.costs import plan_of, round_is_private
from proofs.papers.points import LENGTHS, MARGIN, PASS, PLAN, SMALL
from proofs.papers.witnessing import (
    claims,
    computed,
    decision,
    digits,
    gaussian_delta,
    gaussian_loss,
    law,
    lemma,
    price_of,
    priced,
    proof,
    refuses,
    refuted,
    survives,
)

if TYPE_CHECKING:
    from flint import arb

_claim = claims("Margin guarantees")
_MILLIONTH: Final = "1e-6"


@_claim(
    "A7",
    "appendix B.2, Algorithm 4, step 6",
    Kind.CODE,
    quote=r"obtain an output  $\widetilde{w} \in \mathcal{W}$",
    promised="A program's last noisy mean lies in the ball that was searched.",
    expects=Standing.CONDITION,
    number="2 of 100 outside, up to 1.001; projected ones 3729 steps inside",
    correction="The paper says that the output lies in W, so a program must project the last noisy mean before it is scored.",
    code=("learners/solvers/phased.py:phased_sgd",),
)
def _a7(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Last means of passes before and after the projection."""
    source, count, whole = source_from(np.random.default_rng(7)), 100, 2**WEIGHT_BITS
    records, bound = PASS
    plan = schedule(records=records, columns=1, bound=bound, margin=1, noise_multiplier=1)
    rows = Rows(np.full((records, 1), bound, dtype=np.int32), bound, Fraction(1, bound), np.ones(records, dtype=np.int64))
    last, projected = [], []
    for _ in range(count):
        *_, mean = noisy_means(rows, plan, np.arange(records), source)
        last.append(abs(float(mean[0] * plan.phases[-1].lattice)))
        projected.append(abs(int(phased_sgd(rows, plan, np.arange(records), source)[0])))
    longest = max(projected)
    outside = sum(length > 1 for length in last)
    return decision(
        "The paper's text has the output in W, and with that its argument is complete. In our implementation of the cited "
        "algorithm "
        f"{outside} of {count} last means left the ball before they were projected; no finite noise covers a score there.",
        f"{outside} of {count} outside, up to {digits(max(last))}; projected ones {whole - longest} steps inside",
        computed(
            not outside,
            f"{outside} of {count} last noisy means are longer than the radius",
            kind="test",
            where=f"{count} passes over {records} records",
            expects=False,
        ),
        computed(
            longest <= whole,
            f"projected ones are {whole - longest} steps of 2^-{WEIGHT_BITS} inside at least",
            about="repair",
            kind="test",
        ),
        lemma("projecting and rounding towards zero end inside the ball", "passes.ball", "sensitivity.clip", about="repair"),
    )


def _tail(at: Sequence[arb]) -> arb:
    """What is left of delta, relative to it: of the profile of the printed noise at epsilon c l, l = ln(1/delta)."""
    share, length = at
    root = ball(2).sqrt()
    return 1 - length.exp() * (((2 - share / 4) * length.sqrt()) / root).erfc() / 2


def _keeps(share: Fraction) -> bool:
    """True if the printed noise certainly keeps delta at epsilon c l, False if it certainly does not, at delta 1e-6."""
    with working_precision(192):
        length = -ball(Fraction(_MILLIONTH)).log()
        epsilon = ball(share) * length
        return bool(gaussian_delta(epsilon, epsilon / (2 * length.sqrt())) <= ball(Fraction(_MILLIONTH)))


@_claim(
    "A8",
    "appendix B.2, proof of Lemma 3.1; the noise is that of the cited algorithm",
    Kind.READING,
    quote=r"-DP with respect to to its input dataset  $\widehat{S}^t$",
    promised=(
        "Phased descent with noise 4 L eta sqrt(log(1/delta))/epsilon is (epsilon, delta)-private at the parameters it is given."
    ),
    expects=Standing.HOLDS,
    number="epsilon up to 2.343 log(1/delta), 0.5518 of delta left at its end; 3.022 to 3.023 at delta 1e-6",
    correction="A program must keep steps smooth, use each record once a pass, and round means before it adds noise.",
    code=("learners/solvers/phased.py:schedule", "learners/solvers/hinge.py:HingeStep"),
)
def _a8(runs: int) -> Found:
    """The printed noise over its whole range, where it ends, and what happens without each condition."""
    from flint import arb

    from dpaudit.verifier.lemmas import positive_on

    with working_precision(128):
        share = Fraction(ball_endpoints(8 - ball(32).sqrt())[0])
        # Mills' ratio bounds the tail at t by exp(-t^2/2)/(t sqrt(2 pi)), which is half of exp(-t^2/2) from here on; below, half of
        # exp(-t^2/2) less the tail has the derivative exp(-t^2/2) (1/sqrt(2 pi) - t/2), and both ways meet.
        meets = (2 / arb.pi()).sqrt()
        gap = ball_endpoints(2 / (meets * (2 * arb.pi()).sqrt()) - 1)
        left = float(_tail((ball(share), ball(LENGTHS[0]))))
    cover = positive_on(_tail, ((Fraction(0), share), LENGTHS))
    low, high = Fraction(3022, 1000), Fraction(3023, 1000)
    where = "every delta in (0, 1) and epsilon up to (8 - sqrt(32)) log(1/delta), which holds the range of Algorithm 4"
    return decision(
        f"It is, for every delta and epsilon up to {float(share):.4g} log(1/delta), and Algorithm 4 asks for far less. At delta "
        "1e-6 the "
        f"noise suffices up to {float(low):.4g} log(1/delta). A corner that is left in the loss, a record that is used again and a "
        "mean that is not rounded each break it.",
        f"epsilon up to {float(share):.4g} log(1/delta), {left:.4f} of delta left at its end; {float(low):.4g} to "
        f"{float(high):.4g} at delta 1e-6",
        lemma(
            "two runs are apart by 2 L eta at most; the profile is at most the normal tail at (2 - c/4) sqrt(l), c = epsilon/l, "
            "which "
            "is at most half of exp(-t^2/2), t^2 >= 2 l, hence of delta",
            *("papers.tail", "learners.gradient_step_line", "passes.step", "passes.own_step", "composition.parallel"),
            where=where,
        ),
        computed(cover.holds, f"the tail is below delta ({cover.boxes} parts)", kind="cover", where="l in [1/100, 100]"),
        computed(gap[0] <= 0 <= gap[1], "both bounds of the tail meet at sqrt(2/pi)", about="repair"),
        computed(
            share <= low and _keeps(low) and not _keeps(high),
            f"at delta 1e-6 the range ends between {float(low):.4g} and {float(high):.4g}",
            about="repair",
        ),
        refuted("broken_corner", runs),
        refuted("broken_used_again", runs),
        refuted("broken_loose_mean", runs),
        survives("phased_first_mean", runs),
        proof("MarginClassifier"),
    )


@_claim(
    "A9",
    "appendix B.2, Algorithm 4, step 6",
    Kind.READING,
    quote=r"the smoothing parameter and the oracle accuracy parameter of  $\mathcal{A}_{\mathsf{GLL}}$  are set",
    promised="Gradients of the smoothed loss may be computed with an error alpha without more noise.",
    expects=Standing.CONDITION,
    number="10.99 times too far: 0.2198 where 0.42 covers it",
    correction="Add 2 n eta alpha to what a phase is noised for. The shipped step is a closed form without an oracle.",
    code=("learners/solvers/hinge.py:HingeStep",),
)
def _a9(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Two runs of n steps whose errors point in opposite directions."""
    count, eta, alpha = 1000, Fraction(1, 100), Fraction(1, 50)
    moved = sum((2 * eta * (1 + place * alpha) for place in range(count)), Fraction(0)) / count
    exact, charged = 2 * eta, 2 * eta * (1 + count * alpha)
    return decision(
        "The text leaves the accuracy to the cited theorem. A program that does not charge for it is off by "
        f"{digits(moved / exact)} where {count} steps err by {alpha} of a step's length.",
        f"{digits(moved / exact)} times too far: {digits(moved)} where {digits(charged)} covers it",
        lemma("each step adds 2 eta alpha to a distance: 2 n eta alpha covers n", "passes.drift_step", where="every n, eta, alpha"),
        computed(moved <= charged, f"means apart by {digits(moved)}, {digits(charged)} is charged", about="repair"),
        computed(
            moved <= exact,
            f"means apart by {digits(moved)}, {digits(exact)} is charged without it",
            where=f"n = {count}, eta = {eta}, alpha = {alpha} L",
            expects=False,
        ),
    )


@_claim(
    "A11",
    "Theorem 3.2, appendix B.3",
    quote=r"and  $0 < \varepsilon \le \log(1/\delta)$ . Algorithm 2 is  $(\varepsilon, \delta)$ -DP",
    promised="The efficient learner is (epsilon, delta)-private for 0 < delta < 1/m and 0 < epsilon <= log(1/delta).",
    expects=Standing.HOLDS,
    number="epsilon 1 of 1",
    correction="Step 7 prints no sensitivity: a program takes 2 Lambda r/(m rho) from Lemma F.3, not the bound of A6.",
    code=("learners/margins/margin.py:MarginClassifier", "learners/margins/erm.py:private_erm"),
)
def _a11(runs: int) -> Found:
    """The passes of A10, a choice by its own sensitivity, and the shipped plan."""
    plan = plan_of(**SMALL, variant="faithful", chosen_by="hinge")
    total = priced(compose(*(charge.loss for charge in plan.charges)), _MILLIONTH, 1, "passes and choice of the shipped learner")
    return decision(
        "It is, where the cited descent keeps its promise (A8) and step 7 is the exponential mechanism for its own score. The "
        "bound "
        "that A6 refutes belongs to the accuracy of that choice and is used by no step of the privacy proof.",
        f"epsilon {digits(price_of(total))} of 1",
        lemma(
            "each round is (epsilon/(2 M), delta/M)-private by A10, step 7 is (epsilon/2, 0)-private for scores of its "
            "sensitivity, "
            "images are cut record by record, and the promises add up",
            *("papers.shares", "composition.approximate", "composition.basic", "selection.ratio", "sensitivity.clip"),
            where="0 < delta < 1/m, 0 < epsilon <= log(1/delta), every descent that is (epsilon', delta')-private as cited",
        ),
        round_is_private("step"),
        total,
        law("broken_hinge_choice", about="shortcut", expects=False)[0],
        survives("margin_classifier", runs),
        survives("phased_first_mean", runs),
        proof("MarginClassifier"),
    )


def _drift() -> list[Fraction]:
    """What rounding in floats may add to the sensitivity of each phase, as a share of what a record adds, in a large run."""
    columns = 2048
    plan = schedule(**PLAN | {"columns": columns}, noise_multiplier="169/40")
    first = Fraction(plan.phases[0].step.limit)
    each = (4 * columns + 16) * Fraction(1, 2**53) * (1 + first)
    return [2 * phase.records * each / (2 * Fraction(phase.step.limit)) for phase in plan.phases]


@_claim(
    "A21",
    "throughout: vectors are real",
    Kind.CODE,
    quote=r"parameter space  $\mathcal{W} \subseteq \mathbb{B}^k(\Lambda)$",
    promised="Sensitivities that are proved for real numbers are those of the program that runs.",
    expects=Standing.CONDITION,
    number="1.5 times too far; up to 152.67 % of the last phase",
    correction="Make records, sums and noise integers; add what rounding may move an iterate by to the sensitivity of its phase.",
    code=("learners/solvers/phased.py:schedule", "learners/rows/rows.py:Rows"),
)
def _a21(runs: int) -> Found:
    """One step of two neighbours at an iterate of 1, where floats round, and the allowance by phase."""
    iterate = 1.0
    length = math.nextafter(math.ulp(iterate) / 2, math.inf)
    moved, last = (Fraction(iterate + length) - Fraction(iterate - length)) / (2 * Fraction(length)), _drift()[-1]
    percent = digits(100 * last, 6)
    return decision(
        f"From the iterate 1 two steps of length 2^-53 in opposite directions end {digits(moved)} times as far apart in floats "
        "as in "
        f"real numbers. In a pass over 100,000 records rounding may add {percent} % to the last phase.",
        f"{digits(moved)} times too far; up to {percent} % of the last phase",
        computed(moved <= 1, f"distance in floats over distance in reals: {digits(moved)}", where="the iterate 1", expects=False),
        computed(
            last <= 1,
            f"rounding may add {digits(last)} times what a record adds to the last phase",
            about="shortcut",
            expects=False,
        ),
        lemma("what floats add to a distance, and whole numbers do not", *_FLOATS, about="repair"),
        refuted("broken_loose_mean", runs),
    )


_FLOATS: Final = ("passes.drift", "passes.drift_step", "passes.nearest", "passes.rounded", "sums.exact")


@_claim(
    "A25",
    "Definition 2.1",
    Kind.CODE,
    quote="S,S (X Y)m that differ in one sample",
    promised="The claims may be used where a record is added or removed.",
    expects=Standing.CONDITION,
    number="6 releases against 5",
    correction=(
        "Both datasets have m records: one is replaced. The number of records is public, and learners refuse other relations."
    ),
    code=("learners/margins/margin.py:MarginClassifier",),
)
def _a25(runs: int) -> Found:
    """What an added record changes that everyone sees."""
    from learners.margins.margin import MarginClassifier

    records = 63
    before, after = len(batches(records)), len(batches(records + 1))
    return decision(
        f"The definition compares datasets of one size, and there the claims stand. If a record is added to 63, a pass has {after} "
        f"phases instead of {before}, which tells the two apart with certainty.",
        f"{after} releases against {before}",
        computed(
            before == after,
            f"{before} releases with {records} records, {after} with one more",
            where=f"{records} records and one more",
            expects=False,
        ),
        survives("phased_first_mean", runs),
        refuted("broken_dropped_record", runs),
        refuses(MarginClassifier, "add_remove", **MARGIN),
    )


def _draws(counts: tuple[int, ...], epsilon: Fraction) -> Fraction:
    """Mean number of draws until rejection sampling accepts a candidate, from below."""
    with working_precision(128):
        kept = sum(((-ball(epsilon / 2 * (count - min(counts)))).exp() for count in counts), start=ball(0))
        return Fraction(ball_endpoints(len(counts) / kept)[0])


@_claim(
    "A26",
    "Definition 2.1 speaks of outputs",
    Kind.CODE,
    quote="if for any measurable subset O H",
    promised="The time of a run says nothing about the records.",
    expects=Standing.CONDITION,
    number="35.55 against 31.11 draws",
    correction="The definition covers outputs alone. Time is outside every claim here too, and the documentation says so.",
    code=("mechanisms/exponential.py:ExponentialMechanism",),
)
def _a26(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Rejection sampling of the exponential mechanism on two neighbours."""
    counts = (tuple([0] + [40] * 99), tuple([1] + [39] * 99))
    first, second = (_draws(each, Fraction(1, 5)) for each in counts)
    return decision(
        f"Textbook rejection sampling draws {digits(first)} candidates on one dataset and {digits(second)} on its neighbour, on "
        "average.",
        f"{digits(first)} against {digits(second)} draws",
        computed(
            first == second, "mean numbers of draws are equal", where="100 candidates, epsilon 1/5, counts 40 and 39", expects=False
        ),
    )


@_claim(
    "A27",
    "appendix B.2, Algorithm 4, step 5",
    Kind.READING,
    quote="uniformly with replacement",
    promised="The randomness by which records are drawn or ordered may be counted on, whoever knows it.",
    expects=Standing.CONDITION,
    number="epsilon 1.19 of 1",
    correction="Draw it in secret for every fit. Seeds are never accepted, and a run with a known order is priced as one.",
    code=("learners/margins/erm.py:erm_plan", "learners/solvers/orders.py:random_order"),
)
def _a27(runs: int) -> Found:
    """The noise for a secret order, priced for one that is known."""
    claimed = 1
    plan = plan_of(epsilon=claimed)
    release = plan.schedule.releases[0]
    worst = gaussian_loss(Fraction(release.sensitivity) / release.parameter("sigma")).epsilon(delta=_MILLIONTH)
    return decision(
        f"The proof counts on the draws. Noise that costs epsilon 1 while an order is secret costs {digits(worst.upper)} to "
        "whoever "
        "knows it.",
        f"epsilon {digits(worst.upper)} of 1",
        computed(
            worst.upper <= claimed,
            f"the same noise in a known order: epsilon between {digits(worst.lower, up=False)} and {digits(worst.upper)}",
            kind="price",
            where="100,000 records, one pass, delta 1e-6",
            expects=False,
        ),
        priced(plan.charges[0].loss, _MILLIONTH, claimed, "one pass in a secret order"),
        lemma("a mixture over secret orders costs at most their mean", "passes.mixture", about="repair"),
        refuted("broken_known_order", runs),
        survives("phased_secret_order", min(runs, 1000)),
    )


ITEMS: Final = (_a7, _a8, _a9, _a11, _a21, _a25, _a26, _a27)
"""All of them."""
