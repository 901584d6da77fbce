"""Causes that show in how far a value moves: noise that follows the data, and moves that the noise is not made for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.records import take_records
from dpaudit.auditor.diagnosis import variants
from dpaudit.auditor.diagnosis.noise import (
    ERRORS,
    Move,
    Vector,
    allowed,
    ends_on_both_sides,
    fit,
    gaussian_delta,
    shift,
    stretch,
    tails,
    together,
)
from dpaudit.auditor.diagnosis.twins import Bench, Twins, run_twins
from dpaudit.auditor.diagnosis.values import name_ends
from dpaudit.claims import Claim, PureDP
from dpaudit.results import Diagnosis

_STRETCHES: Final = 24
_FOR_TAILS: Final = 200
_MAY_END: Final = 0.01
"""Chance at which noise without a known law is taken for one that ends: a wrong doubt costs silence only."""

_RUNS: Final = 8
"""Runs of a variant: with equal random numbers a move is seen exactly, and more of them only confirm that it is constant."""
_SHARP: Final = 0.15
"""Relative error beyond which a cost is not told from others."""
_LARGEST_DELTA: Final = 0.01
"""Nobody means to keep a claim but for a larger delta than this."""


@dataclass(frozen=True)
class Scene:
    """A refuting pair on a bench, the claim, its twin runs, and what is proven of epsilon at delta 0 (0 where nothing is).

    `coarse` is whether the outputs that refute the claim are a range, and no single values or digits; `mass` is their share.
    """

    bench: Bench
    claim: Claim
    first: Any
    second: Any
    twins: Twins
    proven: float
    coarse: bool
    mass: float

    @property
    def delta(self) -> float:
        """The delta of the claim, 0 where it has none."""
        return float(getattr(self.claim.guarantee, "delta", 0))

    def moved(self, first: Any, second: Any) -> Vector | None:
        """How far the numbers of the output move between two other datasets, None where they do not all move by a constant."""
        made = run_twins(self.bench, first, second, count=_RUNS, stream=1)
        return shift(made.first, made.second) if made.one_form and made.paths == self.twins.paths else None


def name_stretch(scene: Scene) -> Diagnosis | None:
    """Name the cause where the same random numbers give noise of another scale on the other dataset."""
    factor = stretch(scene.twins.first, scene.twins.second)
    if factor is None:
        return None
    if _follows_count(scene, factor):
        return Diagnosis(
            "count",
            "The scale of the output follows the number of records, which this claim keeps private: it is divided by a true count.",
            "Divide by a public number, or by a noisy count that has its share of the budget.",
        )
    return _scale()


def _scale() -> Diagnosis:
    """The noise follows the data."""
    return Diagnosis(
        "scale",
        "The scale of the noise depends on the data: with the same random numbers it is wider on one dataset.",
        "Scale the noise to public bounds, to which every value is clipped first.",
    )


def name_still(scene: Scene, found: Diagnosis | None) -> Diagnosis | None:
    """Name noise that follows the data where it vanishes on one dataset, and on the other is wider if all records are doubled."""
    if found is None or found.cause != "still":
        return found
    data = scene.second if (scene.twins.first == scene.twins.first[0]).all() else scene.first
    doubled = variants.scaled(data, 2.0)
    made = None if doubled is None else run_twins(scene.bench, data, doubled, count=_STRETCHES, stream=1)
    return _scale() if made is not None and made.one_form and stretch(made.first, made.second) is not None else found


def _follows_count(scene: Scene, factor: float) -> bool:
    """True if the scale is proportional to 1 / records on this pair and when copies of a record are added to it."""
    sides = variants.by_size(scene.first, scene.second)
    if sides is None or not len(sides[0]):
        return False
    longer = sides[1]
    if abs(abs(factor) - len(scene.first) / len(scene.second)) > 1e-6 * abs(factor):
        return False
    more = take_records(longer, [*range(len(longer)), 0, 0])
    made = run_twins(scene.bench, longer, more, count=_RUNS, stream=1)
    again = stretch(made.first, made.second) if made.one_form else None
    return again is not None and abs(abs(again) - len(longer) / len(more)) < 1e-6


def name_move(scene: Scene, moves: Vector) -> Diagnosis | None:
    """Name the cause where noise that does not depend on the data is too narrow for how far the value moves."""
    if found := _of_ends(scene, moves):
        return found
    move = fit(moves, scene.twins.first)
    limit = None if move is None else allowed(scene.claim, move.law, int(np.count_nonzero(moves)))
    if move is not None and move.law == "gaussian" and isinstance(scene.claim.guarantee, PureDP):
        return _of_tails(scene, move)
    if move is None or not limit:
        return _of_place(scene, None) or _of_one_side(scene, moves) or _too_narrow(scene, None)
    if together(move) < limit * (1 + move.error):
        return None
    budget = _Budget(move, limit, np.where(moves != 0, _spread(moves, move), float(np.median(move.scales))))
    return (
        _of_replacement(scene, budget)
        or _of_place(scene, budget)
        or _of_each(scene, moves, budget)
        or _of_norm(budget)
        or _of_range(scene)
        or _of_clip(scene, budget)
        or _too_narrow(scene, budget)
    )


def _may_end(scene: Scene) -> bool:
    """True if the noise may end on both sides, as noise does that is drawn again until it is small: then it is not only narrow."""
    columns = [column for column in scene.twins.first.T if len(np.unique(column)) == len(column)]
    return isinstance(scene.claim.guarantee, PureDP) and any(ends_on_both_sides(column, _MAY_END) for column in columns)


@dataclass(frozen=True)
class _Budget:
    """What a move costs, what the claim allows of it, and the scale of the noise of every number."""

    move: Move
    limit: float
    scales: Vector

    def keeps(self, moves: Vector | None) -> bool:
        """True if another move costs what the claim allows, as far as the scale is known."""
        if moves is None:
            return False
        costs = np.abs(moves) / self.scales
        total = costs.sum() if self.move.law == "laplace" else np.sqrt((costs**2).sum())
        return bool(total <= self.limit * (1 + self.move.error))

    @property
    def factor(self) -> float:
        """How many times the move costs what the claim allows."""
        return together(self.move) / self.limit


def _spread(moves: Vector, move: Move) -> Vector:
    """The scales of the numbers that move, at their places."""
    scales = np.ones(len(moves))
    scales[moves != 0] = move.scales
    return scales


def _of_tails(scene: Scene, move: Move) -> Diagnosis | None:
    """Name Gaussian noise under a claim without delta, unless it is so narrow that a delta would not mend it."""
    if gaussian_delta(together(move), float(scene.claim.guarantee.epsilon)) > _LARGEST_DELTA:  # type: ignore[union-attr]
        return _of_place(scene, None) or _too_narrow(scene, None)
    return Diagnosis(
        "tails",
        "The noise is Gaussian, and its tails are too thin for any claim with delta = 0, however wide it is.",
        "Use Laplace noise, or claim what Gaussian noise keeps: epsilon with a delta, zCDP or GDP.",
    )


def _of_ends(scene: Scene, moves: Vector) -> Diagnosis | None:
    """Name noise that ends on both sides under a claim without delta, where no value is so common that a clip may have made it."""
    columns = scene.twins.first[:, moves != 0].T if isinstance(scene.claim.guarantee, PureDP) else np.zeros((0, 0))
    ended = (len(np.unique(column)) == len(column) and ends_on_both_sides(column) for column in columns)
    return name_ends() if len(scene.twins) >= _FOR_TAILS and any(ended) else None


def _of_one_side(scene: Scene, moves: Vector) -> Diagnosis | None:
    """Name noise with one tail that is wide enough for the move of a single number, and one that is much thinner."""
    if not isinstance(scene.claim.guarantee, PureDP) or np.count_nonzero(moves) != 1 or len(scene.twins) < _FOR_TAILS:
        return None
    column = int(np.flatnonzero(moves)[0])
    if len(np.unique(scene.twins.first[:, column])) < len(scene.twins):
        return None  # an end at which values pile up is no tail
    error = 1 + ERRORS / math.sqrt(len(scene.twins) / 10)  # of the mean excess of a tenth of the runs
    costs = sorted(abs(float(moves[column])) / tail for tail in tails(scene.twins.first[:, column]))
    limit = float(scene.claim.guarantee.epsilon)
    if costs[0] > error * limit or costs[1] < error**2 * max(costs[0], limit):
        return None
    return Diagnosis(
        "one side",
        "The noise is wide enough on one side only, and falls off too fast on the other: so does noise of one sign, and the "
        "largest of several noisy values of which one is paid for.",
        "Use noise that is the same on both sides, and pay for every noisy value among which one is chosen.",
    )


def _of_replacement(scene: Scene, budget: _Budget) -> Diagnosis | None:
    """Name a replacement whose two halves, one record less and one more, each cost what the claim allows, and cost it together."""
    rest = variants.without_changed(scene.first, scene.second)
    if rest is None or scene.claim.relation.kind not in ("replace_one", "hamming"):
        return None
    halves = scene.moved(rest, scene.first), scene.moved(rest, scene.second)
    if halves[0] is None or halves[1] is None or not all(map(budget.keeps, halves)):
        return None
    # In several numbers that both halves move, twice the cost may as well be two charges for one budget.
    if np.count_nonzero(budget.scales) > 1 and ((halves[0] != 0) & (halves[1] != 0)).any() and len(budget.move.moves) > 1:
        return None
    if not 2 - 2 * budget.move.error <= budget.factor <= 2 + 2 * budget.move.error:
        return None
    return Diagnosis(
        "replacement",
        "The noise would do for adding or removing a record: taking it away costs what the claim allows, and so does putting "
        "the other one in. A replacement does both, and costs twice as much.",
        "Double the scale of the noise, or claim adjacency add_remove.",
    )


def _of_place(scene: Scene, budget: _Budget | None) -> Diagnosis | None:
    """Name the order of records, where the same records in another order move the value by what the claim allows."""
    sides = variants.by_size(scene.first, scene.second)
    if scene.claim.relation.kind != "add_remove" or sides is None:
        return None
    shorter = sides[0]
    for longer in variants.at_other_end(*sides[1:]):
        moves = scene.moved(shorter, longer)
        if moves is not None and (budget.keeps(moves) if budget is not None else not moves.any()):
            return Diagnosis(
                "order",
                "The value depends on the order of the records: where the record comes at another place, the same records move it "
                "by no more than the claim allows. A record in front moves the others to other places.",
                "Use nothing of a record's place: sort or shuffle every dataset alike, or group records by a value of their own.",
            )
    return None


def _of_each(scene: Scene, moves: Vector, budget: _Budget) -> Diagnosis | None:
    """Name a budget that is spent in full for each of several numbers."""
    each, error = budget.move.each / budget.limit, budget.move.error
    if len(each) < 2 or error > _SHARP or (np.abs(each - 1) > error).any() or _is_one_vector(scene, moves):
        return None
    return Diagnosis(
        "each",
        f"The budget is counted once and spent {len(each)} times: {len(each)} numbers of the output move, and the noise of each is "
        "made for the whole budget.",
        f"Divide the budget among the {len(each)} numbers, or bound how many of them one record may move.",
    )


def _is_one_vector(scene: Scene, moves: Vector) -> bool:
    """True if half of the changed record moves all numbers less, by one factor: then they are parts of one vector, not queries."""
    sides = variants.by_size(scene.first, scene.second)
    less = None if sides is None else variants.scaled(sides[1], 0.5, sides[2])
    found = None if sides is None or less is None else scene.moved(sides[0], less)
    if found is None:
        return False
    factors = np.abs(found[moves != 0] / moves[moves != 0])
    return bool(np.ptp(factors) < 1e-6 and abs(factors[0] - 1) > 1e-6)


def _of_norm(budget: _Budget) -> Diagnosis | None:
    """Name Laplace noise that is made for the L2 norm of the move, where it needs the L1 norm."""
    each, error = budget.move.each, budget.move.error
    norm = float(np.sqrt((each**2).sum())) / budget.limit
    if (
        budget.move.law != "laplace"
        or error > _SHARP
        or len(each) < 2
        or abs(norm - 1) > error / np.sqrt(len(each))
        or budget.factor < 1.4
    ):
        return None
    return Diagnosis(
        "norm",
        "Laplace noise pays for the L1 norm of the move, and here it is made for the L2 norm, which is smaller.",
        "Clip to a bound on the L1 norm, or use Gaussian noise and a claim with a delta.",
    )


def _of_range(scene: Scene) -> Diagnosis | None:
    """Name bounds taken from the data: all records times 4 leave the value, one record times 1/2 and 3/4 move it to two others."""
    places = _places(scene)
    grown = [variants.scaled(data, 4.0) for data in (scene.first, scene.second)]
    if not places or any(data is None for data in grown):
        return None
    still = [scene.moved(data, made) for data, made in zip((scene.first, scene.second), grown, strict=True)]
    if any(moves is None or moves.any() for moves in still):
        return None
    longer = max(scene.first, scene.second, key=len)
    parts = [scene.moved(longer, variants.scaled(longer, factor, places)) for factor in (0.5, 0.75)]
    if parts[0] is None or parts[1] is None or not parts[0].any() or not parts[1].any() or np.allclose(parts[0], parts[1]):
        return None
    return Diagnosis(
        "range",
        "Values are scaled by bounds taken from the data: if all records grow alike the output stays, and if one grows it moves.",
        "Scale by public bounds, to which every value is clipped first.",
    )


def _places(scene: Scene) -> list[int]:
    """Places of the records in which the datasets differ, in the longer one."""
    return variants.changed(scene.first, scene.second)


def _of_clip(scene: Scene, budget: _Budget) -> Diagnosis | None:
    """Name a missing clip: the changed record moves the value in proportion, and the noise is wide enough for all the others."""
    sides = variants.by_size(scene.first, scene.second)
    if sides is None or not variants.is_outlier(*sides[1:]):
        return None
    _, longer, places = sides
    grown = [scene.moved(longer, variants.scaled(longer, factor, places)) for factor in (2.0, 3.0)]
    if grown[0] is None or grown[1] is None or not grown[0].any() or not np.allclose(grown[1], 2 * grown[0], rtol=1e-6):
        return None
    others = [scene.moved(less, longer) for less in variants.without_each(longer, places)]
    if not all(budget.keeps(moves) for moves in others) or not others:
        return None
    return Diagnosis(
        "unclipped",
        "Nothing bounds what one record adds: if it is twice as large it moves the value twice as far. The noise is wide enough "
        "for the other records, and not for this one.",
        "Clip every record to public bounds before it is added, and scale the noise to these.",
    )


def _rounded(factor: float) -> str:
    """A factor with two digits, and never with an exponent."""
    digits = 1 - math.floor(math.log10(factor))
    return f"{round(factor, digits):.{max(digits, 0)}f}"


def _too_narrow(scene: Scene, budget: _Budget | None) -> Diagnosis | None:
    """Name noise that is too narrow, with the factor where the law of the noise shows it."""
    if budget is None and (not scene.coarse or len(scene.twins) < _FOR_TAILS or _may_end(scene)):
        return None
    times = f"about {_rounded(budget.factor)} times " if budget is not None else ""
    return Diagnosis(
        "narrow",
        f"One record changes the value {times}as much as the noise is made to hide."
        if times
        else "The noise is too narrow for how far the value moves.",
        "Find out how far one record can move the value at most, clip it to that, and scale the noise to it.",
    )
