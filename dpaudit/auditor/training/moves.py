"""How parameters move: by what was released, as under gradient descent with momentum and weight decay, or by clean gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.training.observed import KEPT, Array, precision_of, vector_of
from dpaudit.errors import InvalidArgument

NOISY: Final = "noisy"
CLEAN: Final = "clean"
OTHER: Final = "other"
BETWEEN: Final = "between"

_ORDER: Final = {NOISY: 0, CLEAN: 1, OTHER: 2}
"""Which explanation is taken where the whole move and its unusual part have different ones."""

_SURE: Final = 14.0
"""Minus the log of the probability with which unrelated numbers may seem to be made of what was released."""

_CLEAR: Final = 10.0
"""Roundings by which a move must differ from what was released before anything else is said to explain it."""

_ROUNDINGS: Final = 16.0
_SHARED: Final = 0.02
_FEWEST_SHARED: Final = 4


class Moves:
    """Judges each move of the parameters with the one before it at hand."""

    def __init__(self) -> None:
        """Begin with no move."""
        self._before: list[Array] = []
        self._clean: list[Array] = []
        self._after: Array | None = None

    def judge(self, parameters: Any, updated: Any, noisy_sum: Any, clean: Sequence[Array]) -> tuple[str, float]:
        """Say what a move is made of, and the log of the probability that it seems so by chance; "" where no move is told.

        A move is clean where clean sums explain it up to rounding and what was released does not: on all coordinates, or on those
        that do not follow the noisy sum by a factor that many share. An adaptive optimiser or a projection is something else.
        """
        if parameters is None or updated is None:
            self._before, self._clean, self._after = [], [], None
            return "", 0.0
        old, new, noisy = (
            vector_of(given, name) for given, name in ((parameters, "parameters"), (updated, "updated"), (noisy_sum, "noisy_sum"))
        )
        if not len(old) == len(new) == len(noisy):
            raise InvalidArgument("DPA105", "parameters and updated must be as many as the numbers of noisy_sum.")
        every = slice(None, None, math.ceil(len(old) / KEPT))
        old, new, noisy = old[every], new[every], noisy[every]
        sums = [part[every] for part in clean]
        move, before, clean_before, after = new - old, self._before, self._clean, self._after
        self._before, self._clean, self._after = [noisy, move], sums[:1], new
        if after is not None and not np.array_equal(after, old):
            return BETWEEN, 0.0
        precision = max(precision_of(parameters), precision_of(updated), precision_of(noisy_sum))
        slack = np.maximum(np.abs(old), np.abs(new)) + np.abs(move) + float(np.abs(move).max())
        slack = _ROUNDINGS * precision * slack + np.finfo(np.float64).tiny
        if float(np.linalg.norm(move)) <= _CLEAR * float(np.linalg.norm(slack)):
            return "", 0.0
        released = [[noisy], [noisy, old], [noisy, *before], [noisy, old, *before]]
        with_clean = [[*terms, *some] for terms in (released[0], released[-1]) for some in (sums[:1], sums[1:], sums)]
        # Momentum of clean sums shows in what follows, as the move before and its noise say what it was.
        with_clean += [[*released[-1], *clean_before, *some] for some in ([], sums[:1]) if clean_before]
        rest = ~_shares_ratio(move, noisy, slack)
        found = [_explain(released, with_clean, move[part], slack[part], part) for part in (np.ones_like(rest), rest)]
        return min(found, key=lambda one: _ORDER[one[0]])


def _explain(
    released: Sequence[Sequence[Array]], with_clean: Sequence[Sequence[Array]], move: Array, slack: Array, part: NDArray[np.bool_]
) -> tuple[str, float]:
    """Explain a move on a part of the coordinates by what was released, else by clean sums too."""
    if not len(move):
        return NOISY, 0.0
    bare = float(np.sqrt(np.mean((move / slack) ** 2)))
    gaps = [(_gap([term[part] for term in terms], move, slack), len(move) - len(terms)) for terms in released]
    if any(gap <= 1 and spare * math.log(max(1.0, bare)) >= _SURE for gap, spare in gaps):
        return NOISY, 0.0
    least = min(gap for gap, _ in gaps)
    if least < _CLEAR:
        return OTHER, 0.0
    for terms in with_clean:
        if _gap([term[part] for term in terms], move, slack) <= 1:
            # Each coordinate beyond the terms agrees by chance about as often as a number so far off falls within the slack.
            return CLEAN, -(len(move) - len(terms)) * math.log(min(least, bare))
    return OTHER, 0.0


def _gap(terms: Sequence[Array], move: Array, slack: Array) -> float:
    """Distance of a move from the nearest sum of multiples of the terms, in roundings; infinite where too few numbers tell."""
    if len(move) <= len(terms):
        return math.inf
    scaled, target = np.column_stack(terms) / slack[:, None], move / slack
    lengths = np.linalg.norm(scaled, axis=0)
    scaled = scaled / np.where(lengths > 0, lengths, 1.0)
    factors, *_ = np.linalg.lstsq(scaled, target, rcond=1e-13)
    return float(np.abs(scaled @ factors - target).max())


def _shares_ratio(move: Array, noisy: Array, slack: Array) -> NDArray[np.bool_]:
    """Coordinates whose move over the noisy sum is that of many others, as for a layer with a learning rate of its own."""
    ratios = move / np.where(noisy == 0, 1.0, noisy)
    doubt = slack / np.maximum(np.abs(noisy), 1e-300)
    order = np.argsort(ratios)
    breaks = np.diff(ratios[order]) > doubt[order][1:] + doubt[order][:-1]
    groups = np.concatenate([[0], np.cumsum(breaks)])
    large = np.bincount(groups) >= max(_FEWEST_SHARED, _SHARED * len(move))
    found = np.zeros(len(move), dtype=bool)
    found[order] = large[groups]
    return found
