"""LabelPrivateClassifier: features are public and the candidates follow them; labels are private, and the choice is pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, integer, positive, rational
from learners.choices.counts import Listed, choose, errors, per_class
from learners.choices.levels import counts_mechanism
from learners.choices.planned import ChoicePlan
from learners.estimator import PrivateEstimator, Public
from learners.rows.labels import outputs_of
from learners.rows.seeds import PublicBits
from learners.rows.signs import sign_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_MOST_COLUMNS: Final = 512
_MOST_CANDIDATES: Final = 2**22
_UNIT: Final = 2**16
_RIDGE: Final = 1e-3


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPrivateClassifier(PrivateEstimator):
    """A linear classifier whose labels are private at pure epsilon; nothing is promised about the features.

    The candidates are random combinations of the leading principal directions of the features, scaled as in a ridge regression on
    random labels: they depend on no label. One is chosen by how many records it gets wrong, or right by no more than margin / 2.
    For K classes a candidate is K such combinations, and a record is right by how much its class leads the best other one.

    Args:
      epsilon: privacy parameter of the labels in nats, exact, positive.
      feature_norm: largest L2 norm of a record, exact, positive; longer records are scaled to it.
      delta: at which `privacy_` states epsilon, in [0, 1); the choice is pure whatever it is.
      adjacency: "label": one record has another label, features are as they were. No other is covered.
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      margin: rho for candidates of norm 1, all K together, in the units of the features, public, exact, at least 0.
      candidates: how many, public.
      seed: public, of the combinations and of the projection that more than 512 features go through.
    Source: Bassily, Mohri, Suresh 2022, Algorithm 5; docs/choices_and_perturbation.md, "Label-private learner".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> model = LabelPrivateClassifier(epsilon=1, feature_norm=1, classes=[0, 1]).fit(X, [1, 0] * 200)
      >>> model.predict([[0.6, 0.8], [-0.8, 0.6]]).tolist(), str(model.privacy_.adjacency)
      ([1, 0], 'label')
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("label",)
    released: ClassVar[tuple[str, ...]] = ("weights_",)

    adjacency: Adjacency | str = "label"
    margin: Exact = 0
    candidates: int = 2**12
    seed: int = 0

    def _plan(self, public: Public) -> ChoicePlan:
        """The choice; its candidates follow the features."""
        if (margin := rational(self.margin, "margin")) != 0:
            positive(margin, "margin")
        integer(self.candidates, "candidates", lower=1, upper=_MOST_CANDIDATES)
        width, seed = public.features, integer(self.seed, "seed", lower=0)
        image = sign_map(dimension_in=width, dimension_out=_MOST_COLUMNS, seed=seed) if width > _MOST_COLUMNS else None
        mechanism, outputs = counts_mechanism(epsilon=public.epsilon, adjacency=public.adjacency), outputs_of(public.classes)
        return ChoicePlan(mechanism, None, image, lattice_bits=16, outputs=outputs)

    def _learn(self, rows: Rows, plan: ChoicePlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """One choice."""
        mapped = plan.mapped(rows)
        threshold = math.floor(rational(self.margin) / 2 / mapped.step * _UNIT)
        columns = mapped.steps.shape[1]
        cover = candidates_of(mapped, self.candidates, PublicBits(self.seed, "combinations", columns), plan.outputs)
        return {"weights_": per_class(choose(mapped, cover, errors(threshold), plan.mechanism, source), columns)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins, exact but for a common unit."""
        mapped = self.plan_.mapped(rows)
        return np.asarray(mapped.margins(self.weights_) / float(mapped.bound * _UNIT))


def candidates_of(rows: Rows, count: int, bits: PublicBits, outputs: int = 1) -> Listed:
    """Candidates of norm about 2**16 that follow the features of the rows and ignore their labels."""
    spectrum, directions = np.linalg.eigh(rows.second_moment() / float(rows.bound) ** 2)
    width = len(spectrum)
    scales = 1.0 / np.sqrt(np.maximum(spectrum[::-1], 0.0) + _RIDGE * max(float(spectrum[-1]), 1e-300))
    leading = np.minimum(2 ** (np.arange(count) % ((width - 1).bit_length() + 1)), width)
    combined = bits.normals(outputs * width * count).reshape(outputs, width, count) * scales[:, np.newaxis]
    combined[:, np.arange(width)[:, np.newaxis] >= leading] = 0.0
    weights = (directions[:, ::-1] @ combined).reshape(outputs * width, count)
    norms = np.sqrt(np.square(weights).sum(axis=0))
    return Listed(np.rint(weights * (_UNIT / np.maximum(norms, 1e-300))).astype(np.int64))
