"""Specimens that an audit runs, written as one row each: sound or broken, with a claim, a pair and a sampler."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import Adjacency, Claim, Guarantee
from dpaudit.targets import Target

Sampler: TypeAlias = Callable[[Any, int, Generator], NDArray[Any]]
"""From data, a count and a generator to an array of that many independent outputs."""

ALL_MOVE: Final = Adjacency("norm_ball", norm="linf", radius=1)
"""Every answer may move by 1."""

ONE_MOVES: Final = Adjacency("norm_ball", norm="l1", radius=1)
"""The answers move by 1 in all."""


def _released(  # noqa: PLR0913 - the columns of a table
    verdict: Literal["proven", "refuted"],
    name: str,
    description: str,
    source: str,
    guarantee: Guarantee,
    pair: tuple[Any, Any],
    sample: Sampler,
    *,
    adjacency: Adjacency = ALL_MOVE,
    score: Callable[[Any], float] | None = None,
) -> Specimen:
    """Return the specimen of a mechanism, its target named after it."""
    target = Target(
        name=f"zoo_{name}",
        description=f"{description} ({source})",
        sample=sample,
        claim=Claim(guarantee, adjacency=adjacency),
        neighbours=[pair],
        score=score,
        public_data=True,
    )
    return Specimen(name=name, source=source, verdict=verdict, description=description, target=target)


sound: Final = partial(_released, "proven")
broken: Final = partial(_released, "refuted")


def rounded_up(value: float) -> Fraction:
    """Return the least multiple of a millionth that is at least `value`: a claim that a computed epsilon keeps."""
    return Fraction(math.ceil(value * 10**6), 10**6)
