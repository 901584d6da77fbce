"""Texts and bytes as leaves: the text as a whole, the numbers in it, its wording without them, and its length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from dpaudit.auditor.reading.leaves import Leaves, Path
from dpaudit.auditor.reading.scalars import visit_number

LONGEST: Final = 100_000
"""Letters of a text that are read; what follows is named as left out."""

_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_SURE_DIGITS: Final = 15
_MOST_BYTES: Final = 32
_STYLES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"separators": (",", ":")},
    {"ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": False},
    {"indent": 2},
    {"indent": 4},
)
"""Common layouts of JSON: of a text in one of them nothing is left to read but its value and the number of the layout."""


def json_value(text: str, path: Path, leaves: Leaves) -> tuple[Any] | None:
    """Append the layout of a JSON text and return its value in a tuple of one; None where the layout may say more."""
    if not text.startswith(("{", "[")) or len(text) > LONGEST:
        return None
    try:
        value = json.loads(text)
        styles = [place for place, style in enumerate(_STYLES) if json.dumps(value, **style) == text]
    except (ValueError, RecursionError):
        return None
    if not styles:
        return None
    leaves.add(path, float(styles[0]))
    return (value,)


def visit_text(text: str, path: Path, leaves: Leaves, name: str) -> None:
    """Append a text: where it holds no number its code, else code, wording, length and numbers."""
    if len(text) > LONGEST:
        leaves.leave_out(f"the end of a {name} of more than {LONGEST:,} letters")
    shown = text[:LONGEST]
    numbers = _NUMBER.findall(shown)
    if not numbers:
        leaves.add_code(path, text, name, "words")
        return
    leaves.apart += [len(leaves.values), len(leaves.values) + 2]
    leaves.add_code(path, text, name, f"and {len(numbers)} numbers")
    # Wording, numbers and length determine the text, so that only the wording has to repeat.
    del leaves.codes[len(leaves.values) - 1]
    leaves.add((*path, "the length"), float(len(text)))
    leaves.add_code((*path, "the wording"), _NUMBER.sub("0", shown), name)
    for place, (number, kind) in enumerate(_numbers(numbers)):
        visit_number(number, kind, (*path, "the numbers", place), leaves)


def visit_bytes(data: bytes, path: Path, leaves: Leaves, name: str) -> None:
    """Append bytes: as text where they are printable, one by one where they are few, else as a whole."""
    if data.isascii() and (text := data.decode("ascii")).replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        visit_text(text, path, leaves, name)
        return
    leaves.apart.append(len(leaves.values))
    leaves.add_code(path, data, name, f"bytes {min(len(data), _MOST_BYTES + 1)}")
    leaves.add((*path, "the length"), float(len(data)))
    if len(data) <= _MOST_BYTES:
        del leaves.codes[len(leaves.values) - 2]
        for place, byte in enumerate(data):
            leaves.add((*path, "the bytes", place), float(byte))


def _numbers(tokens: list[str]) -> Iterator[tuple[Any, str]]:
    """The numbers of a text, as floats where these hold all their digits."""
    for token in tokens:
        if len(token) <= _SURE_DIGITS:
            yield float(token), "float"
        elif token.lstrip("+-").isdigit():
            yield (int(token), "int") if len(token) < 4000 else (float(token), "float")
        else:
            value = float(token)
            yield (value, "float") if repr(value) == token.lstrip("+") else (Decimal(token), "Decimal")
