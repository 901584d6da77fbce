"""Checks of users and matrices: groups in samples, cut batches and participation patterns beside numbers from other code."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

from dpaudit.accounting import (
    MinSeparation,
    Poisson,
    RandomAllocation,
    Tree,
    TruncatedPoisson,
    gaussian,
    prefix_root,
    toeplitz,
)
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.matrices.sensitivities import squared_sensitivity
from dpaudit.accounting.matrices.strategies import pattern_sum, strategy_of
from dpaudit.accounting.model.composition import DeltaAt


def delta_in_one_direction(loss, epsilon):
    """Exact delta of one release, the first dataset against the second."""
    return closed_form(loss.composition, DeltaAt(Fraction(epsilon)))


def is_near(found, value, digits=15):
    """The interval is narrow and holds the value up to its digits."""
    value = Fraction(value)
    room = value / 10**digits
    assert found.lower <= value + room
    assert value - room <= found.upper
    assert found.width <= room


def groups_are_mixtures_over_how_many_are_drawn(exact):
    release = gaussian(sigma=1).sampled(Poisson("1/10"))
    is_near(delta_in_one_direction(release.group(removed=2), "1/2"), "0.014528907704117948783")
    is_near(delta_in_one_direction(release.group(added=2), "1/5"), "0.000015100600690477958571")
    is_near(
        delta_in_one_direction(gaussian(sigma=1).sampled(Poisson("1/5")).group(removed=2, added=1), "1/2"),
        "0.083589525598636416436",
    )
    is_near(release.under("replace_one").delta(epsilon=1), "0.00032728440697453553498")
    assert release.group(2).delta(epsilon="1/2").upper >= release.user(records=2).delta(epsilon="1/2").lower


def cut_batches_lose_what_both_kinds_of_batches_do(exact):
    for cap, value in ((15, "0.000046067282561810323502"), (20, "2.2185794847016846821e-6")):
        found = gaussian(sigma=1).sampled(TruncatedPoisson(rate="1/100", cap=cap, records=1000)).delta(epsilon="1/2")
        assert Fraction(value) * (1 - Fraction(1, 10**15)) <= found.upper <= Fraction(value) * Fraction(1001, 1000)
        assert found.lower <= Fraction(value)


def patterns_are_the_worst_of_all(exact):
    rows = [[1, 0, 0, 0, 0], [2, 1, 0, 0, 0], [0, 1, 3, 0, 0], [-1, 0, 2, 1, 0], [1, 1, 0, 1, 2]]
    for matrix in (strategy_of(rows), toeplitz(prefix_root(bands=3), steps=7), toeplitz([1, 0, 3], steps=6), Tree(6)):
        for separation, count in ((1, 2), (2, 3), (3, 2)):
            patterns = [
                pattern
                for size in range(1, count + 1)
                for pattern in combinations(range(matrix.steps), size)
                if all(after - before >= separation for before, after in pairwise(pattern))
            ]
            worst = max(pattern_sum(matrix, pattern) for pattern in patterns)
            found = squared_sensitivity(matrix, MinSeparation(separation, participations=count))
            assert found.low <= worst <= found.high
            assert found.high >= max(pattern_sum(matrix, pattern, abs) for pattern in patterns) or found.low == found.high == worst


def allocations_of_two_normal_steps_agree_with_an_integral(exact):
    for sigma, epsilon, value in (("1/2", 2, "0.23232134345906371041"), (2, "1/2", "0.018326594760935130162")):
        found = gaussian(sigma=sigma).sampled(RandomAllocation(2)).delta(epsilon=epsilon)
        assert found.lower <= Fraction(value) <= found.upper
        assert found.width <= found.upper / 1000


CHECKS = [
    groups_are_mixtures_over_how_many_are_drawn,
    cut_batches_lose_what_both_kinds_of_batches_do,
    patterns_are_the_worst_of_all,
    allocations_of_two_normal_steps_agree_with_an_integral,
]
