"""The order of a release on every path: it is written to the log once, and drawn from the source of that entry afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from proofs.flow.following import Refusal
from proofs.flow.terms import Term, Undecided, Walk, mentions, same, walk_through


class Unproven(AssertionError):
    """A path of shipped code that does something else than it has to."""


@dataclass(frozen=True, eq=False)
class Door:
    """In place of `open_release`: notes when a release is logged, and hands out the bits that it may draw from."""

    log: Term = field(default_factory=lambda: Term("open_release"))
    bits: Term = field(default_factory=lambda: Term("bits"))
    hold: Term = field(default_factory=lambda: Term("hold"))
    held: Term = field(default_factory=lambda: Term("held"))

    def __call__(self, record: Any, source: Any, **named: Any) -> tuple[Term, Term | None]:
        """Log, and give the bits and what holds the output, or None for the latter."""
        self.log(record, source, **named)
        return self.bits, self.hold if self.held else None


@dataclass(frozen=True, eq=False)
class Released:
    """One path that releases: what was logged, the draws in order, and the output, freed from what a checking tape adds."""

    walk: Walk
    result: Any
    record: Any
    count: Any
    dimension: Any
    draws: tuple[Term, ...]
    output: Any


def require(truth: bool, what: str) -> None:  # noqa: FBT001 - reads like an assertion
    """Fail with a sentence."""
    if not truth:
        raise Unproven(what)


def releases(run: Callable[[], Any], door: Door, source: Term) -> Iterator[Released]:
    """Follow all paths of a release, and give those that do not refuse; each logs once, before it draws."""
    found = False
    for walk, result in walk_through(lambda: or_refusal(run)):
        opened = [place for place, call in enumerate(walk.calls) if call.parts[0] is door.log]
        drawn = [place for place, call in enumerate(walk.calls) if _takes(call, door.bits)]
        for place, call in enumerate(walk.calls):
            require(place in opened or not mentions(call, source), f"the source goes to {call.parts[0]!r} too")
        if isinstance(result, Refusal):
            require(not drawn, "an error after randomness is drawn")
            continue
        require(len(opened) == 1, f"the log is written {len(opened)} times on a path")
        require(bool(drawn) and opened[0] < drawn[0], "nothing is drawn, or before the log is written")
        _, (record, given), named = walk.calls[opened[0]].parts
        require(given is source, "the bits are not those of the source that was given")
        logged = dict(named)
        output = _freed(result, door)
        found = True
        draws = tuple(walk.calls[place] for place in drawn)
        yield Released(walk, result, record, logged.get("count", 1), logged.get("dimension", 1), draws, output)
    require(found, "every path refuses")


def one_draw(path: Released) -> Term:
    """The only draw of a path, which is used in its output once and nowhere else."""
    require(len(path.draws) == 1, f"a path draws {len(path.draws)} times")
    (draw,) = path.draws
    # Shapes are unpacked into the arguments of a call; a loop over anything else may draw in every round.
    require(all(one.op == "attribute" and one.parts[1] == "shape" for one in path.walk.iterated), "a loop on the way to the draw")
    require(_uses(path.output, draw) == 1, "the draw is not used once")
    for call in path.walk.calls:
        require(not mentions(call, draw) or mentions(path.result, call), f"the draw goes to {call.parts[0]!r} too")
    return draw


def require_same(first: Any, second: Any, what: str) -> None:
    """Fail unless two values are equal for all values of the stand-ins."""
    require(same(first, second), f"{what}: {first!r} is not {second!r}")


def if_same(first: Any, second: Any, what: str, result: Any) -> Any:
    """A result, given that two values are equal for all values of the stand-ins."""
    require_same(first, second, what)
    return result


def noting(items: list[Any], item: Any, result: Any) -> Any:
    """A result, after something is added to a list."""
    items.append(item)
    return result


def or_refusal(run: Callable[[], Any]) -> Any:
    """The result of a program, or its refusal."""
    try:
        return run()
    except Refusal as refusal:
        return refusal


def _takes(call: Term, bits: Term) -> bool:
    """Whether a call is given the bits themselves."""
    _, values, named = call.parts
    return any(value is bits for value in (*values, *dict(named).values()))


def _freed(result: Any, door: Door) -> Any:
    """What is shown: the tape that holds outputs while a function is checked is given the output as its second value."""
    if isinstance(result, Term) and result.op == "call":
        function, values, _ = result.parts
        if function is door.hold:
            return _freed(values[1], door)
        if isinstance(function, Term) and function.op == "attribute" and function.parts[1] == "asarray":
            return _freed(values[0], door)
    if isinstance(result, Term) and result.op == "item" and isinstance(result.parts[1], int) and result.parts[1] == 0:
        return _freed(result.parts[0], door)
    return result


def _uses(value: Any, wanted: Term) -> int:
    """How often a term occurs in a value."""
    if value is wanted:
        return 1
    parts = value.parts if isinstance(value, Term) else value if isinstance(value, (tuple, list)) else ()
    return sum(_uses(part, wanted) for part in parts)


__all__ = [
    "Door",
    "Released",
    "Undecided",
    "Unproven",
    "if_same",
    "noting",
    "one_draw",
    "or_refusal",
    "releases",
    "require",
    "require_same",
]
