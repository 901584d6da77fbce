"""Clipping and noise of the observed sums: exact tests of what is left when the clipped gradients are taken away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.training.findings import FALSE_ALARM, LoopCheck, holds, not_judged
from dpaudit.auditor.training.observed import Array, Step

CLIPPING: Final = "clipping"
NOISE: Final = "noise"
FRESH: Final = "fresh noise"

_ROUNDING: Final = 1e-5
_CLEAR: Final = 10.0
"""Standard deviations by which a mistake has to stand out for its absence to be reported: six for the level, the rest for power."""

_WEAKEST: Final = 0.25
_SHIFTS: Final = {
    "excess": "what clipping should have taken away",
    "sum": "the sum of the clipped gradients",
    "divided": "what dividing that sum by the actual size of the batch, before the noise, changes",
}
"""What common mistakes add to the sum of clipped gradients."""

_PRIOR: Final = 10.0
"""Any fixed number is valid: what the tail of a weighted sum is mixed with, in squared deviations."""

_MARKS: Final = (0.5, 1.0, 2.0, 3.0, 4.0)
_NEAR: Final = 3e-6
"""Difference of two equal numbers after rounding to 32 bits, in deviations of the noise."""

_SAME: Final = 1e-4
"""Share of its length by which the noise of two steps may differ to be called the same."""

_CLIP_EACH: Final = "Multiply the gradient of each example, over all layers together, by min(1, clip / its norm); then add them up."
_ADD_NOISE: Final = (
    "Add noise_multiplier * clip * normal(size of the sum) once to the sum, to every coordinate, before dividing; report every "
    "gradient that is summed."
)
_DRAW_ANEW: Final = "Draw from one generator that goes on from step to step, and seed it once."


def check_clipping(steps: Sequence[Step]) -> LoopCheck:
    """Check that each gradient was clipped: exactly where the loop told enough, else by what is left of the sums."""
    for number, step in enumerate(steps):
        detail = _exact_mistake(step)
        if detail:
            return LoopCheck(CLIPPING, "violated", number + 1, detail, _CLIP_EACH, number)
    if all((step.longest is not None and step.gap is not None) or not len(step.batch) for step in steps):
        return holds(CLIPPING, sum(len(step.batch) for step in steps))
    if not any(step.clipped for step in steps):
        return not_judged(
            CLIPPING, "no gradient was longer than the clip. Use a smaller clip, or add a record with a long gradient."
        )
    detail, first = _likely_mistake(steps)
    if detail:
        return LoopCheck(CLIPPING, "violated", len(steps), detail, _CLIP_EACH, first)
    if not _would_show(steps, "excess"):
        return not_judged(CLIPPING, "the noise hides whether gradients were clipped. Give clean_sum= to step, or watch more steps.")
    hidden = "" if _would_show(steps, "divided") else f"the noise would hide {_SHIFTS['divided']}; give clean_sum= to step"
    return holds(CLIPPING, sum(step.clipped for step in steps), hidden)


def _likely_mistake(steps: Sequence[Step]) -> tuple[str, int | None]:
    """Say what the sums hold beside noise that no chance explains, and the first step that shows it."""
    for name, said in _SHIFTS.items():
        scores = [step.scores[name] for step in steps if name in step.scores]
        weights = [step.shifts[name] for step in steps if name in step.scores]
        if scores and min(_weighted_tail(scores, weights), _tail(scores), _sum_of_squares_tail(scores)) <= FALSE_ALARM / 10:
            along = float(np.dot(scores, weights))
            detail = f"beside noise, the sums hold {'more' if along > 0 else 'less'} along {said}"
            if name == "excess" and _is_plausible(steps, bare=True):
                detail += "; they are the sums of gradients that were not clipped"
            return detail, next((number for number, step in enumerate(steps) if abs(step.scores.get(name, 0.0)) > 6), None)
    inside, dimensions = (sum(part) for part in zip(*(step.span for step in steps), strict=True))
    if dimensions and _upper_tail(dimensions, inside) <= FALSE_ALARM / 10 and _is_plausible(steps, bare=False, beside=True):
        return "beside noise, the sums hold something else that is made of the gradients", None
    return "", None


def _would_show(steps: Sequence[Step], name: str) -> bool:
    """True if a common mistake would stand out of the noise of these steps, or the loop told enough to see it exactly."""
    exact = name == "excess" and all(step.longest is not None or not len(step.batch) for step in steps)
    exact |= all(step.gap is not None or not len(step.batch) for step in steps)
    return exact or sum(step.shifts.get(name, 0.0) ** 2 for step in steps) >= _CLEAR**2


def _exact_mistake(step: Step) -> str:
    """Say what the clipped gradients, or the sum before noise, show without any probability."""
    if step.longest is not None and step.longest > 1 + _ROUNDING:
        return f"a clipped gradient has {step.longest:.3g} times the clip"
    if step.gap is not None and step.gap > 1:
        return "the sum before noise is not that of the clipped gradients"
    return ""


def check_noise(steps: Sequence[Step], by_coordinate: Array, clipping: LoopCheck, fresh: LoopCheck) -> LoopCheck:
    """Check the scale of the noise: of all sums, of each sum, of each coordinate, and that coordinates differ."""
    from scipy.special import chdtr

    bare = clipping.status == "violated" and any(step.gap is None for step in steps)
    if fresh.status == "violated":  # the first step alone, since the tests of several need independent noise
        steps, by_coordinate = steps[:1], steps[0].noise ** 2
    if bare and not _is_plausible(steps, bare=True):
        return not_judged(NOISE, "the sums are not those of the reported gradients, so that their noise is unknown")
    energies = [step.bare_energy if bare else step.energy for step in steps]
    freedom = sum(step.size for step in steps)
    scale, level = math.sqrt(sum(energies) / freedom), FALSE_ALARM / 8
    if chdtr(freedom, sum(energies)) <= level:
        return LoopCheck(NOISE, "violated", len(steps), f"its deviation is {scale:.3g} times the claimed one", _ADD_NOISE)
    for number, (step, energy) in enumerate(zip(steps, energies, strict=True)):
        if chdtr(step.size, energy) <= level / len(steps):
            seen = math.sqrt(energy / step.size)
            return LoopCheck(
                NOISE, "violated", len(steps), f"its deviation is {seen:.3g} times the claimed one", _ADD_NOISE, number
            )
    if not bare and chdtr(len(steps), by_coordinate.min()) <= level / len(by_coordinate):
        quiet = int(np.count_nonzero(chdtr(len(steps), by_coordinate) <= level / len(by_coordinate)))
        return LoopCheck(
            NOISE, "violated", len(steps), f"{quiet} of {len(by_coordinate)} coordinates have too little of it", _ADD_NOISE
        )
    if not bare and (detail := _other_noise(steps, scale, level)):
        return LoopCheck(NOISE, "violated", len(steps), detail, _ADD_NOISE)
    seen = 1 - _CLEAR / math.sqrt(2 * freedom)
    if seen < _WEAKEST:
        return not_judged(NOISE, f"{freedom} numbers show little of a deviation. Watch more steps.")
    return holds(NOISE, len(steps), f"its deviation is {scale:.4g} times the claimed one; below {seen:.3g} would have been found")


def check_fresh_noise(steps: Sequence[Step], clipping: LoopCheck) -> LoopCheck:
    """Check that the noise of different steps is independent: reused seeds repeat it."""
    from scipy.special import stdtr

    noise = np.array([step.noise for step in steps])
    if len(steps) < 2 or noise.shape[1] < 2:
        return not_judged(FRESH, "two steps of two coordinates are needed")
    if clipping.status == "violated" and any(step.gap is None for step in steps):
        # Where gradients of different batches were not clipped, what is left of the sums is not the same in any two steps.
        pair = _same_pair(noise, [step.batch for step in steps])
        if pair is None:
            return not_judged(FRESH, "the sums are not those of clipped gradients, so that their noise is unknown")
        return LoopCheck(
            FRESH, "violated", len(steps), f"the noise of steps {pair[0]} and {pair[1]} is the same", _DRAW_ANEW, pair[1]
        )
    if _repeats(noise):
        detail = "numbers of one step's noise repeat, as where layers share a seed or noise is broadcast"
        return LoopCheck(FRESH, "violated", len(steps), detail, _DRAW_ANEW)
    lengths = np.linalg.norm(noise, axis=1)
    if not lengths.all():
        return not_judged(FRESH, "a step has no noise at all")
    cosines = np.clip(noise @ noise.T / np.outer(lengths, lengths), -1, 1)
    first, second = np.triu_indices(len(steps), 1)
    pairs, freedom = cosines[first, second], noise.shape[1] - 1
    ratios = np.abs(pairs) * np.sqrt(freedom / np.maximum(1e-300, 1 - pairs**2))
    worst = int(np.argmax(ratios))
    if 2 * stdtr(freedom, -ratios[worst]) * len(pairs) <= FALSE_ALARM / 2:
        detail = f"the noise of steps {first[worst]} and {second[worst]} is the same, or nearly"
        return LoopCheck(FRESH, "violated", len(steps), detail, _DRAW_ANEW, int(second[worst]))
    return holds(FRESH, len(steps))


def _other_noise(steps: Sequence[Step], scale: float, level: float) -> str:
    """Say how noise of no smaller deviation than claimed is other noise; nothing where that could be chance."""
    from scipy.special import bdtr, bdtrc, ndtr

    equal = [step.scores["equal"] for step in steps if "equal" in step.scores]
    if equal and max(map(abs, equal)) > 6 and _sum_of_squares_tail(equal) <= level:
        return "coordinates of a step share their noise"
    if _upper_tail(sum(step.size for step in steps), sum(step.energy for step in steps)) <= level:
        return (
            f"the sums are {scale:.3g} times as far from the clipped gradients as the claimed noise: more noise, or other gradients"
        )
    sizes = np.abs(np.concatenate([step.noise for step in steps]))
    if len(sizes) * math.log1p(-2 * float(ndtr(-sizes.max()))) <= math.log(level / 2):
        return f"none of {len(sizes)} numbers lies beyond {sizes.max():.3g} deviations: the noise is cut off"
    for mark in _MARKS:
        count, chance = int(np.count_nonzero(sizes > mark)), 2 * float(ndtr(-mark))
        few, many = bdtr(count, len(sizes), chance), bdtrc(count - 1, len(sizes), chance) if count else 1.0
        if min(few, many) <= level / (4 * len(_MARKS)):
            return (
                f"{count} of {len(sizes)} numbers lie beyond {mark:g} deviations, not {chance * len(sizes):.0f} as for a Gaussian"
            )
    return ""


def _same_pair(noise: Array, batches: Sequence[NDArray[np.int64]]) -> tuple[int, int] | None:
    """Two steps of different batches whose noise is the same up to rounding, which no law of continuous noise gives."""
    order = np.argsort(noise[:, 0], kind="stable")
    apart = np.linalg.norm(np.diff(noise[order], axis=0), axis=1)
    for place in np.flatnonzero(apart < _SAME * np.linalg.norm(noise[order[1:]], axis=1)):
        first, second = sorted((int(order[place]), int(order[place + 1])))
        if not np.array_equal(batches[first], batches[second]):
            return first, second
    return None


def _repeats(noise: Array) -> bool:
    """True if far more numbers of a step are equal than a continuous law gives."""
    from scipy.special import bdtrc

    pairs = int(np.count_nonzero(np.diff(np.sort(noise, axis=1), axis=1) < _NEAR))
    # One number at a time, the next is near one of fewer than n others with probability at most this, and is then in two pairs.
    chance = min(1.0, 0.8 * _NEAR * noise.shape[1])
    return bool(bdtrc(pairs // 2 - 1, noise.size, chance) <= FALSE_ALARM / 2) if pairs > 1 else False


def _tail(scores: Sequence[float]) -> float:
    """Two-sided tail of a sum of standard normal numbers."""
    return math.erfc(abs(sum(scores)) / math.sqrt(2 * len(scores)))


def _weighted_tail(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Two-sided tail of a weighted sum of standard normal numbers, each weight known before its number, by a mixture of bets."""
    total, spread = float(np.dot(scores, weights)), float(np.dot(weights, weights)) + _PRIOR
    return min(1.0, math.exp(-(total**2) / (2 * spread)) * math.sqrt(spread / _PRIOR))


def _sum_of_squares_tail(scores: Sequence[float]) -> float:
    """Upper tail of a sum of squares of standard normal numbers."""
    return _upper_tail(len(scores), sum(score**2 for score in scores))


def _upper_tail(freedom: int, energy: float) -> float:
    """Upper tail of the chi-square law."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, energy))


def _is_plausible(steps: Sequence[Step], *, bare: bool, beside: bool = False) -> bool:
    """True if the noise left of the sums, or that `beside` the span of the gradients, is at most that of the claim."""
    inside, dimensions = (sum(part) for part in zip(*(step.span for step in steps), strict=True)) if beside else (0.0, 0)
    energy = sum(step.bare_energy if bare else step.energy for step in steps) - inside
    return _upper_tail(sum(step.size for step in steps) - dimensions, energy) > FALSE_ALARM
