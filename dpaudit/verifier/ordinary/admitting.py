"""Which files are read at all: those in which every name means one thing, which no other statement of the file can change.

This module is about what stands around a function: at the top of a file imports from known modules, constants, functions,
frozen records and generators without a seed, each bound once. Which forms a function may have itself is for `forms`.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dpaudit.verifier.ordinary.calls import is_literal
from dpaudit.verifier.ordinary.refusing import refuse

_MODULES: Final = {
    "__future__", "collections", "dataclasses", "dpaudit", "fractions", "math", "mechanisms", "numpy", "random", "scipy",
    "statistics", "typing",
}  # fmt: skip
_BUILTINS: Final = frozenset(dir(builtins))
_RESERVED: Final = frozenset({"other", "each", "ghost", "spent"})


def admit(tree: ast.Module, function: ast.FunctionDef) -> None:
    """Refuse a file with a statement that may change what is read (DPA701), and names that mean more than one thing (DPA702)."""
    _check_file(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(one.name.partition(".")[0] not in _MODULES for one in names):
                raise refuse(node, "an import of an unknown module", "keep the function in a file without it")
            case ast.ImportFrom(module=module, level=level) if level or (module or "").partition(".")[0] not in _MODULES:
                raise refuse(node, "an import of an unknown module", "keep the function in a file without it")
            case ast.Global() | ast.Nonlocal():
                raise refuse(node, "a global or nonlocal statement", "give the value as an argument")
            case ast.FunctionDef(args=given, decorator_list=decorators):
                if given.vararg or given.kwarg:
                    raise refuse(node, "*args or **kwargs", "name the arguments")
                for default in (*given.defaults, *(one for one in given.kw_defaults if one is not None)):
                    if not is_literal(default):
                        raise refuse(default, "a default that is computed", "write a number or a text")
                parts = [*decorators, node.returns, *(one.annotation for one in (*given.args, *given.kwonlyargs))]
                for part in parts:
                    _check_inert(part)
            case ast.Attribute(attr=name) if name.startswith("_"):
                raise refuse(node, f"`.{name}`", "leave it out: it may change what is read elsewhere")
    _check_names(tree, function)


def _check_inert(node: ast.expr | None) -> None:
    """Refuse an annotation or decorator that may do something when the file is loaded."""
    for part in ast.walk(node) if node is not None else ():
        called = isinstance(part, ast.Call) and not isinstance(part.func, ast.Name)
        if called or isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.Lambda)):
            raise refuse(part, f"`{ast.unparse(part)}` in an annotation or decorator", "leave it out")


def _check_file(tree: ast.Module) -> None:
    """Refuse what may not stand at the top of a file, and names that it binds twice."""
    bound: Counter[str] = Counter()
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Import(names=names) if all(one.name.partition(".")[0] in _MODULES for one in names):
                bound.update(one.asname or one.name.partition(".")[0] for one in names)
            case ast.ImportFrom(module=str(module), names=names, level=0) if module.partition(".")[0] in _MODULES:
                if any(one.name in {"*", "seed"} for one in names):
                    raise refuse(node, "an import of a seed, or of everything", "import the names that you use")
                bound.update(one.asname or one.name for one in names)
            case ast.Import() | ast.ImportFrom():
                raise refuse(node, "an import of an unknown module", "keep the function in a file without it")
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_constant(value) or is_generator(value):
                bound[name] += 1
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=value) if value is not None and _is_constant(value):
                _check_inert(kind)
                bound[name] += 1
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if not all(_is_specification(one) for one in decorators):
                    raise refuse(node, "a decorator", "take it away: it may change the function")
                bound[name] += 1
            case ast.ClassDef(name=name):
                _check_class(node)
                bound[name] += 1
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")]), orelse=[]):
                continue
            case _:
                named = type(node).__name__.lower()
                raise refuse(
                    node,
                    f"`{ast.unparse(node).splitlines()[0]}` ({named}) at the top of the file",
                    "keep imports, constants and functions there",
                )
    again = next((name for name, count in bound.items() if count > 1), None)
    if again is not None:
        raise refuse(tree.body[0], f"{again}, which the file binds twice", "give each thing a name of its own")


def _check_class(node: ast.ClassDef) -> None:
    """Refuse a class whose body does something when the file is loaded."""
    words = [ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in (*node.decorator_list, *node.bases)]
    if not all(word in {"dataclass", "NamedTuple"} for word in words) or node.keywords:
        raise refuse(node, f"the class {node.name}", "write a frozen dataclass, or a function")
    for one in node.body:
        match one:
            case ast.AnnAssign(target=ast.Name(), annotation=kind, value=value) if value is None or is_literal(value):
                _check_inert(kind)
            case ast.FunctionDef(decorator_list=[]) | ast.FunctionDef(decorator_list=[ast.Name(id="property" | "staticmethod")]):
                pass
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                raise refuse(
                    one, f"`{ast.unparse(one).splitlines()[0]}` in a class", "keep fields with constant defaults and methods"
                )


def _is_constant(node: ast.expr) -> bool:
    """True for numbers, texts and tuples or lists of them."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_constant, parts))
        case ast.Call(func=ast.Name(id="Fraction" | "range"), args=parts, keywords=[]):
            return all(map(_is_constant, parts))
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
    return is_literal(node)


def is_generator(node: ast.expr) -> bool:
    """True for a generator that nothing seeds."""
    return isinstance(node, ast.Call) and not node.args and not node.keywords and ast.unparse(node.func).endswith("default_rng")


def _is_specification(node: ast.expr) -> bool:
    """True for `@spec(...)`, whose name no admitted file binds but by an import from this library."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"spec", "claim"}


def _check_names(tree: ast.Module, function: ast.FunctionDef) -> None:
    """Refuse names that hide a function of Python, or that the core program may make."""
    for node, name in bindings(tree):
        if name in {"spec", "claim"} and not isinstance(node, ast.ImportFrom):
            raise refuse(node, f"the name {name}", "leave that name to the import from dpaudit")
        used = any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(tree))
        if isinstance(node, ast.FunctionDef) and isinstance(name, str) and name.startswith("__"):
            raise refuse(node, f"the method {name}", "leave it out: Python calls it by itself")
        if name in _BUILTINS and (used or not isinstance(node, ast.arg)):
            raise refuse(node, f"{name}, which is a name of Python's own", f"call it {name}_value")
    for node, name in bindings(function):
        if name in _RESERVED or "__" in name:
            raise refuse(node, f"the name {name}", "use another name, without two underscores", "DPA702")


def bindings(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield every name that is bound below a node, where it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node, name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((node, one.asname or one.name.partition(".")[0]) for one in names)
