"""Counts of work that do not depend on the machine: random bits, ball operations, questions to solvers, what else is called.

The packages are imported through a hook that rewrites each operator and call of their sources to one that counts and then does
the same: a file on disk is not touched, and a program that does not ask for the hook runs the shipped code as it is. What C code
does inside (`sum`, `max`, an array of numpy) is not seen. Numbers of random bits are counted where every source hands them out.
"""

from __future__ import annotations

import ast
import operator
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Final

COUNTS: Final[Counter[str]] = Counter()
"""What was counted since the program began, by name; all of it belongs to this one process."""

_BINARY: Final = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
_KINDS: Final[dict[type, str | None]] = {}
"""What an operation with a value of each type that was seen counts as."""


def install(*packages: str, spare: Sequence[str] = ()) -> None:
    """Import these packages and what is below them counted, from now on, but not those to `spare`; none may be imported already."""
    early = [name for name in sys.modules if name.startswith(packages)]
    if early:
        raise RuntimeError(f"{early[0]} is imported already, and would not be counted. Install the hook first.")
    sys.meta_path.insert(0, _Finder(packages, spare))


def replace_everywhere(module: ModuleType, name: str, made: Callable[[Any], Any]) -> None:
    """Put `made(function)` in the place of a module's function, in every imported module that holds it."""
    function = getattr(module, name)
    counted = made(function)
    for other in list(sys.modules.values()):
        for key, value in list(vars(other).items()):
            if value is function:
                setattr(other, key, counted)


class _Finder(MetaPathFinder):
    """Finds the modules of some packages where they are, and has them read by `_Loader`."""

    def __init__(self, packages: Sequence[str], spare: Sequence[str]) -> None:
        self.packages, self.spare = packages, spare

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The specification of a module that is to be counted; None leaves it to others."""
        if not _below(fullname, self.packages) or _below(fullname, self.spare):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def _below(name: str, packages: Sequence[str]) -> bool:
    """Whether a module is one of these packages or in one of them."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


class _Loader(SourceFileLoader):
    """Reads a module with its operators and calls counted, and leaves no compiled file behind."""

    def get_code(self, fullname: str) -> CodeType:
        """The rewritten code."""
        path = self.get_filename(fullname)
        tree = _Rewriting().visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run it, with the two functions that it calls now."""
        vars(module).update(_counted_operation=_operation, _counted_call=_call)
        super().exec_module(module)


class _Rewriting(ast.NodeTransformer):
    """`a + b` becomes `_counted_operation(operator, a, b)` and `f(x)` becomes `_counted_call(f)(x)`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A binary operator."""
        self.generic_visit(node)
        return self._replaced(node, _BINARY[type(node.op)], node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """A sign; `not` is no arithmetic."""
        self.generic_visit(node)
        return self._replaced(node, "neg", node.operand) if isinstance(node.op, ast.USub) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a += b`, which may change what `a` refers to: the operator in place. Those on parts of something are left alone."""
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        before = ast.Name(node.target.id, ast.Load())
        made = self._replaced(node, f"i{_BINARY[type(node.op)].rstrip('_')}", before, node.value)
        return ast.copy_location(ast.Assign([node.target], made), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call."""
        self.generic_visit(node)
        node.func = ast.copy_location(ast.Call(ast.Name("_counted_call", ast.Load()), [node.func], []), node.func)
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """A pattern is no expression."""
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        """A pattern is no expression."""
        return node

    @staticmethod
    def _replaced(node: ast.AST, name: str, *operands: ast.expr) -> ast.Call:
        """The call in the place of an operator."""
        called = ast.Call(ast.Name("_counted_operation", ast.Load()), [ast.Constant(name), *operands], [])
        return ast.copy_location(called, node)


def _operation(name: str, *operands: Any) -> Any:
    """Do it; count it if a ball is among the operands, or else an exact rational."""
    kinds = {_kind(type(operand)) for operand in operands}
    if kinds != {None}:
        COUNTS["balls" if "balls" in kinds else "rationals"] += 1
    return getattr(operator, name)(*operands)


def _call(function: Any) -> Any:
    """The function itself; its call counts if it makes or asks a ball."""
    owner = function if isinstance(function, type) else type(getattr(function, "__self__", None))
    with suppress(TypeError):  # a type that cannot be a key is none of those that count
        kind = _kind(owner)
        if kind is not None:
            COUNTS[kind] += 1
    return function


def _kind(of: type) -> str | None:
    """What a type counts as: balls, rationals, or nothing."""
    try:
        return _KINDS[of]
    except KeyError:
        ours = of.__module__.startswith("flint")
        found = ("balls" if of.__name__.startswith(("arb", "acb")) else "rationals") if ours else None
        return _KINDS.setdefault(of, found)
