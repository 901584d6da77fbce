"""Why choices are exact: integers that are rounded up, and columns of an alias table, each filled from the next."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_CHOICE: Final = "docs/selection_and_queries.md, "
_ALIAS: Final = "Walker 1977; docs/selection_and_queries.md, many choices"

LEMMAS: Final = (
    Lemma(
        "picking.twice",
        "Rounding up to a whole number c and then c/m to a whole number e is rounding up y/m once.",
        "y c:int e:int m:int",
        ("1 <= m", "c - 1 < y", "y <= c", "(e - 1)*m < c", "c <= e*m"),
        "(e - 1)*m < y and y <= e*m",
        _CHOICE + "one choice",
    ),
    Lemma(
        "picking.low",
        "A low column l, whose deficit begins at D(l - 1), begins below P exactly if it is not after the first f with D(f) >= P.",
        "l:int f:int begins before reached P",
        (
            *("before < P", "P <= reached"),
            *("not l <= f or begins <= before", "not f <= l - 1 or reached <= begins"),
        ),
        "(not l <= f or begins < P) and (not begins < P or l <= f)",
        _ALIAS,
    ),
    Lemma(
        "picking.high",
        "A high column keeps full + P - F, gives F - G to low ones and G - Q to the high one before, whose P is Q: its mass, "
        "full + P - Q. F and G are where the last low columns end that it and the one before fill.",
        "full P Q F G",
        (),
        "(full + P - F) + (F - G) + (G - Q) == full + (P - Q)",
        _ALIAS,
    ),
    Lemma(
        "picking.kept",
        "What a high column keeps is more than nothing and no more than a column holds: its last low one needs less than a column.",
        "full P F begins",
        ("begins < P", "P <= F", "F - begins <= full"),
        "0 < full + P - F and full + P - F <= full",
        _ALIAS,
    ),
)
"""The lemmas of choices."""
