"""Tokens of a text: numbers, dates, times and identifiers with their values, and the wording around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final
from urllib.parse import unquote

NUMBER: Final = "0"
"""What stands for a number in the wording of a text."""

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)(?![a-z])"
)
_CLOCK: Final = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
_FRACTION: Final = r"(?:[0-9]+[.]?[0-9]*|[.][0-9]+)"
_TOKEN: Final = re.compile(
    rf"""
    (?P<identifier>(?<!\w)[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}(?!\w))
    |(?P<date>(?<![0-9])[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T\ ]{_CLOCK})?(?![0-9]))
    |(?P<day>(?<![0-9])[0-9]{{1,2}}[.]?[ -]{_MONTH}[.,]?[ -][0-9]{{4}}(?![0-9]))
    |(?P<month>(?<![a-z]){_MONTH}\ [0-9]{{1,2}},?\ [0-9]{{4}}(?![0-9:]))
    |(?P<clock>(?<![\w:]){_CLOCK}(?![0-9:]))
    |(?P<hex>0x[0-9a-f]+(?![\w.])|(?<!\w)(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{{8,}}(?!\w))
    |(?P<word>(?<!\w)[-+]?(?:nan|inf|infinity|null|none)(?!\w))
    |(?P<number>(?:(?<![\w.)\]])[-+\u2212])?(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+[.][0-9]+|{_FRACTION})(?:e[-+]?[0-9]+(?!\w))?)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_COMMA: Final = re.compile(r"(?<=[0-9]),(?=[0-9])")
_POINT: Final = re.compile(r"[0-9][.][0-9]")
_ESCAPE: Final = re.compile(r"%[0-9A-F]{2}")
_DIGIT: Final = re.compile(r"[0-9]")
_LETTERS: Final = re.compile(r"[a-z]+", re.IGNORECASE)
_SURE_DIGITS: Final = 15
_LONGEST_INTEGER: Final = 4000


@dataclass(frozen=True)
class Token:
    """A value inside a text: how it is written but for its digits, and its numbers with their names."""

    template: str
    numbers: tuple[tuple[Any, str], ...]
    style: float = 0.0


def tokens_of(text: str) -> tuple[list[Token], list[str]]:
    """The tokens of a text, and what stands before, between and after them: one part more than there are tokens."""
    tokens, parts, end = list[Token](), list[str](), 0
    shown = _plain(text)
    for found in _TOKEN.finditer(shown):
        token = _READERS[found.lastgroup or "number"](found.group())
        if token is not None:
            tokens.append(token)
            parts.append(shown[end : found.start()])
            end = found.end()
    return tokens, [*parts, shown[end:]]


def numeral(text: str) -> Token:
    """A number as it is written: its value exactly, its type, and a number for its digits after the point, sign and padding."""
    shown = text.replace("\u2212", "-").replace(",", "")
    digits = shown.lstrip("+-").lower()
    whole, _, exponent = digits.partition("e")
    before, _, after = whole.partition(".")
    padding = len(before) - len(before.lstrip("0")) if len(before) > 1 else 0
    written = len(after) + 64 * padding + 4096 * bool(exponent) + 8192 * text.startswith("+") + 16384 * ("," in text)
    # The sign of zero is no part of its value.
    signed = 0.5 if shown.startswith("-") and not whole.strip("0.") else 0.25 if whole.endswith(".") else 0.0
    return Token(NUMBER, (_value(shown),), written + signed)


def _value(token: str) -> tuple[Any, str]:
    """The value of a number with the name of its type, as a float where that holds all its digits."""
    if len(token) <= _SURE_DIGITS:
        return float(token), "float"
    if token.lstrip("+-").isdigit():
        return (int(token), "int") if len(token) < _LONGEST_INTEGER else (float(token), "float")
    value = float(token)
    return (value, "float") if repr(value) == token.lstrip("+") else (Decimal(token), "Decimal")


def _plain(text: str) -> str:
    """The text with escapes of addresses undone and decimal commas as points, where it is plain that they are such."""
    if "%" in text and _ESCAPE.search(text):
        text = unquote(text, errors="surrogateescape")
    # Between semicolons or tabs a comma separates no fields.
    if "," in text and (";" in text or "\t" in text) and _COMMA.search(text) and not _POINT.search(text):
        text = _COMMA.sub(".", text)
    return text


def _word(text: str) -> Token:
    """A word that stands for a number."""
    return Token(text, ((0.0, "float"),), -1.0)


def _hexadecimal(text: str) -> Token:
    """A hexadecimal number or identifier; how many digits it has is a part of its wording."""
    digits = text.lower().removeprefix("0x").replace("-", "")
    case = "X" if text.upper() == text else "x"
    return Token(f"<{case}{len(text)}>", ((int(digits, 16), "int"),))


def _identifier(text: str) -> Token:
    """An identifier with its version and variant, which stand in the middle of it."""
    found = _hexadecimal(text)
    return Token(found.template, (*found.numbers, (float(int(text[14], 16)), "float"), (float(int(text[19], 16)), "float")))


def _moment(day: date, clock: str, template: str) -> Token:
    """A date, with its time of day where it has one: as seconds, and the seconds of the minute apart."""
    if not clock:
        return Token(template, ((float(day.toordinal()), "float"),))
    seconds, minute = _seconds(clock)
    return Token(template, ((86400.0 * day.toordinal() + seconds, "float"), (minute, "float")))


def _seconds(clock: str) -> tuple[float, float]:
    """Seconds since midnight, and since the minute."""
    hour, minute, *second = clock.replace(",", ".").split(":")
    rest = float(second[0]) if second else 0.0
    return 3600.0 * int(hour) + 60.0 * int(minute) + rest, rest


def _date(text: str) -> Token | None:
    """A date as the standard writes it."""
    try:
        return _moment(date.fromisoformat(text[:10]), text[11:], _DIGIT.sub("0", text))
    except ValueError:
        return None


def _named_date(text: str) -> Token | None:
    """A date with the name of a month."""
    name = next(iter(_LETTERS.findall(text)))
    first, second = (int(number) for number in re.findall(r"[0-9]+", text))
    template = text.replace(name, "MMM" if len(name) == len("Jan") else "MMMM" if name.istitle() else name.upper()[:1])
    try:
        day = datetime(second, _MONTHS.index(name[:3].lower()) + 1, first, tzinfo=UTC)
    except ValueError:
        return None
    return Token(_DIGIT.sub("0", template), ((float(day.toordinal()), "float"),))


def _clock(text: str) -> Token:
    """A time of day or a duration."""
    seconds, minute = _seconds(text)
    return Token(_DIGIT.sub("0", text), ((seconds, "float"), (minute, "float")))


_READERS: Final[dict[str, Callable[[str], Token | None]]] = {
    "identifier": _identifier,
    "date": _date,
    "day": _named_date,
    "month": _named_date,
    "clock": _clock,
    "hex": _hexadecimal,
    "word": _word,
    "number": numeral,
}


def pieces_of(part: str) -> Iterator[str]:
    """The words of a part of a text, each with what follows it up to the next."""
    return iter(re.findall(r"\w+\W*|\W+", part))
