"""What is released besides the noisy value: true counts, keys of the data, and the budget that a loop spends again and again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from dpaudit.scan import values as v
from dpaudit.scan.algebra import names_in
from dpaudit.scan.checks.noise import Found
from dpaudit.scan.names import KEEPS_COUNT, TRIALS, is_epsilon, last_name
from dpaudit.scan.scopes import Module, is_privacy_noise
from dpaudit.scan.values import Addition, Draw, Loop, Scope

_WHOLE: Final = re.compile(r"(^|_)(dp|private|privately|privatize)(_|$)|^(dp|private)", re.IGNORECASE)
_THRESHOLD: Final = ("thresh", "tau", "cutoff", "min_count", "suppress")


def check(module: Module) -> Iterator[Found]:
    """Yield what is released besides."""
    for cell, scope in module.scopes:
        noisy = [
            (addition, draw)
            for addition in scope.additions
            for key in addition.noise.draws
            if (draw := scope.draws.get(key)) is not None and is_privacy_noise(draw, scope, private_file=module.is_private)
        ]
        yield from (("DP401", cell, line, text) for line, text in _divisors(scope))
        yield from (("DP402", cell, line, text) for line, text in _keys(scope, noisy))
        yield from (("DP403", cell, line, text) for line, text in _loops(scope, noisy))


def _divisors(scope: Scope) -> Iterator[tuple[int, str]]:
    """DP401: a noisy sum divided by a true count."""
    for one in scope.divisions:
        if one.left.has(v.NOISY) and one.left.has(v.SUM) and not one.left.has(v.LOCAL) and one.right.has(v.COUNT):
            chosen = " of chosen records" if one.right.has(v.SELECTED) else ""
            yield one.line, f"A noisy sum is divided by the true number{chosen}."


def _keys(scope: Scope, noisy: list[tuple[Addition, Draw]]) -> Iterator[tuple[int, str]]:
    """DP402: noise on what belongs to keys of the data, without a threshold on the result."""
    lines = {addition.line for addition, draw in noisy if addition.base.has(v.KEYS) and id(draw.node) not in scope.compared}
    lines |= {
        addition.line
        for addition, draw in noisy
        if id(draw.node) not in scope.compared
        and not addition.base.has(v.NOISY)
        and any(loop.over.has(v.KEYS) and loop.names & set(names_in(addition.node)) for loop in addition.loops)
    }
    if lines and scope.compared and any(part in name.lower() for name in names_in(scope.node) for part in _THRESHOLD):
        return
    yield from (
        (line, "Noise is added for each key that occurs in the data; which ones occur is released as it is.")
        for line in sorted(lines)
    )


def _loops(scope: Scope, noisy: list[tuple[Addition, Draw]]) -> Iterator[tuple[int, str]]:
    """DP403: the whole epsilon in each turn of a loop over the same records."""
    if not noisy or not any(map(is_epsilon, scope.parameters)) or not _claims_whole(scope):
        return
    if any(KEEPS_COUNT.search(name) for name in names_in(scope.node)):
        return
    done: set[int] = set()
    for addition, draw in noisy:
        if not addition.loops or addition.line in done or addition.base.has(v.KEYS, v.ELEMENT, v.LOCAL, v.NOISY):
            continue
        loop = addition.loops[-1]
        if not isinstance(loop.node, (ast.For, ast.ListComp, ast.DictComp)) or not _is_spent(scope, draw, loop):
            continue
        if _is_over_columns(loop) or _is_over_queries(addition, loop) or (_is_count(loop) and _is_update(scope, addition, loop)):
            done.add(addition.line)
            yield addition.line, "Each turn of the loop releases something about the same records with the whole epsilon."


def _claims_whole(scope: Scope) -> bool:
    """True if a function says that it is private as a whole, so that its epsilon is not the price of a round."""
    said = ast.get_docstring(scope.node) or "" if isinstance(scope.node, ast.FunctionDef) else ""
    return bool(_WHOLE.search(scope.name) or re.search(r"differential|privat|\bDP\b", said))


def _is_spent(scope: Scope, draw: Draw, loop: Loop) -> bool:
    """True if the scale has an epsilon that is a parameter as it was given, the same in each turn."""
    if draw.scale is None:
        return False
    found = [name for name in names_in(draw.scale) if is_epsilon(name)]
    assigned = {one.name for one in scope.assigned}
    divided = any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and any(is_epsilon(one) for one in names_in(node.left))
        for node in ast.walk(scope.node)
    )
    return (
        bool(found)
        and all(one in scope.parameters and one not in assigned and one not in loop.names for one in found)
        and not divided
    )


def _is_over_columns(loop: Loop) -> bool:
    """True if a loop runs over the columns of one table."""
    over = getattr(loop.node, "iter", None) or loop.node.generators[-1].iter  # type: ignore[attr-defined]
    return isinstance(over, ast.Attribute) and over.attr == "columns"


def _is_over_queries(addition: Addition, loop: Loop) -> bool:
    """True if each turn asks another query, which the loop calls."""
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in loop.names
        for one in ast.walk(addition.node)
    )


def _is_count(loop: Loop) -> bool:
    """True if a loop runs a number of rounds that is not one of trials."""
    over = getattr(loop.node, "iter", None)
    if not (isinstance(over, ast.Call) and last_name(over.func) in {"range", "trange"}):
        return False
    return not any(TRIALS.search(one) for one in (*names_in(over), *loop.names))


def _is_update(scope: Scope, addition: Addition, loop: Loop) -> bool:
    """True if a round takes the same data and changes what the next one starts from, as descent does."""
    if not addition.base.has(v.DATA) or addition.base.has(v.ELEMENT) or loop.names & set(names_in(addition.node)):
        return False
    inside = {id(node) for node in ast.walk(loop.node)}
    for node in ast.walk(loop.node):
        if isinstance(node, ast.AugAssign) and id(node) in inside and _mentions(scope, addition, node.value):
            return isinstance(node.op, (ast.Sub, ast.Add))
        if isinstance(node, ast.Assign):
            name = last_name(node.targets[0])
            if name and name in set(names_in(node.value)) and _mentions(scope, addition, node.value):
                return True
    return False


def _mentions(scope: Scope, addition: Addition, node: ast.expr) -> bool:
    """True if an expression has the addition in it, or a name that was given a value with its noise."""
    if any(one is addition.node for one in ast.walk(node)):
        return True
    named = {one.name for one in scope.assigned if one.value.draws & addition.noise.draws}
    return bool(named & set(names_in(node)))
