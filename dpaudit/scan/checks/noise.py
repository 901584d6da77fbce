"""How noise is drawn: floats, predictable generators, seeds, one draw for several numbers, draws that are folded or made again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from dpaudit.dotted_names import seeded_globally
from dpaudit.scan import calls
from dpaudit.scan import values as v
from dpaudit.scan.algebra import expand, names_in
from dpaudit.scan.reading import Cell
from dpaudit.scan.scopes import Module, is_privacy_noise, is_response
from dpaudit.scan.values import Addition, Called, Draw, Scope

Found = tuple[str, Cell, int, str]
"""A code, the cell, a line in it, and what is there."""

_GENERATORS: Final = {"numpy": "numpy", "scipy": "numpy, through scipy", "random": "the module random", "torch": "torch"}
_LAWS: Final = {
    "laplace": "Laplace",
    "gaussian": "Gaussian",
    "gumbel": "Gumbel",
    "inverse": "Laplace or exponential",
    "rate": "exponential",
}


def check(module: Module) -> Iterator[Found]:
    """Yield what is wrong with the way in which privacy noise is drawn."""
    for cell, _, draw in module.draws():
        if draw.source in {"helper", "library"}:
            continue
        law = _LAWS.get(draw.law, draw.law)
        if draw.source not in {"given", "jax"} and draw.law != "geometric":
            yield "DP101", cell, draw.line, f"{law} noise is drawn as a float."
        if draw.source in _GENERATORS:
            yield "DP102", cell, draw.line, f"{law} noise is drawn from the generator of {_GENERATORS[draw.source]}."
    yield from _seeds(module)
    yield from _responses(module)
    for cell, scope in module.scopes:
        yield from (
            (code, cell, line, text)
            for code, line, text in (*_reused(module, scope), *_folded(module, scope), *_redrawn(module, scope))
        )


def _seeds(module: Module) -> Iterator[Found]:
    """DP103: constants that seed a generator of which privacy noise is drawn."""
    used = {"numpy" if draw.source == "scipy" else draw.source for _, _, draw in module.draws()}
    for _, scope, draw in module.draws():
        if draw.seed is not None:
            cell = next(one for one, other in module.scopes if other is scope)
            yield "DP103", cell, draw.seed, f"Noise of line {cell.place(draw.line)} is drawn from a generator with a constant seed."
    if any(one.name.endswith(".make_private") or one.name.endswith(".make_private_with_epsilon") for one in _calls(module)):
        secure = any(names_in_keyword(one, "secure_mode") for one in _calls(module))
        used |= set() if secure or "opacus" not in module.source.text else {"torch"}
    for cell, scope in module.scopes:
        for one in scope.calls:
            seeded = seeded_globally(one.name)
            if seeded in used and one.node.args and _is_fixed(one.node.args[0], module, scope):
                yield "DP103", cell, one.line, f"The generator of {seeded}, which privacy noise is drawn from, has a constant seed."
            if one.private and calls.library_of(one.name) == "diffprivlib":
                for keyword in one.node.keywords:
                    if keyword.arg == "random_state" and _is_fixed(keyword.value, module, scope):
                        yield "DP103", cell, one.line, "A mechanism of diffprivlib is given a constant seed."


def _responses(module: Module) -> Iterator[Found]:
    """DP102, DP103: a randomised response from a predictable generator, or from one with a constant seed."""
    for cell, scope in module.scopes:
        for draw in scope.draws.values():
            if not is_response(draw, scope, private_file=module.is_private):
                continue
            if draw.source in _GENERATORS:
                yield "DP102", cell, draw.line, f"A response is drawn from the generator of {_GENERATORS[draw.source]}."
            if draw.seed is not None:
                text = f"The response of line {cell.place(draw.line)} is drawn from a generator with a constant seed."
                yield "DP103", cell, draw.seed, text


def names_in_keyword(call: Called, name: str) -> bool:
    """True if a call sets an option to true."""
    return any(one.arg == name and isinstance(one.value, ast.Constant) and bool(one.value.value) for one in call.node.keywords)


def _calls(module: Module) -> Iterator[Called]:
    """Yield every call of a file."""
    for _, scope in module.scopes:
        yield from scope.calls


def _is_fixed(node: ast.expr, module: Module, scope: Scope) -> bool:
    """True if a seed is an integer in the code, also by the name of a constant or as a default."""
    constants = {
        one.name: one.value.expr
        for _, other in module.scopes
        if other.name == "" or other is scope
        for one in other.assigned
        if isinstance(one.value.expr, ast.Constant) and one.name not in scope.parameters
    }
    defaults = {name: node for name, node in scope.parameters.items() if isinstance(node, ast.Constant)}
    found = expand(node, {**{name: one for name, one in constants.items() if one is not None}, **defaults})
    return isinstance(found, ast.Constant) and type(found.value) is int


def _privacy(module: Module, scope: Scope, addition: Addition) -> list[Draw]:
    """Return the draws of privacy noise in an addition."""
    draws = [scope.draws[key] for key in addition.noise.draws if key in scope.draws]
    return [one for one in draws if is_privacy_noise(one, scope, private_file=module.is_private)]


def _reused(module: Module, scope: Scope) -> Iterator[tuple[str, int, str]]:
    """DP104: a draw of one number that is added to several."""
    seen: dict[int, list[Addition]] = {}
    for addition in scope.additions:
        for draw in _privacy(module, scope, addition):
            if draw.several or draw.law == "unknown" or addition.node is draw.node:
                continue
            outer = [one for one in addition.loops if one not in draw.loops]
            if outer and (outer[-1].names & _text_names(addition) or addition.base.has(v.ELEMENT)):
                yield "DP104", addition.line, f"The noise of line {draw.line} is drawn once and added in each turn of a loop."
            elif addition.base.has(v.MANY) and not addition.noise.has(v.MANY):
                yield "DP104", addition.line, "One number of noise is added to an array."
            else:
                seen.setdefault(id(draw.node), []).append(addition)
    for additions in seen.values():
        others = {one.base_text: one for one in additions}
        if len(others) > 1 and len({one.line for one in others.values()}) > 1 and _names_differ(list(others)):
            yield "DP104", max(one.line for one in additions), "Noise that was added to one number already is added to another."


def _names_differ(texts: list[str]) -> bool:
    """True if bases are surely different things, not the two branches of one."""
    return all("Name(id='" in one or "Call(" in one for one in texts)


def _text_names(addition: Addition) -> frozenset[str]:
    """Return the names in the sum."""
    return frozenset(names_in(addition.node))


def _folded(module: Module, scope: Scope) -> Iterator[tuple[str, int, str]]:
    """DP305: noise whose sign or tails were cut before it was added."""
    for addition in scope.additions:
        if addition.noise.has(v.FOLDED) and _privacy(module, scope, addition):
            yield "DP305", addition.noise.line or addition.line, "The sign or the tails of noise are cut before it is added."


def _redrawn(module: Module, scope: Scope) -> Iterator[tuple[str, int, str]]:
    """DP305: a value that a loop draws again until it passes a test."""
    for one in scope.assigned:
        if one.name not in one.tests or not one.value.draws:
            continue
        loops = [loop for loop in one.loops if isinstance(loop.node, ast.While)]
        draws = [scope.draws[key] for key in one.value.draws if key in scope.draws]
        inside = [draw for draw in draws if any(loop in draw.loops for loop in loops)]
        if any(is_privacy_noise(draw, scope, private_file=module.is_private) for draw in inside):
            yield "DP305", one.line, "Noise is drawn again until the result passes the test of the loop."
    for addition in scope.additions:
        loop = addition.loops[-1].node if addition.loops else None
        if isinstance(loop, ast.While) and _ends_at_a_test(loop) and _privacy(module, scope, addition):
            yield "DP305", addition.line, "Noise is drawn again until the result passes a test."


def _ends_at_a_test(loop: ast.While) -> bool:
    """True for `while True` that assigns numbers, tests one against a constant, ends where that holds, and does nothing else."""
    if not isinstance(loop.test, ast.Constant) or not loop.test.value:
        return False
    tests = [one for one in loop.body if isinstance(one, ast.If)]
    assigned = {
        target.id for one in loop.body if isinstance(one, ast.Assign) for target in one.targets if isinstance(target, ast.Name)
    }
    if len(tests) != 1 or any(not isinstance(one, (ast.If, ast.Assign)) for one in loop.body) or tests[0].orelse:
        return False
    test, last = tests[0].test, tests[0].body[-1]
    return (
        isinstance(last, (ast.Return, ast.Break))
        and isinstance(test, ast.Compare)
        and isinstance(test.comparators[0], ast.Constant)
        and bool(assigned & set(names_in(test)))
    )
