"""The lattice encloses what Fractions give for random compositions of rational pairs, infinite losses included."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import Poisson, compose, explicit_pair
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.tilted import lattice_for
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.composition import DeltaAt
from dpaudit.accounting.privacy_loss import one_release

CASES = int(os.environ.get("LATTICE_CASES", "150"))
"""How many random compositions; 10,000 were tried once, see docs/engines.md."""

MANY = settings(max_examples=CASES, deadline=None)


def distributions(size):
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda parts: tuple(Fraction(part, sum(parts)) for part in parts))


PAIRS = st.integers(2, 4).flatmap(lambda size: st.tuples(distributions(size), distributions(size)))
PARTS = st.lists(st.tuples(PAIRS, st.integers(1, 2)), min_size=1, max_size=3)
EPSILONS = st.fractions(min_value=0, max_value=4, max_denominator=50)
RATES = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)


@MANY
@given(PARTS, EPSILONS)
def test_a_composition_of_rational_pairs_is_enclosed(encloses, parts, epsilon):
    loss = compose(*(count * explicit_pair(*pair) for pair, count in parts))
    for direction, turn in ((loss, 1), (loss.reversed(), -1)):
        pairs = [pair[::turn] for pair, count in parts for _ in range(count)]
        assert encloses(direction, pairs, epsilon) is not False


def thinned(pair, rate):
    """Sampling written out: with probability `rate` the record is there."""
    p, q = pair
    return tuple(rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)), q


@MANY
@given(PARTS, RATES, EPSILONS)
def test_a_composition_of_sampled_pairs_is_enclosed(encloses, parts, rate, epsilon):
    laws = [explicit_pair(*pair).parts[0][0] for pair, _ in parts]
    loss = compose(
        *(c * one_release(Sampled(law, rate, removing=True), "add_remove") for law, (_, c) in zip(laws, parts, strict=True))
    )
    for direction, turn in ((loss, 1), (loss.reversed(), -1)):
        pairs = [thinned(pair, rate)[::turn] for pair, count in parts for _ in range(count)]
        assert encloses(direction, pairs, epsilon) is not False


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1", "2"])
def test_the_enclosure_of_rational_pairs_says_something(epsilon):
    loss = compose(3 * explicit_pair(["3/4", "1/4"], ["1/4", "3/4"]), explicit_pair(["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]))
    found = lattice_for(loss.composition, epsilon=Fraction(epsilon)).delta(Fraction(epsilon))
    assert 0 < found.width < found.upper / 100


ONE_SIDED = [
    (("1", "0"), ("1/2", "1/2")),
    (("1/2", "1/2", "0"), ("1/4", "1/4", "1/2")),
    (("1/4", "5/8", "1/8"), ("0", "1/4", "3/4")),
]


@pytest.mark.parametrize("pair", ONE_SIDED)
@pytest.mark.parametrize("epsilon", ["0", "1/10", "1/3"])
def test_outputs_of_one_side_only_keep_their_mass_under_sampling(encloses, pair, epsilon):
    """P = (1, 0) against Q = (1/2, 1/2) at rate 1/2 loses 1/4 at epsilon 0: the second output has the loss log(1/2)."""
    sides = tuple(tuple(Fraction(mass) for mass in side) for side in pair)
    loss = 2 * one_release(Sampled(explicit_pair(*sides).parts[0][0], Fraction(1, 2), removing=True), "add_remove")
    exact = 2 * explicit_pair(*sides).sampled(Poisson("1/2"))
    for turn in (1, -1):
        pairs, direction = [thinned(sides, Fraction(1, 2))[::turn]] * 2, loss if turn == 1 else loss.reversed()
        assert encloses(direction, pairs, Fraction(epsilon)) is True
        found = closed_form((exact if turn == 1 else exact.reversed()).composition, DeltaAt(Fraction(epsilon)))
        assert found.width <= found.upper / 10**9
        assert lattice_for(direction.composition, epsilon=Fraction(epsilon)).delta(Fraction(epsilon)).meets(found)
