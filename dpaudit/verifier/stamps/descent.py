"""The classes that may stand where a class is named: those that inherit from it, and those that fit its protocol."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from dpaudit.verifier.stamps.modules import Module, Tree
from dpaudit.verifier.stamps.names import Use, uses

_Arity: TypeAlias = tuple[int, float] | None
_PROTOCOLS: Final = frozenset(("leaf:typing.Protocol", "leaf:typing_extensions.Protocol"))


@dataclass(frozen=True)
class _Class:
    """A class: the top-level definition that holds it, what its bases stand for, and its members.

    A member that is a method goes with the fewest and the most arguments that it takes in their order; a field goes with None.
    """

    place: str
    node: ast.ClassDef
    bases: frozenset[str]

    @property
    def members(self) -> dict[str, _Arity]:
        """Its own members."""
        return _members_of(self.node)


class Descent:
    """The classes of a tree, all read when the first of them is asked for.

    Args:
      tree: the source.
      resolve: gives the places that a use of a name in a module stands for.
    """

    def __init__(self, tree: Tree, resolve: Callable[[Module, Use], set[str]]) -> None:
        self._tree = tree
        self._resolve = resolve
        self._all_members: dict[str, dict[str, _Arity]] = {}
        self._found: dict[tuple[str, int], frozenset[str]] = {}

    def below(self, place: str, layer: int) -> frozenset[str]:
        """The classes that may stand where a class is named."""
        if (place, layer) not in self._found:
            found: set[str] = set()
            waiting = [place]
            while waiting:
                one = waiting.pop()
                new = {heir for heir in self._heirs.get(one, frozenset()) | self._fitting(one) if self._tree.layer(heir) <= layer}
                waiting += new - found
                found |= new
            self._found[place, layer] = frozenset(found - {place})
        return self._found[place, layer]

    @cached_property
    def _classes(self) -> list[_Class]:
        """Every class of the tree, inner ones under the definition that holds them."""
        return [
            self._read(module, f"{path}:{name}", node)
            for path in self._tree.sources()
            if (module := self._tree.module(path)) is not None
            for name, statements in module.definitions.items()
            for statement in statements
            for node in _held(module, statement)
        ]

    @cached_property
    def _named(self) -> dict[str, _Class]:
        """The classes of the top level by place."""
        return {one.place: one for one in reversed(self._classes)}

    @cached_property
    def _heirs(self) -> dict[str, frozenset[str]]:
        """By place the definitions that hold a class with it among its bases."""
        found: dict[str, set[str]] = {}
        for one in self._classes:
            for base in one.bases:
                found.setdefault(base, set()).add(one.place)
        return {base: frozenset(places) for base, places in found.items()}

    def _fitting(self, place: str) -> frozenset[str]:
        """The classes that have every member of a protocol; empty for another class."""
        node = self._named.get(place)
        if node is None or not node.bases & _PROTOCOLS or not (wanted := self._members(place)):
            return frozenset()
        return frozenset(one.place for one in self._classes if _fits(wanted, self._members(one.place)))

    def _members(self, place: str, depth: int = 0) -> dict[str, _Arity]:
        """The members of instances of a class, inherited ones included."""
        if place in self._all_members:
            return self._all_members[place]
        node = self._named.get(place)
        # Bases deeper than this go in a circle, as they can in a text that nobody can run.
        if node is None or depth > 40:
            return {}
        found: dict[str, _Arity] = {}
        for base in node.bases:
            found |= self._members(base, depth + 1)
        self._all_members[place] = found | node.members
        return self._all_members[place]

    def _read(self, module: Module, place: str, node: ast.ClassDef) -> _Class:
        """One class."""
        return _Class(place, node, frozenset(base for use in _bases(module, node) for base in self._resolve(module, use)))


def _held(module: Module, statement: ast.stmt) -> list[ast.ClassDef]:
    """The classes that a statement of the top level is or holds, the outermost first."""
    if module.has_inner:
        return [one for one in ast.walk(statement) if isinstance(one, ast.ClassDef)]
    return [statement] if isinstance(statement, ast.ClassDef) else []


@lru_cache(maxsize=8192)
def _bases(module: Module, node: ast.ClassDef) -> tuple[Use, ...]:
    """The names that a class inherits from."""
    return tuple(Use(one.name, one.imported, one.attributes, "base") for one in uses(node.bases, module.package))


@lru_cache(maxsize=8192)
def _members_of(node: ast.ClassDef) -> dict[str, _Arity]:
    """The members that a class gives its instances: what its methods set on themselves, fields, and methods."""
    found: dict[str, _Arity] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and getattr(part.value, "id", "") == "self":
            found[part.attr] = None
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            found[one.name] = None if one.decorator_list else _arity(one.args)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            found[one.target.id] = None
        elif isinstance(one, ast.Assign):
            found |= {target.id: None for target in one.targets if isinstance(target, ast.Name)}
    return found


def _arity(arguments: ast.arguments) -> tuple[int, float]:
    """The fewest and the most arguments that a function takes in their order, `self` included."""
    most = len(arguments.posonlyargs) + len(arguments.args)
    return most - len(arguments.defaults), float("inf") if arguments.vararg else most


def _fits(wanted: Mapping[str, _Arity], had: Mapping[str, _Arity]) -> bool:
    """True if a class has every member of a protocol, and takes as many arguments wherever both have a method."""
    for name, arity in wanted.items():
        if name not in had:
            return False
        own = had[name]
        if arity is not None and own is not None and not (own[0] <= arity[1] and arity[0] <= own[1]):
            return False
    return True
