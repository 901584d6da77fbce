"""PrivateSVM: a support vector machine with Laplace noise in every weight, linear or behind random Fourier features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import positive, word
from dpaudit.releases import Release
from learners.perturbation.output import noisy_minimiser
from learners.perturbation.weights import Design, PerturbedClassifier, PerturbedPlan
from learners.rows.fourier import FourierMap, GaussianKernel, LaplacianKernel, fourier_map
from learners.solvers.minimum import minimum
from mechanisms.laplace import LaplaceMechanism
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from learners.solvers.losses import Loss
    from mechanisms.sampling.random import BitSource

_KERNELS: Final[dict[str, type[GaussianKernel | LaplacianKernel] | None]] = {
    "linear": None,
    "gaussian": GaussianKernel,
    "laplacian": LaplacianKernel,
}
_IMAGE_BITS: Final = 16
_SPREAD: Final = 4
"""The rule for C: noise in the margin of a record of the largest norm has a deviation of about 1 / 4."""

_ROOT_OF_TWO: Final = Fraction(3, 2)
"""Above the root of 2: the deviation of Laplace noise over its scale."""


@dataclass(frozen=True)
class SvmPlan(PerturbedPlan):
    """The plan of a fit; `images` is the public map of a kernel, or None."""

    images: FourierMap | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateSVM(PerturbedClassifier):
    """A support vector machine of two classes; pure differential privacy by discrete Laplace noise in every weight.

    Weights minimise |w|^2 / 2 + (C / n) sum of losses up to a certified distance. The hinge loss has its corner rounded, since no
    public number of steps brings weights certainly close to the minimiser of the hinge itself. A kernel other than the linear one
    is that of public random Fourier features, whose images have a norm of at most 1.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      delta: failure probability, exact, in [0, 1); nothing of it is used.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      C: weight of the mean loss, public, exact, positive; None takes the rule of docs/choices_and_perturbation.md.
      kernel: "linear", "gaussian" or "laplacian".
      width: of the other two, public, exact, positive, in the units of the features; None takes a fifth of `feature_norm`.
      frequencies: of the other two, public; the images have twice as many columns.
      map_seed: public integer that fixes the frequencies.
      loss: "huber", "logistic", or a `learners.solvers.losses.Loss`.
      fit_intercept: whether the linear kernel gets a constant of 1/4 of `feature_norm`; its weight is regularised too.
      faithful: the published noise, twice of what epsilon needs.
    Source: Rubinstein, Bartlett, Huang, Taft 2012, Algorithms 1 and 2; docs/choices_and_perturbation.md,
      "The support vector machine".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 500)
      >>> model = PrivateSVM(epsilon=5, feature_norm=1, classes=[0, 1]).fit(X, [1, 0] * 500)
      >>> model.predict([[1.0, 1.0]]).tolist(), model.privacy_.epsilon
      ([1], Fraction(5, 1))
    """

    C: Exact | None = None
    kernel: str = "linear"
    width: Exact | None = None
    frequencies: int = 100
    map_seed: int = 0
    faithful: bool = False

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features in their own units, shape (1, d), of the linear kernel."""
        if self.plan_.images is not None:
            raise AttributeError("coef_ is defined for the linear kernel alone: weights of images are no coefficients of features.")
        return super().coef_

    def _plan(self, public: Public) -> SvmPlan:
        """The plan on records, or on their images."""
        images = self._images(public)
        if images is None:
            return SvmPlan(**vars(super()._plan(public)))
        mapped = replace(public, features=images.dimension_out, feature_norm=Fraction(1))
        return SvmPlan(**vars(self._plan_on(mapped, _IMAGE_BITS, 0)), images=images)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: SvmPlan) -> Rows:  # type: ignore[override]
        """Records, or their images."""
        rows = super()._rows(features, labels, plan)
        return rows if plan.images is None else plan.images.apply(rows, lattice_bits=_IMAGE_BITS)

    def _plan_facts(self, public: Public, plan: SvmPlan | None) -> dict[str, Any]:
        """The kernel and its map."""
        facts: dict[str, Any] = {"kernel": self.kernel, "faithful": self.faithful}
        if plan is not None and plan.images is not None:
            facts |= {"width": str(self._width(public)), "frequencies": str(self.frequencies), "map_seed": str(self.map_seed)}
        return facts

    def _design(self, public: Public, columns: int, loss: Loss) -> Design:
        """Noise for what one record moves the rounded weights by, in the sum of the sizes of their entries."""
        paid = public.epsilon / 2 if self.faithful else public.epsilon
        root = whole_root_above(columns)
        rule = 2 * _SPREAD * loss.steepest * root * _ROOT_OF_TWO / (public.records * paid)
        ridge = rule if self.C is None else 1 / positive(self.C, "C")
        found = minimum(records=public.records, columns=columns, ridge=ridge, loss=loss)
        noise = LaplaceMechanism(sensitivity=found.sensitivity * root, epsilon=paid, adjacency=public.adjacency)
        parameters = (("lattice", Fraction(1)), ("scale", noise.scale))
        release = Release("discrete_laplace", parameters, noise.sensitivity, public.adjacency, columns)
        largest = found.largest + int(noise.scale * (2 * columns + 64)) + 1
        return Design(found.objective, found.weight_bits, (release,), largest)

    def _perturb(self, rows: Rows, plan: PerturbedPlan, source: BitSource | None) -> NDArray[np.int64]:
        """Rounded weights and their noise."""
        return noisy_minimiser(rows, plan, source)

    def _images(self, public: Public) -> FourierMap | None:
        """The map of the kernel."""
        law = _KERNELS[word(self.kernel, "kernel", _KERNELS)]
        if law is None:
            if self.width is not None:
                raise InvalidArgument("DPA103", 'width is not used by the linear kernel. Leave it out, or give kernel="gaussian".')
            return None
        kernel = law(self._width(public))
        return fourier_map(dimension_in=public.features, frequencies=self.frequencies, kernel=kernel, seed=self.map_seed)

    def _width(self, public: Public) -> Fraction:
        """The width of a kernel that has one."""
        return public.feature_norm / 5 if self.width is None else positive(self.width, "width")
