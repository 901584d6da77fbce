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
    """One change: the definition that it is in, its kind, and the whole text of the file with it."""

    place: str
    kind: str
    text: str


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


def campaign(root: Path, nodes: Sequence[Node], count: int, seed: int) -> list[Row]:
    """Make many changes, and count what became of the claims."""
    found = [(one.kind, _what_fell(root, nodes, one)) for one in mutations(root, nodes, count, seed)]
    by_kind = {kind: [fell for one, fell in found if one == kind] for kind in KINDS}
    return [Row(kind, len(some), *map(sum, zip(*some, strict=True))) for kind, some in by_kind.items() if some]


def _what_fell(root: Path, nodes: Sequence[Node], mutation: Mutation) -> tuple[bool, bool, bool]:
    """True if a claim that reaches the change holds, if one that does not reach it fell, and if any claim holds."""
    before = reach_of(root)
    after = Reach(ChangedTree(root, PACKAGES, ASIDE, mutation.place.partition(":")[0], mutation.text), RESOLVED, PROSE)
    pairs = []
    for claim in claims_of(nodes):
        bound = bound_by(nodes, claim)
        reaches = any(mutation.place in before.closure(place) for place in bound)
        pairs.append((reaches, any(before.stamp(place) != after.stamp(place) for place in bound)))
    return (True, False) in pairs, (False, True) in pairs, not all(stale for _, stale in pairs)


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
    before = ast.unparse(whole)
    _change(spot, kind)
    after = ast.unparse(ast.fix_missing_locations(whole))
    return Mutation(place, kind, after) if after != before else None


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
