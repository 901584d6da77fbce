"""Texts as leaves: their length, their wording as a whole and word by word, and the numbers, dates and identifiers in them."""

from __future__ import annotations

import re
from typing import Final

from dpaudit.auditor.reading.leaves import Leaves, Path, stable_code
from dpaudit.auditor.reading.scalars import visit_number
from dpaudit.auditor.reading.tokens import NUMBER, Token, numeral, pieces_of, tokens_of

LONGEST: Final = 100_000
"""Letters of a text that are read; what follows is named as left out."""

_MOST_WORDS: Final = 48
"""Words of a text that are read one by one; of longer texts the parts between numbers are, and of long ones with many the whole."""

_MOST_PARTS: Final = 512
_LONG_WORD: Final = 12
"""Longer words are rarely names of a few categories, and how long they are may be all that repeats."""

_FEWEST_SIGNS: Final = 4
_FEWEST_TO_COUNT: Final = 2
_COUNTERS: Final = 16
"""Words are counted in so many classes too, wherever they stand: a word that comes or goes shows there."""

_SPACES: Final = re.compile(r"[ \t]+")
_MADE_PLAIN: Final = re.compile(r"%[0-9A-F]{2}|(?<=[0-9]),(?=[0-9])")


def visit_text(text: str, path: Path, leaves: Leaves, name: str) -> None:
    """Append a text: where it is one word its code, else its length, its wording and its numbers."""
    if len(text) > LONGEST:
        leaves.leave_out(f"the end of a {name} of more than {LONGEST:,} letters")
    shown = text[:LONGEST]
    tokens, parts = tokens_of(shown)
    words = [word for part in parts for word in pieces_of(part)]
    if not tokens and len(words) < _FEWEST_TO_COUNT:
        leaves.add_code(path, text, name, "word")
        if len(text) > _LONG_WORD:
            leaves.apart.append(len(leaves.values))
            leaves.add((*path, "the length"), float(len(text)), "long")
        elif len(text) >= _FEWEST_SIGNS and (not text.isascii() or len(set(text)) <= len(text) // 2):
            # Signs in a row are bars, answers or bases rather than a name, and as a whole they hardly repeat.
            leaves.apart += range(len(leaves.values), len(leaves.values) + len(text))
            for place, letter in enumerate(text):
                leaves.add((*path, "the letters", place), float(ord(letter)), "letters" if place == 0 else "")
        return
    leaves.apart.append(len(leaves.values))
    leaves.add(path, float(len(text)), f"{len(tokens)} numbers")
    if "%" in shown or "," in shown:
        leaves.add_code((*path, "the escapes"), " ".join(sorted(set(_MADE_PLAIN.findall(shown)))), name, "escapes")
    _visit_wording(tokens, parts, words, path, leaves, name)
    place = 0
    for token in tokens:
        for value, kind in token.numbers:
            visit_number(value, kind, (*path, "the numbers", place), leaves)
            place += 1
    for place, token in enumerate(tokens):
        _add_style(token, (*path, "the digits", place), leaves)


def visit_numeral(text: str, path: Path, leaves: Leaves) -> None:
    """Append a number of a text that was read in parts: its value and how it is written."""
    token = numeral(text)
    for value, kind in token.numbers:
        visit_number(value, kind, path, leaves)
    _add_style(token, (*path, "the digits"), leaves)


def _add_style(token: Token, path: Path, leaves: Leaves) -> None:
    """Append how a number is written, which is no part of any sum."""
    leaves.apart.append(len(leaves.values))
    leaves.add(path, token.style)


def _visit_wording(tokens: list[Token], parts: list[str], words: list[str], path: Path, leaves: Leaves, name: str) -> None:
    """Append the wording of a text without its numbers: as a whole, and in parts that have to repeat."""
    whole = parts[0] + "".join(token.template + part for token, part in zip(tokens, parts[1:], strict=True))
    units, place = (words, "the words") if len(words) <= _MOST_WORDS else (parts, "the parts")
    read = len(units) <= _MOST_PARTS
    leaves.apart.append(len(leaves.values))
    leaves.add_code((*path, "the wording"), whole, name)
    if not read:
        return
    # The parts determine the wording, so that only they have to repeat.
    del leaves.codes[len(leaves.values) - 1]
    # What the tokens leave of themselves, such as the month of a date or the length of an identifier, is one part more.
    left = " ".join(token.template for token in tokens if token.template != NUMBER)
    units = [*units, left] if left else units
    first = len(leaves.values)
    for number, unit in enumerate(units):
        leaves.add_code((*path, place, number), unit, name, f"{place}{len(units)}" if number == 0 else "")
    leaves.apart += range(first, len(leaves.values))
    if len(words) >= _FEWEST_TO_COUNT:
        _count_words(words, path, leaves)


def _count_words(words: list[str], path: Path, leaves: Leaves) -> None:
    """Append how many words fall into each of a few classes, by their codes."""
    counts = [0] * _COUNTERS
    for word in words:
        counts[stable_code(word.strip().rstrip(".,;:!?").lower()) % _COUNTERS] += 1
    leaves.apart += range(len(leaves.values), len(leaves.values) + _COUNTERS)
    for place, count in enumerate(counts):
        leaves.add((*path, "the counts", place), float(count), "counts" if place == 0 else "")
