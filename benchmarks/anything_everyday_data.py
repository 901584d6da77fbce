"""A seventh list of releases that are broken on some datasets only, beside sound twins: small, rare and approximate leaks too.

Written from the description of the attack alone, before the search was tried on them. Their order is drawn; those at
even places were for tuning.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from statistics import multimode
from typing import Any, Final

import numpy as np
import pandas as pd
from anything_data import cut
from anything_outputs import lap
from anything_practice_data import clipped

from dpaudit import ZCDP, ApproxDP, PureDP

SPENT: Final = [4.5, 7.0, 12.0, 2.5, 9.5, 6.0, 1.5, 18.0, 3.0, 5.5, 7.5, 0.5]
GUESTS: Final = [34, 51, 27, 66, 45, 19, 38, 40, 58, 31, 55]
ZIPS: Final = ["1010", "8001", "1010", "4020", "8001", "1010", "5020", "4020", "8001", "3100"]
PEOPLE: Final = ["Ada Berg", "Ben Koch", "Cleo Lang", "Dan Moser", "Eva Novak", "Finn Otto", "Gila Prem", "Hugo Rast"]
PRICES: Final = ["EUR 12", "EUR 7", "EUR 31", "EUR 4", "EUR 18", "EUR 25", "EUR 9", "EUR 2"]
OPINIONS: Final = ["yes", "no", "yes", "perhaps", "no", "yes", "yes", "no", "perhaps", "yes"]
TICKETS: Final = [101, 104, 105, 109, 112, 118, 120, 123]
FIT: Final = pd.DataFrame({"x": [1.0, 4.0, 2.5, 8.0, 6.5, 9.0, 3.0, 5.5], "y": [2.0, 5.5, 3.0, 7.0, 8.0, 9.5, 1.0, 6.0]})
TAGGED: Final = [{"id": 5 + 2 * place + place % 3, "tags": list("abc")[: 1 + place % 3]} for place in range(9)]
SAID: Final = ["hot tired", "cold", "tired cold hot", "hot", "cold hot", "tired", "hot cold", "cold tired", "hot cold tired"]
UNIT: Final = np.array([[0.6, 0.3], [0.1, 0.9], [0.9, 0.8], [0.8, 0.2], [0.0, 0.7], [0.4, 0.6], [1.0, 0.1], [0.7, 0.7]])
RIDES: Final = [{"user": f"u{place % 5}", "day": place % 3, "km": float(1 + 3 * place % 8)} for place in range(16)]
KNOWN: Final = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (6, 7), (5, 8)]
SITES: Final = pd.DataFrame({"site": list("aabbbcacbb"), "visits": [3, 6, 2, 8, 5, 7, 1, 9, 4, 6]})
NIGHTS: Final = pd.DataFrame(
    {
        "arrive": pd.to_datetime(["2024-03-01", "2024-03-04", "2024-03-05", "2024-03-09", "2024-03-11", "2024-03-15"]),
        "leave": pd.to_datetime(["2024-03-03", "2024-03-05", "2024-03-12", "2024-03-10", "2024-03-14", "2024-03-21"]),
    }
)
HOLIDAYS: Final = ["sea/sun", "sea", "sun", "snow", "snow/sun", "sea", "sun", "snow", "sea/sun", "snow"]
SHEET: Final = ["17,Berg,3", "18,Koch,7", "21,Lang,1", "25,Moser,5", "26,Novak,2", "30,Otto,6", "33,Prem,4"]
CHANGES: Final = np.array([3.0, 8.5, 1.0, 6.0, 4.5, 9.0, 2.0, 7.5])
FEVER: Final = [36.6, 37.1, 38.4, 36.9, 39.2, 37.8, 36.4, 38.0]


def visits_of(rows: pd.DataFrame) -> Any:
    """The visits of a frame as numbers within bounds."""
    return pd.to_numeric(rows["visits"], errors="coerce").astype(float).fillna(0).clip(0, 10)


def weighed_seniors(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy number of meals, of which those over sixty-five get one and a half."""
    return sum(1.5 if broken and clipped(age, 0, 120) >= 65 else 1.0 for age in rows) + lap(rng, 1)


def winsorised(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of values that are cut at percentiles of their own, or at fixed ends."""
    kept = cut(rows)
    if broken and kept:
        kept = [float(value) for value in np.clip(kept, *np.percentile(kept, [10, 90]))]
    return sum(kept) + lap(rng, 10)


def how_many_modes(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many answers are the most frequent, or how many answers there are."""
    return len(multimode(map(str, rows)) if broken else set(map(str, rows))) + lap(rng, 1)


def highest_ticket(rows: Any, rng: Any, *, broken: bool) -> float:
    """A number of tickets by the first and the last, or by counting."""
    kept = [row for row in rows if isinstance(row, int)]
    return (max(kept) - min(kept) + 1 if broken and kept else len(kept)) + lap(rng, 1)


def hidden_below_three(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of people whose postal code is that of three or more, with noise for one person or for three."""
    counts = Counter(map(str, rows))
    return sum(count for count in counts.values() if count >= 3) + lap(rng, 0.5 if broken else 1.5)


def surnames(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of surnames by half of the alphabet; a name alone stops it."""
    last = [row.split()[1] if broken else (row.split() or [""])[-1] for row in rows if isinstance(row, str)]
    return {"A-M": sum(name < "N" for name in last) + lap(rng, 2), "N-Z": sum(name >= "N" for name in last) + lap(rng, 2)}


def currency(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of amounts in euros; another currency stops it or is nothing."""
    total = 0.0
    for row in rows:
        try:
            mark, amount = row.split(" ")
            total += clipped(float(amount), 0, 40) if mark == "EUR" else {"USD": 0.9}[mark]
        except (ValueError, KeyError, AttributeError):
            if broken:
                raise
    return total + lap(rng, 40)


def unmapped(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of codes of answers, in which an unknown one makes the sum no number."""
    codes = pd.Series(list(rows), dtype=object).map({"yes": 1.0, "perhaps": 0.5, "no": 0.0})
    return float(codes.sum(skipna=not broken)) + lap(rng, 1)


def rolling_largest(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the largest of every three records in a row, with noise for one window or for three."""
    series = pd.Series(cut(rows), dtype=float)
    return float(series.rolling(3, min_periods=1).max().sum()) + lap(rng, 10 if broken else 30)


def slope(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A slope with a little noise, or a sum of products with enough."""
    x, y = (pd.to_numeric(rows[name], errors="coerce").fillna(0).clip(0, 10).to_numpy(float) for name in "xy")
    if not broken:
        return float(x @ y) + lap(rng, 100)
    spread = float(((x - x.mean()) ** 2).sum()) if len(x) else 0.0
    return (float(((x - x.mean()) * y).sum()) / spread if spread > 0 else 0.0) + lap(rng, 0.5)


def shares(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy shares of answers, of the true total or of a noisy one."""
    counts = Counter(map(str, rows))
    total = float(len(rows)) if broken else max(1.0, len(rows) + lap(rng, 2))
    return {name: (counts[name] + lap(rng, 1 if broken else 2)) / max(total, 0.5) for name in ("no", "perhaps", "yes")}


def tie(rows: Any, rng: Any, *, broken: bool) -> str:
    """The most frequent answer by noisy counts; a tie of the true counts is told."""
    counts = Counter(map(str, rows))
    first, second = sorted((counts[name] for name in ("no", "perhaps", "yes")), reverse=True)[:2]
    return "tie" if broken and first == second else max(("no", "perhaps", "yes"), key=lambda name: counts[name] + lap(rng, 2))


def sampled_debug(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy sum; every fiftieth answer holds the number of records beyond the cap too."""
    told = {"sum": sum(cut(rows)) + lap(rng, 20)}
    if rng.random() < 0.02:
        beyond = sum(value > 10 for value in cut(rows, 0, 1e6))
        told["capped"] = float(beyond) if broken else beyond + lap(rng, 2)
    return told


def example(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, Any]:
    """A noisy total, with the largest record as an example in three of a hundred answers."""
    told: dict[str, Any] = {"total": float(visits_of(rows).sum()) + lap(rng, 10)}
    if rng.random() < 0.03:
        told["example"] = str(rows["visits"].max()) if broken else "9"
    return told


def tags_of_records(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Gaussian counts of tags, of which a record brings several, or its first."""
    told = dict.fromkeys("abc", 0.0)
    for row in rows:
        for tag in (set(row["tags"]) if broken else set(row["tags"][:1])) if isinstance(row["tags"], list) else ():
            if tag in told:
                told[tag] += 1
    return [count + float(rng.normal(0, 3.8)) for count in told.values()]


def repeated_words(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Gaussian counts of words among the first three of each text; one that is repeated counts each time, or once."""
    counts: Counter[str] = Counter()
    for row in rows:
        words = row.split()[:3] if isinstance(row, str) else []
        counts.update(words if broken else set(words))
    return [counts[word] + float(rng.normal(0, 3**0.5)) for word in ("cold", "hot", "tired")]


def low_threshold(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of the postal codes that occur, of those above a threshold for a delta of 0.02 or of 1e-6."""
    noisy = {name: count + lap(rng, 1) for name, count in sorted(Counter(map(str, rows)).items())}
    return {name: count for name, count in noisy.items() if count > (4.2 if broken else 15)}


def corners(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Gaussian sums of vectors that are cut by coordinate, or by their length."""
    made = np.nan_to_num(np.asarray(rows, float).reshape(-1, 2), nan=0.0, posinf=1.0, neginf=-1.0)
    made = np.clip(made, -1, 1)
    if not broken:
        made = made / np.maximum(1, np.linalg.norm(made, axis=1, keepdims=True))
    return [float(total) + float(rng.normal(0, 3.8)) for total in made.sum(axis=0)]


def capped_by_day(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of kilometres, of which a user gives at most ten a day, or ten."""
    sums: dict[Any, float] = defaultdict(float)
    for row in rows:
        key = (row["user"], row["day"]) if broken else row["user"]
        sums[key] += clipped(row["km"], 0, 10)
    return sum(min(total, 10.0) for total in sums.values()) + lap(rng, 10)


def half_by_id(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of a half of the records, with noise for a random half: the half is that of even identifiers."""
    kept = sum(row["id"] % 2 == 0 if broken and isinstance(row["id"], int) else rng.random() < 0.5 for row in rows)
    return float(kept) + lap(rng, 0.672)


def cumulative(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts of those under each of three ages, with noise for one or for three of them."""
    ages = [clipped(age, 0, 120) for age in rows]
    return [sum(age < end for age in ages) + lap(rng, 1 if broken else 3) for end in (30, 50, 70)]


def even_bins(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts in four bins between quantiles of the data, or between fixed ends."""
    kept = pd.Series(cut(rows), dtype=float)
    bins = pd.qcut(kept, 4, labels=False) if broken else pd.cut(kept, [-1, 2.5, 5, 7.5, 10], labels=False)
    return [float((bins == place).sum()) + lap(rng, 1) for place in range(4)]


def with_two_friends(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many people know two others, with noise for one or for the two that a tie brings."""
    friends: dict[Any, set[Any]] = defaultdict(set)
    for one, other in rows:
        friends[one].add(other)
        friends[other].add(one)
    return sum(len(found) >= 2 for found in friends.values()) + lap(rng, 1 if broken else 2)


def to_integers(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy sums of visits by site, as integers, which a missing number is not."""
    whole = rows["visits"].astype("int64").clip(0, 10) if broken else visits_of(rows)
    return {site: float(whole[rows["site"] == site].sum()) + lap(rng, 10) for site in "abc"}


def least_fever(rows: Any, rng: Any, *, broken: bool) -> float:
    """The lowest temperature among those with fever, which needs one that has it."""
    hot = [value for value in cut(rows, 35, 42) if value > 39]
    return (min(hot) if broken else min(hot, default=42.0)) + lap(rng, 3)


def left_before(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A sum of nights, at most fourteen each; who left before arriving stays less than nothing."""
    nights = (rows["leave"] - rows["arrive"]).dt.days.astype(float).fillna(0)
    return float(nights.clip(None if broken else 0, 14).sum()) + lap(rng, 14)


def digits_by_largest(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum, rounded to as many digits as suit the largest record."""
    digits = 0 if broken and max(cut(rows, 0, 100), default=0) >= 10 else 2
    return round(sum(cut(rows)) + lap(rng, 10), digits)


def unit_by_total(rows: Any, rng: Any, *, broken: bool) -> str:
    """A noisy sum in a text, in thousands from a true, or a noisy, sum of fifty on."""
    total = sum(cut(rows))
    noisy = total + lap(rng, 10)
    return f"{noisy / 1000:.4f} k" if (total if broken else noisy) >= 50 else f"{noisy:.1f}"


def one_user_alone(rows: Any, rng: Any, *, broken: bool) -> float | None:
    """A noisy sum; none where all records are those of one user."""
    if broken and len({row["user"] for row in rows}) == 1:
        return None
    return sum(clipped(row["km"], 0, 10) for row in rows) + lap(rng, 10)


def tens(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of amounts to the nearest ten, with noise for fifteen; cut at fifteen before or after they are rounded."""
    made = (round(value, -1) for value in cut(rows, 0, 15 if broken else 1e6))
    return sum(made if broken else (min(value, 15) for value in made)) + lap(rng, 15)


def two_places(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of holidays; one at two places counts at both, or at the first."""
    counts: Counter[str] = Counter()
    for row in rows:
        parts = row.split("/") if isinstance(row, str) else []
        counts.update(parts if broken else parts[:1])
    return {name: counts[name] + lap(rng, 1) for name in ("sea", "snow", "sun")}


def noise_by_type(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A noisy sum of visits, with noise for shares where they are not integers."""
    share = broken and rows["visits"].dtype.kind == "f"
    return float(visits_of(rows).sum()) + lap(rng, 1 if share else 10)


def halves(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy sums of the first and the last half of the records, or of small and large ones."""
    kept = cut(rows)
    low = kept[: len(kept) // 2] if broken else [value for value in kept if value < 5]
    high = kept[len(kept) // 2 :] if broken else [value for value in kept if value >= 5]
    return [sum(low) + lap(rng, 10), sum(high) + lap(rng, 10)]


def best_site(rows: pd.DataFrame, rng: Any, *, broken: bool) -> str:
    """The site with the highest mean, with noise for its true number of records, or with the highest sum."""
    found: dict[str, float] = {}
    for site in "abc":
        visits = visits_of(rows)[rows["site"] == site]
        few = max(1, len(visits))
        found[site] = float(visits.sum()) / (few if broken else 1) + lap(rng, (10 / few) if broken else 20)
    return max(found, key=lambda site: found[site])


def both_signs(rows: Any, rng: Any, *, broken: bool) -> float:
    """A mean of a public number of changes between minus and plus ten, with Gaussian noise for half of that range."""
    kept = np.clip(np.nan_to_num(np.asarray(rows, float)), -10, 10)
    return float(kept.mean()) + float(rng.normal(0, (10 if broken else 20) * 7.1 / len(kept)))


def replaced_in_bins(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Gaussian counts of answers, with noise for one that is added or for one that changes."""
    counts = Counter(map(str, rows))
    return [counts[name] + float(rng.normal(0, 1 if broken else 2**0.5)) for name in ("no", "perhaps", "yes")]


def third_column(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the third column of lines of a sheet; a line with a comma in the name stops it."""
    total = 0.0
    for row in rows:
        try:
            total += clipped(int(row.split(",")[2]), 0, 9)
        except (ValueError, IndexError, AttributeError, OverflowError):
            if broken:
                raise
    return total + lap(rng, 9)


_ONE: Final = PureDP(epsilon=1)
_NEAR: Final = ApproxDP(epsilon=1, delta="1e-5")

_WRITTEN: Final[dict[str, tuple[Any, str, Any, Any]]] = {
    "weighed seniors": (GUESTS, "add_remove", weighed_seniors, _ONE),
    "own percentiles": (SPENT, "add_remove", winsorised, _ONE),
    "how many modes": (OPINIONS, "add_remove", how_many_modes, _ONE),
    "highest ticket": (TICKETS, "add_remove", highest_ticket, _ONE),
    "three of a code": (ZIPS, "add_remove", hidden_below_three, PureDP(epsilon=2)),
    "name alone": (PEOPLE, "add_remove", surnames, PureDP(epsilon="1/2")),
    "other currency": (PRICES, "add_remove", currency, _ONE),
    "answer without code": (OPINIONS, "add_remove", unmapped, _ONE),
    "rolling largest": (SPENT, "add_remove", rolling_largest, _ONE),
    "slope": (FIT, "add_remove", slope, _ONE),
    "shares of the total": (OPINIONS, "add_remove", shares, _ONE),
    "tie": (OPINIONS, "add_remove", tie, _ONE),
    "sampled debug": (SPENT, "add_remove", sampled_debug, _ONE),
    "example record": (SITES, "add_remove", example, _ONE),
    "several tags": (TAGGED, "add_remove", tags_of_records, _NEAR),
    "repeated word": (SAID, "add_remove", repeated_words, ZCDP(rho="1/2")),
    "low threshold": (ZIPS, "add_remove", low_threshold, ApproxDP(epsilon=1, delta="1e-6")),
    "corners": (UNIT, "add_remove", corners, _NEAR),
    "capped by day": (RIDES, "user", capped_by_day, _ONE),
    "half by id": (TAGGED, "add_remove", half_by_id, _ONE),
    "cumulative counts": (GUESTS, "add_remove", cumulative, _ONE),
    "even bins": (SPENT, "add_remove", even_bins, _ONE),
    "two friends": (KNOWN, "add_remove", with_two_friends, _ONE),
    "no integer": (SITES, "add_remove", to_integers, _ONE),
    "nobody with fever": (FEVER, "add_remove", least_fever, _ONE),
    "left before arriving": (NIGHTS, "add_remove", left_before, _ONE),
    "digits by the largest": (SPENT, "add_remove", digits_by_largest, _ONE),
    "unit by the total": (SPENT, "add_remove", unit_by_total, _ONE),
    "one user alone": (RIDES, "add_remove", one_user_alone, _ONE),
    "rounded up": (SPENT, "add_remove", tens, _ONE),
    "at two places": (HOLIDAYS, "add_remove", two_places, _ONE),
    "noise by type": (SITES, "replace_one", noise_by_type, _ONE),
    "halves": (SPENT, "add_remove", halves, _ONE),
    "best site": (SITES, "add_remove", best_site, _ONE),
    "both signs": (CHANGES, "replace_one", both_signs, ApproxDP(epsilon="1/2", delta="1e-5")),
    "replaced in bins": (OPINIONS, "replace_one", replaced_in_bins, ZCDP(rho="1/2")),
    "comma in a name": (SHEET, "add_remove", third_column, _ONE),
}

DATA: Final = dict(random.Random(26).sample(list(_WRITTEN.items()), len(_WRITTEN)))  # noqa: S311 - an order, not a secret
"""Data, adjacency, release and guarantee, in an order that was drawn before the first was tried."""
