"""How a function uses one of its parameters, read from its source and from that of helpers it hands the parameter to."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final

_DEEPEST: Final = 3
"""Helpers of helpers that are read."""

_COPIES: Final = {"array", "asarray", "copy", "deepcopy", "list", "sorted", "tuple", "reversed"}
"""Calls whose result is used as what they are given."""

_NUMPY: Final = {"np", "numpy", "jnp"}
_TEXTS: Final = frozenset(dir(str))
_MAPPINGS: Final = frozenset(dir(dict))


@dataclass
class Usage:
    """What is done with a parameter, and with the items of a loop over it.

    `attributes` and `keys` are those looked up on it; `item_attributes` and `item_keys` on its items; `indexed` where items are
    taken apart by position; `valued` where items are used as they are; `arithmetic` where it is computed with as a whole, by
    operators or by numpy's functions, `sliced` by several indices; `passed` to functions that are not read.
    """

    attributes: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    item_attributes: set[str] = field(default_factory=set)
    item_keys: set[str] = field(default_factory=set)
    indexed: bool = False
    valued: bool = False
    arithmetic: bool = False
    sliced: bool = False
    passed: set[str] = field(default_factory=set)

    def add(self, other: Usage) -> None:
        """Add what a helper does."""
        for name in ("attributes", "keys", "item_attributes", "item_keys", "passed"):
            getattr(self, name).update(getattr(other, name))
        for name in ("indexed", "valued", "arithmetic", "sliced"):
            setattr(self, name, getattr(self, name) or getattr(other, name))


def tree_of(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """Return the tree of a function's source, None where there is none."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    return body[0] if body and isinstance(body[0], ast.FunctionDef) else None


def usage_of(function: Callable[..., Any], parameter: str, depth: int = 0) -> Usage:
    """Return how a function uses a parameter; an empty usage where its source cannot be read."""
    tree = tree_of(function)
    if tree is None:
        return Usage()
    reader = _Reader(tree, parameter)
    found = reader.usage
    plain = inspect.unwrap(function)
    for name, place, keyword in reader.handed:
        helper = getattr(plain, "__globals__", {}).get(name)
        if depth < _DEEPEST and isinstance(helper, FunctionType) and (other := _parameter_at(helper, place, keyword)):
            found.add(usage_of(helper, other, depth + 1))
        else:
            found.passed.add(name)
    return found


def _parameter_at(helper: FunctionType, place: int, keyword: str | None) -> str | None:
    """Return the name of a helper's parameter by its position or its keyword."""
    names = list(inspect.signature(helper).parameters)
    return keyword if keyword in names else names[place] if keyword is None and place < len(names) else None


class _Reader:
    """One reading of a function for one parameter; `handed` are calls of named functions that get it."""

    def __init__(self, tree: ast.FunctionDef, parameter: str) -> None:
        self.usage = Usage()
        self.handed: list[tuple[str, int, str | None]] = []
        self._whole = {parameter}
        self._items: set[str] = set()
        nodes = list(ast.walk(tree))
        before = -1
        while before != (before := len(self._whole) + len(self._items)):  # names for it are found in any order of the lines
            for node in nodes:
                self._name(node)
        for node in nodes:
            self._whole_use(node)
            self._item_use(node)

    def _is_whole(self, node: ast.AST | None) -> bool:
        """True if an expression is the parameter, a copy of it, or its items sifted."""
        if isinstance(node, ast.Name):
            return node.id in self._whole
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._is_item(node.elt) and self._is_whole(node.generators[0].iter)
        if isinstance(node, ast.Call) and _called(node.func) in _COPIES:
            return any(map(self._is_whole, node.args[:1])) or (
                isinstance(node.func, ast.Attribute) and self._is_whole(node.func.value)
            )
        return False

    def _is_item(self, node: ast.AST | None) -> bool:
        """True if an expression is an item of the parameter."""
        return isinstance(node, ast.Name) and node.id in self._items

    def _name(self, node: ast.AST) -> None:
        """Note names that stand for the parameter or for its items."""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and self._is_whole(node.value):
            self._whole.add(node.targets[0].id)
        if isinstance(node, (ast.For, ast.comprehension)):
            self._loop(node.target, node.iter)
        if isinstance(node, ast.Call) and _called(node.func) in {"map", "filter", "sorted", "min", "max", "apply"}:
            functions = [one for one in (*node.args, *(word.value for word in node.keywords)) if isinstance(one, ast.Lambda)]
            if functions and any(map(self._is_whole, node.args)):
                self._items.add(functions[0].args.args[0].arg)

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        """Note the name of the items of a loop."""
        if isinstance(over, ast.Call) and _called(over.func) == "enumerate" and over.args and isinstance(target, ast.Tuple):
            target, over = target.elts[-1], over.args[0]
        if not self._is_whole(over):
            return
        if isinstance(target, ast.Name):
            self._items.add(target.id)
        else:
            self.usage.indexed = True

    def _whole_use(self, node: ast.AST) -> None:
        """Note what is done with the parameter as a whole."""
        found = self.usage
        if isinstance(node, ast.Attribute) and self._is_whole(node.value):
            found.attributes.add(node.attr)
        elif isinstance(node, ast.Subscript) and self._is_whole(node.value):
            texts = [one.value for one in _parts(node.slice) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            found.keys.update(texts)
            found.sliced = found.sliced or (isinstance(node.slice, ast.Tuple) and not texts)
        elif isinstance(node, (ast.BinOp, ast.Compare)):
            compared = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot))
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.left, *node.comparators)
            if not compared and any(isinstance(side, ast.Name) and self._is_whole(side) for side in sides):
                found.arithmetic = True
        elif isinstance(node, ast.Call):
            for place, one in enumerate(node.args):
                if self._is_whole(one) and isinstance(node.func, ast.Name) and node.func.id not in {"len", *_COPIES}:
                    self.handed.append((node.func.id, place, None))
                elif self._is_whole(one) and isinstance(node.func, ast.Attribute):
                    found.passed.add(node.func.attr)
                    found.arithmetic = found.arithmetic or (isinstance(node.func.value, ast.Name) and node.func.value.id in _NUMPY)
            self.handed += [(_called(node.func), 0, word.arg) for word in node.keywords if self._is_whole(word.value)]

    def _item_use(self, node: ast.AST) -> None:
        """Note what is done with an item."""
        found = self.usage
        if isinstance(node, ast.Subscript) and self._is_item(node.value):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                found.item_keys.add(node.slice.value)
            else:
                found.indexed = True
        elif isinstance(node, ast.Attribute) and self._is_item(node.value):
            if node.attr in _MAPPINGS - {"pop", "clear", "copy"}:
                found.item_keys.add("")
            elif node.attr in _TEXTS:
                found.valued = True
            else:
                found.item_attributes.add(node.attr)
        elif isinstance(node, (ast.BinOp, ast.Compare, ast.Call, ast.UnaryOp)):
            found.valued = found.valued or any(map(self._is_item, ast.iter_child_nodes(node)))


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an index: itself, or the members of a list or tuple."""
    yield from node.elts if isinstance(node, (ast.List, ast.Tuple)) else (node,)


def _called(function: ast.expr) -> str:
    """Return the last part of the name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
