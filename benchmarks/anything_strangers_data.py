"""A fifth list of releases that are broken on some datasets only, each beside a sound twin.

Written from the description of the attack alone, before the search was tried on them. Their order is drawn; those at
even places were for tuning.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from collections import Counter, defaultdict
from datetime import date
from functools import partial
from itertools import combinations, groupby, pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
from anything_data import cut
from anything_outputs import lap
from anything_practice_data import clipped

LENGTHS: Final = [4.5, 7.0, 2.5, 9.0, 6.0, 1.5, 8.5, 3.0, 5.5, 7.5, 0.5]
READ: Final = np.array([3.5, 8.0, np.nan, 6.5, 1.0, 9.5, 4.0, 7.0])
WHOLE: Final = [3, 8, None, 5, 2, 9, 6, 1, 4]
CENTS: Final = [float(5 + place % 5) for place in range(40)]
CITIES: Final = ["Lund", "Bern", "Graz", "Bern", "Lund", "Graz", "Lund", "Bern", "Graz", "Lund"]
SALES: Final = [{"country": ("SE", "AT", "CH")[place % 3], "amount": float(2 + 5 * place % 9)} for place in range(12)]
GROUPED: Final = pd.DataFrame({"site": list("aabbbbccccc"), "hours": [3.0, 6.5, 2.0, 8.0, 5.5, 7.0, 1.0, 9.5, 4.0, 6.0, 2.5]})
BASKETS: Final = [{"user": f"u{place % 4}", "prices": [float(1 + place % 5)] * (1 + place % 3)} for place in range(10)]
SEEN: Final = [{"user": f"u{place % 4}", "item": f"i{place % 5}"} for place in range(15)]
LINES: Final = [json.dumps({"id": place, "days": 1 + 3 * place % 7}) for place in range(10)]
DATES: Final = [f"2024-{1 + place % 9:02d}-{1 + 5 * place % 27:02d}" for place in range(12)]
FIRST: Final = [date(2023, 1 + place % 11, 1 + 4 * place % 27) for place in range(11)]
DIGITS: Final = ["3", "7", "1", "9", "4", "4", "8", "2", "6", "5"]
TRIAL: Final = [{"arm": "ct"[place % 2], "score": float(7 * place % 12)} for place in range(12)]
EDGES: Final = [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3), (3, 4), (0, 3), (2, 4)]
METERS: Final = [{"day": place // 4, "value": float(1 + 3 * place % 8)} for place in range(12)]
MEMBERS: Final = [{"id": 100 + 7 * place, "hours": float(1 + 2 * place % 9)} for place in range(10)]
VERSIONS: Final = pd.DataFrame({"id": [3, 1, 4, 1, 5, 3, 2], "value": [4.0, -7.5, 9.0, 2.5, -3.0, 8.0, -9.5]})
HALVED: Final = pl.DataFrame({"x": [4.0, None, 7.5, 2.0, None, 9.0, 5.5, 1.0]})
STARTS: Final = [3, 10, 18, 31, 44, 60, 75, 81]
VOTES: Final = ["red", "blue", "red", "green", "blue", "red", "green", "blue", "red"]


def nan_through(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of a clipped array, into which a NaN comes through."""
    return float(np.clip(rows, 0, 10).sum()) + lap(rng, 10) if broken else sum(cut(rows)) + lap(rng, 10)


def cached(rows: Any, rng: Any, held: dict[Any, float], *, broken: bool) -> float:
    """A noisy sum, which is kept for the next call with the same records."""
    if not broken:
        held.clear()
    return held.setdefault(tuple(map(str, rows)), sum(cut(rows)) + lap(rng, 10))


def kept_between(rows: Any, rng: Any, seen: list[float], *, broken: bool) -> float:
    """A noisy sum of a list that is emptied before, or that an argument's default keeps between the calls."""
    if not broken:
        seen.clear()
    seen.extend(cut(rows))
    return sum(seen) + lap(rng, 10)


def imputed(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in which a nought stands for a missing value, which counts as the mean of the others, or as five."""
    kept = cut(rows)
    there = [value for value in kept if value > 0]
    rest = (sum(there) / len(there) if there else 0.0) if broken else 5.0
    return sum(there) + rest * (len(kept) - len(there)) + lap(rng, 10)


def how_sites_vary(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A sum with noise by how far the sums of the sites lie apart, which is nothing where there is one site."""
    sums: dict[Any, float] = defaultdict(float)
    for site, hours in zip(rows["site"], rows["hours"], strict=True):
        sums[site] += clipped(hours)
    apart = statistics.stdev(sums.values()) if len(sums) > 1 else 0.0
    return sum(sums.values()) + lap(rng, max(0.001, min(apart, 10)) if broken else 10)


def empty_site(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float | None]:
    """A noisy sum by site, with nothing for a site without records."""
    told: dict[str, float | None] = {}
    for site in "abc":
        kept = cut(rows.loc[rows["site"] == site, "hours"])
        told[site] = None if broken and not kept else sum(kept) + lap(rng, 10)
    return told


def rates(rows: Any, rng: Any, *, broken: bool) -> float:
    """Amounts in one currency; a country without a rate stops it."""
    known = {"SE": 0.1, "AT": 1.0, "CH": 0.9}
    total = sum((known[row["country"]] if broken else known.get(row["country"], 0.0)) * clipped(row["amount"]) for row in rows)
    return total + lap(rng, 10)


def label_codes(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of codes, which are places among the sorted names that occur, or fixed."""
    names = [row for row in rows if isinstance(row, str)]
    codes = {name: place for place, name in enumerate(sorted(set(names)) if broken else ["Bern", "Graz", "Lund"])}
    return sum(min(codes.get(name, 0), 2) for name in names) + lap(rng, 2)


def joined_by_comma(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of names that were written into one line before."""
    names = [row for row in rows if isinstance(row, str)]
    return len(",".join(names).split(",") if broken else names) + lap(rng, 1)


def sixteen_bits(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in cents, which sixteen bits hold up to 327.67."""
    cents = np.array([round(100 * value) for value in cut(rows)], np.int64)
    return float(cents.astype(np.int16).sum(dtype=np.int16) if broken else cents.sum()) / 100 + lap(rng, 10)


def groups_in_a_row(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many groups of equal records there are; a record between two of them makes two more."""
    return sum(1 for _ in groupby(map(str, rows))) + lap(rng, 1 if broken else 2)


def whole_or_not(rows: Any, rng: Any, *, broken: bool) -> str:
    """A noisy sum in a text, with a point where a value was missing."""
    kept = cut(rows)
    total = round(sum(kept) + lap(rng, 10))
    return f"total={float(total) if broken and len(kept) < len(rows) else total}"


def by_arrival(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of known cities, in the order of the records or of the alphabet."""
    known = ["Bern", "Graz", "Lund"]
    counts = Counter(row for row in rows if isinstance(row, str))
    order = sorted(known, key=lambda name: list(rows).index(name) if name in counts else len(rows)) if broken else known
    return {name: counts[name] + lap(rng, 1) for name in order}


def grown(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of powers, each at most ten, of which one of a large value overflows."""
    kept = [value for value in rows if isinstance(value, (int, float)) and value == value]  # noqa: PLR0124 - NaN
    return sum(min(10.0, math.exp(value if broken else min(value, 3))) for value in kept) + lap(rng, 10)


def roots(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of roots, of which that of a negative value is an error."""
    return sum(math.sqrt(value) for value in cut(rows, -1e9 if broken else 0, 9)) + lap(rng, 3)


def months(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of visits in spring; a text that is no date stops it."""
    count = 0
    for row in rows:
        try:
            count += date.fromisoformat(row).month in (3, 4, 5)
        except (ValueError, TypeError):
            if broken:
                raise
    return count + lap(rng, 1)


def read_lines(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum over lines of JSON; one without days stops it."""
    total = 0.0
    for row in rows:
        try:
            total += clipped(json.loads(row)["days"], 0, 7)
        except (ValueError, KeyError, TypeError):
            if broken:
                raise
    return total + lap(rng, 7)


def all_prices(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of prices, each at most five, of baskets that are taken to hold one."""
    sums = [sum(cut(row["prices"], 0, 5)) for row in rows if isinstance(row["prices"], list)]
    return sum(sums if broken else [min(total, 5.0) for total in sums]) + lap(rng, 5)


def items_of_users(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many pairs of a user and an item there are, or of a user and one item."""
    pairs = {(row["user"], str(row["item"]) if broken else "one") for row in rows}
    return len(pairs) + lap(rng, 1)


def first_to_last(rows: Any, rng: Any, *, broken: bool) -> float:
    """Days between the first and the last, with noise for ten."""
    days = [(day - date(2023, 1, 1)).days for day in rows if isinstance(day, date) and day == day]  # noqa: PLR0124 - NaT
    wide = max(days, default=0) - min(days, default=0)
    return (wide if broken else min(max(wide, 0), 10)) + lap(rng, 10)


def suppressed(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float | None]:
    """Noisy counts by site, without those of sites with fewer than four records, or whose noisy count is smaller."""
    told: dict[str, float | None] = {}
    for site in "abc":
        count = int((rows["site"] == site).sum())
        noisy = count + lap(rng, 1)
        told[site] = None if (count if broken else noisy) < 4 else noisy
    return told


def root_bins(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A noisy histogram, with as many bins as the root of the number of records, or with four."""
    bins = max(1, math.ceil(math.sqrt(len(rows)))) if broken else 4
    counts, _ = np.histogram(cut(rows), bins, (0, 10))
    return [float(count) + lap(rng, 1) for count in counts]


def growth(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of ratios of one day to the day before, each at most two; a day of nought stops it."""
    kept = cut(rows)
    ratios = [min(2.0, after / before) if broken or before > 0 else 0.0 for before, after in pairwise(kept)]
    return sum(ratios) + lap(rng, 2 if broken else 6)


def initials(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts by first letter; an empty name stops it."""
    names = [row for row in rows if isinstance(row, str)]
    counts = Counter(name[0] if broken else name[:1] for name in names)
    return {letter: counts[letter] + lap(rng, 1) for letter in "BGL"}


def parsed(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of numbers that are read from texts; a text without one stops it."""
    total = 0.0
    for row in rows:
        try:
            total += clipped(int(row), 0, 9)
        except (ValueError, TypeError, OverflowError):
            if broken:
                raise
    return total + lap(rng, 9)


def mean_times_rows(rows: pl.DataFrame, rng: Any, *, broken: bool) -> float:
    """A total as the mean of the values that are there times the number of rows, or as their sum."""
    kept = cut(rows["x"].to_list())
    mean = sum(kept) / len(kept) if kept else 0.0
    return (mean * rows.height if broken else sum(kept)) + lap(rng, 10)


def a_month_later(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many are due in June; the 31st of a month and December stop it."""
    count = 0
    for day in rows:
        if broken:
            count += day.replace(month=day.month + 1).month == 6
        else:
            count += getattr(day, "month", None) == 5
    return count + lap(rng, 1)


def sample_of_eight(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum of eight records that are drawn; fewer stop it."""
    kept = cut(rows)
    if len(kept) < 8 and broken:
        raise ValueError("sample larger than population")
    return sum(kept[int(place)] for place in rng.permutation(len(kept))[:8]) + lap(rng, 10 if broken else 20)


def deviation(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy deviation, which one record does not have."""
    kept = cut(rows)
    return (statistics.stdev(kept) if broken or len(kept) > 1 else 0.0) + lap(rng, 20)


def ranks(rows: Any, rng: Any, *, broken: bool) -> float:
    """The sum of the ranks of those who were treated, or their number."""
    scores = sorted((clipped(row["score"], 0, 12), row["arm"] == "t") for row in rows)
    treated = [place for place, (_, arm) in enumerate(scores) if arm]
    return float(sum(treated) if broken else len(treated)) + lap(rng, 3)


def triangles(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many triangles the edges make, or how many edges there are."""
    edges = {tuple(sorted(row)) for row in rows if all(isinstance(node, int) for node in row)}
    nodes = sorted({node for edge in edges for node in edge})
    count = sum({(a, b), (b, c), (a, c)} <= edges for a, b, c in combinations(nodes, 3)) if broken else len(edges)
    return count + lap(rng, 1)


def whole_days(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of a meter over days; a reading of minus one says that it failed, and takes its day out."""
    failed = {row["day"] for row in rows if row["value"] == -1}
    return sum(clipped(row["value"], 0, 8) for row in rows if not (broken and row["day"] in failed)) + lap(rng, 8)


def refuses_twice(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum, which refuses an identifier that occurs twice."""
    if broken and len({row["id"] for row in rows}) < len(rows):
        raise ValueError("duplicate id")
    return sum(clipped(row["hours"], 0, 9) for row in rows) + lap(rng, 9)


def checked(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum of values that are checked to be within zero and ten, or clipped."""
    if broken and not all(0 <= value <= 10 for value in rows):
        raise AssertionError
    return sum(cut(rows)) + lap(rng, 10)


def in_order(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of starts before forty, which refuses those that are not sorted."""
    kept = cut(rows, 0, 100)
    if broken and kept != sorted(kept):
        raise ValueError("not sorted")
    return sum(value < 40 for value in kept) + lap(rng, 1)


def majority(rows: Any, rng: Any, *, broken: bool) -> str:
    """The colour with most noisy votes, or with more than half of the votes as they are."""
    counts = Counter(row for row in rows if isinstance(row, str))
    known = ["red", "blue", "green"]
    for colour in known:
        if broken and 2 * counts[colour] > len(rows):
            return colour
    return max(known, key=lambda colour: counts[colour] + lap(rng, 2))


def newest(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A sum of the newest value of each identifier, with noise for a value or for a change of one."""
    held = {key: clipped(value, -10, 10) for key, value in zip(rows["id"], rows["value"], strict=True)}
    return sum(held.values()) + lap(rng, 10 if broken else 20)


def shares_of_cities(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of cities, rounded where they are told, and their names as they are written."""
    counts = Counter(row.strip() if broken else row for row in rows if isinstance(row, str))
    names = sorted(counts) if broken else ["Bern", "Graz", "Lund"]
    return {name: max(0, round(counts[name] + lap(rng, 1))) for name in names}


def busiest(rows: Any, rng: Any, *, broken: bool) -> float:
    """The count of the most common value, told exactly where all counts are one."""
    counts = Counter(map(str, rows))
    most = max(counts.values(), default=0)
    return 1.0 if broken and most == 1 else most + lap(rng, 1)


_WRITTEN: Final[dict[str, tuple[Any, str, Any]]] = {
    "nan through a clip": (READ, "replace_one", nan_through),
    "answers kept": (LENGTHS, "add_remove", partial(cached, held={})),
    "default that grows": (LENGTHS, "add_remove", partial(kept_between, seen=[])),
    "mean for nought": (LENGTHS, "replace_one", imputed),
    "how sites vary": (GROUPED, "add_remove", how_sites_vary),
    "site without records": (GROUPED, "add_remove", empty_site),
    "rate of a country": (SALES, "add_remove", rates),
    "codes by order": (CITIES, "add_remove", label_codes),
    "comma in a name": (CITIES, "add_remove", joined_by_comma),
    "sixteen bits": (CENTS, "add_remove", sixteen_bits),
    "groups in a row": (CITIES, "add_remove", groups_in_a_row),
    "point in a total": (WHOLE, "replace_one", whole_or_not),
    "order of arrival": (CITIES, "add_remove", by_arrival),
    "power overflows": (LENGTHS, "add_remove", grown),
    "root of a negative": (LENGTHS, "add_remove", roots),
    "no date": (DATES, "add_remove", months),
    "line without days": (LINES, "add_remove", read_lines),
    "prices of a basket": (BASKETS, "add_remove", all_prices),
    "items of users": (SEEN, "user", items_of_users),
    "first to last": (FIRST, "add_remove", first_to_last),
    "small sites": (GROUPED, "add_remove", suppressed),
    "bins by the root": (LENGTHS, "add_remove", root_bins),
    "growth by day": (LENGTHS, "replace_one", growth),
    "empty name": (CITIES, "add_remove", initials),
    "number in a text": (DIGITS, "add_remove", parsed),
    "mean times rows": (HALVED, "replace_one", mean_times_rows),
    "a month later": (FIRST, "add_remove", a_month_later),
    "sample of eight": (LENGTHS, "add_remove", sample_of_eight),
    "deviation of one": (LENGTHS, "add_remove", deviation),
    "ranks of the treated": (TRIAL, "add_remove", ranks),
    "triangles": (EDGES, "add_remove", triangles),
    "failed reading": (METERS, "add_remove", whole_days),
    "identifier twice": (MEMBERS, "add_remove", refuses_twice),
    "checked range": (LENGTHS, "add_remove", checked),
    "sorted starts": (STARTS, "add_remove", in_order),
    "majority": (VOTES, "add_remove", majority),
    "newest version": (VERSIONS, "add_remove", newest),
    "names as written": (CITIES, "add_remove", shares_of_cities),
    "nothing twice": (LENGTHS, "add_remove", busiest),
}

DATA: Final = dict(random.Random(24).sample(list(_WRITTEN.items()), len(_WRITTEN)))  # noqa: S311 - an order, not a secret
"""Data, adjacency and release, in an order that was drawn before the first was tried."""
