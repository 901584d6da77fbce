"""Meanings: what is known of the result of a call that draws nothing, and of a value that is made of others."""

from __future__ import annotations

import ast
from dataclasses import replace

from dpaudit.scan import calls, names
from dpaudit.scan import values as v
from dpaudit.scan.values import Clip, Value

_KEPT = frozenset({v.DATA, v.EXTREME, v.SELECTED, v.MANY, v.KEYS, v.NOISY, v.LOCAL, v.CLIPPED, v.SUM, v.ELEMENT})
"""What a value that is made of another has too."""


_SIGNLESS = frozenset({"abs", "fabs", "absolute"})
_FOLDS = _SIGNLESS | {"maximum", "minimum"}
"""Calls that drop the sign of each number, or cut it."""


def of_parts(parts: list[Value]) -> Value:
    """Return what a value that is made of others has."""
    tags = frozenset(
        tag for one in parts for tag in one.tags if tag in _KEPT or tag in {v.NOISE, v.FOLDED, v.UNIFORM, v.COUNT, "mask"}
    )
    if v.NOISY in tags:
        tags = tags - {v.DATA, v.EXTREME, v.NOISE, v.COUNT}
    if v.SUM in tags and sum(v.COUNT in one.tags for one in parts) != len(parts):
        tags = tags - {v.COUNT}
    line = next((one.line for one in parts if one.line is not None and one.has(v.EXTREME, v.FOLDED)), None)
    return Value(tags, None, frozenset().union(*(one.draws for one in parts)) if parts else frozenset(), line)


def meaning(  # noqa: C901, PLR0911, PLR0912 - one case a kind of call
    node: ast.Call, last: str, owner: Value, arguments: list[Value], named: dict[str, Value], clips: list[Clip]
) -> Value:
    """Return what is known of the result of a call that draws nothing."""
    everything = [owner, *arguments, *named.values()]
    draws = frozenset().union(*(one.draws for one in everything))
    first = owner if owner.tags else (arguments[0] if arguments else Value())
    is_method = isinstance(node.func, ast.Attribute) and bool(owner.tags)
    if last in calls.CLIPS or last in calls.NORM_CLIPS:
        bounds = arguments if is_method else arguments[1:]
        keyed = [
            one for key, one in named.items() if key in {"min", "max", "lower", "upper", "a_min", "a_max", "max_norm", "min_val"}
        ]
        clips.append(Clip(node.lineno, first, (*bounds, *keyed)))
        if first.has(v.NOISE) and not first.has(v.NOISY):
            return replace(first, tags=first.tags | {v.FOLDED}, line=node.lineno)
        return replace(first, tags=(first.tags - {v.EXTREME}) | {v.CLIPPED}, expr=None)
    noise = next((one for one in (owner, *arguments) if one.has(v.NOISE) and not one.has(v.NOISY)), None)
    if noise is not None and (last in _FOLDS or (last in {"max", "min", "abs"} and not noise.has(v.MANY))):
        others = [one for one in arguments if one is not noise]
        if last in _SIGNLESS or (others and not any(one.has(v.NOISE, v.NOISY) for one in others)):
            return replace(noise, tags=noise.tags | {v.FOLDED}, line=node.lineno)
    if any(one.has(v.NOISY) for one in everything) or (draws and any(one.has(v.NOISE) for one in everything)):
        kind = v.NOISY if any(one.has(v.NOISY) for one in everything) else v.NOISE
        tags = {kind} | {tag for one in everything for tag in one.tags & {v.MANY, v.KEYS, v.CLIPPED, v.SUM, v.LOCAL, v.FOLDED}}
        return Value(frozenset(tags), None, draws)
    if last in {"read_csv", "read_parquet", "read_excel", "read_sql", "read_json", "read_table", "loadtxt", "load_dataset"}:
        return Value(frozenset({v.DATA, v.MANY}))
    data = any(one.has(v.DATA) for one in everything)
    if names.PRIVATE.search(last) and not is_method and last.lower() not in {"gaussian_filter", "laplacian"}:
        return Value(frozenset({v.NOISY}))
    if not data:
        grown = {v.MANY} if last in {"zeros", "ones", "array", "arange", "linspace"} else set()
        return Value(frozenset(grown), None) if last not in {"float", "int", "abs"} else first
    if last == "len" or (last == "count" and is_method and not arguments):
        return Value(frozenset({v.COUNT}) | (first.tags & {v.SELECTED}))
    if last in calls.EXTREMES and (is_method or len(arguments) == 1 or last not in {"max", "min"}) and first.has(v.DATA):
        return Value(frozenset({v.DATA, v.EXTREME}) | (first.tags & {v.SELECTED}), None)
    if last in calls.SUMS:
        mask = first.has("mask")
        kept = first.tags & {v.SELECTED, v.CLIPPED, v.KEYS, v.EXTREME}
        return Value(frozenset({v.DATA, v.SUM, *({v.COUNT, v.SELECTED} if mask else set())}) | kept, None)
    if last in calls.KEYED and not (last == "groupby" and not is_method):
        return Value(frozenset({v.DATA, v.KEYS, v.MANY}), None)
    if last == "set" and first.has(v.DATA):
        return Value(frozenset({v.DATA, v.KEYS, v.MANY}), None)
    if last in {"reindex", "merge", "join"}:
        return Value(first.tags - {v.KEYS}, None)
    if last in {"range", "print", "isinstance", "enumerate", "zip"}:
        return of_parts(arguments) if last in {"enumerate", "zip"} else Value()
    if last in calls.ARRAYS:
        return Value((first.tags & {v.DATA, v.KEYS}) | {v.MANY}, None)
    if is_method or last in {
        "list",
        "sorted",
        "array",
        "asarray",
        "float",
        "int",
        "round",
        "abs",
        "mean",
        "nanmean",
        "average",
        "log",
        "sqrt",
        "tuple",
    }:
        kept = first.tags & _KEPT
        if last not in calls.KEEP_MANY:
            kept = kept - {v.MANY}
        return Value(kept - ({v.ELEMENT} if last != "abs" else set()), None, line=first.line)
    return Value(frozenset({v.DATA}))
