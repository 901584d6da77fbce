"""Specifications as terms: text over entry values in, a contract out, with what must hold for it to have a meaning."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Final

from dpaudit.binding import STANDARD
from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.frontend.expressions import length, term
from dpaudit.verifier.frontend.readers import Expression, Reader
from dpaudit.verifier.frontend.refusals import OutsideSubset
from dpaudit.verifier.frontend.scopes import Meaning, Standard
from dpaudit.verifier.ir import EACH, Change, Check, Contract, ListOf, Parameter, Relation
from dpaudit.verifier.terms import (
    ONE,
    TRUE,
    ZERO,
    Op,
    Sort,
    Term,
    conjunction,
    implies,
    less,
    less_equal,
    subterms,
    variable,
)


def expression(text: str, symbols: Mapping[str, Sort], lists: Mapping[str, Sort]) -> Expression:
    """Read a text of the expression language.

    Args:
      text: a Python expression; `1/3` and `1e-6` are read exactly, `ghost.k` is the symbol of that name.
      symbols: the scalars that it may speak of, with their sorts.
      lists: the lists that it may speak of, with the sorts of their elements.
    Returns:
      The term, over variables of the symbols' names, and the checks that make it defined.
    Raises:
      OutsideSubset: what the expression language does not have (DPA701 to DPA706).
    Source: the expression rows of docs/verification.md.
    Example:
      >>> expression("2 * x if x > 1/3 else 0", {"x": Sort.REAL}, {}).term
      ((2 * x) if (1/3 < x) else 0)
    """
    return _read(text, ast.parse(text, mode="eval").body, {name: variable(name, sort) for name, sort in symbols.items()}, lists)


def _read(text: str, tree: ast.expr, symbols: Mapping[str, Term], lists: Mapping[str, Sort]) -> Expression:
    """The term of a tree of the text."""
    reader = Reader(
        _find, frozenset(), dict(symbols), {name: (name, sort) for name, sort in lists.items()}, set(symbols), text=text
    )
    found = term(reader, tree)
    return Expression(found, tuple(part for part in reader.emitted if isinstance(part, Check)))


def _find(name: str) -> Meaning:
    """The functions that texts may call; numbers and lists are all named by parameters."""
    return Standard(name) if name in STANDARD and name != "range" else None


class _Promises:
    """What a specification says so far: facts that later parts may lean on, and what must follow from them."""

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        self.symbols: dict[str, Term] = {}
        self.lists: dict[str, Sort] = {}
        for parameter in parameters:
            if isinstance(parameter.sort, ListOf):
                self.lists[parameter.name] = parameter.sort.element
            else:
                self.symbols[parameter.name] = variable(parameter.name, parameter.sort)
        self.facts = [less_equal(ZERO, length(name)) for name in self.lists]
        self.obligations: list[tuple[str, Term]] = []

    def owed(self, kind: str, condition: Term) -> None:
        """Note what must follow from the facts so far."""
        needed = implies(conjunction(*self.facts), condition)
        if needed is not TRUE:
            self.obligations.append((kind, needed))

    def public(self, what: str, text: str, tree: ast.expr | None = None) -> Term:
        """A term over public scalars and lengths, with its definedness owed."""
        found = self.term(what, text, tree)
        if any(part.op is Op.APPLY for part in subterms(found.term)):
            raise Unsupported(
                "DPA722", f"{what} {text!r} speaks of list elements; only public parameters and len(...) may stand there."
            )
        for check in found.checks:
            self.owed("defined", check.condition)
        return found.term

    def term(self, what: str, text: str, tree: ast.expr | None = None, extra: Mapping[str, Term] | None = None) -> Expression:
        """The term of a text; what it refuses is said with the part that the text belongs to."""
        try:
            return _read(text, tree or ast.parse(text, mode="eval").body, {**self.symbols, **(extra or {})}, self.lists)
        except OutsideSubset as error:
            raise Unsupported("DPA722", f"{what} {text!r}, column {error.column}: {error.construct}; {error.hint}.") from error


def contract(promise: Spec, parameters: tuple[Parameter, ...]) -> Contract:
    """The specification of a function with these parameters, as terms over their values at entry."""
    promises = _Promises(parameters)
    requires = []
    for text in promise.requires:
        clause = _truth("requires", text, promises.public("requires", text))
        promises.facts.append(clause)
        requires.append(clause)
    changes = tuple(
        (name, Change(Relation(relation), promises.public("adjacency", bound)))
        for name, relation, bound in _lists(promise, promises)
    )
    for _, change in changes:
        promises.owed("bound", less_equal(ZERO, _number("adjacency", change.bound)))
    claim, odds = _claim(promise, promises)
    delta = _number("claim", promises.public("claim", _as_text(promise.claim, 1))) if promise.cost == "approx" else ZERO
    promises.owed("claim", less_equal(ZERO, claim))
    promises.owed("odds", less_equal(ONE, odds))
    promises.owed("delta", less_equal(ZERO, delta))
    return Contract(
        claim=claim,
        odds=odds,
        delta=delta,
        cost=str(promise.cost),
        changes=changes,
        public=tuple(promise.public),
        requires=tuple(requires),
        domain=tuple(_domain(text, promises) for text in promise.domain),
        obligations=tuple(promises.obligations),
        align=tuple((str(name), str(shift)) for name, shift in dict(promise.align).items()),
    )


def _as_text(claim: object, index: int) -> str:
    """One part of a stored claim."""
    return str(claim[index]) if isinstance(claim, tuple) else str(claim)


def _claim(promise: Spec, promises: _Promises) -> tuple[Term, Term]:
    """The claim as a number and the odds whose logarithm is added to it."""
    text = _as_text(promise.claim, 0)
    tree = ast.parse(text, mode="eval").body
    parts = [tree.left, tree.right] if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add) else [tree]
    logarithms = [part for part in parts if _logarithm(part) is not None]
    if len(logarithms) != 1 or promise.cost != "pure":
        return _number("claim", promises.public("claim", text, tree)), ONE
    rest = [part for part in parts if part is not logarithms[0]]
    amount = _number("claim", promises.public("claim", text, rest[0])) if rest else ZERO
    return amount, _number("claim", promises.public("claim", text, _logarithm(logarithms[0])))


def _logarithm(node: ast.expr) -> ast.expr | None:
    """What the logarithm is taken of, where a node is `log(...)`."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "log"
    return node.args[0] if isinstance(node, ast.Call) and named and len(node.args) == 1 and not node.keywords else None


def _lists(promise: Spec, promises: _Promises) -> list[tuple[str, str, str]]:
    """Every private list with its relation and bound; no list may be left out, none named twice."""
    private = [name for name in promises.lists if name not in promise.public]
    found = []
    for name, change in promise.changes:
        if name is None and len(private) != 1:
            raise Unsupported(
                "DPA723",
                f"adjacency names no list and {len(private)} are private; write adjacency={{name: ...}} and public=[...].",
            )
        found.append((private[0] if name is None else name, change.relation, str(change.bound)))
    named = [name for name, _, _ in found] + [str(name) for name in promise.public]
    if sorted(named) != sorted(promises.lists):
        raise Unsupported(
            "DPA723",
            f"the lists are {', '.join(promises.lists) or 'none'}, but adjacency and public name {', '.join(named) or 'none'}; "
            "name each list once, in adjacency if it is private and in public if not.",
        )
    return found


def _domain(text: str, promises: _Promises) -> Term:
    """A clause about private elements, under the premise that the lists are long enough for it and that it is defined."""
    each = variable(EACH, Sort.INT)
    found = promises.term("domain", text, None, {"each": each})
    clause = _truth("domain", text, found.term)
    read = [part for part in subterms(clause) if part.op is Op.APPLY]
    if each in subterms(clause) and not any(part.args == (each,) for part in read):
        raise Unsupported("DPA722", f"domain {text!r} speaks of each without a list; write q[each].")
    inside = [
        condition for part in read for condition in (less_equal(ZERO, part.args[0]), less(part.args[0], length(str(part.value))))
    ]
    defined = [check.condition for check in found.checks if check.kind != "index"]
    return implies(conjunction(*inside, *defined), clause)


def _truth(what: str, text: str, found: Term) -> Term:
    """A clause, which is true or false."""
    if found.sort is not Sort.BOOL:
        raise Unsupported("DPA722", f"{what} {text!r} is a number, not a condition; compare it with something.")
    return found


def _number(what: str, found: Term) -> Term:
    """An amount."""
    if found.sort is Sort.BOOL:
        raise Unsupported("DPA722", f"{what} is a condition, not a number; write an amount.")
    return found


__all__: Final = ["contract", "expression"]
