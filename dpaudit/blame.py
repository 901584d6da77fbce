"""Where an error arose in the user's code, and its text as far as it is made of words of that code and so quotes no data."""

from __future__ import annotations

import builtins
import dis
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final

from dpaudit.errors import class_name, origin_of

debugging: Final[ContextVar[bool]] = ContextVar("debugging", default=False)
"""True where `dpaudit --debug` was given: tracebacks, which may quote data, are printed to stderr."""

_ROOT: Final = Path(__file__).resolve().parent.parent
_OWN: Final = tuple(str(_ROOT / name) for name in ("dpaudit", "learners", "mechanisms", "proofs"))
_INSTALLED: Final = (str(Path(traceback.__file__).resolve().parent), *_OWN)
"""The folders of Python's library and of this distribution."""
ADAPTERS: Final = str(_ROOT / "dpaudit" / "interop")
"""Where the functions are that adapters make; nobody looks for a mistake there."""
PACKAGES: Final = ("site-packages", "dist-packages")
"""The names of folders that hold installed packages."""
_TOOLS: Final = frozenset(
    {
        "_pytest", "Cython", "dask", "faker", "flax", "haiku", "hypothesis", "IPython", "jax", "jaxlib", "joblib", "keras",
        "llvmlite", "matplotlib", "narwhals", "networkx", "numba", "numpy", "pandas", "pluggy", "polars", "pyarrow",
        "pydantic", "pyspark", "pytest", "ray", "rich", "scipy", "sklearn", "sqlalchemy", "statsmodels", "sympy",
        "tensorflow", "torch", "torchvision", "tqdm", "xgboost",
    }
)  # fmt: skip
"""Packages that compute, and promise no privacy: where runs part inside them, the line of their caller says more."""

_UNKNOWN: Final = re.compile(r"[\w.<>]+\(\) got an unexpected keyword argument '(?P<word>\w+)'.*")
_MISSING: Final = re.compile(r"[\w.<>]+\(\) missing \d+ required (positional|keyword-only) arguments?: ['\w, ]+")
_TOO_MANY: Final = re.compile(r"[\w.<>]+\(\) takes [\w ]+ but \d+ (was|were) given")
_NOT_EXPORTED: Final = re.compile(r"cannot import name '(?P<word>\w+)' from '(?P<module>[\w.]+)'.*", re.DOTALL)
_SUBSCRIPTS: Final = ("BINARY_SUBSCR", "BINARY_OP")
_ATTRIBUTES: Final = ("LOAD_ATTR", "LOAD_METHOD")
_BEFORE: Final = ("LOAD_CONST", "KW_NAMES", "PRECALL")
"""What stands between a constant argument and the call or subscript that takes it, in Python 3.11 to 3.14."""
_USUAL: Final = {"np": "import numpy as np", "pd": "import pandas as pd", "math": "import math", "random": "import random"}


def show_traceback(error: BaseException) -> None:
    """Print the traceback of an error to stderr, where that was asked for."""
    if debugging.get():
        traceback.print_exception(error, file=sys.stderr)


def blamed(error: BaseException) -> str:
    """Type of an error and the innermost line of the user's code that it passed, else the line that raised it."""
    place = place_of(error)
    return f"{class_name(type(error))} at {place}" if place else origin_of(error)


def place_of(error: BaseException) -> str:
    """File and line of the user's code at which an error arose, "first.py:7"; "" where none of its frames is the user's."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_file():
        return f"{Path(error.filename).name}:{error.lineno or 1}"
    found = _innermost(error)
    return f"{Path(found.tb_frame.f_code.co_filename).name}:{found.tb_lineno}" if found else ""


def said(error: BaseException) -> str:
    """The text of an error with what was probably meant, made of words of the source code alone; "" where it may quote data."""
    found, last = _innermost(error), _last(error)
    if isinstance(error, SyntaxError):
        # What is compiled from a text of the program, such as a literal in a data file, has no file of its own.
        return error.msg if error.filename and Path(error.filename).is_file() else ""
    if found is None or last is None or (found is last and _operation(last) == "RAISE_VARARGS"):
        return ""  # the text of a `raise` of the user's may hold anything
    return _in_words_of(found, error, _operation(last))


def _in_words_of(place: TracebackType, error: BaseException, raised_by: str) -> str:
    """The text of an error, if each word of it is written out in the instruction of the user's that it arose from.

    That a word stands elsewhere in the source is not enough: a value of a record may be equal to it.
    """
    frame, operation = place.tb_frame, _operation(place)
    constants, name = _written_at(place)
    match error:
        case KeyError() if error.args and error.args[0] in constants and operation in _SUBSCRIPTS:
            return f"there is no key {error.args[0]!r}"
        case OSError() if error.errno is not None and error.filename in constants:
            return f"{os.strerror(error.errno)}: {error.filename!r}"
        case AttributeError() if error.name == name and operation in _ATTRIBUTES:
            return _missing_attribute(error)
        case NameError() if error.name == name:
            return _missing_name(name, frame)
        case ImportError():
            return _missing_export(str(error))
        case TypeError() if raised_by not in ("RAISE_VARARGS", "CALL_FUNCTION_EX"):
            return _wrong_call(str(error), frame, constants)
    return ""


def meant(word: str, words: Iterable[str]) -> str:
    """Ask in brackets, with a space before them, whether the nearest of some words was meant; "" where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(words), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _innermost(error: BaseException) -> TracebackType | None:
    """The innermost entry of an error's traceback that is in code of the user's."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not is_installed(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    return found


def is_installed(file: str) -> bool:
    """True if code is Python's, an installed package's or this distribution's."""
    return file.startswith(("<", *_INSTALLED)) or any(name in file for name in PACKAGES)


def is_library(file: str) -> bool:
    """True if code is that of an installed package which may promise something of its own."""
    path = Path(file)
    place = next((place for place, part in enumerate(path.parts) if part in PACKAGES), None)
    return place is not None and not file.startswith(_OWN) and path.parts[place + 1].removesuffix(".py") not in _TOOLS


def _last(error: BaseException) -> TracebackType | None:
    """The entry of an error's traceback where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _operation(trace: TracebackType) -> str:
    """The instruction at which an entry of a traceback stopped."""
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] if trace.tb_lasti >= 0 else ""


def _written_at(place: TracebackType) -> tuple[list[str], str]:
    """The texts that the instructions just before a failed one load as constants, and the name that it looks up itself."""
    code = place.tb_frame.f_code
    instructions = list(dis.get_instructions(code))
    at = next((number for number, one in enumerate(instructions) if one.offset == place.tb_lasti), 0)
    constants = []
    for one in reversed(instructions[:at]):
        if one.opname not in _BEFORE:
            break
        # Python 3.11 gives no value for the names of arguments, only their place among the constants.
        value = code.co_consts[one.arg] if one.opname == "KW_NAMES" and one.arg is not None else one.argval
        found = value if isinstance(value, tuple) else (value,)
        constants += [text for text in found if isinstance(text, str)]
    name = instructions[at].argval if instructions else ""
    return constants, name if isinstance(name, str) else ""


def _missing_attribute(error: AttributeError) -> str:
    """What has no such attribute, and the nearest that it has."""
    holder, name = error.obj, str(error.name)
    if inspect.ismodule(holder):
        return f"the module {holder.__name__} has no {name!r}{meant(name, dir(holder))}"
    if inspect.isclass(holder):
        return f"the class {class_name(holder)} has no {name!r}{meant(name, dir(holder))}"
    kind = type(holder)
    known = dir(kind) if class_name(kind) == kind.__name__ else ()  # a class made at run time may take its names from data
    return f"a value of type {class_name(kind)} has no {name!r}{meant(name, known)}"


def _missing_name(name: str, frame: FrameType) -> str:
    """A name that is not defined, with the line that defines it or the name that was probably meant."""
    ours: tuple[str, ...] = tuple(getattr(sys.modules.get("dpaudit"), "__all__", ()))
    line = f"from dpaudit import {name}" if name in ours else _USUAL.get(name, "")
    if line:
        return f"the name {name!r} is not defined. Write at the top of the file: {line}"
    return f"the name {name!r} is not defined{meant(name, [*frame.f_locals, *frame.f_globals, *ours, *dir(builtins)])}"


def _missing_export(text: str) -> str:
    """What a module does not have that is imported from it."""
    found = _NOT_EXPORTED.fullmatch(text)
    module = sys.modules.get(found["module"]) if found else None
    return f"{found['module']} has no {found['word']!r}{meant(found['word'], dir(module))}" if found and module else ""


def _wrong_call(text: str, frame: FrameType, written: list[str]) -> str:
    """What a call lacks or has too much, as the signature says it; "" for other texts."""
    name = text.partition("(")[0].removesuffix(".__init__")
    called = frame.f_globals.get(name, frame.f_locals.get(name))
    if (found := _UNKNOWN.fullmatch(text)) and found["word"] in written:
        known = list(inspect.signature(called).parameters) if inspect.isfunction(called) or inspect.isclass(called) else []
        listed = f". It has {', '.join(known)}" if known else ""
        return f"{name} has no argument {found['word']!r}{meant(found['word'], known) or listed}"
    if _MISSING.fullmatch(text):
        if inspect.isfunction(called):
            return f"{text}. To pass the function itself, write {name} without brackets"
        return (
            f"{text}. A target states what it promises: {name}(claim=Claim(PureDP(epsilon=1)), ...)"
            if text.endswith("Target.__init__() missing 1 required keyword-only argument: 'claim'")
            else text
        )
    if _TOO_MANY.fullmatch(text):
        by_name = _by_name(called)
        return f"{text}. Give them by name: {name}({', '.join(f'{one}=...' for one in by_name)})" if by_name else text
    return ""


def _by_name(called: object) -> list[str]:
    """The first parameters that something takes by name only."""
    if not (inspect.isfunction(called) or inspect.isclass(called)):
        return []
    return [name for name, one in inspect.signature(called).parameters.items() if one.kind is one.KEYWORD_ONLY][:2]
