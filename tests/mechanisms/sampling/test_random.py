"""Bit sources: what they hand out, that nobody gets the same bits twice, and what they refuse."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys
import threading
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

import mechanisms.sampling.random
from dpaudit.errors import EntropyFailure, InvalidArgument
from mechanisms.sampling.keystream import KeyStream
from mechanisms.sampling.random import (
    BitSource,
    InsecureNoiseWarning,
    InsecureSeededSourceForTestsOnly,
    OsBitSource,
    default_source,
    source_from,
)
from tests.support.sources import NeedBits, RecordingSource, TapeSource

ROOT = Path(__file__).resolve().parents[3]
KEY, NONCE = bytes(range(32)), bytes(range(16))


def seeded(seed, stream=0):
    """A reproducible source without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureNoiseWarning)
        return InsecureSeededSourceForTestsOnly(seed, stream)


def assert_nothing_in_common(streams, number):
    """All streams differ, and no block of 16 bytes, the cipher's, stands in two of them or in one twice."""
    assert number == len(streams) == len(set(streams))
    blocks = [stream[at : at + 16] for stream in streams for at in range(0, len(stream), 16)]
    assert len(blocks) == len(set(blocks))


@pytest.mark.parametrize("source", [OsBitSource(), seeded(1), TapeSource(0, 0), RecordingSource(seeded(1))])
def test_every_source_is_a_bit_source(source):
    assert isinstance(source, BitSource)


@pytest.mark.parametrize("bits", range(1, 65))
@pytest.mark.parametrize("make", [OsBitSource, lambda: seeded(3)])
def test_words_use_all_their_bits_and_no_more(make, bits):
    words = [int(word) for word in make().uniform(bits, 400)]
    assert 400 == len(words)
    assert all(0 <= word < 2**bits for word in words)
    everywhere, nowhere = np.bitwise_or.reduce(np.array(words, np.uint64)), np.bitwise_and.reduce(np.array(words, np.uint64))
    assert 2**bits - 1 == int(everywhere)
    assert int(nowhere) == 0


@given(st.integers(0, 300))
def test_a_number_has_the_length_asked_for(count):
    assert 0 <= seeded(5).bits(count) < 2**count or count == 0


@given(st.lists(st.integers(0, 200_000), max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_byte_stream_is_counter_mode_however_it_is_asked_for(sizes, whole):
    reference = Cipher(algorithms.AES(KEY), modes.CTR(NONCE)).encryptor().update(bytes(sum(sizes)))
    stream, parts = KeyStream(KEY, NONCE), []
    for size, at_once in zip(sizes, whole, strict=False):
        if at_once:
            parts.append(stream.read(size))
        else:
            part = bytearray(size)
            stream.fill(memoryview(part))
            parts.append(bytes(part))
    assert reference == b"".join(parts)


def test_bytes_that_were_handed_out_are_wiped_from_the_buffer():
    stream = KeyStream(KEY, NONCE)
    stream.read(1000)
    stream.fill(memoryview(bytearray(5000)))
    stream.read(77)
    used, ahead = stream._buffer[: stream._position], stream._buffer[stream._position :]
    assert stream._position > 0
    assert bytes(len(used)) == bytes(used)
    assert any(ahead)


def test_a_child_process_never_repeats_its_parents_bits_nor_a_siblings():
    # In a process of its own, since pytest may hold threads when it would fork.
    script = """
import os, sys, threading
from mechanisms.sampling.random import OsBitSource, default_source
source = OsBitSource()
source.bits(8), default_source().bits(8)
locked, leave = threading.Event(), threading.Event()
def hold():
    with source._lock:
        locked.set(); leave.wait()
threading.Thread(target=hold, daemon=True).start()
locked.wait()
pipes = []
for _ in range(64):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, source.uniform(8, 4096).tobytes() + default_source().uniform(8, 4096).tobytes())
        os._exit(0)
    os.close(writing)
    pipes.append(reading)
leave.set()
for reading in pipes:
    data = b""
    while piece := os.read(reading, 65536):
        data += piece
    print(data.hex())
print((source.uniform(8, 4096).tobytes() + default_source().uniform(8, 4096).tobytes()).hex())
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    streams = [bytes.fromhex(line) for line in done.stdout.split()]
    assert {8192} == {len(stream) for stream in streams}
    assert_nothing_in_common([half for stream in streams for half in (stream[:4096], stream[4096:])], 130)


def test_a_grandchild_of_a_child_that_drew_nothing_has_streams_of_its_own():
    script = """
import os
from mechanisms.sampling.random import OsBitSource, default_source
sources = [OsBitSource() for _ in range(3)] + [default_source()]
used = [source.bits(8) for source in sources[:2]]
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        if os.fork() == 0:
            for source in sources:
                os.write(writing, source.uniform(8, 4096).tobytes())
            os._exit(0)
        os.wait()
        for source in sources:
            os.write(writing, source.uniform(8, 4096).tobytes())
        os._exit(0)
    os.wait()
    os._exit(0)
os.close(writing)
os.wait()
data = b""
while piece := os.read(reading, 65536):
    data += piece
print(data.hex())
for source in sources:
    print(source.uniform(8, 4096).tobytes().hex())
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert not done.stderr, "a hook that fails leaves later sources with the lock and the stream of the parent"
    data = bytes.fromhex("".join(done.stdout.split()))
    streams = [data[start : start + 4096] for start in range(0, len(data), 4096)]
    assert 12 == len(streams)
    assert_nothing_in_common(streams, 12)


def test_a_child_process_without_entropy_draws_nothing():
    script = """
import os
from dpaudit.errors import EntropyFailure
from mechanisms.sampling.random import OsBitSource, default_source
sources = [OsBitSource(), default_source()]
if os.fork() == 0:
    def fail(count):
        raise OSError
    os.urandom = fail
    failed = 0
    for source in sources:
        for draw in (lambda: source.bits(8), lambda: source.uniform(8, 4)) * 2:
            try:
                draw()
            except EntropyFailure:
                failed += 1
    os._exit(failed)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "8\n" == done.stdout
    assert not done.stderr


def test_sixteen_threads_have_sixteen_streams():
    drawn, sources = [], []

    def work():
        sources.append(default_source())
        drawn.append(default_source().uniform(8, 4096).tobytes())

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 16 == len({id(source) for source in sources})
    assert_nothing_in_common(drawn, 16)


def test_threads_that_share_a_source_share_no_bits():
    source, words = OsBitSource(), []
    threads = [threading.Thread(target=lambda: words.extend(source.bits(128) for _ in range(2000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 16_000 == len(set(words))


def test_copies_and_pickles_carry_no_key():
    source = OsBitSource()
    for twin in (copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))):
        assert twin.bits(256) != source.bits(256)
    assert len(pickle.dumps(source)) < 120


def test_a_seeded_source_refuses_to_be_copied():
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            duplicate(seeded(1))


@pytest.mark.parametrize("error", [OSError("no entropy"), NotImplementedError()])
def test_without_entropy_there_is_no_source(monkeypatch, error):
    def fail(count):
        raise error

    source = OsBitSource()
    monkeypatch.setattr(mechanisms.sampling.random.os, "urandom", fail)
    with pytest.raises(EntropyFailure, match="DPA301"):
        OsBitSource()
    monkeypatch.setattr(mechanisms.sampling.random, "REKEY_BYTES", 0)
    with pytest.raises(EntropyFailure, match="DPA301"):
        source.bits(8)


def test_a_new_key_is_taken_in_time(monkeypatch):
    source = OsBitSource()
    monkeypatch.setattr(mechanisms.sampling.random, "REKEY_BYTES", 1000)
    before = source._stream
    source.uniform(64, 200)
    assert source._stream is before
    source.bits(1)
    assert source._stream is not before


def test_each_default_source_belongs_to_one_thread_and_stays():
    assert default_source() is default_source()
    assert default_source().secure


def test_a_seeded_source_says_aloud_once_that_it_is_insecure():
    with pytest.warns(InsecureNoiseWarning, match="never for a release") as caught:
        source = InsecureSeededSourceForTestsOnly(b"seed")
    assert 1 == len(caught)
    assert __file__ == caught[0].filename
    assert not source.secure


def test_an_audits_source_does_not_warn_and_depends_on_the_generator_only():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (source_from(np.random.default_rng(5)) for _ in range(2))
    generator = np.random.default_rng(5)
    third, fourth = source_from(generator), source_from(generator)
    assert first.bits(512) == second.bits(512) == third.bits(512)
    assert first.bits(512) != fourth.bits(512)
    assert not first.secure


def test_the_seeded_stream_stays_what_it_is():
    # Replaying an old report draws these very bits.
    text = b"i" + (1).to_bytes(8, "big") + b"\x07" + b"i" + (0).to_bytes(8, "big")
    material = hashlib.sha512(text).digest()
    expected = Cipher(algorithms.AES(material[:32]), modes.CTR(material[32:48])).encryptor().update(bytes(16))
    assert int.from_bytes(expected, "little") == seeded(7).bits(128)
    assert 0x4E5ED4C0 == seeded(7).bits(32)
    rng_material = hashlib.sha512(np.random.default_rng(1).bytes(64)).digest()
    expected = Cipher(algorithms.AES(rng_material[:32]), modes.CTR(rng_material[32:48])).encryptor().update(bytes(16))
    assert int.from_bytes(expected, "little") == source_from(np.random.default_rng(1)).bits(128)


@given(st.tuples(st.integers(0, 2**70) | st.binary(max_size=9), st.integers(0, 300) | st.binary(max_size=3)), st.data())
def test_different_seeds_give_different_streams(first, data):
    second = data.draw(st.tuples(st.integers(0, 2**70) | st.binary(max_size=9), st.integers(0, 300) | st.binary(max_size=3)))
    assert (first == second) == (seeded(*first).bits(128) == seeded(*second).bits(128))


@pytest.mark.parametrize(("seed", "code"), [(-1, "DPA103"), (True, "DPA105"), (1.5, "DPA105"), ("7", "DPA105"), (None, "DPA105")])
def test_a_bad_seed_is_refused(seed, code):
    with pytest.raises(InvalidArgument, match=code):
        InsecureSeededSourceForTestsOnly(seed)
    with pytest.raises(InvalidArgument, match=code):
        InsecureSeededSourceForTestsOnly(0, seed)


@pytest.mark.parametrize("generator", [7, None, "seed", np.random.PCG64(1)])
def test_only_a_generator_makes_an_audits_source(generator):
    with pytest.raises(InvalidArgument, match="DPA105"):
        source_from(generator)


@pytest.mark.parametrize("source", [OsBitSource(), seeded(1), TapeSource(0, 100)])
@pytest.mark.parametrize(("bits", "size"), [(0, 1), (65, 1), (8, -1)])
def test_impossible_requests_are_refused(source, bits, size):
    with pytest.raises(InvalidArgument, match="DPA103"):
        source.uniform(bits, size)


@given(st.lists(st.integers(1, 64), min_size=1, max_size=8), st.data())
def test_a_tape_is_read_from_its_top_without_losing_a_bit(widths, data):
    value = data.draw(st.integers(0, 2 ** sum(widths) - 1))
    tape = TapeSource(value, sum(widths))
    read = 0
    for width in widths:
        read = read << width | int(tape.uniform(width, 1)[0])
    assert value == read
    assert tape.remaining == 0


def test_a_tape_says_how_many_bits_it_lacks():
    tape = TapeSource(0b101, 3)
    with pytest.raises(NeedBits) as need:
        tape.uniform(4, 2)
    assert 5 == need.value.count
    assert 0b101 == tape.bits(3)


@pytest.mark.parametrize(("value", "length"), [(1, 0), (8, 3), (-1, 3), (0, -1)])
def test_a_number_that_does_not_fit_its_tape_is_refused(value, length):
    with pytest.raises(InvalidArgument, match="DPA103"):
        TapeSource(value, length)


def test_a_recording_is_what_was_handed_out():
    source = RecordingSource(seeded(2))
    words, number = source.uniform(16, 3), source.bits(7)
    assert [(16, words.tolist()), (7, [number])] == source.calls
    assert not source.secure
    assert RecordingSource(default_source()).secure


def test_streams_are_not_each_others_continuation():
    whole = [seeded(9, stream).uniform(64, 2000) for stream in range(4)]
    assert all(not set(first.tolist()) & set(second.tolist()) for first, second in pairwise(whole))
