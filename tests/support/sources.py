"""Bit sources for tests: a finite tape, with which samplers are enumerated, and a record of the bits of another source."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from mechanisms.sampling.keystream import word_width
from mechanisms.sampling.random import BitSource, _check


class NeedBits(Exception):
    """A tape ended before the question did; `count` more bits were wanted than it still holds."""

    def __init__(self, count: int) -> None:
        """Keep how many bits are missing."""
        super().__init__(f"{count} more bits are needed")
        self.count = count


class TapeSource:
    """A finite tape of bits, read from its most significant bit: the source with which samplers are enumerated."""

    __slots__ = ("_value", "remaining")

    def __init__(self, value: int, length: int) -> None:
        """Put the tape at its start."""
        if length < 0 or not 0 <= value < 1 << length:
            raise InvalidArgument("DPA103", f"a tape of {length} bits holds numbers below 2**{length}, got {value}.")
        self._value = value
        self.remaining = length

    @property
    def secure(self) -> bool:
        """False: a release must not be made with these bits."""
        return False

    def uniform(self, bits: int, size: int) -> NDArray[np.unsignedinteger]:
        """The next `size` numbers of `bits` bits; raises NeedBits at the end of the tape."""
        _check(bits, size)
        if bits * size > self.remaining:
            raise NeedBits(bits * size - self.remaining)
        return np.array([self.bits(bits) for _ in range(size)], dtype=f"<u{word_width(bits) // 8}")

    def bits(self, count: int) -> int:
        """The next `count` bits as a number; raises NeedBits at the end of the tape."""
        if count > self.remaining:
            raise NeedBits(count - self.remaining)
        self.remaining -= count
        piece = self._value >> self.remaining
        self._value &= (1 << self.remaining) - 1
        return piece


class RecordingSource:
    """Passes on the bits of another source and keeps them; `calls` holds (bits per number, numbers) in the order asked."""

    __slots__ = ("_inner", "calls")

    def __init__(self, inner: BitSource) -> None:
        """Start with an empty record."""
        self._inner = inner
        self.calls: list[tuple[int, list[int]]] = []

    @property
    def secure(self) -> bool:
        """Whether the recorded source is secure; a record of its bits should then not be kept."""
        return self._inner.secure

    def uniform(self, bits: int, size: int) -> NDArray[np.unsignedinteger]:
        """What the recorded source answers."""
        words = self._inner.uniform(bits, size)
        self.calls.append((bits, [int(word) for word in words]))
        return words

    def bits(self, count: int) -> int:
        """What the recorded source answers."""
        number = self._inner.bits(count)
        self.calls.append((count, [number]))
        return number
