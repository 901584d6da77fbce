"""The learners' bundled audit targets: their releases seen from inside, whole fits from outside, and single choices."""

from __future__ import annotations

from typing import Final

from learners.targets import boosting, choices, halfspaces, kernels, linear, outside, perturbation, phased, public_data, sums

TARGETS: Final = (
    *linear.TARGETS,
    *sums.TARGETS,
    *phased.TARGETS,
    *choices.TARGETS,
    *outside.TARGETS,
    *halfspaces.TARGETS,
    *public_data.TARGETS,
    *kernels.TARGETS,
    *perturbation.TARGETS,
    *boosting.TARGETS,
)
"""All of them, in the order in which an audit of everything makes them."""
