"""The division of the runs of one target over pilot, betting and bound, before the runs that decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.auditor.checks.properties import MOST_CHECK_RUNS
from dpaudit.errors import InvalidArgument

FEWEST_PILOT_RUNS: Final = 2000
RUNS_AFTER_REFUTATION: Final = 20_000
"""Runs for the lower bound once the bets have refuted a claim: enough to say by how much it fails."""

ENOUGH_TO_CHOOSE: Final = 4000
"""After an early refutation the pilot ends at this many runs: enough to choose the event for the lower bound."""

MOST_PILOT: Final = 2_000_000
"""Runs of the pilot of one pair, half of those of several, at most: like those of the bets they are kept in memory."""

FINALISTS: Final = 12
"""Searched pairs that join the attack."""

SEARCHED_BY_A_CLOCK: Final = 2**13
"""The most runs of a search where a time bounds the audit."""

_FEWEST_BY_A_CLOCK: Final = 2000
_SHARE_OF_A_CLOCK: Final = 16
"""The search costs more than its runs, and a pace measured on few runs may be too fast."""

_RUNS_OF_A_FINALIST: Final = 2**9
_FEWEST_SEARCHED: Final = 42
_BETTING_SHARE: Final = 6
_LARGE_BETTING_SHARE: Final = 20
_ENOUGH_TO_BET: Final = 25_000
_LARGE_BUDGET: Final = 2_000_000
_FEWEST_EACH: Final = 64
_WIDE_SHARE: Final = 4
_SEARCHING_SHARE: Final = 6
_ENOUGH_TO_SEARCH: Final = 16_000
_MOST_SEARCHING: Final = 2**19
_WIDE_EACH: Final = 1024
_SEARCH_SHARE: Final = Fraction(3, 10)
_MOST_BETTING: Final = 1_000_000
"""Beyond this only the bound grows: bets keep their rows in memory, the bound keeps none."""


@dataclass(frozen=True)
class Plan:
    """Runs of the pilot (all pairs together), of the betting that follows it, of the bound, and of the search before them."""

    pilot: int
    betting: int
    bound: int
    search: int = 0

    @property
    def total(self) -> int:
        """Runs of all stages, without the checks and the search."""
        return self.pilot + self.betting + self.bound


def runs_to_search_within(seconds: float, pace: float, most: int | None) -> int:
    """Return how many runs a time budget and the target's limit allow the search: a power of two, so that few paces differ."""
    affordable = min(int(pace * seconds / _SHARE_OF_A_CLOCK), SEARCHED_BY_A_CLOCK)
    if most is not None:
        affordable = min(affordable, most // _SEARCHING_SHARE)
    return 2 ** (affordable.bit_length() - 1) if affordable >= _FEWEST_BY_A_CLOCK else 0


def finalists_of(search: int) -> int:
    """Return how many searched pairs join an attack whose pilot a clock ends: few where runs are slow, since pairs share them."""
    return min(FINALISTS, search // _RUNS_OF_A_FINALIST)


def runs_to_search(runs: int) -> int:
    """Return how many runs go to the search among datasets that do not stand in the data: a sixth, none of small budgets."""
    return min(runs // _SEARCHING_SHARE, _MOST_SEARCHING) if runs >= _ENOUGH_TO_SEARCH else 0


def pairs_to_search(runs: int) -> int:
    """Return how many pairs so many runs are worth being spread over."""
    return runs // _FEWEST_SEARCHED


def plan_of(runs: int, pairs: int, aside: int = MOST_CHECK_RUNS, *, wide: bool = False) -> Plan:
    """Divide a budget of runs.

    A tenth, and at least 2000 runs, goes to the pilot (at most half of a small budget); a sixth of the rest, of large budgets a
    twentieth, to betting; everything else to the bound, whose power decides what a surviving claim is worth. With several pairs
    three tenths of what goes beyond two million runs are added to the pilot, since a wrong pair costs more than a shorter bound.
    """
    usable = runs - aside
    each = _each_of(usable, pairs, wide=wide)
    if each < _FEWEST_EACH:
        raise InvalidArgument(
            "DPA103",
            f"{runs} runs are too few for {pairs} pairs of datasets: the pilot has {each} for each, at least 64 are needed. "
            "Ask for more runs, or give fewer pairs.",
        )
    return with_pilot(each * pairs, usable - each * pairs)


def pairs_within(runs: int, pairs: int, aside: Callable[[int], int]) -> int:
    """Return how many pairs the pilot has enough runs for, at least one; `aside` gives the check runs of so many pairs."""
    return next((count for count in range(pairs, 1, -1) if _each_of(runs - aside(count), count, wide=True) >= _FEWEST_EACH), 1)


def _each_of(usable: int, pairs: int, *, wide: bool) -> int:
    """Return the runs of the pilot for each pair."""
    searched = 0 if pairs == 1 else _SEARCH_SHARE * max(0, usable - _LARGE_BUDGET)
    wanted = min(usable // _WIDE_SHARE, _WIDE_EACH * pairs) if wide else 0
    pilot = max(FEWEST_PILOT_RUNS, usable // 10, wanted) + int(searched)
    return max(0, min(pilot, usable // 2, MOST_PILOT if pairs == 1 else 2 * MOST_PILOT)) // pairs


def with_pilot(pilot: int, rest: int) -> Plan:
    """Return the plan of a given pilot: the rest is divided over betting and bound."""
    betting = min(rest // _BETTING_SHARE, max(_ENOUGH_TO_BET, rest // _LARGE_BETTING_SHARE), _MOST_BETTING)
    return Plan(pilot, betting, rest - betting)
