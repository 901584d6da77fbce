"""Attributes of values: parts of modules, fields and properties of records, and methods that are called where they stand."""

from __future__ import annotations

import ast
from dataclasses import replace

from dpaudit.verifier.ordinary import arrays, draws, subscripts, wording
from dpaudit.verifier.ordinary.calls import Sources, call
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Class,
    Entry,
    Generator,
    Infinity,
    Instance,
    Mechanism,
    Method,
    Opaque,
    Poison,
    Record,
    Ref,
    Row,
    Scalar,
    Value,
)


def attribute(state: State, node: ast.AST, owner: Value, name: str) -> Value:
    """An attribute of a value."""
    if name.startswith("_") and not (
        isinstance(owner, Ref) and isinstance(state.object(owner), Instance) and not name.startswith("__")
    ):
        raise refuse(node, f"`.{name}`", "leave it out: it may change what is read elsewhere")
    match owner:
        case Builtin(module) if Sources.is_module(module):
            whole = f"{module}.{name}"
            if whole in ("math.inf", "numpy.inf"):
                state.real("floats")
                return Infinity(positive=True)
            if whole not in Sources.MODULES and not Sources.is_module(whole):
                raise refuse(node, f"`{ast.unparse(node)}`", "use functions of math, collections or numpy that are read", "DPA706")
            return Builtin(whole)
        case Builtin("dict") if name == "fromkeys":
            return Method(owner, name)
        case Record(kind, parts):
            held = dict(parts)
            return held[name] if name in held else _of_class(state, node, owner, kind, name)
        case Row():
            subscripts.read_as(state, node, owner, "attributes")
            return subscripts.field(state, node, owner, name)
        case Class(methods=methods, constants=constants):
            if name in dict(constants):
                return dict(constants)[name]
            static = {key: function for key, function, style in methods if style == "static"}
            if name in static:
                return static[name]
            own = {key: function for key, function, style in methods if style == "class"}
            if name in own:
                return replace(own[name], bound=owner)
        case Scalar(origin=str(origin)) if ("[" in origin or "." in origin) and owner.kind != "str" and name in wording.METHODS:
            state.assume(owner.origin, "str", f".{name}")
        case Scalar(origin=str(origin), kind="str") if name in wording.METHODS and ("[" in origin or "." in origin):
            return Method(owner, name)
        case Scalar(origin=str(origin)) if "[" in origin or "." in origin:
            state.assume(owner.origin, "row", "an attribute")
        case Scalar(origin=str()):
            state.assume(owner.origin, "rng" if name in draws.METHODS else "list", f".{name}")
        case Ref():
            held_object = state.object(owner)
            if isinstance(held_object, Instance):
                if name in held_object.parts:
                    found = held_object.parts[name]
                    if isinstance(found, Poison):
                        raise refuse(node, f".{name}, {found.why},", "give it one kind of value on every way", "DPA705")
                    return found
                return _of_class(state, node, owner, held_object.owner, name)
            if name in ("size", "shape", "T", "dtype", "ndim"):
                return arrays.property_of(state, node, owner, name)
            return Method(owner, name)
        case Opaque() | Scalar() | Generator() | Mechanism() | Entry(form="list"):
            return Method(owner, name)
    if isinstance(owner, Scalar):
        return Method(owner, name)
    raise refuse(node, f"`.{name}`", "use fields, methods and modules that the verifier reads", "DPA706")


def _of_class(state: State, node: ast.AST, owner: Value, kind: Class, name: str) -> Value:
    """A method, property or constant of a class."""
    for key, function, style in kind.methods:
        if key == name:
            bound = function if style == "static" else replace(function, bound=kind if style == "class" else owner)
            return call(state, node, bound, [], {}) if style == "property" else bound
    if name in dict(kind.constants):
        return dict(kind.constants)[name]
    if kind.style == "tuple" and name in ("_replace", "_asdict"):
        raise refuse(node, f"`.{name}`", f"write {kind.name}(...)", "DPA706")
    raise refuse(node, f"`.{name}`, which {kind.name} does not have", "use its fields and methods", "DPA706")
