"""Geometric draws by digits: which law each digit has, which number the digits make, and the sign of a Laplace draw."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.laplace import FixedWork
from mechanisms.laws.discrete_laplace import DiscreteLaplace
from mechanisms.laws.geometric import Geometric
from mechanisms.laws.law import LARGEST_SCALE
from mechanisms.sampling import digits
from mechanisms.sampling.cumulative import CHUNK
from mechanisms.sampling.digits import SHIPPED_DIGITS, DigitTable, GeometricDigit, LaplaceSign
from mechanisms.sampling.limits import LARGEST
from proofs.flow.following import Followed, Refusal, Subject, follow
from proofs.flow.lanes import Domain, Lane, Source
from proofs.flow.loops import loop_of, require_part, require_separate_rounds
from proofs.flow.releasing import or_refusal, require, require_same
from proofs.flow.terms import Term, positive, same, unknown, walk_through

_SOURCE: Final = unknown("source")
_MOST: Final = 64
"""The largest scale has this many digits below the top one."""
_BALLS: Final = {"ball": lambda number: number, "arb": lambda number: number}


def laws() -> None:
    """Prove the cumulative functions of a digit and of the sign."""
    rate, first, last = unknown("rate"), unknown("first"), unknown("last")
    for number in (None, positive("size")):
        names = _BALLS | {"range": lambda *given: [unknown("range", *given)]}
        digit: Any = Subject(GeometricDigit, names, rate=rate, size=number)
        require(GeometricDigit.lowest == 0, "the lowest digit")
        require_same(digit.highest, None if number is None else number - 1, "the largest digit")
        (found,) = digit.cumulative(first, last)
        k = unknown("range", first, last + 1)
        whole = 1 if number is None else -(-rate * number).expm1()
        require_same(found, -(-rate * (k + 1)).expm1() / whole, "the probability up to a digit")
    sign = Subject(LaplaceSign, _BALLS, scale=unknown("scale"))
    require((LaplaceSign.lowest, LaplaceSign.highest) == (0, 2), "the values of a sign")
    ratio = (-1 / sign.scale).exp()
    both = [ratio / (1 + ratio), 1 / (1 + ratio)]
    for first, last in ((0, 1), (0, 0), (1, 1)):
        require_same([*sign.cumulative(first, last)], both[first : last + 1], "the probability up to a sign")


def table() -> None:
    """Prove which law each digit has, for every number of digits that a scale may have."""
    scale = unknown("scale")
    build = unwrap(digits.digit_table)
    loop = loop_of(build, ("exact", "lower"), _names())
    begun = loop.begin(scale, SHIPPED_DIGITS)
    require(begun.exact is scale and begun.lower == 0, "the number of digits at first")
    for lower in range(_MOST + 1):
        above = SHIPPED_DIGITS.top_scale * 2 ** (SHIPPED_DIGITS.digit * lower)
        require_same(loop.test(scale, SHIPPED_DIGITS, scale, lower), scale > above, "when another digit is needed")
        after = loop.round(scale, SHIPPED_DIGITS, scale, lower)
        require(after.exact is scale and after.lower == lower + 1, "the number of digits")
        bits, tables, sign = loop.end(scale, SHIPPED_DIGITS, scale, lower)
        wanted = [("digit", 2 ** (SHIPPED_DIGITS.digit * place) / scale, 2**SHIPPED_DIGITS.digit) for place in range(lower)]
        wanted.append(("digit", 2 ** (SHIPPED_DIGITS.digit * lower) / scale, None))
        require(bits == SHIPPED_DIGITS.digit, "the number of bits of a digit")
        require_same([*tables], [("table", law, SHIPPED_DIGITS.words) for law in wanted], "the laws of digits")
        require_same(sign, ("table", ("sign", scale), SHIPPED_DIGITS.words), "the law of the sign")
    require(above >= LARGEST_SCALE, "more digits are needed")


def _names() -> dict[str, Any]:
    """What the building of tables reaches, for a scale that is a Fraction."""
    return {
        "Fraction": lambda number: number,
        "range": range,
        "GeometricDigit": lambda rate, size: ("digit", rate, size),
        "LaplaceSign": lambda scale: ("sign", scale),
        "cumulative_table": lambda law, words: ("table", law, words),
        "DigitTable": lambda *parts: parts,
    }


def together() -> None:
    """Prove that the draws of a batch are made of a draw for every digit, and of a sign where they have one, within 64 bits."""
    for program in (digits.draw_geometric, digits.draw_two_sided):
        require_separate_rounds(program)
        for count in range(1, _MOST + 2):
            _prove_batch(program, count, signed=program is digits.draw_two_sided)


def _prove_batch(function: Callable[..., Any], count: int, *, signed: bool) -> None:
    """Prove what a batch writes, for one number of digits."""
    held, number, everywhere = _held(count), unknown("number"), Domain("all draws")
    result = _Draws(number, everywhere)

    def drawn(table: Any, source: Any, size: Any) -> Lane:
        require(source is _SOURCE and size is everywhere, "draws from elsewhere, or for other places")
        result.read.append(table)
        return Lane(everywhere, table.drawn, "int64", result.ranged)

    names = {
        "np": SimpleNamespace(empty=result.begin, int64="int64"),
        "range": lambda *given: iter([unknown("each", unknown("range", *given))]),
        "object": "object",
        "len": lambda array: array.domain,
        "int": lambda one: one,
        "draw_places": drawn,
        "too_large": Refusal,
        "_fill": Followed(digits._fill),  # noqa: SLF001 - a proof looks inside
    }
    program = follow(function, names)
    for walk, found in walk_through(lambda: or_refusal(lambda: program(held, _SOURCE, number, wide=False))):
        ((question, is_refused),) = walk.decided
        top = held.digits[-1].drawn
        require_same((question.op, question.parts), (">=", (unknown("most", top), LARGEST >> held.shift)), "what is too large")
        require(is_refused is isinstance(found, Refusal), "a draw that may not fit is not refused")
        if not is_refused:
            require(found is result and len(result.parts) == len(result.lanes) == 1, "other draws are given")
            require_part(Term("item", number, result.parts[0]), number, number, CHUNK)
            wanted = [*held.digits[::-1], *([held.sign] if signed else [])]
            require(result.read == wanted, "a digit or a sign is not drawn once")
            _require_joined(held, result, signed=signed)


def _require_joined(held: Any, result: _Draws, *, signed: bool) -> None:
    """Prove that a draw is its digits, highest first, each below those before it, and has its sign.

    Digits alone are no larger than with lower ones below them, which `samplers.digits_room` keeps below 2^62.
    """
    *below, top = (digit.drawn for digit in held.digits)
    steps = [("*", 2**held.digit) if moved else ("+", digit) for digit in below[::-1] for moved in (True, False)]
    sign = held.sign.drawn
    value, computed = top, [found for _, found in result.ranged]
    require(all(kind == "int64" for kind, _ in result.ranged), "arithmetic in another type")
    for op, number in [*steps, *([("+", 1)] if signed else [])]:
        found = computed.pop(0)
        require(found.op == op and found.parts[0] is value and same(found.parts[1], number), f"{found!r} is no part of a draw")
        value = found
    if signed:
        require_same(computed.pop(0), sign - 1, "the sign")
        found = computed.pop(0)
        require(found.op == "*" and found.parts[0] is value and same(found.parts[1], sign - 1), "the sign of a draw")
        value = found
    require(not computed and result.lanes[0].value is value, "something else is written")


class _Draws:
    """The array of all draws, of which a part is a batch."""

    dtype = "int64"

    def __init__(self, number: Term, everywhere: Domain) -> None:
        self.number, self.everywhere = number, everywhere
        self.parts, self.lanes, self.ranged, self.read = list[slice](), list[Lane](), list[tuple[str, Any]](), list[Any]()

    def begin(self, size: Any, dtype: Any) -> _Draws:
        """The array, as it is made."""
        require(size is self.number and dtype == self.dtype, "an array of another size or type")
        for seen in (self.parts, self.lanes, self.ranged, self.read):
            seen.clear()
        return self

    def __getitem__(self, part: slice) -> Lane:
        self.parts.append(part)
        self.lanes.append(Lane(self.everywhere, unknown("unwritten"), "int64", self.ranged))
        return self.lanes[-1]


def alone() -> None:
    """Prove that a single draw is made of its digits, each by bits of its own, and of a sign where it has one."""
    names = {
        **{name: Followed(getattr(digits, name)) for name in ("_places", "_join")},
        **{one.__name__: one for one in (enumerate, sum, len)},
    }
    for count in range(1, _MOST + 2):
        held = _held(count)
        for function, signed in ((digits.draw_one_geometric, False), (digits.draw_one_two_sided, True)):
            source, tables = Source(), ([held.sign] if signed else []) + [*held.digits]
            read: list[Any] = []
            program = follow(function, names | {"place_of": partial(_placed, source, read)})
            found = program(held, source)
            (word,) = source.words
            require_same(word.parts[1:], (0, _WORDS.prefix * len(tables)), "the digits that are drawn")
            require(len(read) == len(tables), "a draw from another number of tables")
            for place, (table, bits) in enumerate(read):
                require(table is tables[place] and bits.parts[0] is word.parts[0], "a draw from another table, or by other bits")
                require_same(bits.parts[1:], (_WORDS.prefix * place, _WORDS.prefix * (place + 1)), "the bits of a digit")
            size: Any = found
            if signed:
                require(found.op == "*" and found.parts[1].op == "+" and found.parts[1].parts[0] == 1, "the sign of a draw")
                require_same(found.parts[0], held.sign.drawn - 1, "the sign")
                size = found.parts[1].parts[1]
            for place, digit in [*enumerate(held.digits)][::-1]:
                require_same((size.op, size.parts[1]), ("+", digit.drawn << held.digit * place), "a digit of a draw")
                size = size.parts[0]
            require(size == 0, "more than the digits")


def _placed(source: Source, read: list[Any], table: Any, bits: Any, number: Any) -> Any:
    """In place of a draw from a table whose first bits are known."""
    require(bits is source, "more digits come from elsewhere")
    read.append((table, number))
    return table.drawn


class _Table:
    """In place of the table of a digit, with what is drawn from it; all are built with the same sizes."""

    def __init__(self) -> None:
        self.words, self.drawn = _WORDS, unknown("drawn")


_WORDS: Final = SimpleNamespace(prefix=unknown("prefix"))


def _held(count: int) -> Any:
    """The tables of a number of digits."""
    return Subject(
        DigitTable, {"len": len}, digit=SHIPPED_DIGITS.digit, digits=tuple(_Table() for _ in range(count)), sign=_Table()
    )


def samplers() -> None:
    """Prove that the geometric law, and the Laplace law with fixed work, are drawn by the digits of their scale."""
    scale, build, number, wide = map(unknown, ("scale", "digit_table", "number", "wide"))
    programs = {name: unknown(name) for name in ("draw_geometric", "draw_one_geometric", "draw_two_sided", "draw_one_two_sided")}
    names = {**programs, "digit_table": build, "Sampler": lambda *parts: parts}
    tables = build(scale)
    drawn = (
        (Subject(Geometric, names, scale=scale).sampler, "draw_geometric", "draw_one_geometric"),
        (Subject(DiscreteLaplace, names, scale=scale).fixed_sampler, "draw_two_sided", "draw_one_two_sided"),
    )
    for (many, one, reach), often, once in drawn:
        call = unknown("call", programs[often], (tables, _SOURCE, number), (("wide", wide),))
        require_same(many(_SOURCE, number, wide), call, "many draws")
        require_same(one(_SOURCE), unknown("call", programs[once], (tables, _SOURCE), ()), "a draw")
        require_same(reach, tables.reach, "the reach")
    law = unknown("law")
    require_same(Subject(FixedWork, {}, law=law).sampler, law.fixed_sampler, "the sampler with fixed work")
