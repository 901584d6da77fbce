"""Lists inside of records: the first elements of each are read, or all of lists that are short."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from dpaudit.verifier.ordinary import numbers
from dpaudit.verifier.ordinary.lines import Again, Learned
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.types import Type
from dpaudit.verifier.ordinary.values import Scalar, Short, Value

LONGEST: Final = 4
"""Where a program goes through whole lists, those of at most so many elements are looked at, to refute."""
_MOST: Final = 16


def widened(learned: Learned, name: str, kind: Type) -> None:
    """Let the fields of a list of lists be those that use asks for."""
    element = kind.fields.pop("")
    kind.fields |= dict.fromkeys(map(str, range(width(learned, name))), element)


def width(learned: Learned, name: str) -> int:
    """How many places of the lists inside are read."""
    return int(learned.types.get(f"{name}^", "0"))


def is_bounded(learned: Learned, name: str) -> bool:
    """True where only lists of so many elements are looked at."""
    return f"{name}^^" in learned.types


def first(state: State, node: ast.AST, found: Short, most: int) -> Short:
    """The first elements of a list inside."""
    if found.cut:
        items = found.items[:most]
    else:
        _need(state, node, found, most)
        items = found.items[:most]
    size = numbers.extreme(state, node, found.size, numbers.constant(state, most), least=True)
    return replace(found, size=numbers.number(state, node, size), items=items, cut=True)


def whole(state: State, node: ast.AST, found: Short) -> Short:
    """All of a list inside: from here on only short ones are looked at, so that nothing is proven."""
    if not found.cut and not is_bounded(state.learned, found.data):
        state.learned.types[f"{found.data}^^"] = str(getattr(node, "lineno", state.line))
        state.learned.types[f"{found.data}^"] = str(max(LONGEST, width(state.learned, found.data)))
        raise Again
    return found


def guards(state: State, node: ast.AST, found: Short) -> list[tuple[Scalar, Value]]:
    """Each element with the condition under which it is there."""
    return [(guard(state, node, found, place), one) for place, one in enumerate(found.items)]


def guard(state: State, node: ast.AST, found: Short, place: int) -> Scalar:
    """That a list has an element at a place."""
    return numbers.compared(state, node, ast.Lt(), numbers.constant(state, place), found.whole)


def _need(state: State, node: ast.AST, found: Short, most: int) -> None:
    """See that so many places are read."""
    if most > _MOST:
        raise refuse(node, f"more than {_MOST} elements of a list inside of a record", "take fewer", "DPA706")
    if width(state.learned, found.data) < most:
        state.learned.types[f"{found.data}^"] = str(most)
        raise Again
