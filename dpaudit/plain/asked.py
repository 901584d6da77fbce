"""What a command says of functions that have no Target: the claim, the columns of the data, and further arguments."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpaudit.claims import Adjacency, ApproxDP, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, non_negative

_WORDS: Final = {"true": True, "false": False, "none": None, "inf": math.inf, "-inf": -math.inf, "nan": math.nan}


@dataclass(frozen=True)
class Asked:
    """What is asked of plain functions, and of every target that is loaded by name.

    `epsilon` is None where no claim is given; `arguments` are names and texts of literals. Of every target `most_runs` caps the
    runs, with `streams` what it prints counts as output, and with `timing` the time that its runs take is tested, too.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    adjacency: str | None = None
    unit: str | None = None
    columns: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    most_runs: int | None = None
    streams: bool | None = field(default=None, metadata={"left out": True})
    timing: bool | None = field(default=None, metadata={"left out": True})

    @property
    def claim(self) -> Claim | None:
        """The claim, None where no epsilon is given."""
        return None if self.epsilon is None else claim_of(self.epsilon, self.delta or 0, self.relation)

    @property
    def relation(self) -> Adjacency:
        """The neighbouring relation, one record added or removed unless another is given."""
        return Adjacency(self.adjacency or "add_remove", self.unit or "record")

    @property
    def is_of_a_call(self) -> bool:
        """True if something is asked that only a function without a Target leaves open."""
        return self.epsilon is not None or bool(self.arguments or self.columns or self.adjacency or self.unit)

    @property
    def values(self) -> dict[str, Any]:
        """The further arguments as Python values."""
        return {name: read_literal(text) for name, text in self.arguments}


def asked_of(  # noqa: PLR0913 - one argument for each option
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    adjacency: str | None = None,
    unit: str | None = None,
    columns: Iterable[str] = (),
    arguments: Iterable[str] = (),
    most_runs: int | None = None,
    streams: bool = False,
    timing: bool = False,
    fewest: int = 1,
) -> Asked | None:
    """Return what is asked, checked; None where nothing is."""
    if epsilon is None and delta is not None:
        raise InvalidArgument("DPA106", "delta is part of a claim with an epsilon. Give both: --epsilon 1 --delta 1e-6.")
    asked = Asked(
        epsilon=None if epsilon is None else non_negative(epsilon, "epsilon"),
        delta=None if delta is None else in_range(delta, "delta", lower=0, upper=1, upper_open=True),
        adjacency=adjacency,
        unit=unit,
        columns=tuple(name.strip() for text in columns for name in text.split(",") if name.strip()),
        arguments=tuple(map(_argument, arguments)),
        most_runs=None if most_runs is None else integer(most_runs, "most_runs", lower=fewest),
        streams=streams or None,
        timing=timing or None,
    )
    assert asked.relation, "an unknown relation is refused here, before anything runs"  # noqa: S101
    return None if asked == Asked() else asked


def claim_of(epsilon: Exact, delta: Exact, adjacency: Adjacency | str) -> Claim:
    """Return the claim of an epsilon and a delta."""
    guarantee = ApproxDP(epsilon, delta) if non_negative(delta, "delta") else PureDP(epsilon)
    return Claim(guarantee, adjacency=adjacency)


def read_literal(text: str) -> Any:
    """Return the value that a text on the command line stands for: a number, true, false, none, a list, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _argument(text: str) -> tuple[str, str]:
    """Return name and value of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise InvalidArgument("DPA105", f"an argument must be NAME=VALUE, such as --arg bound=100, got {text[:40]!r}.")
    return name.strip(), value.strip()
