"""Functions whose paths stand-ins see: Python's questions that no object can answer are asked of a function, or refused."""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any, Final

from dpaudit.binding import is_same_code
from proofs.flow.terms import Undecided

IDENTITY: Final = "is this the same object"
"""The global name, which no source can hold, of the function that answers `is`."""

FALLBACK: Final = "does the block raise an error"
"""The global name of the function that answers whether a block of one of `_FALL_BACK` raises."""

_FALL_BACK: Final = ("read_people", "places_of", "_person", "_place", "_nearest")
"""Functions with a block that writes nothing but names of its own; where it raises an error they answer without these."""

_HIDDEN: Final = (
    ast.With, ast.AsyncWith, ast.AsyncFor, ast.Match, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal,
    ast.TryStar, ast.ClassDef,
)  # fmt: skip
"""What may catch an error, look at the type of a value or run later without asking the value."""

_PLAIN: Final = ("working_precision", "np.errstate", "self._lock", "reserve_price", "recording")
"""Context managers that change a setting, lock, reserve or listen for a block, and let every error pass."""

_NAMED: Final = ("recording",)
"""Those of them that give something a name: a list that holds what was released when the block has ended."""

_FUTURE: Final = 0x1FF0000
"""The flags of a code object that say which features of `__future__` it was compiled with."""


@cache
def followable(function: FunctionType) -> CodeType:
    """The code of a function in which `is` asks a function, compiled from its source, which is first seen to be what runs."""
    if function.__name__ == "<lambda>":
        if any(one.opname == "IS_OP" or one.opname.endswith("NONE") for one in dis.get_instructions(function)):
            raise Undecided("a lambda compares by `is`")
        return function.__code__
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    try:
        running = _codes(text, function.__code__.co_flags & _FUTURE)[first, function.__name__]
        (definition,) = (node for node in _functions(text) if _first(node) == first and node.name == function.__name__)
    except (KeyError, SyntaxError, ValueError) as error:
        raise Undecided(f"the source of {function.__qualname__} cannot be read") from error
    if not is_same_code(function.__code__, running):
        raise Undecided(f"{function.__qualname__} is not what its source compiles to")
    definition.decorator_list = []
    module = ast.Module([definition], [])
    _Asking(function.__qualname__).visit(module)
    compiled = _codes_in(compile(ast.fix_missing_locations(module), file, "exec", function.__code__.co_flags & _FUTURE, True))  # noqa: FBT003
    return next(code for code in compiled if code.co_name == function.__name__)


@lru_cache(maxsize=32)
def _codes(text: str, flags: int) -> dict[tuple[int, str], CodeType]:
    """All code objects of a file, by first line and name: a module's imports decide how its functions call what they reach."""
    return {(code.co_firstlineno, code.co_name): code for code in _codes_in(compile(text, "", "exec", flags, True))}  # noqa: FBT003


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    """All functions of a file."""
    yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))


def _first(node: ast.FunctionDef) -> int:
    """The first line of a function, decorators included."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


class _Asking(ast.NodeTransformer):
    """Turns `is` into a call, and refuses what hides a path."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit(self, node: ast.AST) -> Any:
        """Refuse what is hidden, and go on."""
        if isinstance(node, ast.With) and all(map(_is_plain, node.items)):
            entered = [ast.copy_location(_entered(one), node) for one in node.items]
            return [self.visit(one) for one in (*entered, *node.body)]
        if isinstance(node, _HIDDEN):
            raise Undecided(f"{self.name} has a {type(node).__name__}, which may hide a path")
        if isinstance(node, ast.Try) and self.name in _FALL_BACK:
            asked = ast.Call(ast.Name(FALLBACK, ast.Load()), [], [])
            return self.visit(ast.copy_location(ast.If(asked, _fallback(node, self.name), node.body), node))
        if isinstance(node, ast.Try) and (node.finalbody or node.orelse or not all(map(_raises, node.handlers))):
            raise Undecided(f"{self.name} may go on after an error")
        if isinstance(node, ast.Compare) and any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
            if len(node.ops) > 1:
                raise Undecided(f"{self.name} has a chain of comparisons with `is`")
            self.generic_visit(node)
            asked = ast.copy_location(ast.Call(ast.Name(IDENTITY, ast.Load()), [node.left, *node.comparators], []), node)
            return asked if isinstance(node.ops[0], ast.Is) else ast.copy_location(ast.UnaryOp(ast.Not(), asked), node)
        return self.generic_visit(node)


def _fallback(node: ast.Try, name: str) -> list[ast.stmt]:
    """What is done where a block raises any error: it returns, and reads no name that the block may have written."""
    targets = [target for one in node.body if isinstance(one, ast.Assign) for target in one.targets]
    stored = {one.id for one in _names(targets, ast.Store)}  # a comprehension has names of its own
    places = [one for part in node.body for one in ast.walk(part) if isinstance(one, (ast.Attribute, ast.Subscript))]
    (handler,) = node.handlers
    is_any = isinstance(handler.type, ast.Name) and handler.name is None  # errors that it does not catch are refusals
    written: set[str] = set()
    for statement in handler.body:
        if {one.id for one in _names([statement], ast.Load)} & (stored - written):
            raise Undecided(f"{name} reads what a block may have written before an error")
        written |= (
            {one.id for one in _names([statement], ast.Store)} if isinstance(statement, (ast.Assign, ast.AnnAssign)) else set()
        )
    plain = all(isinstance(one, (ast.Assign, ast.Return)) for one in node.body) and not node.orelse and not node.finalbody
    plain = plain and not any(isinstance(one, ast.NamedExpr) for part in node.body for one in ast.walk(part))
    if not (is_any and plain and isinstance(handler.body[-1], ast.Return)) or any(isinstance(one.ctx, ast.Store) for one in places):
        raise Undecided(f"{name} may go on after an error")
    return handler.body


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> Iterator[ast.Name]:
    """The names in some nodes that are read, or written."""
    return (one for part in nodes for one in ast.walk(part) if isinstance(one, ast.Name) and isinstance(one.ctx, context))


def _is_plain(item: ast.withitem) -> bool:
    """Whether what a block is entered with catches no errors, and binds a name only if it is known what that is of."""
    call = item.context_expr
    name = ast.unparse(call.func if isinstance(call, ast.Call) else call)
    return name in _PLAIN and (item.optional_vars is None or (name in _NAMED and isinstance(item.optional_vars, ast.Name)))


def _entered(item: ast.withitem) -> ast.stmt:
    """What is done where a block is entered."""
    if item.optional_vars is None:
        return ast.Expr(item.context_expr)
    return ast.Assign([item.optional_vars], item.context_expr)


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether an error that is caught always leads to another."""
    return isinstance(handler.body[-1], ast.Raise) and not any(isinstance(node, ast.Return) for node in ast.walk(handler))
