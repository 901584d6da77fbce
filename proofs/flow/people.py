"""People and their records: the number of a person, the place of a category, and which places of a person count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms import people
from mechanisms.histogram import HistogramMechanism
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.releasing import or_refusal, require, require_same
from proofs.flow.repeating import Cells
from proofs.flow.terms import Term, positive, same, unknown, walk_through

_NUMPY, _PLACES, _MOST = unknown("np"), unknown("places"), unknown("contributions")
_PERSONS: Final = positive("people")  # so that it is not None; the sign of an array is not asked for
_NOWHERE: Final = -1
_WHOLE: Final = ("i", "u", "b")


class Key(Term):
    """An entry of a record, or a category, which can be a dictionary's key: it stands for all, and equals itself alone."""

    __slots__ = ()

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class Column:
    """An array of one dimension, by the kind of its entries and some of them that stand for all."""

    entries: list[Any]
    kind: str
    dtype: Any

    def tolist(self) -> list[Any]:
        """The entries."""
        return self.entries

    def astype(self, dtype: Any, *, copy: bool) -> tuple[str, Any]:
        """The same whole numbers as int64, which holds those of every other type."""
        require(dtype is _NUMPY.int64 or same(dtype, _NUMPY.int64), "another type")
        require(not copy and self.kind in _WHOLE, "entries that are no whole numbers")
        return ("int64", *self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def _array(entries: list[Any], kind: str) -> Column:
    """An array whose type is of one kind; whether that is uint64 is a test."""
    return Column(entries, kind, _Type(kind))


class _Type:
    """The type of an array of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __ne__(self, other: object) -> Any:
        return unknown("!=", unknown("dtype"), other)

    __hash__ = None  # type: ignore[assignment]


def limits() -> None:
    """Prove that of every person the first different places count, in the order of the records, and no more than allowed.

    By lemma `people.pairs` a pair of numbers is one number, so that sorting groups the records by person and place, of which the
    first is kept, and then these by person, in the order of the records; `people.rank` numbers them within each person.
    """
    program = follow(people.limit_contributions, {"np": _NUMPY})
    for walk, found in walk_through(lambda: program(_PLACES, None, _MOST)):
        ((question, some_are_nowhere),) = walk.decided
        require(_asks(question, _PLACES.min(initial=0) < 0), "which records are of no category")
        require_same(found, _PLACES[_PLACES >= 0] if some_are_nowhere else _PLACES, "the places of people with one record each")
    seen = set()
    for walk, found in walk_through(lambda: program(_PLACES, _PERSONS, _MOST)):
        known = _NUMPY.flatnonzero((_PLACES >= 0) & (_PERSONS >= 0))
        ((question, has_any),) = walk.decided
        require_same(question, known.size, "whether anybody counts")
        seen.add(has_any)
        require_same(found, _first_of_each(known) if has_any else _PLACES[known], "the places that count")
    require(seen == {True, False}, f"only {seen} are seen")


def _first_of_each(known: Any) -> Any:
    """The places of the first records with different pairs of person and place, as many as are allowed of every person."""
    places, persons = _PLACES[known], _PERSONS[known]
    pairs = persons * (places.max() + 1) + places
    order = _NUMPY.argsort(pairs)
    # Equal pairs stand together in that order; where another begins, the difference is not 0. All are at least 0, which is not -1.
    begins = _NUMPY.flatnonzero(_NUMPY.diff(pairs[order], prepend=-1))
    first = _NUMPY.minimum.reduceat(order, begins)
    packed = _NUMPY.sort(persons[first] * known.size + first)
    starts = _NUMPY.flatnonzero(_NUMPY.diff(packed // known.size, prepend=-1))
    rank = _NUMPY.arange(packed.size) - _NUMPY.repeat(starts, _NUMPY.diff(starts, append=packed.size))
    return places[packed[rank < _MOST] % known.size]


def persons() -> None:
    """Prove that records have the same number exactly where they are of the same person, and `_NOWHERE` where of nobody."""
    _prove_entries()
    nobody = follow(people._is_absent, {"bool": lambda truth: truth})  # noqa: SLF001 - a proof looks inside
    one = Key("person")
    for walk, found in walk_through(lambda: bool(nobody(one))):
        asked = [question.op for question, _ in walk.decided]
        require(asked == ["is", "!="][: len(asked)] and found == any(answer for _, answer in walk.decided), "who is nobody")
    _prove_one_person(one)
    read, count = unknown("entries"), unknown("number of records")
    program = follow(
        people.read_people,
        {"read_entries": lambda *_: read, "isinstance": lambda *_: False, "len": partial(unknown, "len"), "np": _NUMPY},
    )
    require(program(None, count, 1) is None, "people with one record each")
    require(isinstance(or_refusal(lambda: program(None, count, 2)), Refusal), "records that may be of one person")
    for kind in (*_WHOLE, "f", "O", "U", None):
        _prove_numbers(kind)


def _prove_entries() -> None:
    """Prove that entries are those of the list or array that was given."""
    given, array = unknown("given"), unknown("array")
    names = {"np": SimpleNamespace(asarray=lambda _: array), "isinstance": partial(unknown, "isinstance")}
    names["type"] = lambda _: SimpleNamespace(__name__="type")
    program = follow(
        people.read_entries, names | {"hasattr": partial(unknown, "hasattr"), "list": lambda entries: ("list", entries)}
    )
    seen = set()
    for _, found in walk_through(lambda: or_refusal(lambda: program(given, "values"))):
        if not isinstance(found, Refusal):
            require(found is array or found == ("list", given), "other entries")
            seen.add(found is array)
    require(seen == {True, False}, "entries are not read")


def _prove_one_person(one: Any) -> None:
    """Prove the number of one person where entries raise errors: that of an equal one before, or one more than all before."""
    index = unknown("index")
    program = follow(people._person, {"_is_absent": partial(unknown, "absent"), "len": partial(unknown, "len")})  # noqa: SLF001
    seen = set()
    for walk, found in walk_through(lambda: program(one, index)):
        nowhere = any(answer for _, answer in walk.decided)
        require_same(found, _NOWHERE if nowhere else index.setdefault(one, unknown("len", index)), "the number of a person")
        seen.add(nowhere)
    require(seen == {True, False}, "only some people are numbered")


def _prove_numbers(kind: str | None) -> None:
    """Prove the numbers of the records of an array of one kind, or of a list, by two that stand for any two different people."""
    both = [Key("person"), Key("another")]
    entries = both if kind is None else _array(both, kind)
    numbers, alone, held = (unknown("number"), unknown("another number")), unknown("_person"), Cells("numbers")
    numpy = SimpleNamespace(ndarray=Column, int64=_NUMPY.int64, unique=_NUMPY.unique, isin=_NUMPY.isin, array=_NUMPY.array)
    numpy.fromiter = partial(_filled, numbers, held)
    names = {
        "np": numpy,
        "read_entries": lambda *_: entries,
        "isinstance": isinstance,
        "dict": SimpleNamespace(fromkeys=lambda given: [("different", entry) for entry in given]),
        "enumerate": lambda different: [(number, entry) for number, (_, entry) in zip(numbers, different, strict=True)],
        "map": lambda function, items: [function(item) for item in items],
        "len": len,
        "_is_absent": partial(unknown, "absent"),
        "_person": alone,
    }
    seen = set()
    for walk, found in walk_through(lambda: follow(people.read_people, names)(both, len(both), 1)):
        if kind in _WHOLE:
            require_same(found, _NUMPY.unique(entries, return_inverse=True)[1].astype(_NUMPY.int64), "numbers of whole numbers")
            seen.add("whole")
        elif walk.decided and walk.decided[0][0].op == "raises" and walk.decided[0][1]:
            called = [call for call in walk.calls if call.parts[0] is alone]
            tables = [call.parts[1][1] for call in called]
            require([call.parts[1][0] for call in called] == both and tables[0] == {}, "a person has another number")
            require(tables[0] is tables[1], "people are not compared with those before")
            (listed,) = found.parts[1]
            require(len(listed) == len(called) and all(map(_is, listed, called)), "other numbers one by one")
            require_same((found.parts[0], found.parts[2]), (_NUMPY.array, (("dtype", _NUMPY.int64),)), "numbers one by one")
            seen.add("one by one")
        else:
            require(found is held and walk.decided[0][0].op == "raises", "other numbers are given")
            ((where, written),) = held.written
            nobody = [number for number, (question, answer) in zip(numbers, walk.decided[1:], strict=True) if answer]
            require([question.op for question, _ in walk.decided[1:]] == ["absent"] * len(both), "nobody asks who is nobody")
            require_same(where, _NUMPY.isin(held, nobody), "whose number is taken away")
            require(written == _NOWHERE, "nobody has a number")
            seen.add("at once")
    require(seen == ({"whole"} if kind in _WHOLE else {"one by one", "at once"}), f"only {seen} are seen")


def _filled(numbers: tuple[Any, ...], held: Cells, items: Any, dtype: Any, count: Any) -> Cells:
    """In place of `fromiter`: an array that holds these numbers."""
    require_same((*items,), numbers, "the numbers")
    require_same((dtype, count), (_NUMPY.int64, len(numbers)), "the array of numbers")
    return held.erased()


def _is(first: Any, second: Any) -> bool:
    """Whether two values are one object."""
    return first is second


def places() -> None:
    """Prove that a record's place is that of its category in the table, by Python's equality, or `_NOWHERE`."""
    _prove_table()
    entry, table = Key("entry"), unknown("table")
    look = partial(unknown, "integer places")
    numpy = SimpleNamespace(ndarray=Column, int64=_NUMPY.int64, uint64=_NUMPY.uint64, array=_NUMPY.array)
    numpy.fromiter = lambda items, dtype, count: ("at once", [*items], dtype, count)
    alone = partial(unknown, "_place")
    names = {"np": numpy, "isinstance": _is_whole_or_array, "len": len, "_integer_places": look, "_place": alone}
    key = unknown("each", table)
    for kind in (*_WHOLE, "f", "O", "U", None):
        entries = [entry] if kind is None else _array([entry], kind)
        seen = set()
        for walk, found in walk_through(lambda: follow(people.places_of, names)(entries, table)):  # noqa: B023 - called at once
            if isinstance(found, Term) and found.op == "integer places":
                whole = [key] if walk.decided[0][1] else [0]
                low, high = (unknown(name, whole) for name in ("min", "max"))
                known = [low, high] if walk.decided[0][1] else [0, 0]
                require(kind in _WHOLE, "an array of other entries is looked up as whole numbers")
                require_same([*found.parts], [("int64", entry), table, *known], "what is looked up")
                asked = [question for question, answer in walk.decided if answer]
                for wanted in (low > -(2**63), high < 2**63 - 1) if walk.decided[0][1] else ():
                    require(any(_asks(one, wanted) for one in asked), "keys next to which there is no number")
                require(any(one.op == "!=" and same(one.parts[1], _NUMPY.uint64) for one in asked), "numbers beyond int64")
                seen.add("whole numbers")
            elif isinstance(found, tuple):
                require_same(found, ("at once", [table.get(entry, _NOWHERE)], _NUMPY.int64, 1), "where an entry is looked up")
                seen.add("at once")
            else:
                require_same(found, _NUMPY.array([alone(entry, table)], dtype=_NUMPY.int64), "the places one by one")
                seen.add("one by one")
        wanted_ways = {"at once", "one by one", *(["whole numbers"] if kind in _WHOLE else [])}
        require(seen == wanted_ways, f"only {seen} are seen")
    single = follow(people._place, {})  # noqa: SLF001 - a proof looks inside
    for walk, found in walk_through(lambda: single(entry, table)):
        require_same(found, _NOWHERE if walk.decided[0][1] else table.get(entry, _NOWHERE), "the place of an entry")
    _prove_whole()


def _is_whole_or_array(value: Any, kind: Any) -> Any:
    """In place of `isinstance`: a test of a key, and the answer about an array."""
    return unknown("isinstance", value, repr(kind)) if isinstance(value, Term) else isinstance(value, kind)


def _asks(question: Any, wanted: Any) -> bool:
    """Whether two questions are the same."""
    return bool(question.op == wanted.op and same(question.parts, wanted.parts))


def _prove_whole() -> None:
    """Prove the row by which whole numbers are looked up: `people.range` says which entry of it is whose."""
    low, high, key, place, entries = (unknown(name) for name in ("low", "high", "key", "place", "entries"))
    row = Cells("row")
    numpy = SimpleNamespace(full=lambda *given, **named: (_NUMPY.full(*given, **named), row.erased())[1], clip=_NUMPY.clip)
    numpy.int64 = _NUMPY.int64
    program = follow(people._integer_places, {"np": numpy, "isinstance": partial(unknown, "isinstance")})  # noqa: SLF001
    table, seen = SimpleNamespace(items=lambda: [(key, place)]), set()
    for walk, found in walk_through(lambda: program(entries, table, low, high)):
        ((_, is_whole),) = walk.decided
        made = [call for call in walk.calls if same(call.parts[0], _NUMPY.full)]
        require_same([call.parts[1:] for call in made], [((high - low + 3, _NOWHERE), (("dtype", _NUMPY.int64),))], "an empty row")
        require_same([*row.written], [(key - low + 1, place)] if is_whole else [], "what is written into the row")
        require_same(found, row.take(_NUMPY.clip(entries, low - 1, high + 1) - (low - 1)), "what is read from the row")
        seen.add(is_whole)
    require(seen == {True, False}, f"only {seen} are seen")


def _prove_table() -> None:
    """Prove that the place of a category is its place among the categories, and that neighbours are one person apart, or two."""
    category, place = Key("category"), unknown("place")
    names = {"enumerate": lambda items: [(place, item) for item in items]}
    held: Any = Subject(HistogramMechanism, names, categories=(category,))
    require(held._table == {category: place}, "the place of a category")  # noqa: SLF001 - a proof looks inside
    program = follow(people.units, {"_UNITS": people._UNITS})  # noqa: SLF001 - a proof looks inside
    for kind, wanted in (("add_remove", 1), ("replace_one", 2)):
        require(program(SimpleNamespace(kind=kind)) == wanted, "the number of people that neighbours differ by")
    require(isinstance(or_refusal(lambda: program(SimpleNamespace(kind="label"))), Refusal), "other neighbours")
