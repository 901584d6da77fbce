"""Functions that draw from global generators, clients of local differential privacy among them, as audit targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.interop.adapted import adapt
from dpaudit.interop.noting import note_calls
from dpaudit.plain.streams import seed_globals
from dpaudit.targets import Target

if TYPE_CHECKING:
    from numpy.random import Generator


def from_function(
    function: Callable[[Any], Any], *, claim: Claim, mechanisms: Mapping[type, str] | None = None, **others: Any
) -> Target:
    """A function of the data that draws from global generators as an audit target.

    Args:
      function: function of the data. Its randomness comes from `random`, `numpy.random`, torch, or numpy inside code that numba
        compiles; what comes from the operating system or from a generator of its own is not seeded, and cannot be replayed.
      claim: what it promises.
      mechanisms: classes of the library whose method, by its name, adds noise to a number, and whose attributes `epsilon` and
        `sensitivity` say how much; the audit then checks these sensitivities, and sums the epsilons, as for diffprivlib.
      others: what else a Target takes: `neighbours` or `data`, `name` and others.
    Returns:
      A Target. Each run seeds these global generators from the audit's seed first, so that runs can be replayed; they stay seeded
      after the audit, so nothing that is to be private may be drawn from them later in the same process.
    Raises:
      InvalidArgument: not a function, or a class without such a method (DPA105), or what a Target refuses (DPA404).
    Source: docs/adapters.md, "Global generators and local clients".
    Example:
      >>> import numpy as np, random
      >>> from dpaudit import Claim, PureDP
      >>> coin = from_function(lambda data: random.random() < 0.5, claim=Claim(PureDP(epsilon=1)), data=[0, 1])
      >>> coin.run(coin.data, np.random.default_rng(1)) == coin.run(coin.data, np.random.default_rng(1))
      True
    """
    if not callable(function):
        raise InvalidArgument("DPA105", f"a function of the data is expected, got a {type(function).__name__}.")

    methods = dict(mechanisms or {})
    for kind, method in methods.items():
        if not isinstance(kind, type) or not callable(getattr(kind, str(method), None)):
            raise InvalidArgument(
                "DPA105", f"mechanisms must be classes, each with the name of its method, got {method!r} for {kind!r}."
            )

    def release(data: Any) -> Any:
        with note_calls(claim.relation, methods):
            return function(data)

    return seeded_target(release if methods else function, function, claim=claim, **others)


def from_client(privatise: Callable[[Any], Any], *, epsilon: Any, values: Sequence[Any], **others: Any) -> Target:
    """A client of local differential privacy, which reports one person's value, as an audit target.

    Args:
      privatise: function of one value that returns what the person sends, as in `from_function`.
      epsilon: what the client promises for any two values, exact.
      values: two values or more, of which every pair is compared.
      others: what else a Target takes, `name` and others.
    Returns:
      A Target under replace_one, with data that hold one value.
    Raises:
      InvalidArgument: fewer than two values (DPA105), or what `from_function` refuses.
    Source: docs/adapters.md, "Global generators and local clients".
    Example:
      >>> import numpy as np, random
      >>> told = from_client(lambda bit: bit ^ (random.random() < 0.25), epsilon=1, values=[0, 1])
      >>> told.neighbours
      (([0], [1]),)
    """
    if len(values) < 2:
        raise InvalidArgument("DPA105", f"values must hold at least two values to compare, got {len(values)}.")
    if not callable(privatise):
        raise InvalidArgument("DPA105", f"a function of one value is expected, got a {type(privatise).__name__}.")
    pairs = [([one], [other]) for one, other in combinations(values, 2)]
    given = {"name": getattr(privatise, "__name__", ""), "neighbours": pairs, **others}
    claim = Claim(PureDP(epsilon=epsilon), "replace_one")
    return seeded_target(lambda data: privatise(data[0]), privatise, claim=claim, **given)


def seeded_target(release: Callable[[Any], Any], what: Any, *, claim: Claim, **others: Any) -> Target:
    """A target that seeds the global generators before each release, and stands for what it calls."""

    def run(data: Any, rng: Generator) -> Any:
        seed_globals(rng)
        return release(data)

    return Target(run=adapt(run, what), claim=claim, **{"name": getattr(what, "__name__", ""), **others})
