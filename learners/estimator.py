"""What every estimator shares: what is checked and refused, the order of events in `fit`, what a fitted model keeps, scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.metadata import version
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, kind_of, positive
from dpaudit.releases import recording
from learners.budget import BudgetLeftBehind, Reserves, reserve_price
from learners.record import Charge, PrivacyRecord
from learners.relations import covered_relation, is_uncounted, public_count, require_one_label_each
from learners.rows.ingest import Features, checked_features, to_rows
from learners.rows.labels import checked_classes, checked_labels, positions, read_classes, read_weights, require_comparable
from learners.rows.rows import Rows
from learners.rows.schema import feature_notes
from learners.sources import noise_source
from mechanisms.noise import read_flag
from mechanisms.sampling.random import BitSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

READ_CLASSES: Final = (
    "The classes were read from the labels. The guarantee does not cover which classes occur; name them: classes=[...]."
)
SEEDED: Final = "random_state was given. Whoever knows it knows the noise; leave it out for a release."

_ALWAYS_PUBLIC: Final = ("classes_", "feature_names_in_", "n_features_in_", "plan_", "privacy_")


@dataclass(frozen=True)
class Public:
    """Everything that a plan may depend on.

    Args:
      records: their number; under add_remove the caller's `n_nominal`.
      features: number of columns, without an intercept.
      classes: number of classes, at least 2.
      feature_norm: largest L2 norm of a record that is kept, in the units of the features.
      epsilon: privacy parameter in nats, positive.
      delta: failure probability, in [0, 1).
      adjacency: the neighbouring relation.
      weighted: whether records have weights.
    """

    records: int
    features: int
    classes: int
    feature_norm: Fraction
    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    weighted: bool = False


class Plan(Protocol):
    """The plan of a fit, decided from `Public` alone; kept by the model, so it is a picklable value."""

    @property
    def lattice_bits(self) -> int:
        """Fineness of the lattice of the features."""
        ...

    @property
    def intercept(self) -> int:
        """A constant in steps that is appended to every record; 0 for none."""
        ...

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Exactly what the release log will hold, in order, in parts that are priced together."""
        ...


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateModel(BaseEstimator):  # type: ignore[misc]
    """The base of classifiers and regressors: a private fit, and scores of records that come after it.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, in [0, 1).
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: the neighbouring relation; learners name those that their proofs cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one",)
    released: ClassVar[tuple[str, ...]] = ()

    epsilon: Exact
    feature_norm: Exact
    delta: Exact = 0
    adjacency: Adjacency | str = "replace_one"
    budget: Reserves | None = None
    random_state: int | np.random.Generator | None = None
    n_nominal: int | None = field(default=None, init=False)  # a parameter of learners that cover add_remove alone

    @abstractmethod
    def _plan(self, public: Public) -> Plan:
        """Plan a fit from public quantities and the learner's own parameters, which are checked here."""

    @abstractmethod
    def _learn(self, rows: Rows, plan: Plan, source: BitSource | None) -> Mapping[str, Any]:
        """Make the planned releases and nothing else; the values of the attributes named in `released`."""

    @abstractmethod
    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Scores of records, of shape (n,) for two classes and (n, K) for more, from what was released."""

    @abstractmethod
    def _kinds(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return what labels may be, from public parameters: the classes; of numbers, the two ends of their range."""

    @abstractmethod
    def _positions(self, labels: NDArray[Any], kinds: NDArray[Any]) -> NDArray[np.int64]:
        """The labels as integers, each by itself."""

    @abstractmethod
    def _about_labels(self, kinds: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:
        """Return what the record says of the labels: public facts, and notes on what the guarantee does not cover."""

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Learn from records, at the price that `privacy_` states.

        Nothing but parameters, types and shapes is refused. Records are mapped to integers one by one, whatever they hold:
        those above `feature_norm` are scaled to it, those that are not finite become zero, foreign labels become the first class.
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, weights: Any = None, bound: Fraction | None = None) -> Self:  # noqa: N803 - scikit-learn's name
        """What `fit` does, on rows that have weights if these have a bound."""
        source = noise_source(self.random_state)
        if not isinstance(self.budget, (Reserves, NoneType)):
            raise InvalidArgument(
                "DPA105",
                f"budget must be a learners.Budget, a budget of a ledger, or None, got {kind_of(self.budget)}. "
                'Write for instance budget=Budget(ApproxDP(epsilon=1, delta="1e-6")).',
            )
        relation = self._relation()
        features, labels = self._read_features(X, may_be_empty=is_uncounted(relation)), checked_labels(y)
        require_one_label_each(features.shape[0], len(labels), relation)
        steps = None if bound is None else read_weights(weights, bound, len(labels))
        classes = self._kinds(labels)
        public = replace(self._public(features, len(classes)), weighted=bound is not None)
        plan = self._plan(public) if len(classes) > 1 else None  # about a single class there is nothing to learn
        record = self._planned(public, classes, plan).stating({}, (*feature_notes(X), *self._label_notes(labels)))
        columns = _columns(X)
        learned: dict[str, Any] = {}
        if plan is not None:
            self._rows(np.zeros((1, public.features)), np.zeros(1, dtype=np.int64), plan)  # refuses what is public, here already
            with reserve_price(self.budget, record.loss, source):
                rows = self._rows(features, self._positions(labels, classes), plan)
                rows = rows if steps is None else replace(rows, weights=steps)
                learned, record = self._run(rows, plan, record, source)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(columns, plan_=plan, privacy_=record, **learned)
        self._keep(classes)
        return self

    def _read_features(self, X: Any, *, may_be_empty: bool) -> Features:  # noqa: N803 - scikit-learn's name
        """Features as numbers, refused for their type and shape only."""
        return checked_features(X, may_be_empty=may_be_empty)

    def _keep(self, kinds: NDArray[Any]) -> None:
        """Keep what scores are turned into predictions by."""

    def _label_notes(self, _labels: NDArray[Any]) -> list[str]:
        """Return what the record says about the type of the labels."""
        return []

    def _scored(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Scores of records, which are read as in `fit`."""
        check_is_fitted(self)
        features = self._read_features(X, may_be_empty=True)
        if features.shape[1] != self.n_features_in_:
            counts = f"{features.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise InvalidArgument("DPA105", f"X has {counts}. Give the columns that it was fitted on, in their order.")
        validate_data(self, X, reset=False, skip_check_array=True)
        if self.plan_ is None:
            return np.zeros(features.shape[0])
        if features.shape[0] == 0:  # scores have the shape and the type that those of one record have
            return self._scores(self._rows(np.zeros((1, features.shape[1])), np.zeros(1, dtype=np.int64), self.plan_))[:0]
        return self._scores(self._rows(features, np.zeros(features.shape[0], dtype=np.int64), self.plan_))

    def __sklearn_tags__(self) -> Any:
        """CSR and entries that are no numbers are accepted; noise makes fits differ, and may make them poor."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.non_deterministic = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: parameters, released numbers and public constants, and no budget once the model is fitted."""
        state = super().__getstate__()
        kept = {*self.get_params(deep=False), *_ALWAYS_PUBLIC, *self.released, "_sklearn_version"}
        state = {name: value for name, value in state.items() if name in kept}
        if "privacy_" in state and state["budget"] is not None:
            state["budget"] = BudgetLeftBehind()
        return state

    def _require_truth_values(self, *names: str) -> None:
        """DPA105 for a parameter that is neither True nor False."""
        for name in names:
            read_flag(getattr(self, name), name)

    def _relation(self) -> Adjacency:
        """The neighbouring relation, if the learner's proof covers it."""
        return covered_relation(self.adjacency, self.adjacencies, type(self).__name__)

    def _public(self, features: Features, classes: int) -> Public:
        """The public quantities, checked."""
        adjacency = self._relation()
        records, width = features.shape
        records = public_count(records, self.n_nominal, adjacency)
        return Public(
            records,
            width,
            classes,
            positive(self.feature_norm, "feature_norm"),
            positive(self.epsilon, "epsilon"),
            in_range(self.delta, "delta", lower=0, upper=1, upper_open=True),
            adjacency,
        )

    def _planned(self, public: Public, classes: NDArray[Any], plan: Plan | None) -> PrivacyRecord:
        """The record of what will be done, before it is done."""
        if plan is not None and plan.intercept and public.adjacency.kind == "zero_out":
            raise Unsupported("DPA604", "under zero_out the null record is all zeros, which an intercept is not. Fit without one.")
        facts: dict[str, Any] = {"learner": type(self).__name__, "records": public.records, "features": public.features}
        known, notes = self._about_labels(classes)
        facts |= known
        if self.random_state is not None:
            notes.append(SEEDED)
        facts["feature_norm"] = str(public.feature_norm)
        if plan is not None:
            facts |= {"lattice_bits": plan.lattice_bits, "intercept": plan.intercept}
        facts["versions"] = [f"{name} {version(name)}" for name in ("dpaudit", "numpy", "scikit-learn")]
        facts |= self._plan_facts(public, plan)
        charges = () if plan is None else plan.charges
        record = PrivacyRecord.of(charges, adjacency=public.adjacency, delta=public.delta, public=facts, notes=notes)
        if record.epsilon > public.epsilon:
            raise AssertionError(f"{type(self).__name__} plans to spend more than epsilon")
        return record

    def _plan_facts(self, _public: Public, _plan: Any) -> dict[str, Any]:
        """Return what else the record says of a plan, or of a fit without one: public facts by name."""
        return {}

    def _run(self, rows: Rows, plan: Plan, record: PrivacyRecord, source: BitSource | None) -> tuple[dict[str, Any], PrivacyRecord]:
        """Return what was learned, and the record of what ran; that is what was planned, whatever the records hold."""
        with recording() as log, np.errstate(all="ignore"):
            learned = self._learn(rows, plan, source)
        if set(learned) != set(self.released):
            raise AssertionError(f"{type(self).__name__} keeps something else than it planned")
        return dict(learned), record.ran(log)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: Plan) -> Rows:
        """Records as integers, for learning and for scores alike."""
        return to_rows(features, labels, feature_norm=self.feature_norm, lattice_bits=plan.lattice_bits, intercept=plan.intercept)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator(ClassifierMixin, PrivateModel):  # type: ignore[misc]
    """A classifier whose fit is private; a learner adds its parameters, its plan, its solver and its scores.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, in [0, 1).
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: the neighbouring relation; learners name those that their proofs cover.
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
    """

    multi_class: ClassVar[bool] = True

    classes: Any = None

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Scores of records: positive speaks for the second of two classes, the largest for one of several."""
        return self._scored(X)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """The class of each record."""
        scores = self.decision_function(X)
        chosen = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[chosen.astype(np.int64)]
        return predicted

    def __sklearn_tags__(self) -> Any:
        """Noise may make scores poor; some learners know two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score, tags.classifier_tags.multi_class = True, self.multi_class
        return tags

    def _kinds(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The classes."""
        if self.classes is not None:
            named = checked_classes(self.classes)
            require_comparable(labels, named)
            return named
        if is_uncounted(self._relation()):
            raise InvalidArgument(
                "DPA603",
                "classes is missing: under add_remove it is private which labels occur, so classes are not read from them. "
                "Name all that there may be, such as classes=[0, 1].",
            )
        return read_classes(labels)

    def _positions(self, labels: NDArray[Any], kinds: NDArray[Any]) -> NDArray[np.int64]:
        """The place of each label among them."""
        return positions(labels, kinds)

    def _about_labels(self, kinds: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:
        """The classes, if they are public."""
        return ({}, [READ_CLASSES]) if self.classes is None else ({"classes": kinds.tolist()}, [])

    def _keep(self, kinds: NDArray[Any]) -> None:
        """The classes."""
        self.classes_ = kinds


def _columns(features: Any) -> dict[str, Any]:
    """Number and names of the columns, as scikit-learn reads them; it refuses names that are not all strings."""
    seen = BaseEstimator()
    validate_data(seen, features, skip_check_array=True)
    return dict(vars(seen))
