"""Random bits: AES-256 in counter mode keyed by the operating system, and the deterministic sources that tests and audits use."""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
import weakref
from typing import Final, NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import EntropyFailure, InvalidArgument
from mechanisms.sampling.keystream import KeyStream, number, words

REKEY_BYTES: Final = 2**34
"""After this many bytes a source that the operating system keys takes a new key."""

_NO_PROCESS: Final = -1


class InsecureNoiseWarning(UserWarning):
    """A deterministic bit source was made; noise drawn from it can be predicted by whoever knows its seed."""


@runtime_checkable
class BitSource(Protocol):
    """A source of random bits for mechanisms; every bit is handed out once."""

    @property
    def secure(self) -> bool:
        """True if the bits are unpredictable, so that a release may be made with them."""

    def uniform(self, bits: int, size: int) -> NDArray[np.unsignedinteger]:
        """`size` independent unsigned numbers, uniform below 2**bits, for 1 <= bits <= 64."""

    def bits(self, count: int) -> int:
        """One number, uniform below 2**count."""


def _check(bits: int, size: int) -> None:
    """Refuse widths that no machine word holds, and negative sizes."""
    if not 1 <= bits <= 64 or size < 0:
        raise InvalidArgument("DPA103", f"uniform needs bits from 1 to 64 and size at least 0, got bits={bits}, size={size}.")


def _entropy(count: int) -> bytes:
    """Bytes of the operating system; there is nothing to fall back to."""
    try:
        return os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise EntropyFailure(
            "DPA301",
            f"the operating system gave no random bytes ({type(error).__name__}). Repair its random source; nothing was released.",
        ) from error


class OsBitSource:
    """Unpredictable bits: AES-256 in counter mode, keyed by the operating system.

    A child process after a fork, a copy and an unpickled source each take a key of their own. One source may be shared by threads.

    Raises:
      EntropyFailure: the operating system gives no random bytes (DPA301).
    Source: NIST SP 800-38A (counter mode); docs/sampling.md for what is done about forks and threads.
    Example:
      >>> 0 <= OsBitSource().bits(8) < 256
      True
    """

    __slots__ = ("__weakref__", "_lock", "_process", "_stream")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rekey()
        _forkable.add(self)

    @property
    def secure(self) -> bool:
        """True: a release may be made with these bits."""
        return True

    def uniform(self, bits: int, size: int) -> NDArray[np.unsignedinteger]:
        """`size` independent numbers, uniform below 2**bits."""
        _check(bits, size)
        with self._lock:
            return words(self._current(), bits, size)

    def bits(self, count: int) -> int:
        """One number, uniform below 2**count."""
        with self._lock:
            return number(self._current(), count)

    def _current(self) -> KeyStream:
        """The stream to read from: a new one in another process and after `REKEY_BYTES`."""
        if self._process != os.getpid() or self._stream.generated >= REKEY_BYTES:
            self._rekey()
        return self._stream

    def _rekey(self) -> None:
        """Take a new key for this process."""
        material = _entropy(48)
        self._stream = KeyStream(material[:32], material[32:])
        self._process = os.getpid()

    def _forget(self) -> None:
        """In a forked child: drop the parent's stream, so that the next use takes a key, and its lock, which nobody may release."""
        self._lock = threading.Lock()
        if self._process != _NO_PROCESS:
            del self._stream  # nothing to drop where a child forks again before it draws
        self._process = _NO_PROCESS

    def __reduce__(self) -> tuple[type[OsBitSource], tuple[()]]:
        """Copies and pickles hold neither key nor buffered bits; they stand for a fresh source."""
        return OsBitSource, ()


_forkable: weakref.WeakSet[OsBitSource] = weakref.WeakSet()
_thread = threading.local()


def _after_fork() -> None:
    """Let every source of a forked child take a key of its own."""
    for source in tuple(_forkable):
        source._forget()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def default_source() -> OsBitSource:
    """The calling thread's own unpredictable source, which mechanisms use unless they are given another."""
    source: OsBitSource | None = getattr(_thread, "source", None)
    if source is None:
        source = _thread.source = OsBitSource()
    return source


class InsecureSeededSourceForTestsOnly:
    """Reproducible bits for tests and audits; anyone who knows the seed knows the noise.

    Args:
      seed: bytes, or an int that is at least 0.
      stream: a second part of the seed, for independent streams of one seed.
    Raises:
      InvalidArgument: a part of another type (DPA105) or negative (DPA103).
    Source: design rule 2 (entropy).
    Example:
      >>> import warnings
      >>> with warnings.catch_warnings():
      ...     warnings.simplefilter("ignore", InsecureNoiseWarning)
      ...     InsecureSeededSourceForTestsOnly(7).bits(16) == InsecureSeededSourceForTestsOnly(7).bits(16)
      True
    """

    __slots__ = ("_material", "_stream")

    def __init__(self, seed: bytes | int, stream: bytes | int = 0) -> None:
        self._material = hashlib.sha512(_tag(seed, "seed") + _tag(stream, "stream")).digest()
        self._stream: KeyStream | None = None
        warnings.warn(
            "noise from InsecureSeededSourceForTestsOnly can be predicted; use it for tests and audits, never for a release",
            InsecureNoiseWarning,
            stacklevel=2,
        )

    @property
    def secure(self) -> bool:
        """False: a release must not be made with these bits."""
        return False

    def uniform(self, bits: int, size: int) -> NDArray[np.unsignedinteger]:
        """`size` independent numbers, uniform below 2**bits."""
        _check(bits, size)
        return words(self._open(), bits, size)

    def bits(self, count: int) -> int:
        """One number, uniform below 2**count."""
        return number(self._stream or self._open(), count)

    def _open(self) -> KeyStream:
        """The stream, keyed on first use because an audit makes many sources that it may never read."""
        if self._stream is None:
            self._stream = KeyStream(self._material[:32], self._material[32:48])
        return self._stream

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two copies would give the same noise twice."""
        raise TypeError("a seeded source cannot be copied or pickled; build it from its seed where it is needed")


def source_from(rng: np.random.Generator) -> InsecureSeededSourceForTestsOnly:
    """The reproducible source that an audit's generator stands for; it does not warn, since an audit is no release.

    Args:
      rng: numpy Generator, from which 64 bytes are drawn.
    Returns:
      A source that depends on these bytes only.
    Raises:
      InvalidArgument: `rng` is not a numpy Generator (DPA105).
    Source: design rule 2 (entropy).
    Example:
      >>> source_from(np.random.default_rng(1)).secure
      False
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            "DPA105", f"rng must be a numpy Generator, got a {type(rng).__name__}. Use numpy.random.default_rng()."
        )
    source = InsecureSeededSourceForTestsOnly.__new__(InsecureSeededSourceForTestsOnly)
    source._material = hashlib.sha512(rng.bytes(64)).digest()  # noqa: SLF001
    source._stream = None  # noqa: SLF001
    return source


def _tag(part: bytes | int, name: str) -> bytes:
    """A seed part with its type and length in front, so that no two different pairs hash the same text."""
    if isinstance(part, bool) or not isinstance(part, (bytes, int)):
        raise InvalidArgument("DPA105", f"{name} must be bytes or an int, got a {type(part).__name__}.")
    if isinstance(part, bytes):
        return b"b" + len(part).to_bytes(8, "big") + part
    if part < 0:
        raise InvalidArgument("DPA103", f"{name} must be at least 0, got a negative number.")
    text = part.to_bytes((part.bit_length() + 7) // 8, "big")
    return b"i" + len(text).to_bytes(8, "big") + text
