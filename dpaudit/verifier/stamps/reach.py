"""Everything that a definition can reach by name, and the stamp that covers it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dpaudit.verifier.stamps.canonical import digest
from dpaudit.verifier.stamps.descent import Descent
from dpaudit.verifier.stamps.facts import EVERYTHING, IMPORT, Facts, facts_of
from dpaudit.verifier.stamps.modules import HOMES, Module, Tree, file_digest
from dpaudit.verifier.stamps.names import Import, Role, Use

_LEAF, _OPEN = "leaf:", "open:"
_DYNAMIC: Final = re.compile(
    r"(builtins\.(eval|exec|compile|__import__|globals|locals|open|input|breakpoint)|importlib\.(?!metadata).*|importlib\.metadata\.entry_points|sys\.(modules|_getframe|settrace|"
    r"setprofile|argv)|os\.(environ|getenv|popen|system|exec\w*|spawn\w*).*|inspect\.(stack|currentframe|getsource\w*)|pickle\..*|"
    r"marshal\..*|shelve\..*|ctypes\b.*|cffi\b.*|subprocess\b.*|runpy\..*|io\.open|numpy\.(load|fromfile|genfromtxt|loadtxt|memmap)|"
    r"gc\..*|code\..*)"
)
"""Operations of other libraries through which a program reaches what its text does not name."""
_DEPTH: Final = 40
"""A chain of imports that is longer goes in a circle."""


@dataclass(frozen=True)
class Item:
    """One definition as it is now."""

    own: str  # digest of its source and of what its names stand for
    targets: frozenset[str]  # places that it reaches directly
    unresolved: tuple[str, ...]  # for each name that was not resolved what it is and where, in words


class Reach:
    """The reach of the definitions of a tree, each read once.

    A place is "path:name"; "path:*" is a whole module, "path:(import)" what it does when it is imported, and "path" a data file.

    Args:
      tree: the source; it must not change while this is in use.
      resolved: places whose unresolved names are accounted for elsewhere, with the reason.
      prose: places that hold words for people alone and are passed over, with the reason.
    """

    def __init__(self, tree: Tree, resolved: Mapping[str, str] | None = None, prose: Mapping[str, str] | None = None) -> None:
        self.tree = tree
        self._resolved = resolved or {}
        self._prose = prose or {}
        self._items: dict[str, Item | None] = {}
        self._stamps: dict[str, str] = {}
        self._closures: dict[str, frozenset[str]] = {}

    @cached_property
    def descent(self) -> Descent:
        """The classes of the packages, as far as they are asked for."""
        return Descent(self.tree, lambda module, use: set(self._resolve(module, use)))

    def stamp(self, place: str) -> str:
        """The stamp of a definition."""
        if place not in self._stamps:
            below = self.closure(place)
            texts = (f"{one} {own}" for one, own in sorted(self.digests(below).items()))
            self._stamps[place] = digest(*texts) if below else ""
        return self._stamps[place]

    def closure(self, place: str) -> frozenset[str]:
        """All places that a definition can reach, itself included."""
        if place not in self._closures:
            found: set[str] = set()
            waiting = [self._whole(place)]
            while waiting:
                one = waiting.pop()
                if one and one not in found and (item := self.item(one)) is not None:
                    found.add(one)
                    waiting += item.targets
            self._closures[place] = frozenset(found)
        return self._closures[place]

    def digests(self, places: Iterable[str]) -> dict[str, str]:
        """The own digest of each place that exists."""
        return {place: item.own for place in places if (item := self.item(place)) is not None}

    def unresolved(self, places: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The names that could not be resolved at some places."""
        found = {place: item.unresolved for place in places if (item := self.item(place)) is not None}
        return {place: words for place, words in found.items() if words and place not in self._resolved}

    def item(self, place: str) -> Item | None:
        """One definition."""
        if place not in self._items:
            self._items[place] = self._read(place)
        return self._items[place]

    def _whole(self, place: str) -> str:
        """The place of the top-level definition that a qualified name lies in; empty where there is none."""
        path, _, name = place.partition(":")
        if "." not in name:
            return place
        first, _, inner = name.partition(".")
        module = self.tree.module(path)
        for statement in module.definitions.get(first, ()) if module else ():
            if any(isinstance(one, ast.FunctionDef) and one.name == inner for one in getattr(statement, "body", ())):
                return f"{path}:{first}"
        return ""

    def _read(self, place: str) -> Item | None:
        """Read one definition."""
        path, mark, name = place.partition(":")
        if not mark:
            data = file_digest(self.tree.root / path)
            return Item(data, frozenset(), ()) if data else None
        module = self.tree.module(path)
        if module is None:
            return None
        facts = facts_of(module, name)
        if facts is None:
            return None
        found: set[tuple[str, str]] = set()
        if name == EVERYTHING:
            found |= {("", f"{path}:{one}") for one in module.definitions}
            other = (*module.homes, *module.imports)
            found |= {(one, target) for one in other for target in self._named(module, one, (), "value", 0, module)}
        if facts.is_assigned:
            found |= {("", f"{path}:{one}") for one in module.writers.get(name, ())}
        for use in facts.uses:
            found |= {(".".join((use.name, *use.attributes)), target) for target in self._resolve(module, use)}
        found |= {("", target) for target in self._files(module, facts)}
        found |= {("", one) for one in (self._imports(module) if name == IMPORT else (f"{path}:{IMPORT}",))}
        targets = frozenset(one for _, one in found if not one.startswith((_LEAF, _OPEN)))
        words = sorted({one.removeprefix(_OPEN) for _, one in found if one.startswith(_OPEN)})
        own = digest(facts.source, *sorted(f"{one} {target}" for one, target in found))
        return Item(own, targets - {place, *self._prose}, tuple(words))

    def _imports(self, module: Module) -> Iterator[str]:
        """The modules of the packages that are imported when a module is, as what they do then; packages around them included."""
        for name, bound in module.imports.items():
            for dotted, inner in bound if name not in module.homes else ():
                parts = dotted.split(".")
                names = {".".join(parts[: count + 1]) for count in range(len(parts))} | {f"{dotted}.{inner}"}
                for one in names:
                    if (path := self.tree.find(one, module.path)) is not None:
                        yield f"{path}:{IMPORT}"

    def _resolve(self, module: Module, use: Use) -> Iterator[str]:
        """Resolve a use of a name: places, leaves, and what stays open."""
        if use.imported is not None:
            yield from self._imported(module, use.imported, use.attributes, use.role, 0)
        elif use.name in module.definitions or use.name in module.imports:
            yield from self._named(module, use.name, use.attributes, use.role, 0, module)
        elif hasattr(builtins, use.name):
            yield from _leaf(f"builtins.{use.name}", use.role)
        elif use.role != "text" and not (use.name.startswith("__") and use.name.endswith("__")):
            yield f"{_OPEN}{use.name} is not defined in {module.path}"

    def _named(self, module: Module, name: str, attributes: tuple[str, ...], role: Role, depth: int, user: Module) -> Iterator[str]:
        """Resolve a name of the top level of a module."""
        if name in module.homes:
            dotted = f"{module.package}.{module.homes[name]}"
            yield from self._imported(user, (dotted, name), attributes, role, depth + 1)
            # What loads the name counts as well; of the table only this entry does, or every new export would change all stamps.
            loader = facts_of(module, "__getattr__")
            for use in loader.uses if loader else ():
                if use.name not in module.homes and use.name != HOMES:
                    yield from self._resolve(module, use)
            return
        if name in module.definitions:
            place = f"{module.path}:{name}"
            yield place
            kept = any(isinstance(one, (ast.FunctionDef, ast.ClassDef)) for one in module.definitions[name])
            if role == "set" and attributes and kept:
                yield f"{_OPEN}{module.path}:{name} is changed while the program runs"
            if role in ("value", "text") and not attributes:
                yield from self.descent.below(place, self.tree.layer(user.path))
        for imported in module.imports.get(name, ()):
            yield from self._imported(user if module.package else module, imported, attributes, role, depth + 1)

    def _imported(self, module: Module, imported: Import, attributes: tuple[str, ...], role: Role, depth: int) -> Iterator[str]:
        """Resolve an import, with the attributes that are read of it."""
        dotted, name = imported
        path = self.tree.find(dotted, module.path)
        if path is None:
            yield from _leaf(".".join(filter(None, (dotted, name, *attributes))), role)
            return
        other = self.tree.module(path)
        if other is None or depth > _DEPTH or name == "*":
            yield f"{_OPEN}{dotted}.{name} cannot be followed"
            return
        if not name:
            name, attributes = (attributes[0], attributes[1:]) if attributes else ("", ())
        if not name:
            yield f"{path}:{EVERYTHING}"
        elif name in other.definitions or name in other.imports or name in other.homes:
            if role == "set" and not attributes:
                yield f"{_OPEN}{dotted}.{name} is changed while the program runs"
            yield from self._named(other, name, attributes, role, depth, module)
        elif self.tree.find(f"{dotted}.{name}", module.path) is not None:
            yield from self._imported(module, (f"{dotted}.{name}", ""), attributes, role, depth + 1)
        elif not name.startswith("__"):
            yield f"{_OPEN}{dotted} has no {name}"

    def _files(self, module: Module, facts: Facts) -> Iterator[str]:
        """Data files that a definition names, and what stays open where it reads one that it does not name."""
        folder, found = module.path.rpartition("/")[0], set()
        for name in facts.files:
            beside = [f"{folder}/{name}", *(one for one in self._data if f"/{one}".endswith(f"/{name}"))]
            found |= {one for one in beside if (self.tree.root / one).is_file()}
        yield from (f"{one}:{EVERYTHING}" if one.endswith(".py") else one for one in found)
        if not found and facts.reads:
            yield f"{_OPEN}a file is read that is named when the program runs"

    @cached_property
    def _data(self) -> list[str]:
        """The data files of the packages; what this check itself writes is none."""
        return [one for one in self.tree.files() if not one.endswith(".py") and not one.startswith("proofs/")]


def _leaf(name: str, role: Role) -> Iterator[str]:
    """An operation of another library, by its name; those that reach further stay open."""
    yield _LEAF + name
    if role != "text" and (_DYNAMIC.fullmatch(name) or role == "any"):
        yield f"{_OPEN}{name.removeprefix('builtins.')} reaches what the source does not name"
    elif role == "set":
        yield f"{_OPEN}{name} is changed while the program runs"
