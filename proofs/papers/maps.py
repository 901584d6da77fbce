"""Differentially Private Learning with Margin Guarantees: projections, clipping, random features, kernels and sketches."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.dossier import Found, Standing
from learners.rows.fourier import GaussianKernel, fourier_map
from learners.rows.ingest import to_rows
from learners.rows.polynomial import kernel_norm
from learners.rows.rows import Rows
from learners.rows.signs import sign_map
from learners.rows.sketch import sketch_map
from proofs.papers.witnessing import claims, computed, decision, digits, lemma, proof, refuted, survives

_claim = claims("Margin guarantees")
_ADVERSARIAL: Final = (5e-324, 1e-200, 1e300, -1e300, 4096.0, math.inf, -math.inf, math.nan, 0.0, 1.0, 2.0**60)


def _norms(rows: Rows) -> list[int]:
    """Squared norms of rows in Python integers."""
    return [sum(int(step) ** 2 for step in row) for row in np.asarray(rows.steps)]


def _too_long(values: np.ndarray, radius: float) -> int:
    """How many rows of floats are longer than a radius, in exact arithmetic."""
    limit = Fraction(radius) ** 2
    return sum(sum(Fraction(float(value)) ** 2 for value in row) > limit for row in values)


@_claim(
    "A2",
    "Algorithms 1 and 2, step 2",
    promised="Projecting records by a random matrix costs no privacy.",
    expects=Standing.HOLDS,
    correction="The matrix must be fixed before the records are seen. One that is drawn again until it suits them is not.",
    code=("learners/rows/signs.py:sign_map", "learners/rows/hadamard.py:hadamard_map"),
)
def _a2(runs: int) -> Found:
    """A record's image does not depend on the other records; a matrix that was drawn to suit them does."""
    rng, equal, tried = np.random.default_rng(2), True, 200
    for seed in range(tried):
        features = rng.normal(size=(3, 6))
        rows, other = (to_rows(part, np.zeros(len(part), dtype=np.int64), feature_norm=1) for part in (features, features[:1]))
        image = sign_map(dimension_in=6, dimension_out=3, seed=seed)
        equal &= bool(np.array_equal(np.asarray(image.apply(rows).steps)[:1], np.asarray(image.apply(other).steps)))
    return decision(
        f"With a fixed matrix the image of a record was the same whatever stood beside it, for {tried} matrices, so that "
        "neighbours stay neighbours. A matrix that is drawn until it keeps the norms of the records gives them away.",
        f"{tried} of {tried} images equal",
        computed(equal, f"images of one record in {tried} pairs of datasets: equal", kind="test"),
        refuted("broken_fitted_map", runs),
        survives("fixed_map", runs),
    )


@_claim(
    "A12",
    "Algorithm 2, step 3",
    promised="After the projection records are cut to norm 2 r, so that none contributes more.",
    expects=Standing.PART,
    correction="They must be cut in whole numbers that do not wrap around, and rounded towards zero.",
    code=("learners/rows/ingest.py:to_rows", "learners/rows/images.py:clip_images"),
)
def _a12(runs: int) -> Found:
    """Exact cutting on hostile records, cutting in floats on ordinary ones, and squares that wrap around."""
    rng, bits = np.random.default_rng(12), 20
    hostile = np.array([(first, second, 0.5) for first in _ADVERSARIAL for second in _ADVERSARIAL])
    rows = to_rows(hostile, np.zeros(len(hostile), dtype=np.int64), feature_norm=1, lattice_bits=bits)
    within = max(_norms(rows)) <= 4**bits
    drawn = rng.normal(size=(2000, 50))
    long = _too_long(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), 1.0)
    wrapped = int(np.array([4096 * 2**bits], dtype=np.int64)[0]) ** 2 % 2**64
    return decision(
        f"Cut in whole numbers all {len(hostile)} hostile records have norm at most 1. Divided by their norm in floats, {long} of "
        f"2000 random records are longer than 1, and the square of 4096 in steps of 2^-20 is {wrapped} in 64 bits, so that it is "
        "not cut at all.",
        f"{long} of 2000 too long in floats",
        computed(within, f"largest squared norm of {len(hostile)} hostile records: at most 4^{bits}", kind="test"),
        *lemma("sensitivity.clip", "sensitivity.clip_lengths", "sensitivity.truncation"),
        computed(long == 0, f"{long} of 2000 records of 50 columns are longer than 1 after division in floats"),
        refuted("broken_wrapped_norm", runs),
        survives("exact_norm", runs),
    )


@_claim(
    "A14",
    "section 4, random Fourier features",
    promised="The image of every record under random Fourier features has norm exactly r.",
    expects=Standing.PART,
    correction=(
        "In real numbers it has; in floats images may be longer. Shipped images are looked up in a table that rounds towards zero."
    ),
    code=("learners/rows/fourier.py:fourier_map",),
)
def _a14(runs: int) -> Found:
    """Images in floats and images from the table."""
    rng, count, frequencies, bits = np.random.default_rng(14), 500, 4, 16
    phases = rng.normal(size=(count, frequencies)) * 10
    images = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / math.sqrt(frequencies)
    long = _too_long(images, 1.0)
    rows = to_rows(rng.normal(size=(count, 3)), np.zeros(count, dtype=np.int64), feature_norm=1)
    shipped = fourier_map(dimension_in=3, frequencies=frequencies, kernel=GaussianKernel(1), seed=4).apply(rows, lattice_bits=bits)
    within = max(_norms(shipped)) <= 4**bits
    return decision(
        f"Computed in floats, {long} of {count} images are longer than 1; of the shipped ones none is.",
        f"{long} of {count} too long in floats",
        computed(within, f"all {count} shipped images have norm at most 1, in whole numbers", kind="test"),
        computed(long == 0, f"{long} of {count} images in floats are longer than 1"),
        survives("kernel_releases", runs),
        proof("KernelMarginClassifier"),
    )


@_claim(
    "A15",
    "section 4, polynomial kernels",
    promised="For a polynomial kernel of degree p the norm bound r of the records becomes r^p.",
    expects=Standing.PART,
    correction="It becomes (r^2 + c)^(p/2), where c is the constant of the kernel.",
    code=("learners/rows/polynomial.py:kernel_norm",),
)
def _a15(runs: int) -> Found:
    """The norm with the constant 0 and with 1."""
    bare, whole = kernel_norm(Fraction(1), 3, Fraction(0)), kernel_norm(Fraction(1), 3, Fraction(1))
    return decision(
        f"Without a constant the bound is right. For (<x, y> + 1)^3 and records of norm 1 an image has norm {digits(whole, 3)} "
        "instead of 1, so that noise for r^p is that much too small.",
        f"{digits(whole, 3)} times too little noise",
        computed(bare == 1, "constant 0, degree 3, r = 1: norm 1"),
        computed(whole <= 1, f"constant 1, degree 3, r = 1: norm {digits(whole)}"),
        refuted("broken_kernel_norm", runs),
        survives("whole_kernel_norm", runs),
        survives("polynomial_releases", runs),
        proof("PolynomialMarginClassifier"),
    )


@_claim(
    "A16",
    "section 4, further extensions",
    promised="Oblivious sketches of kernels can take the place of exact features.",
    expects=Standing.PART,
    correction="They can if images are cut: a sketch has its norm on average only.",
    code=("learners/rows/sketch.py:sketch_map",),
)
def _a16(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """Sketches of random records, cut and not cut."""
    rng, count, bits = np.random.default_rng(16), 200, 16
    rows = to_rows(rng.normal(size=(count, 4)), np.zeros(count, dtype=np.int64), feature_norm=1, lattice_bits=bits)
    image = sketch_map(dimension_in=4, dimension_out=2, degree=3, seed=1)
    bound, room = image.image_norm(Fraction(1)), 1000
    wide = image.apply(rows, clip=room, lattice_bits=24)
    norms = [math.sqrt(square) * room / 2**24 for square in _norms(wide)]
    cut = max(_norms(image.apply(rows, lattice_bits=bits))) <= 4**bits
    long = sum(norm > bound for norm in norms)
    return decision(
        f"{long} of {count} sketches into two columns are longer than the kernel's norm, the longest "
        f"{max(norms) / float(bound):.1f} times.",
        f"{max(norms) / float(bound):.1f} times too long",
        computed(cut, f"cut sketches of {count} records are within the norm, in whole numbers", kind="test"),
        *lemma("sensitivity.clip"),
        computed(long == 0, f"{long} of {count} sketches that are not cut are longer than the norm", kind="test"),
    )


ITEMS: Final = (_a2, _a12, _a14, _a15, _a16)
"""All of them."""
