"""Choosing one of several: exponents, constants, thresholds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, Law, Query, Sampler
from dpaudit.claims import ZCDP, Adjacency, PureDP

SCORES: Final = Adjacency("norm_ball", norm="linf", radius=1)
DIGITS: Final = 10**15


def weights(scores: Any, exponent: float) -> NDArray[Any]:
    """Probabilities of the exponential mechanism."""
    powers = np.exp(exponent * (np.asarray(scores, dtype=float) - max(scores)))
    chances: NDArray[Any] = powers / powers.sum()
    return chances


def chosen(law: Query) -> Sampler:
    """Places drawn from probabilities."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        chances = law(data)
        return rng.choice(len(chances), size=count, p=chances)

    return sample


def exactly(law: Query) -> Law:
    """The probabilities to fifteen digits, adding up to 1."""

    def of(data: Any) -> dict[int, Any]:
        from fractions import Fraction

        shares = [Fraction(round(chance * DIGITS), DIGITS) for chance in law(data)[1:].tolist()]
        return dict(enumerate([1 - sum(shares), *shares]))

    return of


def doubled(scores: Any) -> NDArray[Any]:
    """Exponential mechanism for epsilon 1 without the 2 in its exponent."""
    return weights(scores, 1)


def halved(scores: Any) -> NDArray[Any]:
    """Exponential mechanism for epsilon 1."""
    return weights(scores, 1 / 2)


def over_the_largest(scores: Any) -> NDArray[Any]:
    """Exponential mechanism for epsilon 1 and scores in tenths of the largest one, as if only their own score could move."""
    return weights(np.asarray(scores) / max(scores) * 10, 1 / 2)


def strong(scores: Any) -> NDArray[Any]:
    """Exponential mechanism for epsilon 2."""
    return weights(scores, 1)


def weak(scores: Any) -> NDArray[Any]:
    """Exponential mechanism for epsilon 1."""
    return weights(scores, 1 / 2)


def noisiest(scale: float) -> Sampler:
    """Places of the greatest score with Laplace noise."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.argmax(np.asarray(data) + rng.laplace(scale=scale, size=(count, len(data))), axis=1)

    return sample


def sparse(epsilon: float, restarts: int) -> Sampler:
    """How many answers of either half are above a noisy threshold of 0; after each but the last the threshold is drawn anew."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        above = np.zeros((count, len(data)))
        threshold = rng.laplace(scale=2 / epsilon, size=count)
        left = np.full(count, 1 + restarts)
        for place, answer in enumerate(data):
            hit = (answer + rng.laplace(scale=4 / epsilon, size=count) >= threshold) & (left > 0)
            above[:, place] = hit
            left = left - hit
            threshold = np.where(hit, rng.laplace(scale=2 / epsilon, size=count), threshold)
        return above.reshape(count, 2, -1).sum(axis=2)

    return sample


def one_draw_for_answers(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Which answers are above a noisy threshold of 0, all with the same noise, up to the first."""
    above = np.asarray(data) + rng.laplace(scale=4, size=(count, 1)) >= rng.laplace(scale=2, size=(count, 1))
    return _until_first(above)


def own_draw_for_answers(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Which answers are above a noisy threshold of 0, each with noise of its own, up to the first."""
    above = np.asarray(data) + rng.laplace(scale=4, size=(count, len(data))) >= rng.laplace(scale=2, size=(count, 1))
    return _until_first(above)


def _until_first(above: NDArray[np.bool_]) -> NDArray[Any]:
    """1 for above and 0 for below; -1 behind the first above."""
    earlier = np.cumsum(above, axis=1) - above
    return np.where(earlier > 0, -1, above)


DEFECTS: Final = (
    Defect(
        name="exponent_doubled",
        kind="exponential mechanism with the wrong exponent",
        wrong="the exponent is epsilon times the score, without the 2 below it",
        right="half of that",
        adjacency=SCORES,
        pair=((1, 0, 0, 0), (0, 1, 1, 1)),
        broken=chosen(doubled),
        sound=chosen(halved),
        laws=(exactly(doubled), exactly(halved)),
    ),
    Defect(
        name="scores_over_the_largest",
        kind="exponential mechanism with the wrong exponent",
        wrong="scores are divided by the largest one, which is private and moves too",
        right="scores as they are",
        adjacency=SCORES,
        pair=((1, 2, 2, 2), (1, 1, 1, 1)),
        broken=chosen(over_the_largest),
        sound=chosen(halved),
    ),
    Defect(
        name="constant_of_another_theorem",
        kind="selection with the wrong zCDP constant",
        wrong="the exponential mechanism of epsilon 2 is priced as rho = 1/8 by the constant that epsilon 1 has",
        right="epsilon 1",
        guarantee=ZCDP(rho="1/8"),
        adjacency=SCORES,
        pair=((1, 0), (0, 1)),
        broken=chosen(strong),
        sound=chosen(weak),
        laws=(exactly(strong), exactly(weak)),
    ),
    Defect(
        name="noisy_maximum_of_both_signs",
        kind="selection with half the noise",
        wrong="scores that may move up and down get the noise of scores that move one way",
        right="twice that noise",
        adjacency=SCORES,
        pair=((0, 4), (1, 3)),
        broken=noisiest(1),
        sound=noisiest(2),
    ),
    Defect(
        name="restarted_for_free",
        kind="sparse vector resets without paying",
        wrong="after an answer above, the sparse vector technique starts again without another charge",
        right="it stops",
        guarantee=PureDP(epsilon=2),
        adjacency=SCORES,
        pair=((0.5,) * 32 + (-0.5,) * 32, (-0.5,) * 32 + (0.5,) * 32),
        broken=sparse(2, restarts=63),
        sound=sparse(2, restarts=0),
    ),
    Defect(
        name="one_draw_for_all_answers",
        kind="sparse vector reuses noise",
        wrong="all answers are compared with the same noise, so that their order shows",
        right="each has noise of its own",
        adjacency=SCORES,
        pair=((0, 0, 1), (0, 1, 0)),
        broken=one_draw_for_answers,
        sound=own_draw_for_answers,
    ),
)
