"""Differentially Private Learning with Kernels: what a record moves, interactive answers, noisy values, and their rivals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
from flint import acb, arb, fmpq, fmpq_mat

from dpaudit.accounting import bounded_range, compose, laplace, pure_dp, update_charged
from dpaudit.dossier import Found, Standing
from dpaudit.exact import ball, ball_endpoints, working_precision
from learners.kernels.half_balls import draw_from_half_balls
from mechanisms.sampling.random import source_from
from proofs.papers.witnessing import claims, computed, decision, digits, lemma, model, priced, proof, refuted, survives

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_claim = claims("Kernels")
_MILLIONTH: Final = "1e-6"


@_claim(
    "K1",
    "section 4, sensitivity of the minimiser",
    promised="One record moves a regularised minimiser by at most 2 L R/(n lambda).",
    expects=Standing.HOLDS,
    correction=(
        "For exact minimisers, Lipschitz losses and no free intercept; a solver's error is added, an intercept gets a ridge too."
    ),
    code=("learners/solvers/certified.py:minimise", "learners/solvers/minimum.py:minimum"),
)
def _k1(runs: int) -> Found:
    """Linear losses, which reach the bound, a smaller bound that a solver refutes, and two ways to lose it."""
    count, ridge = 9, Fraction(1, 7)
    sides = [[1] * count, [1] * (count - 1) + [-1]]
    minimisers = [Fraction(sum(side), count) / ridge for side in sides]
    moved, bound = abs(minimisers[0] - minimisers[1]), 2 / (count * ridge)
    smaller = model(
        "sensitivity.minimiser", "strength*D*n <= L*R", "half of it is refuted by a solver's numbers", about="correction"
    )
    return decision(
        f"Linear losses of nine records reach the bound exactly: {moved} of {bound}. Without a ridge a free intercept jumps by 2 "
        "at any n.",
        f"{moved} of {bound}",
        computed(moved <= bound, f"the minimiser of nine linear losses moves by {moved}, the bound is {bound}"),
        *lemma("sensitivity.minimiser", "sensitivity.prediction"),
        computed(not smaller.holds, smaller.says, about="correction", kind="model", name=smaller.name),
        *lemma("sensitivity.minimiser_residual", about="correction"),
        refuted("broken_intercept", runs),
        refuted("broken_tolerance", runs),
        survives("kernel_coordinates", runs),
        proof("GaussianProcessRelease"),
    )


def _run(scale: Fraction, updates: int) -> PrivacyLoss:
    """An interactive run, in units of what a record moves a value by, with its threshold far out."""
    return update_charged(scale=scale, sensitivity=1, threshold=80 * scale, updates=updates, adjacency="replace_one")


def _printed(updates: int) -> Fraction:
    """The printed noise at epsilon 1 and delta 1e-6, with its units put right."""
    return Fraction(math.floor(50 * math.sqrt(updates) * math.log(4e6)))


_RATE: Final = Fraction(6016, 100_000)
_UPDATES: Final = 10


def _silence(epsilon: Fraction) -> Fraction:
    """What delta the number of silent rounds alone shows at an epsilon, from below: two negative binomial laws."""
    with working_precision(128):
        odds = ball(epsilon).exp()
        often, seldom = 1 - (ball(-24 * _RATE / 100)).exp() / 2, (ball(-76 * _RATE / 100)).exp() / 2
        total = ball(0)
        for first, second in ((often, seldom), (seldom, often)):
            p, q, found = first**_UPDATES, second**_UPDATES, ball(0)
            for silent in range(300):
                excess = p - odds * q
                if excess > 0:
                    found += excess
                growth = ball(Fraction(silent + _UPDATES, silent + 1))
                p, q = p * growth * (1 - first), q * growth * (1 - second)
            total = max(found, total)
        return Fraction(ball_endpoints(total)[0])


@_claim(
    "K2",
    "Theorem 2, Algorithm 1",
    promised="An interactive run is (epsilon, delta)-private, because only its B updates cost anything.",
    expects=Standing.OTHERWISE,
    correction="Silence tells something too. A moment bound that counts it covers the printed noise, with a hundredfold to spare.",
    code=("dpaudit/accounting/builders/pairs.py:update_charged", "learners/kernels/interactive.py:InteractiveKernelPredictor"),
)
def _k2(runs: int) -> Found:
    """The printed noise under the bound that counts silence, and an analyst at the edge of the threshold."""
    prices = [
        priced(_run(_printed(updates), updates), _MILLIONTH, 1, f"{updates} updates at the printed noise")
        for updates in (10, 50, 200)
    ]
    updates_alone = (_UPDATES * pure_dp(epsilon=_RATE, adjacency="replace_one")).epsilon(delta=_MILLIONTH)
    shown = Fraction(178, 100)
    delta = _silence(shown)
    return decision(
        f"Ten updates of {float(_RATE):.4f} each compose to epsilon {digits(updates_alone.upper)}. An analyst whose questions lie "
        f"at the edge learns epsilon {float(shown):.2f} from the number of silent rounds alone. At the printed noise the whole "
        f"run costs at most {max(each.span.price or 0 for each in prices if each.span):.3g} all the same.",
        f"epsilon {float(shown):.2f} where {digits(updates_alone.upper)} is argued",
        *prices,
        *lemma("learners.supermartingale", "learners.convex_ends"),
        computed(
            not (delta > Fraction(1, 10**6) and updates_alone.upper < shown),
            f"the silent rounds have delta {digits(delta)} at epsilon {float(shown)}, where the updates allow "
            f"{digits(updates_alone.upper)} at 1e-6",
            about="argument",
            kind="enumeration",
        ),
        refuted("broken_kernel_silence", runs),
        survives("kernel_silence", runs),
        proof("InteractiveKernelPredictor"),
    )


@_claim(
    "K3",
    "Theorem 2",
    promised="Each answer of a run is (epsilon, delta)-private, and hence the whole run is.",
    expects=Standing.OTHERWISE,
    correction="Privacy of each answer does not add up to that of all. The run keeps the promise by the bound of K2.",
    code=("dpaudit/accounting/builders/pairs.py:update_charged", "dpaudit/accounting/privacy_loss.py:compose"),
)
def _k3(runs: int) -> Found:  # noqa: ARG001 - the attack on runs belongs to K2
    """Answers that are private by themselves, and together are not; and the printed noise."""
    one = laplace(scale=2, sensitivity=1, adjacency="replace_one")
    together = (100 * one).epsilon(delta=_MILLIONTH)
    whole = priced(_run(_printed(_UPDATES), _UPDATES), _MILLIONTH, 1, "a run of any length, ten updates, at the printed noise")
    return decision(
        f"A hundred answers, each of epsilon 1/2, cost at least {float(together.lower):.3g} together; what holds for each says "
        "little of all.",
        f"{float(together.lower):.3g} against 1/2",
        computed(
            together.lower <= Fraction(1, 2),
            f"100 answers of epsilon 1/2: at least {float(together.lower):.4g} at delta 1e-6",
            about="argument",
            kind="price",
        ),
        whole,
        proof("InteractiveKernelPredictor"),
    )


@_claim(
    "K4",
    "Algorithm 1, input C",
    promised="The number of updates may be set by a bound C on the norm of the minimiser.",
    expects=Standing.PART,
    correction="By the public bound L R/lambda. A C that is computed from the minimiser shows it.",
    code=("learners/kernels/charged_updates.py:update_release_plan",),
)
def _k4(runs: int) -> Found:
    """The lemma on the norm, and a number of updates from the norm itself."""
    ridge = Fraction(1, 3)
    norms = [abs(Fraction(sum(sides), 5)) / ridge for sides in product((1, -1), repeat=5)]
    return decision(
        f"No dataset has a minimiser longer than L R/lambda ({max(norms)} of {1 / ridge} over all signs of five records). A "
        "number of updates that follows the norm itself differs between neighbours for certain.",
        "certain to be told apart",
        computed(
            max(norms) <= 1 / ridge, f"largest norm over {len(norms)} datasets: {max(norms)} of {1 / ridge}", kind="enumeration"
        ),
        *lemma("sensitivity.minimiser_norm"),
        refuted("broken_kernel_updates", runs, about="claim"),
        survives("kernel_coordinates", runs),
    )


@_claim(
    "K5",
    "Theorem 4, Algorithm 2",
    promised="T values with Laplace noise of a scale in the order of sqrt(T log(1/delta))/epsilon are (epsilon, delta)-private.",
    expects=Standing.PART,
    correction=(
        "With the constant sqrt(8) it holds at usual epsilons, not at very large ones; noise on the whole function needs no "
        "sqrt(T)."
    ),
    code=("learners/kernels/semi_interactive.py:SemiInteractiveKernelClassifier",),
)
def _k5(runs: int) -> Found:
    """The accountant for several T and epsilon."""
    rows, large = [], None
    for count, epsilon in product((10, 100, 1000), (Fraction(1, 10), Fraction(1))):
        scale = Fraction(math.ceil(1000 * math.sqrt(8 * count * math.log(1e6)) / float(epsilon)), 1000)
        loss = count * laplace(scale=scale, sensitivity=1, adjacency="replace_one")
        rows.append(priced(loss, _MILLIONTH, epsilon, f"{count} values at epsilon {float(epsilon):g}"))
    scale = Fraction(math.ceil(1000 * math.sqrt(8 * 1000 * math.log(1e6)) / 300), 1000)
    large = (1000 * laplace(scale=scale, sensitivity=1, adjacency="replace_one")).epsilon(delta=_MILLIONTH)
    worst = max(row.span.price or 0 for row in rows if row.span)
    return decision(
        f"At epsilon 1/10 and 1 such noise costs at most {worst:.2f} of the promise; at epsilon 300 it costs at least "
        f"{float(large.lower):.0f}.",
        f"{worst:.2f} of the promise",
        *rows,
        computed(large.lower <= 300, f"1000 values at epsilon 300: at least {float(large.lower):.1f}", kind="price"),
        survives("kernel_values", runs),
        proof("SemiInteractiveKernelClassifier"),
    )


@_claim(
    "K6",
    "Theorem 7, Algorithm 3",
    promised="B rounds that choose a point, test it and show its value are (epsilon, delta)-private.",
    expects=Standing.HOLDS,
    correction="All rounds are charged, each with three mechanisms. The value need not be shown; the shipped learner does not.",
    code=("learners/kernels/non_interactive.py:NonInteractiveKernelClassifier",),
)
def _k6(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Three mechanisms a round at the printed noise."""
    rows = []
    for updates in (3, 10, 100):
        rate = 1 / _printed(updates)
        chosen = bounded_range(epsilon=rate / 2, adjacency="replace_one")
        shown = laplace(scale=1 / rate, sensitivity=1, adjacency="replace_one")
        rows.append(priced(compose(updates * chosen, 2 * updates * shown), _MILLIONTH, 1, f"{updates} rounds of three mechanisms"))
    worst = max(row.span.price or 0 for row in rows if row.span)
    return decision(
        f"At the printed noise up to a hundred rounds cost at most {worst:.2g} where 1 is allowed.",
        f"epsilon {worst:.2g} of 1",
        *rows,
        proof("NonInteractiveKernelClassifier"),
    )


_DIMENSION: Final = 5
_STRENGTH: Final = 7


def _mean_size(*, mixed: bool) -> Fraction:
    """Mean of |s| for the density (1 - s^2)^2 exp(7 |s|), or with cosh(7 s): the mixture of both ends of the ball."""

    def total(power: int) -> arb:
        """The integral of a power of s."""

        def density(at: acb, _: bool) -> acb:  # noqa: FBT001 - as the quadrature calls it
            """Entire in s."""
            weight = (_STRENGTH * at).cosh() if mixed else (_STRENGTH * at).exp()
            return at**power * (1 - at**2) ** ((_DIMENSION - 1) // 2) * weight

        return acb.integral(density, acb(0), acb(1)).real

    with working_precision(128):
        return Fraction(ball_endpoints(total(1) / total(0))[1])


@_claim(
    "K7",
    "section 6, linear kernels",
    promised="For linear kernels the point is drawn efficiently, from a law that is log-concave on each side.",
    expects=Standing.PART,
    correction=(
        "Two half-balls of equal mass, drawn exactly through one angle. A chain that is only close must be paid for in delta."
    ),
    code=("learners/kernels/half_balls.py:draw_from_half_balls",),
)
def _k7(runs: int) -> Found:  # noqa: ARG001 - the law is looked at itself
    """The mean size of the coordinate in both laws, and in draws of the shipped sampler."""
    right, mixture, count = _mean_size(mixed=False), _mean_size(mixed=True), 400
    source = source_from(np.random.default_rng(7))
    direction = [1] + [0] * (_DIMENSION - 1)
    drawn = [abs(int(draw_from_half_balls(direction, Fraction(_STRENGTH), source)[0])) / 2**20 for _ in range(count)]
    room = math.sqrt(math.log(2e9) / (2 * count))
    mean = sum(drawn) / count
    return decision(
        f"In dimension {_DIMENSION} the wanted law has a mean size of {digits(right)}; the even mixture of one-sided laws on the "
        f"whole ball has {digits(mixture)} and is another law. {count} draws of the shipped sampler have {mean:.3f}.",
        f"{digits(right)} against {digits(mixture)}",
        computed(
            abs(mean - float(right)) <= room,
            f"{count} draws: mean {mean:.4f}, within {room:.3f} of {digits(right)} but with probability 1e-9",
            kind="test",
        ),
        computed(
            abs(right - mixture) < Fraction(1, 10**6), f"mean sizes of the two laws: {digits(right, 6)} and {digits(mixture, 6)}"
        ),
        proof("NonInteractiveKernelClassifier"),
    )


def _logistic(margin: arb) -> arb:
    """1/(1 + exp(margin)): minus the slope of the logistic loss."""
    return 1 / (1 + margin.exp())


def _wide(count: int, ridge: Fraction) -> tuple[Fraction, Fraction]:
    """Log-ratio of the densities of the weights for a record that turns, and what is claimed for it: linear term and curvature."""
    with working_precision(128):
        sine, cosine = ball(Fraction(1, 10)), ball(Fraction(99, 100)).sqrt()
        height = ball(60)
        others, strength = ball(count - 1), ball(count * ridge)
        slope, bend = _logistic(-sine * height), _logistic(-sine * height) * (1 - _logistic(-sine * height))
        norms, logs = [], []
        for side in (1, -1):
            first, second = others / 2 + side * slope * cosine, -slope * sine - strength * height
            norms.append((first**2 + second**2).sqrt())
            a, b = strength + others / 4 + bend * cosine**2, strength + bend * sine**2
            logs.append((a * b - (bend * sine * cosine) ** 2).log())
        share = 1 - 2 * (1 + ball(Fraction(1, 4)) / strength).log()
        ratio = share / 2 * (norms[0] - norms[1]) + abs(logs[0] - logs[1])
        return Fraction(ball_endpoints(abs(ratio))[1]), Fraction(ball_endpoints(share)[1])


def _line(count: int, ridge: Fraction) -> Fraction:
    """Largest log-ratio of densities on a line, over a grid of weights, where one of `count` logistic records changes side."""
    worst = Fraction(0)
    with working_precision(64):
        strength = ball(count * ridge)
        share = 1 - 2 * (1 + ball(Fraction(1, 4)) / strength).log()
        for step in range(-60, 61):
            weight = ball(Fraction(step, 10))
            terms = []
            for sides in ([1] * count, [1] * (count - 1) + [-1]):
                slopes = [side * _logistic(side * weight) for side in sides]
                bends = [abs(slope) * (1 - abs(slope)) for slope in slopes]
                term = sum(slopes, start=ball(0)) - strength * weight
                curve = sum(bends, start=strength)
                terms.append(curve.log() - share / 2 * abs(term))
            worst = max(worst, Fraction(ball_endpoints(abs(terms[0] - terms[1]))[1]))
    return worst


@_claim(
    "K8",
    "rival: objective perturbation (Chaudhuri and others 2011)",
    promised="Minimisers of an objective with a random linear term are epsilon-private.",
    expects=Standing.HOLDS,
    correction="For exact minimisers and smooth losses. The solver's error needs noise of its own, for both runs.",
    code=("learners/perturbation/objective.py:ObjectivePerturbation",),
)
def _k8(runs: int) -> Found:
    """Density ratios by change of variables: on a line, and where a record turns among many that all point elsewhere."""
    line = _line(10, Fraction(1))
    tight, allowed = _wide(100_000, Fraction(1, 10_000))
    return decision(
        f"On a line the density changes by at most e^{digits(line)} at epsilon 1; where one of 100,000 records turns, by "
        f"e^{digits(tight)} of e^{digits(allowed)}.",
        f"{digits(tight)} of {digits(allowed)}",
        computed(line <= 1, f"ten logistic records on a line, 121 weights: at most {digits(line)} of 1"),
        computed(tight <= allowed, f"a record that turns among 100,000: {digits(tight)} of {digits(allowed)}"),
        *lemma("minimisers.linear_term", "minimisers.curvature"),
        refuted("broken_one_sided_noise", runs),
        survives("objective_perturbation", runs),
        proof("ObjectivePerturbation"),
    )


def _shift(points: int, columns: int, seed: int) -> Fraction:
    """Squared Mahalanobis shift of values at points when the function moves by 1 along the first axis, exactly."""
    steps = np.random.default_rng(seed).integers(-9, 10, size=(points, columns)).tolist()
    gram = fmpq_mat(points, points, [fmpq(sum(a * b for a, b in zip(x, y, strict=True))) for x in steps for y in steps])
    moved = fmpq_mat(points, 1, [fmpq(x[0]) for x in steps])
    found = (moved.transpose() * gram.solve(moved))[0, 0]
    return Fraction(int(found.p), int(found.q))


@_claim(
    "K9",
    "section 5, remark on noise on functions",
    promised="With noise on the whole function only quadratically many predictions can be answered.",
    expects=Standing.FAILS,
    correction=(
        "One noisy function answers any number of questions at one price. A factor of the kernel in floats does not keep it."
    ),
    code=("learners/kernels/gaussian_process.py:GaussianProcessRelease", "learners/kernels/span.py:SpanTold"),
)
def _k9(runs: int) -> Found:
    """What questions show of a function, for ever more of them, in fractions; and a factor in floats."""
    counts = (1, 5, 20, 40)
    shifts = [_shift(count, 40, 9) for count in counts]
    grows = max(shifts) > 1
    shown = ", ".join(f"{float(shift):.3f}" for shift in shifts)
    return decision(
        f"Answers to {', '.join(map(str, counts))} questions show {shown} of the squared shift that all answers together may "
        "show, and never more than 1. A Cholesky factor in floats gives two questions at an angle of 1e-8 no noise between them.",
        f"{digits(shifts[-1])} of 1 for any number",
        computed(
            grows,
            f"squared shift of {counts[-1]} answers: {digits(shifts[-1])} of 1, so that the number of questions costs nothing",
        ),
        *lemma("sensitivity.discriminant", "sensitivity.quadratic_step", about="correction"),
        refuted("broken_kernel_cholesky", runs),
        survives("kernel_span", runs),
        survives("kernel_coordinates", runs),
        proof("GaussianProcessRelease"),
    )


ITEMS: Final = (_k1, _k2, _k3, _k4, _k5, _k6, _k7, _k8, _k9)
"""All of them."""
