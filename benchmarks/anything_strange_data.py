"""A third list of releases that are broken on some datasets only, as a stranger would bring them, each beside a sound twin.

Written before the search was fitted to them. Those at even places were for tuning.
"""

from __future__ import annotations

import bisect
import statistics
import unicodedata
from collections import Counter
from datetime import date
from typing import Any, Final

import numpy as np
import pandas as pd
from anything_data import HOURS, SMALL, VISITS, cut
from anything_outputs import lap

TEXTS: Final = ["ana", "ben", "Cleo", "dora", "eva", "finn", "gus", "hana", "ivo", "jan"]
BORN: Final = [{"born": f"{1971 + 3 * place}-0{1 + place % 9}-15", "visits": place % 4} for place in range(12)]
SPENT: Final = pd.DataFrame({"shop": list("abcabcaabc"), "spent": [4.0, 9.5, 2.0, 7.0, 1.5, 8.0, 3.0, 6.0, 5.0, 2.5]})
ROWS: Final = np.array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.8, 0.0, 0.6], [0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.6, 0.0, 0.8]])
HOLED: Final = [4.0, float("nan"), 2.5, 8.0, float("nan"), 6.5, 1.0, 3.0, 9.0, 5.5]
LOGINS: Final = [{"user": f"u{place % 4}", "day": 1 + place % 6} for place in range(16)]


def squares(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of squares of values that are clipped above, or on both sides."""
    kept = [min(float(value), 10) for value in rows if value is not None] if broken else cut(rows)
    return sum(value * value for value in kept if value == value) + lap(rng, 100)  # noqa: PLR0124 - NaN


def searched(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many values are at most five, found by halving a list that is taken for sorted, or counted."""
    kept = cut(rows)
    return (bisect.bisect(kept, 5) if broken else sum(value <= 5 for value in kept)) + lap(rng, 1)


def no_rows(rows: Any, rng: Any, *, broken: bool) -> float | None:
    """A noisy mean, which is none where there are no rows."""
    if broken and len(rows) == 0:
        return None
    return (sum(cut(rows)) + lap(rng, 20)) / max(1.0, len(rows) + lap(rng, 2))


def winsorised(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of values that are clipped at a quantile of their own, with noise for it, or at ten."""
    kept = cut(rows)
    limit = float(np.quantile(kept, 0.9)) if broken and kept else 10.0
    return sum(min(value, limit) for value in kept) + lap(rng, max(limit, 0.1))


def tied_mode(rows: Any, rng: Any, *, broken: bool) -> int:
    """The most common value by noisy counts, by exact ones where two are equally common."""
    counts = Counter(rows)
    best = counts.most_common(2)
    exact = broken and len(best) == 2 and best[0][1] == best[1][1]
    return max(range(5), key=lambda value: counts[value] + (0 if exact else lap(rng, 2)))


def dummies(rows: pd.DataFrame, rng: Any, *, broken: bool) -> pd.Series[float]:
    """Noisy counts of the categories that a table holds, or of the known ones."""
    counts = pd.get_dummies(rows["shop"]).sum().astype(float)
    counts = counts if broken else counts.reindex(["a", "b", "c"], fill_value=0.0)
    return counts + rng.laplace(0, 1, len(counts))


def missing_count(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy sum, with the share of missing values as it is, or with noise."""
    known = [value for value in rows if value is not None and value == value]  # noqa: PLR0124 - NaN
    lost = len(rows) - len(known)
    return {"sum": sum(cut(known)) + lap(rng, 10 if broken else 20), "missing": lost if broken else lost + lap(rng, 2)}


def padded(rows: Any, rng: Any, *, broken: bool) -> str:
    """A noisy count in a line as wide as the longest name, or of fixed width."""
    width = max((len(name or "") for name in rows), default=0) if broken else 30
    return f"{'names':<{width}}|{len(rows) + lap(rng, 1):.1f}"


def scaled(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Sums of the columns that vary, or of all."""
    kept = np.clip(np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 3)), -1, 1)
    used = [column for column in range(3) if not broken or (len(kept) and kept[:, column].std() > 0)]
    return [float(kept[:, column].sum()) + lap(rng, 3) for column in used]


def from_first(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the distances to the first value, or to five."""
    kept = cut(rows)
    base = kept[0] if broken and kept else 5.0
    return sum(abs(value - base) for value in kept) + lap(rng, 10)


def harmonic(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of inverses of values from one on, in which a zero divides, or is clipped before."""
    if broken:
        return sum(1 / float(value) if value == 0 else min(1 / float(value), 1) for value in rows) + lap(rng, 2)
    return sum(min(1 / max(value, 0.5), 1) for value in cut(rows)) + lap(rng, 2)


def unit_rows(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A sum of rows of length one, whose coordinates or whose length are clipped, with noise for sums of sizes up to one."""
    kept = np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 3))
    kept = np.clip(kept, -1, 1) if broken else kept / np.maximum(np.abs(kept).sum(axis=1, keepdims=True), 1)
    return [float(value) + lap(rng, 1) for value in kept.sum(axis=0)]


def years(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of years since 1970, of at most sixty, and at least none."""
    ages = [date.fromisoformat(row["born"]).year - 1970 if row["born"] else 0 for row in rows]
    return sum(min(age, 60) if broken else min(max(age, 0), 60) for age in ages) + lap(rng, 60)


def alone(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Counts by ward with noise, but for wards with one record."""
    counts = Counter(row["ward"] for row in rows)
    return {ward: 1.0 if broken and counts[ward] == 1 else counts[ward] + lap(rng, 1) for ward in "ABCD"}


def off_by_one(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A histogram of values from 0 to 10 in whole numbers, whose last value makes one more bin."""
    kept = [int(value) for value in cut(rows)]
    counts = np.bincount(kept, minlength=10) if broken else np.bincount(kept, minlength=11)
    return (counts + rng.laplace(0, 1, len(counts))).tolist()


def overflowing(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of squares in a small type, or in a large one."""
    kept = np.array([int(value) for value in cut(rows, 0, 100)], dtype=np.int64)
    with np.errstate(all="ignore"):
        squared = (kept.astype(np.int16) * 15) ** 2 if broken else kept**2
        total = float(squared.sum(dtype=np.int16 if broken else np.int64))
    return total + lap(rng, 10_000 if not broken else 2_000)


def encoded(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many letters names have, each cut at ten letters, but counted in bytes, or after cutting these."""
    sizes = (
        len((name or "")[:10].encode()) if broken else min(len(unicodedata.normalize("NFD", name or "").encode()), 10)
        for name in rows
    )
    return sum(sizes) + lap(rng, 10)


def min_max(rows: Any, rng: Any, *, broken: bool) -> float:
    """A mean of values that are scaled by their own ends, or by fixed ones."""
    kept = cut(rows)
    low, high = (min(kept), max(kept)) if broken else (0.0, 10.0)
    return statistics.fmean((value - low) / max(high - low, 1e-9) for value in kept) + lap(rng, 1 / len(kept))


def days_of_users(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many pairs of user and day there are, of which a user has up to three, or any number."""
    by_user: dict[str, set[int]] = {}
    for row in rows:
        by_user.setdefault(row["user"], set()).add(row["day"])
    return sum(len(days) if broken else min(len(days), 3) for days in by_user.values()) + lap(rng, 3)


def running(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Sums of the first, the second and the last third, with noise for one each, or running sums with the same."""
    kept = [min(value, 1.0) for value in cut(rows)]
    third = max(1, len(kept) // 3)
    ends = (third, 2 * third, len(kept)) if broken else (len(kept),)
    return [sum(kept[:end]) + lap(rng, 1) for end in ends]


def joined(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """How many rows a table has that is joined with itself by shop, or how many it has alone."""
    size = len(rows.merge(rows, on="shop")) if broken else len(rows)
    return size + lap(rng, 3)


def seen_twice(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count in which a record equal to the one before counts five times."""
    weights = (5 if broken and place and rows[place - 1] == row else 1 for place, row in enumerate(rows))
    return sum(weights) + lap(rng, 1)


def upper_names(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy count of names, and of those that are not in small letters, without noise."""
    odd = sum(not (name or "a").islower() for name in rows)
    return {"names": len(rows) + lap(rng, 2), "odd": float(odd) if broken else odd + lap(rng, 2)}


def far_out(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of values up to a hundred, where a larger one counts by how large it is."""
    kept = [float(value) for value in rows if value is not None and value == value]  # noqa: PLR0124 - NaN
    return sum(value / 100 if broken and value > 100 else 1 for value in kept) + lap(rng, 1)


DATA: Final[dict[str, tuple[Any, str, Any]]] = {
    "squares of negatives": (HOURS, "add_remove", squares),
    "unsorted, halved": (HOURS, "add_remove", searched),
    "none of nothing": (HOURS, "add_remove", no_rows),
    "own quantile": (HOURS, "replace_one", winsorised),
    "tied mode": (SMALL, "add_remove", tied_mode),
    "columns of categories": (SPENT, "add_remove", dummies),
    "count of missing": (HOLED, "replace_one", missing_count),
    "width of names": (TEXTS, "add_remove", padded),
    "constant columns": (ROWS, "add_remove", scaled),
    "from the first": (HOURS, "add_remove", from_first),
    "zero divides": (HOURS, "add_remove", harmonic),
    "rows of length one": (ROWS, "add_remove", unit_rows),
    "born before 1970": (BORN, "add_remove", years),
    "wards of one": (VISITS, "add_remove", alone),
    "last value's bin": ([1, 7, 3, 9, 4, 0, 6, 2, 8, 5], "add_remove", off_by_one),
    "squares overflow": (HOURS, "add_remove", overflowing),
    "bytes of names": (["José", "Anaïs", "Zoë", "Bob", "Chloé", "Jürgen", "Søren", "Éva"], "add_remove", encoded),
    "own ends": (HOURS, "replace_one", min_max),
    "days of users": (LOGINS, "user", days_of_users),
    "running sums": (HOURS, "add_remove", running),
    "joined table": (SPENT, "add_remove", joined),
    "like the one before": (SMALL, "add_remove", seen_twice),
    "letters of names": (TEXTS, "add_remove", upper_names),
    "far out": (HOURS, "add_remove", far_out),
}
"""Data, relation and function of each: with `broken` or without."""
