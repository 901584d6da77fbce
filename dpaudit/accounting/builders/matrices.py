"""Privacy losses of matrix mechanisms: correlated noise for a stream of sums, with and without amplification by sampling."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from typing import Any, Final

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.cyclic import CyclicSample
from dpaudit.accounting.laws.gaussian import SquaredGaussian
from dpaudit.accounting.laws.groups import under
from dpaudit.accounting.matrices.participation import CyclicPoisson, Participation
from dpaudit.accounting.matrices.sensitivities import max_column, squared_sensitivity
from dpaudit.accounting.matrices.strategies import Strategy, Toeplitz, strategy_of
from dpaudit.accounting.model.composition import merge_parts
from dpaudit.accounting.model.law import Law
from dpaudit.accounting.privacy_loss import PrivacyLoss, one_release
from dpaudit.claims import Adjacency
from dpaudit.errors import Unsupported
from dpaudit.exact import Exact, positive, rational, shown

MOST_SAMPLED: Final = 1 << 18  # Steps of a matrix that is amplified by sampling, each of which has its own column
GROUND = "the squared sensitivity of the strategy matrix lies between these (docs/prices.md, matrix mechanisms)"


def matrix_mechanism(
    matrix: Any, *, noise_multiplier: Exact, participation: Participation, adjacency: Adjacency | str = "add_remove"
) -> PrivacyLoss:
    """Privacy loss of a stream released with correlated Gaussian noise: C x + z, or anything computed from it.

    Args:
      matrix: the strategy C: a `toeplitz(...)`, a `Tree`, or the rows of a lower triangular matrix, exact; floats are the binary
        numbers they are, so the mechanism must use the same. Where noise is added as C^-1 z with an approximate inverse, C is the
        inverse of what is used.
      noise_multiplier: standard deviation of the fresh noise z in each coordinate, divided by the clip norm and by the length of
        the longest column of C, exact, positive.
      participation: when a record may take part; contributions may depend on earlier outputs. With CyclicPoisson every step is
        amplified by sampling, for matrices with no more bands than there are classes.
      adjacency: add_remove, zero_out or replace_one; the steps of other records do not change with it. The noise multiplier is
        relative to the contribution of one record, so a record that is replaced moves the outputs twice as far as one that is
        left out: the loss under replace_one is that under add_remove with `.under("replace_one")`.
    Returns:
      A loss that is exact up to rounding where the sensitivity of the pattern is, and for Poisson samples with true column lengths.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102), not positive (DPA104), or the matrix or its size does
        not fit (DPA103, DPA105).
      Unsupported: more bands than classes, classes of which none is worst, a search that is too long, or another adjacency
        (DPA202).
    Source: Denisov, McMahan, Rush, Smith, Thakurta 2022; Choquette-Choo et al. 2023; docs/prices.md, "Matrix mechanisms".
    Example:
      >>> from dpaudit.accounting import CyclicPoisson, prefix_root, toeplitz
      >>> bands = toeplitz(prefix_root(bands=8), steps=2000)
      >>> loss = matrix_mechanism(bands, noise_multiplier=1, participation=CyclicPoisson(rate="1/32", bands=8))
      >>> print(loss.delta(epsilon=1))
      [0.0299582, 0.0299583]
    """
    strategy, noise = strategy_of(matrix), positive(noise_multiplier, "noise_multiplier")
    unit, relation = max_column(strategy) * noise**2, Adjacency.of(adjacency)
    if relation == Adjacency("replace_one"):
        left_out = matrix_mechanism(strategy, noise_multiplier=noise, participation=participation)
        return PrivacyLoss(under(left_out.composition, relation))
    if relation.kind not in {"add_remove", "zero_out"}:
        raise Unsupported(
            "DPA202", f"a matrix mechanism has a law under add_remove, zero_out and replace_one of records, got {relation}."
        )
    if isinstance(participation, CyclicPoisson):
        return _sampled(strategy, unit, noise, participation, relation)
    found = squared_sensitivity(strategy, participation)
    name = f"matrix_mechanism({_described(strategy)}, noise_multiplier={shown(noise)}, participation={participation})"
    low, high = (SquaredGaussian(square / unit, name) for square in (found.low, found.high))
    return one_release(high if low == high else Between(name, high, low, GROUND), relation)


def _sampled(matrix: Strategy, unit: Fraction, noise: Fraction, scheme: CyclicPoisson, adjacency: Adjacency) -> PrivacyLoss:
    """One sampled Gaussian for each step of the worst class of records."""
    if matrix.bandwidth > scheme.bands:
        raise Unsupported(
            "DPA202",
            f"sampling amplifies a matrix with at most {scheme.bands} bands here, got {matrix.bandwidth}. Give more classes, or "
            "the participation without sampling.",
        )
    if matrix.steps > MOST_SAMPLED:
        raise Unsupported("DPA202", f"the columns of at most {MOST_SAMPLED} sampled steps are compared, got {matrix.steps}.")
    lengths = [matrix.product(step, step) for step in range(matrix.steps)]
    classes = [sorted(lengths[first :: scheme.bands], reverse=True) for first in range(min(scheme.bands, matrix.steps))]
    worst = classes[0] if isinstance(matrix, Toeplitz) else _worst(classes)
    rate = rational(scheme.rate)
    name = f"step of {_described(matrix)}, noise_multiplier={shown(noise)}"
    parts: list[tuple[Law, int]] = []
    for square, equal in groupby(worst):
        law: Law = SquaredGaussian(square / unit, f"{name}, squared column {shown(square)}")
        parts.append((law if rate == 1 else CyclicSample(law, rate, removing=True), len(list(equal))))
    return PrivacyLoss(merge_parts(parts if rate else [], adjacency))


def _worst(classes: list[list[Fraction]]) -> list[Fraction]:
    """The class whose columns are longest, one by one; DPA202 where there is none."""
    size = max(map(len, classes))
    filled = [lengths + [Fraction(0)] * (size - len(lengths)) for lengths in classes]
    top = [max(column) for column in zip(*filled, strict=True)]
    for lengths, known in zip(classes, filled, strict=True):
        if known == top:
            return lengths
    raise Unsupported(
        "DPA202", "no class of records has the longest columns in every place. Give a matrix whose columns get no longer."
    )


def _described(matrix: Strategy) -> str:
    """A short name."""
    if isinstance(matrix, Toeplitz):
        return f"toeplitz({matrix.bandwidth} bands, steps={matrix.steps})"
    return f"matrix({matrix.steps} steps)" if not hasattr(matrix, "leaves") else f"Tree({matrix.steps})"
