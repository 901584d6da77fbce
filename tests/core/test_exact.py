"""Exact numbers at the border: what is read, what is refused, and that enclosures enclose."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from dpaudit.accounting import gaussian
from dpaudit.errors import DpauditError, EngineDisagreement, InvalidArgument
from dpaudit.exact import (
    SMALLEST_EXPONENT,
    Enclosure,
    Reason,
    ball,
    ball_endpoints,
    float_outward,
    in_range,
    integer,
    non_negative,
    outward,
    positive,
    rational,
    shown,
    working_precision,
)

FRACTIONS = st.fractions(min_value=-(10**40), max_value=10**40, max_denominator=10**40)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.text(max_size=12), st.binary(max_size=4), st.complex_numbers(), st.lists(st.integers(), max_size=2)
)


@given(FRACTIONS)
def test_a_fraction_a_string_and_an_integer_are_read_as_they_stand(value: Fraction):
    assert value == rational(value)
    assert value == rational(str(value))
    assert value.numerator == rational(value.numerator)


@given(FLOATS)
def test_a_float_is_the_binary_value_it_is(value: float):
    assert Fraction(*value.as_integer_ratio()) == rational(value)
    assert rational(value) == rational(np.float64(value))


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_a_decimal_and_its_text_are_the_same_number(value: Decimal):
    assert Fraction(value) == rational(value) == rational(str(value))


def test_a_decimal_string_is_not_the_nearest_float():
    assert Fraction(1, 10) == rational("0.1")
    assert Fraction(1, 10) != rational(0.1)


@pytest.mark.parametrize("value", [np.int8(-5), np.int64(2**62), np.uint64(2**63)])
def test_numpy_integers_are_numbers(value: np.integer):
    assert int(value) == rational(value)


@given(ANYTHING)
@example("nan123")
@example("-sNaN7")
@example("1e99999999999999999999")
@example("0e999999999")
@example("1/0")
@example("--1")
@example("9" * 4001)
def test_what_is_no_number_is_refused_with_a_code_and_never_crashes(value: object):
    try:
        found: object = rational(value, "sigma")
    except InvalidArgument as refusal:
        found = refusal
    if isinstance(found, InvalidArgument):
        assert found.code in {"DPA101", "DPA102", "DPA103"}
        assert "sigma" in str(found)
    else:
        assert Fraction is type(found)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("DPA101", True),
        ("DPA101", np.bool_(1)),
        ("DPA101", None),
        ("DPA101", 1j),
        ("DPA101", "one"),
        ("DPA101", ""),
        ("DPA101", "1/0"),
        ("DPA102", math.nan),
        ("DPA102", -math.inf),
        ("DPA102", "nan"),
        ("DPA102", " -Infinity "),
        ("DPA102", "sNaN12"),
        ("DPA102", Decimal("NaN")),
        ("DPA102", Decimal("sNaN")),
        ("DPA103", "1e5001"),
        ("DPA103", Decimal("1e-5001")),
    ],
)
def test_each_kind_of_bad_number_has_its_code(code: str, value: object):
    with pytest.raises(InvalidArgument) as refusal:
        rational(value)
    assert code == refusal.value.code


@given(FRACTIONS)
def test_positive_takes_exactly_what_is_above_zero(value: Fraction):
    if value > 0:
        assert value == positive(value)
    else:
        with pytest.raises(InvalidArgument, match="DPA104 scale must be positive"):
            positive(value, "scale")


@given(FRACTIONS)
def test_non_negative_takes_zero_too(value: Fraction):
    if value >= 0:
        assert value == non_negative(value)
    else:
        with pytest.raises(InvalidArgument, match="DPA103 epsilon must be at least 0"):
            non_negative(value, "epsilon")


def test_the_refusal_of_a_zero_sensitivity_says_what_to_do_instead():
    with pytest.raises(InvalidArgument, match="needs no noise; release it directly"):
        positive(0, "sensitivity")


@given(FRACTIONS, FRACTIONS, FRACTIONS, st.booleans(), st.booleans())
@example(Fraction(0), Fraction(0), Fraction(1), True, False)  # noqa: FBT003
@example(Fraction(1), Fraction(0), Fraction(1), False, True)  # noqa: FBT003
def test_in_range_keeps_its_bounds(value, low, high, lower_open, upper_open):
    inside = (low < value or (not lower_open and low == value)) and (value < high or (not upper_open and value == high))
    bounds = {"lower": low, "upper": high, "lower_open": lower_open, "upper_open": upper_open}
    if inside:
        assert value == in_range(value, "x", **bounds)
    else:
        with pytest.raises(InvalidArgument, match=r"DPA103 x must be (at least|above) "):
            in_range(value, "x", **bounds)


@pytest.mark.parametrize(
    ("code", "value", "limits"),
    [
        ("DPA105", True, {}),
        ("DPA105", 1.0, {}),
        ("DPA105", "1", {}),
        ("DPA105", None, {}),
        ("DPA103", 0, {"lower": 1}),
        ("DPA103", 4, {"upper": 3}),
        ("DPA103", 4, {"lower": 1, "upper": 3}),
    ],
)
def test_integer_refuses_other_types_and_values_out_of_range(code: str, value: object, limits: dict[str, int]):
    with pytest.raises(InvalidArgument) as refusal:
        integer(value, "runs", **limits)
    assert code == refusal.value.code


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_integer_gives_a_python_int_for_numpy_ones(value: int):
    assert value == integer(np.int64(value), "n")
    assert int is type(integer(np.int64(value), "n"))


@given(FRACTIONS)
def test_shown_is_short_and_exact_unless_it_says_about(value: Fraction):
    text = shown(value)
    assert len(text) <= 36
    if not text.startswith("about"):
        assert value == rational(text)


@pytest.mark.parametrize(
    ("text", "base", "exponent"),
    [("about 1E-4000", 10, -4000), ("about 2^16609", 10, 5000), ("about 2^332192", 10, 100_000), ("1", 1, 0)],
)
def test_shown_says_the_size_of_what_is_too_long_to_print(text: str, base: int, exponent: int):
    assert text == shown(Fraction(base) ** exponent)


@pytest.mark.parametrize("size", ["1e5000", "1e-5000"])
def test_refusals_of_numbers_too_long_to_print_are_still_sentences(size: str):
    with pytest.raises(InvalidArgument, match="must be positive, got about"):
        positive(f"-{size}")
    with pytest.raises(InvalidArgument, match="must be at least 0 and at most 1, got about"):
        in_range(f"-{size}", "delta", lower=0, upper=1)
    with pytest.raises(InvalidArgument, match="epsilon must be at least 0, got about"):
        gaussian(sigma=1).delta(epsilon=f"-{size}")
    with pytest.raises(InvalidArgument, match="runs must be at least 1, got about"):
        integer(-(10**5000), "runs", lower=1)


@given(FRACTIONS)
def test_float_outward_brackets_the_number_with_neighbouring_floats(value: Fraction):
    low, high = float_outward(value, up=False), float_outward(value, up=True)
    assert low <= value <= high
    assert high in {low, math.nextafter(low, math.inf)}


@pytest.mark.parametrize("sign", [1, -1])
def test_float_outward_beyond_the_floats_is_the_last_float_or_infinity(sign: int):
    largest = math.nextafter(math.inf, 0)
    ends = sorted((sign * largest, sign * math.inf))
    assert ends == [float_outward(sign * Fraction(10) ** 400, up=up) for up in (False, True)]


@given(FRACTIONS, st.integers(min_value=1, max_value=20))
def test_outward_rounds_to_the_side_it_says(value: Fraction, digits: int):
    low, high = (Fraction(outward(value, digits=digits, up=up)) for up in (False, True))
    assert low <= value <= high
    assert high - low <= abs(value) * Fraction(10) ** (1 - digits)


@given(FRACTIONS, st.integers(min_value=2, max_value=300))
def test_a_ball_contains_its_rational_at_any_precision(value: Fraction, bits: int):
    with working_precision(bits):
        low, high = ball_endpoints(ball(value))
    assert low <= value <= high


@pytest.mark.parametrize("text", ["nan", "+/- inf", "1e-2000", "-1e-2000", "1e2000", "-1e2000", "0", "1 +/- 0.5"])
def test_ball_endpoints_are_on_the_outer_side_whatever_the_size(text: str):
    tiny = Fraction(2) ** SMALLEST_EXPONENT
    expected = {
        "nan": (-math.inf, math.inf),
        "+/- inf": (-math.inf, math.inf),
        "1e-2000": (0, tiny),
        "-1e-2000": (-tiny, 0),
        "1e2000": (1 / tiny, math.inf),
        "-1e2000": (-math.inf, -1 / tiny),
        "0": (0, 0),
        "1 +/- 0.5": (Fraction(1, 2), Fraction(3, 2)),
    }[text]
    found = ball_endpoints(arb(text))
    assert expected == tuple(round(end, 6) if text.startswith("1 ") else end for end in found)


def test_working_precision_is_restored_even_after_an_error():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), working_precision(777):
        _ = ctx.prec // (ctx.prec - 777)
    assert before == ctx.prec


def test_working_precision_of_one_thread_is_never_seen_by_another():
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(200):
            with working_precision(bits):
                wrong.extend([ctx.prec] if ctx.prec != bits else [])

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (64, 128, 256)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong


@given(FRACTIONS, FRACTIONS)
def test_an_enclosure_keeps_the_order_of_its_ends(first: Fraction, second: Fraction):
    low, high = sorted((first, second))
    enclosure = Enclosure(low, high)
    assert (low, high) == (enclosure.lower, enclosure.upper)
    assert high - low == enclosure.width
    if low < high:
        with pytest.raises(EngineDisagreement, match="DPA203"):
            Enclosure(high, low)


@given(FRACTIONS, FRACTIONS, FRACTIONS, FRACTIONS)
def test_intersection_is_what_both_contain_or_a_disagreement(a, b, c, d):
    one, two = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    if one.meets(two):
        both = one.intersect(two)
        assert all(one.contains(end) and two.contains(end) for end in (both.lower, both.upper))
    else:
        assert not any(one.contains(end) for end in (two.lower, two.upper))
        with pytest.raises(EngineDisagreement, match="do not meet"):
            one.intersect(two)


@given(st.integers(min_value=1025, max_value=2500), st.integers(min_value=1, max_value=2**64), st.booleans())
def test_a_very_long_rational_is_cut_outward_and_stays_close(bits: int, numerator: int, negative):
    value = Fraction(numerator * 2 + 1, 3**bits) * (-1 if negative else 1)
    enclosure = Enclosure.point(value)
    assert enclosure.lower < value < enclosure.upper
    assert enclosure.width <= abs(value) * Fraction(1, 2**90)


@pytest.mark.parametrize(
    ("lower", "upper"), [(math.nan, 1), (0, math.nan), (1, 0), (math.inf, -math.inf), (Fraction(2) ** 4000, 1)]
)
def test_an_impossible_enclosure_is_a_disagreement(lower, upper):
    with pytest.raises(EngineDisagreement, match="DPA203"):
        Enclosure(lower, upper)


@pytest.mark.parametrize("end", ["x", None, True, [1]])
def test_an_end_that_is_no_number_is_refused_as_every_parameter_is(end: object):
    with pytest.raises(InvalidArgument, match="DPA101 lower end"):
        Enclosure(end, 2)


def test_an_unbounded_or_huge_enclosure_still_prints_and_has_a_width():
    assert math.inf == Enclosure(Fraction(0), math.inf).width
    assert Fraction(2) ** 4000 - 1 == Enclosure(Fraction(1), Fraction(2) ** 4000).width
    assert "[0, inf]" == str(Enclosure(Fraction(0), math.inf))
    assert "<Enclosure [0, inf]>" == repr(Enclosure(Fraction(0), math.inf))
    assert (0.0, math.inf) == Enclosure(Fraction(0), Fraction(2) ** 4000).floats()


@given(FRACTIONS, FRACTIONS)
def test_the_printed_interval_contains_the_exact_one(first: Fraction, second: Fraction):
    enclosure = Enclosure(min(first, second), max(first, second))
    assert f"<Enclosure {enclosure}>" == repr(enclosure)
    ends = [Fraction(part) for part in str(enclosure).strip("[]").split(", ")]
    assert ends[0] <= enclosure.lower
    assert enclosure.upper <= ends[-1]


def test_a_ball_is_cut_to_where_the_truth_is_known_to_lie():
    found = Enclosure.from_ball(arb("0.99 +/- 0.5"), Reason("a probability"), lowest=Fraction(0), highest=Fraction(1))
    assert Fraction(1) == found.upper
    assert found.contains("0.99")


def test_why_is_the_reason_tree_indented():
    reason = Reason("sum", (Reason("left"), Reason("right", (Reason("deep"),))))
    assert "sum\n  left\n  right\n    deep" == Enclosure(Fraction(0), Fraction(1), reason).why()


def test_two_enclosures_are_equal_when_their_ends_are():
    assert Enclosure(Fraction(0), Fraction(1), Reason("a")) == Enclosure(Fraction(0), Fraction(1), Reason("b"))


def test_every_refusal_here_is_an_error_of_this_project():
    assert issubclass(InvalidArgument, DpauditError)
    assert issubclass(InvalidArgument, ValueError)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_computes_can_compute_too():
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with working_precision(99):
            inside.set()
            leave.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert inside.wait(30)
    child = os.fork()
    if child == 0:
        with working_precision(200):
            os._exit(0 if ctx.prec == 200 else 1)
    try:
        deadline = time.monotonic() + 20
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
            leave.wait(0.01)
        if ended[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    finally:
        leave.set()
        holder.join()
    assert (child, 0) == ended
