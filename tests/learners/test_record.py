"""A privacy record states what ran and what it costs, survives JSON and pickling, and is computed again to the same epsilon."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import Poisson, RandomAllocation, RandomOrder, Shuffle, WithoutReplacement, compose, gaussian
from dpaudit.claims import Adjacency
from dpaudit.errors import AdjacencyMismatch, InvalidArgument, Unsupported
from dpaudit.releases import Release
from learners.record import SCHEMA, Charge, PrivacyRecord


def noise(sigma=4, sensitivity=2, adjacency="replace_one", **more):
    parameters = (("lattice", Fraction(1)), ("sigma", Fraction(sigma)))
    return Release("rounded_gaussian", parameters, Fraction(sensitivity), Adjacency.of(adjacency), **more)


def choice():
    parameters = (("monotonic", Fraction(0)), ("temperature", Fraction(20)))
    return Release("exponential_mechanism", parameters, Fraction(1), Adjacency("replace_one"))


def recorded(*charges, adjacency="replace_one", **more):
    return PrivacyRecord.of(charges, adjacency=adjacency, delta="1e-5", public={"records": 100, "classes": ["a", "b"]}, **more)


SCHEMES = [
    None,
    Poisson("1/100"),
    WithoutReplacement(size=10, of=1000),
    RandomAllocation(steps=5),
    Shuffle(reports=10),
    RandomOrder(records=1000, batches=(500, 250)),
    RandomOrder(records=1000, batches=[2], replacement=True, rounds=2),
]


noises = st.builds(noise, st.fractions(1, 50), st.fractions(1, 3), count=st.integers(1, 9))


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@given(
    releases=st.lists(st.builds(noise, st.fractions(1, 50), st.fractions(1, 3), count=st.integers(1, 9)), min_size=1, max_size=3)
)
def test_a_record_survives_json_and_pickling_to_the_last_digit(scheme, releases):
    releases = (noise(), noise()) if isinstance(scheme, RandomOrder) else tuple(releases)
    charges = (Charge(releases, scheme), Charge((choice(),)))
    epsilon = sum(release.sensitivity for release in releases) / 3
    rest = {"secure": False, "public": {"records": 5}, "notes": ("A note.",)}
    record = PrivacyRecord(charges, Adjacency("replace_one"), Fraction(1, 10**9), epsilon, **rest)
    text = json.dumps(record.to_dict())
    for again in (PrivacyRecord.from_dict(json.loads(text)), pickle.loads(pickle.dumps(record))):
        assert record == again
        assert (text, str(record)) == (json.dumps(again.to_dict()), str(again))


@pytest.mark.parametrize(
    "charges",
    [
        [Charge((noise(), noise(7, 3)))],
        [Charge((noise(),), WithoutReplacement(size=10, of=1000))],
        [Charge((choice(),)), Charge((choice(), choice()))],
    ],
    ids=["noise", "sampled", "choices"],
)
def test_epsilon_is_computed_again_from_the_json(charges):
    record = recorded(*charges)
    again = PrivacyRecord.from_dict(json.loads(json.dumps(record.to_dict())))
    assert 0 < record.epsilon == again.recompute().upper


def test_a_record_is_the_composition_of_what_ran():
    record = recorded(Charge((noise(4), noise(8))), Charge((noise(6, count=3),)))
    loss = compose(*(gaussian(sigma=sigma, sensitivity=2, adjacency="replace_one") for sigma in (4, 8, 6, 6, 6)))
    assert record.epsilon == pytest.approx(float(loss.epsilon(delta="1e-5").upper), rel=1e-6)
    assert (True, Adjacency("replace_one")) == (record.secure, record.loss.adjacency)


def test_passes_in_random_order_are_priced_together():
    order = RandomOrder(records=10, batches=(4, 4))
    loss = Charge((noise(8, 4), noise(4, 2)), order).loss
    assert Charge((noise(8, 4, count=2),), order).loss == loss
    assert 1 == sum(count for _, count in loss.parts)
    assert "RandomOrder" in loss.describe()
    for wrong in ((noise(8, 4),), (noise(8, 4), noise(4, 3)), (noise(8, 4, count=2), noise(4, 2))):
        with pytest.raises(InvalidArgument, match="DPA103"):
            Charge(wrong, order)


def test_nothing_released_costs_nothing():
    record = recorded()
    assert (0, None, True, 0) == (record.epsilon, record.loss, record.secure, record.recompute().upper)
    with pytest.raises(InvalidArgument, match="DPA109"):
        Charge(())


def test_a_seeded_source_marks_the_record():
    record = recorded(Charge((noise(), noise(secure=False))))
    assert not record.secure
    assert "NOT PRIVATE" in str(record)
    assert not PrivacyRecord.from_dict(record.to_dict()).secure


def test_a_record_reads_as_a_table():
    record = recorded(Charge((noise(dimension=7, count=3),)), notes=["A note."])
    first, release, *rest = str(record).splitlines()
    assert first.startswith("epsilon ")
    assert first.endswith("at delta 1e-05 under replace_one")
    assert ["rounded_gaussian", "3", "x", "7", "sensitivity", "2;", "lattice", "1,", "sigma", "4"] == release.split()
    assert ["public: records = 100", "public: classes = ['a', 'b']", "note: A note."] == rest


def test_releases_under_another_relation_and_laws_without_price_are_refused():
    with pytest.raises(AdjacencyMismatch):
        recorded(Charge((noise(adjacency="add_remove"),)))
    with pytest.raises(Unsupported):
        recorded(Charge((noise(),), Poisson("1/2")))
    with pytest.raises(InvalidArgument):
        PrivacyRecord.of([], adjacency="replace_one", delta=1, public={})


def test_what_is_no_record_is_refused():
    values = recorded(Charge((noise(),), WithoutReplacement(size=1, of=2))).to_dict()
    for change in (
        {"schema": "another"},
        {"charges": 3},
        {"charges": [{"releases": [{}], "scheme": None}]},
        {"charges": [{**values["charges"][0], "scheme": {"name": "Filter"}}]},
        {"charges": [{**values["charges"][0], "scheme": {"name": "Poisson", "speed": 3}}]},
        {"epsilon": "much"},
        {"adjacency": {"sort": "label"}},
    ):
        with pytest.raises(InvalidArgument):
            PrivacyRecord.from_dict({**values, **change})
    for nothing in ([], None, {}, "text"):
        with pytest.raises(InvalidArgument, match="DPA105"):
            PrivacyRecord.from_dict(nothing)
    assert SCHEMA == values["schema"]
