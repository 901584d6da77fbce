"""Points at which universal statements are looked at, and sizes of searches: another would do, at most with other figures."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any, Final

from learners.targets.choices import ONE

PLACES: Final = ((ONE, 0), (0, ONE), (-ONE, 0), (ONE // 2, -ONE // 2), (0, 0))
"""Five records: one that moves a count moves it by 1 wherever it is, and a step of 2^-20 passes no candidate."""

SETTINGS: Final[dict[str, Any]] = {"epsilon": 1, "delta": "1e-6", "feature_norm": 1}
"""For learners that refuse a relation before they look at settings or data."""

MARGIN: Final = {"margin": "1/4"}
"""For learners that refuse a relation before they look at settings or data, and take a margin."""

DATA: Final = ([[0.5], [-0.5]], [0, 1])
"""For learners that refuse a relation before they look at settings or data."""

PASS: Final = (128, 2**10)
"""Records of a short pass, which are all as long as allowed, and the steps of their lattice to that length."""

PLAN: Final[dict[str, Any]] = {"records": 100_000, "columns": 64, "bound": 2**20, "margin": "1/10"}
"""Size of a large plan: a record or column more or less moves no digit of its noise multiplier that is shown."""

SMALL: Final[dict[str, Any]] = {"records": 300, "columns": 4}
"""Size of a small plan: its noise is made for the price that it is asked for, at every size."""

EPSILONS: Final = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(8))
"""Where noise multipliers are plotted; the figures of the item are those of 1."""

NOISE: Final = (1e-2, 1e7)
"""Limits of a search for the least noise that is enough, which lies between them."""

DRAWS: Final = 1000
"""Draws with replacement from as many records: the tail is that of a Poisson law but for a few parts in a thousand."""

LENGTHS: Final = (Fraction(1, 100), Fraction(100))
"""A stretch of log(1/delta) on which a cover repeats what a closed form says of all."""

HOSTILE: Final = tuple(
    (*pair, 0.5)
    for pair in product((5e-324, 1e-200, 1e300, -1e300, 4096.0, math.inf, -math.inf, math.nan, 0.0, 1.0, 2.0**60), repeat=2)
)
"""Records that break careless clipping; every one of them has to be cut."""

BITS: Final = 16
"""Steps of a lattice, as a power of 2: norms are compared with the same power."""

ROOM: Final = {"clip": 1000, "lattice_bits": 24}
"""A bound above all images of a sketch, so that nothing is cut, and a fine lattice."""

LABELS: Final = (-(10**6), -3, 0, 5, 10**6)
"""Labels without a bound: losses of hypotheses differ by their distance at most, whatever the label."""

LENGTH: Final[dict[str, Any]] = {"runs": 1000, "alpha": "1e-6", "seed": 5}
"""Length of an attack, which bets until it has won, and its coins."""

FAR: Final = 80
"""A threshold in units of the noise that no value reaches by chance: the price of a run is that of its updates."""

SILENT: Final = 300
"""Silent rounds that are counted: a sum over more is larger by less than a digit that is shown."""

UPDATES: Final = (10, 50, 200)
"""Numbers of updates at which Theorem 2 is tried: the noise grows with their root, so that the price hardly changes."""

QUESTIONS: Final = (-9, 10, 9)
"""Range and seed of coordinates of questions: as many questions as columns show all of a function, whichever they are."""
