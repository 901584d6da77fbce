"""SemiInteractiveKernelClassifier: noisy values of the minimiser at public points, and the weights that fit them best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, word
from dpaudit.releases import Release
from learners.kernels.classifier import KernelClassifier
from learners.kernels.settling import whole_budget_release
from learners.kernels.spectrum import PublicPoints, largest_eigenvalue, points_of
from learners.record import Charge
from learners.rows.rows import as_array
from learners.solvers.minimum import IMAGE_BITS
from learners.solvers.plans import mechanism_of
from mechanisms.laplace import LaplaceMechanism
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from learners.budget import Reserves
    from learners.estimator import Public
    from learners.kernels.fitting import Space
    from learners.kernels.spaces import Kernel
    from learners.rows.rows import Rows
    from learners.solvers.minimum import Minimum
    from mechanisms.sampling.random import BitSource

Noise = Literal["spectral", "independent", "literal"]

_NOISES: Final = ("spectral", "independent", "literal")
_FINENESS_BITS: Final = 9
"""A record moves a value by about so many bits of steps."""

_HALVINGS: Final = 200
_LEAST_RIDGE: Final = 2.0**-28
"""Directions in which images are zero but for their rounding are left out."""


class SemiInteractiveKernelClassifier(KernelClassifier):
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
      points: public array of shape (T, d), unlabelled records that are nobody's, for instance; None takes evenly spread ones.
      point_count: how many evenly spread points there are, where none are given.
      point_seed: public seed of theirs.
      noise: "spectral" for Gaussian noise to the largest eigenvalue of the kernel at the points, "independent" for Gaussian noise
        to the root of their number, "literal" for the Laplace noise of the paper, each value by itself.
    Source: Jain, Thakurta 2013, Algorithm 2; docs/kernels.md, "Public points".
    Example:
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = SemiInteractiveKernelClassifier(epsilon=8, delta="1e-6", feature_norm=1, classes=[0, 1], point_count=50)
      >>> model.fit(X, [1, 0, 1, 0] * 500).predict(X[:4]).tolist()
      [1, 0, 1, 0]
    """

    released: ClassVar[tuple[str, ...]] = ("values_", "weights_")

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters from here
        self,
        *,
        epsilon: Exact,
        delta: Exact,
        feature_norm: Exact,
        adjacency: Adjacency | str = "replace_one",
        classes: Any = None,
        budget: Reserves | None = None,
        random_state: int | np.random.Generator | None = None,
        kernel: Kernel | None = None,
        ridge: Exact = "1/100",
        points: Any = None,
        point_count: int = 1000,
        point_seed: int = 0,
        noise: Noise = "spectral",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            adjacency=adjacency,
            classes=classes,
            budget=budget,
            random_state=random_state,
            kernel=kernel,
            ridge=ridge,
        )
        self.points = points
        self.point_count = point_count
        self.point_seed = point_seed
        self.noise = noise

    def _telling(self, public: Public, space: Space, found: Minimum) -> NoisyValues:
        """Values at the points."""
        return values_told(self, public, space, found)


@dataclass(frozen=True, eq=False)
class NoisyValues:
    """Noisy values of the minimiser at public points; `noisy_values` makes one.

    Args:
      points: images of them.
      found: the minimiser, as far as it is public.
      shift: values are rounded to steps of 2**shift units of weights times images.
      release: of all values together, or of one of them.
      together: whether it is of all of them.
    Source: Jain, Thakurta 2013, Algorithm 2.
    """

    points: Rows
    found: Minimum
    shift: int
    release: Release
    together: bool

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

        Literally, those whose values come closest, of norm up to slope over ridge. Otherwise a ridge holds back what is noise: the
        variance of the noise, which is public, over that of the weights, which is estimated from the size of the released values.

        Source: Jain, Thakurta 2013, Algorithm 2, last step.
        """
        images = replace(self.points).floats / 2.0**IMAGE_BITS
        unit = 2.0 ** (self.shift - self.found.weight_bits - IMAGE_BITS)
        plan = self.found.objective
        told, longest = values * unit, float(self.found.longest if self.together else plan.loss.steepest / plan.ridge)
        # Weights are images.T @ parts, or, where there are more points than columns, parts: of as few coordinates as there can be.
        few = images.shape[0] <= images.shape[1]
        squares, basis = np.linalg.eigh(as_array(images @ images.T if few else images.T @ images))
        squares = np.maximum(squares, 0.0)
        pulled = basis.T @ (told if few else images.T @ told)

        def size(ridge: float) -> float:
            """Squared norm of the weights."""
            return float((np.square(pulled / (squares + ridge)) * (squares if few else 1.0)).sum())

        ridge = float(squares.max(initial=0.0)) * _LEAST_RIDGE + 2.0**-500
        if self.together:
            noise = (float(self.release.parameter("sigma")) * unit) ** 2
            signal = max(float(np.square(told).sum()) - len(told) * noise, noise * math.sqrt(2 * len(told)))
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


class ReadsPoints(PublicPoints, Protocol):
    """A learner's parameters that say at which public points it reads values, and with which noise."""

    noise: Noise


def values_told(model: ReadsPoints, public: Public, space: Space, found: Minimum) -> NoisyValues:
    """Plan what a classifier or a regressor releases of its minimiser at public points."""
    word(model.noise, "noise", _NOISES)
    return noisy_values(space.images(points_of(model, public)), public, found, model.noise)


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
        parameters = (("lattice", Fraction(1)), ("scale", Fraction(scale)))
        return NoisyValues(
            points, found, shift, Release("discrete_laplace", parameters, Fraction(steps), public.adjacency), together=False
        )
    spread = Fraction(count) if noise == "independent" else largest_eigenvalue(points)
    moved = math.ceil(Fraction(alone, 1 << shift) * root_above(spread) + root_above(Fraction(count)))
    return NoisyValues(points, found, shift, whole_budget_release(public, moved, count), together=True)
