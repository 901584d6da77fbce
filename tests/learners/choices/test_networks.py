"""Scores of networks are whole numbers of one record each, the same however records and networks are put together."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from learners.choices import networks as module
from learners.choices.networks import RandomNetworks, given_networks, network_errors, network_scores
from learners.rows.rows import Rows


def rows_of(steps, labels=None):
    steps = np.asarray(steps, dtype=np.int32)
    return Rows(steps, 4096, Fraction(1, 4096), np.ones(len(steps), dtype=np.int64) if labels is None else labels)


def by_hand(record, network):
    """The score of one record under one network in Python's own integers."""
    reached = record
    for layer in network[:-1]:
        sums = [sum(int(a) * int(w) for a, w in zip(reached, column, strict=True)) for column in layer.T]
        cells = [min(max((total + 2**13) >> 14, -512), 512) for total in sums]
        reached = [round(4096 * math.tanh(cell / 64)) for cell in cells]
    return sum(a * int(w) for a, w in zip(reached, network[-1], strict=True))


@settings(max_examples=30)
@given(layers=st.integers(2, 4), width=st.integers(1, 5), seed=st.integers(0, 50))
def test_scores_are_those_computed_by_hand(layers, width, seed):
    steps = np.random.default_rng(seed).integers(-1800, 1800, (4, 3))
    networks = RandomNetworks(3, width, layers, 5, seed)
    for place in range(5):
        network = networks.network(place)
        found = network_scores(rows_of(steps), tuple(layer[np.newaxis] for layer in network))
        assert [by_hand(record, network) for record in steps.tolist()] == found[0].tolist()


def test_putting_records_and_networks_together_changes_no_score(monkeypatch):
    rng = np.random.default_rng(3)
    steps, labels = rng.integers(-2000, 2000, (17, 4)), rng.integers(0, 2, 17)
    networks = RandomNetworks(4, 3, 3, 50, 1)
    whole = network_errors(rows_of(steps, labels), networks)
    each = [network_errors(rows_of(steps[i : i + 1], labels[i : i + 1]), networks) for i in rng.permutation(17)]
    assert whole.tolist() == sum(each).tolist()
    monkeypatch.setattr(module, "_CHUNK", 1)
    assert whole.tolist() == network_errors(rows_of(steps, labels), networks).tolist()


@pytest.mark.parametrize("size", [1, 5, 5000])
def test_random_networks_are_the_same_in_every_way_of_asking(size):
    networks = RandomNetworks(20, 4, 2, size, 2)
    stacks = list(networks.stacks())
    assert size == sum(len(stack[0]) for stack in stacks)
    for place in {0, size // 2, size - 1}:
        before = 0
        for stack in stacks:
            if place < before + len(stack[0]):
                break
            before += len(stack[0])
        assert [layer[place - before].tolist() for layer in stack] == [layer.tolist() for layer in networks.network(place)]


def test_a_zero_record_scores_zero_and_is_an_error_for_both_labels():
    networks = RandomNetworks(3, 4, 3, 8, 0)
    for label in (0, 1):
        assert [1] * 8 == network_errors(rows_of([[0, 0, 0]], np.array([label])), networks).tolist()


def test_several_scores_are_those_of_each_output_alone_and_ties_are_errors():
    rng = np.random.default_rng(4)
    steps, labels = rng.integers(-2000, 2000, (17, 4)), rng.integers(0, 3, 17)
    networks = RandomNetworks(4, 3, 3, 10, 1, outputs=3)
    wanted = []
    for place in range(10):
        *inner, last = networks.network(place)
        scores = [[by_hand(record, (*inner, column)) for column in last.T] for record in steps.tolist()]
        wanted.append(sum(row.pop(label) <= max(row) for row, label in zip(scores, labels, strict=True)))
    assert wanted == network_errors(rows_of(steps, labels), networks).tolist()
    for label in range(3):
        assert [1] * 10 == network_errors(rows_of([[0] * 4], np.array([label])), networks).tolist()


def test_networks_of_different_shapes_are_candidates_together():
    given_ones = given_networks([([[1], [0]], [1]), ([[1, 2], [0, 0]], [[1, 0], [0, 1]], [1, 1])], columns=2, feature_norm=3)
    assert 2 == given_ones.size
    assert [[768], [0]] == given_ones.network(0)[0].tolist()
    assert [0, 0] == network_errors(rows_of([[4000, 0]]), given_ones).tolist()


@pytest.mark.parametrize(
    ("code", "networks"),
    [
        ("DPA109", []),
        ("DPA105", [([[1], [1]],)]),
        ("DPA105", [([[1]], [1])]),
        ("DPA105", [([[1], [1]], [1, 2])]),
        ("DPA105", [([[1], ["x"]], [1])]),
        ("DPA105", [(1, 2)]),
        ("DPA103", [([[1], [math.nan]], [1])]),
        ("DPA103", [([[1], [1]], [5000])]),
    ],
)
def test_wrong_networks_are_refused(code, networks):
    with pytest.raises(InvalidArgument) as caught:
        given_networks(networks, columns=2, feature_norm=1)
    assert code == caught.value.code
