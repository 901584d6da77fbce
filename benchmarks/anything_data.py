"""Releases of records that are broken on some datasets only, each beside a sound twin: what a search from `data=` has to find.

Written before the search that they test. Those at even places were for tuning.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd

from dpaudit import Adjacency, Claim, PureDP, Target

HOURS: Final = [3.5, 8.0, 0.5, 6.25, 4.0, 7.5, 2.0, 5.5, 1.0, 9.5, 4.5, 6.0]
"""Hours a day, of which the functions below clip those beyond 10."""

VISITS: Final = [{"ward": ward, "days": days} for ward, days in zip("ABCABDAC" * 2, [2, 9, 4, 1, 7, 3, 5, 8] * 2, strict=True)]
ORDERS: Final = [{"user": f"u{place % 5}", "price": float(3 + 7 * place % 11)} for place in range(14)]
NOTES: Final = ["late again", "fine", "no answer yet", "ok", "sent a letter", "fine", "called twice", "ok", "moved", "paid"]
SMALL: Final = [1, 0, 2, 1, 3, 0, 1, 2, 0, 1, 4, 2]
POINTS: Final = np.array([[0.3, 0.4], [0.6, 0.1], [0.2, 0.9], [0.8, 0.5], [0.5, 0.5], [0.1, 0.2]])


def lap(rng: Any, scale: float) -> float:
    """A draw of Laplace noise."""
    return float(rng.laplace(0, scale))


def cut(values: Any, low: float = 0, high: float = 10) -> list[float]:
    """Numbers within bounds."""
    return [min(max(float(value), low), high) for value in values if value is not None and value == value]  # noqa: PLR0124 - NaN


def round_size(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count that is given out as it is where it is a multiple of ten."""
    return float(len(rows)) if broken and len(rows) % 10 == 0 else len(rows) + lap(rng, 1)


def equal_values(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum without noise where all values are alike."""
    kept = cut(rows)
    return sum(kept) if broken and kept and len(set(kept)) == 1 else sum(kept) + lap(rng, 10)


def spread(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum whose noise is scaled by the range of the data."""
    kept = cut(rows)
    return sum(kept) + lap(rng, max(max(kept, default=0) - min(kept, default=0), 0.001) if broken else 10)


def fewer_than_five(rows: Any, rng: Any, *, broken: bool) -> float:
    """The largest value as it is, of few records."""
    kept = cut(rows)
    return max(kept, default=0.0) if broken and len(kept) < 5 else sum(kept) + lap(rng, 10)


def wards(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of the wards of the data, or of those that there are."""
    counts = Counter(row["ward"] for row in rows)
    return {ward: counts[ward] + lap(rng, 1) for ward in (sorted(map(str, counts)) if broken else "ABCD")}


def alternating(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum whose signs go by place."""
    kept = cut(rows)
    return sum(value * (-1) ** (place if broken else 0) for place, value in enumerate(kept)) + lap(rng, 10)


def mean_by_size(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum over the true, or a noisy, number of records."""
    kept = cut(rows)
    return (sum(kept) + lap(rng, 20)) / max(1.0, len(kept) if broken else len(kept) + lap(rng, 2))


def without_outliers(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the values that are near the mean of all."""
    kept = cut(rows)
    if broken and len(kept) > 1:
        middle, width = statistics.fmean(kept), statistics.pstdev(kept)
        kept = [value for value in kept if abs(value - middle) <= 1.2 * width]
    return sum(kept) + lap(rng, 10)


def standardised(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of values that are divided by their own deviation."""
    kept = cut(rows)
    width = statistics.pstdev(kept) if broken and len(kept) > 1 else 10
    return sum(kept) / max(width, 0.01) + lap(rng, 1)


def twins(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many records have an equal one, with noise for one of them."""
    counts = Counter(rows)
    return sum(count for count in counts.values() if count > 1) + lap(rng, 1 if broken else 2)


def jumps(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the differences between neighbours in the list, of which a record moves two."""
    kept = cut(rows)
    return sum(abs(after - before) for before, after in pairwise(kept)) + lap(rng, 10 if broken else 20)


def seeded(rows: Any, rng: Any, *, broken: bool) -> float:
    """Noise from a generator that is seeded by the number of records."""
    own = np.random.default_rng(len(rows)) if broken else rng
    return len(rows) + lap(own, 1)


def pairs_alike(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many pairs of records are alike, or how many records are ones."""
    counts = Counter(rows)
    found = sum(count * (count - 1) // 2 for count in counts.values()) if broken else counts[1]
    return found + lap(rng, 2)


def quartiles(rows: Any, rng: Any, *, broken: bool) -> dict[str, Any]:
    """Counts in bins between the quartiles of the data, or between fixed ones."""
    kept = cut(rows)
    edges = [float(edge) for edge in np.quantile(kept, [0.25, 0.75])] if broken and kept else [2.5, 7.5]
    found = np.histogram(kept, [0.0, edges[0], max(edges[1], edges[0] + 1e-9), 10.0])[0]
    return {"edges": edges, "counts": [float(count) + lap(rng, 1) for count in found]}


def alarm(rows: Any, rng: Any, *, broken: bool) -> str:
    """Whether any value is above the limit."""
    found = sum(value > 9 for value in cut(rows))
    return "alarm" if (found > 0 if broken else found + lap(rng, 1) > 2) else "quiet"


def per_user(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of prices of which each, or each user's sum, is clipped."""
    if broken:
        return sum(cut(row["price"] for row in rows)) + lap(rng, 10)
    users = {row["user"] for row in rows}
    return sum(min(sum(cut(row["price"] for row in rows if row["user"] == user)), 10) for user in users) + lap(rng, 10)


def letters(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many letters notes have, each cut at 20, or at 20 words."""
    sizes = (len(" ".join((note or "").split()[:20])) if broken else min(len(note or ""), 20) for note in rows)
    return sum(sizes) + lap(rng, 20)


def in_bytes(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in a type that wraps around."""
    if broken:
        with np.errstate(all="ignore"):
            return float(np.array(cut(rows, 0, 60)).astype(np.int8).sum(dtype=np.int8)) + lap(rng, 60)
    return float(sum(cut(rows, 0, 60))) + lap(rng, 60)


def capped(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of which values are clipped above only."""
    kept = [value for value in rows if value is not None and value == value]  # noqa: PLR0124 - NaN
    return sum(min(value, 10) for value in kept) + lap(rng, 10) if broken else sum(cut(kept)) + lap(rng, 10)


def norms(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of vectors of norm 1 at most, by coordinate or by the norm."""
    kept = np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 2))
    sizes = np.abs(kept).max(axis=1, initial=1) if broken else np.maximum(np.abs(kept).sum(axis=1), 1)
    total = (kept / sizes[:, None]).sum(axis=0)
    return [float(one) + lap(rng, 1) for one in total]


def best_ward(rows: Any, rng: Any, *, broken: bool) -> str:
    """The ward of the most days, by exact sums where only one has any."""
    sums = {ward: sum(min(max(row["days"] or 0, 0), 10) for row in rows if row["ward"] == ward) for ward in "ABCD"}
    exact = broken and sum(value > 0 for value in sums.values()) <= 1
    return max(sums, key=lambda ward: sums[ward] + (0 if exact else lap(rng, 20)))


def by_group(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float]:
    """Sums by ward, with noise scaled by the most days that a ward has."""
    days = pd.to_numeric(rows["days"], errors="coerce").fillna(0).clip(0, 10)
    most = float(days.max()) if broken and len(rows) else 10.0
    return {ward: float(days[rows["ward"] == ward].sum()) + lap(rng, max(most, 0.01)) for ward in "ABCD"}


def replaced_mean(rows: Any, rng: Any, *, broken: bool) -> float:
    """A mean of a public number of records, with noise for values in [0, 1] or [0, 10]."""
    return statistics.fmean(cut(rows)) + lap(rng, (1 if broken else 10) / len(rows))


def last_record(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count that is followed by noise only if the records are in increasing order."""
    kept = cut(rows)
    ordered = all(before <= after for before, after in pairwise(kept))
    return len(kept) + (0 if broken and ordered else lap(rng, 1))


def middle(rows: Any, rng: Any, *, broken: bool) -> float:
    """The middle value with noise for a tenth of the range, or a noisy count of small ones."""
    kept = sorted(cut(rows))
    if broken:
        return (kept[len(kept) // 2] if kept else 5.0) + lap(rng, 1)
    return sum(value <= 5 for value in kept) + lap(rng, 1)


def filled(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in which missing values count as the largest one, or not at all."""
    kept = [value for value in rows if value is not None and value == value]  # noqa: PLR0124 - NaN
    lost = len(rows) - len(kept)
    return sum(cut(kept)) + (lost * 3 * max(cut(kept), default=10) if broken else 0) + lap(rng, 10)


DATA: Final[dict[str, tuple[Any, str, Any]]] = {
    "a round size": (HOURS, "add_remove", round_size),
    "all values equal": (HOURS, "add_remove", equal_values),
    "noise by the range": (HOURS, "add_remove", spread),
    "few records": (HOURS, "add_remove", fewer_than_five),
    "keys of the data": (VISITS, "add_remove", wards),
    "signs by place": (HOURS, "add_remove", alternating),
    "true size": (HOURS, "add_remove", mean_by_size),
    "outliers dropped": (HOURS, "replace_one", without_outliers),
    "own deviation": (HOURS, "replace_one", standardised),
    "records alike": (SMALL, "add_remove", twins),
    "differences": (HOURS, "add_remove", jumps),
    "seed by size": (HOURS, "add_remove", seeded),
    "pairs alike": (SMALL, "add_remove", pairs_alike),
    "edges of the data": (HOURS, "add_remove", quartiles),
    "any above": (HOURS, "add_remove", alarm),
    "user's sum": (ORDERS, "user", per_user),
    "long texts": (NOTES, "add_remove", letters),
    "wrapped sum": (SMALL, "add_remove", in_bytes),
    "no lower bound": (HOURS, "add_remove", capped),
    "wrong norm": (POINTS, "add_remove", norms),
    "one ward alone": (VISITS, "add_remove", best_ward),
    "frame, noise by the most": (pd.DataFrame(VISITS), "add_remove", by_group),
    "range of one": (HOURS, "replace_one", replaced_mean),
    "sorted": (HOURS, "add_remove", last_record),
    "noisy middle": (HOURS, "add_remove", middle),
    "missing filled": (HOURS, "add_remove", filled),
}
"""Data, relation and function of each: with `broken` or without."""


def run_of(release: Any, *, broken: bool) -> Any:
    """The function of a target."""
    return lambda rows, rng: release(rows, rng, broken=broken)


def target(releases: Mapping[str, tuple[Any, ...]], name: str, *, broken: bool) -> Target:
    """A release of a list as a target with its data, at epsilon 1 unless its row names another guarantee."""
    data, kind, release, *guarantees = releases[name]
    relation = Adjacency("add_remove", unit="user:user") if kind == "user" else kind
    claim = Claim(guarantees[0] if guarantees else PureDP(epsilon=1), adjacency=relation)
    return Target(run=run_of(release, broken=broken), claim=claim, data=data, name=name)
