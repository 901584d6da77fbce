"""Arrays and functions of the caller: what is refused, with which code, and without a word about the values."""

import traceback

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor import boundary_values
from dpaudit.auditor.membership import draw_fingerprints
from dpaudit.auditor.membership.user_arrays import finite_array, result_of
from dpaudit.errors import DpauditError, TargetFailure, Unsupported
from dpaudit.exact import instance_of
from examples.noisy_gradients import NoisyGradients


@given(
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60) | st.booleans(), max_size=5)
)
def test_finite_numbers_and_booleans_are_taken_as_they_are(numbers):
    assert [float(number) for number in numbers] == finite_array(numbers, "scores").tolist()


@pytest.mark.parametrize(
    "value",
    [
        "secret 4711",
        ["4711", 1],
        [[4711], [1, 2]],
        [4711, None],
        [4711, float("nan")],
        4711 + 1j,
        b"4711",
        {4711: 1},
        np.array(["4711"]),
    ],
)
def test_whatever_else_is_refused_and_not_shown(value):
    with pytest.raises(DpauditError, match="DPA105 scores must be finite numbers") as refusal:
        finite_array(value, "scores")
    assert "4711" not in "".join(traceback.format_exception_only(refusal.value))
    assert refusal.value.__context__ is None


def test_a_function_of_the_caller_fails_with_a_code_a_type_and_a_place_alone():
    def secret(value):
        raise KeyError(value)

    def unsupported(value):
        raise Unsupported("DPA202", "as asked.")

    assert 3 == result_of(len, "abc")
    with pytest.raises(TargetFailure, match=r"^DPA405 secret raised KeyError at test_user_arrays\.py:\d+\.$"):
        result_of(secret, 4711)
    with pytest.raises(Unsupported, match="DPA202"):
        result_of(unsupported, 1)
    with pytest.raises(DpauditError, match="DPA105 a function is needed, got a int"):
        result_of(3, 4711)


def test_a_value_of_another_kind_is_refused_by_its_type():
    assert "text" == instance_of("text", str, "note")
    with pytest.raises(DpauditError, match=r"^DPA105 note must be of type str, got an int\.$"):
        instance_of(4711, str, "note")


TRAINING = NoisyGradients(noise_multiplier=1, steps=1)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda rng: draw_fingerprints(3, 2, "generator"), "DPA105"),
        (lambda rng: draw_fingerprints(2**40, 2, rng), "DPA103"),
        (lambda rng: draw_fingerprints(3, 2, rng, distinct=2**40), "DPA103"),
        (lambda rng: TRAINING.fit([[1.0]], "generator"), "DPA105"),
        (lambda rng: TRAINING.fit([[1.0]], rng, hooks="hooks"), "DPA105"),
        (lambda rng: boundary_values("1/0"), "DPA103"),
    ],
)
def test_arguments_of_another_kind_or_size_are_refused_with_a_code(call, code):
    with pytest.raises(DpauditError, match=code):
        call(np.random.default_rng(0))
