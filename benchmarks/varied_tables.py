"""Generated tables as tabular users have them: rare classes, odd scales, missing cells, categories, text, curved effects.

Tables at even places may be used to choose constants; those at odd places are measured only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd

WORDS: Final = tuple(f"w{place:02d}" for place in range(40))
"""Words of a text column, in the order of how often they occur."""


@dataclass(frozen=True)
class Table:
    """Records with their labels, and what is public about the columns."""

    name: str
    frame: pd.DataFrame
    labels: np.ndarray[Any, Any]
    columns: dict[str, Any]  # a range (low, high), a list of categories, or "text"

    def split(self, seed: int) -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
        """Four fifths to learn from, and the rest."""
        order, cut = np.random.default_rng(1000 + seed).permutation(len(self.labels)), len(self.labels) * 4 // 5
        first, rest = order[:cut], order[cut:]
        return self.frame.iloc[first], self.labels[first], self.frame.iloc[rest], self.labels[rest]


@dataclass(frozen=True)
class Quirks:
    """What is unlike a clean numeric table."""

    spread: float = 0.0  # columns are scaled by powers of ten between -spread and spread
    offset: float = 0.0  # and moved by so many deviations
    missing: float = 0.0  # share of numeric cells that are missing, more often where the value is large
    categories: int = 0  # number of categorical columns, of 3, 5, 7, ... categories with unequal shares
    text: bool = False
    curved: float = 0.0  # share of the score that is not linear
    skewed: bool = False  # numeric columns are log-normal, their ranges wide


def make(
    name: str, seed: int, *, n: int, numeric: int, share: float, strength: float, quirks: Quirks, regression: bool = False
) -> Table:
    """A table of correlated columns whose label follows a score of the wanted strength (deviation in log odds)."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(numeric) + 0.4 * rng.normal(size=(numeric, numeric)) / np.sqrt(numeric)
    clean = rng.normal(size=(n, numeric)) @ mixing
    clean /= clean.std(axis=0)
    effects = rng.normal(size=numeric) * (rng.random(numeric) < 0.7)
    linear = clean @ effects
    bends = np.where(rng.random(numeric) < 0.5, np.sin(2 * clean), np.square(clean) - 1)
    score = _unit(linear) * (1 - quirks.curved) + _unit(bends @ rng.normal(size=numeric)) * quirks.curved
    columns: dict[str, Any] = {}
    frame: dict[str, Any] = {}
    for place in range(numeric):
        unit, move = 10.0 ** rng.uniform(-quirks.spread, quirks.spread), quirks.offset
        values = np.exp(clean[:, place]) if quirks.skewed else clean[:, place]
        ends = (0.0, 50.0) if quirks.skewed else (-4.0, 4.0)
        gone = rng.random(n) < 2 * quirks.missing / (1 + np.exp(-clean[:, place]))
        frame[f"x{place}"] = np.where(gone, np.nan, (values + move) * unit)
        columns[f"x{place}"] = ((ends[0] + move) * unit, (ends[1] + move) * unit)
    for place in range(quirks.categories):
        count = 3 + 2 * place
        shares = 1.0 / np.arange(1, count + 1)
        drawn = rng.choice(count, size=n, p=shares / shares.sum())
        score = score + 0.4 * rng.normal(size=count)[drawn]
        names = [f"c{place}_{each}" for each in range(count)]
        frame[f"c{place}"], columns[f"c{place}"] = np.array(names, dtype=object)[drawn], names
    if quirks.text:
        shares = 1.0 / np.arange(2, len(WORDS) + 2)
        drawn = rng.choice(len(WORDS), size=(n, 6), p=shares / shares.sum())
        score = score + 0.4 * rng.normal(size=len(WORDS))[drawn].mean(axis=1)
        frame["note"], columns["note"] = [" ".join(WORDS[word] for word in row) for row in drawn], "text"
    score = strength * _unit(score)
    if regression:
        return Table(name, pd.DataFrame(frame), np.clip(score + rng.normal(size=n), -10, 10), columns)
    shift = np.quantile(score + rng.logistic(size=n), 1 - share)
    labels = (score + rng.logistic(size=n) > shift).astype(np.int64)
    return Table(name, pd.DataFrame(frame), labels, columns)


def _unit(values: Any) -> Any:
    """Values less their mean, over their deviation."""
    return (values - values.mean()) / max(float(values.std()), 1e-12)


def _specs() -> list[tuple[str, dict[str, Any]]]:
    """All tables: rare classes at three strengths first, then one quirk at a time, then sizes."""
    clean, odd = Quirks(), Quirks(spread=2, offset=3, missing=0.05, categories=2)
    rare = [
        (
            f"rare {share:.0%} strength {strength:g}",
            {"n": 25_000, "numeric": 10, "share": share, "strength": strength, "quirks": clean},
        )
        for share in (0.01, 0.05, 0.1, 0.2)
        for strength in (1.5, 2.5, 4.0)
    ]
    one = {
        "clean": clean,
        "scaled": Quirks(spread=2),
        "offset": Quirks(offset=3),
        "missing": Quirks(missing=0.05),
        "categories": Quirks(categories=4),
        "text": Quirks(text=True),
        "curved": Quirks(curved=0.5),
        "very curved": Quirks(curved=0.8),
        "skewed": Quirks(skewed=True, curved=0.3),
        "all odd": odd,
    }
    quirky = [(name, {"n": 20_000, "numeric": 8, "share": 0.3, "strength": 2.5, "quirks": quirks}) for name, quirks in one.items()]
    sizes = [
        (f"n {n}", {"n": n, "numeric": numeric, "share": 0.4, "strength": 3.0, "quirks": Quirks(curved=0.3, categories=2)})
        for n, numeric in ((200, 4), (1000, 6), (1000, 20), (5000, 12), (50_000, 12), (50_000, 30))
    ]
    lines = [
        (f"regression {name}", {"n": n, "numeric": 8, "share": 0.5, "strength": 2.0, "quirks": quirks, "regression": True})
        for name, n, quirks in (
            ("clean", 10_000, clean),
            ("odd", 10_000, odd),
            ("curved", 20_000, Quirks(curved=0.5)),
            ("small", 2000, clean),
        )
    ]
    return rare + quirky + sizes + lines


TABLES: Final[dict[str, Callable[[], Table]]] = {
    name: partial(make, name, seed, **spec) for seed, (name, spec) in enumerate(_specs())
}
"""Makers of all tables by name."""

TUNING: Final = tuple(TABLES)[::2]
ACCEPTANCE: Final = tuple(TABLES)[1::2]
