"""Learners with public records that are broken on purpose: losses without a centre, half a range, what private data chose."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from learners.public_data.subspace import RECORD_BITS, PublicSubspace, public_rows, public_subspace
from learners.rows.ingest import to_rows
from learners.solvers.hinge import hinges
from mechanisms.exponential import ExponentialMechanism
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.response import RandomizedResponse
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.pairs import Noisy, Pair, pair_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

_LARGEST: Final = 16
"""Hypotheses give scores of at most this size, in whole steps."""

_OUTLIER: Final = ((10**6, 0, 0), (0, 0, 0))
_FLIPPED: Final = ((_LARGEST, _LARGEST, -_LARGEST), (_LARGEST, _LARGEST, _LARGEST))
_BITS: Final = 12
_PLANE: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
_TURNED: Final = (((0.8, 0.6, 0.0), (0.1, 0.1, 0.0)), ((0.8, 0.0, 0.6), (0.1, 0.1, 0.0)))
_STRETCHED: Final = (((1.0, 0.0, 0.0), *[(0.0, 0.1, 0.0)] * 60), ((0.01, 0.0, 0.0), *[(0.0, 0.1, 0.0)] * 60))


def absolute_loss(labels: Sequence[int], score: int, *, centred: bool) -> int:
    """The summed distance of a score from labels; of a centred one, less the labels' own size, which the score's bounds."""
    return sum(abs(score - label) - abs(label) * centred for label in labels)


def sample_loss(labels: Sequence[int], count: int, rng: Generator, *, centred: bool) -> NDArray[np.int64]:
    """The loss of one hypothesis, with noise for how much scores move it."""
    return LOSS.releases(np.array([absolute_loss(labels, _LARGEST, centred=centred)]), count, source_from(rng))[:, 0]


def sample_choice(margins: Sequence[int], count: int, rng: Generator, *, mechanism: ExponentialMechanism) -> NDArray[np.int64]:
    """A hypothesis or its opposite, by summed hinge loss."""
    losses = [int(HINGE(side * np.array(margins, dtype=np.int64)).sum()) for side in (1, -1)]
    return mechanism.releases([-loss for loss in losses], count, source_from(rng))


@cache
def subspace(records: tuple[tuple[float, ...], ...]) -> PublicSubspace:
    """The span of some records."""
    return public_subspace(records, columns=3, feature_norm=1, centred=False, reach=1)


def image_sum(records: Sequence[tuple[float, ...]], *, stretched: bool) -> NDArray[np.int64]:
    """The sum of images under a public map, cut to a public norm, or to the norm of the longest private image."""
    plane = subspace(_PLANE)
    rows = public_rows(np.array(records), 3, 1)
    images = plane.exact(rows) / 2.0 ** (20 + RECORD_BITS)
    norm = float(np.sqrt(np.square(images).sum(axis=1)).max()) if stretched else 1.0
    cut = to_rows(images, np.zeros(len(images), dtype=np.int64), feature_norm=norm, lattice_bits=_BITS)
    return cut.weighted_sum(np.ones(len(images), dtype=np.int64))


def sample_rank(records: Sequence[tuple[float, ...]], count: int, rng: Generator, *, pooled: bool) -> NDArray[np.int64]:
    """The number of directions of a subspace, beside a noisy bit: of public records, or of these with the private ones."""
    known = subspace((*_PLANE, *records) if pooled else _PLANE)
    bits = RESPONSE.release(np.full(count, int(records[0][1] > 0), dtype=np.int64), source_from(rng))
    return np.stack([np.full(count, known.dimension_out), np.asarray(bits)], axis=1)


HINGE, RANGE = hinges(margin=_LARGEST, bits=4, largest=_LARGEST)
RESPONSE: Final = RandomizedResponse(epsilon=1, adjacency="replace_one")
LOSS: Final = LaplaceMechanism(sensitivity=2 * _LARGEST, epsilon=1, adjacency="replace_one")
WHOLE: Final = ExponentialMechanism(sensitivity=RANGE, epsilon=1, adjacency="replace_one")
HALF: Final = ExponentialMechanism(sensitivity=RANGE // 2, epsilon=1, adjacency="replace_one")
_SUM: Final = GaussianMechanism(sensitivity=2 * 2**_BITS, noise_multiplier=2, adjacency="replace_one")
_CLAIM: Final = Claim(PureDP(epsilon=1), adjacency="replace_one")

PAIRS: Final[tuple[Pair, ...]] = (
    pair_up(
        (
            "broken_uncentred_loss",
            "the noise of a loss that is Lipschitz in the score, for a label without a bound",
            partial(sample_loss, centred=False),
        ),
        ("centred_loss", "the loss less the label's own size, which the score bounds", partial(sample_loss, centred=True)),
        _CLAIM,
        _OUTLIER,
        primitives=None,
    ),
    pair_up(
        (
            "broken_half_range",
            "a choice from a cover with L/n for the sensitivity, where one record leaves and another comes",
            partial(sample_choice, mechanism=HALF),
        ),
        ("whole_range_choice", "the choice with 2L/n for the sensitivity", partial(sample_choice, mechanism=WHOLE)),
        _CLAIM,
        _FLIPPED,
        primitives=None,
    ),
    pair_up(
        ("broken_pooled_rank", "a subspace whose dimension counts the private records too", partial(sample_rank, pooled=True)),
        ("public_rank", "a subspace of public records alone", partial(sample_rank, pooled=False)),
        _CLAIM,
        _TURNED,
        primitives=None,
    ),
    pair_up(
        (
            "broken_private_scale",
            "images measured by the longest private one",
            Noisy(partial(image_sum, stretched=True), _STRETCHED, _SUM).sample,
        ),
        ("public_scale", "images measured by a public norm", Noisy(partial(image_sum, stretched=False), _STRETCHED, _SUM).sample),
        _SUM.claim,
        _STRETCHED,
    ),
)
