"""AES-256 in counter mode as a stream of bytes and of numbers."""

from __future__ import annotations

from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

_ZEROS: Final = bytes(2**18)
_SMALLEST_BUFFER: Final = 64  # a source that is read once generates little more than it gives
_LARGEST_BUFFER: Final = 2**16


class KeyStream:
    """AES-256 in counter mode as a stream of bytes; what was handed out is wiped from its buffer."""

    __slots__ = ("_buffer", "_cipher", "_position", "generated")

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._cipher: CipherContext = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()
        self._buffer = bytearray()
        self._position = 0
        self.generated = 0

    def read(self, count: int) -> bytearray:
        """The next `count` bytes of the stream."""
        start, stop = self._position, self._position + count
        if stop > len(self._buffer):
            piece = bytearray(count)
            self.fill(memoryview(piece))
        else:
            piece = self._buffer[start:stop]
            self._buffer[start:stop] = bytes(count)
            self._position = stop
        return piece

    def fill(self, target: memoryview) -> None:
        """Write the next bytes of the stream over all of `target`."""
        wanted, done = len(target), 0
        while done < wanted:
            ready = len(self._buffer) - self._position
            left = wanted - done
            if ready == 0 and left >= _LARGEST_BUFFER:
                step = min(left, len(_ZEROS))
                self._cipher.update_into(_ZEROS[:step], target[done : done + step])
                self.generated += step
            else:
                if ready == 0:
                    ready = self._refill()
                step = min(left, ready)
                start, stop = self._position, self._position + step
                target[done : done + step] = self._buffer[start:stop]
                self._buffer[start:stop] = _ZEROS[:step]
                self._position = stop
            done += step

    def _refill(self) -> int:
        """Generate the next buffer, four times as long as the last up to a limit, and return its length."""
        length = min(max(4 * len(self._buffer), _SMALLEST_BUFFER), _LARGEST_BUFFER)
        if length != len(self._buffer):
            self._buffer = bytearray(length)
        self._cipher.update_into(_ZEROS[:length], self._buffer)
        self._position = 0
        self.generated += length
        return length


def word_width(bits: int) -> int:
    """Size in bits of the smallest machine word that holds numbers of `bits` bits."""
    return 8 if bits <= 8 else 16 if bits <= 16 else 32 if bits <= 32 else 64


def words(stream: KeyStream, bits: int, size: int) -> NDArray[np.unsignedinteger]:
    """`size` numbers below 2**bits, each from the smallest machine word that holds it."""
    width = word_width(bits)
    array: NDArray[np.unsignedinteger] = np.empty(size, dtype=f"<u{width // 8}")
    if size:
        stream.fill(array.data.cast("B"))
    if bits < width:
        array >>= width - bits
    return array


def number(stream: KeyStream, count: int) -> int:
    """One number below 2**count, from the fewest whole bytes."""
    length = (count + 7) >> 3
    return int.from_bytes(stream.read(length), "little") >> (8 * length - count)
