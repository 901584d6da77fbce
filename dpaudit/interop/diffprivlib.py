"""Tools, models and pipelines of diffprivlib as audit targets, and the sensitivities that its mechanisms are given."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Adjacency, ApproxDP, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.interop.adapted import adapt
from dpaudit.interop.noting import mechanisms_of_diffprivlib, note_calls
from dpaudit.interop.sklearn import fit_function
from dpaudit.targets import Target

if TYPE_CHECKING:
    from numpy.random import Generator


def from_diffprivlib(
    what: Any,
    *,
    adjacency: Adjacency | str = "replace_one",
    accountant: Any = None,
    released: Sequence[str] = (),
    rows: Any = None,
    labels: bool = True,
    **others: Any,
) -> Target:
    """A tool, a model or a pipeline of diffprivlib as an audit target.

    While it runs, every mechanism of diffprivlib that adds noise to a number notes the sensitivity that it was given, so that the
    audit checks it on each pair, without statistics. The noise is floating point of another library, and is not priced.

    Args:
      what: a function (data, random_state=...) such as `partial(tools.mean, epsilon=1, bounds=(0, 10))`, or a model.
      adjacency: what the claim is about. The library does not say; most of its sensitivities are those of replacing a record, those
        of histograms are those of adding or removing one too.
      accountant: a `BudgetAccountant` whose limits are the claim. Every run gets a copy of it, as `accountant=`. Without it the
        claim are the parameters epsilon and delta of `what`.
      released: what is given out of a model, as in `from_sklearn`.
      rows: public rows for methods in `released`.
      labels: whether a model is fitted to labels.
      others: what else a Target takes: `neighbours` or `data`, `name` and others.
    Returns:
      A Target, replayable: diffprivlib takes its randomness from `random_state` there, and not from the operating system.
    Raises:
      InvalidArgument: neither a function nor a model (DPA105), limits that are no claim (DPA101 to DPA103), or what a Target
        refuses (DPA404).
      Unsupported: diffprivlib is not installed (DPA205).
    Source: docs/adapters.md, "diffprivlib".
    Example:
      >>> def noisy_sum(data, epsilon=0.5, random_state=None):  # a stand-in for diffprivlib.tools.sum
      ...     return sum(data)
      >>> str(from_diffprivlib(noisy_sum, data=[1, 2]).claim)
      'epsilon = 1/2 under replace_one'
    """
    model = hasattr(what, "fit")
    if not model and not callable(what):
        raise InvalidArgument("DPA105", f"a function or a model of diffprivlib is expected, got a {type(what).__name__}.")
    relation = Adjacency.of(adjacency)
    epsilon, delta = _limits(what, model=model) if accountant is None else (accountant.epsilon, accountant.delta)
    claim = Claim(ApproxDP(epsilon, delta) if delta else PureDP(epsilon), relation, "diffprivlib's parameters")
    fit = fit_function(what, released, rows, labels=labels) if model else None

    def run(data: Any, rng: Generator) -> Any:
        own = {} if accountant is None else {"accountant": deepcopy(accountant)}
        with note_calls(relation, mechanisms_of_diffprivlib()):
            if fit is not None:
                return fit(data, rng, **own)
            return what(data, random_state=int(rng.integers(2**32)), **own)

    name = type(what).__name__ if model else getattr(getattr(what, "func", what), "__name__", "")
    return Target(run=adapt(run, what), claim=claim, **{"name": name, **others})


def _limits(what: Any, *, model: bool) -> tuple[Any, Any]:
    """Return epsilon and delta from the parameters of a model, or from the defaults of a function."""
    try:
        found = what.get_params() if model else {name: entry.default for name, entry in inspect.signature(what).parameters.items()}
    except ValueError:  # functions in C may have no signature
        found = {}
    if not isinstance(found.get("epsilon"), numbers.Real):
        raise InvalidArgument("DPA105", "the parameters have no epsilon, so that nothing is claimed. Give accountant=.")
    return found["epsilon"], found.get("delta", 0)
