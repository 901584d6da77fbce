"""Expressions, evaluated as CPython does: from left to right, and operands only where they are reached."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dpaudit.spec import LAWS
from dpaudit.verifier.ordinary import (
    arrays,
    comparing,
    exponentials,
    formats,
    iterating,
    kinds,
    numbers,
    occurring,
    quantiles,
    subscripts,
    tables,
    texts,
)
from dpaudit.verifier.ordinary.attributes import attribute
from dpaudit.verifier.ordinary.calls import Sources, call, function_of
from dpaudit.verifier.ordinary.reaching import constant_number
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.signatures import is_method, refuse_unhashable
from dpaudit.verifier.ordinary.state import State, frame_of
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Dictionary,
    Entry,
    Infinity,
    Items,
    Iterator,
    Method,
    Nothing,
    Opaque,
    Poison,
    Ref,
    Scalar,
    Sequence,
    Short,
    Spent,
    Tuple,
    Value,
)


def value_of(state: State, node: ast.expr) -> Value:
    """The value of an expression."""
    state.step(node)
    read = _READERS.get(type(node))
    if read is None:
        raise refuse(node, f"`{ast.unparse(node)}`", "write it with numbers, lists, loops and calls that the verifier reads")
    found = read(state, node)
    if isinstance(found, Poison) and not state.dead:
        # Nothing may look at it: `is None` would take it for something else.
        raise refuse(node, f"`{ast.unparse(node)}`, {found.why},", "give it one kind of value on every way", "DPA705")
    return found


# Names.


def _name(state: State, node: ast.Name) -> Value:
    """What a name means: in the function, in those around it, in the file, in Python."""
    name, address = node.id, state.frame
    if name == "__name__":
        # A text that no data decide; which one it is depends on how the file is run.
        return Opaque(name, (), "text")
    if name.startswith("__"):
        raise refuse(node, f"the name {name}", "leave it out")
    while True:
        frame = frame_of(state, address)
        if name in frame.known or name in frame.names or frame.outer is None:
            break
        address = frame.outer
    if name in frame.names:
        found = frame.names[name]
        if isinstance(found, Poison):
            raise refuse(node, f"{name}, {found.why},", "give it one kind of value on every way", "DPA705")
        return found
    if frame.outer is not None or name in frame.known:
        raise refuse(node, f"{name}, which may have no value here", "assign to it before", "DPA704")
    return _of_python(state, node)


def _of_python(state: State, node: ast.Name) -> Value:
    """A name that the file does not bind."""
    name = node.id
    if name in Sources.PYTHON:
        return Builtin(name)
    if name in LAWS or name == "Fraction":
        # A text of this library: elsewhere the name has no meaning, which every run shows alike, or none.
        if state.is_always():
            state.met.add(name)
        if state.private_tests and name not in state.met and not (name == "Fraction" and state.annotated):
            raise refuse(node, f"{name}, which the file does not import", "import it", "DPA702")
        return Builtin(f"law.{name}" if name in LAWS else "fractions.Fraction")
    raise refuse(node, f"the name {name}, which means nothing that the verifier reads", "define it in the file", "DPA702")


def _named(state: State, node: ast.NamedExpr) -> Value:
    """`name := value` in a function, where it is evaluated."""
    frame = frame_of(state, state.frame)
    if frame.outer is None or node.target.id not in frame.known:
        # In a comprehension it would bind a name of the function around.
        raise refuse(node, f"`{ast.unparse(node)}` here", "assign on a line before")
    found = value_of(state, node.value)
    state.bind(node.target, found)
    return found


# Literals.


def _constant(state: State, node: ast.Constant) -> Value:
    """A literal."""
    match node.value:
        case None:
            return Nothing()
        case bool() | int() | str():
            return numbers.constant(state, node.value)
        case float() as value if value == value and abs(value) < float("inf"):  # noqa: PLR0124 - not NaN
            state.real("floats")
            return numbers.constant(state, constant_number(value))
    raise refuse(node, f"the literal {ast.unparse(node)}", "use numbers, texts, True, False and None", "DPA703")


def _tuple(state: State, node: ast.Tuple) -> Value:
    """A tuple."""
    return Tuple(_plain(state, node.elts))


def _plain(state: State, nodes: list[ast.expr]) -> tuple[Value, ...]:
    """Elements that are written out."""
    found: list[Value] = []
    for one in nodes:
        if not isinstance(one, ast.Starred):
            found.append(quantiles.settled(state, one, value_of(state, one)))
            continue
        items = iterating.drained(state, one, value_of(state, one.value))
        if isinstance(items, Sequence) or any(guard is not None for guard, _ in items):
            raise refuse(one, f"`{ast.unparse(one)}`", "write the elements out")
        found += [value for _, value in items]
    return tuple(found)


def _list(state: State, node: ast.List) -> Value:
    """A list."""
    return state.new(Items(_plain(state, node.elts)))


def _set(state: State, node: ast.Set) -> Value:
    """A set, in which values are looked for."""
    items = _plain(state, node.elts)
    refuse_unhashable(state, node, items)
    return state.new(Items(items, "set"))


def _dict(state: State, node: ast.Dict) -> Value:
    """A dictionary whose keys are constants."""
    entries: dict[Any, Value] = {}
    for key, one in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = value_of(state, one)
            held = state.object(inner) if isinstance(inner, Ref) else None
            if not isinstance(held, Dictionary):
                raise refuse(node, "`**` in a dictionary", "write its entries out")
            entries |= dict(held.entries)
            continue
        name = subscripts.key_of(state, key, value_of(state, key))
        entries[name] = value_of(state, one)
    return state.new(Dictionary(tuple(entries.items())))


# Operators.


def _unary(state: State, node: ast.UnaryOp) -> Value:
    """Minus, plus, not."""
    if isinstance(node.op, ast.Not):
        turned = numbers.negated(truth(state, node.operand, value_of(state, node.operand)))
        return replace(turned, types=numbers.BOOL, tests=())
    found = value_of(state, node.operand)
    if isinstance(node.op, ast.Invert):
        return arrays.inverted(state, node, found)
    if arrays.is_array(state, found):
        minus = isinstance(node.op, ast.USub)
        signed = partial(numbers.negative, state, node) if minus else partial(numbers.number, state, node)
        return arrays.elementwise(state, node, [found], signed, further=())
    if isinstance(found, Opaque):
        return texts.opaque(state, node, texts.firm_number(state, node, found))
    if isinstance(found, Infinity):
        return Infinity(found.positive is not isinstance(node.op, ast.USub))
    if (curve := quantiles.curve_of(state, found)) is not None:
        sign = numbers.constant(state, -1 if isinstance(node.op, ast.USub) else 1)
        made = quantiles.operated(state, node, ast.Mult(), sign, curve)
        assert made is not None  # noqa: S101 - a multiple is a curve
        return made
    one = numbers.number(state, node, found)
    return numbers.negative(state, node, one) if isinstance(node.op, ast.USub) else one


def _binary(state: State, node: ast.BinOp) -> Value:
    """Arithmetic."""
    left = value_of(state, node.left)
    return operated(state, node, node.op, left, value_of(state, node.right))


def operated(state: State, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """An operation on two values."""
    if isinstance(left, Entry) and isinstance(op, ast.Add) and left.amount is None and left.form == "number":
        return replace(left, amount=numbers.number(state, node, right))
    if isinstance(op, ast.Div) and (parts := exponentials.shares(state, node, left, right)) is not None:
        state.real("arrays of floats")
        return parts
    if arrays.is_array(state, left) or arrays.is_array(state, right):
        return arrays.operated(state, node, op, left, right)
    if quantiles.curve_of(state, left) is not None or quantiles.curve_of(state, right) is not None:
        made = quantiles.operated(state, node, op, left, right)
        if made is not None:
            return made
    held = [state.object(one) if isinstance(one, Ref) else one for one in (left, right)]
    match held[0], op, held[1]:
        case Items(items, "list"), ast.Add(), Items(others, "list"):
            return state.new(Items((*items, *others)))
        case Dictionary(entries, ""), ast.BitOr(), Dictionary(others, ""):
            return state.new(Dictionary(tuple({**dict(entries), **dict(others)}.items())))
        case Tuple(items), ast.Add(), Tuple(others):
            return Tuple((*items, *others))
        case (Items(items, "list"), ast.Mult(), Scalar(kind="int", known=int(times))) if len(items) * times <= 256:
            return state.new(Items(items * times))
        case Scalar(known=str() as form), ast.Mod(), _:
            return formats.percent(state, node, form, right)
        case (Scalar(known=str() as form), ast.Mult(), Scalar(kind="int", known=int(times))) if len(form) * times <= 256:
            return state.text(form * times)
        case Scalar(kind="str"), ast.Add(), Scalar(kind="str"):
            if isinstance(left, Scalar) and isinstance(right, Scalar) and left.is_known and right.is_known:
                return state.text(left.known + right.known)
            return texts.opaque(state, node, left, right, sort="text")
    if isinstance(op, ast.Div) and (part := exponentials.share(state, node, left, right)) is not None:
        return part
    if isinstance(op, ast.Add) and texts.is_text(left) and texts.is_text(right):
        return texts.opaque(state, node, left, right, sort="text")
    if isinstance(left, Opaque) or isinstance(right, Opaque):
        if isinstance(op, ast.Div) and numbers.is_number(left) and numbers.is_number(right):
            return texts.partial(state, node, left, right)
        if not (numbers.is_number(left) and numbers.is_number(right)) or not isinstance(op, (ast.Add, ast.Sub, ast.Mult)):
            raise refuse(
                node, f"`{ast.unparse(node)}` of rounded or formatted values", "compute first, and round at the end", "DPA706"
            )
        return (texts.product if isinstance(op, ast.Mult) else texts.opaque)(state, node, left, right)
    for one in (left, right):
        if isinstance(one, Ref):
            if held[0 if one is left else 1] == Spent(comparing.UNIFORM):
                state.assume("uniform", "curve", "arithmetic")
            raise refuse(node, f"`{ast.unparse(node)}`", "add numbers, or lists that are written out", "DPA703")
    return numbers.arithmetic(state, node, op, left, right)


def _connective(state: State, node: ast.BoolOp) -> Value:
    """`and` and `or`: an operand is evaluated where those before do not decide, and the value is that of an operand."""
    return _connected(state, node, isinstance(node.op, ast.And), node.values)


def _connected(state: State, node: ast.BoolOp, both: bool, values: list[ast.expr]) -> Value:  # noqa: FBT001
    """From the first operand on."""
    first = value_of(state, values[0])
    if len(values) == 1:
        return first
    test = truth(state, values[0], first)
    if test.is_known:
        return _connected(state, node, both, values[1:]) if test.known is both else first
    if not (isinstance(first, Scalar) and first.kind == "bool"):
        raise refuse(
            node, f"`{ast.unparse(node)}`, which gives one of its operands", "compare them, for instance with `!= 0`", "DPA703"
        )

    def rest() -> Value:
        return _connected(state, node, both, values[1:])

    with state.private(not test.public):
        found = state.quiet(rest)
    if found is not None and isinstance(found[0], Scalar) and found[0].kind == "bool":
        return numbers.connected("and" if both else "or", [test, found[0]])
    decided = numbers.constant(state, not both)
    return _truths(node, state.branch(test, rest if both else lambda: decided, (lambda: decided) if both else rest))


def _truths(node: ast.AST, found: Any) -> Value:
    """A truth value, as both ways must give one."""
    if not (isinstance(found, Scalar) and found.kind == "bool"):
        raise refuse(
            node, f"`{ast.unparse(node)}`, which gives one of its operands", "compare them, for instance with `!= 0`", "DPA703"
        )
    return found


def _conditional(state: State, node: ast.IfExp) -> Value:
    """A conditional expression: the way that is taken is evaluated."""
    test = test_of(state, node.test)
    if test.is_known:
        return value_of(state, node.body if test.known else node.orelse)
    if (parted := comparing.middle(test)) is not None:
        both = [state.quiet(partial(value_of, state, one)) for one in (node.body, node.orelse)]
        if None in both:
            raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of a uniform number")
        return quantiles.joined(state, node, *parted, both[0][0], both[1][0])
    ways = []
    for one in (node.body, node.orelse):
        with state.private(not test.public):
            ways.append(state.quiet(partial(value_of, state, one)))
    one, other = ways
    if one is not None and other is not None and isinstance(one[0], Scalar) and isinstance(other[0], Scalar):
        return numbers.chosen(state, node, test, one[0], other[0])
    found: Value = state.branch(test, lambda: value_of(state, node.body), lambda: value_of(state, node.orelse))
    return found


def truth(state: State, node: ast.AST, found: Value) -> Scalar:
    """The truth of a value."""
    match found:
        case Scalar():
            return numbers.condition(state, node, found)
        case Nothing():
            return numbers.constant(state, False)
        case Tuple(items):
            return numbers.constant(state, bool(items))
        case Short(size):
            return numbers.compared(state, node, ast.Gt(), size, numbers.constant(state, 0))
        case Ref():
            held = state.object(found)
            match held:
                case Items(items, "list"):
                    return numbers.constant(state, bool(items))
                case Dictionary(entries):
                    return numbers.constant(state, bool(entries))
                case Sequence(form="any", base=base):
                    state.assume(f"{base}#", "list", "a condition")
                case Sequence(form="list"):
                    size = numbers.number(state, node, arrays.length(state, node, found))
                    return numbers.compared(state, node, ast.Gt(), size, numbers.constant(state, 0))
    if isinstance(found, Opaque):
        numbers.scalar(state, node, found, "in a condition")
    raise refuse(node, f"`{ast.unparse(node)}` as a condition", "compare a number, for instance with `> 0`", "DPA703")


def test_of(state: State, node: ast.expr) -> Scalar:
    """An expression as a condition."""
    return truth(state, node, value_of(state, node))


# Parts.


def _attribute(state: State, node: ast.Attribute) -> Value:
    """An attribute: of a module, a field, a property or a method."""
    found = attribute(state, node, value_of(state, node.value), node.attr)
    if isinstance(found, Method) and not is_method(state, found):
        raise refuse(node, f"`{ast.unparse(node)}` without a call", "call the method here", "DPA706")
    return found


def _subscript(state: State, node: ast.Subscript) -> Value:
    """An element."""
    owner = value_of(state, node.value)
    if (part := tables.column(state, node, owner)) is not None:
        return part
    if isinstance(node.slice, ast.Slice):
        return subscripts.sliced(state, node, owner, node.slice)
    return subscripts.element(state, node, owner, value_of(state, node.slice))


def _call(state: State, node: ast.Call) -> Value:
    """A call: the function first, then arguments from left to right."""
    if isinstance(node.func, ast.Attribute):
        state.step(node.func)
        function = attribute(state, node.func, value_of(state, node.func.value), node.func.attr)
    else:
        function = value_of(state, node.func)
    args, named = _plain(state, node.args), {}
    for one in node.keywords:
        if one.arg is not None:
            named[one.arg] = value_of(state, one.value)
            continue
        inner = value_of(state, one.value)
        held = state.object(inner) if isinstance(inner, Ref) else None
        if not isinstance(held, Dictionary) or not all(isinstance(key, str) and key not in named for key, _ in held.entries):
            raise refuse(node, "`**` in a call", "name the arguments")
        named |= dict(held.entries)
    return call(state, node, function, list(args), named)


def _lambda(state: State, node: ast.Lambda) -> Value:
    """A lambda; its defaults are evaluated now."""
    return function_of(state, node)


def _formatted(state: State, node: ast.JoinedStr) -> Value:
    """A text with values in it."""
    return texts.formatted(state, node)


def _comprehension(state: State, node: Any) -> Value:
    """A list, set or dictionary comprehension."""
    first = value_of(state, node.generators[0].iter)
    through = state.object(first) if isinstance(first, Ref) else None
    elements = (node.key, node.value) if isinstance(node, ast.DictComp) else node.elt
    found = iterating.comprehended(state, node, elements, state.frame, first)
    if isinstance(node, ast.ListComp):
        return iterating.as_list(state, node, found)
    if isinstance(node, ast.SetComp):
        return kinds.made_of(state, node, found)
    if isinstance(found, Sequence) and state.lenient:
        return occurring.as_dictionary(state, node, found, through)
    if isinstance(found, Sequence) or any(guard is not None for guard, _ in found):
        raise refuse(node, f"`{ast.unparse(node)}`", "make sets and dictionaries of keys that are written out", "DPA706")
    entries: dict[Any, Value] = {}
    for _, pair in found:
        assert isinstance(pair, Tuple)  # noqa: S101 - for the type checker
        entries[subscripts.key_of(state, node, pair.items[0])] = pair.items[1]
    return state.new(Dictionary(tuple(entries.items())))


def _generator(state: State, node: ast.GeneratorExp) -> Value:
    """A generator expression: the first iterable is evaluated now, the rest where it is gone through."""
    first = value_of(state, node.generators[0].iter)
    return state.new(Iterator("generator", (first,), node, state.frame))


_READERS: Final[Mapping[type, Callable[[State, Any], Value]]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.BoolOp: _connective,
    ast.Call: _call,
    ast.Compare: comparing.compare,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _generator,
    ast.IfExp: _conditional,
    ast.JoinedStr: _formatted,
    ast.Lambda: _lambda,
    ast.List: _list,
    ast.ListComp: _comprehension,
    ast.Name: _name,
    ast.NamedExpr: _named,
    ast.Set: _set,
    ast.SetComp: _comprehension,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.UnaryOp: _unary,
}
"""Every kind of expression that is read; any other is refused."""
