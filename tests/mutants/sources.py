"""Checks of the bits themselves: every bit is handed out once, in order, and to one process, thread or copy only."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import os
import pickle
import threading
import warnings

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import mechanisms.sampling.random as bits_module
from mechanisms.sampling.keystream import KeyStream
from mechanisms.sampling.random import InsecureSeededSourceForTestsOnly, OsBitSource, default_source, source_from
from tests.support.sources import NeedBits, RecordingSource, TapeSource

KEY, NONCE = bytes(range(32)), bytes(range(16))


def seeded(seed, stream=0):
    """A reproducible source without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return InsecureSeededSourceForTestsOnly(seed, stream)


@contextlib.contextmanager
def changed(holder, name, value):
    """An attribute with another value, inside the block."""
    kept = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, kept)


def counter_mode(count):
    """The first bytes of AES in counter mode, from the library itself."""
    return Cipher(algorithms.AES(KEY), modes.CTR(NONCE)).encryptor().update(bytes(count))


def the_stream_is_counter_mode_however_it_is_asked_for():
    for sizes in ([1, 2, 3] * 30, [64, 64, 1, 63, 64], [5, 200_000, 7, 70_000, 300_000, 1], [2**16, 2**16, 2**18, 1], [255] * 400):
        for whole in (True, False):
            stream, parts = KeyStream(KEY, NONCE), []
            for size in sizes:
                part = bytearray(size)
                if whole:
                    part[:] = stream.read(size)
                else:
                    stream.fill(memoryview(part))
                parts.append(bytes(part))
            assert counter_mode(sum(sizes)) == b"".join(parts)
            assert stream.generated >= sum(sizes)


def bytes_that_were_handed_out_are_wiped():
    stream = KeyStream(KEY, NONCE)
    for step in (lambda: stream.read(1000), lambda: stream.fill(memoryview(bytearray(5000))), lambda: stream.read(77)):
        step()
        assert bytes(stream._position) == bytes(stream._buffer[: stream._position])
    assert stream._position > 0
    assert any(stream._buffer[stream._position :])


def words_use_all_their_bits_in_order():
    for bits in range(1, 65):
        words = [int(word) for word in seeded(3).uniform(bits, 300)]
        assert all(0 <= word < 2**bits for word in words)
        assert 2**bits - 1 == np.bitwise_or.reduce(np.array(words, np.uint64))
        assert 0 == np.bitwise_and.reduce(np.array(words, np.uint64))
    for count in (1, 7, 8, 9, 64, 100):
        numbers = [seeded(4, stream).bits(count) for stream in range(60)]
        assert all(0 <= number < 2**count for number in numbers)
        assert max(numbers) >= 2 ** (count - 1) > min(numbers)
    pairs = seeded(5).uniform(1, 4000).reshape(-1, 2)
    assert all(800 < count < 1200 for count in np.bincount(pairs[:, 0] * 2 + pairs[:, 1]) * 2)


def tapes_are_read_from_the_top():
    tape = TapeSource(0b1011_0010_1, 9)
    assert [0b10, 0b11] == tape.uniform(2, 2).tolist()
    assert (0b001, 2) == (tape.bits(3), tape.remaining)
    assert 0b01 == tape.bits(2)
    with contextlib.suppress(NeedBits):
        tape.bits(1)
        raise AssertionError("an empty tape gave a bit")
    recorded = RecordingSource(TapeSource(0b1100, 4))
    assert ([3], 0, [(2, [3]), (2, [0])]) == (recorded.uniform(2, 1).tolist(), recorded.bits(2), recorded.calls)


def another_process_takes_another_key():
    source, before = OsBitSource(), []
    before.append(source._stream)
    source.bits(8)
    assert source._stream is before[0]
    with changed(bits_module.os, "getpid", lambda: -1):
        source.bits(8)
        assert source._stream is not before[0]
        before.append(source._stream)
        source.uniform(8, 3)
        assert source._stream is before[1]


def a_forked_child_takes_another_key_and_lock():
    sources = [OsBitSource(), default_source()]
    for source in tuple(bits_module._forkable):
        source.bits(8)  # sources of other tests hold a key, too
    streams, locks = [source._stream for source in sources], [source._lock for source in sources]
    bits_module._after_fork()
    for source, stream, lock in zip(sources, streams, locks, strict=True):
        source.bits(8)
        assert source._stream is not stream
        assert source._lock is not lock
        assert source._process == os.getpid()


def a_new_key_is_taken_in_time():
    source = OsBitSource()
    first = source._stream
    with changed(bits_module, "REKEY_BYTES", 1000):
        source.uniform(64, 200)
        assert source._stream is first
        source.bits(1)
        assert source._stream is not first
    assert bits_module.REKEY_BYTES <= 2**34


def keys_come_from_the_system_and_nowhere_else():
    asked = []

    def record(count):
        asked.append(count)
        return hashlib.shake_128(len(asked).to_bytes(2, "big")).digest(count)

    def fail(count):
        raise OSError

    with changed(bits_module.os, "urandom", record):
        sources = [OsBitSource(), OsBitSource()]
    assert [48, 48] == asked
    material = hashlib.shake_128((1).to_bytes(2, "big")).digest(48)
    expected = Cipher(algorithms.AES(material[:32]), modes.CTR(material[32:])).encryptor().update(bytes(16))
    assert int.from_bytes(expected, "little") == sources[0].bits(128) != sources[1].bits(128)
    with changed(bits_module.os, "urandom", fail), contextlib.suppress(bits_module.EntropyFailure):
        OsBitSource()
        raise AssertionError("a source was made without entropy")


def copies_hold_no_key():
    source = OsBitSource()
    twins = [copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))]
    assert 4 == len({thing.bits(128) for thing in (source, *twins)})
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with contextlib.suppress(TypeError):
            duplicate(seeded(1))
            raise AssertionError("a seeded source was copied")


def each_thread_has_a_source_of_its_own():
    sources = []
    threads = [threading.Thread(target=lambda: sources.append(default_source())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 6 == len({id(source) for source in sources})
    assert default_source() is default_source()
    assert 7 == len({source.bits(128) for source in (*sources, default_source())})


def threads_that_share_a_source_wait_for_each_other():
    source = OsBitSource()
    for call in (lambda: source.bits(8), lambda: source.uniform(8, 2)):
        source._lock.acquire()
        thread = threading.Thread(target=call)
        thread.start()
        thread.join(0.05)
        waiting = thread.is_alive()
        source._lock.release()
        thread.join()
        assert waiting


def different_seeds_give_different_streams():
    seeds = [0, 1, 256, b"", b"\0", b"\1", b"\1\0", b"b", b"i"]
    pairs = [(seed, stream) for seed in seeds for stream in (0, 1, b"", b"\0", b"b")]
    assert len(pairs) == len({seeded(*pair).bits(128) for pair in pairs})
    assert 0x4E5ED4C0 == seeded(7).bits(32)
    generator = np.random.default_rng(5)
    assert 3 == len({source_from(generator).bits(128) for _ in range(3)})
    assert not source_from(generator).secure
    assert not seeded(1).secure


CHECKS = [
    the_stream_is_counter_mode_however_it_is_asked_for,
    bytes_that_were_handed_out_are_wiped,
    words_use_all_their_bits_in_order,
    tapes_are_read_from_the_top,
    another_process_takes_another_key,
    a_forked_child_takes_another_key_and_lock,
    a_new_key_is_taken_in_time,
    keys_come_from_the_system_and_nowhere_else,
    copies_hold_no_key,
    each_thread_has_a_source_of_its_own,
    threads_that_share_a_source_wait_for_each_other,
    different_seeds_give_different_streams,
]
