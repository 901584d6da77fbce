"""Expressions of ordinary Python: each becomes a value, and what it draws or sums is written before it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpaudit.exact import rational
from dpaudit.verifier.ordinary import draws, lookups, numbers, sequences, shapes
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, is_bound
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Fixed,
    Function,
    Method,
    Module,
    Noises,
    Nothing,
    Opaque,
    Record,
    Scalar,
    Sequence,
    Table,
    Uniform,
    Value,
)


def _literal(state: State, node: ast.Constant) -> Value:
    """A literal; decimals are real numbers, exactly as written."""
    if node.value is None:
        return Nothing()
    if type(node.value) is float:
        if node.value != node.value or node.value in (float("inf"), -float("inf")):
            raise refuse(node, "an infinite number", "write a finite bound", "DPA703")
        state.real("decimal numbers")
        return numbers.constant(state, rational(repr(node.value)))
    if type(node.value) in (int, bool, str):
        return numbers.constant(state, node.value)
    raise refuse(node, f"a literal of type {type(node.value).__name__}", "write a number, a truth value or a text", "DPA703")


def _name(state: State, node: ast.Name) -> Value:
    """A name."""
    found = state.scope.find(node.id)
    if found is None and node.id in ("int", "float", "bool", "str") and not is_bound(state.scope, node.id):
        return Module(f"builtins.{node.id}")
    if found is None:
        raise refuse(node, f"the name {node.id}", "it has no value here that the verifier knows", "DPA702")
    return found


def _unary(state: State, node: ast.UnaryOp) -> Value:
    """Minus, plus and not."""
    found = state.value(node.operand)
    if isinstance(found, Opaque):
        if isinstance(node.op, ast.Not):
            return numbers.opaque(state, node, "not", found, sort="number")
        return shapes.computed(state, node, "unary", found)
    if isinstance(node.op, ast.Not):
        test = sequences.truth(state, node.operand, found)
        return Scalar(f"(not {test.code})", "bool", not test.known if test.is_known else UNKNOWN)
    if isinstance(node.op, ast.Invert):
        if isinstance(found, Scalar):
            raise refuse(node, "~ of one value", "write `not`", "DPA703")
        return sequences.elementwise(state, node, [found], lambda one: _negated(state, node, one))
    if isinstance(node.op, ast.UAdd):
        return numbers.number(state, node, numbers.as_scalar(state, node, found))
    return sequences.elementwise(state, node, [found], lambda one: _minus(state, node, one))


def _negated(state: State, node: ast.AST, one: Scalar) -> Scalar:
    """`~` of a mask."""
    if one.kind != "bool":
        raise refuse(node, "~ of numbers", "use it on masks only", "DPA703")
    return Scalar(f"(not {one.code})", "bool")


def _minus(state: State, node: ast.AST, one: Scalar) -> Scalar:
    """The negative of a number."""
    one = numbers.number(state, node, one)
    if one.is_known:
        return numbers.constant(state, -one.known)
    return Scalar(f"(-{one.code})", one.kind, loose=("?",) if one.loose else ())


def _binary(state: State, node: ast.BinOp) -> Value:
    """Arithmetic, on numbers, arrays, and lists that are joined."""
    left = state.value(node.left)
    if isinstance(left, Scalar) and isinstance(node.op, (ast.Add, ast.Sub)) and "/" in left.code and not left.noisy:
        # What noise is added to has a name: the search for a shift looks at it by itself.
        left = state.held(node, left)
    right = state.value(node.right)
    return binary(state, node, node.op, left, right)


def binary(state: State, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """An operation on two values."""
    left, right = (sequences.settle(state, node, one) if getattr(one, "shape", "") == "pending" else one for one in (left, right))
    for one, other, first in ((left, right, True), (right, left, False)):
        if isinstance(one, Noises):
            return sequences.with_noise(
                state,
                node,
                other,
                one,
                _ordered(state, node, op, first=first),
            )
    if isinstance(left, Fixed) and isinstance(right, Fixed) and "array" not in (left.shape, right.shape):
        if isinstance(op, ast.Add) and left.shape == right.shape:
            return Fixed(left.items + right.items, left.shape)
        raise refuse(node, "this operation on lists", "use a comprehension or np.array")
    if isinstance(left, Fixed) and left.shape != "array" and isinstance(right, Scalar):
        times = numbers.whole(state, node, right, "as a number of copies")
        if isinstance(op, ast.Mult) and times.is_known and 0 <= times.known <= sequences.MOST_UNROLLED:
            return Fixed(left.items * times.known, left.shape)
        raise refuse(node, "this operation on a list", "write the list out, or use a loop")
    if isinstance(op, (ast.BitAnd, ast.BitOr)):
        word = "and" if isinstance(op, ast.BitAnd) else "or"
        return sequences.elementwise(state, node, [left, right], lambda a, b: _both(node, word, a, b))
    if Opaque in (type(left), type(right)):
        name = type(op).__name__
        if isinstance(op, ast.Add) and numbers.sort_of(left) == numbers.sort_of(right) == "text":
            return numbers.opaque(state, node, name, left, right, sort="text")
        return shapes.computed(state, node, name, left, right, total=isinstance(op, (ast.Add, ast.Sub, ast.Mult)))
    return sequences.elementwise(state, node, [left, right], lambda a, b: numbers.arithmetic(state, node, op, a, b))


def _ordered(state: State, node: ast.AST, op: ast.operator, *, first: bool) -> Callable[[Scalar, Scalar], Scalar]:
    """An operation on a value and noise, in the order of the source."""
    return lambda one, noise: numbers.arithmetic(state, node, op, *((noise, one) if first else (one, noise)))


def _both(node: ast.AST, word: str, left: Scalar, right: Scalar) -> Scalar:
    """`&` and `|` of truth values."""
    if left.kind != "bool" or right.kind != "bool":
        raise refuse(node, "& or | of numbers", "use `and`, `or`, or masks", "DPA703")
    return Scalar(f"({left.code} {word} {right.code})", "bool")


def _compare(state: State, node: ast.Compare) -> Value:
    """Comparisons and membership."""
    for part in node.comparators[1:]:
        if _writes(state, part):
            raise refuse(part, "a draw or sum in a chained comparison", "compute it on a line before", "DPA706")
    operands = [state.value(part) for part in (node.left, *node.comparators)]
    links = [compared(state, node, op, *pair) for op, pair in zip(node.ops, pairwise(operands), strict=True)]
    if len(links) == 1:
        return links[0]
    if any(isinstance(link, Opaque) for link in links):
        return numbers.opaque(state, node, "chain", *links)
    return numbers.connected(node, "and", [numbers.as_scalar(state, node, link) for link in links])


def compared(state: State, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        if not (isinstance(left, Nothing) or isinstance(right, Nothing)):
            raise refuse(node, "`is`", "compare with ==")
        same = isinstance(left, Nothing) and isinstance(right, Nothing)
        return numbers.constant(state, same is isinstance(op, ast.Is))
    if isinstance(op, (ast.In, ast.NotIn)):
        return _member(state, node, op, left, right)
    if Opaque in (type(left), type(right)):
        if isinstance(op, (ast.Eq, ast.NotEq)) and all(isinstance(one, (Scalar, Opaque)) for one in (left, right)):
            return numbers.opaque(state, node, type(op).__name__, left, right, sort="number")
        return shapes.computed(state, node, type(op).__name__, left, right)
    if Uniform in (type(left), type(right)):
        less = isinstance(op, (ast.Lt, ast.LtE))
        if not (less or isinstance(op, (ast.Gt, ast.GtE))) or type(left) is type(right):
            raise teach(node, "noise by hand", "this comparison of a uniform number")
        first = isinstance(left, Uniform)
        return draws.coin(state, node, numbers.as_scalar(state, node, right if first else left), less=less is first)
    if Nothing in (type(left), type(right)):
        raise refuse(node, "a comparison with None", "use `is None`")
    return sequences.elementwise(state, node, [left, right], lambda a, b: numbers.link(state, node, op, a, b))


def _member(state: State, node: ast.AST, op: ast.In | ast.NotIn, left: Value, right: Value) -> Value:
    """`in` a collection that the source writes out."""
    one = numbers.as_scalar(state, node, left)
    if isinstance(right, Table):
        items: list[Value] = [numbers.constant(state, key) for key in right.cells]
    elif isinstance(right, Fixed):
        items = list(right.items)
    elif isinstance(right, Sequence) and right.base.at is None and isinstance(right.base, sequences.Range):
        span = right.base
        assert span.start is not None  # noqa: S101 - for the type checker: ranges have ends
        assert span.stop is not None  # noqa: S101 - as before
        one = numbers.whole(state, node, one, "in a range")
        if span.step != 1:
            raise refuse(node, "`in` of a range with a step", "compare with its ends")
        inside = Scalar(f"({span.start.code} <= {one.code} and {one.code} < {span.stop.code})", "bool")
        return inside if isinstance(op, ast.In) else Scalar(f"(not {inside.code})", "bool")
    else:
        raise refuse(node, "`in` of something that the source does not write out", "list the values: `x in (1, 2, 3)`")
    links = [numbers.link(state, node, ast.Eq(), one, numbers.as_scalar(state, node, item)) for item in items]
    found = numbers.connected(node, "or", links) if links else numbers.constant(state, known=False)
    return (
        found if isinstance(op, ast.In) else Scalar(f"(not {found.code})", "bool", not found.known if found.is_known else UNKNOWN)
    )


def _connective(state: State, node: ast.BoolOp) -> Value:
    """`and` and `or` of conditions; what only some runs evaluate must draw nothing."""
    word = "and" if isinstance(node.op, ast.And) else "or"
    match node:
        case ast.BoolOp(op=ast.Or(), values=[ast.Name() as first, second]) if isinstance(state.value(first), Nothing):
            return state.value(second)
    parts: list[Scalar] = []
    for place, part in enumerate(node.values):
        if place and _writes(state, part):
            raise refuse(part, f"a draw or sum after `{word}`", "compute it on a line before", "DPA706")
        found = state.value(part)
        if not isinstance(found, Scalar) or found.kind != "bool":
            if isinstance(found, Scalar):
                state.assume(found.origin, "bool", f"`{word}`")
            raise refuse(part, f"`{ast.unparse(part)}` beside `{word}`", "compare it, for instance with `!= 0`", "DPA703")
        parts.append(found)
    return numbers.connected(node, word, parts)


def _writes(state: State, node: ast.expr) -> bool:
    """True if an expression needs statements before it."""

    def write() -> None:
        state.value(node)

    return bool(state.tried(write)[0])


def _conditional(state: State, node: ast.IfExp) -> Value:
    """A conditional expression."""
    found = state.value(node.test)
    if isinstance(found, Opaque):
        if _writes(state, node.body) or _writes(state, node.orelse):
            raise refuse(node, "a draw or sum under a rounded or formatted value", "compute it on a line before", "DPA706")
        return numbers.opaque(state, node, "choice", found, state.value(node.body), state.value(node.orelse))
    test = sequences.truth(state, node.test, found)
    if test.is_known:
        return state.value(node.body if test.known else node.orelse)
    if _writes(state, node.body) or _writes(state, node.orelse):
        return _chosen_by_statement(state, node, test)
    return chosen(state, node, test, state.value(node.body), state.value(node.orelse))


def _chosen_by_statement(state: State, node: ast.IfExp, test: Scalar) -> Value:
    """A conditional expression whose branches draw: a statement."""
    name = state.fresh("chosen")
    for head, part in ((f"if {test.code}:", node.body), ("else:", node.orelse)):
        with sequences.branch(state, head):
            state.store(part, name, numbers.scalar(state, part))
    return state.variable(name)


def chosen(state: State, node: ast.AST, test: Scalar, then: Value, otherwise: Value) -> Value:
    """One of two values."""
    if Opaque in (type(then), type(otherwise)):
        return numbers.opaque(state, node, "choice", test, then, otherwise)
    if not (isinstance(then, Scalar) and isinstance(otherwise, Scalar)):
        raise refuse(node, "a choice between values that are no numbers", "choose each number", "DPA703")
    loose = numbers.either(then, otherwise, test.code)
    then, otherwise = numbers.same_kind(state, node, then, otherwise)
    noisy = then.noisy or otherwise.noisy
    return Scalar(f"({then.code} if {test.code} else {otherwise.code})", then.kind, noisy=noisy, loose=loose)


def _text(state: State, node: ast.JoinedStr) -> Value:
    """An f-string: a function of the values in it."""
    parts = [part for part in node.values if isinstance(part, ast.FormattedValue)]
    if any(not isinstance(piece, ast.Constant) for part in parts for piece in getattr(part.format_spec, "values", [])):
        raise refuse(node, "a computed format", "write the format out")
    found = [state.value(part.value) for part in parts]
    return _formatted(state, node, parts, found)


def _formatted(state: State, node: ast.AST, parts: list[ast.FormattedValue], found: list[Value]) -> Value:
    """The text of an f-string; a format that may not fit what is formatted is an error that shows it."""
    spec = any(part.format_spec is not None for part in parts)
    made = numbers.opaque(state, node, "text", *found, sort="text", lossy=spec)
    if spec and any(
        part.format_spec is not None and numbers.sort_of(one) != "number" for part, one in zip(parts, found, strict=True)
    ):
        shapes.show(state, node, made)
    return made


def _items(shape: str) -> Callable[[State, Any], Value]:
    """The reader of a list, tuple or set that is written out."""

    def read(state: State, node: ast.List | ast.Tuple | ast.Set) -> Value:
        found: list[Value] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                inner = state.value(item.value)
                if not isinstance(inner, Fixed):
                    raise refuse(item, "* of something whose length is not written out", "write the items out")
                found += inner.items
            else:
                found.append(state.held(item, state.value(item)))
        place = (node.lineno, node.col_offset)
        if shape == "list" and place in state.learned.grown:
            return sequences.grown(state, node, found)
        return Fixed(tuple(found), shape, place, (state.depth, state.loops), state.frames[-1])

    return read


def _dictionary(state: State, node: ast.Dict) -> Value:
    """A dictionary that is written out."""
    table = Table({}, (state.depth, state.loops), state.frames[-1])
    given = [None if key is None else numbers.scalar(state, key, "as a key") for key in node.keys]
    if len({one.known for one in given if one is not None}) < len(given):
        raise refuse(node, "a dictionary that names a key twice", "name each key once")
    for key, part in zip(node.keys, node.values, strict=True):
        if key is None:
            raise refuse(node, "** in a dictionary", "write its keys out")
        name = numbers.scalar(state, key, "as a key")
        if not name.is_known or isinstance(name.known, Fraction):
            raise refuse(key, "a key that is no constant text or whole number", "write it out", "DPA706")
        found = state.value(part)
        table.cells[name.known] = sequences.cell(state, part, found)
    return table


def _subscript(state: State, node: ast.Subscript) -> Value:
    """An element, a part of a row, an entry of a dictionary, or a slice of what is written out."""
    owner = state.value(node.value)
    if isinstance(node.slice, ast.Slice):
        return lookups.sliced(state, node, owner, [None if p is None else numbers.scalar(state, p) for p in _ends(node.slice)])
    if isinstance(owner, Record):
        key = numbers.scalar(state, node.slice)
        return _part(state, node, owner, key)
    if isinstance(owner, Scalar) and owner.origin and owner.origin.endswith("[]"):
        # An element of records of no declared type that has parts.
        state.assume(owner.origin, "row", "a part that is read")
    index = state.value(node.slice)
    if isinstance(index, Sequence) or (isinstance(index, Fixed) and isinstance(owner, Fixed)):
        return lookups.masked(state, node, owner, index)
    return lookups.item(state, node, owner, numbers.as_scalar(state, node.slice, index, "as an index"))


def _ends(node: ast.Slice) -> list[ast.expr | None]:
    """The parts of a slice."""
    return [node.lower, node.upper, node.step]


def _part(state: State, node: ast.AST, owner: Record, key: Scalar) -> Value:
    """A part of a row by its name or place."""
    names = list(owner.parts)
    if key.is_known and type(key.known) is int and owner.missing is not None:
        return owner.missing(str(key.known), node)
    if key.is_known and type(key.known) is int and (owner.owner is None or owner.owner.ordered) and 0 <= key.known < len(names):
        return owner.parts[names[key.known]]
    if key.is_known and isinstance(key.known, str) and owner.owner is None:
        if key.known in owner.parts:
            return owner.parts[key.known]
        if owner.missing is not None:
            return owner.missing(key.known, node)
    raise refuse(node, "this part of a row", "name one of its fields, as a constant", "DPA705")


def _attribute(state: State, node: ast.Attribute) -> Value:
    """A part of a record, something in a module, or a method."""
    owner = state.value(node.value)
    if isinstance(owner, Module):
        return Module(f"{owner.name}.{node.attr}")
    if isinstance(owner, Record):
        if node.attr in owner.parts:
            return owner.parts[node.attr]
        if owner.owner is not None:
            for part in owner.owner.tree.body:
                if isinstance(part, ast.FunctionDef) and part.name == node.attr:
                    plain = [d for d in part.decorator_list if isinstance(d, ast.Name) and d.id == "property"]
                    if len(plain) != len(part.decorator_list):
                        raise refuse(part, "a decorated method", "write a plain method")
                    method = Function(part, owner.owner.scope, owner)
                    return state.call(state, node, method, [], {}) if plain else method
        if owner.missing is not None:
            return owner.missing(node.attr, node)
        raise refuse(node, f"the attribute {node.attr}", "use a field that is declared", "DPA705")
    if node.attr in ("shape", "size") and isinstance(owner, (Fixed, Sequence)):
        length = sequences.length(state, node, owner)
        return length if node.attr == "size" else Fixed((length,), "tuple")
    if isinstance(owner, Scalar) and owner.origin is not None and owner.kind == "real":
        # A parameter of no declared type: an attribute that only generators have says what it is.
        if owner.origin.endswith("[]"):
            state.assume(owner.origin, "row", f"the attribute {node.attr}")
        elif node.attr in GENERATOR_METHODS:
            state.assume(owner.origin, "rng", f"its method {node.attr}")
        elif node.attr in ARRAY_METHODS:
            state.assume(owner.origin, "list", f"its method {node.attr}")
    return Method(owner, node.attr)


GENERATOR_METHODS: Final = (
    "laplace",
    "normal",
    "exponential",
    "geometric",
    "standard_normal",
    "gauss",
    "integers",
    "gumbel",
    "expovariate",
)
ARRAY_METHODS: Final = ("sum", "mean", "max", "min", "clip", "tolist", "count", "std", "var", "items", "append", "copy", "astype")


def _lambda(state: State, node: ast.Lambda) -> Value:
    """A function in an expression."""
    return Function(node, state.scope)


READERS: Final[Mapping[type[ast.expr], Callable[[State, Any], Value]]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.BoolOp: _connective,
    ast.Compare: _compare,
    ast.Constant: _literal,
    ast.Dict: _dictionary,
    ast.IfExp: _conditional,
    ast.JoinedStr: _text,
    ast.Lambda: _lambda,
    ast.List: _items("list"),
    ast.Name: _name,
    ast.Subscript: _subscript,
    ast.Tuple: _items("tuple"),
    ast.UnaryOp: _unary,
}
