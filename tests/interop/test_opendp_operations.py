"""Measurements and transformations of OpenDP as targets: stand-ins here, the library in benchmarks/adapters.py."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import audit
from dpaudit.auditor import check_properties
from dpaudit.errors import DpauditError, InvalidArgument, Unsupported
from dpaudit.interop import from_opendp
from dpaudit.interop.opendp import input_of
from dpaudit.interop.stability import _DISTANCES, probe

INTEGERS = SimpleNamespace(carrier_type="i32", bounds=(0, 9))


class Operation(SimpleNamespace):
    """A stand-in with the attributes of an operation; called, it applies its function."""

    def __call__(self, rows):
        return self.function(rows)


Operation.__module__ = "opendp.mod"


def descriptor(kind):
    """A stand-in for a metric or measure."""
    return SimpleNamespace(type=kind)


def operation(*, metric="SymmetricDistance", measure=None, output=None, d_out=0.5, function=len, domain=None, **others):
    """A measurement if it has a measure, else a transformation."""
    ends = {"output_measure": descriptor(measure)} if measure else {"output_metric": descriptor(output)}
    return Operation(
        input_metric=descriptor(metric),
        input_distance_type="f64" if "f64" in metric else "u32",
        input_domain=domain or SimpleNamespace(element_domain=INTEGERS, size=None),
        map=lambda _: d_out,
        function=function,
        **ends,
        **others,
    )


@pytest.mark.parametrize(
    ("measure", "d_out", "claim"),
    [
        ("MaxDivergence", 0.5, "epsilon = 1/2"),
        ("Approximate<MaxDivergence>", (1.0, 0.25), "epsilon = 1, delta = 1/4"),
        ("ZeroConcentratedDivergence", 0.125, "rho = 1/8 (zCDP)"),
        ("Approximate<ZeroConcentratedDivergence>", (0.125, 0.0), "rho = 1/8 (zCDP)"),
        ("opendp::measures::MaxDivergence", 2.0, "epsilon = 2"),
        ("SmoothedMaxDivergence", SimpleNamespace(epsilon=lambda delta: 2.0 + delta), "epsilon = about 2.001, delta = about 0.001"),
    ],
)
def test_the_claim_is_what_the_map_gives(measure, d_out, claim):
    target = from_opendp(operation(measure=measure, d_out=d_out))
    assert f"{claim} under add_remove" == str(target.claim)


def test_a_renyi_curve_is_claimed_at_eight_orders():
    target = from_opendp(operation(measure="RenyiDivergence", d_out=lambda order: order / 4))
    assert [(2, 0.5), (64, 16)] == [pair for pair in target.claim.guarantee.orders if pair[0] in {2, 64}]


@pytest.mark.parametrize(
    ("metric", "d_in", "size", "adjacency"),
    [
        ("SymmetricDistance", 1, None, "add_remove"),
        ("InsertDeleteDistance", 1, None, "add_remove"),
        ("SymmetricDistance", 2, 4, "replace_one"),
        ("ChangeOneDistance", 1, 4, "replace_one"),
        ("HammingDistance", 3, 4, "hamming(3)"),
        ("L2Distance<f64>", "1/2", None, "norm_ball(l2, 1/2)"),
        ("AbsoluteDistance<i32>", 2, None, "norm_ball(l1, 2)"),
        ("opendp::metrics::LInfDistance<f64>", 1, None, "norm_ball(linf, 1)"),
    ],
)
def test_the_adjacency_is_that_of_the_input_metric(metric, d_in, size, adjacency):
    domain = SimpleNamespace(element_domain=INTEGERS, size=size)
    given_one = operation(metric=metric, measure="MaxDivergence", domain=domain)
    assert adjacency == str(from_opendp(given_one, d_in=d_in).claim.relation)


def test_a_map_of_floats_is_asked_with_a_float():
    asked = []
    given_one = operation(metric="L1Distance<f64>", measure="MaxDivergence")
    given_one.map = lambda d_in: asked.append(d_in) or 1.0
    from_opendp(given_one, d_in="1/2")
    assert [0.5] == asked
    assert isinstance(asked[0], float)


@pytest.mark.parametrize(
    "given_one",
    [
        operation(measure="UserDivergence"),
        operation(measure="Approximate<ZeroConcentratedDivergence>", d_out=(0.1, 1e-6)),
        operation(metric="FrameDistance", measure="MaxDivergence"),
        operation(output="FrameDistance"),
        operation(measure="MaxDivergence", domain=SimpleNamespace(carrier_type="DataFrame")),
        operation(measure="MaxDivergence", domain=SimpleNamespace(element_domain=INTEGERS, size=4)),
    ],
)
def test_what_has_no_counterpart_is_refused(given_one):
    with pytest.raises(Unsupported, match="DPA202"):
        from_opendp(given_one)


def test_a_monotonic_metric_needs_neighbours_of_its_own():
    metric = type("Metric", (SimpleNamespace,), {"__str__": lambda _: "LInfDistance(monotonic=True, T=f64)"})(
        type="LInfDistance<f64>"
    )
    given_one = operation(metric="LInfDistance<f64>", measure="MaxDivergence")
    given_one.input_metric = metric
    with pytest.raises(Unsupported, match="DPA202"):
        from_opendp(given_one)
    assert "norm_ball" == from_opendp(given_one, neighbours=[([0.0], [1.0])]).adjacency.kind


@pytest.mark.parametrize("what", [3, object(), SimpleNamespace(input_metric=1)])
def test_what_is_no_operation_is_refused(what):
    with pytest.raises(InvalidArgument, match="DPA105"):
        from_opendp(what)


def test_a_map_without_a_bound_is_refused():
    with pytest.raises(DpauditError, match="DPA102"):
        from_opendp(operation(measure="MaxDivergence", d_out=float("inf")))


@pytest.mark.parametrize(
    ("domain", "output", "expected"),
    [
        (SimpleNamespace(element_domain=INTEGERS, size=None), None, [0, 3, 6, 9]),
        (SimpleNamespace(element_domain=INTEGERS, size=2), None, [0, 9]),
        (SimpleNamespace(element_domain=INTEGERS, size=None), SimpleNamespace(size=2), [0, 4, 9]),
        (SimpleNamespace(element_domain=SimpleNamespace(carrier_type="bool"), size=None), None, [True, False, True, False]),
        (SimpleNamespace(element_domain=SimpleNamespace(carrier_type="String"), size=2), None, ["a", "b"]),
        (SimpleNamespace(carrier_type="f64", bounds=None), None, 0.0),
        (SimpleNamespace(carrier_type="u8", bounds=None), None, 0),
    ],
)
def test_an_input_is_made_from_the_domain(domain, output, expected):
    made = input_of(SimpleNamespace(input_domain=domain, output_domain=output))
    assert repr(expected) == repr(made)


def shuffled_when_full(rows):
    """Longer lists are cut to three records, lists of three are shuffled: the defect of OpenDP's make_resize, in our words."""
    return rows[:3] if len(rows) > 3 else random.sample(rows, len(rows)) + [0] * (3 - len(rows))


def cut(rows):
    """The same without the shuffle."""
    return [*rows, 0, 0, 0][:3]


def resize(function):
    """A transformation to lists of three, with the stability that is claimed of it."""
    ends = {"metric": "InsertDeleteDistance", "output": "InsertDeleteDistance"}
    return operation(**ends, d_out=2, function=function, output_domain=SimpleNamespace(size=3))


def test_a_shuffle_inside_a_stable_map_is_found():
    assert "refuted" == str(audit(from_opendp(resize(shuffled_when_full)), runs=6000, seed=1).results[0].verdict)


def test_its_correct_twin_is_not_flagged():
    result = audit(from_opendp(resize(cut)), runs=6000, seed=1).results[0]
    assert "consistent" == str(result.verdict)


def test_a_sum_that_moves_further_than_its_map_says_is_found_without_statistics():
    doubled = operation(output="AbsoluteDistance<i32>", d_out=9, function=lambda rows: 2 * sum(rows))
    found = [law.property.name for law in check_properties(from_opendp(doubled)) if law.pair is not None]
    assert "declared sensitivity" in found


def test_given_neighbours_are_used():
    pairs = [([1, 2], [1])]
    target = from_opendp(operation(output="SymmetricDistance", d_out=1, function=list), neighbours=pairs)
    assert pairs == list(target.neighbours)


lists = st.lists(st.integers(0, 3), max_size=6)


@given(lists, lists, lists)
def test_distances_of_datasets_are_metrics(first, second, third):
    for name in ("SymmetricDistance", "InsertDeleteDistance", "ChangeOneDistance"):
        apart = _DISTANCES[name]
        assert 0 == apart(first, first)
        assert apart(first, second) == apart(second, first)
        assert apart(first, third) <= apart(first, second) + apart(second, third)


@given(lists, lists)
def test_order_can_only_add_to_a_distance(first, second):
    unordered = _DISTANCES["SymmetricDistance"](first, second)
    assert unordered <= _DISTANCES["InsertDeleteDistance"](first, second)
    assert unordered == _DISTANCES["InsertDeleteDistance"](sorted(first), sorted(second))


@given(lists, st.data())
def test_one_insertion_is_a_distance_of_one(rows, data):
    place = data.draw(st.integers(0, len(rows)))
    assert 1 == _DISTANCES["InsertDeleteDistance"](rows, [*rows[:place], 7, *rows[place:]])


@pytest.mark.parametrize(
    ("metric", "first", "second", "distance"),
    [
        ("HammingDistance", [1, 2, 3], [1, 0, 0], 2),
        ("HammingDistance", [1], [1, 2], float("inf")),
        ("ChangeOneDistance", [1, 1, 2], [2, 2, 1], 1),
        ("AbsoluteDistance", 3, 5, 2),
        ("L1Distance", [0, 0], [3, -4], 7),
        ("L2Distance", [0, 0], [3, -4], 5),
        ("LInfDistance", [0, 0], [3, -4], 4),
        ("L2Distance", [0, 0], [0], float("inf")),
        ("AbsoluteDistance", 2**60, 2**60 + 2, 2),
    ],
)
def test_the_probe_is_the_distance_in_units_of_what_is_allowed(metric, first, second, distance):
    still = SimpleNamespace(laplace=lambda scale: 0.0)
    assert distance / 2 == probe(lambda rows: rows, metric, 2.0, first)(second, still)
