"""The names that a piece of source uses and does not define itself, each with the attributes that are read of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Import: TypeAlias = tuple[str, str]
"""A module, and a name in it, or nothing for the module itself."""
Scope: TypeAlias = Mapping[str, tuple[Import, ...]]
"""The local names of a function, with what each of them imports."""
Role: TypeAlias = Literal["value", "called", "base", "text", "set", "any"]
"""How a name is used: handed on, called or asked for a part, a base, in a string annotation, set, or asked for a computed part."""

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Use:
    """One use of a name: the name or what a local import of it brings in, the attributes behind it, and its role."""

    name: str
    imported: Import | None
    attributes: tuple[str, ...]
    role: Role


def imports_of(statement: ast.stmt, package: str) -> dict[str, Import]:
    """The names that an import statement binds (The Python Language Reference, "The import statement")."""
    if isinstance(statement, ast.Import):
        firsts = {one.name: one.name.split(".", maxsplit=1)[0] for one in statement.names}
        return {one.asname or firsts[one.name]: (one.name if one.asname else firsts[one.name], "") for one in statement.names}
    if isinstance(statement, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
        module = ".".join([*above, *([statement.module] if statement.module else [])])
        return {one.asname or one.name: (module, one.name) for one in statement.names}
    return {}


def uses(nodes: Sequence[ast.AST], package: str) -> list[Use]:
    r"""All uses of names that are not local where they are used (The Python Language Reference, "Naming and binding")."""
    return [use for node in nodes for use in _Reader(package).read(node, ())]


@dataclass(frozen=True)
class _Reader:
    """Reads one tree after the other; scopes are the functions around a node, the innermost last."""

    package: str

    def read(  # noqa: C901 - one branch for each form of syntax
        self, node: ast.AST, scopes: tuple[Scope, ...], role: Role = "value"
    ) -> Iterator[Use]:
        """The uses in a tree."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield from self._chain(node, scopes, role)
        elif isinstance(node, ast.Call):
            yield from self.read(node.func, scopes, "called")
            yield from self._by_name(node, scopes)
            first = node.args[0] if node.args and isinstance(node.func, ast.Name) and node.func.id in ("cast", "TypeVar") else None
            for one in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from self._annotation(one, scopes) if one is first else self.read(one, scopes)
        elif isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            yield from self._function(node, scopes)
        elif isinstance(node, ast.ClassDef):
            roles: list[tuple[ast.AST, Role]] = [(base, "base") for base in node.bases]
            roles += [(part, "value") for part in (*node.decorator_list, *(one.value for one in node.keywords), *node.body)]
            for part, its in roles:
                yield from self.read(part, scopes, its)
        elif isinstance(node, _COMPREHENSIONS):
            targets: Scope = {name: () for one in node.generators for name in _stored(one.target)}
            yield from self.read(node.generators[0].iter, scopes)  # which Python evaluates outside of the comprehension
            for part in ast.iter_child_nodes(node):
                yield from self.read(part, (*scopes, targets))
        elif isinstance(node, ast.AnnAssign):
            yield from self._annotation(node.annotation, scopes)
            for part in (node.target, *([node.value] if node.value else [])):
                yield from self.read(part, scopes)
        else:
            for part in ast.iter_child_nodes(node):
                yield from self.read(part, scopes, "base" if role == "base" else "value")

    def _by_name(self, node: ast.Call, scopes: tuple[Scope, ...]) -> Iterator[Use]:
        """The use that `getattr` and its like make of the global name that they are given."""
        known = isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr", "delattr", "hasattr")
        if not known or len(node.args) < 2 or not isinstance(node.args[0], (ast.Name, ast.Attribute)):
            return
        assert isinstance(node.func, ast.Name)  # noqa: S101 - said above
        name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        role: Role = "set" if node.func.id in ("setattr", "delattr") else "value" if name else "any"
        for use in self._chain(node.args[0], scopes, role):
            yield Use(use.name, use.imported, (*use.attributes, *([str(name or "?")] if name or role == "set" else [])), role)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scopes: tuple[Scope, ...]) -> Iterator[Use]:
        """The uses in a function: defaults, decorators and annotations belong to what is around it."""
        arguments = node.args
        everyone = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        everyone += [one for one in (arguments.vararg, arguments.kwarg) if one]
        notes = [one.annotation for one in everyone if one.annotation]
        outside: list[ast.AST] = [*arguments.defaults, *(one for one in arguments.kw_defaults if one)]
        body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
        if not isinstance(node, ast.Lambda):
            outside += node.decorator_list
        for note in notes:
            yield from self._annotation(note, scopes)
        if not isinstance(node, ast.Lambda) and node.returns:
            # What a function gives back was made by what it reaches, so that no class is meant but those that it names.
            for use in self._annotation(node.returns, scopes):
                yield Use(use.name, use.imported, use.attributes, "text" if use.role == "text" else "called")
        for part in outside:
            yield from self.read(part, scopes)
        inside = _locals([one.arg for one in everyone], body, self.package)
        for part in body:
            yield from self.read(part, (*scopes, inside))

    def _annotation(self, node: ast.AST, scopes: tuple[Scope, ...]) -> Iterator[Use]:
        """The uses in an annotation, whose strings are read as source."""
        yield from self.read(node, scopes)
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                try:
                    parsed = ast.parse(one.value, mode="eval").body
                except (SyntaxError, ValueError):
                    continue
                for use in self.read(parsed, scopes):
                    yield Use(use.name, use.imported, use.attributes, "text")

    def _chain(self, node: ast.Name | ast.Attribute, scopes: tuple[Scope, ...], role: Role) -> Iterator[Use]:
        """A name with the attributes behind it, if it begins with a name that is not local."""
        attributes: list[str] = []
        first: ast.expr = node
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            role = "set"
        while isinstance(first, ast.Attribute):
            attributes.insert(0, first.attr)
            first = first.value
        if not isinstance(first, ast.Name):
            yield from self.read(first, scopes)
            return
        if isinstance(first.ctx, (ast.Store, ast.Del)):
            return
        for scope in reversed(scopes):
            if first.id in scope:
                for imported in scope[first.id]:
                    yield Use(first.id, imported, tuple(attributes), role)
                return
        yield Use(first.id, None, tuple(attributes), role)


def _locals(parameters: Sequence[str], body: Sequence[ast.AST], package: str) -> Scope:
    """The local names of a function, with what those that are imported in it stand for."""
    found: dict[str, tuple[Import, ...]] = dict.fromkeys(parameters, ())
    outside: set[str] = set()
    for node in _own(body):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outside |= set(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, imported in imports_of(node, package).items():
                found[name] = (*found.get(name, ()), imported)
        else:
            for name in _bound(node):
                found.setdefault(name, ())
    return {name: imported for name, imported in found.items() if name not in outside}


def _own(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a body that belong to its own scope; of inner functions, classes and comprehensions only what they bind here."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _COMPREHENSIONS):
            waiting += [one for one in ast.walk(node) if isinstance(one, ast.NamedExpr)]
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that one node binds itself."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield from filter(None, [node.name])
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _stored(target: ast.AST) -> Iterator[str]:
    """The names that a target of a comprehension binds."""
    return (one.id for one in ast.walk(target) if isinstance(one, ast.Name))
