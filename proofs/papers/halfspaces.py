"""Efficient Private Algorithms for Learning Large-Margin Halfspaces: projection, noisy descent, choices, a lower bound."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Final

import numpy as np

from dpaudit.accounting import WithoutReplacement, compose, gaussian, pure_dp
from dpaudit.dossier import Found, Standing
from learners.halfspaces.packing import error_rate, near_plane, packing_size, records_needed
from learners.rows.signs import sign_map
from learners.rows.unit import unit_images
from learners.targets.choices import COUNTS, ONE, Record
from learners.targets.halfspaces import NET, net_counts
from proofs.papers.witnessing import (
    choice_epsilon,
    claims,
    computed,
    decision,
    digits,
    gaussian_loss,
    law,
    lemma,
    priced,
    proof,
    refuted,
    survives,
)

_claim = claims("Large-margin halfspaces")
_MILLIONTH: Final = "1e-6"


@_claim(
    "N1",
    "section 3, Algorithm 1",
    promised="Projecting each record and dividing it by its norm keeps neighbours neighbours, so that nothing is lost.",
    expects=Standing.HOLDS,
    correction="A record whose image is zero needs a fixed rule, in its place: it becomes the first axis.",
    code=("learners/rows/unit.py:unit_images",),
)
def _n1(runs: int) -> Found:
    """Images of one record among others, the record whose image is zero, and norms of hostile records."""
    rng, equal, tried, bits = np.random.default_rng(1), True, 100, 20
    for seed in range(tried):
        image, features = sign_map(dimension_in=5, dimension_out=3, seed=seed), rng.normal(size=(4, 5))
        labels = np.zeros(4, dtype=np.int64)
        whole, alone = unit_images(features, labels, image), unit_images(features[:1], labels[:1], image)
        equal &= bool(np.array_equal(np.asarray(whole.steps)[:1], np.asarray(alone.steps)))
    cancelled, seed = 0, 0
    while not cancelled:
        found = unit_images(
            np.array([[1.0, 1.0]]), np.zeros(1, dtype=np.int64), sign_map(dimension_in=2, dimension_out=1, seed=seed)
        )
        bare = sign_map(dimension_in=2, dimension_out=1, seed=seed).apply(
            unit_images(np.array([[1.0, 1.0]]), np.zeros(1, dtype=np.int64), None)
        )
        cancelled, seed = int(not np.asarray(bare.steps).any()), seed + 1
    hostile = np.array(
        [(value, other) for value in (math.nan, math.inf, 0.0, 5e-324, 1e300, -1.0) for other in (0.0, 1e-200, 1e300)]
    )
    steps = np.asarray(unit_images(hostile, np.zeros(len(hostile), dtype=np.int64), None).steps).tolist()
    longest = max(sum(step**2 for step in row) for row in steps)
    axis = [int(step) for step in np.asarray(found.steps)[0]]
    return decision(
        f"The image of a record was the same beside any others, for {tried} maps. The image of (1, 1) is zero under the map with "
        f"seed {seed - 1}, and becomes the first axis; no hostile record is longer than 1.",
        f"{tried} of {tried} images equal",
        computed(equal, f"images of one record in {tried} pairs of datasets: equal", kind="test"),
        computed(axis == [2**bits], "a zero image becomes the first axis, in its place", about="correction", kind="test"),
        computed(
            longest <= 4**bits,
            f"norms of {len(hostile)} hostile records, in whole numbers: at most 1",
            about="correction",
            kind="test",
        ),
        survives("halfspace_first_sum", runs),
    )


_RECORDS: Final = 100
_RUNS: Final = 6


def _published() -> tuple[Fraction, object]:
    """Noise over the largest step of the published descent, at epsilon 1 and delta 1e-6, and the price of all runs."""
    share, risk = 1 / _RUNS, 1e-6 / _RUNS
    noise = Fraction(math.floor(1000 * math.sqrt(32 * math.log(_RECORDS / risk) * math.log(1 / risk)) / share), 1000)
    step = gaussian(sigma=noise, sensitivity=2, adjacency="replace_one").sampled(WithoutReplacement(1, of=_RECORDS))
    return noise / 2, _RUNS * (_RECORDS**2 - 1) * step


@_claim(
    "N2",
    "Appendix A, Algorithm 3 (Bassily and others 2014)",
    promised="Each of six runs of n^2 noisy steps on single records is (epsilon/6, delta/6)-private.",
    expects=Standing.HOLDS,
    correction="It is, with far more noise than is needed: all six cost a few hundredths of epsilon.",
    code=("learners/halfspaces/literal.py:literal_descent", "learners/halfspaces/descent.py:descent"),
)
def _n2(runs: int) -> Found:
    """All steps of all runs, composed by the accountant with the sampling of records."""
    multiplier, loss = _published()
    witness = priced(loss, _MILLIONTH, 1, f"{_RUNS} runs of {_RECORDS**2 - 1:,} steps on {_RECORDS} records")  # type: ignore[arg-type]
    upper = witness.span.price if witness.span else 1.0
    return decision(
        f"With the printed noise, {float(multiplier):.0f} times what one record moves, six runs on {_RECORDS} records together "
        f"cost epsilon {upper:.3g} where 1 is allowed.",
        f"epsilon {upper:.3g} of 1",
        witness,
        computed((upper or 1) < 0.1, "less than a tenth of epsilon is spent", about="correction"),
        survives("halfspace_all_sums", runs),
        proof("HalfspaceClassifier"),
    )


@_claim(
    "N3",
    "Theorem 3, Algorithm 3",
    promised="All runs and the choice of the best of them are (epsilon, delta)-private together.",
    expects=Standing.FAILS,
    correction="The runs are charged all of epsilon already. Runs and choice must share it: half each in the shipped learner.",
    code=("learners/halfspaces/descent.py:descent", "learners/halfspaces/literal.py:literal_descent"),
)
def _n3(runs: int) -> Found:
    """What a choice at epsilon costs beside the runs, as they are noised and as they are charged."""
    spent = compose(gaussian_loss(Fraction(733, 100_000)), pure_dp(epsilon=1, adjacency="replace_one")).epsilon(delta=_MILLIONTH)
    return decision(
        "Beside runs that cost as little as the printed noise makes them, a choice at epsilon brings the total to "
        f"{digits(spent.upper)}; charged as the text charges them, runs and choice come to twice epsilon.",
        f"epsilon {digits(spent.upper)} of 1",
        computed(
            spent.lower <= 1,
            f"runs at their true cost and a pure choice at 1: epsilon between {digits(spent.lower)} and {digits(spent.upper)}",
            kind="price",
        ),
        refuted("broken_halfspace_unpaid_choice", max(runs, 200_000), about="claim"),
        survives("halfspace_run_and_choice", runs),
        *lemma("composition.approximate", about="correction"),
        proof("HalfspaceClassifier"),
    )


@_claim(
    "N4",
    "Appendix A, Algorithm 3",
    promised="The best run may be chosen by the exponential mechanism on the summed loss.",
    expects=Standing.PART,
    correction="With the range of the loss as its sensitivity, (96 g/100 + 1)/(86 g/100) at margin g: 12.7 at g = 1/10, not 1.",
    code=("learners/halfspaces/literal.py:hinge_scores",),
)
def _n4(runs: int) -> Found:
    """Two opposite candidates at both sensitivities."""
    right = law("halfspace_hinge", about="claim")[0]
    broken, spent = law("broken_halfspace_hinge", about="claim")
    return decision(
        f"With the range of the loss the choice keeps its promise. With a sensitivity of 1 it spends {digits(spent)} where 1/2 is "
        "claimed.",
        f"epsilon {digits(spent)} of 1/2",
        right,
        *lemma("learners.hinge_range", "learners.hinge_slope", "learners.hinge_covers"),
        broken,
        refuted("broken_halfspace_hinge", runs),
        survives("halfspace_hinge", runs),
    )


@_claim(
    "N5",
    "Theorem 5, Algorithm 2",
    promised="Choosing a point of a net by the number of records that it has short of a margin is epsilon-private.",
    expects=Standing.HOLDS,
    code=("learners/halfspaces/pure_halfspace.py:PureHalfspaceClassifier",),
)
def _n5(runs: int) -> Found:
    """All pairs of two records of six on the net of the circle."""
    places = ((ONE, 0), (0, ONE), (-2896, 2896))
    records: list[Record] = [(place, label) for place in places for label in (0, 1)]
    counted = {pair: net_counts(pair).tolist() for pair in product(records, repeat=2)}
    pairs = [(counted[rest, first], counted[rest, second]) for rest, first, second in product(records, repeat=3) if first != second]
    realised = choice_epsilon(pairs, Fraction(1, 2))
    declared, spent = law("halfspace_net", about="claim")
    return decision(
        f"On the net of {NET.size} points for a margin of 3/10 in the plane {len(pairs)} pairs of neighbours spend at most "
        f"{digits(realised)} of 1, and the worst pairs of ten records {digits(spent)}.",
        f"epsilon {digits(max(realised, Fraction(spent)))} of 1",
        computed(realised <= 1, f"largest epsilon over all pairs: {digits(realised)}", kind="enumeration"),
        declared,
        *lemma("scores.count", "selection.ratio", "selection.three"),
        computed(COUNTS.sensitivity == 1, "a count of records moves by 1", about="correction"),
        survives("halfspace_net", runs),
        proof("PureHalfspaceClassifier"),
    )


@_claim(
    "N6",
    "Theorem 6, Claim 6.1",
    promised="Pure learners need about 1/(epsilon margin^2) records, because no classifier fits two of many halfspaces.",
    expects=Standing.OTHERWISE,
    correction=(
        "At a tenth of differing places one classifier fits two. At a larger distance none does, and the bound gets better by that."
    ),
    code=("learners/halfspaces/packing.py:records_needed",),
)
def _n6(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The bisector of two close halfspaces, and the bound at a distance that is certain to be enough."""
    dimension, margin = 100, 1 / math.sqrt(1000 * 100)
    both = error_rate(cosine=math.cos(math.acos(0.8) / 2), dimension=dimension, margin=margin)
    gamma = Fraction(1, 100)
    needed, printed = records_needed(dimension=114, margin=gamma, epsilon=1), math.log(2) / 20_000 / float(gamma) ** 2
    size, near = packing_size(dimension=114, margin=gamma), near_plane(dimension=114, margin=gamma)
    return decision(
        f"The bisector of two halfspaces at distance 1/10 errs on {both:.4f} of the records of either, which is below the 1/10 "
        f"that was to be impossible. At a distance that is enough, margin 1/100 and epsilon 1 need {digits(needed)} records where "
        f"{printed:.2g} are claimed.",
        f"error {both:.4f} on both",
        computed(both > 0.1, f"errors of the bisector at d = {dimension}: {both:.5f} on both sides", about="argument"),
        computed(
            needed >= printed,
            f"certified bound {digits(needed)} records, from {size:,} halfspaces; the printed constant gives {printed:.3g}",
        ),
        *lemma("learners.disagreement"),
        computed(near.upper < 1, f"share of the sphere next to a plane: {digits(near.upper)}", about="correction"),
    )


ITEMS: Final = (_n1, _n2, _n3, _n4, _n5, _n6)
"""All of them."""
