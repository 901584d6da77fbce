"""Learners from noisy values of a kernel minimiser at public points: the weights that fit them best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import word
from dpaudit.releases import Release
from learners.kernels.fitting import KernelClassifier, KernelModel, KernelRegressor
from learners.kernels.noise import laplace_release, whole_budget_release
from learners.kernels.spectrum import PublicPoints, largest_eigenvalue
from learners.record import Charge
from learners.rows.rows import as_array
from learners.solvers.minimum import IMAGE_BITS
from learners.solvers.plans import mechanism_of
from mechanisms.laplace import LaplaceMechanism
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.kernels.fitting import Space
    from learners.rows.rows import Rows
    from learners.solvers.minimum import Minimum
    from mechanisms.sampling.random import BitSource

Noise = Literal["spectral", "independent", "literal"]

_NOISES: Final = ("spectral", "independent", "literal")
_FINENESS_BITS: Final = 9
"""A record moves a value by about so many bits of steps."""

_HALVINGS: Final = 200
"""Enough to leave a single float of any interval; the search reads released values alone."""

_LEAST_RIDGE: Final = 2.0**-28
"""Directions in which images are zero but for their rounding are left out."""


@dataclass(kw_only=True, eq=False, repr=False)
class ReadsPoints(PublicPoints, KernelModel):
    """A learner from noisy values of its minimiser at public points."""

    released: ClassVar[tuple[str, ...]] = ("values_", "weights_")

    noise: Noise = "spectral"

    def _telling(self, public: Public, space: Space, found: Minimum) -> NoisyValues:
        """Values at the points."""
        word(self.noise, "noise", _NOISES)
        return noisy_values(space.images(self._public_points(public)), public, found, self.noise)


@dataclass(kw_only=True, eq=False, repr=False)
class SemiInteractiveKernelClassifier(ReadsPoints, KernelClassifier):
    """A classifier that follows the minimiser at public points, where its noisy values are released.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
      points: public array of shape (T, d), such as unlabelled records of no person; None takes evenly spread ones.
      point_count: number of evenly spread points, used if `points` is None.
      point_seed: public seed of these points.
      noise: "spectral" for Gaussian noise to the largest eigenvalue of the kernel at the points, "independent" for Gaussian noise
        to the root of their number, "literal" for the Laplace noise of the paper, each value by itself.
    Source: Jain, Thakurta 2013, Algorithm 2; docs/kernels.md, "Public points".
    Example:
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = SemiInteractiveKernelClassifier(epsilon=8, delta="1e-6", feature_norm=1, classes=[0, 1], point_count=50)
      >>> model.fit(X, [1, 0, 1, 0] * 500).predict(X[:4]).tolist()
      [1, 0, 1, 0]
    """


@dataclass(kw_only=True, eq=False, repr=False)
class SemiInteractiveKernelRegressor(ReadsPoints, KernelRegressor):
    """A regressor that follows the least-squares minimiser at public points, where its noisy values are released.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      adjacency: "replace_one".
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
      residual_bits: residuals count in full up to 2**residual_bits times the bound of the labels, public, and noise grows with it.
      points: public array or sparse matrix of shape (T, d), such as the points to predict; None takes evenly spread ones.
      point_count: number of evenly spread points, used if `points` is None.
      point_seed: public seed of these points.
      noise: "spectral", "independent" or "literal", as for `SemiInteractiveKernelClassifier`.
    Source: Jain, Thakurta 2013, Algorithm 2; docs/kernels.md, "Regression".
    Example:
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = SemiInteractiveKernelRegressor(epsilon=8, delta="1e-6", feature_norm=1, label_bound=1, points=X[:4])
      >>> model.fit(X, [1, -1, 1, -1] * 500).values_.shape
      (4,)
    """


@dataclass(frozen=True, eq=False)
class NoisyValues:
    """Noisy values of the minimiser at public points (Jain, Thakurta 2013, Algorithm 2); `noisy_values` makes one."""

    points: Rows  # their images
    found: Minimum
    shift: int  # values are rounded to steps of 2**shift units of weights times images
    release: Release  # of all values together, or of one of them
    together: bool  # True if it is of all of them

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The releases."""
        return (Charge((self.release,) * (1 if self.together else self.points.steps.shape[0])),)

    def values(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Values at the points before noise, each rounded to the nearest step."""
        # On a copy: what rows remember for speed depends on how large the weights are, which are private.
        return (replace(self.points).margins(weights) + (1 << self.shift >> 1)) >> self.shift

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """Noisy values, and the weights that fit them."""
        private = self.values(weights)
        if self.together:
            noisy = mechanism_of(self.release).release(private, source)
        else:
            scale, sensitivity = self.release.parameter("scale"), self.release.sensitivity
            mechanism = LaplaceMechanism(sensitivity=sensitivity, scale=scale, adjacency=self.release.adjacency)
            noisy = np.array([mechanism.release(value, source) for value in private.tolist()])
        return {"values_": noisy, "weights_": self.fitted(noisy)}

    def fitted(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The weights, no longer than the minimiser can be, that explain released values best.

        With literal noise, those whose values come closest. Else a ridge holds back noise: its variance, which is public, over that
        of the weights, which is estimated from the size of the released values (Jain, Thakurta 2013, Algorithm 2, last step).
        """
        images = replace(self.points).floats / 2.0**IMAGE_BITS
        unit = 2.0 ** (self.shift - self.found.weight_bits - IMAGE_BITS)
        plan = self.found.objective
        released, longest = values * unit, float(self.found.longest if self.together else plan.loss.steepest / plan.ridge)
        # Weights are images.T @ parts, or, where there are more points than columns, parts: of as few coordinates as there can be.
        few = images.shape[0] <= images.shape[1]
        squares, basis = np.linalg.eigh(as_array(images @ images.T if few else images.T @ images))
        squares = np.maximum(squares, 0.0)
        pulled = basis.T @ (released if few else images.T @ released)

        def size(ridge: float) -> float:
            """Squared norm of the weights."""
            return float((np.square(pulled / (squares + ridge)) * (squares if few else 1.0)).sum())

        ridge = float(squares.max(initial=0.0)) * _LEAST_RIDGE + 2.0**-500
        if self.together:
            noise = (float(self.release.parameter("sigma")) * unit) ** 2
            signal = max(float(np.square(released).sum()) - len(released) * noise, noise * math.sqrt(2 * len(released)))
            ridge = max(ridge, noise * float(squares.sum()) / signal)
        above = float(np.sqrt((np.square(pulled) * (squares if few else 1.0)).sum())) / longest + ridge
        if size(ridge) > longest**2:
            for _ in range(_HALVINGS):
                middle = math.sqrt(ridge * above)
                ridge, above = (middle, above) if size(middle) > longest**2 else (ridge, middle)
            ridge = above
        parts = basis @ (pulled / (squares + ridge))
        weights = images.T @ parts if few else parts
        return np.asarray(np.rint(weights * 2.0**self.found.weight_bits).astype(np.int64))


def noisy_values(points: Rows, public: Public, found: Minimum, noise: Noise = "spectral") -> NoisyValues:
    """Plan the release of the minimiser's values at public points, for all of epsilon, delta (Jain, Thakurta 2013, Algorithm 2)."""
    count = points.steps.shape[0]
    alone = found.sensitivity << IMAGE_BITS
    shift = max(0, alone.bit_length() - _FINENESS_BITS)
    if noise == "literal":
        if public.delta == 0:
            raise InvalidArgument("DPA103", "delta must be positive, got 0. Give a small one, such as 1e-6.")
        steps = (alone >> shift) + 1
        scale = math.ceil(steps * math.sqrt(8 * count * -math.log(public.delta)) / float(public.epsilon))
        release = laplace_release(LaplaceMechanism(sensitivity=steps, scale=scale, adjacency=public.adjacency))
        return NoisyValues(points, found, shift, release, together=False)
    spread = Fraction(count) if noise == "independent" else largest_eigenvalue(points)
    moved = math.ceil(Fraction(alone, 1 << shift) * root_above(spread) + root_above(Fraction(count)))
    return NoisyValues(points, found, shift, whole_budget_release(public, moved, count), together=True)
