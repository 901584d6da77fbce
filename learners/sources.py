"""The source of a fit's noise: the operating system, or a seed in tests."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer, kind_of
from mechanisms.sampling.random import BitSource, source_from


def noise_source(random_state: Any) -> BitSource | None:
    """Return the source of a fit's noise: None for the operating system, else one for tests, which marks the record."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return source_from(random_state)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return source_from(np.random.default_rng(integer(random_state, "random_state", lower=0)))
    raise InvalidArgument(
        "DPA105",
        f"random_state must be None, an integer or a numpy Generator, got {kind_of(random_state)}. "
        "Leave it out for a release; tests write random_state=0.",
    )
