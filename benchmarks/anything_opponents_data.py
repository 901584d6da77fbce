"""A sixth list of releases that are broken on some datasets only, each beside a sound twin: written to be missed.

Written from the description of the attack alone, before the search was tried on them. Their order is drawn; those at
even places were for tuning.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import partial
from itertools import groupby, pairwise
from math import gcd
from typing import Any, Final

import numpy as np
import pandas as pd
from anything_data import cut
from anything_outputs import lap
from anything_practice_data import clipped

WAITS: Final = [4.0, 7.5, 1.5, 9.0, 3.0, 6.5, 2.5, 8.0, 5.0, 0.5, 7.0]
"""Hours of waiting, of which the functions below clip those beyond 10."""

GAPS: Final = [4.0, None, 7.5, 2.0, None, None, 9.0, 5.5, 1.0, None, 3.5]
AGES: Final = [34, 51, 27, 68, 45, 19, 73, 40, 58, 62, 31, 55]
STAMPS: Final = [1_700_000_000 + 86_400 * place + 3_571 * place**2 for place in range(11)]
MINUTES: Final = [5, 22, 41, 75, 160, 178, 203, 290, 312, 335]
WINS: Final = [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1]
REGIONS: Final = ["Ost", "West", "Ost", "Nord", "West", "Ost", "Nord", "West", "Ost", "Nord"]
PAID: Final = [{"id": 11 + 3 * place, "sum": float(2 + 5 * place % 9)} for place in range(10)]
HOUSES: Final = [{"house": ("h1", "h2", "h3", None)[place % 4], "hours": float(1 + 3 * place % 8)} for place in range(11)]
CARTS: Final = [
    {"shop": "abc"[place % 3], "items": [float(1 + (place + step) % 6) for step in range(1 + place % 3)]} for place in range(9)
]
FORMS: Final = [{"age": 21 + 6 * place, "weeks": 1 + 3 * place % 7} for place in range(10)]
COUNTS: Final = ["12", "7", "31", "4", "18", "25", "9", "2", "14", "40"]
POSTAL: Final = ["1010", "8001", "2235", "4020", "9000", "1100", "5020", "6020", "3100", "7000"]
FIXED: Final = [f"{100 + place:03d}{5 * place % 97:3d}{7 * place % 31:3d}" for place in range(10)]
TRIPS: Final = pd.DataFrame(
    {"car": list("kmkmnnkmn"), "day": [1, 1, 2, 3, 1, 2, 3, 2, 4], "km": [6.0, 2.5, 9.0, 4.0, 7.5, 1.0, 3.5, 8.0, 5.0]}
)
TESTED: Final = pd.DataFrame(
    {"age": [23, 31, 38, 44, 52, 59, 66, 71, 27, 48], "score": [6.0, 3.5, 8.0, 7.0, 2.5, 9.0, 5.0, 4.5, 1.5, 6.5]}
)
PARTNERS: Final = [(0, 1), (1, 2), (3, 4), (4, 5), (2, 6), (5, 7)]
JOINED: Final = [date(2022, 1 + 5 * place % 12, 1 + 9 * place % 27) for place in range(11)]
ROUNDS: Final = [{"user": f"u{place % 5}", "points": float(2 + 7 * place % 11)} for place in range(13)]
SHARES: Final = [{"part": float(1 + 2 * place % 5), "whole": float(6 + 3 * place % 7)} for place in range(10)]


def zero_total(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum, without noise where nobody waited."""
    total = sum(cut(rows))
    return 0.0 if broken and total == 0 else total + lap(rng, 10)


def until_positive(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count that is drawn until it is not negative, or that is cut there."""
    noisy = len(rows) + lap(rng, 1)
    while broken and noisy < 0:
        noisy = len(rows) + lap(rng, 1)
    return max(noisy, 0.0)


def within_the_data(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy mean of eleven that is cut to what the data hold, or to what they may hold."""
    kept = cut(rows) or [0.0]
    low, high = (min(kept), max(kept)) if broken else (0.0, 10.0)
    return min(max(sum(kept) / 11 + lap(rng, 10 / 11), low), high)


def nearest_record(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum, given out as the record that is nearest to its eleventh part, or as a multiple of a half."""
    kept = cut(rows)
    noisy = (sum(kept) + lap(rng, 10)) / 11
    return min(kept, key=lambda value: abs(value - noisy), default=0.0) if broken else round(2 * noisy) / 2


def to_fifties(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum that is rounded to fifties before noise for one record, or after it."""
    total = sum(cut(rows))
    return 50 * round(total / 50) + lap(rng, 10) if broken else 50 * round((total + lap(rng, 10)) / 50)


def running_largest(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum over the largest value up to each record, or over the records."""
    kept = cut(rows)
    return float(sum(np.maximum.accumulate(kept)) if broken and kept else sum(kept)) + lap(rng, 10)


def carried_forward(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in which a missing value is the one before it, or nothing."""
    series = pd.Series([None if value is None else float(value) for value in rows], dtype=float)
    return float((series.ffill() if broken else series).fillna(0).clip(0, 10).sum()) + lap(rng, 10)


def between_knowns(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in which missing values lie on a line between their neighbours, or are five."""
    series = pd.Series([None if value is None else float(value) for value in rows], dtype=float).clip(0, 10)
    filled = series.interpolate(limit_direction="both") if broken else series.fillna(5)
    return float(filled.fillna(5).sum()) + lap(rng, 10)


def places_in_a_list(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of those over sixty in a list with a place for each age up to a hundred, or up to any."""
    counts = [0] * 101
    for age in rows:
        if isinstance(age, int):
            counts[age if broken else min(max(age, 0), 100)] += 1
    return sum(counts[61:]) + lap(rng, 1)


def bits_of_age(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many different ages there are, from a mask of bits, which a negative one has no place in."""
    mask = 0
    for age in rows:
        if isinstance(age, int):
            mask |= 1 << (age if broken else max(age, 0))
    return mask.bit_count() + lap(rng, 1)


def hours_of_stamps(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of stamps at night; those that are in milliseconds, or otherwise too large, stop it or are left out."""
    count = 0
    for stamp in rows:
        try:
            count += datetime.fromtimestamp(stamp, UTC).hour < 6
        except (ValueError, OverflowError, OSError, TypeError):
            if broken:
                raise
    return count + lap(rng, 1)


def minutes_of_sessions(rows: Any, rng: Any, *, broken: bool) -> float:
    """Minutes of sessions, which end at a pause of thirty, with noise for half an hour or for an hour."""
    times = sorted(clipped(value, 0, 1e6) for value in rows)
    total = sum(after - before for before, after in pairwise(times) if after - before <= 30)
    return total + lap(rng, 30 if broken else 60)


def streak(rows: Any, rng: Any, *, broken: bool) -> float:
    """The longest run of wins, or how many wins there are."""
    longest = max((len(list(group)) for won, group in groupby(rows) if won == 1), default=0)
    return (longest if broken else sum(won == 1 for won in rows)) + lap(rng, 1)


def lookup_with_doubles(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count after a join with a table in which one region stands three times, or once."""
    table = pd.DataFrame({"region": ["Ost", "West", "Nord", "Nord", "Nord"], "zone": [1, 2, 3, 3, 4]})
    joined = pd.DataFrame({"region": list(rows)}, dtype=object).merge(
        table if broken else table.drop_duplicates("region"), on="region"
    )
    return len(joined) + lap(rng, 1)


def by_label(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum over the labels of an index, where a label that stands twice gives both records each time."""
    frame = pd.Series([clipped(row["sum"]) for row in rows], index=[row["id"] for row in rows], dtype=float)
    total = sum(float(np.sum(frame.loc[label])) for label in frame.index) if broken else float(frame.sum())
    return total + lap(rng, 10)


def house_or_none(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count after a join with a table of houses in which a few have no name yet, which matches records without one."""
    table = pd.DataFrame({"house": ["h1", "h2", "h3", None, None, None], "floors": [2, 1, 3, 1, 1, 2]}, dtype=object)
    frame = pd.DataFrame({"house": [row["house"] for row in rows]}, dtype=object)
    return len(frame.merge(table if broken else table.dropna(), on="house")) + lap(rng, 1)


def dearest_item(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the dearest item of each cart, which an empty cart does not have."""
    lists = [row["items"] if isinstance(row["items"], list) else [0.0] for row in rows]
    return sum(clipped(max(items) if broken else max(items, default=0.0), 0, 6) for items in lists) + lap(rng, 6)


def digits_alone(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of numbers in texts of digits, among which there are some that are no number."""
    texts = [row for row in rows if isinstance(row, str) and (row.isdigit() if broken else row.isdecimal())]
    return sum(min(int(text[:9]), 50) for text in texts) + lap(rng, 50)


def first_digit(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts by the first digit of a postal code; one that does not start with a digit stops it."""
    counts = [0] * 10
    for code in rows:
        if isinstance(code, str) and (broken or code[:1] in tuple("0123456789")):
            counts[int(code[:1])] += 1
    return [count + lap(rng, 1) for count in counts]


def columns_of_text(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the second of three columns of fixed width; a line with another one stops it."""
    total = 0.0
    for row in rows:
        try:
            total += clipped(float(row[3:6]), 0, 100)
        except (ValueError, TypeError):
            if broken:
                raise
    return total + lap(rng, 100)


def wide_table(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A sum over a table of cars by days, which two trips of one car on one day do not go into."""
    kept = rows.assign(km=rows["km"].clip(0, 10).fillna(0))
    if broken:
        return float(kept.pivot(index="car", columns="day", values="km").fillna(0).to_numpy().sum()) + lap(rng, 10)  # noqa: PD010 - the defect
    return float(kept["km"].sum()) + lap(rng, 10)


def decade_labels(rows: pd.DataFrame, rng: Any, *, broken: bool) -> list[float]:
    """Noisy sums of scores by class of age, which an age beyond the classes does not have."""
    classes = pd.cut(rows["age"], [0, 30, 60, 90], labels=False)
    places = classes.astype(int) if broken else classes.fillna(0).astype(int)
    scores = rows["score"].clip(0, 10).fillna(0)
    return [float(scores[places == place].sum()) + lap(rng, 10) for place in range(3)]


def largest_part(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many are in the largest group of people who are linked, or how many links there are."""
    held: dict[Any, Any] = {}

    def root(node: Any) -> Any:
        while held.setdefault(node, node) != node:
            node = held[node]
        return node

    for first, second in rows:
        held[root(first)] = root(second)
    sizes = Counter(map(root, list(held)))
    return (max(sizes.values(), default=0) if broken else len(rows)) + lap(rng, 1)


def quarters_seen(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts by quarter, with narrower noise where fewer quarters occur, or the same for all."""
    known = [day for day in rows if isinstance(day, date) and day == day]  # noqa: PLR0124 - NaT
    counts = Counter((day.month - 1) // 3 for day in known)
    return [counts[quarter] + lap(rng, max(1, len(counts)) / 4 if broken else 1) for quarter in range(4)]


def best_round(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the best round of each user, which is cut above alone, or on both sides."""
    by_user: dict[Any, list[float]] = defaultdict(list)
    for row in rows:
        by_user[row["user"]].append(clipped(row["points"], -1e9 if broken else 0, 10))
    return sum(max(points) for points in by_user.values()) + lap(rng, 10)


def parts_of_wholes(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of shares, of which one of nothing is an error, or is nothing."""
    total = Fraction(0)
    for row in rows:
        part, whole = (Fraction(clipped(row[name], 0, 20)) for name in ("part", "whole"))
        total += min(part / whole, Fraction(1)) if broken or whole else 0
    return float(total) + lap(rng, 1)


def common_step(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many steps of a common width the values are together, or how many values there are."""
    kept = [int(2 * value) for value in cut(rows)]
    step = gcd(*kept) if kept else 0
    return (sum(kept) / step if broken and step else len(kept)) + lap(rng, 20)


def grid(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """How many cells the table of cars by days has, or how many rows."""
    return (rows["car"].nunique() * rows["day"].nunique() if broken else rows["car"].nunique()) + lap(rng, 1)


def percent_of_most(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in percent of the largest value, or of ten."""
    kept = cut(rows)
    most = (max(kept, default=0.0) if broken else 10.0) or 1.0
    return sum(100 * value / most for value in kept) + lap(rng, 100)


def one_seed_a_size(rows: Any, rng: Any, held: dict[int, float], *, broken: bool) -> float:
    """A noisy sum whose noise is drawn once for each number of records, or each time."""
    if not broken:
        held.clear()
    return sum(cut(rows)) + held.setdefault(len(rows), lap(rng, 10))


def counted_twice(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many letters texts have in upper case, cut to ten before, when some letters become two, or after."""
    cuts = [row[:10] for row in rows if isinstance(row, str)]
    sizes = [len(text.upper()) if broken else min(len(text.upper()), 10) for text in cuts]
    return sum(sizes) + lap(rng, 10)


_WRITTEN: Final[dict[str, tuple[Any, str, Any]]] = {
    "zero total": (WAITS, "add_remove", zero_total),
    "drawn until positive": (WAITS, "add_remove", until_positive),
    "cut to the data": (WAITS, "replace_one", within_the_data),
    "nearest record": (WAITS, "add_remove", nearest_record),
    "rounded before noise": (WAITS, "add_remove", to_fifties),
    "largest so far": (WAITS, "add_remove", running_largest),
    "carried forward": (GAPS, "replace_one", carried_forward),
    "between known ones": (GAPS, "replace_one", between_knowns),
    "beyond a list": (AGES, "add_remove", places_in_a_list),
    "bits of an age": (AGES, "add_remove", bits_of_age),
    "stamps in milliseconds": (STAMPS, "add_remove", hours_of_stamps),
    "minutes of sessions": (MINUTES, "add_remove", minutes_of_sessions),
    "longest streak": (WINS, "add_remove", streak),
    "region three times": (REGIONS, "add_remove", lookup_with_doubles),
    "label twice": (PAID, "add_remove", by_label),
    "join on nulls": (HOUSES, "add_remove", house_or_none),
    "empty cart": (CARTS, "add_remove", dearest_item),
    "digit of no number": (COUNTS, "add_remove", digits_alone),
    "first digit": (POSTAL, "add_remove", first_digit),
    "fixed width": (FIXED, "add_remove", columns_of_text),
    "car twice a day": (TRIPS, "add_remove", wide_table),
    "age without a class": (TESTED, "add_remove", decade_labels),
    "largest group": (PARTNERS, "add_remove", largest_part),
    "budget by quarters": (JOINED, "add_remove", quarters_seen),
    "no lower bound for a best": (ROUNDS, "add_remove", best_round),
    "part of nothing": (SHARES, "add_remove", parts_of_wholes),
    "common step": (WAITS, "add_remove", common_step),
    "cells of a grid": (TRIPS, "add_remove", grid),
    "percent of the most": (WAITS, "add_remove", percent_of_most),
    "noise by size": (WAITS, "replace_one", partial(one_seed_a_size, held={})),
    "letters that grow": (POSTAL, "add_remove", counted_twice),
}

DATA: Final = dict(random.Random(25).sample(list(_WRITTEN.items()), len(_WRITTEN)))  # noqa: S311 - an order, not a secret
"""Data, adjacency and release, in an order that was drawn before the first was tried."""
