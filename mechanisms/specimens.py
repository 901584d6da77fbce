"""Broken on purpose: releases whose price looks right because the mechanism is told something false; for the auditor to find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mechanisms.laplace import LaplaceMechanism
from mechanisms.lattice import to_lattice
from mechanisms.questions import DIAGNOSIS, RADIUS, STEP, Record, column
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray


def mean_with_data_bounds(records: Sequence[Record], count: int, rng: Generator) -> NDArray[Any]:
    """Mean radius whose clamping bounds, and with them the noise, are taken from the records themselves.

    The mistake: bounds must be public. One record with a misplaced decimal point widens the range, and the noise with it, so that
    the spread of the outputs tells whether that record is there. The log shows a sensitivity that fits the noise, hence epsilon 1.

    Args:
      records: one dictionary per tumour.
      count: how many independent releases.
      rng: the audit's generator.
    Returns:
      Array of `count` noisy means in millimetres.
    Source: a frequent mistake; see docs/audit_your_own.md.
    Example:
      >>> import numpy as np
      >>> from mechanisms.questions import cancer_records
      >>> mean_with_data_bounds(cancer_records(), 3, np.random.default_rng(1)).shape
      (3,)
    """
    radii = [value for value in column(records, RADIUS) if isinstance(value, (int, float))]
    lower, upper = (round(bound(radii, default=0) / STEP) * STEP for bound in (min, max))
    steps = to_lattice(radii, lower=lower, upper=upper, lattice=STEP)
    mechanism = LaplaceMechanism(sensitivity=max(int((upper - lower) / STEP), 1), epsilon=1, adjacency="replace_one")
    return mechanism.releases(int(steps.sum()), count, source_from(rng)) * float(STEP) / max(len(records), 1)


def malignant_surplus(records: Sequence[Record]) -> int:
    """Malignant tumours minus the others: moves by 2 when a malignant record is replaced by another."""
    return sum(1 if value == 1 else -1 for value in column(records, DIAGNOSIS))


def surplus_with_half_noise(records: Sequence[Record], count: int, rng: Generator) -> NDArray[Any]:
    """Malignant tumours minus the others, with half the noise that replacing a record needs.

    The mistake: 1 is the sensitivity for adding or removing a record, but the claim is about replacing one, which moves a tumour
    from one side of the difference to the other. The true epsilon is 2.

    Args:
      records: one dictionary per tumour.
      count: how many independent releases.
      rng: the audit's generator.
    Returns:
      int64 array of `count` noisy differences.
    Source: a frequent mistake; see docs/audit_your_own.md.
    Example:
      >>> import numpy as np
      >>> surplus_with_half_noise([{"diagnosis": 1}], 3, np.random.default_rng(1)).shape
      (3,)
    """
    mechanism = LaplaceMechanism(sensitivity=1, epsilon=1, adjacency="replace_one")
    return mechanism.releases(malignant_surplus(records), count, source_from(rng))
