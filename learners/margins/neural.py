"""NeuralMarginClassifier: a network of few errors out of public ones, chosen at pure epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.exact import integer
from learners.choices.levels import counts_mechanism
from learners.choices.networks import ROW_BITS, WEIGHT_BITS, RandomNetworks, given_networks, network_errors, network_scores
from learners.choices.planned import ChoicePlan
from learners.estimator import PrivateEstimator, Public
from learners.rows.labels import outputs_of
from learners.rows.signs import sign_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.choices.networks import Networks
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_USUAL_DIMENSION: Final = 32
_MOST_CANDIDATES: Final = 2**22
_WIDEST: Final = 2**12
_DEEPEST: Final = 8


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralMarginClassifier(PrivateEstimator):
    """A feed-forward network with tanh units at pure epsilon: the exponential mechanism over public networks.

    The networks are random, or `networks` that were trained, distilled or perturbed without these records. What is promised about
    accuracy is that the choice is nearly the best of them.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      delta: at which `privacy_` states epsilon, in [0, 1); the choice is pure whatever it is.
      adjacency: "replace_one" or "zero_out", which allows half the temperature.
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      networks: public networks, a sequence of weight arrays each: shapes (d, a), (a, b), ..., (z,), the last (z, K) for K classes,
        with d + 1 rows in the first where there is an intercept; None for random ones, which the parameters below describe.
      candidates: how many random networks.
      width: units of every hidden layer.
      layers: 2 to 8, the last one included.
      dimension: of the projection in front, public; none is made of records that have so few features.
      intercept: whether a constant of the size of `feature_norm` is appended to every record; refused under zero_out.
      seed: public, of the projection and the random networks.
    Source: Bassily, Mohri, Suresh 2022, section 5; docs/choices_and_perturbation.md, "Networks".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> model = NeuralMarginClassifier(epsilon=1, feature_norm=1, classes=[0, 1], candidates=256).fit(X, [1, 0] * 200)
      >>> model.predict([[0.6, 0.8], [-0.8, 0.6]]).tolist(), model.privacy_.epsilon
      ([1, 0], Fraction(1, 1))
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "zero_out")
    released: ClassVar[tuple[str, ...]] = ("network_",)

    networks: Sequence[Sequence[Any]] | None = None
    candidates: int = 2**12
    width: int = 8
    layers: int = 2
    dimension: int = _USUAL_DIMENSION
    intercept: bool = False
    seed: int = 0

    def _plan(self, public: Public) -> ChoicePlan:
        """The projection and the choice, from public numbers."""
        self._require_truth_values("intercept")
        outputs = outputs_of(public.classes)
        self._candidates(public.features + self.intercept, outputs)
        columns, wanted = public.features + self.intercept, integer(self.dimension, "dimension", lower=1)
        project = self.networks is None and columns > wanted
        return ChoicePlan(
            counts_mechanism(epsilon=public.epsilon, adjacency=public.adjacency),
            None,
            sign_map(dimension_in=columns, dimension_out=wanted, seed=self.seed) if project else None,
            lattice_bits=ROW_BITS,
            intercept=2**ROW_BITS if self.intercept else 0,
            outputs=outputs,
        )

    def _candidates(self, columns: int, outputs: int) -> Networks:
        """The networks, checked."""
        if self.networks is not None:
            return given_networks(self.networks, columns=columns, feature_norm=self.feature_norm, outputs=outputs)
        wanted = integer(self.dimension, "dimension", lower=1)
        return RandomNetworks(
            min(columns, wanted),
            integer(self.width, "width", lower=1, upper=_WIDEST),
            integer(self.layers, "layers", lower=2, upper=_DEEPEST),
            integer(self.candidates, "candidates", lower=1, upper=_MOST_CANDIDATES),
            integer(self.seed, "seed", lower=0),
            outputs,
        )

    def _learn(self, rows: Rows, plan: ChoicePlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """One choice."""
        networks = self._candidates(rows.steps.shape[1], plan.outputs)
        chosen = plan.mechanism.release(-network_errors(plan.mapped(rows), networks), source)
        return {"network_": networks.network(chosen)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Scores of the network, exact but for a common unit."""
        stack = tuple(layer[np.newaxis] for layer in self.network_)
        return np.asarray(network_scores(self.plan_.mapped(rows), stack)[0] / 2.0 ** (ROW_BITS + WEIGHT_BITS))
