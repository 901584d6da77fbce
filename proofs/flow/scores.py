"""Scores of candidates: every score is read as exactly the number that it is, with its place, or refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms import entries, noisy_max
from mechanisms.selection import scores
from mechanisms.selection.scores import Scores
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.releasing import or_refusal, require, require_same
from proofs.flow.repeating import Cells
from proofs.flow.steps import Kind
from proofs.flow.terms import same, unknown, walk_through

_ENTRY, _LATTICE, _NUMPY = unknown("entry"), unknown("lattice"), unknown("np")
_INTEGERS: Final = ("int8", "int64", "uint8", "uint64")
_FLOATS: Final = {"float32": 4, "float64": 8, "float128": 16}


class _Type(Kind):
    """The type of an array, with the size of an entry in bytes."""

    __slots__ = ()

    @property
    def itemsize(self) -> int:
        """Bytes of an entry."""
        return _FLOATS.get(self, 8)


@dataclass(frozen=True)
class _Array:
    """An array of one dimension, by one entry that stands for all."""

    value: Any
    dtype: _Type
    ndim: int = 1
    size: int = 1

    def astype(self, dtype: str, *, copy: bool) -> _Array:
        """The same numbers in another type, which holds them."""
        held = {"int64": ("int8", "int64", "uint8"), "float64": ("float32", "float64")}[dtype]
        require(self.dtype in held and not copy, f"{self.dtype} as {dtype}")
        return _Array(self.value, _Type(dtype))

    def max(self) -> Any:
        """What no entry is above."""
        return unknown("most", self.value)

    def tolist(self) -> list[Any]:
        """The entries."""
        return [self.value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())


_TYPES: Final = {"float64": "float64", "int64": "int64", "uint64": "uint64"}
_NAMES: Final[dict[str, Any]] = {
    "np": SimpleNamespace(ndarray=_Array, **_TYPES, ascontiguousarray=lambda array: array),
    "isinstance": isinstance,
    "int": lambda number: number,
    "float": lambda number: number,
    "Fraction": lambda number: number,
    "Scores": lambda *parts: parts,
    "name_contents": lambda _: "numbers",
    "_refuse_unless_finite": unknown("_refuse_unless_finite"),
}


def reading() -> None:
    """Prove that an array of scores holds the scores as they are, with the best of them, and a sequence those that it holds."""
    _prove_sequences()
    program = follow(
        scores.read_scores, _NAMES | {"_from_objects": partial(unknown, "objects"), "_ratio": partial(unknown, "ratio")}
    )
    for dtype in (*_INTEGERS, *_FLOATS, "Object"):
        kind = _Type("O" if dtype == "Object" else dtype)
        for _, found in walk_through(partial(program, _Array(_ENTRY, kind))):
            if dtype in ("Object", "float128"):
                given = [_ENTRY] if dtype == "Object" else [unknown("ratio", _ENTRY)]
                require_same(found, unknown("objects", given), "scores as objects")
                continue
            what, values, best = found
            require(what == ("integer" if dtype in _INTEGERS else "float") and values.value is _ENTRY, "other scores are read")
            require(values.dtype in ("int64", "uint64", "float64"), "scores of another type")
            require_same(best, unknown("most", _ENTRY), "the best score")
    _prove_objects()
    _prove_gaps()


def _prove_sequences() -> None:
    """Prove that a sequence becomes an array of what it holds, in a type that holds it."""
    values, held = unknown("values"), Cells("array")
    kinds, of = {"float64": unknown("float"), "int64": unknown("int")}, partial(unknown, "type")
    names = {
        "np": SimpleNamespace(asarray=_NUMPY.asarray, array=_NUMPY.array, empty=lambda *_, **__: held.erased(), **_TYPES),
        **{one.__name__: one for one in (list, all, enumerate, len)},
        "type": of,
        "float": kinds["float64"],
        "int": kinds["int64"],
        "object": "object",
    }
    each, seen = unknown("each", values), set()
    for walk, found in walk_through(partial(follow(entries.exact_array, names), values)):
        if found is held:
            ((place, written),) = held.written
            require(place == 0 and same(written, each), "other objects")
            seen.add("objects")
        elif same(found, _NUMPY.asarray(values)):
            seen.add("array")
        else:
            (name,) = (one for one in kinds if same(found, _NUMPY.array([each], dtype=one)))
            made_sure = [unknown("is", of(each), kinds[name]), *([each >= -(2**63), each < 2**63] if name == "int64" else [])]
            for wanted in made_sure:
                require(
                    any(answer and _asks(question, wanted) for question, answer in walk.decided), f"{wanted!r} is not made sure of"
                )
            seen.add(name)
    require(seen == {"objects", "array", *kinds}, f"only {seen} are read")


def _asks(question: Any, wanted: Any) -> bool:
    """Whether two questions are the same."""
    return bool(question.op == wanted.op and same(question.parts, wanted.parts))


def _prove_objects() -> None:
    """Prove that scores of mixed types are kept exactly, with the best of them; minus infinity as no score."""
    exact, refuse = partial(unknown, "exact"), unknown("_refuse_unless_finite")
    names = {"_exact": exact, "_refuse_unless_finite": refuse, "_from_fractions": lambda kept: kept, "all": all, "math": math}
    for _, found in walk_through(partial(follow(scores._from_objects, names), [_ENTRY])):  # noqa: SLF001 - a proof looks inside
        require_same(found, (exact(_ENTRY),), "scores as fractions")
    read, minus = unknown("rational"), -math.inf
    names = {"rational": read, "math": math, "kind_of": lambda _: "kind", "isinstance": partial(unknown, "isinstance")}
    program = follow(scores._exact, names)  # noqa: SLF001 - a proof looks inside
    for walk, found in walk_through(partial(or_refusal, partial(program, _ENTRY))):
        if found is None:
            require(any(answer and _asks(question, minus == _ENTRY) for question, answer in walk.decided), "a score is left out")
        elif not isinstance(found, Refusal) and not same(found, read(None)):  # which is refused
            require_same(found, read(_ENTRY), "a score")
    names = {"max": partial(_largest, []), "math": math, "_nearest": partial(unknown, "nearest"), "np": _NUMPY}
    names["Scores"] = lambda *parts: parts
    for known in ((_ENTRY,), (None, _ENTRY)):
        kept: list[Any] = []
        program = follow(scores._from_fractions, names | {"max": partial(_largest, kept)})  # noqa: SLF001 - a proof looks inside
        for walk, (kind, gaps, best, exactly) in walk_through(lambda: program(known)):  # noqa: B023 - called at once
            is_none = any(answer for question, answer in walk.decided if question.op == "is")
            if not is_none:
                require(kind == "exact" and best is _BEST and kept == [_ENTRY] and exactly is known, "other scores are kept")
                rounded = [math.inf if one is None else unknown("nearest", _BEST - one) for one in known]
                require_same(gaps, _NUMPY.array(rounded), "the rounded gaps")
            kept.clear()


_BEST: Final = unknown("best")


def _largest(kept: list[Any], items: Any) -> Any:
    """In place of `max`: the largest of some."""
    kept[:] = [*items]
    return _BEST


def _prove_gaps() -> None:
    """Prove that a gap is the best score less the score, and which candidates may be chosen."""
    index, values, kept = unknown("index"), unknown("values"), unknown("fractions")
    fraction = partial(unknown, "positive")  # so that it is not None; its sign is not asked for
    names = {"Fraction": fraction, "math": SimpleNamespace(isinf=partial(unknown, "isinf")), "np": _NUMPY}
    for kind in ("exact", "float", "integer"):
        held: Any = Subject(Scores, names, kind=kind, values=values, best=_BEST, fractions=kept)
        for walk, gap in walk_through(lambda: held.gap(index)):  # noqa: B023 - called at once
            score = kept[index] if kind == "exact" else fraction(values[index].item())
            never = unknown("is", score, None) if kind == "exact" else unknown("isinf", values[index])
            left_out = [answer for question, answer in walk.decided if _asks(question, never)]
            require(len(left_out) == (kind != "integer"), "nobody asks if a candidate may be chosen")
            require_same(gap, None if any(left_out) else _BEST - score, "a gap")
        if kind != "exact":
            require_same(held.possible(), _NUMPY.flatnonzero(_NUMPY.isfinite(values)), "who may be chosen")
    held = Subject(Scores, {"np": _NUMPY, "enumerate": enumerate}, kind="exact", fractions=(_ENTRY,))
    for walk, places in walk_through(held.possible):
        ((_, is_none),) = walk.decided
        require_same(places, _NUMPY.array([] if is_none else [0], dtype=_NUMPY.intp), "who may be chosen")


def steps() -> None:
    """Prove that the scores of those who may be chosen are read in exact steps of the lattice, or refused."""
    read, array, places = unknown("number_steps"), unknown("array_steps"), unknown("possible")
    names = {"np": _NUMPY, "number_steps": read, "array_steps": array, "map": _mapped, "max": partial(unknown, "max")}
    gap, seen = unknown("gap"), set()
    for kind in ("exact", "float", "integer"):
        held = SimpleNamespace(kind=kind, possible=lambda: places, gap=gap, best=_BEST, values=unknown("values"))
        program = follow(noisy_max.lattice_steps, names)
        for walk, found in walk_through(partial(or_refusal, partial(program, held, _LATTICE))):
            if isinstance(found, Refusal):
                continue
            require(found[0] is places, "other candidates")
            if same(found[1], array(held.values[places], _LATTICE)[0]):
                require(kind != "exact", "rounded gaps are read")
                seen.add((kind, "array"))
                continue
            here = gap(unknown("each", places.tolist()))
            is_none = any(answer for question, answer in walk.decided if question.op == "is")
            one = [] if is_none else [read(_BEST - here, _LATTICE)]
            require_same(found[1], _NUMPY.array(one, dtype=_NUMPY.int64), "the scores in steps")
            largest = unknown("max", [unknown("abs", step) for step in one]) > 2**60
            require(is_none or any(_asks(q, largest) and not answer for q, answer in walk.decided), "scores that may not fit")
            seen.add((kind, "numbers"))
    require(
        seen == {("exact", "numbers"), ("float", "array"), ("integer", "array"), ("integer", "numbers")}, f"only {seen} are read"
    )


def _mapped(program: Any, items: Any) -> list[Any]:
    """In place of `map`: one entry stands for all."""
    return [program(one) for one in items]
