"""Differentially Private Learning with Margin Guarantees: its pure choices, among classifiers, networks, labels and margins."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Final

import numpy as np

from dpaudit.dossier import Found, Kind, Standing
from learners.choices.arcs import arcs_of
from learners.choices.counts import errors, totals
from learners.margins.label_private import candidates_of
from learners.rows.seeds import PublicBits
from learners.targets.choices import ANTIPODES, HALF_SIDE, Record, rows_of
from proofs.papers.points import PLACES
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
    refuses,
    refuted,
    survives,
)

PAPER: Final = "Margin guarantees"
_claim = claims(PAPER)
_EPSILON: Final = Fraction(1)
_RATE: Final = _EPSILON / 2
"""What a weight falls by with each error, as its exponent."""
_ALL_DATA: Final = "every list of candidates, all data, every epsilon > 0"
_RECORDS: Final[tuple[Record, ...]] = tuple((place, label) for place in PLACES for label in (False, True))
_COUNTED: Final = (
    "one record moves the number of errors of a candidate by at most 1, so a weight by at most e^(epsilon/2), so do their "
    "totals, and "
    "a probability by at most e^epsilon"
)


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
    "Theorem 3.1, appendix B.1",
    quote=r"Algorithm 1 is  $\varepsilon$ -differentially private",
    promised="Choosing a classifier from a fixed list by the exponential mechanism on its share of errors is epsilon-private.",
    expects=Standing.HOLDS,
    number="epsilon 0.9886 of 1 on 900 pairs",
    code=("learners/margins/pure_margin.py:PureMarginClassifier",),
)
def _a1(runs: int) -> Found:
    """The lemmas, all pairs of two records from ten, and what half of the noise costs."""
    counted = [(_arc_counts(first), _arc_counts(second)) for first, second in _neighbours(2)]
    realised = choice_epsilon(counted, _RATE)
    (exact, worst), (halved, _) = law("pure_margin_choice"), law("broken_pure_margin", about="shortcut", expects=False)
    return decision(
        f"It is, whatever the cover and the data. The bound is reached: ten records that all agree come to e^{digits(worst)}.",
        f"epsilon {digits(max(realised, Fraction(worst)))} of 1 on {len(counted):,} pairs",
        lemma(_COUNTED, "scores.count", "selection.ratio", where=_ALL_DATA),
        computed(realised <= _EPSILON, f"largest epsilon: {digits(realised)}", about="repair", kind="enumeration"),
        exact,
        halved,
        survives("pure_margin_choice", runs),
        proof("PureMarginClassifier"),
    )


@_claim(
    "A17",
    "Theorem 5.1, appendix D",
    quote=r"there is an  $\varepsilon$ -DP algorithm which returns",
    promised="Choosing a neural network from a fixed list by its errors is epsilon-private.",
    expects=Standing.HOLDS,
    number="any list of networks, any data",
    code=("learners/margins/neural.py:NeuralMarginClassifier",),
)
def _a17(runs: int) -> Found:
    """The lemmas of A1: nothing in them knows what a candidate is."""
    return decision(
        "It is, by the argument of A1: nothing in it depends on what a candidate is.",
        "any list of networks, any data",
        lemma(_COUNTED, "scores.count", "selection.ratio", where=_ALL_DATA),
        survives("network_choice", runs),
        proof("NeuralMarginClassifier"),
    )


@_claim(
    "A18",
    "Theorem E.1, Algorithm 5",
    quote=r"Algorithm 5 is  $\varepsilon$ -label-DP",
    promised="Choosing among classifiers that were made from the features is epsilon-private for the labels.",
    expects=Standing.HOLDS,
    number="epsilon 0.8661 of 1 on 160 flips",
    correction="Only labels are protected, as the theorem says: a record whose features change changes the list itself.",
    code=("learners/margins/label_private.py:LabelPrivateClassifier",),
)
def _a18(runs: int) -> Found:
    """The lemmas, all labels of five records, each flipped, and what replaced features would show."""
    flips, counts = [], {}
    for labels in product((False, True), repeat=len(PLACES)):
        rows = rows_of(tuple(zip(PLACES, labels, strict=True)))
        counts[labels] = totals(rows, candidates_of(rows, 6, PublicBits(0, "audit")), errors()).tolist()
    for labels in counts:
        flips += [(labels, tuple(label ^ (turned == place) for place, label in enumerate(labels))) for turned in range(len(PLACES))]
    realised = choice_epsilon(((counts[first], counts[second]) for first, second in flips), _RATE)
    broken, spent = law("broken_label_cover", about="shortcut", expects=False)
    return decision(
        "It is: the cover depends on the features alone, so that a flipped label moves counts of one and the same list. If a "
        "record "
        f"is replaced with its features, outcomes appear that were impossible before: epsilon is {spent}.",
        f"epsilon {digits(realised)} of 1 on {len(flips)} flips",
        lemma(_COUNTED, "scores.count", "selection.ratio", where="every cover made from features, all labels, every epsilon > 0"),
        computed(realised <= _EPSILON, f"largest epsilon: {digits(realised)}", about="repair", kind="enumeration"),
        broken,
        refuted("broken_label_cover", runs),
        survives("label_private_choice", runs),
        proof("LabelPrivateClassifier"),
    )


def _hinge(score: Fraction) -> Fraction:
    """The hinge loss of a score in units of the margin."""
    return max(Fraction(0), 1 - score)


@_claim(
    "A6",
    "appendix B.2, proof of Lemma 3.1, its accuracy half; the numerator is damaged in our text",
    Kind.READING,
    quote=r"the sensitivity of the score function  $-\hat{L}_{\tilde{S}}$  is bounded by",
    promised="A program may take Lambda r/m, or Lambda r/(rho m), for what one record moves the mean hinge loss of a pass by.",
    expects=Standing.CONDITION,
    number="11 of 1, or of 10; epsilon 5.5 of 1/2",
    correction="Take 2 Lambda r/(m rho), as the proof of Lemma F.3 does. Sharp is min(2 B/rho, 1 + B/rho)/m, B = Lambda r.",
    code=("learners/margins/erm.py:erm_plan", "learners/solvers/hinge.py:hinges"),
)
def _a6(runs: int) -> Found:
    """One record that changes its label, under both readings of the printed constant, and what a program would lose."""
    size, margin = Fraction(1), Fraction(1, 10)
    moved, at = _hinge(-size / margin) - _hinge(size / margin), "Lambda = r = 1, rho = 1/10, any m"
    broken, spent = law("broken_hinge_choice", about="shortcut", expects=False)
    return decision(
        f"At Lambda = r = 1 and rho = 1/10 the record (e, +1) -> (e, -1) moves m times the loss of the weights e by {moved}: more "
        f"than Lambda r = {size}, and than Lambda r/rho = {size / margin}. A program that takes 1 spends epsilon {digits(spent)} "
        "where 1/2 is meant. The sentence is about accuracy, and step 7 of Algorithm 4 prints no sensitivity.",
        f"{moved} of {size}, or of {size / margin}; epsilon {digits(spent)} of 1/2",
        computed(moved <= size, f"m times the change is {moved}; Lambda r is {size}", where=at, expects=False),
        computed(
            moved <= size / margin, f"m times the change is {moved}; Lambda r/rho is {size / margin}", where=at, expects=False
        ),
        model("sensitivity.hinge", "abs(max(0, rho - z) - max(0, rho - y)) <= rho*B", "rho B, by a solver's numbers"),
        broken,
        refuted("broken_hinge_choice", runs),
        lemma("min(2 B/rho, 1 + B/rho)/m, at most 2 B/(m rho)", *_HINGES, about="repair"),
        law("hinge_choice")[0],
        survives("hinge_choice", runs),
    )


_HINGES: Final = ("sensitivity.hinge", "sensitivity.hinge_mean", "scores.ends", "papers.score")


def _least_sum(places: list[Fraction], margin: Fraction, most: Fraction) -> Fraction:
    """The least sum of hinge losses of one weight up to a size, exactly; a place has the sign of its label."""
    weights = [max(-most, min(most, margin / place)) for place in places]
    return min(Fraction(sum(_hinge(place * weight / margin) for place in places)) for weight in weights)


@_claim(
    "A22",
    "Lemma F.3, its proof, score F_2",
    quote=r"\leq \frac{2}{m\rho} \Lambda r",
    promised="One record moves the least mean hinge loss by at most 2 Lambda r/(m rho).",
    expects=Standing.HOLDS,
    number="11 of 20",
    correction="A constant up to twice smaller is enough, and is reached: min(2 B/rho, 1 + B/rho)/m.",
    code=("learners/choices/hinge_minimum.py:Scale",),
)
def _a22(runs: int) -> Found:
    """The lemmas, and a pair that reaches the smaller bound."""
    most, radius, margin = Fraction(1), Fraction(1), Fraction(1, 10)
    printed = 2 * most * radius / margin
    sharp = min(printed, 1 + most * radius / margin)

    def moves(count: int) -> Fraction:
        """What the longest record that changes its label moves the sum by, beside such as just have the margin."""
        short = [margin] * (count - 1)
        return _least_sum([*short, -radius], margin, most) - _least_sum([*short, radius], margin, most)

    count = int(sharp)
    moved, fewer = moves(count), moves(count - 1)
    return decision(
        f"It does not move further. The worst pair moves m times the least loss by {moved} where {printed} is allowed.",
        f"{moved} of {printed}",
        lemma(
            "a hinge mean moves by at most min(2 B/rho, 1 + B/rho)/m, so does its minimum, and that is at most 2 B/(m rho)",
            *("sensitivity.hinge", "sensitivity.hinge_mean", "scores.least", "papers.score"),
            where="every m, Lambda, r, rho > 0, all data",
        ),
        computed(fewer < moved == sharp, f"{count} records reach {moved}, so that no bound below {sharp} is true", about="repair"),
        survives("margin_choice", runs),
        proof("MarginSearch"),
    )


@_claim(
    "A23",
    "Lemma F.3, scores F_1, F_4, F_5",
    quote=r"\Delta_{\rho}(F_4) &= O\left(\frac{1 + \sqrt{M}}{m}\right)",
    promised="Scores x + sqrt(A x) of the least error x of m records move by at most 1/m + sqrt(A/m), which is Lemma F.3's order.",
    expects=Standing.HOLDS,
    number="1/m + sqrt(A/m)",
    correction="A program needs the constants that the O stands for, as public numbers.",
    code=("learners/margins/margin_search.py:MarginSearch",),
)
def _a23(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The lemmas."""
    return decision(
        "They do: with A = M/m it is (1 + sqrt(M))/m, the printed order of F_4, and with the A of F_1 that of F_1.",
        "1/m + sqrt(A/m)",
        lemma(
            "the least error moves by at most 1/m, and sqrt(A (x + 1/m)) is at most sqrt(A x) + sqrt(A/m)",
            *("sensitivity.error_rate", "learners.root_increment"),
            where="every m and A > 0, all data",
        ),
    )


@_claim(
    "A19",
    "Lemma F.1, its proof",
    quote=r"the generalized exponential mechanism invoked in step 2 is  $\varepsilon$ -differentially private",
    promised="The generalised exponential mechanism, for scores that one record moves by different amounts, is epsilon-private.",
    expects=Standing.HOLDS,
    number="epsilon 0.4739 of 1",
    correction="It is so for every threshold t, which matters for accuracy alone.",
    code=("learners/choices/generalized.py:GeneralizedExponential",),
)
def _a19(runs: int) -> Found:
    """The lemmas, and the declared law of a choice with unequal sensitivities."""
    declared, spent = law("unequal_choice")
    return decision(
        f"It is, for any sensitivities and thresholds. Scores of sensitivities 1/1000 and 1 realise {digits(spent)} of 1.",
        f"epsilon {digits(spent)} of 1",
        lemma(
            "normalised differences have sensitivity 1, so has their maximum, and weights and totals move by e^(epsilon/2)",
            *("learners.generalised_score", "selection.maximum", "selection.ratio"),
            where="all scores, sensitivities > 0 and thresholds, every epsilon > 0",
        ),
        declared,
        survives("unequal_choice", runs),
        proof("GeneralizedExponential"),
    )


@_claim(
    "A20",
    "Lemma F.1",
    quote=r"Then, Algorithm 6 is  $(2\varepsilon, \delta)$ -differentially private",
    promised="Choosing a margin at epsilon and then learning at (epsilon, delta) is (2 epsilon, delta)-private.",
    expects=Standing.HOLDS,
    number="epsilon 0.2538 of 1, or 7.12 with a free grid",
    correction=(
        "A program's sensitivities must be those of the scores that it computes, with their grid and the solver's tolerance."
    ),
    code=("learners/margins/margin_search.py:MarginSearch", "learners/choices/hinge_minimum.py:least_hinge"),
)
def _a20(runs: int) -> Found:
    """The lemmas; and a grid that nobody paid for, against one that was."""
    broken, spent = law("broken_gridded_choice", about="shortcut", expects=False)
    right, kept = law("margin_choice")
    return decision(
        "It is, by composition: the second step may depend on what the first chose. A program that rounds scores of sensitivity "
        f"1/1000 to a grid of 1/64, and noises them as if it did not, spends {digits(spent)}.",
        f"epsilon {digits(kept)} of 1, or {digits(spent)} with a free grid",
        lemma(
            "epsilons and deltas of two steps add up, the second depending on the first",
            *("composition.approximate", "composition.basic"),
            where="every (epsilon, delta)-private algorithm, and the mechanism of A19",
        ),
        right,
        broken,
        refuted("broken_gridded_choice", runs),
        lemma("what a grid and a tolerance add", "scores.tolerance", "scores.grid", "scores.bracket", about="repair"),
        law("gridded_choice")[0],
        survives("margin_choice", runs),
        proof("MarginSearch"),
    )


@_claim(
    "A28",
    "Definition 2.1; a record that becomes null is ours",
    Kind.CODE,
    quote="S,S (X Y)m that differ in one sample",
    promised="Where records are never replaced but only become null, half of the noise is enough.",
    expects=Standing.CONDITION,
    number="epsilon 1.998 of 1 under a map that moves 0",
    correction="The null record must have features 0 after all maps. Learners whose maps give it others refuse this relation.",
    code=("learners/choices/levels.py:counts_mechanism", "learners/margins/kernel.py:KernelMarginClassifier"),
)
def _a28(runs: int) -> Found:
    """Counts at half the temperature, for a null record that everyone gets wrong, and for one that some get right."""
    from learners.margins.kernel import KernelMarginClassifier

    eight = totals(rows_of((_RECORDS[0],) * 8), ANTIPODES, errors()).tolist()
    shifted = [count + way for count, way in zip(eight, sorted((1, -1), reverse=eight[0] < eight[1]), strict=True)]
    moved = choice_epsilon([(eight, shifted)], _EPSILON)
    return decision(
        "The paper replaces records. Under our relation a null record is an error of every candidate, and half of the noise is "
        "enough. "
        f"Random Fourier features send 0 to a vector of full length, and the same choice spends {digits(moved)} of 1.",
        f"epsilon {digits(moved)} of 1 under a map that moves 0",
        lemma(
            "counts only fall or only rise, so that half of the noise does",
            *("scores.null", "selection.bounded_range"),
            where="null features that are 0 after all maps",
        ),
        computed(
            moved <= _EPSILON,
            f"a null record that moves two counts against each other: {digits(moved)} of 1",
            where="8 equal records, two candidates",
            expects=False,
        ),
        refuses(KernelMarginClassifier, "zero_out"),
        survives("pure_margin_zeroed", runs),
    )


@_claim(
    "A29",
    "Algorithm 1, step 5; sampling by cells is ours",
    Kind.CODE,
    quote="Exponential mechanism over C with privacy parameter",
    promised="A cover may be sampled cell by cell, where all of a cell err on the same records.",
    expects=Standing.CONDITION,
    number="epsilon 2.966 of 1 with equal cells",
    correction="Cells must weigh as much as they hold of a measure that does not depend on the data; cells do depend on it.",
    code=("learners/choices/arcs.py:choose_point",),
)
def _a29(runs: int) -> Found:
    """Arcs by their lengths, and arcs all alike."""
    broken, spent = law("broken_arrangement", about="claim", expects=False, where="two records on the border of a square")
    right, kept = law("arrangement_choice")
    return decision(
        f"Weighted by what they hold, arcs of a square spend {digits(kept)} of 1; weighted alike, {digits(spent)}.",
        f"epsilon {digits(spent)} of 1 with equal cells",
        broken,
        right,
        lemma("arcs end where records turn", *_ARCS, about="repair"),
        refuted("broken_arrangement", runs),
        survives("arrangement_choice", min(runs, 10_000)),
    )


_ARCS: Final = ("scores.arc_after", "scores.arc_from", "scores.arc_before", "scores.arc_until")

ITEMS: Final = (_a1, _a6, _a17, _a18, _a19, _a20, _a22, _a23, _a28, _a29)
"""All of them."""
