"""Differentially Private Learning with Margin Guarantees: its pure choices, among classifiers, networks, labels and margins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Final

import numpy as np

from dpaudit.dossier import Found, Standing
from dpaudit.exact import ball, ball_endpoints, working_precision
from learners.choices.arcs import arcs_of
from learners.choices.counts import errors, totals
from learners.choices.generalized import GeneralizedExponential
from learners.choices.networks import network_errors
from learners.margins.label_private import candidates_of
from learners.rows.seeds import PublicBits
from learners.targets.choices import (
    ANTIPODES,
    HALF_SIDE,
    NETWORKS,
    ONE,
    Record,
    rows_of,
)
from proofs.papers.witnessing import (
    choice_epsilon,
    claims,
    computed,
    decision,
    digits,
    law,
    lemma,
    model,
    proof,
    refuted,
    survives,
)

PAPER: Final = "Margin guarantees"
_claim = claims(PAPER)
_HALF: Final = Fraction(1, 2)
_PLACES: Final = ((ONE, 0), (0, ONE), (-ONE, 0), (ONE // 2, -ONE // 2), (0, 0))
_RECORDS: Final[tuple[Record, ...]] = tuple((place, label) for place in _PLACES for label in (0, 1))


def _neighbours(size: int) -> Iterator[tuple[tuple[Record, ...], tuple[Record, ...]]]:
    """All pairs of datasets of that many records in which the last record differs; counts do not know of an order."""
    for rest in product(_RECORDS, repeat=size - 1):
        for first, second in product(_RECORDS, repeat=2):
            if first != second:
                yield (*rest, first), (*rest, second)


@cache
def _arc_counts(records: tuple[Record, ...]) -> list[int]:
    """Errors of all points on the border of the square."""
    arcs = arcs_of(rows_of(records), HALF_SIDE)
    return [int(count) for count in np.repeat(arcs.counts, arcs.lengths)]


@_claim(
    "A1",
    "Theorem 3.1, Algorithm 1",
    promised="Choosing a classifier from a fixed list by the exponential mechanism on its share of errors is epsilon-private.",
    expects=Standing.HOLDS,
    correction=(
        "The mechanism must prefer few errors: weights fall with the error, exp(-epsilon errors/2); the display has no sign."
    ),
    code=("learners/margins/pure_margin.py:PureMarginClassifier",),
)
def _a1(runs: int) -> Found:
    """All pairs of two records from ten, with both signs of the score."""
    counted = [(_arc_counts(first), _arc_counts(second)) for first, second in _neighbours(2)]
    realised, raised = (choice_epsilon(counted, rate) for rate in (_HALF, -_HALF))
    (exact, worst), doubled = law("pure_margin_choice", about="claim"), law("broken_pure_margin", about="correction")
    small = computed(
        doubled[1] > 1,
        f"without the 2 under epsilon two opposite candidates realise epsilon {digits(doubled[1])}",
        about="correction",
    )
    return decision(
        f"On all {len(counted):,} pairs of neighbours tried, 32 candidates each, no outcome's probability changes by more than a "
        f"factor e^{digits(realised)}; ten records that all agree come to e^{digits(worst)}. With the sign turned round it is "
        f"e^{digits(raised)}: private as well, but in favour of the worst classifier.",
        f"epsilon {digits(worst)} of 1",
        computed(realised <= 1, f"largest epsilon over all pairs: {digits(realised)}", kind="enumeration"),
        computed(raised <= 1, f"the same with the sign turned round: {digits(raised)}", kind="enumeration"),
        exact,
        *lemma("scores.count", "selection.ratio"),
        small,
        survives("pure_margin_choice", runs),
        proof("PureMarginClassifier"),
    )


@_claim(
    "A17",
    "Section 5, Theorem 5.1",
    promised="Choosing a neural network from a fixed list by its errors is epsilon-private.",
    expects=Standing.HOLDS,
    code=("learners/margins/neural.py:NeuralMarginClassifier",),
)
def _a17(runs: int) -> Found:
    """Three networks on all pairs of two records."""
    counts = {side: network_errors(rows_of(side), NETWORKS).tolist() for side in product(_RECORDS, repeat=2)}
    pairs = [(counts[first], counts[second]) for first, second in _neighbours(2)]
    realised = choice_epsilon(pairs, _HALF)
    return decision(
        f"Over all {len(pairs):,} pairs of neighbours tried the choice among three networks spends at most {digits(realised)} of "
        "1.",
        f"epsilon {digits(realised)} of 1",
        computed(realised <= 1, f"largest epsilon over all pairs: {digits(realised)}", kind="enumeration"),
        *lemma("scores.count", "selection.ratio"),
        survives("network_choice", runs),
        proof("NeuralMarginClassifier"),
    )


@_claim(
    "A18",
    "Appendix E, Algorithm 5",
    promised="Choosing among classifiers that were made from the features is epsilon-private for the labels.",
    expects=Standing.HOLDS,
    correction="Only labels are protected. A record that changes with its features changes the list itself.",
    code=("learners/margins/label_private.py:LabelPrivateClassifier",),
)
def _a18(runs: int) -> Found:
    """All labels of five records, each flipped."""
    features, flips = ((ONE, 0), (0, ONE), (-ONE, 0), (ONE // 2, -ONE // 2), (1000, 17)), []
    counts = {}
    for labels in product((0, 1), repeat=len(features)):
        rows = rows_of(tuple(zip(features, labels, strict=True)))
        counts[labels] = totals(rows, candidates_of(rows, 6, PublicBits(0, "audit")), errors()).tolist()
    for labels in counts:
        flips += [(labels, (*labels[:place], 1 - labels[place], *labels[place + 1 :])) for place in range(len(features))]
    realised = choice_epsilon(((counts[first], counts[second]) for first, second in flips), _HALF)
    broken, spent = law("broken_label_cover", about="correction")
    return decision(
        f"Over all {len(flips)} flips of one label among five records the choice spends at most {digits(realised)} of 1. If a "
        f"record is replaced with its features, outcomes appear that were impossible before: epsilon is {spent}.",
        f"epsilon {digits(realised)} of 1",
        computed(realised <= 1, f"largest epsilon over all flips of a label: {digits(realised)}", kind="enumeration"),
        *lemma("scores.count", "selection.ratio"),
        computed(not broken.holds, f"features replaced too: {broken.says}", about="correction", kind="enumeration"),
        refuted("broken_label_cover", runs),
        survives("label_private_choice", runs),
        proof("LabelPrivateClassifier"),
    )


def _hinge_change(weight: Fraction, margin: Fraction) -> Fraction:
    """By how much a hinge loss changes at (e, +1) -> (e, -1) for weights of that size along e."""
    return max(Fraction(0), 1 + weight / margin) - max(Fraction(0), 1 - weight / margin)


@_claim(
    "A6",
    "Appendix B.2, proof of Lemma 3.1",
    promised="One record moves the mean hinge loss by which a pass is chosen by at most (norm of weights) x (norm of records) / m.",
    expects=Standing.FAILS,
    correction="With B the product of both norms and rho the margin, it is min(2 B/rho, 1 + B/rho)/m. A ramp loss has 1/m.",
    code=("learners/margins/erm.py:erm_plan", "learners/solvers/hinge.py:hinges"),
)
def _a6(runs: int) -> Found:
    """Two opposite candidates, one record that changes its label."""
    broken, spent = law("broken_hinge_choice", about="claim")
    moved = _hinge_change(Fraction(1), Fraction(1, 10))
    return decision(
        f"At norms of 1 and a margin of 1/10 one record moves the sum of losses by {moved}, not by 1, and not by 10 if the print "
        f"is read as divided by the margin; a choice that is noised for 1 at epsilon 1/2 spends {digits(spent)}.",
        f"epsilon {digits(spent)} where 1/2 is claimed",
        computed(moved <= 1, f"the record (e, +1) -> (e, -1) moves the loss of the weights e by {moved}; 1 is printed"),
        computed(moved <= 10, f"{moved} is more than B/rho = 10 as well, if that was meant"),
        broken,
        refuted("broken_hinge_choice", runs, about="claim"),
        model(
            "sensitivity.hinge",
            "abs(max(0, rho - z) - max(0, rho - y)) <= rho*B",
            "a solver finds scores of size B whose hinge losses are further apart than B",
        ),
        *lemma("sensitivity.hinge_mean", "scores.ends", about="correction"),
        law("hinge_choice", about="correction")[0],
        survives("hinge_choice", runs),
    )


def _least_mean(records: Sequence[tuple[Fraction, int]], margin: Fraction) -> Fraction:
    """The least mean hinge loss of one weight in [-1, 1], exactly: it is taken at an end or where a loss begins."""
    ends = {Fraction(1), Fraction(-1), *(margin / (label * place) for place, label in records if place)}
    weights = [weight for weight in ends if abs(weight) <= 1]
    return min(
        sum((max(Fraction(0), 1 - label * place * weight / margin) for place, label in records), Fraction(0)) for weight in weights
    ) / len(records)


@_claim(
    "A22",
    "Appendix F, score F_2",
    promised="One record moves the least mean hinge loss by at most 2 x (norm of weights) x (norm of records) / (m x margin).",
    expects=Standing.HOLDS,
    correction="It is valid, and up to twice too large: min(2 B/rho, 1 + B/rho)/m is enough, and is reached.",
    code=("learners/choices/hinge_minimum.py:Scale",),
)
def _a22(runs: int) -> Found:
    """The pair that reaches the bound, and all small datasets of a few records."""
    margin, count = Fraction(1, 10), 40
    short = [(margin, 1)] * (count - 1)
    moved = abs(_least_mean([*short, (Fraction(1), 1)], margin) - _least_mean([*short, (Fraction(1), -1)], margin)) * count
    places = [(Fraction(place, 2), label) for place in range(-2, 3) for label in (1, -1)]
    wide, largest = Fraction(1, 2), Fraction(0)
    for rest in product(places, repeat=2):
        losses = [_least_mean([*rest, last], wide) * 3 for last in places]
        largest = max(largest, max(losses) - min(losses))
    return decision(
        f"The worst pair moves m times the least loss by {moved} where 2 B/rho allows 20 (B = 1, rho = 1/10); over "
        f"{len(places) ** 4:,} pairs of three records it moves by at most {largest} where 4 is allowed (rho = 1/2).",
        f"{moved} of 20",
        computed(moved <= 20, f"m x change is {moved}, exactly 1 + B/rho; 2 B/rho is 20"),
        computed(largest <= 4, f"over all pairs of three records: {largest} of 4", kind="enumeration"),
        *lemma("sensitivity.hinge", "sensitivity.hinge_mean", "scores.least"),
        computed(moved == 11, "1 + B/rho is reached, so that no smaller bound is true", about="correction"),
        survives("margin_choice", runs),
        proof("MarginSearch"),
    )


@_claim(
    "A23",
    "Appendix F, scores F_1, F_4, F_5",
    promised="Scores x + sqrt(A x) of the least error x of m records move by at most 1/m + sqrt(A/m).",
    expects=Standing.HOLDS,
    correction="The constant inside A must be an explicit public number; the text leaves it in an O.",
    code=("learners/margins/margin_search.py:MarginSearch",),
)
def _a23(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Every step of every grid."""
    worst, tried = Fraction(0), 0
    with working_precision(128):
        for records, squared in product((1, 2, 3, 10, 100, 1000), (Fraction(1, 100), Fraction(1), Fraction(50))):
            limit = ball(Fraction(1, records)) + ball(squared / records).sqrt()
            steps = [ball(Fraction(x, records)) + ball(squared * x / records).sqrt() for x in range(records + 1)]
            for before, after in pairwise(steps):
                worst = max(worst, Fraction(ball_endpoints((after - before) / limit)[0]))
            tried += records
    return decision(
        f"Over {tried:,} steps of errors from 0 to m the score moves by at most {digits(worst)} of the bound, reached at no error.",
        f"{digits(worst)} of the bound",
        computed(worst <= 1, f"largest share of the bound over {tried:,} steps: {digits(worst)}", kind="enumeration"),
        *lemma("sensitivity.error_rate", "learners.root_increment"),
    )


@_claim(
    "A19",
    "Appendix F, step 2 of Algorithm 6",
    promised="The generalised exponential mechanism, for scores that one record moves by different amounts, is epsilon-private.",
    expects=Standing.HOLDS,
    correction="It is so for every threshold t, which matters for accuracy alone.",
    code=("learners/choices/generalized.py:GeneralizedExponential",),
)
def _a19(runs: int) -> Found:
    """Scores that move against each other as far as they may, for three thresholds."""
    realised, tried = Fraction(0), 0
    for failure in ("1/20", "1/1000000", "99/100"):
        mechanism = GeneralizedExponential(sensitivities=["1/10", 1, 5], epsilon=1, failure=failure)
        for start in product((Fraction(0), Fraction(3), Fraction(-7)), repeat=3):
            before = mechanism.normalised(start)
            for signs in product((-1, 0, 1), repeat=3):
                moved = [one + sign * each for one, sign, each in zip(start, signs, mechanism.sensitivities, strict=True)]
                after, tried = mechanism.normalised(moved), tried + 1
                unit = 10**6
                pair = ([round(each * unit) for each in before], [round(each * unit) for each in after])
                realised = max(realised, choice_epsilon([pair], Fraction(1, 2 * unit)))
    declared, spent = law("unequal_choice", about="claim")
    return decision(
        f"For {tried:,} changes of three scores with sensitivities 1/10, 1 and 5, at three thresholds, the choice spends at most "
        f"{digits(realised)} of 1; scores of sensitivities 1/1000 and 1 realise {digits(spent)}.",
        f"epsilon {digits(max(realised, Fraction(spent)))} of 1",
        computed(
            realised <= Fraction(1000002, 1000000),
            f"largest epsilon (scores to six digits): {digits(realised)}",
            kind="enumeration",
        ),
        *lemma("learners.generalised_score", "selection.maximum", "selection.ratio"),
        declared,
        survives("unequal_choice", runs),
        proof("GeneralizedExponential"),
    )


@_claim(
    "A20",
    "Appendix F, Lemma F.1, Algorithm 6",
    promised="Choosing a margin at epsilon and then learning at (epsilon, delta) is (2 epsilon, delta)-private.",
    expects=Standing.PART,
    correction=(
        "The sensitivities must be those of the scores that are computed, with their grid and the solver's tolerance in them."
    ),
    code=("learners/margins/margin_search.py:MarginSearch", "learners/choices/hinge_minimum.py:least_hinge"),
)
def _a20(runs: int) -> Found:
    """A grid that nobody paid for, and one that was paid for."""
    broken, spent = law("broken_gridded_choice", about="claim")
    right, kept = law("margin_choice", about="claim")
    return decision(
        f"With the sensitivities of the computed scores the choice of a margin spends {digits(kept)} of 1. Scores of sensitivity "
        f"1/1000 that are rounded to a grid of 1/64, and noised as if they were not, spend {digits(spent)}.",
        f"epsilon {digits(spent)} of 1 with a free grid",
        right,
        *lemma("composition.approximate", "composition.basic"),
        broken,
        refuted("broken_gridded_choice", runs),
        *lemma("scores.tolerance", "scores.grid", "scores.bracket", about="correction"),
        law("gridded_choice", about="correction")[0],
        survives("margin_choice", runs),
        proof("MarginSearch"),
    )


@_claim(
    "A28",
    "implicit: a record that becomes null",
    promised="Where records are never replaced but only become null, half of the noise is enough.",
    expects=Standing.PART,
    correction="It is, if the null record has features 0 after all maps. Learners whose maps give it others refuse this relation.",
    code=("learners/choices/levels.py:counts_mechanism", "learners/margins/kernel.py:KernelMarginClassifier"),
)
def _a28(runs: int) -> Found:
    """Counts at half the temperature, for a null record that everyone gets wrong, and for one that some get right."""
    from learners.margins.kernel import KernelMarginClassifier

    null = ((0, 0), 1)
    pairs = [
        (totals(rows_of(first), ANTIPODES, errors()).tolist(), totals(rows_of((first[0], null)), ANTIPODES, errors()).tolist())
        for first in product(_RECORDS, repeat=2)
    ]
    kept = choice_epsilon(pairs, Fraction(1))
    eight = totals(rows_of((_RECORDS[0],) * 8), ANTIPODES, errors()).tolist()
    shifted = [count + way for count, way in zip(eight, sorted((1, -1), reverse=eight[0] < eight[1]), strict=True)]
    moved = choice_epsilon([(eight, shifted)], Fraction(1))
    refusal = ""
    try:
        KernelMarginClassifier(epsilon=1, delta="1e-6", feature_norm=1, adjacency="zero_out").fit([[0.5], [-0.5]], [0, 1])
    except Exception as error:  # noqa: BLE001 - the code of whatever is raised is looked at
        refusal = getattr(error, "code", "")
    return decision(
        f"With null features of 0 the choice spends {digits(kept)} of 1 at half the noise. Random Fourier features send 0 to a "
        f"vector of full length, which one candidate gets right and another wrong, and the same choice spends {digits(moved)}.",
        f"epsilon {digits(moved)} of 1 under a map that moves 0",
        computed(kept <= 1, f"null record wrong for every candidate: {digits(kept)} of 1", kind="enumeration"),
        *lemma("scores.null", "selection.bounded_range"),
        computed(moved <= 1, f"null record that moves two counts against each other: {digits(moved)} of 1"),
        computed(refusal, f"the kernel learner refuses zero_out ({refusal})", about="correction", kind="test"),
        survives("pure_margin_zeroed", runs),
    )


@_claim(
    "A29",
    "implicit: sampling from a cover by its cells",
    promised="A cover may be sampled cell by cell, where all of a cell err on the same records.",
    expects=Standing.PART,
    correction="Cells must weigh as much as they hold of a measure that does not depend on the data; cells do depend on it.",
    code=("learners/choices/arcs.py:choose_point",),
)
def _a29(runs: int) -> Found:
    """Arcs by their lengths, and arcs all alike."""
    broken, spent = law("broken_arrangement", about="claim")
    right, kept = law("arrangement_choice", about="claim")
    return decision(
        f"Weighted by what they hold, arcs of a square spend {digits(kept)} of 1; weighted alike, {digits(spent)}.",
        f"epsilon {digits(spent)} of 1 with equal cells",
        right,
        *lemma("scores.arc_after", "scores.arc_from", "scores.arc_before", "scores.arc_until"),
        broken,
        refuted("broken_arrangement", runs),
        survives("arrangement_choice", min(runs, 10_000)),
    )


ITEMS: Final = (_a1, _a6, _a17, _a18, _a19, _a20, _a22, _a23, _a28, _a29)
"""All of them."""
