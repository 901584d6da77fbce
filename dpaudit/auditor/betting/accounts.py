"""Accounts that bet on one binned column: each backs two sets of bins, one for each label, with a fixed stake.

An account multiplies its wealth by 1 + stake (W - drain) in each run, where W = g1 (1[B=1] - e^epsilon 1[B=0]) +
g0 (1[B=0] - e^epsilon 1[B=1]), g1 and g0 are the indicators of its two sets, and the drain is delta/2 for each set in use.
Under the claim the mean of this factor is at most 1 whatever happened before, and so is the mean of any average of accounts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.statistics.binning import Floats
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.exact import ball, ball_endpoints, float_outward, working_precision

Mask: TypeAlias = NDArray[np.bool_]

# What follows, and the constants of `forecasts` and `label_bettor`, decide how soon a false claim is refuted (measured by
# benchmarks/refutation.py), never whether a true one is: sets and stakes of a run are fixed before its label, and whatever they
# are, the mean of a factor is at most 1 under the claim.
_SHAPES: Final = {"two_sided": 0.65, "one_sided": 0.15, "middle": 0.03, "single": 0.07, "learned": 0.1, "telltale": 0.3}
"""Shares of the shapes of sets in the wealth before any run, in proportion; telltale sets come on top of the others."""

_FEWEST_REPEATS: Final = 2
_CLEARLY: Final = 1.5
"""Excess in nats from which telltale sets are backed: what has no noise violates the claim by much."""

_CHOICE: Final = 0.4
"""Nats that a telltale set costs for each bin in it, since it is chosen on the counts it is judged by."""

_SMALLEST_EXCESS: Final = 0.06
_LARGEST_EXCESS: Final = 8.0
"""The ladder of stakes: from a violation by so small a share of epsilon to one by so many nats, in steps of a factor 2."""

_LARGEST_STAKE: Final = 0.97
"""Share of the largest stake at which a factor stays positive; below 1, so that a lost bet leaves 3 % of the wealth."""

_USUAL_STEP: Final = 3.5
_NARROWNESS: Final = 2.0
"""The step of the ladder where most wealth starts, between half an epsilon and a whole one, and how fast it falls off."""

_RATIO_VARIANCE: Final = 4.0
"""Variance of the log-ratio of a bin before anything was counted: a standard deviation of 2, as in `forecasts`."""

_ROOM: Final = 1 + 1e-14
"""Room for the roundings of `combine_bets`, `forecasts`, each at most 2**-53 of its result. Odds and drain may only be overstated:
then bets pay less than the claim allows."""


@dataclass(frozen=True)
class Game:
    """Bets that the claim allows: odds against a label, drain for each set in use, and the ladder of stakes.

    `odds` is e^epsilon rounded up, `half_delta` delta / 2 rounded up. The ladder is for violations by `excess`; `log_weights`
    divide wealth over it. `stakes` and the logarithms of the factors on the right label, on the wrong one and without a bet have
    one row for accounts with one set and one for those with two.
    """

    odds: float
    half_delta: float
    excess: Floats
    log_weights: Floats
    stakes: Floats
    log_right: Floats
    log_wrong: Floats
    log_idle: Floats


def game_of(point: ClaimPoint) -> Game:
    """Game against a claim: stakes that would be best against epsilon + excess, on a geometric ladder of excesses."""
    with working_precision(96):
        odds = float_outward(ball_endpoints(ball(point.epsilon).exp())[1], up=True) * _ROOM
    half_delta = float_outward(Fraction(point.delta) / 2, up=True) * _ROOM
    epsilon = float(point.epsilon)
    smallest = _SMALLEST_EXCESS * max(epsilon, 0.1)
    steps = max(3, math.ceil(math.log2(_LARGEST_EXCESS / smallest)) + 1)
    excess = np.asarray(smallest * 2.0 ** np.arange(steps))
    weights = (1 + np.abs(np.arange(steps) - _USUAL_STEP)) ** -_NARROWNESS
    # Fraction of the largest stake that is best when the odds are e^(epsilon + excess) and nothing drains.
    share = -np.expm1(-excess) * odds / (odds + np.exp(-excess))
    drains = half_delta * np.array([[1.0], [2.0]])
    stakes = np.minimum(share, _LARGEST_STAKE) / (odds + drains)
    return Game(
        odds=odds,
        half_delta=half_delta,
        excess=excess,
        log_weights=np.log(weights / weights.sum()),
        stakes=stakes,
        log_right=np.log1p(stakes * (1 - drains)),
        log_wrong=np.log1p(-stakes * (odds + drains)),
        log_idle=np.log1p(-stakes * drains),
    )


@dataclass(frozen=True)
class Menu:
    """Sets of bins to back: row i of `ones` (of `zeros`) marks the bins that account family i backs for label 1 (0).

    `log_prior` is the share of each family before any run, in one column, or in one for each stake of the ladder.
    """

    ones: Floats
    zeros: Floats
    log_prior: Floats

    @cached_property
    def row(self) -> NDArray[np.intp]:
        """Row of the game for each family: 0 where it uses one of the two sets, 1 where it uses both."""
        return np.asarray(self.ones.any(axis=1) & self.zeros.any(axis=1), dtype=np.intp)


def menu_of(mass: Floats, game: Game) -> Menu:
    """All sets worth backing on ordered bins of pooled frequency `mass`: tails, pairs of tails, the middle, single bins."""
    size = len(mass)
    if size < 2:
        return Menu(np.zeros((0, size)), np.zeros((0, size)), np.zeros((0, 1)))
    mass = mass / mass.sum()
    below = np.cumsum(mass)[:-1]
    prefix = np.tril(np.ones((size - 1, size)))
    suffix = 1 - prefix
    low = np.flatnonzero(below <= 0.5) if below[0] <= 0.5 else np.array([0])
    high = np.maximum(low, np.argmin(np.abs((1 - below)[None, :] - below[low, None]), axis=1))
    lower, upper = prefix[low], suffix[high]
    outer = lower + upper
    middle = np.concatenate([outer[outer.sum(axis=1) < size], 1 - outer])
    # P(S) + Q(S) = 2 m allows P(S) > e^epsilon Q(S) only where m is at most this.
    most = (1 + 1 / game.odds) / 2
    tails, middle = (sets[(sets @ mass > 0) & (sets @ mass <= most)] for sets in (np.concatenate([prefix, suffix]), middle))
    shapes = {
        "two_sided": (np.concatenate([lower, upper]), np.concatenate([upper, lower])),
        "one_sided": _either_label(tails),
        "middle": _either_label(middle),
        "single": _either_label(np.eye(size)),
    }
    priors = []
    for name, (ones, zeros) in shapes.items():
        # Larger sets have more wealth, as the square root of their frequency: rare hits show little in the runs that there are.
        weights = np.ones(len(ones)) if name == "single" else np.sqrt((ones + zeros) @ mass + 1e-12)
        priors.append(math.log(_SHAPES[name]) + np.log(weights) - math.log(max(weights.sum(), 1e-300)))
    ones, zeros = (np.concatenate(parts) for parts in zip(*shapes.values(), strict=True))
    return Menu(ones, zeros, np.concatenate(priors)[:, None])


def _either_label(sets: Floats) -> tuple[Floats, Floats]:
    """Each set once for label 1 alone and once for label 0 alone."""
    nothing = np.zeros_like(sets)
    return np.concatenate([sets, nothing]), np.concatenate([nothing, sets])


def learned_menu(counts: Floats, game: Game) -> Menu:
    """Sets learned from the past: the bins whose shrunk log-ratio passes a break-even level."""
    # Bins are judged one by one: among many bins without signal a rare value that gives the label away must not be shrunk.
    tally = counts + 0.5
    variance = (1 / tally).sum(axis=1)
    ratios = np.log(tally[:, 1] / tally[:, 0]) * _RATIO_VARIANCE / (_RATIO_VARIANCE + variance)
    levels = math.log(game.odds) + game.excess[:, None] / 2
    ones, zeros = (ratios >= levels).astype(np.float64), (ratios <= -levels).astype(np.float64)
    chosen = ones.sum(axis=1) + zeros.sum(axis=1)
    used = chosen > 0
    # A set chosen on the counts it is judged by looks better by about one nat for each bin that was free to choose.
    prior = math.log(_SHAPES["learned"] / len(levels)) - chosen[used]
    return Menu(ones[used], zeros[used], prior[:, None])


def telltale_menu(counts: Floats, exact: Mask, game: Game) -> Menu:
    """Single values that repeat and were seen with one label only, backed all together with the large stakes."""
    # Where outputs come from a continuous law, a value that repeats got no noise, and as a rule gives the label away.
    repeated = exact & (counts.sum(axis=1) >= _FEWEST_REPEATS)
    ones, zeros = ((repeated & (counts[:, other] == 0)).astype(np.float64)[None] for other in (0, 1))
    chosen = float(ones.sum() + zeros.sum())
    large = game.excess >= _CLEARLY
    prior = np.where(large, math.log(_SHAPES["telltale"] / large.sum()) - _CHOICE * chosen - game.log_weights, -np.inf)
    used = slice(0, 1 if chosen else 0)
    return Menu(ones[used], zeros[used], prior[None][used])


def combine_bets(counts: Floats, menus: tuple[Menu, ...], game: Game) -> tuple[Floats, Floats]:
    """Combine the bets of all accounts after the runs counted so far: factors by bin and label, and the log of what they gained."""
    menus = tuple(menu for menu in menus if len(menu.ones))
    if not menus:
        return np.ones(counts.shape), np.zeros(counts.shape[:-2])
    ones, zeros, row = (np.concatenate([getattr(menu, part) for menu in menus]) for part in ("ones", "zeros", "row"))
    right = counts[..., 1] @ ones.T + counts[..., 0] @ zeros.T
    wrong = counts[..., 0] @ ones.T + counts[..., 1] @ zeros.T
    idle = counts.sum(axis=(-2, -1))[..., None] - right - wrong
    gains = right[..., None] * game.log_right[row]
    gains += wrong[..., None] * game.log_wrong[row]
    gains += idle[..., None] * game.log_idle[row]
    start = 0
    for menu in menus:
        gains[..., start : (start := start + len(menu.ones)), :] += menu.log_prior + game.log_weights
    best = gains.max(axis=(-2, -1), keepdims=True)
    wealth = np.exp(gains - best)
    total = wealth.sum(axis=(-2, -1), keepdims=True)
    invested = (wealth * game.stakes[row]).sum(axis=-1) / total[..., 0]
    rest = 1 - game.half_delta * (invested @ (row + 1))[..., None]
    for_one, for_zero = invested @ ones, invested @ zeros
    factors = np.stack([rest - game.odds * for_one + for_zero, rest + for_one - game.odds * for_zero], axis=-1)
    return factors, (best + np.log(total))[..., 0, 0]
