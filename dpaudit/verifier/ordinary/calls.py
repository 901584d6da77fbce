"""Calls: functions of the source in place, classes without mutation, and methods."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from dpaudit.verifier.ordinary import arguments, builtins, draws, lookups, numbers, sequences, statements
from dpaudit.verifier.ordinary.arrays import ARRAYS, METHODS
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, is_bound
from dpaudit.verifier.ordinary.values import (
    Class,
    Counts,
    Fixed,
    Function,
    Generator,
    Mechanism,
    Method,
    Module,
    Nothing,
    Opaque,
    Record,
    Scalar,
    Scope,
    Sequence,
    Table,
    Value,
)

_DEEPEST: Final = 24


def read_call(state: State, node: ast.Call) -> Value:
    """A call."""
    if isinstance(node.func, ast.Name) and state.scope.find(node.func.id) is None:
        name = node.func.id
        if is_bound(state.scope, name):
            raise refuse(node, f"a call of {name}, which may have no value here", "define it first", "DPA704")
        law = draws.LAWS.get(f"law.{name}")
        if law is not None:
            return law(state, node, *_arguments(state, node))
        made = builtins.BUILTINS.get(name)
        if made is None:
            raise refuse(node, f"a call of {name}", "call functions of this file, of Python, numpy, math or random", "DPA706")
        return made(state, node, *_arguments(state, node))  # type: ignore[no-any-return]
    called = state.value(node.func)
    return call(state, node, called, *_arguments(state, node))


def _arguments(state: State, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    """The arguments, in the order in which they are written."""
    args: list[Value] = []
    for one in node.args:
        if isinstance(one, ast.Starred):
            inner = state.value(one.value)
            if not isinstance(inner, Fixed):
                raise refuse(one, "* of something whose length is not written out", "pass the arguments one by one", "DPA706")
            args += inner.items
        else:
            found = state.value(one)
            args.append(found if _is_place(node) else _settled(state, node, found))
    named: dict[str, Value] = {}
    for part in node.keywords:
        if part.arg is None:
            raise refuse(node, "** in a call", "pass the arguments by name", "DPA706")
        named[part.arg] = _settled(state, node, state.value(part.value))
    return args, named


def _is_place(node: ast.Call) -> bool:
    """True for argmax and argmin, which take draws one by one."""
    return isinstance(node.func, ast.Attribute) and node.func.attr in ("argmax", "argmin")


def _settled(state: State, node: ast.AST, found: Value) -> Value:
    """An argument; draws in an array are made now."""
    return sequences.settle(state, node, found) if getattr(found, "shape", "") == "pending" else found


def call(state: State, node: ast.AST, called: Value, args: list[Value], named: Mapping[str, Value]) -> Value:
    """A call of a value."""
    match called:
        case Function():
            return inlined(state, node, called, args, dict(named))
        case Class():
            return _made(state, node, called, args, dict(named))
        case Module(name=name):
            known: Any = draws.LAWS.get(name) or ARRAYS.get(name) or builtins.FUNCTIONS.get(name)
            if known is None:
                raise refuse(
                    node, f"a call of {name}", "use what the verifier reads of numpy, math, random and mechanisms", "DPA706"
                )
            return known(state, node, args, named)  # type: ignore[no-any-return]
        case Method(owner=owner, name=name):
            return _method(state, node, owner, name, args, named)
    raise refuse(node, f"a call of `{ast.unparse(getattr(node, 'func', node))}`", "call functions", "DPA706")


def _method(state: State, node: ast.AST, owner: Value, name: str, args: list[Value], named: Mapping[str, Value]) -> Value:
    """A method of a value."""
    match owner:
        case Generator(family=family):
            return draws.generated(state, node, family, name, args, named)
        case Mechanism():
            return draws.released(state, node, owner, name, args, named)
        case Counts() if name == "get" and 1 <= len(args) <= 2 and not named:
            default = numbers.as_scalar(state, node, args[1]) if len(args) == 2 else None
            if default is None:
                raise refuse(node, "get without a default", "write `.get(key, 0)`", "DPA706")
            return lookups.entry(state, node, owner, numbers.as_scalar(state, node, args[0]), default)
        case Counts():
            raise teach(node, "private keys", f"`.{name}()` of keys that are found in the data")
        case Table(cells=cells) if not args and name in ("items", "keys", "values"):
            keys: list[Value] = [numbers.constant(state, key) for key in cells]
            items: list[Value] = [Fixed(pair, "tuple") for pair in zip(keys, cells.values(), strict=True)]
            chosen: Mapping[str, list[Value]] = {"items": items, "keys": keys, "values": list(cells.values())}
            return Fixed(tuple(chosen[name]), "view")
        case Table(cells=cells) if name == "get" and args and isinstance(args[0], Scalar) and args[0].is_known:
            return cells.get(args[0].known, args[1] if len(args) == 2 else Nothing())
        case Scalar(kind="str") | Opaque():
            return arguments.opaque(state, node, [owner, *args], named, total=False)
        case Table() if name == "get" and args and isinstance(node, ast.Call):
            return lookups.item(state, node, owner, numbers.as_scalar(state, node, args[0]))
        case Fixed() | Sequence() if name == "count" and len(args) == 1 and not named and owner.shape == "list":
            wanted = numbers.as_scalar(state, node, state.held(node, args[0]))

            def alike(one: Value) -> Scalar:
                return numbers.number(state, node, numbers.link(state, node, ast.Eq(), numbers.as_scalar(state, node, one), wanted))

            return sequences.total(state, node, "count", owner, alike)
    if name not in ("argmax", "argmin"):
        owner = _settled(state, node, owner)
    made = METHODS.get(name)
    if made is None:
        raise teach(node, "mutation", f"a call of the method {name}")
    return made(state, node, [owner, *args], named)  # type: ignore[no-any-return]


def _stores(body: list[ast.stmt], parameters: list[str]) -> dict[str, int]:
    """How often each name of a function is assigned to; loops and comprehensions of its own count, inner functions do not."""
    found = Counter(parameters)

    def look(part: ast.AST) -> None:
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            raise refuse(part, "global or nonlocal", "pass the value as a parameter")
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found[part.name] += 1
            return
        if isinstance(part, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
            return
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found[part.id] += 1
        if isinstance(part, (ast.Import, ast.ImportFrom)):
            for one in part.names:
                found[one.asname or one.name.partition(".")[0]] += 1
        for inner in ast.iter_child_nodes(part):
            look(inner)

    for one in body:
        look(one)
        for part in ast.walk(one):
            if isinstance(part, ast.NamedExpr):
                raise refuse(part, "an assignment inside an expression", "assign on a line of its own")
    return found


def parameters_of(tree: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    """The parameters of a function; what takes any number is refused."""
    args = tree.args
    if args.vararg or args.kwarg or args.posonlyargs:
        raise refuse(tree, "* or / among the parameters", "name each parameter", "DPA702")
    return [*args.args, *args.kwonlyargs]


def defaults_of(tree: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr]:
    """The default of each parameter that has one."""
    args = tree.args
    plain = dict(zip([one.arg for one in reversed(args.args)], reversed(args.defaults), strict=False))
    return plain | {one.arg: value for one, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None}


def scope_for(tree: ast.FunctionDef | ast.Lambda, outer: Scope, prefix: str) -> Scope:
    """The scope of a function's own names."""
    body = tree.body if isinstance(tree, ast.FunctionDef) else []
    return Scope({}, outer, prefix, _stores(body, [one.arg for one in parameters_of(tree)]), body)


def inlined(state: State, node: ast.AST, function: Function, args: list[Value], named: dict[str, Value]) -> Value:
    """A function of the source in place of its call."""
    tree = function.tree
    if isinstance(tree, ast.FunctionDef) and any(
        not (isinstance(one, ast.Name) and one.id in ("property", "staticmethod")) for one in tree.decorator_list
    ):
        raise refuse(node, f"a call of {tree.name}, which is decorated", "call a plain function", "DPA706")
    if state.call_depth > _DEEPEST:
        raise refuse(node, "a call that may call itself", "write a loop", "DPA706")
    parameters = parameters_of(tree)
    static = isinstance(tree, ast.FunctionDef) and any(
        isinstance(one, ast.Name) and one.id == "staticmethod" for one in tree.decorator_list
    )
    given = args if function.bound is None or static else [function.bound, *args]
    values = dict(zip([one.arg for one in parameters[: len(tree.args.args)]], given, strict=False))
    defaults = defaults_of(tree)
    if len(given) > len(tree.args.args) or set(named) & set(values) or not set(named) <= {one.arg for one in parameters}:
        raise refuse(node, "this call, which does not fit the parameters", "compare it with the `def`", "DPA706")
    values |= named
    for one in parameters:
        if one.arg not in values:
            if one.arg not in defaults:
                raise refuse(node, f"a call without {one.arg}", "pass it", "DPA706")
            if not is_literal(defaults[one.arg]):
                raise teach(node, "default", f"the default of {one.arg}", one.arg)
            values[one.arg] = state.value(defaults[one.arg])
    name = tree.name if isinstance(tree, ast.FunctionDef) else "lambda"
    scope = scope_for(tree, function.scope, f"{state.fresh(name)}_")
    saved = state.scope, state.unrolled, state.line, list(state.frames)
    for one in parameters:
        found = sequences.settle(state, node, values[one.arg])
        if isinstance(found, Scalar) and scope.stores[one.arg] > 1:
            state.scope = scope
            statements.assign(state, node, one.arg, found)
            state.scope = saved[0]
        else:
            scope.names[one.arg] = state.held(node, found)
    state.scope, state.call_depth = scope, state.call_depth + 1
    state.frames.append(scope)
    state.unrolled = True  # a jump in the function belongs to a loop of its own
    try:
        if isinstance(tree, ast.Lambda):
            return state.value(tree.body)
        return _body(state, node, tree, list(tree.body))
    finally:
        state.scope, state.unrolled, state.line, state.frames = saved
        state.call_depth -= 1


def _body(state: State, node: ast.AST, tree: ast.FunctionDef, body: list[ast.stmt]) -> Value:
    """The statements of a function in place of its call, and what it returns."""
    for place, one in enumerate(body):
        if state.dead:
            return Nothing()
        state.at(one)
        if isinstance(one, ast.Return):
            return Nothing() if one.value is None else sequences.settle(state, one, state.value(one.value))
        if not any(isinstance(part, ast.Return) for part in _own(one)):
            statements.block(state, [one])
            continue
        if not isinstance(one, ast.If):
            raise refuse(one, f"a return inside a loop of {tree.name}", "return once, on its last line", "DPA705")
        found = numbers.as_scalar(state, one.test, state.value(one.test), "in a condition")
        test = numbers.as_truth(state, one.test, found)
        rest = body[place + 1 :]
        if test.is_known:
            return _body(state, node, tree, [*(one.body if test.known else one.orelse), *rest])
        return _either(state, node, tree, test, [*one.body, *rest], [*one.orelse, *rest])
    return Nothing()


def _either(
    state: State, node: ast.AST, tree: ast.FunctionDef, test: Scalar, then: list[ast.stmt], otherwise: list[ast.stmt]
) -> Value:
    """What a function returns that goes on in one of two ways."""
    name = state.varying_name("result")
    found: list[Value] = []

    def way(body: list[ast.stmt]) -> Callable[[], None]:
        def write() -> None:
            one = _body(state, node, tree, body)
            if state.dead:
                return
            if isinstance(one, Scalar):
                one = state.store(node, name, one)
            found.append(one)

        return write

    statements.divided(state, node, test, way(then), way(otherwise))
    if all(isinstance(one, Scalar) for one in found) and found:
        return state.variable(name)
    if all(isinstance(one, Nothing) for one in found):
        return Nothing()
    if len(found) == 1 and not isinstance(found[0], Opaque):
        return found[0]
    raise refuse(node, f"a call of {tree.name}, which returns different things", "return one kind of value on every path", "DPA705")


def is_literal(node: ast.expr) -> bool:
    """True for a number, a text, a truth value or None that is written out."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _own(node: ast.AST) -> list[ast.AST]:
    """The parts of a statement that are not inside inner functions."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return []
    return [node, *(part for inner in ast.iter_child_nodes(node) for part in _own(inner))]


def _made(state: State, node: ast.AST, kind: Class, args: list[Value], named: dict[str, Value]) -> Record:
    """An instance of a frozen dataclass or named tuple."""
    names = [name for name, _, _ in kind.fields]
    values = dict(zip(names, args, strict=False))
    if len(args) > len(names) or set(named) & set(values) or not set(named) <= set(names):
        raise refuse(node, f"this call of {kind.tree.name}", "compare it with the fields", "DPA706")
    values |= named
    outer, state.scope = state.scope, kind.scope
    try:
        for name, _, default in kind.fields:
            if name not in values:
                if default is None:
                    raise refuse(node, f"{kind.tree.name} without {name}", "pass it", "DPA706")
                values[name] = state.value(default)
    finally:
        state.scope = outer
    held: dict[str, Value] = {}
    for name in names:
        one = sequences.settle(state, node, values[name])
        held[name] = state.held(node, one)
    return Record(held, kind)
