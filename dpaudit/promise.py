"""A specification as trees: which lists are private, what is required, what is assumed of the data, and what is claimed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

from dpaudit.clauses import EACH, Clause, Kind, Scope, Unread, holds, parts_of, read_clause, reads
from dpaudit.errors import Unsupported
from dpaudit.spec import Change, Spec

NUMBER_ONE: Final = Clause("number", "int", value=1)
NUMBER_ZERO: Final = Clause("number", "int", value=0)


@dataclass(frozen=True)
class Stated:
    """A clause with its text, which is how it is printed."""

    text: str
    clause: Clause


@dataclass(frozen=True)
class Promise:
    """What a function promises, as trees over its parameters at entry.

    Args:
      spec: the specification itself.
      parameters: name and type of each argument, such as ("q", "list[int]").
      requires: what callers must ensure.
      domain: what is assumed of private elements, at every place `each`.
      changes: for each private list its relation and bound.
      claim: epsilon without its logarithm, or rho.
      odds: what the logarithm in a pure claim is of; 1 where there is none.
      delta: 0 unless the claim has one.
    """

    spec: Spec
    parameters: tuple[tuple[str, str], ...]
    requires: tuple[Stated, ...]
    domain: tuple[Stated, ...]
    changes: tuple[tuple[str, str, Stated], ...]
    claim: Clause
    odds: Clause
    delta: Clause


@dataclass(frozen=True)
class Violation:
    """A clause that does not hold: the part of the specification, its text, and the place where it speaks of places."""

    what: str
    text: str
    place: int | None = None


def scope_of(parameters: Iterable[tuple[str, str]]) -> Scope:
    """What texts may speak of, by names and types of parameters."""
    names: dict[str, Kind] = {}
    lists: dict[str, Kind] = {}
    for name, kind in parameters:
        if kind.startswith("list["):
            lists[name] = cast("Kind", kind[5:-1])
        else:
            names[name] = cast("Kind", kind)
    return Scope(names, lists)


def read_promise(spec: Spec, parameters: tuple[tuple[str, str], ...]) -> Promise:
    """Read a specification for a function with these parameters."""
    scope = scope_of(parameters)
    requires, domain = read_conditions(spec, parameters)
    changes = tuple((name, change.relation, _public("adjacency", str(change.bound), scope)) for name, change in _lists(spec, scope))
    for _, _, bound in changes:
        _amount("adjacency", bound.clause)
    texts = spec.claim if isinstance(spec.claim, tuple) else (spec.claim,)
    claim, odds = _claim(spec, str(texts[0]), scope)
    delta = _amount("claim", _public("claim", str(texts[1]), scope).clause) if spec.cost == "approx" else NUMBER_ZERO
    return Promise(spec, parameters, requires, domain, changes, claim, odds, delta)


@lru_cache(maxsize=256)
def read_conditions(spec: Spec, parameters: tuple[tuple[str, str], ...]) -> tuple[tuple[Stated, ...], tuple[Stated, ...]]:
    """Read what is required and what is assumed of the data: all that a guard needs."""
    scope = scope_of(parameters)
    requires = tuple(_condition("requires", _public("requires", str(text), scope)) for text in spec.requires)
    return requires, tuple(_about_data(str(text), scope) for text in spec.domain)


def violation(promise: Promise, values: Mapping[str, Any]) -> Violation | None:
    """The first clause that does not hold of arguments; None where all hold."""
    return first_violation(promise.requires, promise.domain, values)


def first_violation(requires: Iterable[Stated], domain: Iterable[Stated], values: Mapping[str, Any]) -> Violation | None:
    """The first clause that does not hold of arguments; None where all hold."""
    for one in requires:
        if not holds(one.clause, values):
            return Violation("requires", one.text)
    longest = max((len(value) for value in values.values() if isinstance(value, (list, tuple))), default=0)
    for one in domain:
        if not has_places(one.clause):
            if not holds(one.clause, values):
                return Violation("domain", one.text)
            continue
        # A clause about each place reads some list just there, so that it says nothing beyond the longest list.
        for place in range(longest):
            if not holds(one.clause, {**values, EACH: place}):
                return Violation("domain", one.text, place)
    return None


def has_places(clause: Clause) -> bool:
    """True if a clause speaks of every place."""
    return any(part.op == "each" for part in parts_of(clause))


def has_lengths(clause: Clause) -> bool:
    """True if a clause speaks of the length of a list."""
    return any(part.op == "len" for part in parts_of(clause))


def with_values(promise: Promise, values: Mapping[str, Any]) -> Promise:
    """The promise for these values of parameters only."""
    names = scope_of(promise.parameters).names
    fixed = [
        Stated(
            f"{name} == {value}",
            Clause("==", "bool", (Clause("name", names[name], value=name), Clause("number", "Fraction", value=Fraction(value)))),
        )
        for name, value in values.items()
    ]
    return replace(promise, requires=(*promise.requires, *fixed))


def claim_text(promise: Promise) -> str:
    """Return the claim of a function in words: every part of its specification, as it was written."""
    spec, lists = promise.spec, scope_of(promise.parameters).lists
    claim = ", ".join(map(_shown, spec.claim if isinstance(spec.claim, tuple) else (spec.claim,)))
    kinds = {"pure": f"{claim}-DP", "approx": f"({claim})-DP", "zcdp": f"{claim}-zCDP"}
    changes = [
        _CHANGES[relation].format(name=f"{name} ({lists[name]})", bound=_shown(bound.text))
        for name, relation, bound in promise.changes
    ]
    parts = [f"{kinds[str(spec.cost)]} when {' and '.join(changes)}"]
    if promise.requires:
        parts.append("if " + _several(one.text for one in promise.requires))
    if promise.domain:
        parts.append("between databases in which " + _several(one.text for one in promise.domain))
    if spec.public:
        parts.append("with the same " + ", ".join(f"{name} ({lists[str(name)]})" for name in map(str, spec.public)) + " in both")
    parts += [f"{name} draws from the law {law}" for name, law in dict(spec.laws).items()]
    parts += [f"{name} is moved by {_shown(str(shift))}" for name, shift in dict(spec.align).items()]
    return ", ".join(parts)


def _several(texts: Iterable[str]) -> str:
    """Clauses, each as it was written; several in brackets of their own, so that where each ends is seen."""
    shown = [_shown(text) for text in texts]
    return shown[0] if len(shown) == 1 else " and ".join(f"[{one}]" for one in shown)


def _shown(text: object) -> str:
    """A text on one line."""
    return str(text).replace("\n", "\\n")


_CHANGES: Final[Mapping[str, str]] = {
    "one": "one element of {name} changes by at most {bound}",
    "all": "every element of {name} may change by at most {bound}",
    "inc": "every element of {name} may grow by at most {bound}",
    "dec": "every element of {name} may fall by at most {bound}",
    "l1": "the sizes of all changes of {name} add up to at most {bound}",
    "add_remove": "one record is added to or removed from {name}",
    "replace_one": "one record of {name} is exchanged for any other",
    "l2": "the squares of all changes of {name} add up to at most the square of {bound}",
}


def _clause(what: str, text: str, scope: Scope, tree: ast.expr | None = None) -> Clause:
    """The tree of a text; what it refuses is said with the part that the text belongs to."""
    try:
        return read_clause(text, scope, tree)
    except Unread as error:
        raise Unsupported("DPA722", f"{what} {text!r}, column {error.column}: {error.construct}; {error.hint}.") from error
    except RecursionError as error:
        raise Unsupported("DPA722", f"{what} is nested too deeply to be read. Split it into several clauses.") from error


def _public(what: str, text: str, scope: Scope, tree: ast.expr | None = None) -> Stated:
    """A text over public scalars and lengths."""
    found = _clause(what, text, scope, tree)
    if reads(found):
        raise Unsupported(
            "DPA722", f"{what} {text!r} speaks of list elements; only public parameters and len(...) may stand there."
        )
    return Stated(text, found)


def _about_data(text: str, scope: Scope) -> Stated:
    """A clause about private elements."""
    found = _clause("domain", text, replace(scope, has_places=True))
    here = Clause("each", "int")
    if has_places(found) and not any(read.args == (here,) for read in reads(found)):
        raise Unsupported("DPA722", f"domain {text!r} speaks of each without a list; write q[each].")
    return _condition("domain", Stated(text, found))


def _claim(spec: Spec, text: str, scope: Scope) -> tuple[Clause, Clause]:
    """The claim as a number and the odds whose logarithm is added to it."""
    tree = ast.parse(text, mode="eval").body
    parts = [tree.left, tree.right] if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add) else [tree]
    logarithms = [part for part in parts if _logarithm(part) is not None]
    if len(logarithms) != 1 or spec.cost != "pure":
        return _amount("claim", _public("claim", text, scope, tree).clause), NUMBER_ONE
    rest = [part for part in parts if part is not logarithms[0]]
    amount = _amount("claim", _public("claim", text, scope, rest[0]).clause) if rest else NUMBER_ZERO
    return amount, _amount("claim", _public("claim", text, scope, _logarithm(logarithms[0])).clause)


def _logarithm(node: ast.expr) -> ast.expr | None:
    """What the logarithm is taken of, where a node is `log(...)`."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "log"
    return node.args[0] if isinstance(node, ast.Call) and named and len(node.args) == 1 and not node.keywords else None


def _lists(spec: Spec, scope: Scope) -> Iterator[tuple[str, Change]]:
    """Every private list with its change; no list may be left out, none named twice."""
    private = [name for name in scope.lists if name not in spec.public]
    found: list[tuple[str, Change]] = []
    for name, change in spec.changes:
        if name is None and len(private) != 1:
            raise Unsupported(
                "DPA723",
                f"adjacency names no list and {len(private)} are private; write adjacency={{name: ...}} and public=[...].",
            )
        found.append((private[0] if name is None else name, change))
    named = [name for name, _ in found] + [str(name) for name in spec.public]
    if sorted(named) != sorted(scope.lists):
        raise Unsupported(
            "DPA723",
            f"the lists are {', '.join(scope.lists) or 'none'}, but adjacency and public name {', '.join(named) or 'none'}; "
            "name each list once, in adjacency if it is private and in public if not.",
        )
    yield from found


def _condition(what: str, found: Stated) -> Stated:
    """A clause, which is true or false."""
    if found.clause.kind != "bool":
        raise Unsupported("DPA722", f"{what} {found.text!r} is a number, not a condition; compare it with something.")
    return found


def _amount(what: str, found: Clause) -> Clause:
    """A number."""
    if found.kind == "bool":
        raise Unsupported("DPA722", f"{what} is a condition, not a number; write an amount.")
    return found
