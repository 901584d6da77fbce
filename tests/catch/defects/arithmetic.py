"""What numbers do in a machine: wrapping, overflow, NaN, porous noise, rounding."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, laplace
from dpaudit.targets import Sensitivity

STEPS: Final = 2**8
UNIT: Final = 2.0**-53


def sum_in_a_byte(data: Any) -> int:
    """Sum of whole numbers in [0, 100], kept in 8 bits."""
    return int(np.clip(data, 0, 100).astype(np.int8).sum(dtype=np.int8))


def sum_in_a_word(data: Any) -> int:
    """Sum of whole numbers in [0, 100]."""
    return int(np.clip(data, 0, 100).sum())


def sum_that_wraps(data: Any) -> int:
    """Sum of whole numbers in [0, 2^62], kept in 64 bits."""
    return int(np.clip(np.asarray(data, dtype=np.int64), 0, 2**62).sum())


def sum_that_grows(data: Any) -> int:
    """Sum of whole numbers in [0, 2^62], of any length."""
    return sum(min(max(value, 0), 2**62) for value in data)


def sum_in_half_precision(data: Any) -> float:
    """Sum of values in [0, 40000], kept in 16 bits, where two of the largest give infinity."""
    with np.errstate(over="ignore"):
        return float(np.clip(data, 0, 40_000).astype(np.float16).sum(dtype=np.float16))


def sum_of_pairs_on_top(data: Any) -> float:
    """Sum of zeros and ones, added to 2^53 in pairs; one alone is lost there, two together are not."""
    bits = [*data, 0]
    total = 2.0**53
    for place in range(0, len(data), 2):
        total += float(bits[place] + bits[place + 1])
    return total - 2.0**53


def sum_that_keeps_nan(data: Any) -> float:
    """Sum of values clipped to [0, 1], which leaves NaN as it is."""
    return float(np.clip(np.asarray(data, dtype=float), 0, 1).sum())


def sum_without_nan(data: Any) -> float:
    """Sum of values mapped to [0, 1], NaN to 0."""
    return float(np.clip(np.nan_to_num(np.asarray(data, dtype=float), nan=0.0), 0, 1).sum())


def refusing_infinity(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Noisy sums of values in [0, 1], or an error that says that one of them is infinite."""
    values = np.asarray(data, dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a value is infinite")
    return np.clip(values, 0, 1).sum() + rng.laplace(size=count)


def coarse_inversion(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A number with Laplace noise that is the logarithm of one of 256 numbers."""
    uniform = (rng.integers(0, STEPS, size=count) + 0.5) / STEPS
    return data + np.where(rng.integers(0, 2, size=count) == 1, 1, -1) * -np.log(uniform)


def on_a_lattice(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A whole number with discrete Laplace noise, the difference of two geometric numbers."""
    return data + rng.geometric(1 - math.exp(-1), size=count) - rng.geometric(1 - math.exp(-1), size=count)


def porous_inversion(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A number with Laplace noise that is the logarithm of a multiple of 2^-53."""
    uniform = rng.integers(1, 2**53, size=count, endpoint=True) * UNIT
    sizes = np.array([-math.log(value) for value in uniform.tolist()])
    return data + np.where(rng.integers(0, 2, size=count) == 1, 1, -1) * sizes


def reached_from_zero(output: float) -> float:
    """Whether porous noise alone can give the output: some multiple of 2^-53 nearby has this logarithm."""
    size = abs(output)
    nearest = round(math.exp(-size) / UNIT)
    return float(any(size == -math.log(step * UNIT) for step in range(max(nearest - 4, 1), nearest + 5) if step <= 2**53))


def noise_rounded(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A sum of values in [0, 1] with noise that was rounded to whole numbers before it was added."""
    return np.clip(data, 0, 1).sum() + np.round(rng.laplace(size=count))


def sum_rounded(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A noisy sum of values in [0, 1], rounded to a whole number."""
    return np.round(np.clip(data, 0, 1).sum() + rng.laplace(size=count))


def rounded_up_each(data: Any) -> float:
    """Sum of values in [0, 1/4], each rounded up to a whole number."""
    return float(np.ceil(np.clip(data, 0, 0.25)).sum())


def rounded_to_sixteenths(data: Any) -> float:
    """Sum of values in [0, 1/4], each rounded to a multiple of 1/16, of which both bounds are."""
    return float(np.round(np.clip(data, 0, 0.25) * 16).sum() / 16)


DEFECTS: Final = (
    Defect(
        name="sum_in_eight_bits",
        kind="wrap or overflow in a sum",
        wrong="a sum of values up to 100 wraps at 128",
        right="it has 64 bits",
        pair=([28], [28, 100]),
        broken=laplace(sum_in_a_byte, scale=100),
        sound=laplace(sum_in_a_word, scale=100),
        declared=(Sensitivity(query=sum_in_a_byte, bound=100), Sensitivity(query=sum_in_a_word, bound=100)),
    ),
    Defect(
        name="sum_in_sixty_four_bits",
        kind="wrap or overflow in a sum",
        wrong="a sum of values up to 2^62 wraps at 2^63",
        right="it may grow",
        pair=([2**62], [2**62, 2**62]),
        broken=laplace(sum_that_wraps, scale=2.0**62),
        sound=laplace(sum_that_grows, scale=2.0**62),
    ),
    Defect(
        name="sum_in_half_precision",
        kind="wrap or overflow in a sum",
        wrong="two of the largest values add up to infinity in 16 bits",
        right="the sum has 64 bits",
        pair=([40_000.0], [40_000.0, 40_000.0]),
        broken=laplace(sum_in_half_precision, scale=40_000),
        sound=laplace(lambda data: np.clip(data, 0, 40_000).sum(), scale=40_000),
    ),
    Defect(
        name="order_of_a_float_sum",
        kind="order of a float sum",
        wrong="ones are added to a large number in pairs, and a record in front of them changes the pairs",
        right="whole numbers are added",
        pair=([1, 1, 0, 0] * 3, [0] + [1, 1, 0, 0] * 3),
        broken=laplace(sum_of_pairs_on_top, scale=1),
        sound=laplace(sum, scale=1),
        declared=(Sensitivity(query=sum_of_pairs_on_top, bound=1), Sensitivity(query=sum, bound=1)),
    ),
    Defect(
        name="nan_through_the_clip",
        kind="NaN or infinity as a distinguishing event",
        wrong="clipping leaves NaN as it is, and the sum becomes NaN",
        right="NaN counts as 0",
        pair=([0.5], [0.5, math.nan]),
        broken=laplace(sum_that_keeps_nan, scale=1),
        sound=laplace(sum_without_nan, scale=1),
    ),
    Defect(
        name="error_on_infinity",
        kind="NaN or infinity as a distinguishing event",
        wrong="an infinite value raises an error",
        right="it is clipped like any large one",
        pair=([0.5], [0.5, math.inf]),
        broken=refusing_infinity,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="coarse_inversion",
        kind="float Laplace noise by inversion",
        wrong="noise takes 512 values, and neighbours have none in common",
        right="noise on a lattice that both answers are on",
        pair=(0, 1),
        broken=coarse_inversion,
        sound=on_a_lattice,
    ),
    Defect(
        name="porous_inversion",
        kind="float Laplace noise by inversion",
        wrong="the logarithm of a 53-bit uniform number leaves gaps, which the answer moves",
        right="noise on a lattice that both answers are on",
        pair=(0, 1),
        broken=porous_inversion,
        sound=on_a_lattice,
        score=reached_from_zero,
    ),
    Defect(
        name="noise_rounded_alone",
        kind="rounding at the wrong place",
        wrong="noise is rounded to whole numbers before it is added, so that the answer's fraction is shown",
        right="the noisy answer is rounded",
        pair=([0.5], [0.5, 0.25]),
        broken=noise_rounded,
        sound=sum_rounded,
    ),
    Defect(
        name="values_rounded_up",
        kind="rounding at the wrong place",
        wrong="values up to 1/4 are rounded up to 1, with noise for 1/4",
        right="to multiples of 1/16, of which 1/4 is one",
        pair=([], [0.125]),
        broken=laplace(rounded_up_each, scale=1 / 4),
        sound=laplace(rounded_to_sixteenths, scale=1 / 4),
        declared=(Sensitivity(query=rounded_up_each, bound="1/4"), Sensitivity(query=rounded_to_sixteenths, bound="1/4")),
    ),
)
