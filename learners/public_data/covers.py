"""Finite sets of classifiers that represent a whole class of them on public records: candidates for one private choice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, positive
from learners.choices.counts import Listed, signs, totals
from learners.choices.networks import ROW_BITS, RandomNetworks, network_scores
from learners.choices.networks import WEIGHT_BITS as NETWORK_BITS
from learners.public_data.subspace import PublicSubspace, public_rows, public_subspace
from learners.rows.images import dense
from learners.rows.seeds import PublicBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.choices.counts import Loss
    from learners.choices.networks import Network
    from learners.estimator import Public
    from learners.rows.rows import Rows

_BITS: Final = 12
_WEIGHT_BITS: Final = 16
_MOST_CANDIDATES: Final = 5_000_000
_MOST_POOL: Final = 10**5
_LOOKED_AT: Final = 256
"""Public records by which a pool is thinned out; the radius is measured on the same ones."""

_CHUNK: Final = 2**21
"""Values of a hidden layer that are held at once, about."""


class Candidates(Protocol):
    """Classifiers with integer scores, made from public things alone."""

    @property
    def size(self) -> int:
        """Number of candidates."""
        ...

    @property
    def largest(self) -> int:
        """The score of the largest margin; larger ones count as this."""
        ...

    @property
    def radius(self) -> float:
        """Largest distance of the class or its pool from the candidates: root mean square of differences on public records."""
        ...

    def map_rows(self, rows: Rows) -> Rows:
        """Records as the candidates read them."""
        ...

    def totals(self, rows: Rows, loss: Loss) -> NDArray[np.int64]:
        """The loss of each, summed over mapped rows."""
        ...

    def scores(self, rows: Rows, place: int) -> NDArray[np.int64]:
        """Scores that the candidate at a place gives mapped rows."""
        ...


@runtime_checkable
class Hypotheses(Protocol):
    """A class of classifiers, and how to cover it."""

    def cover(self, public_X: Any, public: Public) -> Candidates:  # noqa: N803 - as the estimators name it
        """Candidates from public records and public quantities."""
        ...


@dataclass(frozen=True, eq=False)
class LinearCandidates:
    """Linear classifiers on a lattice."""

    image: PublicSubspace | None  # the map in front of them; None if they read the records themselves
    weights: NDArray[np.int64]  # of shape (columns, N); 2**16 stands for the largest norm
    radius: float

    @property
    def size(self) -> int:
        """Number of candidates."""
        return int(self.weights.shape[1])

    @property
    def largest(self) -> int:
        """The largest norm of a record times the largest of weights."""
        return 1 << (_WEIGHT_BITS + _BITS)

    def map_rows(self, rows: Rows) -> Rows:
        """Images of the records."""
        return _coarsen(rows) if self.image is None else self.image.apply(rows, lattice_bits=_BITS)

    def totals(self, rows: Rows, loss: Loss) -> NDArray[np.int64]:
        """Summed losses."""
        return totals(rows, Listed(self.weights), loss)

    def scores(self, rows: Rows, place: int) -> NDArray[np.int64]:
        """Margins."""
        return rows.margins(self.weights[:, place])


@dataclass(frozen=True, eq=False)
class NetworkCandidates:
    """Small networks."""

    image: PublicSubspace  # the map in front of them
    networks: Network  # their weights, layer by layer, with one axis more in front
    radius: float

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self.networks[0])

    @property
    def largest(self) -> int:
        """A score of 1, which one unit with a weight of 1 can give."""
        return 1 << (ROW_BITS + NETWORK_BITS)

    def map_rows(self, rows: Rows) -> Rows:
        """Images of the records."""
        return self.image.apply(rows, lattice_bits=ROW_BITS)

    def totals(self, rows: Rows, loss: Loss) -> NDArray[np.int64]:
        """Summed losses."""
        side = signs(rows.labels)
        height = max(1, _CHUNK // (len(side) * self.networks[0].shape[2]))
        found = [
            loss(network_scores(rows, tuple(layer[start : start + height] for layer in self.networks)) * side)
            for start in range(0, self.size, height)
        ]
        return np.concatenate([losses.sum(axis=1, dtype=np.int64) for losses in found])

    def scores(self, rows: Rows, place: int) -> NDArray[np.int64]:
        """Scores of one network."""
        return np.asarray(network_scores(rows, tuple(layer[place : place + 1] for layer in self.networks))[0])


@dataclass(frozen=True)
class LinearCover:
    """Linear classifiers of bounded norm, by a lattice in the directions of the public records.

    A direction in which public records vary little is given a coarse lattice, or none.

    Args:
      resolution: a, the radius of the cover, as a part of the largest margin, public, above 0, at most 1.
      dimension: most directions, public.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Algorithm 2.
    """

    resolution: Exact = Fraction(1, 8)
    dimension: int = 4

    def cover(self, public_X: Any, public: Public) -> LinearCandidates:  # noqa: N803 - as the estimators name it
        """The lattice."""
        radius = float(_resolution(self.resolution))
        image = _span(public_X, public, self.dimension)
        images = image.apply(public_rows(public_X, public.features, public.feature_norm), lattice_bits=_BITS)
        values = dense(images, np.float64) / 2.0**_BITS
        spread = np.maximum(np.sqrt(np.square(values).mean(axis=0)), 2.0**-_BITS)
        related = float(np.linalg.eigvalsh(values.T @ values / (len(values) * np.outer(spread, spread)))[-1])
        count = max(k for k in range(1, len(spread) + 1) if k == 1 or spread[k - 1] >= radius / math.sqrt(k))
        points = _lattice(2 * radius / (spread[:count] * math.sqrt(count)))
        weights = np.zeros((len(spread), points.shape[1]), dtype=np.int64)
        weights[:count] = np.rint(points * 2.0**_WEIGHT_BITS)
        return LinearCandidates(image, weights, radius * math.sqrt((1 + 1 / count) * max(related, 1.0)))


@dataclass(frozen=True)
class NormCover:
    """Linear classifiers of bounded p-norm, by well separated ones out of a pool: single features, and random weights.

    Args:
      power: p, public, 1 to 64.
      resolution: as for `LinearCover`; no more candidates are taken once all of the pool is so near.
      size: most candidates, public.
      pool: how many random ones, public, at most 10**5.
      seed: public.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Corollary 3.
    """

    power: Exact = 2
    resolution: Exact = Fraction(1, 32)
    size: int = 512
    pool: int = 2**12
    seed: int = 0

    def cover(self, public_X: Any, public: Public) -> LinearCandidates:  # noqa: N803 - as the estimators name it
        """Well separated weights."""
        power, count = float(in_range(self.power, "power", lower=1, upper=64)), _pool(self.pool)
        rows = _coarsen(public_rows(public_X, public.features, public.feature_norm))
        stream = PublicBits(self.seed, "norm cover", public.features, count)
        normals = stream.normals(public.features * count).reshape(public.features, count)
        entries = np.sign(normals) * np.abs(normals) ** (2 / power)
        entries /= np.maximum((np.abs(entries) ** power).sum(axis=0) ** (1 / power), 1e-300)
        corners = np.eye(public.features)[:, :count]
        weights = np.trunc(np.concatenate([corners, -corners, entries], axis=1) * 2.0**_WEIGHT_BITS).astype(np.int64)
        some = rows.margins(weights)[:_LOOKED_AT].T / 2.0 ** (_WEIGHT_BITS + _BITS)
        chosen, radius = well_separated(some, size=self.size, resolution=self.resolution)
        return LinearCandidates(None, weights[:, chosen], radius)


@dataclass(frozen=True)
class NetworkCover:
    """Networks with tanh units, by well separated ones out of a random pool.

    Args:
      width: units of every hidden layer, public.
      layers: 2 to 8, the last one included.
      dimension: most directions of the public records that they read.
      resolution, size, pool, seed: as for `NormCover`.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Corollary 2.
    """

    width: int = 8
    layers: int = 2
    dimension: int = 16
    resolution: Exact = Fraction(1, 8)
    size: int = 512
    pool: int = 2**11
    seed: int = 0

    def cover(self, public_X: Any, public: Public) -> NetworkCandidates:  # noqa: N803 - as the estimators name it
        """Well separated networks."""
        image = _span(public_X, public, self.dimension)
        networks = RandomNetworks(
            image.dimension_out,
            integer(self.width, "width", lower=1, upper=2**8),
            integer(self.layers, "layers", lower=2, upper=8),
            _pool(self.pool),
            integer(self.seed, "seed", lower=0),
        )
        rows = image.apply(public_rows(public_X, public.features, public.feature_norm), lattice_bits=ROW_BITS)
        looked = replace(rows, steps=rows.steps[:_LOOKED_AT], labels=rows.labels[:_LOOKED_AT])
        stacks = list(networks.stacks())
        every = tuple(np.concatenate(layers) for layers in zip(*stacks, strict=True))
        unit = 2.0 ** (ROW_BITS + NETWORK_BITS)
        some = np.clip(np.concatenate([network_scores(looked, stack) for stack in stacks]) / unit, -1, 1)
        chosen, radius = well_separated(some, size=self.size, resolution=self.resolution)
        return NetworkCandidates(image, tuple(layer[chosen] for layer in every), radius)


def well_separated(values: NDArray[np.float64], *, size: int, resolution: Exact) -> tuple[NDArray[np.int64], float]:
    """Members of a pool such that the others are near one of them: the first, then always the one furthest from those taken.

    Source: Gonzalez 1985.
    """
    most, near = integer(size, "size", lower=1, upper=_MOST_POOL), float(_resolution(resolution))
    chosen, distances = [0], np.square(values - values[0]).mean(axis=1)
    while len(chosen) < most and math.sqrt(float(distances.max())) > near:
        chosen.append(int(distances.argmax()))
        distances = np.minimum(distances, np.square(values - values[chosen[-1]]).mean(axis=1))
    return np.array(chosen, dtype=np.int64), math.sqrt(float(distances.max()))


def _span(public_X: Any, public: Public, dimension: int) -> PublicSubspace:  # noqa: N803 - as the estimators name it
    """The leading directions of the public records, around zero; images of at most the median norm are kept as they are."""
    most = min(integer(dimension, "dimension", lower=1), public.features)
    width, norm = public.features, public.feature_norm
    return public_subspace(public_X, columns=width, feature_norm=norm, dimension=most, centred=False, reach=1)


def _lattice(spacing: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of a lattice whose cells intersect the unit ball, one a column."""
    points = np.zeros((0, 1))
    for step in spacing.tolist():
        reach = math.floor(1 / step + 0.5)
        if points.shape[1] * (2 * reach + 1) > 2 * _MOST_CANDIDATES:
            raise _too_many()
        places = np.arange(-reach, reach + 1) * step
        points = np.vstack([np.repeat(points, len(places), axis=1), np.tile(places, points.shape[1])])
        half = spacing[: len(points), np.newaxis] / 2
        points = points[:, np.square(np.maximum(np.abs(points) - half, 0)).sum(axis=0) <= 1]
    if points.shape[1] > _MOST_CANDIDATES:
        raise _too_many()
    return points


def _too_many() -> InvalidArgument:
    """DPA103 for a lattice of more points than can be tried."""
    return InvalidArgument("DPA103", f"the cover would have more than {_MOST_CANDIDATES} points. Take a coarser resolution.")


def _resolution(value: Exact) -> Fraction:
    """A part of the largest margin."""
    return in_range(positive(value, "resolution"), "resolution", lower=0, upper=1)


def _pool(size: int) -> int:
    """The size of a pool."""
    return integer(size, "pool", lower=1, upper=_MOST_POOL)


def _coarsen(rows: Rows) -> Rows:
    """Move records to the lattice of the candidates, rounded toward zero, which makes no row longer."""
    shift = 2 ** (rows.bound.bit_length() - 1 - _BITS)
    steps = dense(rows, np.int32)
    return replace(rows, steps=np.sign(steps) * (np.abs(steps) // shift), bound=2**_BITS, step=rows.step * shift)
