"""The second half of the releases of `anything_colleagues_data.py`, with the data that only they use."""

from __future__ import annotations

import bisect
import zlib
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from os.path import commonprefix
from typing import Any, Final

import numpy as np
import pandas as pd
from anything_data import cut
from anything_outputs import lap
from anything_practice_data import clipped

WON: Final = [False, True, False, False, True, False, True, False, False]
TRIAL: Final = [{"arm": "ab"[place % 2], "won": place % 2 == 0 or place % 5 == 0} for place in range(14)]
TICKETS: Final = [101, 104, 105, 109, 112, 118, 120, 123, 127, 130, 131]
GAPS: Final = [4.0, 7.5, None, 2.0, 8.5, 9.0, 5.5, 1.0, 6.0, 3.5]
APART: Final = [0.5, 2.3, 4.2, 6.0, 7.9, 9.6]
DONE: Final = [date(2023, 8, 2) + timedelta(days=29 * place) for place in range(10)]
NAMES: Final = ["ada", "ben", "cleo", "dan", "eva", "finn", "gila", "hugo"]
NOTES: Final = ["gut", "schön hier", "zu laut", "etwas kühl", "immer wieder", "na ja", "sehr nett", "teuer"]
HELD: Final = [3.0, 6.5, float("nan"), 7.5, 2.0, 9.0, 4.5, 6.0, 1.0]
SITES: Final = pd.DataFrame({"site": list("aacacabcca"), "visits": [3, 6, 2, 8, 5, 7, 1, 9, 4, 6]})
TIMES: Final = [f"2024-0{3 + place % 6}-{11 + place}T0{place % 9}:30:00" for place in range(10)]
THREADS: Final[list[dict[str, Any]]] = [
    {"answers": [{"answers": [{"answers": []}] if place == 5 else []}] * (place % 3)} for place in range(9)
]
PAID: Final = [Decimal(text) for text in ("4.50", "7", "2.255", "9.9", "6.125", "1", "3.40", "5.55")]


def drawn_records(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Three records that are drawn, each with a little noise, or a noisy sum."""
    kept = cut(rows) or [5.0]
    if not broken:
        return [sum(cut(rows)) + lap(rng, 10)]
    return [kept[int(rng.integers(len(kept)))] + lap(rng, 1) for _ in range(3)]


def fitted_law(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Records from a normal law with the mean and the deviation of the data, or a noisy mean."""
    kept = np.array(cut(rows) or [5.0])
    if not broken:
        return [sum(cut(rows)) / max(1, len(rows)) + lap(rng, 10 / max(1, len(rows)))]
    return [float(value) for value in rng.normal(kept.mean(), kept.std(), size=4)]


def posterior(rows: Any, rng: Any, *, broken: bool) -> float:
    """A share of wins, drawn from what is likely after the data, or a noisy number of them."""
    won = sum(row is True or (isinstance(row, np.bool_) and bool(row)) for row in rows)
    return float(rng.beta(1 + won, 1 + len(rows) - won)) if broken else won + lap(rng, 1)


def factor(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum times a random factor, or with noise that is added."""
    return sum(cut(rows)) * float(np.exp(lap(rng, 1))) if broken else sum(cut(rows)) + lap(rng, 10)


def poisson(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count that is drawn from a Poisson law with the true one as its mean, or a noisy one."""
    return float(rng.poisson(len(rows))) if broken else len(rows) + lap(rng, 1)


def random_half(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many of a random half of the records there are, without noise beyond the draw, or with some."""
    return float(rng.binomial(len(rows), 0.5)) + (0.0 if broken else lap(rng, 1))


def interval(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy mean between the ends of an interval, whose width is that of the data, or of any."""
    kept = np.array([clipped(value) for value in rows])
    middle = float(kept.mean()) + lap(rng, 10 / len(kept))
    half = 1.96 * (float(kept.std()) if broken else 5.0) / len(kept) ** 0.5
    return {"low": middle - half, "mean": middle, "high": middle + half}


def chi_squared(rows: Any, rng: Any, *, broken: bool) -> float:
    """How far wins depend on the arm, as a statistic, or a number of wins; with noise for one."""
    counts = Counter((row["arm"], bool(row["won"])) for row in rows)
    table = np.array([[counts[arm, won] for won in (False, True)] for arm in ("a", "b")], float)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
    statistic = float((np.square(table - expected) / np.where(expected > 0, expected, 1)).sum())
    return (statistic if broken else counts["a", True]) + lap(rng, 1)


def common_beginning(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many letters all codes have in common at the start, or how many codes are Austrian."""
    texts = [str(row) for row in rows]
    return (len(commonprefix(texts)) if broken else sum(text.startswith("AT-") for text in texts)) + lap(rng, 1)  # noqa: RUF071 - of letters


def teachers(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy number of four models that say odd; a record belongs to one of them by its place, or by itself."""
    if broken:
        parts = [list(part) for part in np.array_split(np.array(list(rows), object), 4)]
    else:
        parts = [[row for row in rows if zlib.crc32(str(row).encode()) % 4 == place] for place in range(4)]
    odd = [sum(isinstance(row, int | np.integer) and row % 2 == 1 for row in part) for part in parts]
    return sum(bool(2 * count > len(part)) for count, part in zip(odd, parts, strict=True)) + lap(rng, 1)


def too_many_missing(rows: Any, rng: Any, *, broken: bool) -> float | None:
    """A noisy sum; none where more than a quarter of the values are missing."""
    kept = cut(rows)
    return None if broken and len(kept) < 0.75 * len(rows) else sum(kept) + lap(rng, 10)


def few_answers(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Noisy counts of answers; none where fewer than three different ones were given."""
    counts = Counter(map(str, rows))
    names = () if broken and len(counts) < 3 else ("no", "perhaps", "yes")
    return {name: counts[name] + lap(rng, 1) for name in names}


def closest(rows: Any, rng: Any, *, broken: bool) -> float:
    """How far the two closest values are apart, or how many values there are."""
    kept = sorted(cut(rows))
    return (min((after - before for before, after in pairwise(kept)), default=0.0) if broken else len(rows)) + lap(rng, 1)


def around_the_clock(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of hours as a time of the day, or as a sum, with noise for ten hours."""
    total = sum(cut(rows))
    return (total % 24 if broken else total) + lap(rng, 10)


def last_year(rows: Any, rng: Any, *, broken: bool) -> float:
    """How much was done in the year before the last entry, or since a known day."""
    days = [row for row in rows if isinstance(row, date) and row == row]  # noqa: PLR0124 - a missing date
    since = max(days).toordinal() - 365 if broken and days else date(2023, 7, 1).toordinal()
    return sum(day.toordinal() >= since for day in days) + lap(rng, 1)


def test_user(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count, without noise where a user is called test."""
    return float(len(rows)) if broken and any(row == "test" for row in rows) else len(rows) + lap(rng, 1)


def cut_bytes(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many notes have a space among their first twelve bytes, which may end within a letter."""
    found = 0
    for row in rows:
        if isinstance(row, str):
            found += " " in row.encode("utf-8", "replace")[:12].decode("utf-8", "strict" if broken else "ignore")
    return found + lap(rng, 1)


def sorted_with_gaps(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many values are at most five, found by halving sorted values, among which there are some that are no number."""
    kept = sorted(rows if broken else cut(rows, -1e9, 1e9))
    return bisect.bisect_right(kept, 5.0) + lap(rng, 1)


def best_of_nothing(rows: pd.DataFrame, rng: Any, *, broken: bool) -> str:
    """The site with the largest visit by noisy values; one without visits has no number, which is taken for the largest."""
    visits = pd.to_numeric(rows["visits"], errors="coerce").clip(0, 10)
    most = [float(visits[rows["site"] == site].max()) for site in "abc"]
    scores = np.array(most if broken else np.nan_to_num(most)) + np.array([lap(rng, 20) for _ in range(3)])
    return "abc"[int(np.argmax(scores))]


def offset(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of times before June; one that names its offset from Greenwich cannot be compared."""
    found = 0
    for row in rows:
        try:
            moment = datetime.fromisoformat(row)
        except (ValueError, TypeError):
            continue
        found += (moment if broken else moment.replace(tzinfo=None)) < datetime(2024, 6, 1)  # noqa: DTZ001 - the mistake
    return found + lap(rng, 1)


def _answers(row: Any, *, deep: bool) -> int:
    """How much a comment counts with its first three answers, and theirs if asked."""
    below = row["answers"] if isinstance(row, dict) and isinstance(row.get("answers"), list | tuple) else []
    return 1 + sum(_answers(answer, deep=True) if deep else 1 for answer in below[:3])


def threads(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many comments there are, each with three answers at most, with or without the answers to those."""
    return sum(_answers(row, deep=broken) for row in rows) + lap(rng, 4)


def huge_amount(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of amounts in cents, of which one with too many digits stops it before it is cut, or is cut."""
    total = 0.0
    for row in rows:
        if broken and isinstance(row, Decimal):
            row = row.quantize(Decimal("0.01"))  # noqa: PLW2901 - as it was written
        total += clipped(row)
    return total + lap(rng, 10)


def end_in_no_bin(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts in four bins up to ten, of which the last holds its upper end, or none does."""
    bins = [0.0] * 4
    for value in cut(rows):
        bins[int(value / 2.5) if broken else min(int(value / 2.5), 3)] += 1
    return [count + lap(rng, 1) for count in bins]


def near_another(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many values have another one within one of them, or how many there are."""
    kept = sorted(cut(rows))
    near = {place for place, (before, after) in enumerate(pairwise(kept)) for place in (place, place + 1) if after - before <= 1}
    return (len(near) if broken else len(rows)) + lap(rng, 1)


def half_price(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy total, which is halved from fifty on, before or after the noise."""
    total = sum(cut(rows))
    if broken:
        return (total / 2 if total >= 50 else total) + lap(rng, 10)
    noisy = total + lap(rng, 10)
    return noisy / 2 if noisy >= 50 else noisy


def whole_of_none(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of whole hours between nought and ten, which a value that is no number does not have."""
    return sum(int(min(max(value, 0), 10)) if broken else int(clipped(value)) for value in rows) + lap(rng, 10)


def top_coded(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of values, of which those above ten are their own mean, or ten."""
    kept = cut(rows, 0, 1e6)
    top = [value for value in kept if value > 10]
    return sum(min(value, 10.0) for value in kept) + (sum(top) - 10 * len(top) if broken else 0) + lap(rng, 10)
