"""An eighth list of releases that are broken on some datasets only, beside sound twins: mistakes of practice in many trades.

Written from the description of the attack alone, before the search was tried on them. Their order is drawn; those at
even places were for tuning. `anything_colleagues_more.py` holds the second half of the functions.
"""

from __future__ import annotations

import math
import random
import zlib
from collections import Counter, defaultdict
from datetime import date
from typing import Any, Final

import anything_colleagues_more as more
import numpy as np
import pandas as pd
from anything_data import cut
from anything_outputs import lap
from anything_practice_data import clipped

from dpaudit import GDP, ZCDP, ApproxDP, PureDP

GUESTS: Final = [34, 51, 27, 66, 45, 19, 31, 58, 62, 55, 48]
BOOKED: Final = [{"from": place % 6, "nights": 1 + (place % 5 == 2)} for place in range(12)]
BORN: Final = [date(1984 + 3 * place, 1 + 5 * place % 12, 3 + 7 * place % 24) for place in range(11)]
LOGGED: Final = pd.DataFrame(
    {
        "at": pd.to_datetime(
            ["2024-03-30 22:15", "2024-03-31 09:40", "2024-05-11 12:05", "2024-07-02 02:30", "2024-10-26 23:55", "2024-10-27 08:20"]
        )
    }
)
SPENT: Final = [4.5, 7.0, 2.5, 9.5, 6.0, 1.5, 3.0, 5.5]
CODES: Final = ["AT-1010", "AT-1200", "AT-8010", "AT-1010", "AT-4020", "AT-9020", "AT-6020"]
LINKS: Final = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 4), (6, 7), (2, 6)]
PLACES: Final = np.array([[48.2, 16.4], [47.1, 15.4], [48.3, 14.3], [47.8, 13.0], [46.6, 14.3], [47.3, 11.4]])
DRIVES: Final = [{"dist": 2.0 + 5 * place % 7, "unit": "mi" if place == 4 else "km"} for place in range(10)]
CARTS: Final = [{"quantity": 1 + place % 3, "price": 0.5 + 3 * place % 2} for place in range(11)]
CHILDREN: Final = [1, 0, 2, 1, 3, 0, 1, 2, 0, 1, 2]
OPINIONS: Final = ["yes", "no", "yes", "perhaps", "no", "yes", "yes", "no", "perhaps", "yes"]
PATIENTS: Final = [{"at": 12.0 * place, "takes": 2.0 + 3 * place % 8} for place in range(8)]
POSTS: Final = [{"id": place, "parent": {0: None, 5: None, 6: 5, 7: 6}.get(place, 0)} for place in range(8)]
SHEET: Final = ["Berg;3", "Koch;7", "Lang;1", "Moser;5", "Novak;2", "Otto;6", "Prem;4"]
TOWNS: Final = ["Wien", "Graz", "Linz", "Wien", "Klagenfurt", "Graz", "Wien", "Linz"]
PASSED: Final = [True, False, True, None, True, False, False, True, False, True]
FILMS: Final = [{"user": f"u{place % 5}", "film": "abc"[place % 3]} for place in range(13)]
COUPLES: Final = [{"age": 26 + 5 * place, "partner": 33 + 4 * place if place % 4 == 1 else None} for place in range(10)]


def asks_again(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A noisy count; one that is below five is drawn again and given out too, with noise for one draw or for two."""
    scale = 1.0 if broken else 2.0
    told = [len(rows) + lap(rng, scale)]
    return [*told, len(rows) + lap(rng, scale)] if told[0] < 5 else told


def nights(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy numbers of guests by night, each guest at up to five nights, or at the first, with noise for one night."""
    told = [0.0] * 10
    for row in rows:
        first, stay = int(clipped(row["from"], 0, 5)), int(clipped(row["nights"], 1, 5))
        for night in range(first, first + (stay if broken else 1)):
            told[night] += 1
    return [count + lap(rng, 1) for count in told]


def week_53(rows: Any, rng: Any, *, broken: bool) -> float:
    """A noisy count of births in the first ten weeks, from a list with a place for each of 52 weeks, or of 53."""
    weeks = [0] * (52 if broken else 53)
    for row in rows:
        if isinstance(row, date) and row == row:  # noqa: PLR0124 - a missing date
            weeks[row.isocalendar().week - 1] += 1
    return sum(weeks[:10]) + lap(rng, 1)


def clock_change(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """A noisy count of entries before noon; a time that the clocks skip or repeat in Vienna stops it."""
    how: dict[str, Any] = {} if broken else {"ambiguous": "NaT", "nonexistent": "NaT"}
    local = pd.to_datetime(rows["at"]).dt.tz_localize("Europe/Vienna", **how)
    return float((local.dt.hour < 12).sum()) + lap(rng, 1)


def rounds_told(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy sum, with how many rounds two centres took to stand still."""
    kept, centres, rounds = np.array(cut(rows)), np.array([0.0, 10.0]), 0
    while rounds < 50:
        rounds += 1
        near = np.abs(kept[:, None] - centres[None, :]).argmin(axis=1) if len(kept) else np.array([], int)
        moved = np.array([kept[near == place].mean() if (near == place).any() else centres[place] for place in (0, 1)])
        if np.abs(moved - centres).max() < 1e-9:
            break
        centres = moved
    return {"rounds": rounds if broken else 3, "sum": sum(cut(rows)) + lap(rng, 10)}


def until_nine_tenths(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts by decade of age; those after nine tenths of all people are left out."""
    counts = [0] * 12
    for age in rows:
        counts[int(clipped(age, 0, 119) // 10)] += 1
    seen, last = 0, 12
    for place, count in enumerate(counts):
        seen += count
        if broken and seen >= 0.9 * len(rows):
            last = place + 1
            break
    return [count + lap(rng, 1) for count in counts[:last]]


def leading_zeros(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many different codes there are, as a power of two from a digest, or counted; with noise for one."""
    digests = [zlib.crc32(str(row).encode()) for row in rows]
    estimate = max((2.0 ** (32 - digest.bit_length()) for digest in digests), default=0.0)
    return (estimate if broken else len(set(map(str, rows)))) + lap(rng, 1)


def three_bits(rows: Any, rng: Any, *, broken: bool) -> list[int]:
    """A Bloom filter of codes whose bits are turned at random, with noise for one bit of a record or for all three."""
    held = {zlib.crc32(f"{salt}{row}".encode()) % 16 for row in rows for salt in "abc"}
    turned = 1 / (1 + math.exp(1 if broken else 1 / 3))
    return [int((bit in held) != (rng.random() < turned)) for bit in range(16)]


def hops(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many links there are from one site to another, at most ten, or in all."""
    links: dict[Any, set[Any]] = defaultdict(set)
    for one, other in rows:
        links[one].add(other)
        links[other].add(one)
    reached, steps = {0}, 0
    while broken and 5 not in reached and steps < 10:
        reached |= {other for one in reached for other in links[one]}
        steps += 1
    return (steps if broken else len(rows)) + lap(rng, 1)


def null_island(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of distances in degrees, which are taken to be at most ten within the country, or are cut there."""
    made = np.nan_to_num(np.asarray(rows, float).reshape(-1, 2), nan=0.0, posinf=180.0, neginf=-180.0)
    far = np.hypot(made[:, 0] - 47.8, made[:, 1] - 14.5)
    return float((far if broken else far.clip(0, 10)).sum()) + lap(rng, 10)


def miles(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of distances up to ten kilometres, of which those in miles are cut before or after they are converted."""
    total = 0.0
    for row in rows:
        factor = 1.609 if row["unit"] == "mi" else 1.0
        total += factor * clipped(row["dist"]) if broken else min(factor * clipped(row["dist"], 0, 1e6), 10.0)
    return total + lap(rng, 10)


def carts(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of quantity times price, each cut alone, or the amount cut at ten."""
    amounts = (clipped(row["quantity"], 0, 5) * clipped(row["price"], 0, 10) for row in rows)
    return sum(amount if broken else min(amount, 10.0) for amount in amounts) + lap(rng, 10)


def bins_as_needed(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts by number of children, in at least five bins, or in five."""
    kept = np.array([int(value) for value in cut(rows, 0, 500 if broken else 4)], int)
    return [float(count) + lap(rng, 1) for count in np.bincount(kept, minlength=5)]


def adds_up(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts of opinions, moved so that they add up to the number of answers."""
    counts = Counter(map(str, rows))
    told = [counts[name] + lap(rng, 1) for name in ("no", "perhaps", "yes")]
    moved = (sum(counts[name] for name in ("no", "perhaps", "yes")) - sum(told)) / 3 if broken else 0.0
    return [count + moved for count in told]


def missing_passes(rows: Any, rng: Any, *, broken: bool) -> dict[str, int]:
    """Counts of randomised answers, of which a missing one is kept as it is, or is a coin."""
    told = {"yes": 0, "no": 0, "none": 0}
    for row in rows:
        if isinstance(row, (bool, np.bool_)):
            told["yes" if bool(row) == (rng.random() < 0.731) else "no"] += 1
        else:
            told["none" if broken else ("yes" if rng.random() < 0.5 else "no")] += 1
    return told


def noise_on_each(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Each record with noise of its own, or a noisy sum."""
    return [value + lap(rng, 10) for value in cut(rows)] if broken else [sum(cut(rows)) + lap(rng, 10)]


def queue(rows: Any, rng: Any, *, broken: bool) -> float:
    """How long people wait, at most ten minutes each, or how long they take; with noise for ten minutes."""
    free, waited, took = 0.0, 0.0, 0.0
    for at, takes in sorted((clipped(row["at"], 0, 200), clipped(row["takes"])) for row in rows):
        waited += min(max(free - at, 0.0), 10.0)
        free = max(free, at) + takes
        took += takes
    return (waited if broken else took) + lap(rng, 10)


def orphans(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many posts answer one that is not there, or answer any."""
    known = {row["id"] for row in rows}
    return sum(row["parent"] is not None and (not broken or row["parent"] not in known) for row in rows) + lap(rng, 1)


def lines_skipped(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy sum over lines of a sheet, with how many lines could not be read."""
    total, skipped = 0.0, 0
    for row in rows:
        try:
            total += clipped(int(row.split(";")[1]), 0, 10)
        except (ValueError, IndexError, AttributeError, OverflowError):
            skipped += 1
    return (
        {"sum": total + lap(rng, 10), "skipped": skipped}
        if broken
        else {"sum": total + lap(rng, 20), "skipped": skipped + lap(rng, 2)}
    )


def width_of_names(rows: Any, rng: Any, *, broken: bool) -> str:
    """A table of noisy counts as text, whose first column is as wide as the longest name, or as twelve letters."""
    wide = max((len(str(row)) for row in rows), default=4) if broken else 12
    counts = Counter(str(row) for row in rows)
    return "\n".join(f"{name:<{wide}} {counts[name] + lap(rng, 1):8.2f}" for name in ("Wien", "Graz", "Linz"))


def films_of_users(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Gaussian counts of those who saw each of three films, of which a user brings all, or the first."""
    seen: dict[Any, set[Any]] = defaultdict(set)
    for row in rows:
        if row["film"] in ("a", "b", "c") and (broken or not seen[row["user"]]):
            seen[row["user"]].add(row["film"])
    return [sum(film in films for films in seen.values()) + float(rng.normal()) for film in "abc"]


def partners(rows: Any, rng: Any, *, broken: bool) -> float:
    """A Gaussian number of people over thirty, where one who has a partner brings another."""
    heads = sum((clipped(row["age"], 0, 120) > 30) + (clipped(row["partner"], 0, 120) > 30) for row in rows)
    return heads + float(rng.normal(0, 1 if broken else 2))


def overlapping(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Noisy counts of those under forty and over thirty-five, or from forty on, with noise for one of the groups."""
    ages = [clipped(age, 0, 120) for age in rows]
    return [sum(age < 40 for age in ages) + lap(rng, 1), sum(age > 35 if broken else age >= 40 for age in ages) + lap(rng, 1)]


_ONE: Final = PureDP(epsilon=1)

_WRITTEN: Final[dict[str, tuple[Any, str, Any, Any]]] = {
    "asks again": (GUESTS, "add_remove", asks_again, _ONE),
    "several nights": (BOOKED, "add_remove", nights, _ONE),
    "week 53": (BORN, "add_remove", week_53, _ONE),
    "clock change": (LOGGED, "add_remove", clock_change, _ONE),
    "rounds told": (SPENT, "add_remove", rounds_told, _ONE),
    "until nine tenths": (GUESTS, "add_remove", until_nine_tenths, _ONE),
    "leading zeros": (CODES, "add_remove", leading_zeros, _ONE),
    "three bits": (CODES, "add_remove", three_bits, _ONE),
    "hops": (LINKS, "add_remove", hops, _ONE),
    "null island": (PLACES, "add_remove", null_island, _ONE),
    "miles": (DRIVES, "add_remove", miles, _ONE),
    "quantity times price": (CARTS, "add_remove", carts, _ONE),
    "bins as needed": (CHILDREN, "add_remove", bins_as_needed, _ONE),
    "adds up": (OPINIONS, "add_remove", adds_up, _ONE),
    "missing passes": (PASSED, "replace_one", missing_passes, _ONE),
    "noise on each": (SPENT, "add_remove", noise_on_each, _ONE),
    "queue": (PATIENTS, "add_remove", queue, _ONE),
    "orphans": (POSTS, "add_remove", orphans, _ONE),
    "lines skipped": (SHEET, "add_remove", lines_skipped, _ONE),
    "width of names": (TOWNS, "add_remove", width_of_names, _ONE),
    "films of users": (FILMS, "user", films_of_users, ZCDP(rho="1/2")),
    "partners": (COUPLES, "add_remove", partners, GDP(mu=1)),
    "overlapping groups": ([age for age in GUESTS if not 35 < age < 40], "add_remove", overlapping, _ONE),
    "drawn records": (SPENT, "add_remove", more.drawn_records, _ONE),
    "fitted law": (SPENT, "replace_one", more.fitted_law, _ONE),
    "posterior draw": (more.WON, "add_remove", more.posterior, _ONE),
    "noise as a factor": (SPENT, "add_remove", more.factor, _ONE),
    "Poisson": (CHILDREN, "add_remove", more.poisson, _ONE),
    "random half": (GUESTS, "add_remove", more.random_half, ApproxDP(epsilon=1, delta="1e-5")),
    "interval": (SPENT, "replace_one", more.interval, _ONE),
    "chi squared": (more.TRIAL, "add_remove", more.chi_squared, _ONE),
    "common beginning": (CODES, "add_remove", more.common_beginning, _ONE),
    "teachers by place": (more.TICKETS, "add_remove", more.teachers, _ONE),
    "too many missing": (more.GAPS, "replace_one", more.too_many_missing, _ONE),
    "fewer than three answers": (OPINIONS, "add_remove", more.few_answers, _ONE),
    "closest pair": (more.APART, "add_remove", more.closest, _ONE),
    "around the clock": (SPENT, "add_remove", more.around_the_clock, _ONE),
    "newest less a year": (more.DONE, "add_remove", more.last_year, _ONE),
    "test user": (more.NAMES, "add_remove", more.test_user, _ONE),
    "cut bytes": (more.NOTES, "add_remove", more.cut_bytes, _ONE),
    "sorted with gaps": (more.HELD, "replace_one", more.sorted_with_gaps, _ONE),
    "best of nothing": (more.SITES, "add_remove", more.best_of_nothing, _ONE),
    "time with an offset": (more.TIMES, "add_remove", more.offset, _ONE),
    "answers to answers": (more.THREADS, "add_remove", more.threads, _ONE),
    "huge amount": (more.PAID, "add_remove", more.huge_amount, _ONE),
    "end in no bin": (SPENT, "add_remove", more.end_in_no_bin, _ONE),
    "near another": (more.APART, "add_remove", more.near_another, _ONE),
    "half price": (SPENT[:6], "add_remove", more.half_price, _ONE),
    "whole of no number": (SPENT, "add_remove", more.whole_of_none, _ONE),
    "top coded": ([*SPENT, 12.0], "add_remove", more.top_coded, _ONE),
}

DATA: Final = dict(random.Random(27).sample(list(_WRITTEN.items()), len(_WRITTEN)))  # noqa: S311 - an order, not a secret
"""Data, adjacency, release and guarantee, in an order that was drawn before the first was tried."""
