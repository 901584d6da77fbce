"""Readings of live functions: the file is read, and what its names mean now must be what it says."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any, Final

from dpaudit.binding import is_same_code
from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.ordinary.files import bindings
from dpaudit.verifier.ordinary.reading import Reading, read


def read_function(function: Any, claimed: Spec, data: Mapping[str, str] | None = None, *, lenient: bool = False) -> Reading:
    """Read a function by the file that it stands in."""
    name = getattr(function, "__qualname__", type(function).__name__)
    if type(function) is not FunctionType or function.__closure__ is not None or hasattr(function, "__wrapped__"):
        raise Unsupported("DPA702", f"{name} is not a plain function without a closure; define it with `def` at module level.")
    module = sys.modules.get(function.__module__)
    try:
        file = inspect.getsourcefile(function)
        lines = inspect.findsource(function)[0]
    except (OSError, TypeError) as error:
        raise Unsupported("DPA702", f"the source of {name} cannot be found; define it in a file, or give its text.") from error
    text = "".join(lines)
    if function.__name__ != name:
        raise Unsupported("DPA702", f"{name} is defined inside something else; define it with `def` at module level.")
    found = read(text, claimed, function=name, data=data, lenient=lenient)
    _same(text, file or "", function.__globals__ if module is None else vars(module), function)
    return found


def _same(text: str, file: str, known: Mapping[str, Any], function: FunctionType) -> None:
    """What the file defines must be what its names mean now: functions, classes, constants and imports."""
    tree = ast.parse(text)
    compiled = compile(text, file or "<source>", "exec", dont_inherit=True)
    codes = {one.co_name: one for one in compiled.co_consts if isinstance(one, CodeType)}
    constants: dict[str, Any] = {}
    own = {name for one in tree.body for _, name in bindings(one)}
    hidden = sorted(name for name in known if hasattr(builtins, name) and not name.startswith("__") and name not in own)
    changed = hidden[0] if hidden else None if is_same_code(function.__code__, codes.get(function.__name__)) else function.__name__
    for one in tree.body:
        match one:
            case ast.FunctionDef(name=name) if name != function.__name__:
                value = inspect.unwrap(known[name]) if callable(known.get(name)) else None
                if not is_same_code(getattr(value, "__code__", None), codes.get(name)):
                    changed = name
            case ast.ClassDef(name=name):
                if not _is_same_class(one, known.get(name), codes.get(name), constants):
                    changed = name
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                wanted = _constant(value, constants)
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                for place, expected in zip(targets, wanted if isinstance(target, ast.Tuple) else [wanted], strict=True):
                    found = known.get(ast.unparse(place))
                    constants[ast.unparse(place)] = expected
                    if not (_is_generator(found) if expected is ... else repr(found) == repr(expected)):
                        changed = ast.unparse(place)
            case ast.Import(names=names):
                for part in names:
                    bound = part.asname or part.name.partition(".")[0]
                    if known.get(bound) is not sys.modules.get(part.name if part.asname else bound):
                        changed = bound
            case ast.ImportFrom(module=str(origin), names=names, level=0) if origin != "__future__":
                for part in names:
                    home = sys.modules.get(origin)
                    bound = part.asname or part.name
                    if known.get(bound) is not getattr(home, part.name, sys.modules.get(f"{origin}.{part.name}")):
                        changed = bound
    if changed is not None:
        raise Unsupported(
            "DPA702", f"the name {changed} does not mean what its file says; reload the module, and do not patch names."
        )


def _is_same_class(node: ast.ClassDef, found: Any, code: CodeType | None, constants: Mapping[str, Any]) -> bool:
    """True for a class whose functions and constants are those of its definition."""
    if not isinstance(found, type) or code is None:
        return False
    own = {one.co_name: one for one in code.co_consts if isinstance(one, CodeType)}
    for name, inner in own.items():
        value = vars(found).get(name)
        value = getattr(value, "__func__", getattr(value, "fget", value))
        if not is_same_code(getattr(value, "__code__", None), inner):
            return False
    for one in node.body:
        match one:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if not any("slots" in ast.unparse(part) for part in node.decorator_list) and repr(vars(found).get(name)) != repr(
                    _constant(value, constants)
                ):
                    return False
    return True


_VALUES: Final = (
    ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Name, ast.operator, ast.unaryop, ast.Load,
)  # fmt: skip


def _constant(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """The value of a constant of a file, computed from its text; `...` for a new generator of noise."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords and ast.unparse(node.func).endswith("default_rng"):
        return ...
    if all(isinstance(part, _VALUES) and (not isinstance(part, ast.Name) or part.id in known) for part in ast.walk(node)):
        return eval(compile(ast.Expression(node), "<constant>", "eval"), {"__builtins__": {}}, dict(known))  # noqa: S307 - no calls
    raise Unsupported("DPA702", f"line {node.lineno}: the constant `{ast.unparse(node)}` is computed; write its value out.")


def _is_generator(found: Any) -> bool:
    """True for a generator of numpy."""
    return type(found).__module__ == "numpy.random._generator" and type(found).__name__ == "Generator"
