"""Draws moved down to where they are used: what is computed without them comes first, as proofs want it.

Draws are independent of all that is computed before them, and keep their order among each other; so each output has the law that
it had. None is moved over a line that ends or leaves a block, puts something out, or assigns to what its parameters are made of.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from dpaudit.verifier.ordinary import coins
from dpaudit.verifier.ordinary.lines import Line, assigned_in
from dpaudit.verifier.ordinary.values import names_in

_DRAW: Final = re.compile(r"noise__\w+ = ")
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


def paired(lines: list[Line]) -> list[Line]:
    """The lines of a program where the difference of two exponential draws of one scale is the one Laplace draw that it amounts to.

    Both are drawn in one block, one after the other, and nothing but their difference is used.
    """
    draws = [(place, found.group(1), found.group(2)) for place, line in enumerate(lines) if (found := _ONE_SIDED.match(line[1]))]
    for (first, one, scale), (second, other, again) in reversed(list(pairwise(draws))):
        block = lines[first : second + 1]
        level = all(depth == block[0][0] for depth, _, _ in block) and not any(_ENDS.match(text) for _, text, _ in block)
        if scale != again or not level or assigned_in(block) & names_in(scale):
            continue
        # The difference itself, or a sum with the first from which the second is subtracted.
        forms = {f"({one} - {other})": one, f" + {one}) - {other})": f" + {one}))"}
        sums = [found.group(1) for _, text, _ in block if (found := re.fullmatch(rf"(x__\d+) = \(.* \+ {one}\)", text))]
        if sums:
            # The sum has a name, of which nothing else may be used.
            forms = {f"({sums[0]} - {other})": sums[0]}
        uses = 0
        made: list[Line] = []
        for place, (depth, text, line) in enumerate(lines):
            if place not in (first, second):
                for whole, made_of_it in forms.items():
                    uses += text.count(whole)
                    text = text.replace(whole, made_of_it)  # noqa: PLW2901
                made.append((depth, text, line))
            elif place == first:
                made.append((depth, f"{one} = laplace({scale})", line))
        words = [word for _, text, _ in made for word in re.findall(r"\w+", text)]
        named = words.count(sums[0]) == uses + 1 and words.count(one) == 2 if sums else words.count(one) == uses + 1
        if uses and other not in words and named:
            lines = made
    return lines


_ONE_SIDED: Final = re.compile(r"(noise__\d+) = exponential\((.*)\)$")


def flipped(lines: list[Line]) -> list[Line]:
    """The lines of a program where a coin that keeps or turns a truth value, and does nothing else, is randomized response.

    A coin `c` of chance p that is only used in `A if c else not A` gives A with chance p and its opposite else.
    """
    lines = list(lines)
    coins = [(place, found.group(1), found.group(2)) for place, line in enumerate(lines) if (found := _COIN.match(line[1]))]
    for place, name, chance in reversed(coins):
        uses = [at for at, (_, text, _) in enumerate(lines) if at != place and name in names_in(text)]
        if len(uses) != 1 or lines[uses[0]][1].count(name) != 1 or _in_loop(lines, place, uses[0]):
            continue
        at = uses[0]
        depth, text, line = lines[at]
        arms = _arms(lines, at) if text == f"if {name}:" else None
        if arms is not None:
            prefix, turned, suffix = arms
            made = [(depth, f"{name} = randomized_response({turned}, {chance})", line), (depth, f"{prefix}{name}{suffix}", line)]
            lines[at : at + 4] = made
        elif (kept := _inline(text, name)) is not None:
            whole = f"({kept} if {name} else (not {kept}))"
            lines[at : at + 1] = [
                (depth, f"{name} = randomized_response({kept}, {chance})", line),
                (depth, text.replace(whole, name), line),
            ]
        else:
            continue
        del lines[place]
    return lines


def _in_loop(lines: list[Line], place: int, at: int) -> bool:
    """True if a line stands in a loop that another before it does not stand in: it may run several times for one of the other."""
    for other in range(place + 1, at):
        depth, text, _ = lines[other]
        if text.startswith(("for ", "while ")) and all(one > depth for one, _, _ in lines[other + 1 : at + 1]):
            return True
    return False


_COIN: Final = re.compile(r"(noise__\d+) = bernoulli\((.*)\)$")


def _arms(lines: list[Line], at: int) -> tuple[str, str, str] | None:
    """What two arms of one line each have in common, and the truth value that the first keeps and the second turns."""
    depth = lines[at][0]
    if at + 3 >= len(lines) or lines[at + 2][:2] != (depth, "else:") or {lines[at + 1][0], lines[at + 3][0]} != {depth + 1}:
        return None
    if at + 4 < len(lines) and lines[at + 4][0] > depth:
        return None
    first, second = lines[at + 1][1], lines[at + 3][1]
    for prefix in (second.partition("(not ")[0], first.partition("(not ")[0]):
        for one, other in ((first, second), (second, first)):
            if not one.startswith(prefix) or not other.startswith(f"{prefix}(not "):
                continue
            # The same text, but for the brackets of `not`.
            rest = one[len(prefix) :]
            for size in range(len(rest), 0, -1):
                if other == f"{prefix}(not {rest[:size]}){rest[size:]}":
                    kept = rest[:size] if one is first else f"(not {rest[:size]})"
                    return prefix, kept, rest[size:]
    return None


def _inline(text: str, name: str) -> str | None:
    """The truth value that a conditional expression keeps or turns."""
    before, found, after = text.partition(f" if {name} else (not ")
    if not found:
        return None
    for size in range(1, len(after) + 1):
        kept = after[:size]
        if before.endswith(f"({kept}") and after[size:].startswith("))"):
            return kept
    return None


def _statement(lines: list[Line], place: int) -> list[Line]:
    """A statement with its blocks; an `if` with its `else`."""
    depth = lines[place][0]
    end = place + 1
    while end < len(lines) and (lines[end][0] > depth or (lines[end][0] == depth and lines[end][1] == "else:")):
        end += 1
    return lines[place:end]


def simplified(lines: list[Line]) -> list[Line]:
    """The lines of a program with draws as proofs want them."""
    return sunk(flipped(coins.answered(coins.coined(paired(lines)))))
