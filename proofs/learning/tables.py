"""The tables of slopes, entry by entry: what the sensitivity of a gradient needs of them holds for all that ship."""

from __future__ import annotations

from learners.public_data import descent
from learners.solvers import slopes
from proofs.rounding import require


def prove_slopes() -> None:
    """Check every entry of the tables, and that numbers computed from them fit their types."""
    logistic, exponential = slopes._LOGISTIC.tolist(), slopes._EXPONENTIAL.tolist()  # noqa: SLF001 - the tables that ship
    cells, share, clip = slopes._CELLS, slopes._SHARE, slopes._CLIP  # noqa: SLF001
    require("both tables have an entry for every cell", holds=len(logistic) == len(exponential) == cells)
    require("no slope is negative or larger than the unit", holds=all(0 <= entry <= slopes.UNIT for entry in logistic))
    require("slopes do not rise with the margin", holds=logistic == sorted(logistic, reverse=True))
    require("no weight of a class is negative", holds=all(entry >= 0 for entry in exponential))
    require("the class of the largest margin has a weight, so that shares exist", holds=exponential[0] > 0)
    # Shares are between 0 and one, so that a residual has entries of at most one share, and a root is taken of at most two squares
    # of that: the squares of the others' shares sum to no more than the square of their sum.
    require("lengths of residuals are roots of numbers that floats hold", holds=2 * share**2 < 2**50)
    require("residuals are cut where two classes are as likely", holds=2 * clip**2 <= share**2 < 2 * (clip + 1) ** 2)
    require("products with the unit fit 64 bits", holds=share * slopes.UNIT < 2**63)


def prove_projected_slopes() -> None:
    """Check every entry of the table of projected descent."""
    entries, cells = descent._SLOPES.tolist(), descent._CELLS  # noqa: SLF001 - the table that ships
    require("there is an entry for every cell", holds=len(entries) == 2 * cells + 1)
    require("no slope is negative or larger than the unit", holds=all(0 <= entry <= slopes.UNIT for entry in entries))
    require("slopes do not rise with the margin", holds=entries == sorted(entries, reverse=True))
