"""PrivatePipeline: a pipeline of scikit-learn that refuses steps which learn from records outside the budget."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, Self

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, OneHotEncoder, PolynomialFeatures

from dpaudit.errors import InvalidArgument, Unsupported
from learners.estimator import PrivateModel
from learners.pipeline.encoder import TableEncoder
from learners.record import PrivacyRecord

_RECORD_BY_RECORD: Final = (TableEncoder, Normalizer, Binarizer, HashingVectorizer, PolynomialFeatures)
"""Steps that map each record by itself and learn nothing, by their very types: a subclass may do otherwise."""


class PrivatePipeline(Pipeline):  # type: ignore[misc]
    """Public preprocessing and a private learner, whose budget is that of the whole.

    Before a record is read, every step is checked: allowed are `TableEncoder`, `Normalizer`, `Binarizer`, `HashingVectorizer`,
    `PolynomialFeatures`, `OneHotEncoder` with its categories listed and unknown ones ignored, a `ColumnTransformer` of these with
    listed columns, and `PrivateRanges` and `PrivatePCA`, whose price is added. Any other step may learn from records what no budget
    pays for, and is refused by its name.

    Args:
      steps: pairs of a name and an estimator, the last of them a learner of this package; `make_private_pipeline` names them.
      transform_input: as for scikit-learn's Pipeline.
      memory: as for scikit-learn's Pipeline; transformed private records would be stored there, so only None is taken.
      verbose: as for scikit-learn's Pipeline.
    Raises:
      Unsupported: a step may learn from records, or records would be cached (DPA604).
      InvalidArgument: the last step is no private learner (DPA105).
    Source: docs/boosting.md, "Tables".
    Example:
      >>> from learners import PrivateClassifier
      >>> learner = PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=1, classes=[0, 1])
      >>> pipeline = make_private_pipeline(TableEncoder([(0, 10)]), learner).fit([[0], [10]] * 2000, [0, 1] * 2000)
      >>> pipeline.predict([[9]]).tolist(), pipeline.privacy_.epsilon <= 1
      ([1], True)
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Refuse leaky steps, then fit the learner on what the others make of the records."""
        self._require_public_steps()
        super().fit(X, y, **params)
        return self

    def _require_public_steps(self) -> None:
        """DPA604 and DPA105 for steps that are not allowed."""
        if self.memory is not None:
            raise Unsupported("DPA604", "memory would store private records in files outside the budget. Leave it out.")
        *before, (name, last) = self.steps
        if not isinstance(last, PrivateModel):
            raise InvalidArgument(
                "DPA105", f"the last step, {name!r}, must be a learner of this package, got {type(last).__name__}."
            )
        for label, step in before:
            for leaky in leaky_steps(step):
                raise Unsupported(
                    "DPA604",
                    f"step {label!r} ({leaky}) may learn from the records, and no budget pays for that. Describe columns by public "
                    "ranges and categories: TableEncoder(columns={'age': (17, 90), 'sex': ['f', 'm']}).",
                )

    @property
    def privacy_(self) -> PrivacyRecord:
        """The record of the whole: the learner's, those of private steps before it, and the names of all, the others at no cost.

        Deltas add up, and epsilon is that of all releases together.
        """
        record: PrivacyRecord = self.steps[-1][1].privacy_
        paid = [step.privacy_ for _, step in self.steps[:-1] if isinstance(step, PrivateModel)]
        if paid:
            every = [*paid, record]
            record = PrivacyRecord.of(
                [charge for each in every for charge in each.charges],
                adjacency=record.adjacency,
                delta=sum((each.delta for each in every), Fraction(0)),
                public=record.public,
                notes=list(dict.fromkeys(note for each in every for note in each.notes)),
            )
        return record.stating({"preprocessing": [type(step).__name__ for _, step in self.steps[:-1]]})


def make_private_pipeline(*steps: BaseEstimator) -> PrivatePipeline:
    """Make a `PrivatePipeline` whose steps are named after their types.

    Args:
      steps: transformers, and a private learner last.
    Returns:
      The pipeline, not fitted.
    Example:
      >>> from learners import PrivateClassifier
      >>> learner = PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=1)
      >>> list(make_private_pipeline(TableEncoder([(0, 1)]), learner).named_steps)
      ['tableencoder', 'privateclassifier']
    """
    return PrivatePipeline(make_pipeline(*steps).steps)


def leaky_steps(step: Any) -> Iterator[str]:
    """Names of the types of steps in it that are not known to map each record by itself."""
    kind = type(step)
    if isinstance(step, PrivateModel):  # pays for itself
        return
    if (isinstance(step, str) and step in ("passthrough", "drop")) or step is None or kind in _RECORD_BY_RECORD:
        return
    if kind is OneHotEncoder and not isinstance(step.categories, str) and step.handle_unknown == "ignore":
        counted = (step.drop, step.min_frequency, step.max_categories)
        if all(each is None for each in counted):
            return
    if kind is ColumnTransformer:
        for _, inner, columns in step.transformers:
            yield from leaky_steps(inner)
            if callable(columns):
                yield "a choice of columns by a function"
        yield from leaky_steps(step.remainder)
        return
    if kind in (Pipeline, PrivatePipeline):
        for _, inner in step.steps:
            yield from leaky_steps(inner)
        return
    yield kind.__name__
