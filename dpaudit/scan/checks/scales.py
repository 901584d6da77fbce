"""How much noise is drawn: epsilon and sensitivity in the scale, variances, delta, and scales or bounds that the data decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from dpaudit.scan import calls
from dpaudit.scan import values as v
from dpaudit.scan.algebra import calls_in, degree, names_in, number
from dpaudit.scan.checks.noise import Found
from dpaudit.scan.names import CLIP, DELTA, SENSITIVITY, SPREAD, is_epsilon
from dpaudit.scan.scopes import Module, is_privacy_noise
from dpaudit.scan.values import Called, Draw, Scope

_SIZES: Final = re.compile(
    r"^(n|N|num_?(samples|examples|records|rows|train|data\w*|points)|n_(samples|records|train|rows|examples)|dataset_size|data_size)$"
)
_DELTAS: Final = {"delta", "target_delta", "total_delta", "DELTA", "dp_delta", "TARGET_DELTA"}
_LARGE_DELTA: Final = 0.01
_BOUNDS: Final = {
    "bounds", "bounds_X", "bounds_y", "data_norm", "lower", "upper", "lower_bound", "upper_bound", "min_value", "max_value",
    "bound_min", "bound_max", "range", "centre",
}  # fmt: skip
_CAREFUL: Final = re.compile(r"smooth|propose|local_sens|inverse_sens", re.IGNORECASE)


def check(module: Module) -> Iterator[Found]:
    """Yield what is wrong with the amount of noise."""
    for cell, scope, draw in module.draws():
        yield from ((code, cell, draw.line, text) for code, text in _scale(draw, scope))
        if draw.scale_tags & {v.EXTREME} and not draw.scale_tags & {v.NOISY} and not _is_careful(scope):
            text = "The scale of the noise is computed from the largest, smallest or typical values of the data."
            yield "DP202", cell, draw.scale_line or draw.line, text
    for cell, scope in module.scopes:
        private = any(is_privacy_noise(one, scope, private_file=module.is_private) for one in scope.draws.values())
        library = any(one.private for one in scope.calls)
        yield from ((code, cell, line, text) for code, line, text in _bounds(scope, private=private or library))
        yield from ((code, cell, line, text) for code, line, text in _deltas(scope, private=private or library))
        yield from ((code, cell, line, text) for code, line, text in _late(module, scope))


def _is_careful(scope: Scope) -> bool:
    """True if a function says that it handles a sensitivity of the data at hand."""
    return bool(_CAREFUL.search(scope.name)) or any(_CAREFUL.search(one.name) for one in scope.calls)


def _scale(draw: Draw, scope: Scope) -> Iterator[tuple[str, str]]:
    """DP301, DP302, DP303: how epsilon, sensitivity and sigma enter a scale."""
    if draw.scale is None or draw.law not in {"laplace", "gaussian", "inverse"}:
        return
    power = degree(draw.scale, is_epsilon)
    if draw.law == "inverse":  # the logarithm of a uniform number, times the scale
        if power is not None and power > 0 and draw.source == "helper":
            yield "DP301", "The scale grows with epsilon; it has to be sensitivity / epsilon."
        return
    sensitivity = degree(draw.scale, lambda name: bool(SENSITIVITY.search(name)))
    spread = degree(draw.scale, lambda name: bool(SPREAD.match(name)))
    found = set(names_in(draw.scale))
    if power is not None and power > 0 and (draw.law == "laplace" or _is_budget(scope, found)):
        yield "DP301", "The scale grows with epsilon; it has to be sensitivity / epsilon."
    elif power is not None and sensitivity is not None and sensitivity < 0:
        yield "DP301", "The scale falls where the sensitivity grows; it has to be sensitivity / epsilon."
    elif power is not None and power <= -2 and draw.law == "laplace":
        yield "DP301", "The scale falls with a power of epsilon; it has to be sensitivity / epsilon."
    elif draw.law == "gaussian" and (spread == 2 or power == -2):
        yield "DP303", "A squared standard deviation is given as the standard deviation."
    elif draw.law == "gaussian" and power == -1 and _is_plain(draw.scale):
        yield "DP302", "Gaussian noise has the scale sensitivity / epsilon, in which delta has no part."


def _is_budget(scope: Scope, found: set[str]) -> bool:
    """True if what is called epsilon in a scale is surely the privacy parameter."""
    return any(one.lower() in {"epsilon", "dp_epsilon", "target_epsilon", "privacy_budget"} for one in found) or any(
        SENSITIVITY.search(one) for one in (*found, *scope.parameters)
    )


def _is_plain(scale: ast.expr) -> bool:
    """True if a scale has epsilon, sensitivities, clipping norms and numbers of records in it and nothing else."""
    if calls_in(scale) - {"float", "len", "abs"}:
        return False
    known = {"len", "float", "abs", "self", "args", "np", "numpy", "shape", "config"}
    others = {
        one for one in names_in(scale) if not (is_epsilon(one) or SENSITIVITY.search(one) or CLIP.search(one) or _SIZES.match(one))
    } - known
    return not others and not any(
        type(one.value) is float and one.value != int(one.value) for one in ast.walk(scale) if isinstance(one, ast.Constant)
    )


def _bounds(scope: Scope, *, private: bool) -> Iterator[tuple[str, int, str]]:
    """DP201: bounds of a clip, or of a call of a library, that were computed from the data."""
    if not private or _is_careful(scope):
        return
    for clip in scope.clips:
        if clip.value.has(v.DATA) and any(one.has(v.EXTREME) and not one.has(v.NOISY) for one in clip.bounds):
            yield "DP201", clip.line, "Values are clipped to bounds that were computed from the data."
    for call in scope.calls:
        if not call.private or not _is_mechanism(call):
            continue
        moved = [key for key, one in call.named.items() if key in _BOUNDS and one.has(v.EXTREME) and not one.has(v.NOISY)]
        if moved:
            yield "DP201", call.line, f"{moved[0]} is computed from the data."
        if any(SENSITIVITY.search(key) and one.has(v.EXTREME) for key, one in call.named.items()):
            yield (
                "DP202",
                call.named[next(key for key in call.named if SENSITIVITY.search(key))].line or call.line,
                ("The sensitivity is computed from the largest, smallest or typical values of the data."),
            )


def _is_mechanism(call: Called) -> bool:
    """True if a call of a library is one that takes bounds."""
    return (bool(call.named) and calls.library_of(call.name) not in {"opacus", None}) or call.name.startswith(("dp.", "."))


def _deltas(scope: Scope, *, private: bool) -> Iterator[tuple[str, int, str]]:
    """DP304: a delta that is one in n, or far too large for any n."""
    if private:
        for one in scope.assigned:
            if one.name.rsplit(".", 1)[-1] in _DELTAS and (text := _delta(one.value.expr)):
                yield "DP304", one.line, text
    for call in scope.calls:
        if call.private or any(is_epsilon(key) for key in call.named):
            for keyword in call.node.keywords:
                if keyword.arg in _DELTAS and not isinstance(keyword.value, ast.Name) and (text := _delta(keyword.value)):
                    yield "DP304", call.line, text


def _delta(node: ast.expr | None) -> str:
    """Say what is wrong with a delta; "" for nothing."""
    if node is None:
        return ""
    value = number(node)
    if value is not None:
        return f"delta = {float(value):g} is at least 1/n for 100 records and more." if _LARGE_DELTA <= value < 1 else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and number(node.left) == 1:
        below = node.right
        if isinstance(below, ast.Call) and below.args and calls_in(below) & {"sqrt"} and _is_size(below.args[0]):
            return "delta is larger than one in n."
        return "delta is one in n." if _is_size(below) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and number(node.right) == -1 and _is_size(node.left):
        return "delta is one in n."
    return ""


def _is_size(node: ast.expr) -> bool:
    """True if an expression is a number of records."""
    if isinstance(node, ast.Call):
        return (
            isinstance(node.func, ast.Name)
            and node.func.id in {"len", "float", "int"}
            and not (node.func.id != "len" and not _is_size(node.args[0] if node.args else node.func))
        )
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and number(node.slice) == 0
    return bool(_SIZES.match(node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""))


def _late(module: Module, scope: Scope) -> Iterator[tuple[str, int, str]]:
    """DP203: the bounds in the scale of the noise are applied to what was noised, and were not before."""
    if any(one.value.has(v.DATA) and not one.value.has(v.NOISY) for one in scope.clips):
        return
    scales = [
        one
        for one in scope.draws.values()
        if is_privacy_noise(one, scope, private_file=module.is_private) and one.scale is not None
    ]
    inside = {
        ast.dump(node)
        for one in scales
        for node in ast.walk(one.scale or one.node)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Constant))
    }
    for clip in scope.clips:
        if not clip.value.has(v.NOISY) or clip.value.has(v.CLIPPED) or not clip.value.draws:
            continue
        bounds = [one.expr for one in clip.bounds if one.expr is not None and number(one.expr) not in {0, 1}]
        if any(ast.dump(one) in inside for one in bounds) and not any(
            DELTA.match(name) for one in bounds for name in names_in(one)
        ):
            yield (
                "DP203",
                clip.line,
                "The bound that the noise is scaled for is applied after the noise was added, and nowhere before.",
            )
