"""A specimen: a published mechanism or program, the verdict that it must get, and what is exactly true of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:  # programs are verified without what a target needs
    from dpaudit.targets import Target


@dataclass(frozen=True)
class Truth:
    """The exact truth about a target's pair, at one point of its claim.

    Args:
      at_epsilon: epsilon of the claimed point, in nats; for claims of a whole curve a point on it.
      at_delta: delta that the claim allows there.
      epsilon: least epsilon of the pair at `at_delta`, both directions, in nats; infinite if there is none.
      delta: least delta of the pair at `at_epsilon`, both directions.
      how: how it was computed.
    Source: docs/catalogue.md, "The zoo".
    Example:
      >>> Truth(at_epsilon=1.0, at_delta=0.0, epsilon=2.0, delta=0.3, how="closed form").violates
      True
    """

    at_epsilon: float
    at_delta: float
    epsilon: float
    delta: float
    how: str

    @property
    def violates(self) -> bool:
        """True if the pair breaks the claim at this point."""
        return self.delta > self.at_delta + 1e-12


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A published mechanism, correct or broken, as a target for an audit or as a program for the verifier.

    Args:
      name: short, unique among the targets of one epsilon and among the programs.
      source: who published it, with its name there if that is another, or where the mistake is known from.
      verdict: "proven" where the claim holds, "refuted" where it does not; for a target on its very pair.
      description: what it does and, if it is broken, what is wrong.
      target: what an audit is given: the mechanism, its claim and its pair, but not the verdict; None for a program.
      program: a function decorated by `@spec`, proven for every length and every epsilon; None for a target.
    Source: docs/catalogue.md, "The zoo".
    Example:
      >>> from dpaudit.catalogue import PROGRAMS, specimens
      >>> specimens(1)[0].target.name, PROGRAMS[0].program.__name__
      ('zoo_laplace', 'laplace_mechanism')
    """

    name: str
    source: str
    verdict: Literal["proven", "refuted"]
    description: str = ""
    target: Target | None = None
    program: Callable[..., Any] | None = None

    @property
    def broken(self) -> bool:
        """True if the claim is false."""
        return self.verdict == "refuted"

    @property
    def truth(self) -> Truth:
        """The exact truth about a target's pair; InvalidArgument (DPA103) where none is stored for the claim."""
        claim = "" if self.target is None else str(self.target.claim.guarantee)
        found = _truths().get((self.name, claim))
        if found is None:
            raise InvalidArgument(
                "DPA103",
                f"no truth is stored of {self.name} with the claim {claim or 'of a program'}. Truths are stored for the targets of "
                "epsilon 1/10, 1/2 and 1; take one of these.",
            )
        return found


@lru_cache(maxsize=1)
def _truths() -> dict[tuple[str, str], Truth]:
    """Return every stored truth, by name and claim of its specimen."""
    rows = json.loads(files("dpaudit.catalogue").joinpath("truths.json").read_text(encoding="utf-8"))["rows"]
    return {(row["name"], row["claim"]): _truth(row) for row in rows}


def _truth(row: dict[str, str]) -> Truth:
    """Return the truth in one row of the table."""
    at_epsilon, at_delta, epsilon, delta = (float(row[point]) for point in ("at_epsilon", "at_delta", "epsilon", "delta"))
    return Truth(at_epsilon, at_delta, epsilon, delta, row["how"])
