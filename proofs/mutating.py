"""Mutation test of the stamps: change source in one place, and see whether exactly the claims that reach it become stale."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from dpaudit.verifier.chain import Node
from dpaudit.verifier.stamps.facts import IMPORT
from dpaudit.verifier.stamps.modules import Tree
from dpaudit.verifier.stamps.reach import Reach
from proofs.reviewed import ASIDE, PACKAGES, PROSE, RESOLVED, bound_by, claims_of, reach_of

CLAIMS: Final = ("ExponentialMechanism", "GaussianMechanism", "LaplaceMechanism")
"""The claims whose source is changed."""
KINDS: Final = ("constant", "operator", "early return", "swapped argument")
_OPERATORS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And, ast.UAdd: ast.USub, ast.USub: ast.UAdd, ast.Not: ast.UAdd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """One change: the definition that it is in, its kind, its line, and the whole text of the file with it."""

    place: str
    kind: str
    line: int
    text: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mutation: claims that reach the place and still hold, and claims that do not reach it and fell."""

    mutation: Mutation
    survived: tuple[str, ...]
    fell_wrongly: tuple[str, ...]
    fell: int
    held: int


@dataclass(frozen=True)
class Row:
    """Changes of one kind: all, those that a claim survived, those by which one fell wrongly, those that left one standing."""

    kind: str
    mutations: int
    survivors: int
    wrongly: int
    partial: int


@dataclass(frozen=True)
class ChangedTree(Tree):
    """A tree in which one file has another text."""

    path: str = ""
    changed: str = ""

    def text(self, path: str) -> str | None:
        """The text of a file, or the changed one."""
        return self.changed if path == self.path else super().text(path)


def mutations(root: Path, nodes: Sequence[Node], count: int, seed: int) -> Iterator[Mutation]:
    """Changes in places chosen at random among all that the three claims reach."""
    reach, draw = reach_of(root), random.Random(seed)  # noqa: S311 - chooses what is tested
    bound = set().union(*(bound_by(nodes, claim) for claim in CLAIMS))
    places = sorted(one for one in set().union(*(reach.closure(place) for place in bound)) if not one.endswith(f":{IMPORT}"))
    made = 0
    while made < count:
        place, kind = draw.choice(places), KINDS[made % len(KINDS)]
        found = _mutate(reach.tree, place, kind, draw)
        if found is not None:
            made += 1
            yield found


def outcome(root: Path, nodes: Sequence[Node], mutation: Mutation) -> Outcome:
    """Find the claims that a change makes stale."""
    before = reach_of(root)
    after = Reach(ChangedTree(root, PACKAGES, ASIDE, mutation.place.partition(":")[0], mutation.text), RESOLVED, PROSE)
    survived, wrongly, fell, held = [], [], 0, 0
    for claim in claims_of(nodes):
        bound = bound_by(nodes, claim)
        reaches = any(mutation.place in before.closure(place) for place in bound)
        stale = any(before.stamp(place) != after.stamp(place) for place in bound)
        fell, held = fell + stale, held + (not stale)
        if reaches and not stale:
            survived.append(claim)
        elif stale and not reaches:
            wrongly.append(claim)
    return Outcome(mutation, tuple(survived), tuple(wrongly), fell, held)


def campaign(root: Path, nodes: Sequence[Node], count: int, seed: int) -> list[Row]:
    """Many changes, summed up."""
    found = [outcome(root, nodes, one) for one in mutations(root, nodes, count, seed)]
    rows = []
    for kind in KINDS:
        if some := [one for one in found if one.mutation.kind == kind]:
            survivors, wrongly = sum(bool(one.survived) for one in some), sum(bool(one.fell_wrongly) for one in some)
            rows.append(Row(kind, len(some), survivors, wrongly, sum(one.held > 0 for one in some)))
    return rows


def _mutate(tree: Tree, place: str, kind: str, draw: random.Random) -> Mutation | None:
    """One change of a kind in a definition; None where there is no room for it."""
    path, _, name = place.partition(":")
    text = tree.text(path)
    if text is None:
        return None
    whole = ast.parse(text)
    holders = [one for one in whole.body if name in _names(one)]
    spots = [spot for one in holders for spot in _spots(one, kind)]
    if not spots:
        return None
    spot = draw.choice(spots)
    line = getattr(spot, "lineno", 0)
    before = ast.unparse(whole)
    _change(spot, kind)
    after = ast.unparse(ast.fix_missing_locations(whole))
    return Mutation(place, kind, line, after) if after != before else None


def _names(statement: ast.stmt) -> set[str]:
    """The names that a statement of the top level defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return set()


def _spots(statement: ast.stmt, kind: str) -> list[ast.AST]:
    """The nodes that a change of a kind can be made at."""
    texts = {id(one.value) for one in ast.walk(statement) if isinstance(one, ast.Expr)}
    found: list[ast.AST] = []
    for node in ast.walk(statement):
        number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)) and id(node) not in texts
        operator = isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.AugAssign)) and type(node.op) in _OPERATORS
        comparison = isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS
        call = isinstance(node, ast.Call) and len(node.args) > 1 and not any(isinstance(one, ast.Starred) for one in node.args)
        if (
            (kind == "constant" and number)
            or (kind == "operator" and (operator or comparison))
            or (kind == "early return" and isinstance(node, ast.FunctionDef))
            or (kind == "swapped argument" and call)
        ):
            found.append(node)
    return found


def _change(node: ast.AST, kind: str) -> None:
    """Change a node in place."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node.value += "_"
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Compare):
        node.ops[0] = cast("ast.cmpop", _OPERATORS[type(node.ops[0])]())
    elif isinstance(node, ast.FunctionDef):
        node.body.insert(0, ast.Return(ast.Constant(0)))
    elif isinstance(node, ast.Call):
        node.args[0], node.args[1] = node.args[1], node.args[0]
    elif kind == "operator" and isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.AugAssign)):
        node.op = cast("Any", _OPERATORS[type(node.op)]())
