"""Keys from the data: their places and counts, the release of those that many people have, and its threshold."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from dpaudit.accounting import pricing
from dpaudit.releases import Release
from mechanisms import people, stability_histogram
from mechanisms.stability_histogram import StabilityHistogram
from proofs.flow.following import Followed, Refusal, Subject, follow
from proofs.flow.people import Column, Key
from proofs.flow.reading import NAMES, own, require_claim, require_logged
from proofs.flow.releasing import Door, if_same, noting, or_refusal, releases, require, require_same
from proofs.flow.terms import Term, alike, same, unknown, walk_through

_NUMPY, _VALUES, _PEOPLE, _SOURCE, _COUNT = unknown("np"), unknown("values"), unknown("people"), unknown("source"), unknown("count")
_BALL: Final = partial(unknown, "ball")
_NOWHERE: Final = -1


class Found:
    """A list of keys, of which it is noted whose key is asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.key = Key("key")

    def __getitem__(self, place: Any) -> Any:
        self.asked.append(place)
        return self.key


def keys() -> None:
    """Prove that a record has the number of its own key, `_NOWHERE` where it has none, and that numbers name keys in order."""
    one, entry, number = Key("key"), Key("entry"), unknown("number")
    different, places, types = unknown("different"), unknown("places"), partial(unknown, "type")
    held: list[Any] = []
    numpy = SimpleNamespace(
        ndarray=Column, int64=_NUMPY.int64, fromiter=lambda *given: noting(held, ([*given[0]], *given[1:]), "numbers")
    )
    numpy.unique = lambda _, *, return_inverse: if_same(return_inverse, 1, "places of the different ones", (different, places))
    names = {
        "np": numpy,
        "isinstance": isinstance,
        "set": lambda _: unknown("types"),
        "map": lambda function, items: unknown("types of entries") if function is types else _looked_up(function, items),
        "type": types,
        "int": partial(unknown, "int"),
        "_key": lambda given: if_same(id(given), id(entry), "the key of an entry", one),
        "dict": SimpleNamespace(fromkeys=lambda given: [*given]),
        "enumerate": lambda items: [(number, key) for key in items],
        "len": len,
    }
    for kind in ("i", "u", "b", "f", "O", None):
        entries: Any = [entry] if kind is None else Column([entry], kind, SimpleNamespace(kind=kind))
        seen = set()
        for walk, found in walk_through(lambda: follow(people.keys_of, names)(entries)):  # noqa: B023 - called at once
            if kind in ("i", "u", "b"):
                whole = [unknown("int", unknown("each", different.tolist()))]
                require_same(found, (places.astype(_NUMPY.int64), whole), "the numbers of whole numbers, and these")
                continue
            require(bool(held), "entries of another type are numbered as whole numbers")
            numbers, dtype, count = held.pop()
            (is_plain,) = (answer for question, answer in walk.decided if question.op == "<=")
            is_none = any(answer for question, answer in walk.decided if question.op == "is")
            require_same((dtype, count), (_NUMPY.int64, 1), "the array of numbers")
            (named, listed), key = found, entry if is_plain else one
            require(named == "numbers" and [*map(id, listed)] == ([] if is_none else [id(key)]), "other keys")
            require_same(numbers, [_NOWHERE if is_none else number], "the number of a key")
            seen.add((is_plain, is_none))
        require(kind in ("i", "u", "b") or len(seen) == 4, f"only {seen} are seen")
    _prove_one_key()


def _looked_up(function: Any, items: list[Any]) -> list[Any]:
    """In place of `map`: what is found for each, which is looked up as None where it is found to be that."""
    return [function(None if unknown("is", item, None) else item) for item in items]


def _prove_one_key() -> None:
    """Prove that a key is the text or the whole number that an entry is, and that others have none."""
    entry, text, whole = unknown("entry"), partial(unknown, "str"), partial(unknown, "int")
    names = {"str": text, "int": whole, "isinstance": partial(unknown, "isinstance"), "np": _NUMPY, "numbers": unknown("numbers")}
    seen = []
    for walk, found in walk_through(lambda: follow(people._key, names)(entry)):  # noqa: SLF001 - a proof looks inside
        answers = [answer for _, answer in walk.decided]
        require_same(found, text(entry) if answers[0] else whole(entry) if answers[1] else None, "the key of an entry")
        seen.append(answers)
    require(seen == [[True], [False, True], [False, False]], "the tests of an entry")


def counted() -> None:
    """Prove that keys are those that somebody has, in an order of their own, with as many people as count for each."""
    stands = {name: partial(unknown, name) for name in ("read_entries", "read_people", "limit_contributions", "len", "isinstance")}
    entries = unknown("read_entries", _VALUES, "values")
    places, numbered, orders = unknown("places"), Found(), list[Any]()
    present, most = unknown("present"), unknown("contributions")

    def ordered(items: Any, *, key: Any) -> list[Any]:
        orders.append((items, key))
        return [present]

    names = {
        **stands,
        "np": _NUMPY,
        "keys_of": lambda given: if_same(given, entries, "other keys are counted", (places, numbered)),
        "sorted": ordered,
        "str": "text",
    }
    keys_, counts = follow(stability_histogram.count_keys, names)(_VALUES, _PEOPLE, most)
    persons = unknown("read_people", _PEOPLE, unknown("len", entries), most)
    limited = unknown("limit_contributions", places, persons, most)
    require(counts.op == "item" and alike(counts.parts[1], [present]), "other counts")
    found = counts.parts[0]
    length = unknown("len", numbered)
    require(alike(found, _NUMPY.bincount(limited, minlength=length).astype(_NUMPY.int64)), "how many people have a key")
    ((items, key),) = orders
    require(alike(items, _NUMPY.flatnonzero(found).tolist()), "which keys somebody has")
    one = unknown("one")
    require(alike(key(one), (unknown("isinstance", numbered.key, "text"), numbered.key)), "the order of keys")
    require(keys_ == [numbered.key] and alike(numbered.asked[0], present), "other keys")


def stability() -> None:
    """Prove what `StabilityHistogram` draws, shows, logs, claims and costs."""
    door, copies, with_, found = Door(), unknown("count read"), unknown("people with"), Found()
    names = NAMES | {
        "open_release": door,
        "np": _NUMPY,
        "read_count": lambda _: copies,
        "count_keys": lambda *given: if_same(given, (_VALUES, _PEOPLE, mechanism.contributions), "what is counted", (found, with_)),
        "len": partial(unknown, "len"),
        "int": lambda number: number,
        "dict": lambda *_: unknown("counts that a tape holds"),
        "zip": lambda *_, **__: unknown("pairs"),
        "units": partial(unknown, "units"),
        "Fraction": lambda number: number,
        "DiscreteLaplace": partial(unknown, "DiscreteLaplace"),
        "ApproxDP": lambda *, epsilon, delta: ("approximate", (epsilon, delta)),
        "least_shift": partial(unknown, "least_shift"),
    }
    mechanism: Any = Subject(StabilityHistogram, names, **own("epsilon", "delta", "contributions", "adjacency"))
    moves = unknown("units", mechanism.adjacency) * mechanism.contributions
    record = mechanism._record  # noqa: SLF001 - a proof looks inside
    kind, logged, sensitivity, adjacency, _ = record
    require(kind == "stability_histogram" and adjacency is mechanism.adjacency, "another kind of entry")
    require_same(mechanism.scale, moves / mechanism.epsilon, "the scale")
    shift = unknown("least_shift", mechanism.scale, mechanism.delta, mechanism.contributions)
    require_same(mechanism.threshold, 1 + shift, "the threshold")
    wanted = {"contributions": mechanism.contributions, "scale": mechanism.scale, "threshold": mechanism.threshold}
    require(list(logged) == [*wanted], "other parameters are logged")
    require_same([*logged.values(), sensitivity], [*wanted.values(), moves], "what is logged")
    wide = unknown("len", found)
    for path in releases(lambda: mechanism.releases(_VALUES, _COUNT, _SOURCE, people=_PEOPLE), door, _SOURCE):
        (draw,) = path.draws
        require_same(path.count, copies, "the number of releases that is logged")
        require_logged(path.record, record)
        sampler = unknown("DiscreteLaplace", mechanism.scale).sample
        require_same(draw, sampler(copies * wide, source=door.bits), "what is drawn")
        noisy = draw.reshape(copies, wide) + with_
        (rows,) = (one for one in path.walk.iterated if same(one, noisy))
        row = unknown("each", rows)
        (shown,) = path.output
        place = found.asked[-1]
        chosen = _NUMPY.flatnonzero(row >= mechanism.threshold).tolist()
        require(_is_each_of(place, chosen), "which keys are shown")
        require([*shown] == [found.key] and _same_item(shown[found.key], row, place), "which numbers are shown")
    require_claim(mechanism, "approximate", (mechanism.epsilon, mechanism.delta))
    _prove_price(record, mechanism)
    once: Any = Subject(StabilityHistogram, names, releases=lambda *given, **named: [(given, named)])
    require_same(once.release(_VALUES, _SOURCE, people=_PEOPLE)[0], (_VALUES, 1, _SOURCE), "one release")
    require(once.release(_VALUES, _SOURCE, people=_PEOPLE)[1] == {"people": _PEOPLE}, "one release of other people")


def _is_each_of(place: Any, places: Any) -> bool:
    """Whether a stand-in is for each of some places; these may compare arrays."""
    (given,) = place.parts
    return bool(place.op == "each" and _compared(given) and _like(given, places))


def _compared(places: Any) -> bool:
    """Whether places are those where a mask is true."""
    return bool(places.op == "call" and places.parts[0].parts[1] == "tolist")


def _like(first: Any, second: Any) -> bool:
    """Whether two records are of the same operations, numbers compared by their normal form."""
    if isinstance(first, Term) and isinstance(second, Term) and first.op == second.op and first.parts and second.parts:
        return same(first, second) or _like(first.parts, second.parts)
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        return len(first) == len(second) and all(map(_like, first, second))
    return same(first, second)


def _same_item(shown: Any, row: Any, place: Any) -> bool:
    """Whether a number is the entry of a row at a place."""
    return bool(shown.op == "item" and same(shown.parts[0], row) and shown.parts[1] is place)


def _prove_price(record: tuple[Any, ...], mechanism: Any) -> None:
    """Prove the price: the L1 distance over the scale, and the probability that noise lifts a key of one person."""
    kind, parameters, sensitivity, adjacency, _ = record
    entry = {"kind": kind, "parameters": (*parameters.items(),), "sensitivity": sensitivity, "adjacency": adjacency}
    names = {
        "ball": _BALL,
        "ball_endpoints": lambda value: (unknown("lower end", value), unknown("upper end", value)),
        "_approximate": lambda _, epsilon, delta: (epsilon, delta),
        "Fraction": lambda number: number,
        "working_precision": unknown("working_precision"),
    }
    program = follow(pricing._stability_histogram, names)  # noqa: SLF001 - a proof looks inside
    seen = set()
    for walk, found in walk_through(lambda: or_refusal(lambda: program(Subject(Release, {}, **entry)))):
        ((question, is_low),) = walk.decided
        ratio = _BALL(-1 / mechanism.scale).exp()
        lifted = _BALL((1 - mechanism.threshold) / mechanism.scale).exp() / (1 + ratio)
        require(question.op == "<=" and same(question.parts, (lifted, 1 - ratio)), "whether a key may be hidden")
        require(isinstance(found, Refusal) is not is_low, "a price where there is none")
        if is_low:
            delta = 0 - (_BALL(mechanism.contributions) * (0 - lifted).log1p()).expm1()
            require_same(found, (mechanism.epsilon, unknown("upper end", delta)), "what a release costs")
        seen.add(is_low)
    require(seen == {True, False}, f"only {seen} are seen")


def shifts() -> None:
    """Prove that the threshold's shift is at least what both conditions of the stability theorem ask for."""
    scale, delta, contributions = unknown("scale"), unknown("delta"), unknown("contributions")
    names = {
        "ball": _BALL,
        "ball_endpoints": lambda value: (unknown("lower end", value), unknown("upper end", value)),
        "ceil": partial(unknown, "ceil"),
        "max": partial(unknown, "max"),
        "sum": lambda _: unknown("digits"),
        "abs": partial(unknown, "abs"),
        "working_precision": unknown("working_precision"),
        "_shift_for": Followed(stability_histogram._shift_for),  # noqa: SLF001 - a proof looks inside
    }
    found = follow(stability_histogram.least_shift, names)(scale, delta, contributions)
    ratio = _BALL(-1 / scale)
    together, hidden = 0 - ((0 - _BALL(delta)).log1p() / contributions).expm1(), 0 - ratio.expm1()
    ends = [
        unknown("ceil", unknown("upper end", (0 - _BALL(scale)) * (chance.log() + ratio.exp().log1p())))
        for chance in (together, hidden)
    ]
    require_same(found, unknown("max", 1, *ends), "the least shift")
