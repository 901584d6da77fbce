"""Claims and adjacencies as values: exact, comparable, refused when they make no sense."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import GDP, KINDS, NORMS, RDP, ZCDP, Adjacency, ApproxDP, Claim, Curve, PrivacyProfile, PureDP
from dpaudit.errors import AdjacencyMismatch, InvalidArgument
from dpaudit.exact import Enclosure

NON_NEGATIVE = st.fractions(min_value=0, max_value=10**6)
ONE_NUMBER = [(PureDP, "epsilon"), (ZCDP, "rho"), (GDP, "mu")]


@dataclasses.dataclass(frozen=True)
class FreeLoss:
    """A privacy loss of nothing at all."""

    adjacency: Adjacency

    def delta(self, *, epsilon: object) -> Enclosure:
        return Enclosure.point(0)

    def epsilon(self, *, delta: object) -> Enclosure:
        return Enclosure.point(0)

    def describe(self) -> str:
        return "nothing"


@pytest.mark.parametrize(("kind", "field"), ONE_NUMBER)
@given(value=NON_NEGATIVE)
def test_a_guarantee_keeps_its_parameter_exactly_however_it_is_written(kind, field, value):
    assert value == getattr(kind(value), field)
    assert kind(value) == kind(**{field: str(value)})
    assert hash(kind(value)) == hash(kind(str(value)))


@pytest.mark.parametrize(("kind", "field"), ONE_NUMBER)
@pytest.mark.parametrize(
    ("code", "value"), [("DPA103", -1), ("DPA103", "-1e-4999"), ("DPA102", "inf"), ("DPA101", None), ("DPA101", True)]
)
def test_a_guarantee_refuses_what_is_no_budget(kind, field, code, value):
    with pytest.raises(InvalidArgument, match=f"{code} {field}"):
        kind(value)


@pytest.mark.parametrize("delta", [1, "1.0000001", -1, "-1e-30"])
def test_delta_lies_from_zero_to_below_one(delta):
    with pytest.raises(InvalidArgument, match="DPA103 delta must be at least 0 and below 1, got"):
        ApproxDP(epsilon=1, delta=delta)


def test_renyi_orders_are_sorted_and_exact():
    assert ((Fraction(3, 2), Fraction(1)), (Fraction(8), Fraction(1, 3))) == RDP({8: "1/3", "1.5": 1}).orders
    assert RDP({2: 1, 3: 1}) == RDP({3: 1, 2: 1})


@pytest.mark.parametrize(
    ("code", "orders"),
    [
        ("DPA109", {}),
        ("DPA105", [(2, 1)]),
        ("DPA103", {1: 1}),
        ("DPA103", {2: -1}),
        ("DPA103", {2: 1, "2": 3}),
        ("DPA101", {None: 1}),
    ],
)
def test_renyi_orders_that_say_nothing_or_two_things_are_refused(code, orders):
    with pytest.raises(InvalidArgument, match=code):
        RDP(orders)


@pytest.mark.parametrize(
    ("text", "guarantee"),
    [
        ("epsilon = 1/3", PureDP("1/3")),
        ("epsilon = about 0.1", PureDP(0.1)),
        ("epsilon = about 2^-16606", PureDP("1e-4999")),
        ("epsilon = 1, delta = 1e-06", ApproxDP(1, "1e-6")),
        ("rho = 1/2 (zCDP)", ZCDP("0.5")),
        ("mu = 1/10 (GDP)", GDP("0.1")),
        ("Renyi divergence <= 1 at order 2, 3 at order 4", RDP({2: 1, 4: 3})),
        ("profile of nothing", Curve(FreeLoss(Adjacency("label")))),
    ],
)
def test_a_guarantee_reads_as_people_write_it(text, guarantee):
    assert text == str(guarantee)


@given(st.sampled_from(sorted(set(KINDS) - {"norm_ball"})), st.sampled_from(["record", "user:id"]))
def test_an_adjacency_equals_the_one_made_from_the_same_words(kind: str, unit: str):
    assert Adjacency(kind, unit=unit) == Adjacency.of(Adjacency(kind, unit=unit))
    assert Adjacency.of(kind) == Adjacency(kind)


def test_no_two_different_adjacencies_are_equal_and_mixing_them_is_refused():
    relations = [Adjacency(kind) for kind in sorted(set(KINDS) - {"norm_ball"})]
    relations += [Adjacency("norm_ball", norm=norm, radius=radius) for norm in NORMS for radius in (1, 2)]
    relations += [Adjacency("add_remove", unit="user:a"), Adjacency("add_remove", unit="user:b")]
    for one, two in itertools.combinations(relations, 2):
        assert str(one) != str(two)
        with pytest.raises(AdjacencyMismatch, match="DPA201 price and claim are about different neighbouring relations"):
            one.require(two, "price and claim")
    for relation in relations:
        relation.require(relation, "a thing and itself")


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA103", {"kind": "neighbouring"}),
        ("DPA105", {"kind": 3}),
        ("DPA105", {"kind": ["label"]}),
        ("DPA105", {"kind": "label", "unit": 3}),
        ("DPA103", {"kind": "label", "unit": "user"}),
        ("DPA103", {"kind": "label", "unit": "user:"}),
        ("DPA106", {"kind": "label", "norm": "l1"}),
        ("DPA106", {"kind": "label", "radius": 1}),
        ("DPA106", {"kind": "norm_ball", "norm": "l2"}),
        ("DPA106", {"kind": "norm_ball", "norm": "l3", "radius": 1}),
        ("DPA104", {"kind": "norm_ball", "norm": "l2", "radius": 0}),
    ],
)
def test_an_adjacency_that_says_nothing_or_two_things_is_refused(code, arguments):
    with pytest.raises(InvalidArgument, match=code):
        Adjacency(**arguments)


@pytest.mark.parametrize("value", [None, 3, ["add_remove"], {"kind": "label"}])
def test_an_adjacency_is_a_value_or_its_word(value):
    with pytest.raises(InvalidArgument, match="DPA105 adjacency must be an Adjacency or a string"):
        Adjacency.of(value)


def test_a_claim_stores_the_relation_whichever_way_it_is_written():
    assert Claim(PureDP(1), adjacency="label") == Claim(PureDP(1), adjacency=Adjacency("label"))
    assert Adjacency("add_remove") == Claim(PureDP(1)).relation
    assert "epsilon = 1 under norm_ball(l2, 1/2)" == str(Claim(PureDP(1), Adjacency("norm_ball", norm="l2", radius="0.5")))


@pytest.mark.parametrize("guarantee", [1, "epsilon = 1", None, PureDP])
def test_a_claim_needs_a_guarantee(guarantee):
    with pytest.raises(InvalidArgument, match="DPA105 a claim needs PureDP"):
        Claim(guarantee)


def test_a_curve_is_claimed_under_the_adjacency_of_its_loss_only():
    loss = FreeLoss(Adjacency("replace_one"))
    assert isinstance(loss, PrivacyProfile)
    assert loss is Claim(Curve(loss), adjacency="replace_one").guarantee.loss
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        Claim(Curve(loss), adjacency="add_remove")


def test_a_curve_needs_a_privacy_loss():
    with pytest.raises(InvalidArgument, match="DPA105 Curve takes a privacy loss"):
        Curve(lambda epsilon: 0)


@pytest.mark.parametrize("guarantee", [PureDP("1/3"), ApproxDP(1, "1e-6"), ZCDP(1), RDP({2: 1}), GDP(1)])
def test_a_claim_survives_the_way_to_a_worker_and_back(guarantee):
    claim = Claim(guarantee, adjacency="zero_out", note="from the docs")
    assert claim == pickle.loads(pickle.dumps(claim))


def test_a_claim_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Claim(PureDP(1)).note = "else"
