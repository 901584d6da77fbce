"""Calls: what is called is known by what it is, not by its name; arguments are bound as Python binds them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.signatures import check
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Class,
    Dictionary,
    Frame,
    Function,
    Instance,
    Iterator,
    Method,
    Nothing,
    Partial,
    Poison,
    Record,
    Ref,
    Tuple,
    Value,
)

_DEEPEST: Final = 12
Reader = Callable[[State, ast.AST, list[Value], dict[str, Value]], Value]


class Sources:
    """What names outside of the file mean, filled in by the modules that read it."""

    PYTHON: Final[dict[str, Reader]] = {}
    """Functions of Python."""
    MODULES: Final[dict[str, Reader]] = {}
    """Functions and classes of modules, by their dotted names."""
    METHODS: Final[dict[str, Callable[[State, ast.AST, Value, str, list[Value], dict[str, Value]], Value | None]]] = {}
    """Methods by the kind of their owner: each gives None where the owner is none of its own."""

    @classmethod
    def is_module(cls, name: str) -> bool:
        """True for a module, whose parts have a meaning."""
        return any(one.startswith(f"{name}.") for one in cls.MODULES)


def given(node: ast.AST, args: list[Value], named: Mapping[str, Value], *parts: str) -> dict[str, Value]:
    """Arguments by the names of parameters; those that may be left out have a question mark."""
    names = [part.rstrip("?") for part in parts]
    found = dict(zip(names, args, strict=False))
    wrong = len(args) > len(parts) or set(found) & set(named) or not set(named) <= set(names)
    found |= dict(named)
    if wrong or any(not part.endswith("?") and part not in found for part in parts):
        raise refuse(node, f"`{ast.unparse(node)}`", f"its arguments here are {', '.join(names) or 'none'}", "DPA706")
    return found


def call(state: State, node: ast.AST, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """The value of a call."""
    for one in (*args, *named.values()):
        if isinstance(one, Poison):
            raise refuse(node, f"an argument {one.why}", "give it one kind of value on every way", "DPA705")
    outer = state.callee
    try:
        return _called(state, node, function, args, named)
    finally:
        state.callee = outer


def _called(state: State, node: ast.AST, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """The value of a call, by what is called."""
    match function:
        case Function():
            return _invoked(state, node, function, args, named)
        case Partial(inner, first, known):
            return _called(state, node, inner, [*first, *args], {**dict(known), **named})
        case Class():
            return _instance(state, node, function, args, named)
        case Ref() | Record():
            held = state.object(function) if isinstance(function, Ref) else function
            owner = held.owner if isinstance(held, (Instance, Record)) else None
            for name, own, style in owner.methods if owner is not None else ():
                if name == "__call__" and style == "":
                    return _called(state, node, replace(own, bound=function), args, named)
        case Builtin(name):
            read = Sources.MODULES.get(name) if "." in name else Sources.PYTHON.get(name)
            if read is not None:
                state.callee = name
                check(state, node, name, args, named)
                return read(state, node, args, named)
        case Method(owner, name):
            state.callee = f".{name}"
            for find in Sources.METHODS.values():
                found = find(state, node, owner, name, args, named)
                if found is not None:
                    return found
            raise refuse(node, f"`.{name}` of this value", "use methods that the verifier reads", "DPA706")
    raise refuse(node, f"`{ast.unparse(node)}`", "call functions of the file, of Python, math, collections or numpy", "DPA706")


def function_of(state: State, node: ast.FunctionDef | ast.Lambda) -> Function:
    """A function that is defined here: its defaults are evaluated now."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [
        (one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is not None
    ]
    return Function(node, state.frame, tuple((one.arg, state.value(default)) for one, default in pairs))


def bound_arguments(
    state: State, node: ast.AST, function: Function, args: list[Value], named: Mapping[str, Value]
) -> dict[str, Value]:
    """Arguments by the names of parameters, as Python binds them."""
    arguments = function.node.args
    before = [one.arg for one in arguments.posonlyargs]
    plain = [*before, *(one.arg for one in arguments.args)]
    names = [*plain, *(one.arg for one in arguments.kwonlyargs)]
    found = dict(zip(plain, args, strict=False))
    rest = {name: value for name, value in named.items() if arguments.kwarg and name not in set(names) - set(before)}
    wrong = len(args) > len(plain) and arguments.vararg is None
    wrong = wrong or bool(set(found) & (set(named) - set(rest))) or not set(named) - set(rest) <= set(names) - set(before)
    found |= {name: value for name, value in named.items() if name not in rest}
    for name, value in function.defaults:
        found.setdefault(name, value)
    if not wrong and arguments.vararg is not None:
        found[arguments.vararg.arg] = Tuple(tuple(args[len(plain) :]))
        names = [*names, arguments.vararg.arg]
    if not wrong and arguments.kwarg is not None:
        found[arguments.kwarg.arg] = state.new(Dictionary(tuple(rest.items())))
        names = [*names, arguments.kwarg.arg]
    if wrong or set(found) != set(names):
        raise refuse(node, f"`{ast.unparse(node)}`", f"its arguments are {', '.join(names) or 'none'}", "DPA706")
    return found


def _invoked(state: State, node: ast.AST, function: Function, args: list[Value], named: dict[str, Value]) -> Value:
    """What a function of the source returns."""
    given_args = args if function.bound is None else [function.bound, *args]
    found = bound_arguments(state, node, function, given_args, named)
    if state.calls >= _DEEPEST:
        raise refuse(node, f"`{ast.unparse(node)}`, which calls itself or goes too deep,", "write a loop", "DPA706")
    names = state.scopes.names_of(function.node)
    inner = state.new(Frame(found, names, function.frame)).address
    if function.node in state.generators:
        return state.new(Iterator("function", tuple(found.values()), function.node, inner))
    outer, state.frame = state.frame, inner
    state.calls += 1
    if function.node is state.main and state.calls == 1:
        state.main_frame = state.frame
    try:
        if isinstance(function.node, ast.Lambda):
            return state.value(function.node.body)
        return state.parts.returned(state, function.node)
    finally:
        state.frame = outer
        state.calls -= 1


def _instance(state: State, node: ast.AST, owner: Class, args: list[Value], named: dict[str, Value]) -> Value:
    """A new instance of a class of the source."""
    if owner.style == "keys":
        raise refuse(node, f"`{ast.unparse(node)}`", "write a dictionary", "DPA706")
    init = next((function for name, function, _ in owner.methods if name == "__init__"), None)
    if owner.style == "plain":
        made = state.new(Instance(owner, {}))
        if init is not None:
            returned = call(state, node, replace(init, bound=made), args, named)
            if not isinstance(returned, Nothing):
                raise refuse(node, "an __init__ that returns something", "return nothing from it", "DPA706")
        elif args or named:
            raise refuse(node, f"{owner.name} with arguments", "write an __init__ that takes them", "DPA706")
        return made
    parts = [f"{name}?" if default is not None else name for name, _, default in owner.fields]
    found = given(node, args, named, *parts)
    values = {name: found.get(name, default) for name, _, default in owner.fields}
    pairs = tuple((name, value) for name, value in values.items() if value is not None)
    fixed = owner.style in ("frozen", "tuple")
    result: Value = Record(owner, pairs) if fixed else state.new(Instance(owner, dict(pairs)))
    after = next((function for name, function, _ in owner.methods if name == "__post_init__"), None)
    if after is not None:
        call(state, node, replace(after, bound=result), [], {})
    return result
