"""Random words as their digits, and arrays as one entry that stands for all: numpy as the samplers use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Self

from proofs.flow.releasing import require
from proofs.flow.terms import Term, Undecided, power_of_two, same

rounds: Final[list[Position]] = []
"""The rounds of loops over places that are under way; what they do to whole arrays they do as often as there are places."""

ABSENT: Final = Term("no entry")
"""The value in an array that has no entry for the trial."""


class Digits(Term):
    """The binary digits from place `low` up to `high` of a random word: uniform, and independent of its other digits."""

    __slots__ = ()

    def __init__(self, word: Term, low: Any, high: Any) -> None:
        super().__init__("digits", word, low, high)

    def __rshift__(self, places: Any) -> Any:
        """Without the lowest digits."""
        word, low, high = self.parts
        return 0 if same(low + places, high) else Digits(word, low + places, high)

    def __and__(self, mask: Any) -> Any:
        """The lowest digits, by a mask that is one less than a power of two."""
        word, low, _ = self.parts
        if isinstance(mask, int) and mask == 0:
            return 0
        if isinstance(mask, Term) and mask.op == "-" and same(mask.parts[1], 1) and mask.parts[0].op == "2^":
            return Digits(word, low, low + mask.parts[0].parts[0])
        raise Undecided(f"a mask that is not known: {mask!r}")


@dataclass(frozen=True, eq=False)
class Domain:
    """The places of an array: those of all trials, or of some of them; the trial's own may be missing."""

    name: str
    is_there: bool = True

    def __bool__(self) -> bool:
        """Whether there is any place; if the trial's is missing, there may be others."""
        return self.is_there or bool(Term(self.name))


@dataclass(eq=False)
class Lane:
    """An array, of which one entry is known: that of the trial, unless it is `ABSENT`.

    What is done to the array is done to each entry alone; two arrays meet only where they have the same places. `ranged` collects
    the whole numbers that were computed in machine words and must fit, with their types, and the places by which words were moved.
    """

    domain: Domain
    value: Any
    dtype: Any
    ranged: list[tuple[str, Any]]

    answers = True  # to operators, also where the first operand is a stand-in

    def _with(self, other: Any, made: Callable[[Any, Any], Any], dtype: Any = None) -> Lane:
        """The entry of an operation on two arrays, or on an array and a number."""
        number = other
        if isinstance(other, Lane):
            require(other.domain is self.domain, "arrays of different places meet")
            number = other.value
        value = ABSENT if self.value is ABSENT or number is ABSENT else made(self.value, number)
        return Lane(self.domain, value, dtype or self.dtype, self.ranged)

    def _arithmetic(self, other: Any, made: Callable[[Any, Any], Any]) -> Lane:
        """A sum, difference, product or shift, which has to fit where it is made of whole numbers."""
        other_type = other.dtype if isinstance(other, Lane) else "float64" if _is_float(other) else self.dtype
        found = self._with(other, made, "float64" if "float64" in (self.dtype, other_type) else self.dtype)
        if found.dtype in ("int64", "uint8", "uint64") and found.value is not ABSENT:
            self.ranged.append((found.dtype, found.value))
        elif found.dtype not in ("float64", "int64", "uint8", "uint64"):
            raise Undecided(f"arithmetic in {found.dtype}")
        return found

    def __add__(self, other: Any) -> Lane:
        return self._arithmetic(other, lambda one, two: one + two)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Lane:
        return self._arithmetic(other, lambda one, two: one - two)

    def __mul__(self, other: Any) -> Lane:
        return self._arithmetic(other, lambda one, two: one * two)

    def __rmul__(self, other: Any) -> Lane:
        return self._arithmetic(other, lambda one, two: two * one)

    def __lshift__(self, other: Any) -> Lane:
        return self._arithmetic(other, lambda one, two: one << two)

    def __rsub__(self, other: Any) -> Lane:
        return self._arithmetic(other, lambda one, two: two - one)

    def __rshift__(self, other: Any) -> Lane:
        amount = other.value if isinstance(other, Lane) else other
        if amount is not ABSENT:
            self.ranged.append(("places", amount))
        return self._with(other, lambda one, two: one >> two)

    def __and__(self, other: Any) -> Lane:
        if self.dtype == "bool":
            return self._with(other, lambda one, two: bool(one) and bool(two))
        return self._with(other, lambda one, two: one & two)

    def __invert__(self) -> Lane:
        require(self.dtype == "bool", "the complement of numbers")
        return self._with(None, lambda one, _: not one)

    def __lt__(self, other: Any) -> Lane:
        return self._with(other, lambda one, two: one < two, "bool")

    def __le__(self, other: Any) -> Lane:
        return self._with(other, lambda one, two: one <= two, "bool")

    def __gt__(self, other: Any) -> Lane:
        return self._with(other, lambda one, two: one > two, "bool")

    def __ge__(self, other: Any) -> Lane:
        return self._with(other, lambda one, two: one >= two, "bool")

    def __eq__(self, other: object) -> Any:
        return self._with(other, lambda one, two: one == two, "bool")

    def __ne__(self, other: object) -> Any:
        return self._with(other, lambda one, two: one != two, "bool")

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Lane:
        if self.dtype == "bool":
            return self._with(other, lambda one, two: bool(one) or bool(two))
        return self._with(other, lambda one, two: Term("|", one, two))

    @property
    def size(self) -> Domain:
        """The number of entries, by their places."""
        return self.domain

    def max(self) -> Any:
        """What no entry is above."""
        return Term("most", self.value)

    def __iadd__(self, other: Any) -> Self:
        return self._become(self + other)

    def __isub__(self, other: Any) -> Self:
        return self._become(self - other)

    def __imul__(self, other: Any) -> Self:
        return self._become(self * other)

    def __ilshift__(self, other: Any) -> Self:
        return self._become(self << other)

    def __iand__(self, other: Any) -> Self:
        return self._become(self & other)

    def _become(self, other: Lane) -> Self:
        """Take the entry of a result, in place: whoever holds this array sees it."""
        require(other.dtype == self.dtype and not rounds, "an array that changes its type in place, or in every round of a loop")
        self.value = other.value
        return self

    def astype(self, dtype: Any, **_: Any) -> Lane:
        """The same numbers in another type, which must hold them."""
        if dtype == "float64" and self.value is not ABSENT:
            return Lane(self.domain, Term("float64", self.value), dtype, self.ranged)
        if dtype == "int64" and self.dtype in ("uint64", "unsigned") and self.value is not ABSENT:
            self.ranged.append((dtype, self.value))
        return Lane(self.domain, self.value, dtype, self.ranged)

    def __getitem__(self, places: Any) -> Any:
        """The entries at places."""
        place = self._place(places)
        value = self.value if place.is_there else ABSENT
        if isinstance(self, Places):
            if isinstance(places, Position):
                return Position(self.domain, self.within)
            return Places(place.domain, self.within, self.is_there and place.is_there)
        if isinstance(places, Position):
            return value
        return Lane(place.domain, value, self.dtype, self.ranged)

    def __setitem__(self, places: Any, value: Any) -> None:
        if isinstance(places, slice):
            require(same((places.start, places.stop, places.step), (None, None, None)), "part of an array is written")
            self._become(value)
            return
        place = self._place(places)
        require(not rounds or isinstance(places, Position), "other entries are written in every round of a loop")
        if isinstance(value, Lane):
            require(value.domain is place.domain and value.dtype == self.dtype, "entries go to other places, or into another type")
        else:
            require(isinstance(places, Position), "a number is written to many places")
        if place.is_there:
            self.value = value.value if isinstance(value, Lane) else value

    def _place(self, places: Any) -> Any:
        """Places within this array, from places or a mask."""
        if isinstance(places, Lane) and not isinstance(places, Places) and places.dtype == "bool":
            places = places_where(places)
        if not isinstance(places, (Places, Position)) or places.within is not self.domain:
            raise Undecided("entries at places of another array")
        return places


class Places(Lane):
    """Different places within an array, in order, as `flatnonzero` gives them."""

    def __init__(self, domain: Domain, within: Domain, is_there: bool) -> None:  # noqa: FBT001 - by position as in Lane
        super().__init__(domain, Term("place") if is_there else ABSENT, "places", [])
        self.within, self.is_there = within, is_there

    def tolist(self) -> Iterator[Position]:
        """The place of the trial alone: a round of a loop over places that stands for all."""
        if self.is_there:
            position = Position(self.domain, self.within)
            rounds.append(position)
            try:
                yield position
            finally:
                rounds[:] = [one for one in rounds if one is not position]

    __iter__ = tolist


@dataclass(frozen=True)
class Position:
    """One place in an array, of which a loop has one round each."""

    domain: Domain
    within: Domain
    is_there: bool = True


def count_at_most(column: Column, number: Any) -> Term:
    """How many entries of a table in order are at most a number."""
    return Term("count at most", column.name, number)


def places_where(mask: Lane) -> Places:
    """The places where a mask is true, or a number is not 0; whether the trial's is among them is a test."""
    require(mask.dtype in ("bool", "int64"), "places of other numbers that are not 0")
    is_there = mask.value is not ABSENT and bool(mask.value if mask.dtype == "bool" else mask.value != 0)
    return Places(Domain(f"some of {mask.domain.name}", is_there), mask.domain, is_there)


@dataclass(frozen=True, eq=False)
class Column:
    """A read-only table of numbers by place; `factor` is 1 unless the whole of it was multiplied."""

    name: str
    dtype: str
    factor: Any = 1

    def item(self, place: Any) -> Any:
        """One entry."""
        return Term("entry", self.name, place) * self.factor  # the factor of a table as it is, 1, changes nothing

    def __getitem__(self, place: Any) -> Any:
        """The entries at the numbers of an array, or one entry."""
        if isinstance(place, Lane):
            require(place.dtype == "int64", "entries at what are no whole numbers")
            return Lane(place.domain, ABSENT if place.value is ABSENT else self.item(place.value), self.dtype, place.ranged)
        return self.item(place)

    def __lshift__(self, places: Any) -> Column:
        return Column(self.name, self.dtype, power_of_two(places))

    def tolist(self) -> Column:
        """The same numbers."""
        return self

    def take(self, places: Lane, *, out: Lane, mode: str) -> None:
        """Put the entries at the numbers of an array, which must not be beyond the table, into another."""
        require(mode == "clip" and not rounds and places.domain is out.domain and self.dtype == out.dtype, "entries go elsewhere")
        out.value = self.item(places.value)


@dataclass(eq=False)
class Source:
    """A source of random words, which are different words at every call."""

    is_shared: bool = False  # by many trials: a number is for one of them, so it is drawn in a round of its own
    words: list[Digits] = field(default_factory=list)
    ranged: list[tuple[str, Any]] = field(default_factory=list)

    def bits(self, count: Any) -> Digits:
        """One word."""
        require(bool(rounds) or not self.is_shared, "one word for many trials")
        return self._word(count)

    def _word(self, count: Any) -> Digits:
        """A word that is not drawn elsewhere."""
        self.words.append(Digits(Term(f"word {len(self.words)}"), 0, count))
        return self.words[-1]

    def uniform(self, bits: Any, size: Domain) -> Lane:
        """A word for every place."""
        require(not rounds, "words for all trials in every round of a loop")
        word = self._word(bits)
        return Lane(size, word if size.is_there else ABSENT, "unsigned", self.ranged)


class Type(str):
    """The name of a type of whole numbers; a number in it, which must fit, is the same number."""

    __slots__ = ()

    def __call__(self, number: Any) -> Any:
        """The number."""
        return number


class Numpy:
    """The functions of numpy that the samplers call, entry by entry."""

    int64, uint64, float64, bool_ = Type("int64"), Type("uint64"), "float64", "bool"

    def nonzero(self, mask: Lane) -> tuple[Places]:
        """Places where a mask is true, for the one axis that there is."""
        return (places_where(mask),)

    def flatnonzero(self, mask: Lane) -> Places:
        """Places where a mask is true."""
        return places_where(mask)

    def full(self, size: Domain, value: Any) -> Lane:
        """The same whole number everywhere."""
        return Lane(size, value, "int64", [])

    def zeros(self, size: Domain, dtype: Any) -> Lane:
        """False everywhere, or 0."""
        require(dtype is bool or dtype == "int64", "zeros of another type")
        return Lane(size, value=False, dtype="bool", ranged=[]) if dtype is bool else Lane(size, 0, "int64", [])

    def take(self, column: Column, places: Lane, *, out: Lane, mode: str) -> None:
        """Entries of a table at the numbers of an array."""
        column.take(places, out=out, mode=mode)

    def searchsorted(self, column: Column, numbers: Lane, side: str) -> Lane:
        """How many entries of a table in order are at most each number."""
        require(side == "right", "another side")
        value = ABSENT if numbers.value is ABSENT else count_at_most(column, numbers.value)
        return Lane(numbers.domain, value, "int64", numbers.ranged)

    def abs(self, array: Lane) -> Lane:
        """Sizes."""
        return Lane(array.domain, ABSENT if array.value is ABSENT else Term("abs", array.value), array.dtype, array.ranged)

    def maximum(self, one: Lane, other: Lane) -> Lane:
        """The larger of two numbers."""
        return one._with(other, lambda first, second: Term("max", first, second))  # noqa: SLF001 - one idea, two classes

    def __getattr__(self, name: str) -> Any:
        raise Undecided(f"numpy.{name} has no meaning here")


def _is_float(value: Any) -> bool:
    """Whether a number that is known, or a stand-in for one, is a float."""
    return isinstance(value, float) or (isinstance(value, Term) and value.op == "**" and isinstance(value.parts[0], float))
