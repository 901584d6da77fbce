"""Independent oracle: the most right guesses that any mechanism of a claim allows, by a linear program over whole mechanisms."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix


def largest_probability(canaries, guessed, correct, points):
    """Largest P[at least `correct` of `guessed` guesses are right] over every mechanism that keeps all points (epsilon, delta).

    The unknowns are the probabilities M(t | s) of guessing t in {-1, 0, 1}^m with `guessed` entries that are not 0, for each
    inclusion s in {-1, 1}^m, and the excess of M(t | s) over e^epsilon M(t | s') for each s' that differs in one canary.
    """
    worlds = list(product((-1, 1), repeat=canaries))
    guesses = [guess for guess in product((-1, 0, 1), repeat=canaries) if sum(map(abs, guess)) == guessed]
    places = {world: number for number, world in enumerate(worlds)}
    neighbours = [
        (places[world], places[tuple(-bit if place == i else bit for place, bit in enumerate(world))])
        for world in worlds
        for i in range(canaries)
    ]
    width, cases = len(guesses), [(pair, point) for pair in neighbours for point in points]
    start, total = len(worlds) * width, len(worlds) * width + len(cases) * width
    limits, budgets = lil_matrix((len(cases) * (width + 1), total)), np.zeros(len(cases) * (width + 1))
    for number, ((first, second), (epsilon, delta)) in enumerate(cases):
        for guess in range(width):
            row = number * (width + 1) + guess
            limits[row, first * width + guess] = 1
            limits[row, second * width + guess] = -math.exp(epsilon)
            limits[row, start + number * width + guess] = -1
            limits[(number + 1) * (width + 1) - 1, start + number * width + guess] = 1
        budgets[(number + 1) * (width + 1) - 1] = delta
    sums = lil_matrix((len(worlds), total))
    aim = np.zeros(total)
    for world, place in places.items():
        sums[place, place * width : (place + 1) * width] = 1
        for number, guess in enumerate(guesses):
            right = sum(bit == said for bit, said in zip(world, guess, strict=True))
            aim[place * width + number] = -(right >= correct) / len(worlds)
    found = linprog(aim, A_ub=limits.tocsr(), b_ub=budgets, A_eq=sums.tocsr(), b_eq=np.ones(len(worlds)), method="highs")
    return -found.fun
