"""What perturbed learners share: rows of norm at most 1, a regularised objective, and released weights on a lattice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import positive
from learners.estimator import PrivateEstimator, Public
from learners.record import Charge
from learners.rows.labels import require_two
from learners.rows.rows import row_bound
from learners.solvers.losses import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from dpaudit.releases import Release
    from learners.rows.rows import Rows
    from learners.solvers.certified import Objective
    from mechanisms.sampling.random import BitSource

_BITS: Final = 20
_COARSE_BITS: Final = 16
_MANY_COLUMNS: Final = 10**5
_INTERCEPT_BITS: Final = 2
"""The constant that is appended to records is 1/4 of the largest norm of a record."""

_ROOM: Final = 2**62


@dataclass(frozen=True)
class PerturbedPlan:
    """The plan of a fit by perturbation."""

    lattice_bits: int  # rows have at most 2**lattice_bits steps without the intercept
    intercept: int  # a constant in steps that every row ends in; 0 for none
    objective: Objective  # what is minimised, over rows of norm at most 1 with their constant
    weight_bits: int  # released weights are multiples of 2**-weight_bits
    releases: tuple[Release, ...]  # what the release log will hold, in order

    @property
    def bound(self) -> int:
        """Largest norm of a row with its constant, in steps, rounded up: what stands for 1."""
        return row_bound(self.lattice_bits, self.intercept)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All releases, priced together."""
        return (Charge(self.releases),)

    def unit(self, rows: Rows) -> Rows:
        """The same rows in units of the largest norm."""
        return replace(rows, step=Fraction(1, self.bound))


@dataclass(kw_only=True, eq=False, repr=False)
class PerturbedClassifier(PrivateEstimator):
    """A linear classifier of two classes from a regularised objective; a learner says where the noise goes.

    Source: Chaudhuri, Monteleoni, Sarwate 2011.
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one",)
    released: ClassVar[tuple[str, ...]] = ("weights_",)
    multi_class: ClassVar[bool] = False

    loss: str | Loss = "huber"
    fit_intercept: bool = True

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features in their own units: shape (1, d)."""
        scale = 2**self.plan_.lattice_bits / (self.plan_.bound * float(positive(self.feature_norm, "feature_norm")))
        return np.asarray(self._weights()[np.newaxis, : self.n_features_in_] * scale)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant added to the score of every record: shape (1,)."""
        return np.asarray(self._weights()[self.n_features_in_ :].sum(keepdims=True) * (self.plan_.intercept / self.plan_.bound))

    @abstractmethod
    def _design(self, public: Public, columns: int, loss: Loss) -> Design:
        """Return where the noise goes and its scale, for rows of norm at most 1."""

    @abstractmethod
    def _perturb(self, rows: Rows, plan: PerturbedPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The planned releases on rows of norm at most 1; weights in units of 2**-weight_bits."""

    def _plan(self, public: Public) -> PerturbedPlan:
        """Lattice, intercept, objective and noise."""
        bits = _BITS if public.features < _MANY_COLUMNS else _COARSE_BITS
        return self._plan_on(public, bits, 1 << (bits - _INTERCEPT_BITS) if self.fit_intercept else 0)

    def _plan_on(self, public: Public, bits: int, intercept: int) -> PerturbedPlan:
        """The plan on rows of 2**bits steps that end in the intercept."""
        require_two(public.classes)
        design = self._design(public, public.features + (intercept > 0), checked_loss(self.loss))
        plan = PerturbedPlan(bits, intercept, design.objective, design.weight_bits, design.releases)
        if plan.bound * design.largest >= _ROOM:  # margins are sums of products in 64 bits
            raise InvalidArgument("DPA108", "weights and their noise do not fit 64 bits. Give a larger ridge or epsilon.")
        return plan

    def _learn(self, rows: Rows, plan: PerturbedPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned releases."""
        return {"weights_": self._perturb(plan.unit(rows), plan, source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins, exact up to their division by the units."""
        return np.asarray(rows.margins(self.weights_) / (self.plan_.bound * 2.0**self.plan_.weight_bits))

    def _weights(self) -> NDArray[np.float64]:
        """The released weights for rows of norm at most 1."""
        return np.asarray(self.weights_ / 2.0**self.plan_.weight_bits)


@dataclass(frozen=True)
class Design:
    """Objective, lattice and releases of a learner; `largest` is what no weight with its noise exceeds but once in 10**20."""

    objective: Objective
    weight_bits: int
    releases: tuple[Release, ...]
    largest: int


def checked_loss(loss: object) -> Loss:
    """A loss of margins of two classes."""
    chosen = Loss(loss) if isinstance(loss, str) else loss
    if not isinstance(chosen, Loss) or chosen.family == "residual":
        raise InvalidArgument("DPA103", f'loss must be "logistic", "huber" or a Loss of these, got {loss!r}.')
    return chosen


def ridge_of(given: Exact | None, rule: Fraction) -> Fraction:
    """The ridge that was given, checked, or that of a rule."""
    return rule if given is None else positive(given, "ridge")
