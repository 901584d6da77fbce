"""Where a mistake is: the line that made the value a finding is about, in the source of the loop that reported it."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass, replace
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
    "beside noise": "noisy_sum",
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

_Statement: TypeAlias = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.If | ast.Return
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_Made: TypeAlias = dict[str, list[_Statement]]
_Loop: TypeAlias = ast.For | ast.While
_LONGEST: Final = 120
_MOST: Final = 10
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


@dataclass(frozen=True)
class _Source:
    """A file with a loop: its functions and conditions, the innermost loop around the report of a step, and who assigns what."""

    functions: tuple[_Function, ...]
    conditions: tuple[ast.If, ...]
    loop: _Loop | None
    in_file: _Made
    in_function: dict[_Function, _Made]

    def around(self, part: ast.AST) -> _Function | None:
        """The innermost function around a part of the file."""
        return max((one for one in self.functions if _holds(one, part)), key=_line, default=None)


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
    functions = tuple(node for node in ast.walk(tree) if isinstance(node, _Function))
    loops = [node for node in ast.walk(tree) if isinstance(node, _Loop) and _holds(node, call)]
    source = _Source(
        functions=functions,
        conditions=tuple(node for node in ast.walk(tree) if isinstance(node, ast.If)),
        loop=max(loops, key=_line, default=None),
        in_file=_assignments(tree),
        in_function={one: _assignments(one) for one in functions},
    )
    if not argument:
        return _ways_out(source, source.loop, call) if source.loop else [line]
    first, made = given[argument].lineno, _makers(given[argument], source, call)
    if made:
        # Where the argument is an expression of several values, the one that was made last stands first.
        first = max(one.lineno for one in made)
    return _trace([first], made, source)


def _ways_out(source: _Source, loop: _Loop, call: ast.Call) -> list[int]:
    """Lines on which it depends how often a loop comes to a call: conditions of leaving it or going on, else its head."""
    ways = [node for node in ast.walk(loop) if isinstance(node, ast.Break | ast.Continue | ast.Return)]
    guards = [one for way in ways for one in _guards(source, way) if not _holds(one, call)]
    lines = [one.lineno for one in guards] or [loop.lineno]
    return _trace([*lines, *(way.lineno for way in ways)], guards, source)


def _trace(lines: list[int], made: list[_Statement], source: _Source) -> list[int]:
    """Add the lines of statements, of what they are made of, and of the conditions under which they run, until they are enough."""
    lines = list(dict.fromkeys(lines))
    while made and len(lines) < _MOST:
        statement = made.pop(0)
        if statement.lineno not in lines:
            lines.append(statement.lineno)
        more = _guards(source, statement)
        for value in _values(statement):
            more += _makers(value, source, statement)
        made += [one for one in dict.fromkeys(more) if one.lineno not in lines and one not in made]
    return lines


def _guards(source: _Source, node: ast.stmt) -> list[_Statement]:
    """The conditions within its function under which a statement runs, the innermost first."""
    home = source.around(node)
    found = (one for one in source.conditions if one is not node and _holds(one, node) and source.around(one) is home)
    return sorted(found, key=_line, reverse=True)


def _makers(value: ast.AST, source: _Source, before: ast.AST) -> list[_Statement]:
    """Statements that made the values in an expression."""
    found = (_made(node, source, before) for node in ast.walk(value))
    return [one for one in found if one is not None]


def _made(node: ast.AST, source: _Source, before: ast.AST) -> _Statement | None:
    """The last assignment to a name or an attribute: above a line in its loop, else below it there, else in function or file."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    key, home, loop = node.id if isinstance(node, ast.Name) else f".{node.attr}", source.around(before), source.loop
    found = (source.in_function[home].get(key) if home else None) or source.in_file.get(key)
    if not found and isinstance(node, ast.Attribute):  # a method of a class in this file
        found = [one for one in source.in_file.get(node.attr, ()) if isinstance(one, ast.Return)]
    if not found:
        return None
    above = [one for one in found if _line(one) < _line(before)]
    if loop is not None and _holds(loop, before) and not any(_holds(loop, one) for one in above):
        # What the loop makes of a value at its end is what it begins with the next time.
        above = [one for one in found if _holds(loop, one) and one is not loop] or above
    return max(above or found, key=_line)


def _values(statement: _Statement) -> list[ast.expr]:
    """The expressions on which a statement rests."""
    if isinstance(statement, ast.For):
        return [statement.iter]
    if isinstance(statement, ast.AugAssign):
        return [statement.value, statement.target]
    value = statement.test if isinstance(statement, ast.If) else statement.value
    return [] if value is None else [value]


def _assignments(part: ast.AST) -> _Made:
    """Statements that assign names, attributes after a point, or parts of them, in a part of a file; and what functions return."""
    made: _Made = {}
    for statement in ast.walk(part):
        if isinstance(statement, _Function):
            made.setdefault(statement.name, []).extend(node for node in ast.walk(statement) if isinstance(node, ast.Return))
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for node in (node for target in targets for node in ast.walk(target)):
            if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or not isinstance(node.ctx, ast.Store):
                continue
            whole = node.value if isinstance(node, ast.Subscript) else node
            if isinstance(whole, ast.Name | ast.Attribute):
                made.setdefault(whole.id if isinstance(whole, ast.Name) else f".{whole.attr}", []).append(statement)
    return made


def _line(node: ast.AST) -> int:
    """The line of a part of a file."""
    return getattr(node, "lineno", 0)


def _holds(node: ast.stmt, part: ast.AST) -> bool:
    """True if a statement has a part within it."""
    return node.lineno <= _line(part) <= (node.end_lineno or node.lineno)
