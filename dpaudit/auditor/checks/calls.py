"""Why no run gave an output: a call that the function does not take, an error in every run, or a `return` that is missing."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.disclosure import text_of
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.outputs import Failure
from dpaudit.blame import blamed, said, show_traceback
from dpaudit.errors import DpauditError
from dpaudit.targets import Target

_GENERATORS: Final = ("rng", "random", "generator", "gen", "random_state", "source")
"""Names of a first parameter that show that the arguments were taken in another order."""

_BY_HAND: Final = (
    "Call the function by hand on one dataset, or repeat the command as `dpaudit --debug audit ...`, which prints the traceback; "
    "the traceback may contain data."
)

_EXITS: Final = "That ends the program. A release must return its output: remove the call that exits."


def why_no_output(target: Target, pairs: Sequence[Neighbours], outputs: Sequence[Any], where: str = "every run") -> str:
    """Say why there is nothing to test where no run gave an output; "" otherwise. `where` says which runs these are."""
    place = "" if target.source is None else f"{target.source[0]}:{target.source[1]}: "
    written = getattr(target.function, "func", target.function)
    if inspect.isgeneratorfunction(written):
        return (
            f"DPA405 {place}the function uses yield, so a run returns a generator, not an output. Replace yield with return; for "
            "several values, return a list."
        )
    if all(output is None for output in outputs) and _lacks_return(written):
        return f"DPA405 {place}every run gave None, since the function has no return. End it with a line such as: return result."
    if not all(isinstance(output, Failure) for output in outputs):
        return ""
    if misfit := _reject_call(target):
        return f"DPA405 {place}{misfit}"
    try:
        target.function(copy_of(pairs[0].first), *([] if target.run is not None else [1]), np.random.default_rng(0))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the place is what we are after
        show_traceback(error)
        if isinstance(error, DpauditError):
            return f"DPA405 {where} raised; the last error was {blamed(error)} ({text_of(error, target)})"
        text = said(error)
        advice = _EXITS if isinstance(error, SystemExit) else _BY_HAND
        return f"DPA405 {where} raised; the last error was {blamed(error)}{f': {text}' if text else f'. {advice}'}"
    remedy = "" if target.sample is None else ". Return a sequence of n outputs, or give run= for a function of one output"
    return f"DPA405 {place}no run gave an output: the function {outputs[-1].shown}{remedy}"


def _reject_call(target: Target) -> str:
    """Say that a function does not take the call that is made of it; "" where it does, or does not say."""
    function, role = target.function, "run" if target.run is not None else "sample"
    given = ("data", "rng") if role == "run" else ("data", "n", "rng")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    names = list(signature.parameters)
    try:
        signature.bind(*given)
        if names[0] not in _GENERATORS:
            return ""
    except TypeError:
        pass
    call = ", ".join(given)
    name = getattr(function, "__name__", "release")
    head = f"lambda {call}: ..." if name == "<lambda>" else f"def {name}({call}):"
    remedy = f"Write {head} and draw all randomness from rng."
    if inspect.isclass(function):
        methods = (name for name, one in vars(function).items() if inspect.isfunction(one) and not name.startswith("_"))
        remedy = f"pass a method of an object, such as {role}={function.__name__}().{next(methods, 'METHOD')}."
        return f"{role}={function.__name__} is a class, not a function; {remedy}"
    if role == "sample" and len(names) == 2 and names[0] not in _GENERATORS:
        return (
            f"sample= is for a function (data, n, rng) that returns n outputs, and {name} takes ({_written(signature)}). "
            f"If it makes one release, write run={name}."
        )
    if names[:1] == ["self"]:
        owner, _, method = function.__qualname__.rpartition(".")
        remedy = f"It is a method: make an object and pass {role}={owner.rpartition('.')[2]}().{method}."
    by_name = " by position" if any(one.kind is one.KEYWORD_ONLY for one in signature.parameters.values()) else ""
    return f"the function takes ({_written(signature)}) and is called with ({call}){by_name}. {remedy}"


def _written(signature: inspect.Signature) -> str:
    """The parameters of a signature by their names, with the stars that it has."""
    plain = [one.replace(annotation=one.empty, default=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))[1:-1]


def _lacks_return(function: Callable[..., Any]) -> bool:
    """True if the source of a function shows that it never returns a value."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    return isinstance(node, ast.FunctionDef) and all(value is None for value in returned)
