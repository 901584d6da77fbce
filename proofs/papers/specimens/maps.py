"""Maps of records that are broken on purpose: a norm without its constant, squares that wrap around, a map made to fit."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import count as numbers
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.rows.ingest import to_rows
from learners.rows.polynomial import polynomial_map
from learners.rows.rows import Rows
from learners.rows.signs import sign_map
from mechanisms.gaussian import GaussianMechanism
from mechanisms.response import RandomizedResponse
from mechanisms.roots import root_above
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.pairs import Noisy, Pair, pair_up

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

_BITS: Final = 16
_DEGREE: Final = 3
_WRAPPING: Final = 20
_FLIPPED: Final = (((1.0, 0.0), 1), ((1.0, 0.0), 0))
_LONG: Final = (((4096.0, 0.0), 1), ((4096.0, 0.0), 0))

Record = tuple[tuple[float, float], int]


def signed_monomials(record: Record) -> NDArray[np.int64]:
    """The image of a record under the map of a polynomial kernel with constant 1, with the sign of its label."""
    features, label = record
    rows = to_rows(np.array([features]), np.array([label]), feature_norm=1, lattice_bits=_BITS)
    image = polynomial_map(dimension_in=2, degree=_DEGREE).apply(rows, lattice_bits=_BITS)
    return np.asarray(image.steps[0]).astype(np.int64) * (2 * label - 1)


def wrapped(record: Record, *, exact: bool) -> NDArray[np.int64]:
    """A record cut to the norm 1, or only if its squared norm exceeds 1 in 64 bits that wrap around; with the sign of its label."""
    features, label = record
    if exact:
        steps = np.asarray(to_rows(np.array([features]), np.array([label]), feature_norm=1, lattice_bits=_WRAPPING).steps[0])
    else:
        steps = np.trunc(np.array(features) * 2.0**_WRAPPING).astype(np.int64)
        square = int(np.sum(steps * steps))
        if square > 4**_WRAPPING:
            steps = np.trunc(steps * (2.0**_WRAPPING / np.sqrt(float(square)))).astype(np.int64)
    return steps.astype(np.int64) * (2 * label - 1)


def sample_fitted(records: tuple[tuple[int, ...]], count: int, rng: Generator, *, fits: bool) -> NDArray[np.int64]:
    """The seed of a public map beside a noisy bit; the map is drawn again until it keeps the norm of the record, if it `fits`."""
    (record,) = records
    seed = next(seed for seed in numbers() if not fits or _keeps_norm(record, seed))
    bits = RESPONSE.release(np.full(count, record[1] > 0, dtype=np.int64), source_from(rng))
    return np.stack([np.full(count, seed), np.asarray(bits)], axis=1)


def _keeps_norm(record: tuple[int, ...], seed: int) -> bool:
    """True if the image of a record under a map of two columns is about as long as the record."""
    rows = Rows(np.array([record], dtype=np.int32), 2**10, Fraction(1), np.array([0]))
    image = sign_map(dimension_in=len(record), dimension_out=2, seed=seed).apply(rows, clip=2**12, lattice_bits=12)
    lengths = np.linalg.norm(np.asarray(image.steps[0], dtype=float)), np.linalg.norm(np.array(record, dtype=float))
    return bool(0.8 < lengths[0] / lengths[1] < 1.25)


RESPONSE: Final = RandomizedResponse(epsilon=1, adjacency="replace_one")
_BARE: Final = GaussianMechanism(
    sensitivity=2 * int(2**_BITS / root_above(Fraction(2) ** _DEGREE)), noise_multiplier=2, adjacency="replace_one"
)
_WHOLE: Final = GaussianMechanism(sensitivity=2 * 2**_BITS, noise_multiplier=2, adjacency="replace_one")
_UNIT: Final = GaussianMechanism(sensitivity=2 * 2**_WRAPPING, noise_multiplier=2, adjacency="replace_one")
_FITTED: Final = (((200, 0, 0, 0),), ((100, 173, -100, 60),))
"""Every map of signs keeps the norm of the first."""


PAIRS: Final[tuple[Pair, ...]] = (
    pair_up(
        (
            "broken_kernel_norm",
            "the norm of monomials without the constant of their kernel, 2.8 times too small",
            Noisy(signed_monomials, _FLIPPED, _BARE).sample,
        ),
        ("whole_kernel_norm", "the norm with the constant", Noisy(signed_monomials, _FLIPPED, _WHOLE).sample),
        _WHOLE.claim,
        _FLIPPED,
    ),
    pair_up(
        (
            "broken_wrapped_norm",
            "a record whose squared norm is zero in 64 bits, and which is not cut",
            Noisy(partial(wrapped, exact=False), _LONG, _UNIT).sample,
        ),
        ("exact_norm", "a record that is cut exactly", Noisy(partial(wrapped, exact=True), _LONG, _UNIT).sample),
        _UNIT.claim,
        _LONG,
    ),
    pair_up(
        ("broken_fitted_map", "a public map that is drawn again until it suits the record", partial(sample_fitted, fits=True)),
        ("fixed_map", "a public map whose seed was fixed before", partial(sample_fitted, fits=False)),
        RESPONSE.claim,
        _FITTED,
        primitives=None,
    ),
)
