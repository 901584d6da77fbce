"""The text of a file: which function is meant, and what the names around it stand for."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field

from dpaudit.errors import Unsupported
from dpaudit.verifier.ordinary.calls import is_literal
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.statements import imports
from dpaudit.verifier.ordinary.values import Class, Fixed, Function, Generator, Module, Record, Scalar, Scope, Value


@dataclass
class Source:
    """A file, and the function in it that is meant."""

    text: str
    tree: ast.Module
    function: ast.FunctionDef
    name: str
    owner: str = ""  # the class that it is a method of
    names: list[ast.stmt] = field(default_factory=list)  # what stands around it


def find(text: str, wanted: str | None) -> Source:
    """The function of a file: the one that is named, or else the last."""
    try:
        tree = ast.parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise Unsupported("DPA702", f"line {line}: this is not Python source ({type(error).__name__}); repair it first.") from error
    functions = {one.name: (one, "") for one in tree.body if isinstance(one, ast.FunctionDef)}
    for kind in (one for one in tree.body if isinstance(one, ast.ClassDef)):
        functions |= {f"{kind.name}.{one.name}": (one, kind.name) for one in kind.body if isinstance(one, ast.FunctionDef)}
    plain = [name for name in functions if "." not in name] or list(functions)
    name = wanted or (plain[-1] if plain else "")
    if name not in functions:
        raise Unsupported(
            "DPA702", f"there is no function {name or ''!r} here; the functions are {', '.join(functions) or 'none'}."
        )
    found, owner = functions[name]
    return Source(text, tree, found, name, owner, [one for one in tree.body if one is not found])


def scope_of(state: State, source: Source) -> Scope:
    """What the names of the file stand for: imports, constants, functions, frozen classes; others mean nothing."""
    stores = _bound(source.tree.body)
    scope = Scope({}, stores=stores)
    state.scope, state.frames = scope, [scope]
    for one in source.tree.body:
        state.at(one)
        match one:
            case ast.Import() | ast.ImportFrom():
                if isinstance(one, ast.ImportFrom) and one.module == "__future__":
                    continue
                scope.names.update(imports(one))
            case ast.FunctionDef() if not one.decorator_list:
                scope.names[one.name] = Function(one, scope)
            case ast.ClassDef():
                made = _class(one, scope)
                if made is not None:
                    scope.names[one.name] = made
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                found = _constant(state, value)
                if found is not None:
                    scope.names[name] = found
    return scope


def _bound(body: list[ast.stmt]) -> dict[str, int]:
    """The names that the statements of a file bind, each once, as `admitting` saw to."""
    found: dict[str, int] = {}
    for one in body:
        match one:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = 1
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = 1
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {part.asname or part.name.partition(".")[0]: 1 for part in names}
    return found


def _constant(state: State, node: ast.expr) -> Value | None:
    """The value of a global name that never changes: a number, a text, a tuple or list of these, or a generator of noise."""
    found: list[Value] = []
    texts, drawn, _ = state.tried(lambda: found.append(state.value(node)) if is_simple(node) else None)
    if not found or texts or drawn:
        return None
    return found[0] if _is_constant(found[0]) else None


def is_simple(node: ast.expr) -> bool:
    """True for an expression that may be evaluated when the file is read: literals, names, arithmetic, and new generators."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and not ast.unparse(part.func).endswith(
            ("default_rng", "SystemRandom", "Random", "Fraction", "RandomState", "range", "list")
        ):
            return False
        if isinstance(
            part, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Dict, ast.Await, ast.JoinedStr)
        ):
            return False
        if isinstance(part, (ast.Subscript, ast.Starred)):
            return False
    return True


def _is_constant(found: Value) -> bool:
    """True for what cannot change."""
    if isinstance(found, Fixed):
        return all(_is_constant(one) for one in found.items)
    return (isinstance(found, Scalar) and found.is_known) or isinstance(found, (Generator, Record))


def _class(node: ast.ClassDef, scope: Scope) -> Class | None:
    """A frozen dataclass or a named tuple with plain fields; others are not read."""
    known = {name: found.name for name, found in scope.names.items() if isinstance(found, Module)}

    def means(one: ast.expr, wanted: str) -> bool:
        root, dot, rest = ast.unparse(one).partition(".")
        return f"{known.get(root)}{dot}{rest}" == wanted

    named = len(node.bases) == 1 and means(node.bases[0], "typing.NamedTuple")
    frozen = any(
        means(getattr(one, "func", one), "dataclasses.dataclass")
        and all(part.arg in ("frozen", "slots") for part in getattr(one, "keywords", []))
        for one in node.decorator_list
    )
    if not ((named and not node.decorator_list) or (frozen and not node.bases and len(node.decorator_list) == 1)) or node.keywords:
        return None
    fields: list[tuple[str, ast.expr, ast.expr | None]] = []
    for one in node.body:
        match one:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=default):
                if default is not None and not is_literal(default):
                    return None
                fields.append((name, kind, default))
            case ast.FunctionDef(name=name) if not name.startswith("__"):
                pass
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                return None
    return Class(node, tuple(fields), scope, named)
