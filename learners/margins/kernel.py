"""KernelMarginClassifier: a private linear classifier of random Fourier features, for kernels of differences of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dpaudit.errors import InvalidArgument
from dpaudit.exact import positive, word
from learners.margins.mapped import MappedClassifier, MappedPlan
from learners.rows.fourier import FourierMap, GaussianKernel, Kernel, LaplacianKernel, fastfood_map, fourier_map
from learners.rows.hadamard import hadamard_map
from learners.rows.projected import ProjectedMap

if TYPE_CHECKING:
    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.images import PublicMap

_KERNELS: Final[dict[str, type[GaussianKernel | LaplacianKernel]]] = {"gaussian": GaussianKernel, "laplacian": LaplacianKernel}


@dataclass(kw_only=True, eq=False, repr=False)
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

    kernel: str | Kernel = "gaussian"
    width: Exact | None = None
    frequencies: int = 218
    fastfood: bool = False

    def _plan_facts(self, public: Public, plan: MappedPlan | None) -> dict[str, Any]:
        """Which map and which learner it was."""
        facts = {name: str(getattr(self, name)) for name in ("kernel", "frequencies", "fastfood", "map_seed")}
        if isinstance(self.kernel, str):
            facts["width"] = str(positive(self._width(public), "width"))
        else:
            facts["kernel"] = getattr(self.kernel, "__qualname__", type(self.kernel).__name__)
        return facts | super()._plan_facts(public, plan)

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
                raise InvalidArgument("DPA103", 'fastfood=True needs kernel="gaussian". Give that, or leave fastfood out.')
            return fastfood_map(dimension_in=columns, frequencies=count, width=self._width(public), seed=seed)
        return fourier_map(dimension_in=columns, frequencies=count, kernel=self._kernel(public), seed=seed)

    def _kernel(self, public: Public) -> Kernel:
        """The law of the frequencies."""
        if not callable(self.kernel):
            return _KERNELS[word(self.kernel, "a kernel that is no function", _KERNELS)](self._width(public))
        if self.width is not None:
            raise InvalidArgument("DPA103", "width is for kernels given by name, and this one is a function. Leave width out.")
        return self.kernel

    def _width(self, public: Public) -> Exact:
        """The width of a named kernel."""
        return public.feature_norm / 5 if self.width is None else self.width
