"""Targets made of functions that are none: by what `@claim` or the command line says of them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dpaudit.claims import ApproxDP, Claim, PureDP
from dpaudit.errors import TargetFailure
from dpaudit.exact import Exact, rational
from dpaudit.misnamed import place_in
from dpaudit.plain.asked import Asked
from dpaudit.plain.calling import adapt
from dpaudit.plain.claiming import Claimed, claimed_of
from dpaudit.plain.datafiles import read_data
from dpaudit.plain.signature import parameters_of
from dpaudit.targets import Target

PROGRAM: Final = "dpaudit audit"


@dataclass(frozen=True)
class Plain:
    """A function that is no Target: its name in `module`, the class whose method it is, and what `@claim` says of it."""

    function: Callable[..., Any]
    owner: type[Any] | None
    module: ModuleType
    name: str
    note: Claimed | None
    text: str

    @property
    def place(self) -> str:
        """Name and line, for errors."""
        return f"{self.name} at {place_in(self.module, self.name.partition('.')[0])}"


def target_of(function: Callable[..., Any]) -> Target | None:
    """Make the target of a function with `@claim`; None where it has none."""
    note = claimed_of(function)
    module = sys.modules.get(getattr(function, "__module__", ""))
    if note is None or module is None:
        return None
    name = str(getattr(function, "__name__", ""))
    return make_target(Plain(function, None, module, name, note, name), None, Asked())


def make_target(plain: Plain, source: Any, asked: Asked) -> Target:
    """Make the target of a function that is none."""
    note, place = plain.note, plain.place
    function = plain.function
    if inspect.iscoroutinefunction(function):
        raise TargetFailure("DPA404", f"{place} is async. Write a def that calls it with asyncio.run(...).")
    command = f"{PROGRAM} {plain.text}"
    stated = asked.claim or (None if note is None else note.claim)
    if stated is None:
        line = f"{command} --epsilon {_default_epsilon(function)} --data FILE.csv"
        raise TargetFailure("DPA403", f"{place} is a function, and its claim is not known. Write: {line}")
    if asked.epsilon is None and (asked.adjacency or asked.unit):
        stated = replace(stated, adjacency=asked.relation)
    arguments = {**dict(() if note is None else note.arguments), **asked.values}
    if unfilled := [name for name, value in arguments.items() if value is ...]:
        raise TargetFailure("DPA404", f"{place} needs {', '.join(unfilled)}. Fill in a value in its claim.")
    own = None if note is None or note.data is ... else note.data
    read = read_data(own) if source is None and isinstance(own, (str, Path)) else source
    if read is None and own is None:
        line = f"{command}{'' if asked.epsilon is None else f' --epsilon {_number(asked.epsilon)}'} --data FILE.csv"
        raise TargetFailure(
            "DPA404", f"{place} has no data. Write: {line}{'' if note is None else ', or data=[...] in its claim'}."
        )
    adapted = adapt(
        function,
        plain.owner,
        own if read is None else read,
        as_it_is=read is None,
        budget=_budget(stated),
        arguments=arguments,
        columns=asked.columns or (() if note is None else note.columns),
        place=place,
    )
    return Target(
        run=adapted.run,
        claim=stated,
        data=adapted.data,
        name=(note.name if note is not None else "") or plain.name,
        description=adapted.words,
        public_data=note is not None and note.public_data and source is None,
        most_runs=None if note is None else note.most_runs,
    )


def _budget(stated: Claim) -> dict[str, Any]:
    """Return epsilon and delta of a claim as the numbers that a function takes."""
    match stated.guarantee:
        case PureDP(epsilon=epsilon):
            return {"epsilon": _number(epsilon)}
        case ApproxDP(epsilon=epsilon, delta=delta):
            return {"epsilon": _number(epsilon), "delta": _number(delta)}
        case _:
            return {}


def _number(value: Exact) -> int | float:
    """Return an exact number as an int, or as the nearest float."""
    exact = rational(value)
    return exact.numerator if exact.denominator == 1 else float(exact)


def _default_epsilon(function: Callable[..., Any]) -> Any:
    """Return the default of a function's own epsilon, to be proposed; 1 where it has none."""
    given = [one.default for name, one in parameters_of(function).items() if name.lower() in {"epsilon", "eps"}]
    return next((one for one in given if isinstance(one, (int, float)) and not isinstance(one, bool)), 1)
