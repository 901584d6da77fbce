"""Readings of live functions: the file is read, and what its names mean now must be what it says."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any

from dpaudit.binding import is_same_code
from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.ordinary.reading import Reading, read


def read_function(function: Any, claimed: Spec, data: Mapping[str, str] | None = None) -> Reading:
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
    found = read(text, claimed, function=name, data=data)
    _same(text, file or "", function.__globals__ if module is None else vars(module), function)
    return found


def _same(text: str, file: str, known: Mapping[str, Any], function: FunctionType) -> None:
    """The functions that the file defines must be those that its names mean, and its constants too."""
    tree = ast.parse(text)
    compiled = compile(text, file or "<source>", "exec", dont_inherit=True)
    codes = {one.co_name: one for one in compiled.co_consts if isinstance(one, CodeType)}
    changed = None
    if not is_same_code(function.__code__, codes.get(function.__name__)):
        changed = function.__name__
    for one in tree.body:
        match one:
            case ast.FunctionDef(name=name):
                value = inspect.unwrap(known[name]) if callable(known.get(name)) else None
                if name != function.__name__ and not is_same_code(getattr(value, "__code__", None), codes.get(name)):
                    changed = name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                if type(known.get(name)) is not type(value) or known.get(name) != value:
                    changed = name
            case ast.Import(names=names):
                for part in names:
                    bound = part.asname or part.name.partition(".")[0]
                    wanted = sys.modules.get(part.name if part.asname else bound)
                    if known.get(bound) is not wanted:
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
