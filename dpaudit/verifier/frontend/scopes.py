"""The meaning of names that a source does not define itself: samplers, builtins, frozen numbers, helpers."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import FunctionType
from typing import Any, Final, TypeAlias

from dpaudit.binding import STANDARD, is_frozen
from dpaudit.errors import Unsupported
from dpaudit.spec import Spec, spec, spec_of
from dpaudit.verifier.frontend.refusals import refusal, take
from dpaudit.verifier.ir import Law

_HEADERS: Final = ("from fractions import Fraction", "from __future__ import annotations")


@dataclass(frozen=True)
class Standard:
    """One of Python's own functions."""

    name: str


@dataclass(frozen=True)
class Source:
    """The definition of one function: its tree, its text, its promise, and what the names in it mean."""

    tree: ast.FunctionDef
    text: str
    promise: Spec | None
    find: Callable[[str], Meaning]


Meaning: TypeAlias = Standard | Law | int | Fraction | bool | type[BaseException] | Source | None
"""The meaning of a name; None where it means nothing that the subset has."""


def of_text(text: str, promise: Spec | None, helpers: Mapping[str, tuple[str, Spec | None]]) -> Source:
    """The one function of a source text; names of laws mean the laws, `helpers` are other texts by the name they are called by."""
    nodes = _parsed(text).body
    while nodes and isinstance(nodes[0], ast.ImportFrom) and ast.unparse(nodes[0]) in _HEADERS:
        nodes = nodes[1:]
    if len(nodes) != 1 or not isinstance(nodes[0], ast.FunctionDef):
        stray = next((node for node in nodes if not isinstance(node, ast.FunctionDef)), nodes[-1] if nodes else ast.Load())
        raise refusal(stray, "something other than one function", "give the text of a single `def`", "DPA702")
    tree = nodes[0]
    if tree.decorator_list:
        raise refusal(tree.decorator_list[0], "a decorator", "give claim= and adjacency= to the verifier instead", "DPA702")

    def find(name: str) -> Meaning:
        if name in helpers:
            helper = of_text(helpers[name][0], helpers[name][1], helpers)
            if helper.tree.name != name:
                raise refusal(helper.tree, f"a helper named {helper.tree.name} under the name {name}", "use its own name", "DPA702")
            return helper
        if name in STANDARD:
            return Standard(name)
        return Law(name) if name in Law._value2member_map_ else _exception(getattr(builtins, name, None))

    return Source(tree, text, promise, find)


def of_function(function: Any, promise: Spec | None) -> Source:
    """The definition of a plain function by its own source; names mean what they are bound to in its module."""
    name = getattr(function, "__qualname__", type(function).__name__)
    if type(function) is not FunctionType or function.__closure__ is not None or hasattr(function, "__wrapped__"):
        raise Unsupported("DPA702", f"{name} is not a plain function without a closure; define it with `def` at module level.")
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise Unsupported("DPA702", f"the source of {name} cannot be found; define it in a file, or give its text.") from error
    nodes = _parsed(text).body
    if len(nodes) != 1 or not isinstance(nodes[0], ast.FunctionDef) or nodes[0].name != function.__code__.co_name:
        raise Unsupported("DPA702", f"the source of {name} is not one `def` of this name; define it on lines of its own.")
    known = {**function.__builtins__, **function.__globals__}
    for decorator in nodes[0].decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(called, ast.Name) or known.get(called.id) is not spec:
            raise refusal(decorator, "a decorator that is not @spec", "only `@spec` returns the function unchanged", "DPA702")

    def find(wanted: str) -> Meaning:
        value = known.get(wanted)
        if wanted in STANDARD:
            return Standard(wanted) if value is STANDARD[wanted] else None
        if is_frozen(value):
            return value
        return of_function(value, spec_of(value)) if type(value) is FunctionType else _exception(value)

    return Source(nodes[0], text, promise or spec_of(function), find)


def _parsed(text: str) -> ast.Module:
    """The tree of a text, which Python must be able to compile."""
    try:
        tree = ast.parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise Unsupported("DPA702", f"line {line}: this is not Python source ({type(error).__name__}); repair it first.") from error
    take(tree, "body")
    return tree


def _exception(value: object) -> type[BaseException] | None:
    """An exception class of Python itself that needs no argument."""
    return value if isinstance(value, type) and value in EXCEPTIONS else None


EXCEPTIONS: Final = (
    ArithmeticError, IndexError, LookupError, OverflowError, RuntimeError, TypeError, ValueError, ZeroDivisionError,
)  # fmt: skip
"""The exceptions that a program of the subset may raise."""
