"""A claim written above a function: `@claim(epsilon=1)`, which leaves the function as it is and lets an audit find it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from dpaudit.claims import Adjacency, Claim, Guarantee
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, kind_of
from dpaudit.plain.asked import claim_of

_MARK: Final = "__dpaudit_claim__"

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Claimed:
    """What `@claim` says of a function."""

    claim: Claim
    data: Any = field(default=None, repr=False)
    columns: tuple[str, ...] = ()
    arguments: tuple[tuple[str, Any], ...] = ()
    public_data: bool = False
    most_runs: int | None = None
    name: str = ""


def claim(  # noqa: PLR0913 - what a Target takes, by name
    guarantee: Guarantee | None = None,
    *,
    epsilon: Exact | None = None,
    delta: Exact = 0,
    adjacency: Adjacency | str = "add_remove",
    data: Any = None,
    columns: Sequence[str] = (),
    arguments: Mapping[str, Any] | None = None,
    public_data: bool = False,
    most_runs: int | None = None,
    name: str = "",
) -> Callable[[Function], Function]:
    """State the claim of a function that releases something; `dpaudit audit FILE.py` finds it.

    Args:
      guarantee: a guarantee such as `GDP(mu=1)`, instead of `epsilon` and `delta`.
      epsilon: claimed privacy parameter in nats, exact, at least 0.
      delta: failure probability, exact, in [0, 1), dimensionless.
      adjacency: the neighbouring relation.
      data: the dataset of which neighbours are made, in the form that the function takes, or the path of a data file; `--data`
        replaces it.
      columns: the columns of a data file that the function takes; all unless given.
      arguments: values of further arguments by name.
      public_data: whether reports may show values of the data.
      most_runs: most runs of it, at least 500.
      name: its name in reports; the function's name unless given.
    Returns:
      A decorator that gives back the function unchanged but for the note of its claim.
    Raises:
      InvalidArgument: no claim or two (DPA106), or a number out of range (DPA103).
    Source: docs/audit_your_own.md.
    Example:
      >>> @claim(epsilon=1, data=[31, 54, 27])
      ... def noisy_count(ages, rng):
      ...     return len(ages) + rng.laplace()
      >>> noisy_count.__name__
      'noisy_count'
    """
    if callable(guarantee) and not isinstance(guarantee, Guarantee):
        raise InvalidArgument("DPA106", "claim needs an epsilon. Write @claim(epsilon=1) above the function.")
    if (guarantee is None) == (epsilon is None):
        got = "neither" if epsilon is None else "both"
        raise InvalidArgument("DPA106", f"claim takes epsilon= or a guarantee, got {got}. Write @claim(epsilon=1).")
    if epsilon is not None:
        stated = claim_of(epsilon, delta, adjacency)
    elif isinstance(guarantee, Guarantee):
        stated = Claim(guarantee, adjacency=adjacency)
    else:
        raise InvalidArgument("DPA105", f"the guarantee must be one such as GDP(mu=1), got {kind_of(guarantee)}.")
    extra = tuple((arguments or {}).items())
    note = Claimed(stated, data, tuple(columns), extra, public_data, most_runs, name)

    def mark(function: Function) -> Function:
        if not callable(function):
            raise InvalidArgument("DPA105", f"claim is written above a function, got {kind_of(function)}.")
        try:
            setattr(function, _MARK, note)
        except AttributeError as error:
            message = f"{kind_of(function)} holds no note of a claim. Write a def around it, and @claim above that."
            raise InvalidArgument("DPA105", message) from error
        return function

    return mark


def claimed_of(function: object) -> Claimed | None:
    """Return what `@claim` says of a function, None where it is not decorated."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Claimed) else None
