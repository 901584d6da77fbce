"""Which elements of a sequence may raise in Python, and whether data say that they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from dpaudit.verifier.ordinary.values import Counts, Object, Sequence, names_in

_OWED: Final = re.compile(r"(?:q|owed|noise)__\d+ = ")
_SURE: Final = re.compile(r"noise__\d+ = \w+\((?:Fraction\()?[1-9]\d*(?:, [1-9]\d*)?\)*$")
"""A draw whose parameter is a constant above 0."""
_ASSIGNED: Final = re.compile(r"(?:for )?([^\W\d]\w*) (?:=|in) (.*)")
_LENGTH: Final = re.compile(r"\blen\([^\W\d]\w*\)")
"""The length of a list of the core program, which is the same for both data sets."""
_WORDS: Final = frozenset({"Fraction", "True", "False", "abs", "and", "else", "if", "max", "min", "not", "or", "range"})


def unsafe(
    made: Object,
    before: Callable[[], Iterable[Any]],
    parameters: set[str],
    loops: Iterable[Any],
    *,
    private: bool,
) -> list[Sequence]:
    """The sequences of a new object of which an element may raise, unless public parameters alone decide it.

    Python makes the elements when it makes the list, and the core program where it goes through them, which may be nowhere.
    `before` gives the lines of the core program so far, `loops` the loops around, whose rounds may change names later on; `private`
    says whether data decide that the object is made: an error that public parameters decide then shows that it was.
    """
    found = made.pairs if isinstance(made, Counts) else (made,) if isinstance(made, Sequence) else ()
    risky = [one for one in found if any(_OWED.match(text) and not _SURE.match(text) for _, text, _ in one.lines)]
    if not risky or private:
        return risky
    lines = [text for _, text, _ in before() if isinstance(text, str)]
    known = dict.fromkeys(parameters | _WORDS, True) | dict.fromkeys((name for loop in loops for name in loop.phis), False)
    return [one for one in risky if not _is_public(one, lines, dict(known))]


def _is_public(found: Sequence, before: list[str], known: dict[str, bool]) -> bool:
    """True if public parameters alone decide how many elements there are, and whether one of them raises."""
    own = [text for _, text, _ in found.lines]
    if not found.index or any(not _ASSIGNED.match(text) for text in own):
        return False
    texts: dict[str, list[str]] = {}
    for text in (*before, *own):
        if one := _ASSIGNED.match(text):
            texts.setdefault(one.group(1), []).append(one.group(2))

    def public(name: str) -> bool:
        if name not in known:
            known[name] = False  # what depends on itself
            known[name] = len(texts.get(name, [])) == 1 and all(map(public, names_in(texts[name][0])))
        return known[name]

    # A draw is public as far as its parameters are: its value decides nothing but what is computed of it.
    parts = [
        text.partition("(")[2] if text.startswith("noise__") else text.partition(" = ")[2] for text in own if _OWED.match(text)
    ]
    return all(public(name) for text in (own[0].partition(" in ")[2], *parts) for name in names_in(_LENGTH.sub("0", text)))
