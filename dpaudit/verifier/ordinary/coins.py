"""Coins: a uniform whole number that is only compared is one, and two of them that answer for a truth value are one answer.

A coin of chance p that keeps a truth value, and puts a fair coin in its place else, gives the value with chance (1 + p) / 2 and its
opposite with chance (1 - p) / 2: randomized response. So does one of chance 1 - p that does it the other way round.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary.lines import Line, assigned_in
from dpaudit.verifier.ordinary.values import names_in

_WHOLE: Final = re.compile(r"(noise__\d+) = uniform_int\((\d+)\)$")
_SHIFTED: Final = re.compile(r"(x__\d+) = \((\d+) \+ (noise__\d+)\)$")
_COIN: Final = re.compile(r"(noise__\d+) = bernoulli\((.*)\)$")
_FAIR: Final = "Fraction(1, 2)"
_MOST: Final = 10**6
_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
KEPT: Final = "__kept"
TURNED: Final = "__turned"
BOTH: Final = "__both"
"""How two coins became one answer: the first keeps the value, or turns it over, where the second is tossed only then, or always."""


def coined(lines: list[Line]) -> list[Line]:
    """The lines of a program where a uniform whole number that is compared in one way alone is a coin."""
    for place, (depth, text, line) in enumerate(lines):
        found = _WHOLE.match(text)
        if found is None:
            continue
        name, size = found.group(1), int(found.group(2))
        made = _as_coin(lines, place, name, size)
        if made is not None:
            chance, others = made
            lines = [*others[:place], (depth, f"{name} = bernoulli({_fraction(chance)})", line), *others[place + 1 :]]
            return coined([one for one in lines if one[1] != ""])
    return lines


def _as_coin(lines: list[Line], place: int, name: str, size: int) -> tuple[Fraction, list[Line]] | None:
    """The chance of the one comparison that a whole number is used in, and the lines with the coin in its place."""
    lines, used, start = list(lines), name, 0
    uses = [at for at, (_, text, _) in enumerate(lines) if at != place and name in names_in(text)]
    if len(uses) == 1 and (shifted := _SHIFTED.match(lines[uses[0]][1])) is not None:
        # A range that begins above 0.
        used, start = shifted.group(1), int(shifted.group(2))
        lines[uses[0]] = (0, "", 0)
        uses = [at for at, (_, text, _) in enumerate(lines) if used in names_in(text)]
    pattern = re.compile(rf"\({used} ([=!<>]=?) (\d+)\)|\((\d+) ([=!<>]=?) {used}\)")
    tests = {found.group() for at in uses for found in pattern.finditer(lines[at][1])}
    if len(tests) != 1 or not 0 < size <= _MOST:
        return None
    test = tests.pop()
    if any(re.search(rf"\b{used}\b", lines[at][1].replace(test, "")) for at in uses):
        return None
    first, other, again, second = pattern.fullmatch(test).groups()  # type: ignore[union-attr]
    compare = _COMPARED[first or second]
    count = sum(compare(one, int(other)) if first else compare(int(again), one) for one in range(start, start + size))
    if not 0 < count < size:
        return None
    for at in uses:
        depth, text, line = lines[at]
        text = text.replace(test, name)
        text = text.replace(f"(True if {name} else False)", name).replace(f"(False if {name} else True)", f"(not {name})")
        lines[at] = (depth, text, line)
    return Fraction(count, size), lines


def _fraction(value: Fraction) -> str:
    """A fraction as the core program writes it."""
    return f"Fraction({value.numerator}, {value.denominator})"


def answered(lines: list[Line]) -> list[Line]:
    """The lines of a program where two coins that answer for a truth value are one randomized response."""
    for place, (_, text, _) in enumerate(lines):
        found = _COIN.match(text)
        if found is not None and (made := _answer(lines, place, found.group(1), found.group(2))) is not None:
            return answered(made)
    return lines


def _answer(lines: list[Line], place: int, name: str, chance: str) -> list[Line] | None:
    """The lines with one answer in place of a coin and a fair one; None where they do something else."""
    uses = [at for at, (_, text, _) in enumerate(lines) if at != place and name in names_in(text)]
    if len(uses) != 1 or uses[0] < place or _leaves_loop(lines, place, uses[0]):
        return None
    if assigned_in(lines[place + 1 : uses[0]]) & names_in(chance):
        return None  # the chance is asked where the coin is tossed
    at = uses[0]
    depth, text, line = lines[at]
    if text == f"if {name}:":
        arms = _arms(lines, at)
        parts = None if arms is None else _kept(lines, place, arms)
    else:
        parts, arms = _inline(lines, place, at, name), None
    if parts is None:
        return None
    prefix, value, suffix, way, fair = parts
    new = f"{name}{way}"
    half = f"((Fraction(1, 1) + {chance}) / Fraction(2, 1))" if KEPT in way else f"(Fraction(1, 1) - {chance} / Fraction(2, 1))"
    if (known := re.fullmatch(r"Fraction\((\d+), (\d+)\)", chance)) is not None:
        own = Fraction(int(known.group(1)), int(known.group(2)))
        half = _fraction((1 + own) / 2 if KEPT in way else 1 - own / 2)
    end = at + 1 if arms is None else arms[2]
    answer = [(depth, f"{new} = randomized_response({value}, {half})", line), (depth, f"{prefix}{new}{suffix}", line)]
    return [
        one
        for number, one in enumerate([*lines[:at], *answer, *lines[end:]])
        if number != place and not (fair is not None and number == fair)
    ]


def _leaves_loop(lines: list[Line], place: int, at: int) -> bool:
    """True if a line stands in a loop, or under a test, that another before it does not stand in."""
    return lines[at][0] != lines[place][0] or any(depth < lines[at][0] for depth, _, _ in lines[place:at])


Arms = tuple[list[Line], list[Line], int]


def _arms(lines: list[Line], at: int) -> Arms | None:
    """The lines of both arms of a test, and where they end."""
    depth = lines[at][0]
    middle = at + 1
    while middle < len(lines) and lines[middle][0] > depth:
        middle += 1
    if middle >= len(lines) or lines[middle][:2] != (depth, "else:"):
        return None
    end = middle + 1
    while end < len(lines) and lines[end][0] > depth:
        end += 1
    return lines[at + 1 : middle], lines[middle + 1 : end], end


def _kept(lines: list[Line], place: int, arms: Arms) -> tuple[str, str, str, str, int | None] | None:
    """What both arms do with a truth value and a fair coin: text around, value, which way, and the line of an early coin."""
    for keep, toss, way in ((arms[0], arms[1], KEPT), (arms[1], arms[0], TURNED)):
        if len(keep) != 1 or len(toss) not in (1, 2):
            continue
        coin: str | None = None
        fair: int | None = None
        if len(toss) == 2:
            found = _COIN.match(toss[0][1])
            coin = found.group(1) if found and found.group(2) == _FAIR else None
        else:
            coin, fair = _early(lines, place, toss[0][1])
        if coin is None or sum(coin in names_in(text) for _, text, _ in lines) != 2:
            continue
        for form in (f"(not {coin})", coin):
            if toss[-1][1].count(form) == 1:
                prefix, _, suffix = toss[-1][1].partition(form)
                text = keep[0][1]
                if text.startswith(prefix) and text.endswith(suffix) and len(text) > len(prefix) + len(suffix):
                    value = text[len(prefix) : len(text) - len(suffix)]
                    return prefix, value, suffix, way + (BOTH if fair is not None else ""), fair
                break
    return None


def _early(lines: list[Line], place: int, text: str) -> tuple[str | None, int | None]:
    """A fair coin that is tossed right after the first, whichever way it fell."""
    if place + 1 < len(lines):
        found = _COIN.match(lines[place + 1][1])
        if found and found.group(2) == _FAIR and found.group(1) in names_in(text) and lines[place + 1][0] == lines[place][0]:
            return found.group(1), place + 1
    return None, None


def _inline(lines: list[Line], place: int, at: int, name: str) -> tuple[str, str, str, str, int | None] | None:
    """The same of `(value if coin else fair)`, where both coins are tossed before."""
    text = lines[at][1]
    coin, fair = _early(lines, place, text)
    if coin is None or fair is None or sum(coin in names_in(one) for _, one, _ in lines) != 2 or text.count(name) != 1:
        return None
    for form in (f"(not {coin})", coin):
        if (tail := f" if {name} else {form})") in text:
            before, _, suffix = text.partition(tail)
            start = _opening(before)
            return None if start < 0 else (before[:start], before[start + 1 :], suffix, KEPT + BOTH, fair)
        if (head := f"({form} if {name} else ") in text:
            prefix, _, after = text.partition(head)
            end = _closing(after)
            return None if end < 0 else (prefix, after[:end], after[end + 1 :], TURNED + BOTH, fair)
    return None


def _opening(text: str) -> int:
    """The place of the bracket that is still open at the end of a text; -1 if there is none."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth < 0:
            return place
    return -1


def _closing(text: str) -> int:
    """The place of the bracket that closes what was open before a text; -1 if there is none."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            return place
    return -1
