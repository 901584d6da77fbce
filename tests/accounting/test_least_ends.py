"""No answer is worse than that of any engine alone, at ordinary and at extreme questions, and answers fall as they should."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from dpaudit.accounting import Poisson, RandomAllocation, TruncatedPoisson, bounded_range, compose, gaussian, laplace, pure_dp, zcdp
from dpaudit.accounting.engines.evaluate import ENGINES, evaluate_one
from dpaudit.accounting.engines.tilts import tilted_end
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt

ROOM = Fraction(1, 1000)  # Answers as narrow as this are not looked at again
LOSSES = {
    "rare": 50 * gaussian(sigma="7/2").sampled(Poisson("1/1000")),
    "allocated": gaussian(sigma=1).sampled(RandomAllocation(10)),
    "few outcomes": 3 * pure_dp("3/10").sampled(Poisson("3/20")),
    "class": compose(2 * bounded_range("1/2"), gaussian(sigma=2)),
    "laplace": 4 * laplace(scale=1).sampled(Poisson("1/3")),
    "moments": compose(zcdp("1/8"), laplace(scale=4)),
    "truncated": 20 * gaussian(sigma=2).sampled(TruncatedPoisson(rate="1/20", cap=8, records=100)),
}
DELTAS = [DeltaAt(Fraction(epsilon)) for epsilon in ("0", "1/1000000", "1/10", "2", "9", "40")]
EPSILONS = [EpsilonAt(Fraction(delta)) for delta in ("1/2", "1e-3", "1e-12", "1e-100")]


CHEAP = {"rare", "few outcomes", "moments"}


@pytest.mark.parametrize("name", [name if name in CHEAP else pytest.param(name, marks=pytest.mark.campaign) for name in LOSSES])
def test_upper_ends_are_the_least_and_lower_ends_the_greatest(name):
    for side in (LOSSES[name].composition, LOSSES[name].composition.reversed()):
        for questions in (DELTAS, EPSILONS):
            found = [evaluate_one(side, question) for question in questions]
            for question, answer in zip(questions, found, strict=True):
                for engine in (*ENGINES, tilted_end):
                    alone = engine(side, question)
                    if alone is not None:
                        assert answer.upper <= alone.upper * (1 + ROOM)
                        assert alone.lower <= answer.lower * (1 + ROOM)
            for near, far in pairwise(found if questions is DELTAS else found[::-1]):
                assert far.lower <= near.upper
        least = evaluate_one(side, EpsilonAt(Fraction("1e-12"))).upper
        if isinstance(least, Fraction):
            assert evaluate_one(side, DeltaAt(least)).lower <= Fraction("1e-12")
