"""The key stream: numbers and words are the digits of its bytes, each of which is handed out once."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, Final, Self

from mechanisms.sampling import keystream
from mechanisms.sampling.keystream import KeyStream
from proofs.flow.following import follow
from proofs.flow.loops import State, loop_of
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import same, unknown, walk_through

_POSITION, _COUNT, _STREAM = unknown("position"), unknown("count"), unknown("stream")
_NAMES: Final[dict[str, Any]] = {
    "len": lambda buffer: buffer.length,
    "bytes": partial(unknown, "zeros"),
    "memoryview": lambda buffer: buffer,
    "min": lambda *given: unknown("min", *given),
    "max": lambda *given: unknown("max", *given),
}


class Bytes:
    """Bytes in order, of which it is noted what is written where."""

    def __init__(self, length: Any) -> None:
        self.length, self.written = length, list[Any]()

    def __getitem__(self, part: slice) -> Any:
        return unknown("bytes", self, part.start, part.stop)

    def __setitem__(self, part: slice, value: Any) -> None:
        self.written.append((part.start, part.stop, value))


class _Words:
    """An array of machine words, all bytes of which are filled; `moved` are the places by which digits were dropped from below."""

    def __init__(self, size: Any, dtype: str) -> None:
        self.size, self.dtype, self.data, self.moved = size, dtype, unknown("data"), list[int]()

    def __irshift__(self, places: int) -> Self:
        self.moved.append(places)
        return self


_NAMES["_ZEROS"] = Bytes(unknown("many"))


def numbers() -> None:
    """Prove that a number is the first digits of as few bytes as hold it, and a word those of the smallest machine word."""
    number: Any = follow(keystream.number, {"int": SimpleNamespace(from_bytes=lambda read, order: unknown(order, read))})
    length = (_COUNT + 7) >> 3
    require_same(number(_STREAM, _COUNT), unknown("little", _STREAM.read(length)) >> (8 * length - _COUNT), "a number")
    names = {"word_width": keystream.word_width, "np": SimpleNamespace(empty=_Words)}
    words: Any = follow(keystream.words, names)
    size = unknown("size")
    for bits in range(1, 65):
        width = keystream.word_width(bits)
        require(bits <= width, "a word that is too short")
        for walk, found in walk_through(partial(words, _STREAM, bits, size)):
            filled = [call for call in walk.calls if same(call.parts[0], _STREAM.fill)]
            view = [unknown("call", _STREAM.fill, (unknown("call", found.data.cast, ("B",), ()),), ())]
            require_same(filled, view if walk.decided[0][1] else [], "the bytes that are filled")
            require_same((found.size, found.dtype), (size, f"<u{width // 8}"), "words")
            require(found.moved == ([width - bits] if bits < width else []), "the digits that are left")


def stream() -> None:
    """Prove that every byte of the stream goes to one place: a buffer that is read once from its start, or who asked for it."""
    _prove_read()
    _prove_fill()
    cipher, old = unknown("cipher"), Bytes(unknown("length"))
    refill: Any = follow(KeyStream._refill, _NAMES | {"bytearray": Bytes})  # noqa: SLF001 - a proof looks inside
    for walk, (held, length) in walk_through(lambda: _changed(refill, cipher, old)):
        ((question, other),) = walk.decided
        require_same((question.op, question.parts), ("!=", (length, old.length)), "whether the buffer has another length")
        require_same(held._buffer.length, length if other else old.length, "the length of the buffer")  # noqa: SLF001
        (asked,) = (call for call in walk.calls if same(call.parts[0], cipher.update_into))
        require(asked.parts[1][1] is held._buffer and held._position == 0, "a buffer that is not new")  # noqa: SLF001


def _changed(refill: Any, cipher: Any, old: Bytes) -> tuple[SimpleNamespace, Any]:
    """A stream after its buffer was filled again, and what that gave."""
    held = SimpleNamespace(_buffer=old, _cipher=cipher, _position=_POSITION, generated=unknown("generated"))
    return held, refill(held)


def _prove_read() -> None:
    """Prove that bytes are read from the position on, which moves behind them, or filled anew."""
    buffer = Bytes(unknown("length"))
    read: Any = follow(KeyStream.read, _NAMES | {"bytearray": Bytes})

    def run() -> Any:
        held = SimpleNamespace(_buffer=buffer, _position=_POSITION, fill=unknown("fill"))
        return held, read(held, _COUNT)

    for walk, (held, piece) in walk_through(run):
        ((question, beyond),) = walk.decided
        require_same((question.op, question.parts), (">", (_POSITION + _COUNT, buffer.length)), "whether the buffer holds them")
        if beyond:
            require_same((piece.length, held._position), (_COUNT, _POSITION), "new bytes")  # noqa: SLF001 - a proof looks inside
            ((asked, given, _),) = (call.parts for call in walk.calls)
            require(asked is held.fill and given[0] is piece, "bytes that are not filled")
        else:
            require(piece.parts[0] is buffer, "bytes of another buffer")
            require_same((*piece.parts[1:], held._position), (_POSITION, *[_POSITION + _COUNT] * 2), "which bytes are read")  # noqa: SLF001


def _prove_fill() -> None:
    """Prove that a round of filling takes the next bytes and puts them behind those that are filled."""
    loop = loop_of(KeyStream.fill, ("wanted", "done"), _NAMES)
    cipher, target, wanted, done = unknown("cipher"), Bytes(unknown("wanted")), unknown("wanted"), unknown("done")
    large = keystream._LARGEST_BUFFER  # noqa: SLF001 - a proof looks inside

    def run() -> tuple[Any, State]:
        buffer, refill = Bytes(unknown("length")), unknown("_refill")
        held = SimpleNamespace(_buffer=buffer, _position=_POSITION, _cipher=cipher, generated=unknown("generated"), _refill=refill)
        target.written.clear()
        return held, loop.round(held, target, wanted, done)

    require(loop.begin(None, target).done == 0, "bytes that are there at first")
    require_same(loop.test(None, target, wanted, done), done < wanted, "the end")
    for walk, (held, after) in walk_through(run):
        ready, left = held._buffer.length - _POSITION, wanted - done  # noqa: SLF001 - a proof looks inside
        answers = [answer for _, answer in walk.decided]
        require_same(walk.decided[0][0], unknown("==", ready, 0), "whether the buffer is used up")
        straight = [call for call in walk.calls if same(call.parts[0], cipher.update_into)]
        if straight:
            require(answers[:2] == [True, True] and not target.written, "bytes that pass by the buffer")
            require_same(walk.decided[1][0], left >= large, "whether bytes pass by the buffer")
            place = straight[0].parts[1][1]
            require(place.parts[0] is target and held._position is _POSITION, "bytes go elsewhere")  # noqa: SLF001
            require_same(place.parts[1:], (done, after.done), "where bytes go")
            continue
        refilled = [call for call in walk.calls if call.parts[0] is held._refill]  # noqa: SLF001
        require(len(refilled) == answers[0], "a buffer that is filled too early or too late")
        step = unknown("min", left, refilled[0] if refilled else ready)
        ((start, stop, value),) = target.written
        require_same((start, stop, after.done), (done, done + step, done + step), "where bytes go")
        require(value.parts[0] is held._buffer, "bytes of another buffer")  # noqa: SLF001
        require_same((*value.parts[1:], held._position), (_POSITION, *[_POSITION + step] * 2), "which bytes are handed out")  # noqa: SLF001
