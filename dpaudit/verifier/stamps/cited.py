"""The source of a test that is cited as evidence: its function, fixtures, parameters and hooks, and the code that it reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.verifier.stamps.canonical import digest
from dpaudit.verifier.stamps.facts import IMPORT
from dpaudit.verifier.stamps.modules import Module
from dpaudit.verifier.stamps.reach import Reach

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Cited:
    """The digests of a cited test."""

    test: str  # digest of the test's own source, with fixtures, parameters, helpers and hooks; empty where there is no such test
    code: str  # digest of everything in the packages that it reaches
    reaches: tuple[str, ...]  # the places of the packages that its own source names, from which `code` follows


def read_cited(reach: Reach, name: str) -> Cited:
    """Read a test as it is now."""
    path, _, function = name.partition("::")
    function = function.partition("::")[0].partition("[")[0]
    if reach.item(f"{path}:{function}") is None:
        return Cited("", "", ())
    found: set[str] = set()
    waiting = {f"{path}:{function}", *_always(reach, path)}
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            item = reach.item(place)
            targets = item.targets if item else frozenset()
            waiting |= {one for one in (*targets, *_fixtures(reach, path, place)) if not _shipped(reach, one)} - found
    named = {one for place in found if (item := reach.item(place)) for one in item.targets if _shipped(reach, one)}
    own = digest(*(f"{one} {text}" for one, text in sorted(reach.digests(found).items())))
    return Cited(own, code_digest(reach, named), tuple(sorted(named)))


def code_digest(reach: Reach, named: set[str] | tuple[str, ...]) -> str:
    """The digest of everything that can be reached from some places."""
    below = frozenset().union(*(reach.closure(place) for place in named))
    return digest(*(f"{one} {text}" for one, text in sorted(reach.digests(below).items())))


def _shipped(reach: Reach, place: str) -> bool:
    """True if a place lies in the packages."""
    return place.split("/", maxsplit=1)[0] in reach.tree.packages


def _around(reach: Reach, path: str) -> Iterator[Module]:
    """The module of a test, and the `conftest.py` of its folder and of those above."""
    folders = path.split("/")[:-1]
    candidates = [path, *("/".join([*folders[:count], "conftest.py"]) for count in range(len(folders), -1, -1))]
    for one in dict.fromkeys(candidates):
        if (module := reach.tree.module(one)) is not None:
            yield module


def _always(reach: Reach, path: str) -> Iterator[str]:
    """Definitions of these modules that pytest uses although no test names them: hooks, marks, plugins and autouse fixtures."""
    for module in _around(reach, path):
        yield f"{module.path}:{IMPORT}"
        for name, statements in module.definitions.items():
            decorators = (one for statement in statements for one in getattr(statement, "decorator_list", ()))
            if name.startswith(("pytest", "setup_", "teardown_")) or any("autouse" in ast.dump(one) for one in decorators):
                yield f"{module.path}:{name}"


def _fixtures(reach: Reach, path: str, place: str) -> Iterator[str]:
    """The functions that pytest may call for a test because it takes or names them."""
    file, _, name = place.partition(":")
    module = reach.tree.module(file)
    wanted: set[str] = set()
    for statement in module.definitions.get(name, ()) if module else ():
        for node in ast.walk(statement):
            if isinstance(node, _FUNCTIONS):
                wanted |= {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                wanted.add(node.value)
    for around in _around(reach, path):
        for one in wanted & set(around.definitions):
            if any(isinstance(statement, _FUNCTIONS) and statement.decorator_list for statement in around.definitions[one]):
                yield f"{around.path}:{one}"
