"""Public-data Assisted Private Stochastic Optimization: spans, covers and lower bounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.dossier import Found, Standing
from proofs.papers.specimens.public_data import absolute_loss
from proofs.papers.witnessing import (
    choice_epsilon,
    claims,
    computed,
    decision,
    digits,
    gaussian_loss,
    lemma,
    proof,
    refuted,
    survives,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_claim = claims("Public data")


@_claim(
    "P1",
    "Theorem 4, Algorithm 1",
    promised="Learning in the span of public records is private for the private ones, whatever the public records are.",
    expects=Standing.HOLDS,
    correction=(
        "Images are cut after the projection. Tolerance, number of directions and scale must be read from public records alone."
    ),
    code=(
        "learners/public_data/subspace.py:public_subspace",
        "learners/public_data/subspace_classifier.py:PublicSubspaceClassifier",
    ),
)
def _p1(runs: int) -> Found:
    """All releases of the shipped learner, a record that differs at a right angle to the span, and two ways to spoil it."""
    from learners.public_data.subspace import public_rows, public_subspace

    plane = public_subspace(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), columns=3, feature_norm=1, centred=False, reach=1)
    images = [plane.exact(public_rows(np.array([[0.3, 0.4, third]]), 3, 1)) for third in (0.0, 0.5, -0.8)]
    same = all(np.array_equal(images[0], image) for image in images)
    return decision(
        "Records that differ at a right angle to the public span have the same image, and all releases of a fit keep its "
        "promise. A number of directions or a scale that was read from private records gives them away.",
        "equal images",
        computed(same, "images of three records that differ outside of the span: equal", kind="test"),
        *lemma("sums.replaced", "sensitivity.clip"),
        survives("public_subspace_releases", runs, about="claim"),
        refuted("broken_pooled_rank", runs),
        refuted("broken_private_scale", runs),
        survives("public_scale", runs),
        proof("PublicSubspaceClassifier"),
    )


@_claim(
    "P2",
    "Algorithm 1, output",
    promised="The output lies in the set of weights that was searched.",
    expects=Standing.PART,
    correction="It does for balls around 0. A projection can leave other convex sets; the learner searches balls only.",
    code=("learners/public_data/subspace_classifier.py:PublicSubspaceClassifier",),
)
def _p2(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Projections on a line, exactly."""
    line, square = (Fraction(2), Fraction(1)), Fraction(5)
    places = [Fraction(step, 10) for step in range(-10, 11)]
    inside = True
    for x, y in product(places, repeat=2):
        along = (x * line[0] + y * line[1]) / square
        inside &= (along * line[0]) ** 2 + (along * line[1]) ** 2 <= x**2 + y**2
    image = tuple(Fraction(1) * line[0] / square * each for each in line)
    size = sum(map(abs, image))
    return decision(
        "A projection never makes a vector longer. But (1, 0), projected on the line through (2, 1), is (4/5, 2/5), whose "
        f"entries add up to {size}.",
        f"{size} of 1",
        computed(inside, f"{len(places) ** 2} vectors and their projections: none longer", kind="enumeration"),
        *lemma("sensitivity.cauchy_schwarz_two"),
        computed(size <= 1, f"sum of the sizes of entries after the projection: {size}, of a vector with 1"),
    )


@_claim(
    "P3",
    "regularised exponential mechanism",
    promised="Weights with density exp(-k (loss + nu/2 x squared norm)) are Gaussian private at mu = (L/n) sqrt(k/nu).",
    expects=Standing.PART,
    correction=(
        "mu = (2 L/n) sqrt(k/nu) where a record is replaced. A sampler that is only close costs delta; noisy sums are shipped "
        "instead."
    ),
    code=("learners/public_data/subspace_classifier.py:PublicSubspaceClassifier",),
)
def _p3(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Linear losses, for which the law is normal and everything is known."""
    lipschitz, count, strength, nu = Fraction(1), 10, Fraction(100), Fraction(4)
    moved = 2 * lipschitz / count / nu
    squared = moved**2 * strength * nu
    claimed, doubled = (lipschitz / count) ** 2 * strength / nu, (2 * lipschitz / count) ** 2 * strength / nu
    delta = gaussian_loss(Fraction(1)).delta(epsilon=1).lower
    allowed = gaussian_loss(Fraction(1, 2)).delta(epsilon=1).upper
    return decision(
        "For linear losses the law is normal; replacing a record shifts it by exactly (2 L/n) sqrt(k/nu) standard deviations, "
        "twice what L/n stands for.",
        "2 times mu",
        computed(squared <= doubled, f"squared shift {squared} in units of the variance, {doubled} with 2 L/n"),
        computed(
            squared <= claimed,
            f"squared shift {squared}, {claimed} with L/n; delta at epsilon 1 is {digits(delta)} instead of {digits(allowed)} at "
            "half of mu 1",
        ),
        computed(squared == doubled, "2 L/n is reached, so that no smaller mu is true", about="correction"),
    )


_REACH: Final = 16


@_claim(
    "P4",
    "Theorem 8, Algorithm 2",
    promised="A choice from a cover is epsilon-private, because one record moves the summed loss by at most min(B, 2 G M).",
    expects=Standing.OTHERWISE,
    correction=(
        "With labels without a bound it moves the loss by any amount, but all hypotheses alike: the loss less its value at 0 "
        "keeps 2 G M."
    ),
    code=("learners/public_data/cover_classifier.py:PublicCoverClassifier", "learners/solvers/hinge.py:hinges"),
)
def _p4(runs: int) -> Found:
    """Three hypotheses, losses |h - y| for labels up to a million, with and without a centre."""
    hypotheses, labels = (-_REACH, 0, _REACH), (-(10**6), -3, 0, 5, 10**6)
    losses = {label: [abs(each - label) for each in hypotheses] for label in labels}
    pairs = [(losses[first], losses[second]) for first, second in product(labels, repeat=2)]
    realised = choice_epsilon(pairs, Fraction(1, 2 * 2 * _REACH))
    moved = max(abs(after - before) for first, second in pairs for before, after in zip(first, second, strict=True))
    centred = max(
        abs(absolute_loss([first], each, centred=True) - absolute_loss([second], each, centred=True))
        for first, second in product(labels, repeat=2)
        for each in hypotheses
    )
    return decision(
        f"One label moves the loss by up to {moved:,} where {2 * _REACH} is allowed, so the reason is false; the choice still "
        f"spends at most {digits(realised)} of 1, because only differences between hypotheses count. Less the loss at 0 it moves "
        f"by {centred}.",
        f"{moved:,} against {2 * _REACH}",
        computed(
            realised <= 1,
            f"largest epsilon of the choice over all pairs of {len(labels)} labels: {digits(realised)}",
            kind="enumeration",
        ),
        *lemma("selection.ratio", "learners.centred_range"),
        computed(moved <= 2 * _REACH, f"the loss moves by {moved:,}, 2 G M is {2 * _REACH}", about="argument"),
        computed(
            centred <= 2 * _REACH, f"the centred loss moves by {centred} of {2 * _REACH}", about="correction", kind="enumeration"
        ),
        refuted("broken_uncentred_loss", runs),
        survives("centred_loss", runs),
        refuted("broken_half_range", runs),
        survives("public_cover_choice", runs),
        proof("PublicCoverClassifier"),
    )


def _times(first: Sequence[Fraction], second: Sequence[Fraction]) -> list[Fraction]:
    """Product of two polynomials."""
    found = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += a * b
    return found


def _mean(polynomial: Sequence[Fraction]) -> Fraction:
    """Mean of a polynomial over [-1, 1]."""
    return sum((each / (place + 1) for place, each in enumerate(polynomial) if place % 2 == 0), Fraction(0))


def _fingerprints(answers: Sequence[Fraction], count: int) -> tuple[Fraction, Fraction]:
    """Mean over p of the summed correlations of an answer with records of mean p, and of 2 p times its mean."""
    left, right = Fraction(0), Fraction(0)
    for answer, signs in zip(answers, product((-1, 1), repeat=count), strict=True):
        chance = [Fraction(1)]
        for sign in signs:
            chance = _times(chance, [Fraction(1, 2), Fraction(sign, 2)])
        left += answer * _mean(_times(chance, [Fraction(sum(signs)), Fraction(-count)]))
        right += answer * _mean(_times(chance, [Fraction(0), Fraction(2)]))
    return left, right


@_claim(
    "P5",
    "Theorems 3, 13 and 14",
    promised=(
        "An accurate mean correlates with every record, so that a private one cannot be too accurate even with public records."
    ),
    expects=Standing.HOLDS,
    correction="With explicit constants, which the text leaves open, it is a test that refutes means that are too accurate.",
    code=("dpaudit/auditor/membership/public_data.py:refute_by_accuracy",),
)
def _p5(runs: int) -> Found:  # noqa: ARG001 - the tests have lengths of their own
    """The identity for random functions of three records, and the test on a mean with noise and on one without."""
    from dpaudit.auditor.membership import refute_by_accuracy

    rng, tried, equal = np.random.default_rng(5), 60, True
    for _ in range(tried):
        answers = [Fraction(int(value), 7) for value in rng.integers(-7, 8, size=8)]
        left, right = _fingerprints(answers, 3)
        equal &= left == right
    claim = Claim(PureDP(epsilon="1/2"), adjacency="replace_one")
    sizes: dict[str, Any] = {"dimension": 2000, "private": 100, "claim": claim, "runs": 2000, "alpha": "1e-6", "seed": 5}
    bare = refute_by_accuracy(lambda rows, _public, _rng: rows.mean(axis=0), **sizes)
    noisy = refute_by_accuracy(lambda rows, _public, rng: rng.uniform(-1, 1, size=rows.shape[1]), **sizes)
    return decision(
        f"The identity behind the bound holds exactly for {tried} functions of three records. At epsilon 1/2 the mean of 100 "
        f"records of 2000 signs has a squared error of {bare.mean:.0f}, below the {float(bare.floor):.0f} that any private mean "
        "has, and is refuted.",
        f"{bare.mean:.0f} < {float(bare.floor):.0f}",
        computed(equal, f"both sides of the identity for {tried} functions, in fractions: equal", kind="enumeration"),
        *lemma("learners.means"),
        computed(bare.refuted, f"a mean without noise: {bare.finding.detail}", about="correction", kind="attack"),
        computed(
            not noisy.refuted, f"an answer that ignores the records: {noisy.finding.detail}", about="correction", kind="attack"
        ),
    )


ITEMS: Final = (_p1, _p2, _p3, _p4, _p5)
"""All of them."""
