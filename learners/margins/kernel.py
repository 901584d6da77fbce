"""KernelMarginClassifier: a private linear classifier of random Fourier features, for kernels that see differences only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import positive, word
from learners.margins.mapped import Learner, MappedPlan, mapped_plan
from learners.margins.mapped_classifier import MappedClassifier, noted
from learners.rows.fourier import FourierMap, GaussianKernel, Kernel, LaplacianKernel, fastfood_map, fourier_map
from learners.rows.hadamard import hadamard_map
from learners.rows.projected import ProjectedMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.budget import Reserves
    from learners.estimator import Public
    from learners.record import PrivacyRecord
    from learners.rows.images import PublicMap

_KERNELS: Final[dict[str, type[GaussianKernel | LaplacianKernel]]] = {"gaussian": GaussianKernel, "laplacian": LaplacianKernel}


class KernelMarginClassifier(MappedClassifier):
    """A classifier with the power of a shift-invariant kernel, (epsilon, delta)-differentially private.

    A public map turns every record into cosines and sines of public random frequencies, whose inner products are the kernel on
    average; a private linear learner sees these images alone. Every image has a norm of at most 1, whatever the record holds.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one" or "add_remove" (then `n_nominal` is needed); not "zero_out", since no record has a zero image.
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      kernel: "gaussian", "laplacian", or a function of (columns, count, seed) that draws frequencies (`rows.fourier.Kernel`).
      width: of the named kernels, public, exact, positive, in the units of the features; None takes a fifth of `feature_norm`.
      frequencies: how many are drawn, public.
      fastfood: whether frequencies are products of Hadamard matrices, which take less time and memory; Gaussian kernel only.
      columns: public number of columns that the images are projected to, or None for all, twice the frequencies.
      map_seed: public integer that fixes the map.
      learner: a `learners.margins.mapped.Learner` for the images; None takes the default rule of `PrivateClassifier`.
    Source: Bassily, Mohri, Suresh 2022, Algorithm 3; Rahimi, Recht 2007; docs/maps_and_experiments.md, "Learners behind maps".
    Example:
      >>> import numpy as np
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 200)
      >>> model = KernelMarginClassifier(epsilon=5, delta="1e-6", feature_norm=1, classes=[0, 1], frequencies=100)
      >>> model.fit(X, [1, 0, 1, 0] * 200).predict(X[:4]).tolist()
      [1, 0, 1, 0]
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove")

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
        n_nominal: int | None = None,
        kernel: str | Kernel = "gaussian",
        width: Exact | None = None,
        frequencies: int = 218,
        fastfood: bool = False,
        columns: int | None = None,
        map_seed: int = 0,
        learner: Learner | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            adjacency=adjacency,
            classes=classes,
            budget=budget,
            random_state=random_state,
            n_nominal=n_nominal,
        )
        self.kernel = kernel
        self.width = width
        self.frequencies = frequencies
        self.fastfood = fastfood
        self.columns = columns
        self.map_seed = map_seed
        self.learner = learner

    def _plan(self, public: Public) -> MappedPlan:
        """The learner's plan for images."""
        return mapped_plan(self._map(public), self.learner, public)

    def _planned(self, public: Public, classes: NDArray[Any], plan: MappedPlan | None) -> PrivacyRecord:  # type: ignore[override]
        """The record says which map it was."""
        record = super()._planned(public, classes, plan)
        facts = {name: str(getattr(self, name)) for name in ("kernel", "frequencies", "fastfood", "map_seed")}
        if isinstance(self.kernel, str):
            facts["width"] = str(positive(self._width(public), "width"))
        else:
            facts["kernel"] = getattr(self.kernel, "__qualname__", type(self.kernel).__name__)
        return noted(record, plan, facts)

    def _map(self, public: Public) -> PublicMap:
        """The map, from public quantities and parameters."""
        self._require_truth_values("fastfood")
        features = self._features(public)
        if self.columns is None:
            return features
        wide = features.dimension_out
        return ProjectedMap(features, hadamard_map(dimension_in=wide, dimension_out=self.columns, seed=self.map_seed))

    def _features(self, public: Public) -> FourierMap:
        """Fourier features."""
        columns, count, seed = public.features, self.frequencies, self.map_seed
        if self.fastfood:
            if callable(self.kernel) or word(self.kernel, "a kernel that is no function", _KERNELS) != "gaussian":
                raise InvalidArgument("DPA103", 'fastfood makes frequencies of the Gaussian kernel. Give kernel="gaussian".')
            return fastfood_map(dimension_in=columns, frequencies=count, width=self._width(public), seed=seed)
        return fourier_map(dimension_in=columns, frequencies=count, kernel=self._kernel(public), seed=seed)

    def _kernel(self, public: Public) -> Kernel:
        """The law of the frequencies."""
        if not callable(self.kernel):
            return _KERNELS[word(self.kernel, "a kernel that is no function", _KERNELS)](self._width(public))
        if self.width is not None:
            raise InvalidArgument("DPA103", "width belongs to the named kernels; one that is given has its own. Leave it out.")
        return self.kernel

    def _width(self, public: Public) -> Exact:
        """The width of a named kernel."""
        return public.feature_norm / 5 if self.width is None else self.width
