"""Estimators with the interface of scikit-learn as audit targets: what a fitted model keeps, or what it says of public rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.claims import Claim
from dpaudit.errors import InvalidArgument
from dpaudit.extras import require
from dpaudit.interop.adapted import adapt
from dpaudit.targets import Target

if TYPE_CHECKING:
    from numpy.random import Generator


def from_sklearn(
    estimator: Any, *, claim: Claim, released: Sequence[str] = (), rows: Any = None, labels: bool = True, **others: Any
) -> Target:
    """An estimator as an audit target: every run fits a clone of it and gives out what would be released of the model.

    Args:
      estimator: anything with scikit-learn's `fit`, `get_params` and `set_params`, with its parameters set; it is never fitted.
      claim: what fitting promises. The library of the estimator seldom says it in a form that can be read.
      released: names of fitted attributes, and of methods such as "predict", which are asked about `rows`; every attribute whose
        name ends in an underscore unless given, since that is what a stored model shows.
      rows: public rows, shape (m, d), for the methods in `released`.
      labels: whether records have a label, the last entry of a row or y in (X, y); `fit` gets X alone otherwise.
      others: what else a Target takes: `neighbours`, or `data` as an array of rows or (X, y), and `name`, `most_runs` and others.
    Returns:
      A Target. Parameters called `random_state` are set from the audit's seed, nested ones too, so that runs can be replayed.
    Raises:
      InvalidArgument: not an estimator, or no list of names (DPA105), or what a Target refuses (DPA404).
    Source: docs/adapters.md, "scikit-learn".
    Example:
      >>> import numpy as np
      >>> from sklearn.linear_model import Ridge
      >>> from dpaudit import Claim, PureDP
      >>> target = from_sklearn(Ridge(), claim=Claim(PureDP(epsilon=1)), data=np.eye(3), released=["coef_"])
      >>> sorted(target.run(target.data, np.random.default_rng(1)))
      ['coef_']
    """
    others = {"name": type(estimator).__name__, **others}
    fit = fit_function(estimator, released, rows, labels=labels)
    return Target(run=adapt(fit, estimator), claim=claim, **others)


def fit_function(estimator: Any, released: Sequence[str], rows: Any, *, labels: bool) -> Callable[..., dict[str, Any]]:
    """The function that fits a clone and gives out parts of it by name."""
    if not all(callable(getattr(estimator, method, None)) for method in ("fit", "get_params", "set_params")):
        kind = type(estimator).__name__
        raise InvalidArgument("DPA105", f"an estimator with fit, get_params and set_params is expected, got a {kind}.")
    if not isinstance(released, (list, tuple)) or not all(isinstance(name, str) for name in released):
        raise InvalidArgument("DPA105", "released must be a list of names of attributes and methods, such as ['coef_', 'predict'].")

    require("learners")

    def run(data: Any, rng: Generator, **settings: Any) -> dict[str, Any]:
        from sklearn.base import clone

        model = clone(estimator)
        seeded = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
        model.set_params(**settings, **{key: int(rng.integers(2**32)) for key in sorted(seeded)})
        table = data if isinstance(data, tuple) else np.asarray(data)
        parts = (table,) if not labels else table if isinstance(table, tuple) else (table[:, :-1], table[:, -1])
        model.fit(*parts)
        names = released or sorted(name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
        kept = {name: getattr(model, name) for name in names}
        return {name: part(rows) if callable(part) else part for name, part in kept.items()}

    return run
