"""Numbers and arrays in steps of a lattice: what is read is exactly that many steps, what is written exactly their worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms import steps
from mechanisms.steps import FLOAT_LIMIT, INTEGER_LIMIT, Format
from proofs.flow.following import Followed, Refusal, Subject, follow
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Walk, power_of_two, same, unknown, walk_through

_LATTICE: Final = unknown("lattice")
_EXACT_FLOAT: Final = 2**53
"""Whole numbers up to this are float64 exactly."""


class Kind(str):
    """The type of an array."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The letter of its kind."""
        return self[0]


_INT64: Final = Kind("int64")


@dataclass(frozen=True, eq=False)
class Entries:
    """An array by one entry that stands for all; a test of all entries is one of this entry, where it goes on."""

    value: Any
    dtype: Any = _INT64

    answers = True

    def with_number(self, op: str, other: Any) -> Entries:
        """The entries of an operation on two arrays, or on an array and a number."""
        return Entries(unknown(op, self.value, other.value if isinstance(other, Entries) else other), self.dtype)

    def __mul__(self, other: Any) -> Entries:
        return self.with_number("*", other)

    def __le__(self, other: Any) -> Entries:
        return self.with_number("<=", other)

    def __ne__(self, other: object) -> Any:
        return self.with_number("!=", other)

    def __or__(self, other: Any) -> Entries:
        return self.with_number("or", other)

    def any(self) -> bool:
        """Whether it holds for some entry; if not, it does not hold for this one."""
        return bool(self.value)

    def all(self) -> bool:
        """Whether it holds for every entry, and so for this one."""
        return bool(self.value)

    def max(self) -> Any:
        """What no entry is above."""
        return unknown("most", self.value)

    def min(self) -> Any:
        """What no entry is below."""
        return unknown("least", self.value)

    @property
    def size(self) -> Any:
        """The number of entries."""
        return unknown("size", self.value)

    def astype(self, dtype: Any) -> Entries:
        """The entries in another type: whole numbers as they are, floats without their fraction."""
        kind = "int64" if dtype is _whole else dtype
        return Entries(unknown("whole", self.value) if (self.dtype, kind) == ("float64", "int64") else self.value, kind)

    def reshape(self, _: Any) -> Entries:
        """The entries in another shape."""
        return self

    shape = None

    def __iter__(self) -> Iterator[Any]:
        return iter([self.value])


def _whole(number: Any) -> Any:
    """In place of `numpy.int64`: the number itself."""
    return number


def _scaled(array: Entries, places: Any) -> Entries:
    """Floats times a power of two."""
    require(array.dtype == "float64", "whole numbers are scaled")
    return Entries(array.value * unknown("two to the", places), "float64")


_NAMES: Final[dict[str, Any]] = {
    "np": SimpleNamespace(
        int64=_whole,
        float64="float64",
        divmod=lambda array, unit: (array.with_number("quotient", unit), array.with_number("rest", unit)),
        ldexp=_scaled,
        isfinite=lambda array: Entries(unknown("is finite", array.value)),
        abs=lambda array: Entries(unknown("size of", array.value)),
        array=lambda values, dtype: Entries(values[0], dtype),
        errstate=unknown("errstate"),
    ),
    "divmod": lambda number, unit: (unknown("quotient", number, unit), unknown("rest", number, unit)),
    "Format": lambda kind, unit, shift, limit: SimpleNamespace(kind=kind, unit=unit, shift=shift, limit=limit),
    "int": _whole,
    "object": "object",
    **{name: lambda *_: Refusal() for name in ("_off_lattice", "_too_large")},
}


def _names() -> dict[str, Any]:
    """What the reading of values reaches."""
    followed = ("format_of", "_float_format", "_integer_steps", "_float_steps")
    return _NAMES | {name: Followed(getattr(steps, name)) for name in followed}


def number() -> None:
    """Prove that a number is read in exactly as many steps as it is worth, or refused."""
    value, program = unknown("value"), follow(steps.number_steps, _NAMES)
    for walk, found in _paths(lambda: program(value, _LATTICE)):
        if found.op == "quotient":
            top, bottom = value * _LATTICE.denominator, _LATTICE.numerator
            require_same(found.parts, (top, bottom), "the steps of a whole number")
            _require_decided(walk, unknown("rest", top, bottom), answer=False)
        else:
            (read,) = (call for call in walk.calls if call.parts[0].op == "rational")
            require(read.parts[1][0] is value, "another value is read")
            many = read / _LATTICE
            require_same(found, many.numerator, "the steps of a number")
            _require_decided(walk, many.denominator != 1, answer=False)


def array() -> None:
    """Prove that arrays are read in exactly as many steps as their entries are worth, or refused, in the format of the lattice."""
    program = follow(steps.array_steps, _names())
    seen = set()
    for kind, dtype in (("i", "int64"), ("u", "uint64"), ("f", "float64")):
        values = Entries(unknown("entry"), Kind(dtype))
        for walk, (found, form) in _paths(partial(program, values, _LATTICE)):
            seen.add((kind, _require_read(walk, values.value, found.value, form)))
    require(seen == {("i", "whole"), ("i", "steps"), ("u", "whole"), ("u", "steps"), ("f", "float")}, f"only {seen} are read")


def _require_read(walk: Walk, entry: Any, found: Any, form: Any) -> str:
    """Prove one path of the reading of an array; gives how it was read."""
    require_same(form.unit, _LATTICE.numerator, "the unit of the format")
    if form.kind == "int64":
        # Entries of at most 2^60 are the same in int64.
        for end in (unknown("most", entry) > INTEGER_LIMIT, unknown("least", entry) < -INTEGER_LIMIT):
            _require_decided(walk, end, answer=False)
        _require_decided(walk, _LATTICE.denominator == 1, answer=True)
        if same(found, entry):
            _require_decided(walk, _LATTICE.numerator == 1, answer=True)
            return "whole"
        require_same(found.parts, (entry, _LATTICE.numerator), "the steps of an entry")
        _require_decided(walk, unknown("rest", *found.parts), answer=False)
        return "steps"
    # A float times a power of two of at least 1 is exact unless it becomes infinite, which is beyond the limit.
    power = unknown("two to the", form.shift)
    whole = unknown("whole", entry * power)
    require_same(found.parts, (whole, _LATTICE.numerator), "the steps of a float")
    for question, answer in (
        (unknown("is finite", entry), True),
        (unknown("size of", entry * power) <= FLOAT_LIMIT, True),
        (unknown("or", unknown("rest", *found.parts), whole != entry * power), False),
        (_LATTICE.denominator != power_of_two(form.shift), False),
    ):
        if question.op == "or":
            for one in question.parts:
                _require_decided(walk, one, answer=False)
        else:
            _require_decided(walk, question, answer=answer)
    return "float"


def writing() -> None:
    """Prove that what is written is the worth of the steps, exactly, where they are not refused."""
    noisy, unit, shift = unknown("steps"), unknown("unit"), unknown("shift")
    for kind, limit in (("int64", INTEGER_LIMIT), ("float64", FLOAT_LIMIT), ("fractions", INTEGER_LIMIT)):
        form = Subject(Format, _NAMES | {"max": partial(unknown, "max")}, kind=kind, unit=unit, shift=shift, limit=limit)
        for walk, found in _paths(partial(form.write, Entries(noisy), _LATTICE)):
            if any(question.op == "size" and not answer for question, answer in walk.decided):
                continue  # nothing is written
            most = unknown("max", unknown("most", noisy), -unknown("least", noisy))
            _require_decided(walk, most > (2 * limit - 1) // unit, answer=False)
            require(2 * limit <= (_EXACT_FLOAT if kind == "float64" else 2**63), "numerators may not fit")
            one = any(answer and same(question, unit == 1) for question, answer in walk.decided)
            worth = noisy if one else noisy * unit
            wanted = {"int64": worth, "float64": worth * unknown("two to the", -shift), "fractions": _LATTICE * noisy}
            require_same(found.value, wanted[kind], "what is written")


def _paths(run: Callable[[], Any]) -> Iterator[tuple[Walk, Any]]:
    """All paths that do not refuse."""

    def tried() -> Any:
        try:
            return run()
        except Refusal as refusal:
            return refusal

    yield from ((walk, found) for walk, found in walk_through(tried) if not isinstance(found, Refusal))


def _require_decided(walk: Walk, wanted: Any, *, answer: bool) -> None:
    """Prove that a path has asked a question, and gone on with an answer."""
    found = [given for question, given in walk.decided if _asks(question, wanted)]
    require(answer in found, f"{wanted!r} is not made sure of")


def _asks(question: Any, wanted: Any) -> bool:
    """Whether two questions are the same."""
    return bool(question.op == wanted.op and same(question.parts, wanted.parts))
