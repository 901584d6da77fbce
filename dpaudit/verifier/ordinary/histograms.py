"""Histograms of numpy with public edges, and numbers at one distance."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dpaudit.verifier.ordinary import arrays, iterating, numbers
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Items, Ref, Scalar, Sequence, Tuple, Value

Args = list[Value]
Named = dict[str, Value]


def _histogram(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.histogram` with public edges: the last bin is closed, values outside are dropped."""
    parts = given(node, args, named, "a", "bins", "range?")
    found, edges = arrays.held_by(state, node, parts["a"]), _edges(state, node, parts)
    if len(edges) < 2 or not all(edge.is_known for edge in edges) or any(a.known >= b.known for a, b in pairwise(edges)):
        raise refuse(node, "edges that are no growing constants", "write them out in order", "DPA706")
    if isinstance(found, Items) or found.once:
        raise refuse(node, "a histogram of noise or of values that are written out", "count them", "DPA706")
    counts: list[Value] = []
    for low, high in pairwise(edges):
        last = ast.LtE() if high is edges[-1] else ast.Lt()

        def inside(one: Value, low: Scalar = low, high: Scalar = high, last: ast.cmpop = last) -> tuple[None, Value]:
            value = numbers.number(state, node, one)
            ends = [numbers.compared(state, node, ast.LtE(), low, value), numbers.compared(state, node, last, value, high)]
            return None, replace(numbers.connected("and", ends), types=numbers.BOOL)

        bin_count = arrays.fold(state, node, iterating.over(state, node, found, inside), numbers.constant(state, 0))
        counts.append(replace(bin_count, types=arrays.WHOLE, bits=numbers.DATA_BITS))
    bins = parts["bins"]
    held = state.object(bins) if isinstance(bins, Ref) else None
    # Edges that are an array are given back themselves.
    own = bins if isinstance(held, Items) and held.form == "array" else state.new(Items(tuple(edges), "array"))
    return Tuple((state.new(Items(tuple(counts), "array")), own))


def _bincount(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.bincount` of a list of whole numbers, each of which is owed to be below `minlength`: a larger one would show itself."""
    parts = given(node, args, named, "x", "minlength")
    found, size = parts["x"], parts["minlength"]
    held = state.object(found) if isinstance(found, Ref) else None
    # An empty array of floats is refused by numpy, an empty list is not.
    plain = (
        isinstance(held, Sequence) and held.form == "list" and isinstance(held.value, Scalar) and held.value.types == numbers.INT
    )
    if not (isinstance(held, Sequence) and plain and not held.once):
        raise refuse(node, f"`{ast.unparse(node)}`", "count a list[int], or write `sum(x == b for x in data)` for each b", "DPA706")
    if not (isinstance(size, Scalar) and type(size.known) is int and 0 < size.known <= iterating.MOST_UNROLLED):
        raise refuse(node, f"`{ast.unparse(node)}` without a known number of bins", "write minlength= as a constant", "DPA706")
    counts: list[Value] = []
    for place in range(size.known):

        def inside(one: Value, place: int = place) -> tuple[None, Value]:
            value = numbers.whole(state, node, one, "to count")
            if place == 0:
                state.owe(f"0 <= {value.code} and {value.code} < {size.known}")
            return None, numbers.compared(state, node, ast.Eq(), value, numbers.constant(state, place))

        made = arrays.fold(state, node, iterating.over(state, node, held, inside), numbers.constant(state, 0))
        counts.append(replace(made, types=arrays.WHOLE, bits=numbers.DATA_BITS))
    return state.new(Items(tuple(counts), "array"))


def _edges(state: State, node: ast.AST, parts: Named) -> list[Scalar]:
    """The edges of a histogram."""
    bins, ends = parts["bins"], parts.get("range")
    if isinstance(bins, Scalar) and type(bins.known) is int and isinstance(ends, Tuple) and len(ends.items) == 2:
        low, high = (numbers.number(state, node, one) for one in ends.items)
        if low.is_known and high.is_known and low.known < high.known and 0 < bins.known <= iterating.MOST_UNROLLED:
            state.real("edges computed by numpy")
            step = (Fraction(high.known) - low.known) / bins.known
            return even(state, Fraction(low.known), step, bins.known + 1)
    if isinstance(bins, (Ref, Tuple)) and ends is None:
        held = arrays.held_by(state, node, bins)
        if isinstance(held, Items):
            return [numbers.number(state, node, one) for one in arrays.alike(state, node, held.items)]
    raise refuse(node, "a histogram whose edges come from the data", "write `bins=[...]` with public edges", "DPA706")


def even(state: State, low: Fraction, step: Fraction, count: int) -> list[Scalar]:
    """Numbers at one distance, of which floats compute those between the ends otherwise."""
    made = [numbers.constant(state, low + step * place, arrays.FLOAT) for place in range(count)]
    return [replace(one, bits=numbers.INEXACT) if 0 < place < count - 1 else one for place, one in enumerate(made)]


def fill() -> None:
    """Enter the functions of this module."""
    Sources.MODULES.update({"numpy.histogram": _histogram, "numpy.bincount": _bincount})
