"""Scopes: every function of a file followed once, after the helpers that it calls are known."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dpaudit.dotted_names import imports_of
from dpaudit.scan import values as v
from dpaudit.scan.algebra import names_in
from dpaudit.scan.flow import Flow
from dpaudit.scan.names import CLIP, PRIVATE, RESPONSE, SPREAD, is_parameter
from dpaudit.scan.reading import Cell, Source
from dpaudit.scan.values import Draw, Helper, Scope, Value

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_STRONG: Final = (
    "differential",
    "diffprivlib",
    "opacus",
    "opendp",
    "dp_accounting",
    "epsilon",
    "dp-sgd",
    "dpsgd",
    "laplace mechanism",
    "eps-dp",
    "privacy budget",
    "randomized response",
    "randomised response",
    "dp_",
)


@dataclass(frozen=True)
class Module:
    """A file that was followed: its scopes, each with the cell that it is in, and what its imported names stand for."""

    source: Source
    scopes: tuple[tuple[Cell, Scope], ...]
    imports: Mapping[str, str]
    is_private: bool

    def draws(self) -> Iterator[tuple[Cell, Scope, Draw]]:
        """Yield the draws of privacy noise."""
        for cell, scope in self.scopes:
            for draw in scope.draws.values():
                if is_privacy_noise(draw, scope, private_file=self.is_private):
                    yield cell, scope, draw


def follow(source: Source) -> Module:
    """Follow every function of a file; nothing of it is run or imported."""
    imports = imports_of([cell.tree for cell in source.cells])
    lowered = source.text.lower()
    is_private = any(word in lowered for word in _STRONG)
    helpers: dict[str, Helper] = {}
    for _ in range(3):  # a helper may call one that is defined below it
        scopes = list(_scopes(source, imports, helpers))
        named = [(scope.name, _helper(scope, is_private=is_private)) for _, scope in scopes if isinstance(scope.node, _Function)]
        found = {name: helper for name, helper in named if helper is not None}
        if found.keys() == helpers.keys():
            break
        helpers = found
    return Module(source, tuple(scopes), imports, is_private)


def _scopes(source: Source, imports: Mapping[str, str], helpers: Mapping[str, Helper]) -> Iterator[tuple[Cell, Scope]]:
    """Yield the scopes of a file: its top, then its functions, methods after what their class sets up."""
    top: dict[str, Value] = {}
    for cell in source.cells:
        scope = Scope("", cell.tree, {})
        flow = Flow(scope, imports, top, helpers)
        flow.run(cell.tree.body)
        top = flow.known
        yield cell, scope
    for cell in source.cells:
        yield from ((cell, scope) for scope in _functions(cell.tree.body, imports, top, helpers, ""))


def _functions(
    body: list[ast.stmt], imports: Mapping[str, str], outside: Mapping[str, Value], helpers: Mapping[str, Helper], owner: str
) -> Iterator[Scope]:
    """Yield the functions in a body, however deep, with what is known around them."""
    ordered = sorted(body, key=lambda one: not (isinstance(one, _Function) and one.name == "__init__"))
    shared = dict(outside)
    for node in ordered:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, imports, outside, helpers, node.name)
        elif isinstance(node, _Function):
            scope = Scope(node.name, node, _parameters(node), owner)
            flow = Flow(scope, imports, shared, helpers)
            flow.run(node.body)
            yield scope
            if owner and node.name == "__init__":
                shared |= {name: value for name, value in flow.known.items() if name.startswith("self.")}
            yield from _functions(node.body, imports, flow.known, helpers, "")
        else:
            for _, inner in ast.iter_fields(node):
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    yield from _functions(inner, imports, shared, helpers, owner)


def _parameters(node: _Function) -> dict[str, ast.expr | None]:
    """Return the parameters of a function with their defaults."""
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.args.defaults))
    found = dict(zip((one.arg for one in plain), [*defaults, *node.args.defaults], strict=True))
    found |= dict(zip((one.arg for one in node.args.kwonlyargs), node.args.kw_defaults, strict=True))
    return found


def _helper(scope: Scope, *, is_private: bool) -> Helper | None:
    """Return a function as a mechanism for its callers; None where it does not return noise or a noisy argument."""
    returned = [one for one in scope.returned if one.draws]
    if len(returned) != 1 or len(scope.returned) > 2:
        return None
    value = returned[0]
    draws = [scope.draws[key] for key in value.draws if key in scope.draws]
    if len(draws) != 1 or not value.has(v.NOISE, v.NOISY):
        return None
    draw = draws[0]
    if value.has(v.NOISY) and not any(id(draw.node) in one.noise.draws for one in scope.additions):
        return None
    parameters = tuple(name for name in scope.parameters if name not in {"self", "cls"})
    defaults = {name: node for name, node in scope.parameters.items() if node is not None}
    private = is_privacy_noise(draw, scope, private_file=is_private)
    if not private or (value.has(v.NOISY) and not parameters):
        return None
    return Helper(parameters, defaults, value.has(v.NOISY), draw.law, draw.scale, draw.several, private)


def is_privacy_noise(draw: Draw, scope: Scope, *, private_file: bool) -> bool:
    """True if a draw is surely meant to hide records: its scale has a privacy parameter, or its function says so."""
    if draw.law in {"uniform", "multivariate"} or not private_file:
        return False
    if draw.source in {"helper", "library"}:
        return True
    found = set() if draw.scale is None else set(names_in(draw.scale))
    added = [one for one in scope.additions if id(draw.node) in one.noise.draws]
    if any(map(is_parameter, found)):
        return bool(scope.name or added)  # at the top of a file a draw that is added to nothing is one for a picture
    named = PRIVATE.search(scope.name) or PRIVATE.search(scope.owner)
    if draw.law in {"laplace", "inverse"}:
        return bool(named) or any(one.base.has(v.DATA) for one in added)
    if draw.law != "gaussian":
        return False
    if any(SPREAD.match(one) for one in found) and any(CLIP.search(one) for one in found) and added:
        return True
    if any(SPREAD.match(one) for one in found):
        return (bool(named) and bool(added or scope.returned)) or any(_is_gradient(one.base_text) for one in added)
    return bool(named) and any(one.base.has(v.DATA) for one in added) and draw.scale is not None


def is_response(draw: Draw, scope: Scope, *, private_file: bool) -> bool:
    """True if a uniform draw decides whether one person's answer is kept: its function is called a randomised response."""
    return draw.law == "uniform" and private_file and bool(RESPONSE.search(scope.name) or RESPONSE.search(scope.owner))


def _is_gradient(text: str) -> bool:
    """True if what noise is added to is a gradient."""
    return "grad" in text.lower()
