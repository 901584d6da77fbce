"""Public-data Assisted Private Stochastic Optimization: spans, covers and lower bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.dossier import Found, Kind, Standing
from proofs.papers.points import LABELS, LENGTH
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

_claim = claims("Public data")


@_claim(
    "P1",
    "Theorem 4, appendix C.1",
    quote="The privacy guarantee follows from the privacy guarantee of sub-routine",
    promised="Learning in the span of public records is private for the private ones, whatever the public records are.",
    expects=Standing.HOLDS,
    number="no cost",
    correction=(
        "A program must read tolerance, number of directions and scale from public records alone, and cut images afterwards."
    ),
    code=(
        "learners/public_data/subspace.py:public_subspace",
        "learners/public_data/subspace_classifier.py:PublicSubspaceClassifier",
    ),
)
def _p1(runs: int) -> Found:
    """The lemmas, all releases of the shipped learner, and two ways to spoil it."""
    return decision(
        "It is: the map knows public records alone, and neighbours stay neighbours. A number of directions or a scale that was "
        "read from "
        "private records gives them away.",
        "no cost",
        lemma(
            "images of neighbours differ in one record and are no longer than before, so that the subroutine's promise carries "
            "over",
            *("papers.projection", "sensitivity.clip", "sums.replaced"),
            where="every public dataset, every private subroutine",
        ),
        survives("public_subspace_releases", runs),
        refuted("broken_pooled_rank", runs),
        refuted("broken_private_scale", runs),
        survives("public_scale", runs),
        proof("PublicSubspaceClassifier"),
    )


@_claim(
    "P2",
    "section 4.1, output of Algorithm 1",
    Kind.READING,
    quote="The output of the subroutine is then embedded back in",
    promised="The embedded output lies in the set of weights that was searched, whatever convex set that is.",
    expects=Standing.CONDITION,
    number="6/5 of 1",
    correction="It does in a ball around 0. A projection can leave other convex sets; the learner searches balls only.",
    code=("learners/public_data/subspace_classifier.py:PublicSubspaceClassifier",),
)
def _p2(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The lemma for balls, and a projection that leaves the ball of the sum of sizes."""
    point, line = (Fraction(1), Fraction(0)), (Fraction(2), Fraction(1))
    along = (point[0] * line[0] + point[1] * line[1]) / (line[0] * line[0] + line[1] * line[1])
    size = sum(abs(along * each) for each in line)
    return decision(
        "Formulas are missing from our text. In a ball around 0 it does; but (1, 0), projected on the line through (2, 1), has "
        "entries "
        f"that add up to {size}.",
        f"{size} of 1",
        lemma("a projection is no longer than what it projects", "papers.projection", where="every ball around 0, every span"),
        computed(
            size <= sum(map(abs, point)),
            f"sum of sizes: {size}",
            where="the ball of the sum of sizes, (1, 0), the line through (2, 1)",
            expects=False,
        ),
    )


@_claim(
    "P3",
    "section 4.1, after Theorem 4; the cited regularised exponential mechanism",
    Kind.READING,
    quote="regularized exponential mechanism [26]",
    promised=(
        "Weights with density exp(-k (loss + nu/2 x squared norm)) are Gaussian private at mu = (L/n) sqrt(k/nu), losses "
        "L-Lipschitz."
    ),
    expects=Standing.CONDITION,
    number="2 times mu: at n = 10 delta 0.1269 for 0.00683",
    correction=(
        "Put 2 L/n where a record is replaced: the cited theorem is about the difference of two losses. A close sampler adds delta."
    ),
    code=("learners/public_data/subspace_classifier.py:PublicSubspaceClassifier",),
)
def _p3(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Linear losses, for which the law is normal and everything is known."""
    lipschitz, count, strength, nu = Fraction(1), 10, Fraction(100), Fraction(4)
    moved = 2 * lipschitz / count / nu
    squared, claimed = moved**2 * strength * nu, (lipschitz / count) ** 2 * strength / nu
    root = math.isqrt(int(strength * nu))
    delta = gaussian_loss(moved * root).delta(epsilon=1).lower
    allowed = gaussian_loss(lipschitz / count / nu * root).delta(epsilon=1).upper
    times = squared / claimed
    return decision(
        "For linear losses the law is normal, and replacing a record shifts it by (2 L/n) sqrt(k/nu) standard deviations: "
        f"{times} times the "
        "square of the reading with L/n.",
        f"{float(times) ** 0.5:g} times mu: at n = {count} delta {digits(delta, up=False)} for {digits(allowed)}",
        computed(
            squared <= claimed,
            f"squared shift {squared}, {claimed} with L/n; delta at epsilon 1 is {digits(delta, up=False)}, not {digits(allowed)}",
            where=f"linear losses, L = {lipschitz}, n = {count}, k = {strength}, nu = {nu}",
            expects=False,
        ),
        computed(squared == 4 * claimed, "2 L/n is reached, so that no smaller mu is true", about="repair"),
    )


_REACH: Final = 16


@_claim(
    "P4",
    "Theorem 8, appendix D.1",
    quote="The privacy proof follows from the guarantee of exponential mechanism",
    promised="A choice from a cover by summed loss is epsilon-private at the sensitivity min(B, 2 G M).",
    expects=Standing.HOLDS,
    number="1/2 of 1; 32 of 32 centred",
    correction=(
        "With labels without a bound the loss itself moves further, but for all hypotheses alike: a program takes the loss at 0 "
        "away."
    ),
    code=("learners/public_data/cover_classifier.py:PublicCoverClassifier", "learners/solvers/hinge.py:hinges"),
)
def _p4(runs: int) -> Found:
    """The lemmas; three hypotheses, losses |h - y| for labels up to a million, with and without a centre."""
    hypotheses, range_of = (-_REACH, 0, _REACH), 2 * _REACH
    losses = {label: [abs(each - label) for each in hypotheses] for label in LABELS}
    pairs = [(losses[first], losses[second]) for first, second in product(LABELS, repeat=2)]
    realised = choice_epsilon(pairs, Fraction(1, 2 * range_of))
    moved = max(abs(after - before) for first, second in pairs for before, after in zip(first, second, strict=True))
    centred = max(
        abs(absolute_loss([first], each, centred=True) - absolute_loss([second], each, centred=True))
        for first, second in product(LABELS, repeat=2)
        for each in hypotheses
    )
    return decision(
        "It is. The constant is missing from our text; read as min(B, 2 G M) it is right, because the choice depends on "
        "differences between "
        f"hypotheses alone. The loss itself may move by {moved:,} where that is {range_of}, and the choice spends "
        f"{digits(realised)} of 1.",
        f"{Fraction(digits(realised))} of 1; {centred} of {range_of} centred",
        lemma(
            "less its value at 0 a G-Lipschitz loss of predictions up to M is within G M, so it moves by at most 2 G M; the law "
            "of the choice is "
            "that of the loss; a loss up to B moves by at most B",
            *("learners.centred_range", "scores.one_score", "selection.ratio"),
            where="every cover, G, M, B, labels without a bound, every epsilon > 0",
        ),
        computed(centred <= range_of, f"the centred loss moves by {centred}", about="repair", kind="enumeration"),
        refuted("broken_uncentred_loss", runs),
        survives("centred_loss", runs),
        refuted("broken_half_range", runs),
        survives("public_cover_choice", runs),
        proof("PublicCoverClassifier"),
    )


@_claim(
    "P5",
    "section 3.2, the argument of Theorem 3",
    quote="any sufficiently accurate algorithm must strongly correlate with the sampled datapoints",
    promised=(
        "An accurate mean correlates with every record, so that a private one cannot be too accurate even with public records."
    ),
    expects=Standing.HOLDS,
    number="error 13.333 < 165.16",
    correction="With explicit constants, which the text leaves open, it is a test that refutes means that are too accurate.",
    code=("dpaudit/auditor/membership/public_data.py:refute_by_accuracy",),
)
def _p5(runs: int) -> Found:  # noqa: ARG001 - the tests have lengths of their own
    """The identity as a lemma, and the test on a mean without noise and on an answer without records."""
    from dpaudit.auditor.membership import refute_by_accuracy

    claim = Claim(PureDP(epsilon="1/2"), adjacency="replace_one")
    sizes: dict[str, Any] = {"dimension": 2000, "private": 100, "claim": claim, **LENGTH}
    bare = refute_by_accuracy(lambda rows, _public, _rng: rows.mean(axis=0), **sizes)
    noisy = refute_by_accuracy(lambda rows, _public, rng: np.sign(rng.normal(size=rows.shape[1])), **sizes)
    return decision(
        f"It does. At epsilon 1/2 the mean of 100 records of 2000 signs has a squared error of {bare.mean:.0f}, below the "
        f"{float(bare.floor):.0f} that any private mean has, and is refuted.",
        f"error {bare.mean:.3f} < {float(bare.floor):.2f}",
        lemma(
            "the mean over p of the summed correlations of an answer with records of mean p is that of 2 p times the answer: "
            "both are linear, "
            "and for a product of s signs both are 2/(s + 2) or, by symmetry, 0; privacy bounds each correlation",
            *("papers.fingerprint", "learners.means"),
            where="every function of any number of signs, every (epsilon, delta)",
        ),
        computed(not bare.refuted, f"a mean without noise: {bare.finding.detail}", about="shortcut", kind="attack", expects=False),
        computed(not noisy.refuted, f"an answer that ignores the records: {noisy.finding.detail}", about="repair", kind="attack"),
    )


ITEMS: Final = (_p1, _p2, _p3, _p4, _p5)
"""All of them."""
