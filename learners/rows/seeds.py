"""Public random bits from a seed: signs, choices, permutations and normal numbers, the same on every machine."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.exact import integer
from mechanisms import DiscreteGaussian
from mechanisms.sampling.keystream import KeyStream, number, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NORMAL_BITS: Final = 40


class PublicBits:
    """A stream of bits that anyone who knows the seed can repeat, for public maps, never for noise.

    Args:
      seed: public integer, at least 0.
      use: what the bits are for; streams of different uses of a seed have nothing to do with each other.
    Source: NIST SP 800-38A (counter mode).
    """

    def __init__(self, seed: int, *use: str | int) -> None:
        material = hashlib.sha512(repr(("public map", integer(seed, "seed", lower=0), *use)).encode()).digest()
        self._stream = KeyStream(material[:32], material[32:48])

    @property
    def secure(self) -> bool:
        """False: nothing that is released may be hidden by these bits."""
        return False

    def uniform(self, bits: int, size: int) -> NDArray[np.unsignedinteger]:
        """`size` numbers, uniform below 2**bits."""
        return words(self._stream, bits, size)

    def bits(self, count: int) -> int:
        """One number, uniform below 2**count."""
        return number(self._stream, count)

    def signs(self, size: int) -> NDArray[np.int8]:
        """`size` fair signs, 1 or -1."""
        bits = np.unpackbits(self.uniform(8, -(-size // 8)).astype(np.uint8))[:size]
        return (1 - 2 * bits.astype(np.int8)).astype(np.int8)

    def below(self, limit: int, size: int) -> NDArray[np.int64]:
        """`size` numbers, each uniform below `limit`, which is at most 2**32: 64 bits leave a bias below 2**-32."""
        wide = self.uniform(64, size)
        return np.asarray(((wide >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64))

    def order(self, size: int) -> NDArray[np.int64]:
        """A permutation of 0 to size - 1: the order of as many 64-bit numbers."""
        return np.argsort(self.uniform(64, size), kind="stable")

    def normals(self, size: int) -> NDArray[np.float64]:
        """`size` numbers of the discrete Gaussian law with steps of 2**-40 and standard deviation 1."""
        return np.asarray(
            np.ldexp(DiscreteGaussian(sigma=2**_NORMAL_BITS).sample(size, source=self).astype(np.float64), -_NORMAL_BITS)
        )
