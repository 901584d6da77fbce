"""PrivateGridSearchCV: the best of a random number of private fits with random parameters, at a price that knows no candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from dpaudit.accounting import best_of_negative_binomial_runs, best_of_poisson_runs, calibrate, compose, gaussian, gdp
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, integer, shown
from dpaudit.releases import Release, as_one
from learners.estimator import Plan, PrivateEstimator, Public
from learners.margins.margin_search import of_learner, state_of
from learners.record import Charge
from learners.rows.seeds import PublicBits
from learners.selection.runs import PoissonRuns, Runs
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noise import bit_source
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.selection.coins import below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.accounting import PrivacyLoss
    from dpaudit.claims import Adjacency
    from learners.rows.ingest import Features
    from mechanisms.sampling.random import BitSource

_FIXED: Final = ("adjacency", "budget", "classes", "delta", "epsilon", "n_nominal", "random_state")
_NEARLY: Final = 1 - Fraction(1, 2**20)
"""Fits are planned at a mu that is so much smaller, so that roots which are rounded up stay within the limit."""

_RUNS_EACH: Final = 5
"""As many runs are expected for every candidate, unless `stop` says otherwise."""


class Cases(NamedTuple):
    """Records as they were given, which every candidate reads in its own way, and positions of their labels."""

    features: Features
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class GridPlan:
    """The plan of a search (Papernot, Steinke 2022)."""

    candidates: tuple[Mapping[str, Any], ...]  # parameters by name, one mapping a candidate
    branches: tuple[Plan, ...]  # the learner's plan with each of them
    runs: Runs | PoissonRuns  # law of the number of fits
    held_out: int  # how many records count the errors of a fit; the others are learned from
    split_seed: int  # public, says which
    score: LaplaceMechanism | GaussianMechanism  # noise in the number of held-out records that a fit gets right
    whole: Release  # the release that stands for all of it
    intercept = 0

    @property
    def lattice_bits(self) -> int:
        """The finest of the candidates'."""
        return max(branch.lattice_bits for branch in self.branches)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The one release."""
        return (Charge((self.whole,)),)

    def parts(self, cases: Cases) -> tuple[Cases, Cases]:
        """Records to learn from, and records to count errors of, by a public order of their places."""
        order = PublicBits(self.split_seed, "held out", len(cases.labels)).order(len(cases.labels))
        kept, out = np.sort(order[self.held_out :]), np.sort(order[: self.held_out])
        return Cases(cases.features[kept], cases.labels[kept]), Cases(cases.features[out], cases.labels[out])


class PrivateGridSearchCV(PrivateEstimator):
    """A learner whose parameters are chosen privately, within the learner's own epsilon and delta.

    A secret random number of times a candidate is drawn, fitted on part of the records and scored by a noisy number of held-out
    records that it gets right; the best of these fits is released, and nothing else. The price is that of a few fits, however
    many candidates and fits there are. What a fit costs alone is calibrated to that: each has its share of epsilon.

    Args:
      estimator: a learner under replace_one; its epsilon, delta, adjacency, classes and budget are those of the whole search.
      param_grid: names of parameters and lists of their values, or a list of such mappings, as for scikit-learn's ParameterGrid;
        not epsilon, delta, adjacency, classes, budget, n_nominal or random_state. Public.
      shape: of the number of fits, exact, above -1: 1 (geometric) pays for three fits at delta 0, 0 (logarithmic) for two, with
        a number of fits that is more often small.
      stop: of the same, public, exact, in (0, 1): the smaller the more fits; None expects about five for each candidate at shape 1.
      poisson: parameter of a Poisson number of fits instead, public, exact, positive: seldom far from it, and cheaper where
        candidates are few; for learners whose releases are all Gaussian.
      held_out: part of the records that count errors, public, exact, in (0, 1).
      split_seed: public integer that says which records these are.
      random_state: None draws from the operating system; an integer or a numpy Generator makes the search reproducible, for
        tests. The learner's own is not used.
    Source: Papernot, Steinke 2022, Theorem 2; Liu, Talwar 2019; docs/choices_and_perturbation.md, "Search among candidates".
    Example:
      >>> from learners.perturbation.output import OutputPerturbation
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 500)
      >>> learner = OutputPerturbation(epsilon=6, feature_norm=1, classes=[0, 1])
      >>> model = PrivateGridSearchCV(learner, {"ridge": ["1/10", "1/100"]}).fit(X, [1, 0] * 500)
      >>> model.score(X, [1, 0] * 500), model.privacy_.epsilon, model.best_params_["ridge"] in ("1/10", "1/100")
      (1.0, Fraction(6, 1), True)
    """

    released: ClassVar[tuple[str, ...]] = ("best_estimator_", "best_index_", "best_score_")

    epsilon = of_learner("epsilon")
    delta = of_learner("delta")
    feature_norm = of_learner("feature_norm")
    adjacency = of_learner("adjacency")
    classes = of_learner("classes")
    budget = of_learner("budget")
    n_nominal = of_learner("n_nominal")

    def __init__(
        self,
        estimator: PrivateEstimator,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        shape: Exact = 1,
        stop: Exact | None = None,
        poisson: Exact | None = None,
        held_out: Exact = "1/5",
        split_seed: int = 0,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.shape = shape
        self.stop = stop
        self.poisson = poisson
        self.held_out = held_out
        self.split_seed = split_seed
        self.random_state = random_state

    @property
    def best_params_(self) -> dict[str, Any]:
        """Parameters of the fit that was released."""
        return dict(self.plan_.candidates[self.best_index_])

    def __sklearn_tags__(self) -> Any:
        """As many classes as the learner tells apart."""
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, PrivateEstimator):
            tags.classifier_tags.multi_class = self.estimator.__sklearn_tags__().classifier_tags.multi_class
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: parameters, released numbers and public constants, and no budget once the model is fitted."""
        return state_of(self)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Search and learn, at the price that `privacy_` states; as for every learner."""
        if not isinstance(self.estimator, PrivateEstimator) or "epsilon" not in self.estimator.get_params(deep=False):
            raise InvalidArgument("DPA105", f"a {type(self.estimator).__name__} has no epsilon of its own. Give a private learner.")
        super().fit(X, y)
        if self.plan_ is not None:
            names = ("classes_", "privacy_", "n_features_in_", "feature_names_in_")
            self.best_estimator_.__dict__.update({name: vars(self)[name] for name in names if name in vars(self)})
        return self

    def _plan(self, public: Public) -> GridPlan:
        """Candidates, what one fit may cost, and the plan of each."""
        candidates = self._candidates()
        runs = self._runs(len(candidates))
        part = in_range(self.held_out, "held_out", lower=0, upper=1, lower_open=True, upper_open=True)
        out = min(max(math.floor(part * public.records), 1), public.records - 1)
        if out < 1:
            raise InvalidArgument("DPA109", "a search needs 2 records: one to learn from and one to count errors of.")
        run = _one_run(public, runs)
        rest = replace(public, records=public.records - out, epsilon=run.epsilon)
        branches = tuple(self._branch(candidate, rest) for candidate in candidates)
        paid = max(_cost(branch, run.measure) for branch in branches)
        if paid > run.limit:
            raise Unsupported(
                "DPA604", "a fit of the learner costs more than a search among its fits allows. Try delta=0, or another."
            )
        score, spent = _score(run, public.adjacency)
        law = {"mean": runs.parameter} if isinstance(runs, PoissonRuns) else {"shape": runs.shape, "stop": runs.stop}
        parameters = tuple(sorted({run.measure: max(paid, spent), **law}.items()))
        whole = Release("best_of_runs", parameters, Fraction(1), public.adjacency)
        return GridPlan(candidates, branches, runs, out, integer(self.split_seed, "split_seed", lower=0), score, whole)

    def _runs(self, candidates: int) -> Runs | PoissonRuns:
        """The law of the number of fits."""
        if self.poisson is None:
            stop = Fraction(1, _RUNS_EACH * candidates) if self.stop is None else self.stop
            return Runs(shape=self.shape, stop=stop)
        if self.stop is not None or self.shape != 1:
            raise InvalidArgument("DPA103", "shape and stop belong to another law of the number of fits than poisson. Give one.")
        return PoissonRuns(parameter=self.poisson)

    def _plan_facts(self, _public: Public, plan: GridPlan | None) -> dict[str, Any]:
        """The learner, and how much there was to choose from."""
        if plan is None:
            return {}
        return {
            "searches": type(self.estimator).__name__,
            "candidates": len(plan.candidates),
            "held_out": plan.held_out,
            "score_scale": shown(plan.score.sigma if isinstance(plan.score, GaussianMechanism) else plan.score.scale),
        }

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: Any) -> Any:  # noqa: ARG002 - each candidate has its own
        """Records as they are."""
        return Cases(features, labels)

    def _learn(self, rows: Any, plan: GridPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The best of a random number of fits; the first of equal ones, which is as good as a random one."""
        bits = bit_source(source)
        kept, out = plan.parts(rows)
        best: tuple[int, int, PrivateEstimator] | None = None
        with as_one(replace(plan.whole, secure=bits.secure)):
            for _ in range(plan.runs.draw(bits)):
                index = below(len(plan.candidates), LazyUniform(bits))
                # A mechanism remembers that it was used: on the plan itself, that would tell which fits there were.
                model, branch = self._at(plan.candidates[index], 1), deepcopy(plan.branches[index])
                learned = model._learn(model._rows(*kept, branch), branch, source)  # noqa: SLF001 - the same interface
                model.__dict__.update(plan_=branch, **learned)
                count = int(plan.score.release(_right(model, out), source))
                if best is None or count > best[0]:
                    best = count, index, model
        if best is None:
            raise AssertionError("a search makes at least one fit")
        return {"best_score_": best[0] / plan.held_out, "best_index_": best[1], "best_estimator_": best[2]}

    def _scores(self, rows: Any) -> NDArray[np.float64]:
        """Those of the fit that was released."""
        return _scores_of(self.best_estimator_, rows)

    def _candidates(self) -> tuple[Mapping[str, Any], ...]:
        """Every candidate of the grid, checked."""
        try:
            candidates = tuple(dict(each) for each in ParameterGrid(self.param_grid))
        except (TypeError, ValueError) as error:
            raise InvalidArgument(
                "DPA105", "param_grid must be a mapping of names to lists of values, or a list of these."
            ) from error
        known = self.estimator.get_params()
        for name in {name for candidate in candidates for name in candidate}:
            if name in _FIXED or name not in known:
                allowed = ", ".join(sorted(set(known) - set(_FIXED)))
                raise InvalidArgument("DPA103", f"{name!r} is no parameter to search among. Those of the learner are {allowed}.")
        return candidates

    def _at(self, candidate: Mapping[str, Any], epsilon: Exact) -> PrivateEstimator:
        """The learner with the parameters of a candidate, without budget and source."""
        model: PrivateEstimator = clone(self.estimator).set_params(**candidate, epsilon=epsilon, budget=None, random_state=None)
        return model

    def _branch(self, candidate: Mapping[str, Any], rest: Public) -> Plan:
        """The plan of a candidate, which refuses here what it refuses at all."""
        model = self._at(candidate, rest.epsilon)
        seen = model._public(np.zeros((rest.records, 1)), rest.classes)  # noqa: SLF001 - the same interface
        branch = model._plan(replace(rest, feature_norm=seen.feature_norm))  # noqa: SLF001
        model._rows(np.zeros((1, rest.features)), np.zeros(1, dtype=np.int64), branch)  # noqa: SLF001
        return branch


class OneRun(NamedTuple):
    """The cost of a fit with its score: the epsilon that it is planned at, and a limit in the measure of the law."""

    epsilon: Fraction
    measure: str
    limit: Fraction


def _one_run(public: Public, runs: Runs | PoissonRuns) -> OneRun:
    """That of a run: epsilon at delta 0, mu for a Poisson number of them, else rho."""

    def whole(sigma: Fraction) -> PrivacyLoss:
        """The best of runs with so much noise."""
        run = gaussian(sigma=sigma)
        if isinstance(runs, PoissonRuns):
            return best_of_poisson_runs(run, mean=runs.parameter)
        return best_of_negative_binomial_runs(run, shape=runs.shape, stop=runs.stop)

    if public.delta == 0:
        if isinstance(runs, PoissonRuns):
            raise InvalidArgument("DPA103", "a Poisson number of fits needs a positive delta, got 0. Leave poisson out.")
        return OneRun(public.epsilon / (2 + runs.shape), "epsilon", public.epsilon / (2 + runs.shape))
    found = calibrate(whole, epsilon=public.epsilon, delta=public.delta, low="1e-6", high="1e9", precision="1e-4")
    mu = 1 / found.parameter
    if isinstance(runs, PoissonRuns):
        return OneRun(Fraction(gdp(mu * _NEARLY).epsilon(delta=public.delta).lower), "mu", mu)
    return OneRun(Fraction(gdp(mu).epsilon(delta=public.delta).lower), "rho", mu**2 / 2)


def _score(run: OneRun, relation: Adjacency) -> tuple[LaplaceMechanism | GaussianMechanism, Fraction]:
    """Noise in the count of right ones that costs no more than a run may, and what it costs."""
    if run.measure == "mu":
        noise = GaussianMechanism(sensitivity=1, sigma=1 / run.limit, adjacency=relation)
        return noise, run.limit
    epsilon = run.limit if run.measure == "epsilon" else _root_below(2 * run.limit)
    cost = epsilon if run.measure == "epsilon" else epsilon**2 / 2
    return LaplaceMechanism(sensitivity=1, epsilon=epsilon, adjacency=relation), cost


def _cost(branch: Plan, measure: str) -> Fraction:
    """Return the cost of a fit: its epsilon at delta 0, its rho, or its mu."""
    if not branch.charges:
        return Fraction(0)
    loss = compose(*(charge.loss for charge in branch.charges))
    try:
        cost = {"epsilon": lambda: loss.epsilon(delta=0), "rho": loss.zcdp, "mu": loss.gdp}[measure]().upper
    except Unsupported as error:
        if measure != "mu":
            raise
        raise Unsupported(
            "DPA604", "a Poisson number of fits is for Gaussian ones, and the learner's are not. Leave it out."
        ) from error
    if not isinstance(cost, Fraction):
        raise Unsupported("DPA604", "a fit of the learner is not pure. A search among such fits needs a positive delta.")
    return cost


def _right(model: PrivateEstimator, cases: Cases) -> int:
    """Count the records that a fitted model puts into their class."""
    scores = _scores_of(model, cases)
    chosen = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
    return int((chosen == cases.labels).sum())


def _scores_of(model: PrivateEstimator, cases: Cases) -> NDArray[np.float64]:
    """Scores of records as a model reads them."""
    scores: NDArray[np.float64] = model._scores(model._rows(*cases, model.plan_))  # noqa: SLF001 - the same interface
    return scores


def _root_below(square: Fraction) -> Fraction:
    """A rational number that is at most the root of another."""
    return Fraction(math.isqrt(math.floor(square * 4**60)), 2**60)
