"""Small public networks as candidates: integer weights and a table of tanh, so that a record's score is exactly its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, positive
from learners.choices.counts import leads, signs
from learners.rows.seeds import PublicBits
from mechanisms.laws import RoundedGaussian
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows

ROW_BITS: Final = 12
"""Rows have at most 2**12 steps, which stand for a norm of 1."""

WEIGHT_BITS: Final = 8
"""Weights are multiples of 2**-8."""

_CELL_BITS: Final = 6
_DROPPED: Final = ROW_BITS + WEIGHT_BITS - _CELL_BITS
_SATURATED: Final = 8 << _CELL_BITS
_TANH: Final = np.array(
    [round(2**ROW_BITS * math.tanh(cell / 2**_CELL_BITS)) for cell in range(-_SATURATED, _SATURATED + 1)], dtype=np.float64
)

_SCALES: Final = (1, 2, 4, 8)
_LARGEST_WEIGHT: Final = 2**20
_BLOCK: Final = 2**16
_CHUNK: Final = 2**21

Network = tuple["NDArray[np.int64]", ...]
"""Weights of the layers: shapes (columns, width), (width, width), ..., (width,) for two classes or (width, K) for more."""


class Networks(Protocol):
    """A finite set of networks that depends on public numbers alone."""

    @property
    def size(self) -> int:
        """Number of candidates."""
        ...

    def stacks(self) -> Iterator[Network]:
        """All of them in order, some of equal shapes at a time with one axis more in front."""
        ...

    def network(self, place: int) -> Network:
        """The one at a place in that order."""
        ...


@dataclass(frozen=True)
class RandomNetworks:
    """Networks with independent normal weights, at four scales of the first layer (Bassily, Mohri, Suresh 2022, section 5)."""

    columns: int  # of the rows
    width: int  # units of every hidden layer, at least 1
    layers: int  # at least 2, counting the last one, which has no units
    size: int  # how many, at least 1
    seed: int  # public
    outputs: int = 1  # 1 for two classes, K for K classes

    def stacks(self) -> Iterator[Network]:
        """All of them."""
        for start in range(0, self.size, self._height):
            yield tuple(layer[: self.size - start] for layer in self._block(start))

    def network(self, place: int) -> Network:
        """The one at a place."""
        within = place % self._height
        return tuple(layer[within] for layer in self._block(place - within))

    @property
    def _height(self) -> int:
        """Number of networks in a block: a multiple of the scales, so that a network's scale depends on its place alone."""
        return len(_SCALES) * max(1, _BLOCK // (len(_SCALES) * self.columns * self.width))

    def _block(self, start: int) -> Network:
        """A whole block, from bits of its own."""
        bits, unit = PublicBits(self.seed, "networks", self.columns, self.width, self.layers, start), 2**WEIGHT_BITS
        inner = max(1, 2 * unit // whole_root_above(self.width))
        shapes = [(self.columns, self.width), *[(self.width, self.width)] * (self.layers - 2), (self.width, self.outputs)]
        sigmas = [unit // 2, *[inner] * (self.layers - 2), unit]
        drawn = [
            np.asarray(RoundedGaussian(sigma).sample(self._height * math.prod(shape), source=bits), dtype=np.int64)
            for shape, sigma in zip(shapes, sigmas, strict=True)
        ]
        layers = [entries.reshape(self._height, *shape) for entries, shape in zip(drawn, shapes, strict=True)]
        if self.outputs == 1:
            layers[-1] = layers[-1][:, :, 0]
        scales = np.array(_SCALES)[np.arange(self._height) % len(_SCALES)]
        return (layers[0] * scales[:, np.newaxis, np.newaxis], *layers[1:])


@dataclass(frozen=True, eq=False)
class GivenNetworks:
    """Networks that were made without these records; `given_networks` reads them."""

    networks: tuple[Network, ...]  # integer weights, layer by layer

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self.networks)

    def stacks(self) -> Iterator[Network]:
        """One at a time, since their shapes may differ."""
        return (tuple(layer[np.newaxis] for layer in network) for network in self.networks)

    def network(self, place: int) -> Network:
        """The one at a place."""
        return self.networks[place]


def given_networks(networks: Sequence[Sequence[Any]], *, columns: int, feature_norm: Exact, outputs: int = 1) -> GivenNetworks:
    """Public networks as candidates, their weights rounded to multiples of 2**-8."""
    unit = float(positive(feature_norm, "feature_norm"))
    read = tuple(_read(network, columns, unit, outputs) for network in networks)
    if not read:
        raise InvalidArgument("DPA109", "networks must hold at least one network.")
    return GivenNetworks(read)


def network_scores(rows: Rows, stack: Network) -> NDArray[np.int64]:
    """Scores of all records under some networks of equal shapes; each depends on its record and its network alone."""
    first = stack[0]
    count, columns, width = first.shape
    margins = rows.margins(first.transpose(1, 0, 2).reshape(columns, count * width))
    reached = margins.reshape(-1, count, width).transpose(1, 0, 2)
    for layer in stack[1:-1]:
        # Integers below 2**53 throughout: floats multiply and add them without rounding.
        reached = (_units(reached) @ layer.astype(np.float64)).astype(np.int64)
    last = stack[-1].astype(np.float64)
    if last.ndim == 2:
        return np.asarray((_units(reached) @ last[:, :, np.newaxis])[:, :, 0].astype(np.int64))
    return np.asarray((_units(reached) @ last).astype(np.int64))


def network_errors(rows: Rows, networks: Networks) -> NDArray[np.int64]:
    """Count the records that each network gets wrong; a tie is an error (Bassily, Mohri, Suresh 2022, section 5)."""
    side, found = signs(rows.labels), []
    for stack in networks.stacks():
        height = max(1, _CHUNK // (len(side) * max(stack[0].shape[2], stack[-1].shape[-1])))
        for start in range(0, len(stack[0]), height):
            scores = network_scores(rows, tuple(layer[start : start + height] for layer in stack))
            signed = scores * side if scores.ndim == 2 else leads(scores.transpose(1, 2, 0), rows.labels).T
            found.append((signed <= 0).sum(axis=1, dtype=np.int64))
    return np.concatenate(found)


def _units(margins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Hyperbolic tangents of margins in units of 2**-20, as integers of at most 2**12."""
    cells = (margins + (1 << (_DROPPED - 1))) >> _DROPPED
    return np.asarray(_TANH[np.clip(cells, -_SATURATED, _SATURATED) + _SATURATED])


def _read(network: Sequence[Any], columns: int, unit: float, outputs: int) -> Network:
    """One network as integers."""
    try:
        layers = [np.asarray(layer, dtype=np.float64) for layer in network]
    except (TypeError, ValueError) as error:
        raise InvalidArgument("DPA105", "a network must be a sequence of arrays of numbers, one for each layer.") from error
    widths = [layer.shape[0] if layer.ndim else 0 for layer in layers]
    shapes = [(have, after) for have, after in zip([columns, *widths[1:]], widths[1:], strict=False)]
    last = (widths[-1],) if outputs == 1 else (widths[-1], outputs)
    if len(layers) < 2 or [layer.shape for layer in layers] != [*shapes, last]:
        shown, wanted = ", ".join(str(layer.shape) for layer in layers), "(z,)" if outputs == 1 else f"(z, {outputs})"
        raise InvalidArgument("DPA105", f"layers must have shapes ({columns}, a), (a, b), ..., {wanted}, got {shown}.")
    layers[0] = layers[0] * unit
    if not all(np.all(np.abs(layer) < _LARGEST_WEIGHT / 2**WEIGHT_BITS) for layer in layers):
        raise InvalidArgument("DPA103", "weights must be finite and below 2**12 in size, for records of norm 1.")
    return tuple(np.rint(layer * 2**WEIGHT_BITS).astype(np.int64) for layer in layers)
