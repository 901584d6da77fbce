"""Where a mistake is: the line that made the value a finding is about, in the source of the loop that reported it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final, TypeAlias

from dpaudit.auditor.training.findings import LoopCheck

_SAID: Final = {
    "learning rate": "learning_rate",
    "divisor": "divisor",
    "clip differs": "clip",
    "the clip depends": "clip",
    "which records": "batch",
    "a noisy sum": "noisy_sum",
    "when the loop ends": "",
    "steps differ": "",
}
"""Words of a finding, and the argument of `step` that they are about; "" for the loop itself."""

_ABOUT: Final = {
    "clipping": ("clean_sum", "clipped", "noisy_sum"),
    "noise": ("noisy_sum",),
    "fresh noise": ("noisy_sum",),
    "sampling": ("batch",),
    "repeated examples": ("batch",),
    "divisor": ("divisor",),
    "clip": ("clip",),
    "update": ("updated",),
    "separate examples": ("gradients",),
    "public numbers": ("gradients",),
    "records not drawn": ("gradients",),
    "steps": ("",),
}
"""Arguments of `step` that each check is about, the first that the loop gives counts."""

_Statement: TypeAlias = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For
_LONGEST: Final = 120
_MOST: Final = 6
"""Lines that are named: that of the wrong value and those of what it is made of."""


def caller_of(frame: FrameType | None) -> tuple[str, int]:
    """File and line that called the function of a frame."""
    outer = frame.f_back if frame else None
    return (outer.f_code.co_filename, outer.f_lineno) if outer else ("", 1)


def locate(check: LoopCheck, caller: tuple[str, int]) -> LoopCheck:
    """Add to a violation the lines of the loop that made what it is about; the line of the report where they cannot be read."""
    if check.status != "violated" or check.where:
        return check
    file, line = caller
    source = linecache.getlines(file)
    said = next((argument for words, argument in _SAID.items() if words in check.detail), None)
    wanted = _ABOUT.get(check.name, ()) if said is None else (said,)
    try:
        lines = _lines_of(ast.parse("".join(source)), line, wanted)
    except SyntaxError:
        lines = [line]
    text = source[lines[0] - 1].strip() if lines[0] <= len(source) else ""
    made_of = f" (made by lines {', '.join(map(str, sorted(lines[1:])))})" if lines[1:] else ""
    return replace(check, where=f"{Path(file).name}:{lines[0]}: {text}"[:_LONGEST].rstrip(": ") + made_of)


def _lines_of(tree: ast.Module, line: int, wanted: tuple[str, ...]) -> list[int]:
    """Line at which the value of the first of the arguments given was made, then those of what it is made of."""
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    call = next((node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "step"), None)
    if call is None:
        return [line]
    given = {word.arg: word.value for word in call.keywords}
    argument = next((one for one in wanted if one in given or not one), None)
    if argument is None:
        return [line]
    home = _innermost(tree, call)
    if not argument:
        loops = [node.lineno for node in ast.walk(home) if isinstance(node, ast.For | ast.While) and _holds(node, call)]
        return [max(loops, default=line)]
    first, made = given[argument].lineno, _makers(given[argument], tree, home, call.lineno)
    if made:
        # Where the argument is an expression of several values, the one that was made last stands first.
        first = max(one.lineno for one in made)
    lines = [first]
    while made and len(lines) < _MOST:
        statement = made.pop(0)
        if statement.lineno not in lines:
            lines.append(statement.lineno)
        value = statement.iter if isinstance(statement, ast.For) else statement.value
        if value is not None:
            made += [one for one in _makers(value, tree, home, statement.lineno) if one.lineno not in lines]
    return lines


def _makers(value: ast.AST, tree: ast.Module, home: ast.AST, before: int) -> list[_Statement]:
    """Statements that made the values in an expression."""
    found = (_made(node, tree, home, before) for node in ast.walk(value))
    return [one for one in found if one is not None]


def _made(node: ast.AST, tree: ast.Module, home: ast.AST, before: int) -> _Statement | None:
    """The last assignment to a name or an attribute: above a line, else anywhere in its function, else in the file."""
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return None
    key = node.id if isinstance(node, ast.Name) else f".{node.attr}"
    for part in (home, tree):
        found = [statement for name, statement in _assignments(part) if name == key]
        if found:
            above = [one for one in found if one.lineno < before]
            return max(above or found, key=lambda one: one.lineno)
    return None


def _assignments(part: ast.AST) -> Iterator[tuple[str, _Statement]]:
    """Names, and attributes after a point, that are assigned within a part of a file, with the statements that do it."""
    for statement in ast.walk(part):
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for node in (node for target in targets for node in ast.walk(target)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, statement
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield f".{node.attr}", statement


def _innermost(tree: ast.Module, call: ast.Call) -> ast.AST:
    """The function around a call, or the file."""
    around = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _holds(node, call)]
    return max(around, key=lambda node: node.lineno, default=tree)


def _holds(node: ast.stmt, call: ast.Call) -> bool:
    """True if a statement has the call within it."""
    return node.lineno <= call.lineno <= (node.end_lineno or node.lineno)
