"""The precision of floats: what is read of it, and that columns come only where it differs, which noise as usual does not."""

import struct

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.reading.precision import Fine, columns_of, find_fine, precision
from dpaudit.results import Verdict

RUNS = 12_000


def with_last_bit(value, bit):
    (whole,) = struct.unpack("<q", struct.pack("<d", value))
    return struct.unpack("<d", struct.pack("<q", (whole & ~1) | bit))[0]


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        (0, 12.0),
        (0, -0.0),
        (1, 2.5),
        (3, -0.125),
        (2, 1234567.25),
        (9, 0.123456789),
        (16, 1 / 1024),
        (16, 2.0**100),
        (17, 1e290),
        (17, 1 / 3),
        (17, 0.1 + 0.2),
    ],
)
def test_precision_is_the_number_of_digits_or_that_of_single_or_double_floats(digits, value):
    assert [digits] == precision(np.array([value])).tolist()


def test_last_bits_are_those_of_large_numbers_of_full_precision_alone():
    odd = float(np.nextafter(2 / 3, 1))

    last = columns_of(np.array([1 / 3, odd, 0.75]), Fine((), 0.5))[:, 1]
    assert [-1, (int(struct.unpack("<q", struct.pack("<d", odd))[0]) % 16), -1] == last.tolist()


def test_last_bits_of_short_floats_are_those_of_their_type():
    bits = np.array([0x3F123455, 0x3F12345A], dtype=np.uint32)
    assert [5.0, 10.0] == columns_of(bits.view(np.float32).astype(float), Fine((), 0.1, 29))[:, 1].tolist()


@pytest.mark.parametrize(("kind", "unsigned"), [(np.float32, np.uint32), (np.float16, np.uint16)])
def test_a_last_bit_of_a_short_float_is_found(kind, unsigned):
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, 2**13).astype(np.uint8)
    values = rng.laplace(size=labels.size).astype(kind)
    assert find_fine((), [(values.astype(float), labels)]) is None
    bits = values.view(unsigned)
    bits[:] = bits & ~unsigned(1) | (rng.random(labels.size) < np.where(labels, 0.9, 0.1))
    assert find_fine((), [(values.astype(float), labels)]) is not None


@pytest.mark.parametrize("shift", [1, 1000, 2**-9, 3.7])
@pytest.mark.parametrize("kind", ["laplace", "normal", "exponential", "gumbel", "logistic"])
def test_noise_added_in_the_usual_way_adds_no_columns(kind, shift):
    # Chance per case: eighteen shares at five standard deviations, 1e-5; the streams are fixed.
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, 2**14).astype(np.uint8)
    values = float(shift) * labels + getattr(rng, kind)(scale=shift, size=labels.size)

    assert find_fine((), [(values, labels)]) is None


def to_grid(data, rng, step):
    return round((data + rng.laplace()) / step) * step


LEAKS = {
    "single precision": (
        lambda d, r: float(np.float32(r.laplace())) if d else r.laplace(),
        lambda d, r: float(np.float32(d + r.laplace())),
    ),
    "a grid": (lambda d, r: to_grid(d, r, 1 / 1000 if d else 1 / 1024), lambda d, r: to_grid(d, r, 1 / 1024)),
    "the last bit": (
        lambda d, r: with_last_bit(r.laplace(), int(r.random() < (0.95 if d else 0.05))),
        lambda d, r: with_last_bit(d + r.laplace(scale=4), int(r.random() < (0.65 if d else 0.35))),
    ),
    "digits in a list": (
        lambda d, r: {"a": [r.laplace(), round(r.laplace(), 6 if d else 12)]},
        lambda d, r: {"a": [d + r.laplace(), round(r.laplace(), 6)]},
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_the_precision_of_a_float_gives_away_is_refuted_and_a_sound_twin_is_not(name):
    found, twin = (
        audit(Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)]), runs=RUNS, seed=3, stop_early=True).results[0]
        for run in LEAKS[name]
    )

    assert Verdict.REFUTED == found.verdict
    assert Verdict.REFUTED != twin.verdict


@pytest.mark.parametrize(("step", "found"), [(1, False), (3, True), (5, True), (60, True)])
def test_steps_of_many_integers_are_found(step, found):
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, 2**12).astype(np.uint8)
    values = np.rint(rng.laplace(1e6, 1e5, labels.size))
    values[labels == 1] = np.rint(values[labels == 1] / step) * step

    fine = find_fine((), [(values, labels)])
    assert found == (fine is not None)
    assert fine is None or "divisor" == fine.names[1]
    assert [4.0, 12600.0, 7.0] == columns_of(np.array([-4.0, 0.0, 11.0 * 7]), Fine((), 0.0, whole=True))[:, 1].tolist()


@pytest.mark.parametrize("cut", [0.0, 0.5])
def test_how_many_outputs_are_cut_to_an_end_is_no_matter_of_precision(cut):
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 4000).astype(np.uint8)
    noisy = 1.0 + labels + rng.laplace(size=len(labels))
    assert find_fine((), [(np.maximum(noisy, cut), labels)]) is None
    few = np.where(labels == 1, np.round(noisy, 2), noisy)
    assert find_fine((), [(np.maximum(few, cut), labels)]) is not None
