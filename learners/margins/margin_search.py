"""MarginSearch: chooses the margin of another learner privately, then fits it once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from dpaudit.accounting import PrivacyLoss, compose
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, integer, positive, word
from dpaudit.releases import recording
from learners.budget import BudgetLeftBehind
from learners.choices.counts import Listed, errors, totals
from learners.choices.covers import RandomCover
from learners.choices.generalized import GeneralizedExponential
from learners.choices.hinge_minimum import Scale, least_hinge
from learners.choices.levels import choice_release
from learners.choices.planned import ChoicePlan
from learners.estimator import Plan, PrivateEstimator, Public
from learners.record import Charge
from learners.rows.labels import require_two

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.record import PrivacyRecord
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

SCORES: Final = ("hinge", "errors")

_MOST_RECORDS: Final = 2**12
_MOST_EXPONENT: Final = 12
_USUAL_EXPONENT: Final = 6
_CANDIDATES: Final = 2**12
_UNIT: Final = 2**16
_GRID: Final = Fraction(1, 2**20)


def of_learner(name: str) -> property:
    """A parameter of a search that is its learner's: an attribute of the same name of `estimator`."""
    return property(lambda search: getattr(search.estimator, name))


def state_of(search: PrivateEstimator) -> dict[str, Any]:
    """Return what a pickle of a search holds: its learner without a budget once it is fitted."""
    public = ("classes_", "feature_names_in_", "n_features_in_", "plan_", "privacy_", "_sklearn_version")
    kept = {*search.get_params(deep=False), *public, *search.released}
    state = {name: value for name, value in BaseEstimator.__getstate__(search).items() if name in kept}
    if "privacy_" in state and search.budget is not None:
        state["estimator"] = clone(state["estimator"]).set_params(budget=BudgetLeftBehind())
    return state


@dataclass(frozen=True)
class SearchPlan:
    """A choice among margins, and what would be done with each of them (Bassily, Mohri, Suresh 2022, Algorithm 6)."""

    mechanism: GeneralizedExponential  # chooses among the scores of the margins
    margins: tuple[Fraction, ...]  # in the units of the features
    branches: tuple[Plan, ...]  # the plan of the learner at each margin; all have one price
    records: int  # how many are scored
    exponents: tuple[int, ...]  # no row and weights have a larger margin than this one times 2 to the power of its exponent

    def __post_init__(self) -> None:
        """Composition needs one law that dominates every branch: the dearest branch at one delta is not that at another."""
        if len({_loss_above(branch) for branch in self.branches}) > 1:
            raise Unsupported(
                "DPA604",
                "the learner's price depends on its margin, and the cost of a choice among such prices is not known. "
                "Search with a learner whose noise is the same at every margin.",
            )

    @property
    def lattice_bits(self) -> int:
        """The learner's."""
        return self.branches[0].lattice_bits

    @property
    def intercept(self) -> int:
        """The learner's."""
        return self.branches[0].intercept

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The choice, and the releases at the largest margin."""
        return (Charge((choice_release(self.mechanism.choice),)), *self.branches[0].charges)


class MarginSearch(PrivateEstimator):
    """A learner whose margin is chosen from the records, within the learner's own epsilon and by one fit.

    The margins are the largest one and its halves. Each is scored by its least loss plus a penalty for small margins; the
    generalised exponential mechanism chooses, which trusts scores of large margins more because single records move them less.

    Args:
      estimator: a learner for two classes with a parameter `margin`; its epsilon, delta, adjacency, budget and classes are those of
        the whole; its margin is replaced.
      share: part of epsilon that the choice may cost, public, exact, in (0, 1).
      score_by: "hinge" for the least smoothed hinge loss over all weights, within a proved tolerance; "errors" for the fewest
        records within the margin among public random directions.
      margins: how many, public, 1 to 13; None takes enough to reach the largest over sqrt(n), at most 7.
      norm_bound: norm of the weights that a margin is about, public, exact, positive; times feature_norm it is the largest margin.
      random_state: None draws from the operating system; an integer or a numpy Generator makes choice and fit reproducible, for
        tests. The learner's own is not used.
    Source: Bassily, Mohri, Suresh 2022, Algorithm 6; docs/choices_and_perturbation.md, "Choosing a margin".
    Example:
      >>> from learners.margins.pure_margin import PureMarginClassifier
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> learner = PureMarginClassifier(epsilon=1, feature_norm=1, classes=[0, 1], cover="lattice")
      >>> model = MarginSearch(learner, margins=3).fit(X, [1, 0] * 200)
      >>> model.margin_ in model.plan_.margins, model.privacy_.epsilon, model.score(X, [1, 0] * 200)
      (True, Fraction(1, 1), 1.0)
    """

    released: ClassVar[tuple[str, ...]] = ("estimator_", "margin_")
    multi_class: ClassVar[bool] = False

    epsilon = of_learner("epsilon")
    delta = of_learner("delta")
    feature_norm = of_learner("feature_norm")
    adjacency = of_learner("adjacency")
    classes = of_learner("classes")
    budget = of_learner("budget")
    n_nominal = of_learner("n_nominal")

    @property
    def adjacencies(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the learner, but for add_remove: the scores are means over a public number of records."""
        return tuple(relation for relation in self.estimator.adjacencies if relation != "add_remove")

    def __init__(
        self,
        estimator: PrivateEstimator,
        *,
        share: Exact = "1/4",
        score_by: Literal["hinge", "errors"] = "hinge",
        margins: int | None = None,
        norm_bound: Exact = 1,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.estimator = estimator
        self.share = share
        self.score_by = score_by
        self.margins = margins
        self.norm_bound = norm_bound
        self.random_state = random_state

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: parameters, released numbers and public constants, and no budget once the model is fitted."""
        return state_of(self)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Choose the margin and learn with it, at the price that `privacy_` states; as for every learner."""
        if not isinstance(self.estimator, PrivateEstimator) or "margin" not in self.estimator.get_params():
            raise InvalidArgument("DPA105", f"a {type(self.estimator).__name__} has no margin to choose. Give a learner with one.")
        super().fit(X, y)
        if self.plan_ is not None:
            names = ("classes_", "privacy_", "n_features_in_", "feature_names_in_")
            self.estimator_.__dict__.update({name: vars(self)[name] for name in names if name in vars(self)})
        return self

    def _plan(self, public: Public) -> SearchPlan:
        """The choice, and the plan of the learner at every margin."""
        require_two(public.classes)
        word(self.score_by, "score_by", SCORES)
        share = in_range(self.share, "share", lower=0, upper=1, lower_open=True, upper_open=True)
        largest = positive(self.norm_bound, "norm_bound") * public.feature_norm
        enough = (math.isqrt(public.records - 1).bit_length() if public.records > 1 else 0) + 1
        wanted = min(enough, _USUAL_EXPONENT + 1) if self.margins is None else self.margins
        count = integer(wanted, "margins", lower=1, upper=_MOST_EXPONENT + 1)
        margins = tuple(largest / 2**place for place in range(count))
        rest = replace(public, epsilon=public.epsilon * (1 - share))
        branches = tuple(self._learner_at(margin, rest.epsilon)._plan(rest) for margin in margins)  # noqa: SLF001 - the same interface
        void = self._mapped_rows(self._rows(np.zeros((1, public.features)), np.zeros(1, dtype=np.int64), branches[0]), branches[0])
        reach = math.ceil(void.bound * void.step / public.feature_norm)
        exponents = tuple(min(place + (reach - 1).bit_length(), _MOST_EXPONENT) for place in range(count))
        scored = min(public.records, _MOST_RECORDS)
        mechanism = GeneralizedExponential(
            sensitivities=[self._sensitivity(scored, exponent) for exponent in exponents],
            epsilon=public.epsilon * share,
            grid=_GRID,
            adjacency=public.adjacency,
        )
        return SearchPlan(mechanism, margins, branches, scored, exponents)

    def _plan_facts(self, _public: Public, plan: SearchPlan | None) -> dict[str, Any]:
        """The learner and the margins."""
        if plan is None:
            return {}
        return {"searches": type(self.estimator).__name__, "margins": [str(margin) for margin in plan.margins]}

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: Plan) -> Rows:
        """Records as the learner reads them."""
        branch = plan.branches[0] if isinstance(plan, SearchPlan) else plan
        return self.estimator._rows(features, labels, branch)  # noqa: SLF001 - the same interface

    def _learn(self, rows: Rows, plan: SearchPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The choice, and the releases of the branch that was chosen."""
        chosen = plan.mechanism.release(self._scores_of(self._mapped_rows(rows, plan.branches[0]), plan), source)
        model = self._learner_at(plan.margins[chosen], 1)
        branch = plan.branches[chosen]
        model.__dict__.update(plan_=branch, **model._learn(rows, branch, source))  # noqa: SLF001 - the same interface
        return {"estimator_": model, "margin_": plan.margins[chosen]}

    def _run(  # type: ignore[override]
        self, rows: Rows, plan: SearchPlan, record: PrivacyRecord, source: BitSource | None
    ) -> tuple[dict[str, Any], PrivacyRecord]:
        """Return what was learned, and the record of the choice and the branch it led to: the planned price, whichever it was."""
        with recording() as log, np.errstate(all="ignore"):
            learned = self._learn(rows, plan, source)
        taken = (plan.charges[0], *learned["estimator_"].plan_.charges)
        return dict(learned), replace(record, charges=taken).ran(log)

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Those of the learner."""
        scores: NDArray[np.float64] = self.estimator_._scores(rows)  # noqa: SLF001 - the same interface
        return scores

    def _learner_at(self, margin: Fraction, epsilon: Exact) -> PrivateEstimator:
        """The learner at a margin, without budget and source."""
        model: PrivateEstimator = clone(self.estimator).set_params(margin=margin, epsilon=epsilon, budget=None, random_state=None)
        return model

    def _mapped_rows(self, rows: Rows, branch: Plan) -> Rows:
        """The rows that margins are about."""
        return branch.mapped(rows) if isinstance(branch, ChoicePlan) else rows

    def _sensitivity(self, records: int, exponent: int) -> Fraction:
        """Return by how much one record can move a score before it is put on the grid."""
        return Fraction(1, records) if self.score_by == "errors" else Scale(records, exponent).sensitivity

    def _scores_of(self, rows: Rows, plan: SearchPlan) -> list[Fraction]:
        """The score of every margin: its least loss, and twice the complexity of classifiers of such a margin, which is public."""
        root = Fraction(math.isqrt(plan.records << 40), 2**20)
        penalties = [Fraction(2 ** (exponent + 1)) / root for exponent in plan.exponents]
        if self.score_by == "hinge":
            losses = [least_hinge(rows, Scale(plan.records, exponent)) for exponent in plan.exponents]
        else:
            first, cover = replace(rows, steps=rows.steps[: plan.records], labels=rows.labels[: plan.records]), _directions(rows)
            unit = rows.bound * _UNIT
            counts = [int(totals(first, cover, errors(unit >> exponent)).min()) for exponent in plan.exponents]
            losses = [Fraction(count, plan.records) for count in counts]
        return [loss + penalty for loss, penalty in zip(losses, penalties, strict=True)]


def _loss_above(plan: Plan) -> PrivacyLoss | None:
    """The laws that dominate a plan's releases; None for none."""
    return compose(*(charge.loss for charge in plan.charges)).dominating() if plan.charges else None


def _directions(rows: Rows) -> Listed:
    """Public random directions of about the same length."""
    weights = np.concatenate(list(RandomCover(rows.steps.shape[1], _CANDIDATES, 0).blocks()), axis=1)
    norms = np.sqrt(np.square(weights.astype(np.float64)).sum(axis=0))
    return Listed(np.rint(weights * (_UNIT / np.maximum(norms, 1.0))).astype(np.int64))
