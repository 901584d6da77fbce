"""What kernel learners share: images in the space of a kernel, the minimiser there, and weights from what is released of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np

from dpaudit.exact import Exact, instance_of, integer
from learners.estimator import PrivateEstimator, PrivateModel
from learners.kernels.spaces import Kernel, Polynomial
from learners.regression import PrivateRegressor
from learners.rows.ingest import checked_features, to_rows
from learners.rows.labels import require_two
from learners.solvers.losses import Loss
from learners.solvers.minimum import IMAGE_BITS, Minimum, minimise, minimum

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.record import Charge
    from learners.rows.images import PublicMap
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_LATTICE_BITS: Final = 16
"""Fineness of the lattice of records before they are mapped."""


@dataclass(frozen=True)
class Space:
    """The space of a kernel: one map for the records of a fit, for public points, and for what is classified."""

    public_map: PublicMap  # to images of norm at most 1
    feature_norm: Fraction  # largest L2 norm of a record that is kept

    def images(self, points: Any) -> Rows:
        """Images of public points, or of what is classified."""
        features = checked_features(points)
        labels = np.zeros(features.shape[0], dtype=np.int64)
        return self.mapped(to_rows(features, labels, feature_norm=self.feature_norm, lattice_bits=_LATTICE_BITS))

    def mapped(self, rows: Rows) -> Rows:
        """Images of records that are integers already."""
        return self.public_map.apply(rows, lattice_bits=IMAGE_BITS, intercept=0)


class Telling(Protocol):
    """The plan of a release about a private minimiser, decided from public quantities alone."""

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Exactly what the release log will hold."""
        ...

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """Make the planned releases about private weights and nothing else; what a model keeps of them, `weights_` among it."""
        ...


@dataclass(frozen=True)
class KernelPlan:
    """The plan of a fit: the minimiser is found in a public space, and all that is shown of it is the planned release."""

    space: Space
    minimum: Minimum
    telling: Telling
    lattice_bits = _LATTICE_BITS
    intercept = 0

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Those of the release: the map is public, and the minimiser itself is never shown."""
        return self.telling.charges


@dataclass(kw_only=True, eq=False, repr=False)
class KernelModel(PrivateModel):
    """A model whose weights come from a release about a regularised minimiser in the space of a kernel.

    Args:
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one",)
    released: ClassVar[tuple[str, ...]] = ("weights_",)

    delta: Exact = field()
    kernel: Kernel | None = None
    ridge: Exact = "1/100"

    @abstractmethod
    def _telling(self, public: Public, space: Space, found: Minimum) -> Telling:
        """Plan the release about the minimiser from public quantities and the learner's own parameters, which are checked here."""

    def _loss(self) -> Loss:
        """The loss of a margin, or of a residual."""
        return Loss()

    def _plan(self, public: Public) -> KernelPlan:
        """The space, the minimiser in it, and what is released of it."""
        require_two(public.classes)
        kernel = instance_of(Polynomial() if self.kernel is None else self.kernel, Kernel, "kernel")
        space = Space(kernel.public_map(public), public.feature_norm)
        found = minimum(records=public.records, columns=space.public_map.dimension_out, ridge=self.ridge, loss=self._loss())
        return KernelPlan(space, found, self._telling(public, space, found))

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: KernelPlan) -> Rows:  # type: ignore[override]
        """Images of the records, for learning and for scores alike."""
        return plan.space.mapped(super()._rows(features, labels, plan))

    def _learn(self, rows: Rows, plan: KernelPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """Find the minimiser, and release what is planned of it."""
        return plan.telling.tell(minimise(rows, plan.minimum), source)

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Values of the function at the records, in floats: both are public here, and noise may be too large for integers."""
        found: Minimum = self.plan_.minimum
        return np.asarray(rows.floats @ (self.weights_ * 2.0 ** -(found.weight_bits + IMAGE_BITS)))

    def _plan_facts(self, _public: Public, plan: KernelPlan | None) -> dict[str, Any]:
        """The kernel, the ridge and what was released."""
        if plan is None:
            return {}
        aim = plan.minimum.objective
        kernel = str(Polynomial() if self.kernel is None else self.kernel)
        return {"kernel": kernel, "ridge": str(aim.ridge), "columns": str(aim.columns), "telling": type(plan.telling).__name__}


@dataclass(kw_only=True, eq=False, repr=False)
class KernelClassifier(KernelModel, PrivateEstimator):
    """A classifier whose weights come from a release about the regularised logistic minimiser in the space of a kernel."""

    multi_class: ClassVar[bool] = False


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRegressor(KernelModel, PrivateRegressor):
    """A regressor whose weights come from a release about the regularised minimiser of squares in the space of a kernel.

    Args:
      residual_bits: half of the square of a residual is minimised, up to 2**residual_bits times the bound of the labels, and a
        straight line beyond; noise grows with it. From 1 + 1 / sqrt(ridge) on the minimiser is that of least squares.
    """

    residual_bits: int = 0

    def _loss(self) -> Loss:
        """Squares of residuals that are cut."""
        return Loss("residual", integer(self.residual_bits, "residual_bits", lower=-30, upper=30))
