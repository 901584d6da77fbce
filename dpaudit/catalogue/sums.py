"""Running sums with Laplace noise: of answers that all move, and in blocks with a branch that forgets its noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.released import ONE_MOVES, Sampler, broken, sound
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import PureDP

BLOCK: Final = 3

_ONE: Final = ((0,) * 6, (0, 1, 0, 0, 0, 0))


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """Return the specimens that claim `epsilon` or are made from it."""
    scale, claim, doubled = float(1 / epsilon), PureDP(epsilon), PureDP(2 * epsilon)
    running, blocks = "running sums of answers with noise", "running sums in blocks"
    tools = "Bichsel, Steffen, Bogunovic, Vechev 2021"
    raised = ((1,) * 10, (2,) + (1,) * 9)
    return (
        sound("prefix_sum", f"{running}, one of which moves", tools, claim, raised, prefix_sums(scale), adjacency=ONE_MOVES),
        broken(
            "prefix_sum_all", f"{running} for one that moves, but all of them move", tools, claim, ((1,) * 10, (2,) * 10),
            prefix_sums(scale),
        ),
        sound(
            "smart_sum", f"{blocks}: an answer is part of one sum within its block and of one over blocks",
            "Chan, Shi, Song 2011", doubled, _ONE, smart_sums(scale, scale), adjacency=ONE_MOVES,
        ),
        broken(
            "smart_sum_bare", f"{blocks}, where the branch that ends a block adds no noise",
            "reported for an example of DP-Finder", doubled, _ONE, smart_sums(scale, 0.0), adjacency=ONE_MOVES,
        ),
    )  # fmt: skip


def prefix_sums(scale: float) -> Sampler:
    """Sums of the first answers, each answer with Laplace noise."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        answers = np.asarray(data, dtype=float)
        return np.cumsum(answers + laplace(rng, scale, (count, len(answers))), axis=1)

    return noisy


def smart_sums(scale: float, block_scale: float) -> Sampler:
    """Noisy running sums; at the end of a block its exact sum, with noise of `block_scale`, joins the sum of earlier ones."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        sums = np.zeros((count, len(data)))
        total = current = np.zeros(count)
        within = 0.0
        for place, answer in enumerate(data):
            within += answer
            if (place + 1) % BLOCK == 0:
                total = current = total + within + laplace(rng, block_scale, count)
                within = 0.0
            else:
                current = current + answer + laplace(rng, scale, count)
            sums[:, place] = current
        return sums

    return noisy
