"""Draws moved down to where they are used: what is computed without them comes first, as proofs want it.

Draws are independent of all that is computed before them, and keep their order among each other; so each output has the law that
it had. None is moved over a line that ends or leaves a block, puts something out, or assigns to what its parameters are made of.
"""

from __future__ import annotations

import re
from typing import Final

from dpaudit.verifier.ordinary.state import Line, assigned_in
from dpaudit.verifier.ordinary.values import names_in

_DRAW: Final = re.compile(r"noise__\d+ = ")
_ENDS: Final = re.compile(r"(?:return|raise|break|continue)\b|\w+\.append\(")


def sunk(lines: list[Line]) -> list[Line]:
    """The lines of a program with each draw as far down in its block as it may stand."""
    done: list[Line] = []
    waiting: list[Line] = []
    for place, line in enumerate(lines):
        depth, text, _ = line
        if waiting and depth < waiting[0][0]:
            done, waiting = done + waiting, []
        if _DRAW.match(text) and (not waiting or depth == waiting[0][0]):
            waiting.append(line)
            continue
        if waiting and depth == waiting[0][0]:
            whole = _statement(lines, place)
            names = {name for _, part, _ in whole for name in names_in(part)}
            draws = assigned_in(waiting)
            parameters = {name for _, part, _ in waiting for name in names_in(part)} - draws
            stops = any(_ENDS.match(part) or _DRAW.match(part) for _, part, _ in whole)
            if stops or names & draws or assigned_in(whole) & parameters:
                done, waiting = done + waiting, []
        done.append(line)
    return done + waiting


def _statement(lines: list[Line], place: int) -> list[Line]:
    """A statement with its blocks; an `if` with its `else`."""
    depth = lines[place][0]
    end = place + 1
    while end < len(lines) and (lines[end][0] > depth or (lines[end][0] == depth and lines[end][1] == "else:")):
        end += 1
    return lines[place:end]
