"""Differentially Private Learning with Margin Guarantees: projections, clipping, random features, kernels and sketches."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.dossier import Found, Kind, Standing
from learners.rows.fourier import GaussianKernel, fourier_map
from learners.rows.ingest import to_rows
from learners.rows.polynomial import kernel_norm
from learners.rows.rows import Rows
from learners.rows.sketch import sketch_map
from proofs.papers.points import BITS, HOSTILE, ROOM
from proofs.papers.witnessing import claims, computed, decision, digits, lemma, proof, refuted, survives

_claim = claims("Margin guarantees")
_MIXED: Final = (
    "for each matrix neighbours map to neighbours, record by record, and a mixture over matrices that know nothing of the data "
    "keeps "
    "epsilon and delta"
)


def _norms(rows: Rows) -> list[int]:
    """Squared norms of rows in Python integers."""
    return [sum(int(step) ** 2 for step in row) for row in np.asarray(rows.steps)]


def _too_long(values: np.ndarray) -> int:
    """How many rows of floats are longer than 1, in exact arithmetic."""
    return sum(sum(Fraction(float(value)) ** 2 for value in row) > 1 for row in values)


@_claim(
    "A2",
    "appendix B.1, proof of Theorem 3.1",
    quote=r"and  $\Phi$  is generated independently of S",
    promised="Projecting records by a random matrix that is independent of them costs no privacy.",
    expects=Standing.HOLDS,
    number="no cost",
    correction="A program must not draw the matrix again until it suits the records.",
    code=("learners/rows/signs.py:sign_map", "learners/rows/hadamard.py:hadamard_map"),
)
def _a2(runs: int) -> Found:
    """The lemmas; and a matrix that was drawn to suit the records."""
    return decision(
        "It costs nothing. A matrix that is drawn until it keeps the norms of the records gives them away.",
        "no cost",
        lemma(
            _MIXED, "arguments.mixture", "passes.mixture", where="every mechanism, every law of matrices independent of the data"
        ),
        refuted("broken_fitted_map", runs),
        survives("fixed_map", runs),
    )


@_claim(
    "A12",
    "Algorithm 2, step 3",
    quote="xΦ Φx Rk and Bk(2r) is the Euclidean projection on Bk(2r)",
    promised="After the projection records are cut to norm 2 r, so that none contributes more.",
    expects=Standing.HOLDS,
    number="1013 of 2000 too long in floats",
    correction=(
        "A program must cut in whole numbers that do not wrap around, rounded towards zero: floats leave half of them too long."
    ),
    code=("learners/rows/ingest.py:to_rows", "learners/rows/images.py:clip_images"),
)
def _a12(runs: int) -> Found:
    """The lemma; exact cutting on hostile records, and cutting in floats on ordinary ones."""
    rng = np.random.default_rng(12)
    rows = to_rows(np.array(HOSTILE), np.zeros(len(HOSTILE), dtype=np.int64), feature_norm=1, lattice_bits=BITS)
    drawn = rng.normal(size=(2000, 50))
    long = _too_long(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    return decision(
        f"They are, in real numbers. Divided by their norm in floats, {long} of {len(drawn)} random records are longer than 1.",
        f"{long} of {len(drawn)} too long in floats",
        lemma("a projection on a ball ends in it and does not expand", *_CLIPS, where="all records and radii"),
        computed(
            max(_norms(rows)) == 4**BITS, f"{len(HOSTILE)} hostile records, cut in whole numbers", about="repair", kind="test"
        ),
        computed(not long, f"{long} records are too long in floats", about="shortcut", kind="test", expects=False),
        refuted("broken_wrapped_norm", runs),
        survives("exact_norm", runs),
    )


_CLIPS: Final = ("sensitivity.clip", "sensitivity.clip_lengths", "sensitivity.truncation")


@_claim(
    "A14",
    "Theorem 4.1",
    quote="With probability 1, we have (x) 2 = r, x X",
    promised="The image of every record under random Fourier features has norm exactly r.",
    expects=Standing.HOLDS,
    number="241 of 500 too long in floats; shipped ones 43,539 short of 4^16 at least",
    correction="A program in floats gets some that are longer. Shipped images are looked up in a table that rounds towards zero.",
    code=("learners/rows/fourier.py:fourier_map",),
)
def _a14(runs: int) -> Found:
    """The lemma; images in floats, and images from the table."""
    rng, count, frequencies = np.random.default_rng(14), 500, 4
    phases = rng.normal(size=(count, frequencies)) * 10
    images = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / math.sqrt(frequencies)
    long = _too_long(images)
    rows = to_rows(rng.normal(size=(count, 3)), np.zeros(count, dtype=np.int64), feature_norm=1)
    shipped = fourier_map(dimension_in=3, frequencies=frequencies, kernel=GaussianKernel(1), seed=4).apply(rows, lattice_bits=BITS)
    whole, longest = 4**BITS, max(_norms(shipped))
    return decision(
        f"It has. Computed in floats, {long} of {count} images are longer than 1; of the shipped ones none is.",
        f"{long} of {count} too long in floats; shipped ones {whole - longest:,} short of 4^{BITS} at least",
        lemma(
            "each of D pairs (cos, sin) adds r^2/D to the square", "papers.circle_step", where="every x, r, D and every frequency"
        ),
        computed(longest <= whole, f"{count} shipped images, in whole numbers", about="repair", kind="test"),
        computed(not long, f"{long} of {count} images in floats are longer than 1", about="shortcut", kind="test", expects=False),
        survives("kernel_releases", runs),
        proof("KernelMarginClassifier"),
    )


@_claim(
    "A15",
    "section 4, polynomial kernels",
    Kind.READING,
    quote="same bound on the expected error as above except that r would then be rp",
    promised="A program may take r^p for the norm of an image under the kernel (<x, y> + c)^p.",
    expects=Standing.CONDITION,
    number="2.829 times r^p",
    correction=(
        "Take (r^2 + c)^(p/2). Where c is at most r^2 that is at most 2^(p/2) r^p, which the stated order of the error covers."
    ),
    code=("learners/rows/polynomial.py:kernel_norm",),
)
def _a15(runs: int) -> Found:
    """The lemmas on both sides, and the norm at c = r = 1."""
    radius, degree, constant = Fraction(1), 3, Fraction(1)
    whole, bare = kernel_norm(radius, degree, constant), kernel_norm(radius, degree, Fraction(0))
    return decision(
        "The text speaks of the order of the error, and Algorithm 2 cuts what is too long. For privacy without that cut r^p is "
        "too small "
        f"for every c > 0: by {digits(whole)} at r = c = 1 and p = 3.",
        f"{digits(whole)} times r^p",
        lemma("(r^2 + c)^(p/2) is above r^p", "papers.kernel_norm", about="repair", where="every r, p and c > 0"),
        lemma("it is at most 2^(p/2) r^p", "papers.kernel_norm_above", where="c up to r^2: a constant for constant p"),
        computed(whole <= bare, f"the norm is {digits(whole)}", where="r = c = 1, p = 3", expects=False),
        computed(bare == radius**degree, "without a constant it is r^p", about="repair"),
        refuted("broken_kernel_norm", runs),
        survives("whole_kernel_norm", runs),
        survives("polynomial_releases", runs),
        proof("PolynomialMarginClassifier"),
    )


@_claim(
    "A16",
    "section 4, further extensions",
    Kind.READING,
    quote="instead of the JL-transform, the oblivious sketching technique",
    promised="A sketch in the place of the JL transform leaves Algorithm 2 private.",
    expects=Standing.HOLDS,
    number="48 of 200 longer than the kernel's norm before the cut; 8,919 short of 4^16 at least after it",
    correction="Step 3 cuts its images, and must: a sketch has its norm on average only.",
    code=("learners/rows/sketch.py:sketch_map",),
)
def _a16(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The lemmas of A2 and A12, and sketches of random records, cut and not cut."""
    rng, count = np.random.default_rng(16), 200
    rows = to_rows(rng.normal(size=(count, 4)), np.zeros(count, dtype=np.int64), feature_norm=1, lattice_bits=BITS)
    image = sketch_map(dimension_in=4, dimension_out=2, degree=3, seed=1)
    step, bound = Fraction(ROOM["clip"], 2 ** ROOM["lattice_bits"]), image.image_norm(Fraction(1))
    lengths = [square * step**2 for square in _norms(image.apply(rows, **ROOM))]
    long = sum(square > bound**2 for square in lengths)
    whole, longest = 4**BITS, max(_norms(image.apply(rows, lattice_bits=BITS)))
    return decision(
        f"It does: step 3 cuts whatever map is used. {long} of {count} sketches into two columns are longer than the kernel's "
        "norm before "
        "that.",
        f"{long} of {count} longer than the kernel's norm before the cut; {whole - longest:,} short of 4^{BITS} at least after it",
        lemma(
            _MIXED, "arguments.mixture", "passes.mixture", "sensitivity.clip", where="every sketch that is drawn without the data"
        ),
        computed(longest <= whole, f"cut sketches of {count} records are within the norm", about="repair", kind="test"),
        computed(not long, f"{long} of {count} are longer before the cut", about="shortcut", kind="test", expects=False),
    )


ITEMS: Final = (_a2, _a12, _a14, _a15, _a16)
"""All of them."""
