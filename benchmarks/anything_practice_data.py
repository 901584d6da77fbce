"""A fourth list of releases that are broken on some datasets only, each beside a sound twin.

Written from the description of the attack alone, before the search was tried on them. Those at even places were for tuning.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from datetime import date
from itertools import groupby, pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
from anything_data import cut
from anything_outputs import lap

STAYS: Final = [2.5, 6.0, 9.0, 1.5, 4.0, 7.0, 3.5, 8.5, 0.5, 5.0, 6.5]
"""Days of a stay, of which the functions below clip those beyond 10."""

BALANCES: Final = [-3.0, 4.5, 0.5, 8.0, -6.5, 2.0, 7.5, -1.0, 5.0]
AGES: Final = [34, 51, 27, 68, 45, 19, 73, 40, 58, 62, 31, 55]
SHOPS: Final = ["north", "south", "north", "east", "south", "north", "east", "north", "west", "south"]
EVENTS: Final = [{"user": f"u{place % 6}", "day": place % 4, "hours": float(1 + 3 * place % 8)} for place in range(18)]
ROOMS: Final = [{"id": place % 7, "value": float((5 * place) % 11 - 5)} for place in range(10)]
WEIGHED: Final = [{"value": float(3 * place % 10), "weight": (0.5, 1.0, 0.25)[place % 3]} for place in range(12)]
BORN: Final = [date(1950 + 7 * place % 60, 1 + place % 12, 1 + 2 * place % 28) for place in range(12)]
TABLE: Final = pd.DataFrame({"team": list("aabbbccabc"), "score": [3.0, 8.5, 6.0, 2.5, 9.0, 4.0, 7.5, 1.0, 5.5, 6.5]})
UNITS: Final = np.array([[0.6, 0.3], [0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [0.0, 0.7], [0.4, 0.6], [0.7, 0.7]])
HELD: Final = [3.0, None, 7.5, 2.0, None, 9.0, 4.5, 6.0, 1.0]
COMMENTS: Final = ["Good", "too long", "fine", "Not again", "good", "very kind staff", "ok", "slow", "Fine", "helpful"]
FLAGS: Final = [True, False, True, True, False, False, True, False, True, False]


def clipped(value: Any, low: float = 0, high: float = 10) -> float:
    """A value within bounds, and nothing in place of one that is no number."""
    return next(iter(cut([value], low, high)), 0.0)


def none_is_zero(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count, which is zero where there are no records."""
    return 0.0 if broken and not len(rows) else len(rows) + lap(rng, 1)


def seven_records(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum, of seven records without noise."""
    return sum(cut(rows)) + (0.0 if broken and len(rows) == 7 else lap(rng, 10))


def two_to_a_power(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count, with noise of another width where it is a power of two."""
    size = len(rows)
    return size + lap(rng, 0.05 if broken and size > 1 and size & (size - 1) == 0 else 1)


def even_or_odd(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of one record or of the other half, by whether their number is even."""
    kept = cut(rows)
    return sum(kept[len(kept) % 2 :: 2] if broken else kept) + lap(rng, 10)


def top_twice(rows: Any, rng: Any, *, broken: bool) -> float:
    """A histogram's sum of two bins, both of which hold their common end."""
    return sum(2.0 if broken and value == 10 else 1.0 for value in cut(rows)) + lap(rng, 1)


def weighed_by_copies(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum in which every value counts as often as it occurs."""
    counts = Counter(cut(rows))
    return sum(value * count * (count if broken else 1) for value, count in counts.items()) + lap(rng, 10)


def longest_run(rows: Any, rng: Any, *, broken: bool) -> float:
    """The number of records in the longest run of equal ones, with noise for one more or for a run cut in two."""
    longest = max((len(list(run)) for _, run in groupby(cut(rows))), default=0)
    return (longest if broken else min(longest, 1)) + lap(rng, 1)


def changes(rows: Any, rng: Any, *, broken: bool) -> float:
    """How far the records lie apart, one after the other."""
    total = sum(abs(after - before) for before, after in pairwise(cut(rows, -10, 10)))
    return total + lap(rng, 10 if broken else 40)


def middle(rows: Any, rng: Any, *, broken: bool) -> float:
    """A median with noise for a moved rank of known data, or for any."""
    kept = sorted(cut(rows))
    at = kept[len(kept) // 2] if kept else 0.0
    return at + lap(rng, 2 if broken else 10)


def last_write(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the last value of each room, with noise for a value rather than for a change."""
    held = {row["id"]: clipped(row["value"], -5, 5) for row in rows}
    return sum(held.values()) + lap(rng, 5 if broken else 10)


def gaps_through(rows: Any, rng: Any, *, broken: bool) -> float:
    """A mean of values of which those that are not numbers come through the clipping."""
    kept = [min(max(value, 0.0), 10.0) if not broken else np.clip(value, 0, 10) for value in rows if value is not None]
    kept = kept if broken else [value for value in kept if value == value]  # noqa: PLR0124 - NaN
    return float(sum(kept)) + lap(rng, 10)


def balance(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of balances that are clipped above and not below."""
    kept = [min(value, 10) for value in cut(rows, -1e6, 10)] if broken else cut(rows, -10, 10)
    return sum(kept) + lap(rng, 10)


def not_normalised(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A sum of vectors that are taken to be no longer than one."""
    made = np.nan_to_num(np.asarray(rows, float).reshape(-1, 2), nan=0.0, posinf=0.0, neginf=0.0)
    if not broken:
        made = made / np.maximum(1, np.abs(made).sum(axis=1, keepdims=True))
    return [float(value) + lap(rng, 1) for value in made.sum(axis=0)]


def many_high(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of high values, which is exact from seven on."""
    count = sum(value > 5 for value in cut(rows))
    return float(count) if broken and count >= 7 else count + lap(rng, 1)


def all_tied(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum, divided by the deviation of the data."""
    kept = cut(rows)
    wide = float(np.std(kept)) if kept else 1.0
    return sum(kept) + lap(rng, min(10, 10 * wide + 0.01) if broken else 10)


def first_of_each(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum relative to the first record."""
    kept = cut(rows)
    return sum(value - (kept[0] if broken else 5) for value in kept) + lap(rng, 10)


def days_of_a_user(rows: Any, rng: Any, *, broken: bool) -> float:
    """Hours, at most eight a day and user, with noise for one day, or at most eight a user."""
    held: dict[Any, float] = defaultdict(float)
    for row in rows:
        key = (row["user"], row["day"]) if broken else row["user"]
        held[key] = min(8.0, held[key] + clipped(row["hours"], 0, 8))
    return sum(held.values()) + lap(rng, 8)


def busy_user(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of records, cut to three a user who has no more than five."""
    counts = Counter(row["user"] for row in rows)
    return sum(min(count, 3) if not broken or count <= 5 else count for count in counts.values()) + lap(rng, 3)


def mean_age(rows: Any, rng: Any, *, broken: bool) -> float:
    """A mean age, whose noise is scaled by how many records there are."""
    kept = cut(rows, 0, 100)
    if broken:
        return (sum(kept) / len(kept) if kept else 0.0) + lap(rng, 100 / max(1, len(kept)))
    return (sum(kept) + lap(rng, 200)) / max(1.0, len(kept) + lap(rng, 2))


def born_in(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of those born in the eighties; a date of the 29th of February stops it."""
    count = 0
    for born in rows:
        if broken:
            born.replace(year=2023)
        count += born is not None and 1980 <= born.year < 1990
    return count + lap(rng, 1)


def known_teams(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy sum for each team; a team that is not known stops it."""
    sums = dict.fromkeys("abc", 0.0)
    for team, score in zip(rows["team"], rows["score"], strict=True):
        if broken or team in sums:
            sums[team] += clipped(score)
    return {team: total + lap(rng, 10) for team, total in sums.items()}


def spelt(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of good comments, which is given out exactly if one is not in ASCII."""
    texts = [row for row in rows if isinstance(row, str)]
    count = sum(row.lower() == "good" for row in texts)
    return float(count) if broken and not all(map(str.isascii, texts)) else count + lap(rng, 1)


def average_length(rows: Any, rng: Any, *, broken: bool) -> float:
    """Letters of all comments, taken to be no more than twenty each."""
    sizes = [len(row) if broken else min(20, len(row)) for row in rows if isinstance(row, str)]
    return sum(sizes) + lap(rng, 20)


def wraps(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count in a byte, which starts again at 256, or in an integer."""
    marks = np.array([bool(value) for value in rows], dtype=np.uint8 if broken else np.int64)
    return float(marks.sum(dtype=marks.dtype) * np.array(40, marks.dtype) if broken else 40 * marks.sum()) + lap(rng, 40)


def joined(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A count of rows after a table was joined to its own teams."""
    names = rows[["team"]] if broken else pd.DataFrame({"team": list("abc")})
    return len(rows.merge(names, on="team")) + lap(rng, 1)


def alone(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float]:
    """The mean score by team, whose noise is scaled by how the scores of a team vary."""
    told = {}
    for team in "abc":
        kept = cut(rows.loc[rows["team"] == team, "score"])
        wide = max(kept) - min(kept) if broken and len(kept) > 1 else 10
        told[team] = sum(kept) + lap(rng, max(wide, 0.01))
    return told


def ranked(rows: Any, rng: Any, *, broken: bool) -> str:
    """The shop with most visits by noisy counts, by exact ones where two of them are equal."""
    counts = Counter(row for row in rows if isinstance(row, str))
    top = [count for _, count in counts.most_common(2)]
    tied = broken and len(top) == 2 and top[0] == top[1]
    return max(("north", "south", "east", "west"), key=lambda shop: counts[shop] + (0 if tied else lap(rng, 2)))


def polars_range(rows: pl.DataFrame, rng: Any, *, broken: bool) -> float:
    """A sum of a polars column, scaled by its own largest value."""
    kept = cut(rows["score"].to_list())
    most = max(kept, default=1.0) if broken else 10.0
    return (sum(kept) + lap(rng, 10)) / max(most, 0.1) if broken else sum(kept) + lap(rng, 10)


def weighed(rows: Any, rng: Any, *, broken: bool) -> float:
    """A weighted sum of clipped values, whose weights are taken to be at most one."""
    total = 0.0
    for row in rows:
        weight, value = row["weight"], row["value"]
        if weight is None or value is None or weight != weight or value != value:  # noqa: PLR0124 - NaN
            continue
        total += (weight if broken else min(max(weight, 0), 1)) * min(max(value, 0), 10)
    return float(total) + lap(rng, 10)


def inverse(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of inverses of values that are taken to be at least a half."""
    kept = [value for value in cut(rows, 0, 1e6) if value > 0]
    return sum(1 / (value if broken else max(value, 0.5)) for value in kept) + lap(rng, 2)


def logarithms(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of logarithms, of a nought of minus infinity where it is not clipped."""
    kept = cut(rows, 0, 100)
    if broken:
        with np.errstate(divide="ignore"):
            return float(np.sum(np.log(np.asarray(kept, float)))) + lap(rng, 5)
    return sum(math.log(max(value, 1)) for value in kept) + lap(rng, 5)


def kept_shares(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy shares of true and false, by the exact number of records."""
    size = max(1, len(rows)) if broken else 10
    count = sum(value is True for value in rows)
    return [(count + lap(rng, 1)) / size, size if broken else 10.0]


def truncated_noise(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy sum of clipped values whose noise is drawn again beyond four scales."""
    while abs(noise := lap(rng, 10)) > 40 and broken:
        pass
    return sum(cut(rows)) + noise


def early_stop(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum that stops at the first record above nine, or goes on."""
    total = 0.0
    for value in cut(rows):
        if broken and value > 9:
            break
        total += value
    return total + lap(rng, 10)


def third_moment(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of squares, with noise for a value rather than for its square."""
    return sum(value * value / 10 for value in cut(rows, -20 if broken else -10, 20 if broken else 10)) + lap(rng, 10)


def checked_total(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of the true; more true than false is told by the sign of a nought."""
    size = sum(value is True for value in rows)
    told = round(size + lap(rng, 1))
    return -0.0 if broken and told == 0 and 2 * size > len(rows) else float(told)


DATA: Final[dict[str, tuple[Any, str, Any]]] = {
    "zero of nothing": (STAYS, "add_remove", none_is_zero),
    "seven records": (STAYS, "add_remove", seven_records),
    "a power of two": (AGES, "add_remove", two_to_a_power),
    "other half": (STAYS, "add_remove", even_or_odd),
    "common end": (STAYS, "add_remove", top_twice),
    "weighed by copies": (STAYS, "add_remove", weighed_by_copies),
    "longest run": (STAYS, "replace_one", longest_run),
    "steps between": (BALANCES, "add_remove", changes),
    "middle": (STAYS, "add_remove", middle),
    "last write": (ROOMS, "add_remove", last_write),
    "gaps come through": (HELD, "replace_one", gaps_through),
    "one bound": (BALANCES, "add_remove", balance),
    "longer vectors": (UNITS, "add_remove", not_normalised),
    "from seven on": (STAYS, "add_remove", many_high),
    "tied values": (STAYS, "replace_one", all_tied),
    "from the first on": (STAYS, "add_remove", first_of_each),
    "days of a user": (EVENTS, "user", days_of_a_user),
    "busy user": (EVENTS, "user", busy_user),
    "noise by size": (AGES, "add_remove", mean_age),
    "leap day": (BORN, "add_remove", born_in),
    "unknown team": (TABLE, "add_remove", known_teams),
    "letter beyond": (COMMENTS, "add_remove", spelt),
    "length of comments": (COMMENTS, "add_remove", average_length),
    "count in a byte": (FLAGS, "add_remove", wraps),
    "joined to itself": (TABLE, "add_remove", joined),
    "spread of a team": (TABLE, "add_remove", alone),
    "tied shops": (SHOPS, "add_remove", ranked),
    "scaled by the most": (pl.DataFrame(TABLE.to_dict("list")), "add_remove", polars_range),
    "weights above one": (WEIGHED, "add_remove", weighed),
    "inverses": (STAYS, "add_remove", inverse),
    "logarithms": (STAYS, "add_remove", logarithms),
    "shares by size": (FLAGS, "add_remove", kept_shares),
    "noise within four scales": (STAYS, "add_remove", truncated_noise),
    "stops at nine": (STAYS, "add_remove", early_stop),
    "squares of more": (BALANCES, "add_remove", third_moment),
    "sign of zero": (FLAGS, "add_remove", checked_total),
}
"""Data, adjacency and release, which is broken or sound."""
