"""Values that the source of a function compares with: at these it may do something else than anywhere else."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from dpaudit.blame import is_installed

_MOST_FUNCTIONS: Final = 32
_MOST_VALUES: Final = 8
_MOST_SIZES: Final = 6
_LONGEST: Final = 64
_LARGEST_SIZE: Final = 500
_LARGEST: Final = 1e15
_MATCHING: Final = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "get"})


@dataclass(frozen=True)
class Named:
    """Texts and numbers that a source compares with, in its order; integers among them may be sizes of datasets."""

    texts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers that may be sizes of datasets."""
        return tuple(int(one) for one in self.numbers if one == int(one) and 1 < one <= _LARGEST_SIZE)[:_MOST_SIZES]

    @property
    def around(self) -> tuple[float, ...]:
        """The numbers, and those in the middle between two that follow each other, where two conditions may hold at once."""
        ordered = sorted(set(self.numbers))
        return (*self.numbers, *((one + other) / 2 for one, other in pairwise(ordered)))


NOTHING: Final = Named()


def values_named(function: Callable[..., Any]) -> Named:
    """Return what a function compares with, and those that it calls of the same project; nothing where there is no source."""
    texts, numbers = dict[str, None](), dict[float, None]()
    for one in _functions_of(function):
        for value in () if is_installed(one.__code__.co_filename) else _compared(one):
            if isinstance(value, str) and len(value) <= _LONGEST:
                texts[value] = None
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST:
                numbers[value] = None
    return Named(tuple(texts)[:_MOST_VALUES], tuple(numbers)[: 2 * _MOST_VALUES])


def _functions_of(function: Any) -> list[FunctionType]:
    """The functions that a callable runs and names, in the order in which they are met; of libraries only what they enclose."""
    found, left = dict[CodeType, FunctionType](), [function]
    while left and len(found) < _MOST_FUNCTIONS:
        one = _plain(left.pop(0))
        if one is None or one.__code__ in found:
            continue
        found[one.__code__] = one
        cells = [cell.cell_contents for cell in one.__closure__ or () if not _is_empty(cell)]
        names = () if is_installed(one.__code__.co_filename) else one.__code__.co_names
        named = [one.__globals__[name] for name in names if name in one.__globals__]
        left += [other for other in (*cells, *named) if callable(other) and not isinstance(other, type)]
    return list(found.values())


def _plain(function: Any) -> FunctionType | None:
    """The function that a callable runs; None for one that is not written in Python."""
    while isinstance(function, partial) or callable(getattr(function, "func", None)):  # what an adapter calls
        function = function.func
    function = getattr(function, "__wrapped__", function)
    if isinstance(function, MethodType):
        function = function.__func__
    if not isinstance(function, FunctionType) and not inspect.isbuiltin(function) and not isinstance(function, type):
        function = vars(type(function)).get("__call__")
    return function if isinstance(function, FunctionType) else None


def _is_empty(cell: Any) -> bool:
    """True if a variable of an enclosing function has no value yet."""
    try:
        return cell.cell_contents is None
    except ValueError:
        return True


def _compared(function: FunctionType) -> Iterator[Any]:
    """Values that a function compares with."""
    lines = [line for _, _, line in function.__code__.co_lines() if line is not None]
    first, last = function.__code__.co_firstlineno, max(lines, default=0)
    for line, parts in _comparisons_in(function.__code__.co_filename):
        if first <= line <= last:
            for part in parts:
                yield from _values_of(part, function.__globals__)


def _values_of(node: ast.expr, names: Mapping[str, Any]) -> Iterator[Any]:
    """The values of literals, of those in a container, and of a name that holds such."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        if isinstance(node.operand.value, (int, float)):
            yield -node.operand.value
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
        for part in (node.keys if isinstance(node, ast.Dict) else node.elts)[:_MOST_VALUES]:
            if part is not None:
                yield from _values_of(part, names)
    elif isinstance(node, ast.Name) and node.id in names:
        held = names[node.id]
        parts: Iterable[Any] = held if isinstance(held, (tuple, list, dict, frozenset, set)) else (held,)
        # Sets come in any order, and all processes have to find the same.
        few = sorted(parts, key=repr) if isinstance(parts, (set, frozenset)) else list(parts)
        yield from (one for one in few[:_MOST_VALUES] if isinstance(one, (str, int, float)))


@lru_cache(maxsize=64)
def _comparisons_in(file: str) -> tuple[tuple[int, tuple[ast.expr, ...]], ...]:
    """What stands on the sides of the comparisons of a file, with their lines."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple((node.lineno, parts) for node in ast.walk(tree) if isinstance(node, ast.expr) and (parts := _sides(node)))


def _sides(node: ast.expr) -> tuple[ast.expr, ...]:
    """What a node compares: the sides of a comparison, a divisor whose remainder is taken, what a text may begin with."""
    if isinstance(node, ast.Compare):
        return (node.left, *node.comparators)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return (node.right,)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MATCHING:
        return tuple(node.args[:1])
    return ()
