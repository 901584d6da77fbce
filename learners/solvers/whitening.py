"""Rows that vary alike in every direction, as far as a noisy second moment shows how they vary."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.rows.ingest import to_rows
from learners.solvers.newton import Axes
from learners.solvers.quasi_newton import eigen, in_one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from learners.solvers.profile import Standard

REACH_BITS: Final = 4
"""Margins are those of rows cut at 2**4 times the largest norm of a row that pulls."""

_EVEN: Final = 0.2
"""Variances count for this part of their mean more than they are: noise of directions that hardly vary stays small."""

_LONGEST: Final = 256.0
"""No direction is stretched more, so that margins fit 53 bits whatever was released."""

_MAP_BITS: Final = 20


@dataclass(frozen=True, eq=False)
class Whitened:
    """Each record twice, both by a public map once the moment is released, and how scores come back."""

    short: Rows  # cut to the bound of the plan: what pulls
    far: Rows  # in the same steps, cut much farther: what margins come from
    axes: Axes  # of the second moment that was released, for these rows
    back: NDArray[np.float64]  # from their weights to those of the rows before


def whiten(standard: Standard, rows: Rows, axes: Axes, plan: SolverPlan) -> Whitened:
    """Map standard rows, each by itself, so that noise for the longest row is as large beside all directions of the others."""
    # For noise of one size in all directions and rows of one usual length, the error of scores, tr(A^-2) tr(A S A), is least where
    # all directions of A S A are alike. Scores that do not show in directions of small variance are the reason for a little less.
    constant = plan.intercept / 2.0**plan.lattice_bits
    with in_one_thread():
        moment = (axes.vectors * (axes.values / plan.records)) @ axes.vectors.T
        mean = moment[:-1, -1] / constant
        mean /= max(1.0, math.sqrt(float(np.einsum("i,i->", mean, mean))))
        values, vectors = eigen(moment[:-1, :-1] - np.multiply.outer(mean, mean))
        values = np.maximum(values, float(axes.values.min()) / plan.records)
        even = values + _EVEN * float(values.mean())
        stretch = 1 / np.sqrt(even * float((values / even).sum()))
        turn = (vectors * np.minimum(stretch, _LONGEST)) @ vectors.T
        whole = np.rint(np.vstack([turn, -(mean / constant) @ turn]) * 2.0**_MAP_BITS).astype(np.int64)
        back = np.zeros_like(moment)
        back[:, :-1], back[-1, -1] = whole / 2.0**_MAP_BITS, 1.0
        new, turned = eigen(back.T @ moment @ back * plan.records)
    before = standard.apply(rows, plan, REACH_BITS)
    images = before.margins(whole) / 2.0 ** (_MAP_BITS + plan.lattice_bits)  # exact for every record by itself
    short, far = (
        replace(
            to_rows(images, rows.labels, feature_norm=2**bits, lattice_bits=plan.lattice_bits + bits, intercept=plan.intercept),
            weights=rows.weights,
        )
        for bits in (0, REACH_BITS)
    )
    return Whitened(short, far, Axes(np.maximum(new, 1e-12 * float(new.max())), turned, axes.noise), back)
