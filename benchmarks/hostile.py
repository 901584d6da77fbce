"""Calls that no caller should make, and what becomes of them.

A public function is known by its signature alone. Each parameter gets a value that is usual for its name, and some get a hostile
one: wrong in kind, shape or size, not finite, huge, tiny, empty; one parameter at a time and every value, or several as they are
drawn, and then a method of what was made. So a new public name is called without a line for it here.
"""

from __future__ import annotations

import inspect
import reprlib
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from types import FrameType
from typing import Any, Final

import numpy as np
from hostile_values import DRAWN, HOSTILE, MARK, PRIVATE, SECRET, USUAL
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from dpaudit.errors import DpauditError
from mechanisms.sampling.random import InsecureNoiseWarning

OURS: Final = ("dpaudit", "mechanisms", "learners")
PACKAGES: Final = (
    *("dpaudit", "dpaudit.accounting", "dpaudit.auditor", "dpaudit.auditor.execution", "dpaudit.auditor.membership"),
    *("dpaudit.interop", "dpaudit.ledger", "dpaudit.report", "dpaudit.verifier", "mechanisms", "learners", "learners.papers"),
)
"""Whose public names are called."""

GIVEN: Final = {
    *("AccuracyTest", "AuditInterrupted", "Calibration", "CanaryAudit", "ChainHead", "DpauditError", "Finding", "LedgerBudget"),
    *("LedgerEntry", "LedgerVerification"),
    *("LikelihoodRatio", "OperatingPoint", "PrivacyLoss", "PrivacyRecord", "Progress", "Receipt", "ReplayResult", "Verdict"),
    *("PropertyResult", "ProofResult", "__version__"),
}
"""What functions give and callers read; nobody makes it by hand. The methods of what functions give are called."""

INNER: Final = {
    *("below", "beyond", "bits", "cumulative", "decay", "estimate", "fall", "from_ball", "gradients", "level", "mass", "observe"),
    *("order", "probability", "uniform", "weight", "within"),
}
"""What samplers ask of laws and of sources of bits, trainings of hooks, and engines of balls, millions of times: without checks."""

CHEAP: Final = {"accounting", "candidates", "examples", "frequencies", "point_count", "runs"}
"""Optional parameters that are always given, so that calls are short."""


WORK: Final = {"count", "dimension", "examples", "n", "records", "runs", "seconds", "size", "times"}
"""Parameters that say how much is to be done: what is a lot but allowed takes long because it was asked for."""

A_LOT: Final = (10**5, 2**40)
"""Amounts of work that nobody waits for here, and that are not refused either."""

CALLED: Final = {"make", "progress", "weight"}
"""Parameters that are functions of the caller, whose errors are the caller's own and pass as they are."""


_MANY: Final = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


class TooLong(BaseException):
    """A call took longer than a call may."""


@dataclass(frozen=True)
class Outcome:
    """What became of one call: "answered", "refused", "unfitted", or a fault, with the place that raised and an example."""

    name: str
    kind: str
    place: str = ""
    example: str = ""

    @property
    def fault(self) -> bool:
        """Whether no call may end like this."""
        return self.kind not in {"answered", "refused", "unfitted"}


Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def subjects() -> dict[str, Callable[..., Any]]:
    """Every public function and class that a caller calls, by package and name."""
    found = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if name not in GIVEN and callable(value) and not getattr(value, "_is_protocol", False):
                found[f"{package}.{name}"] = value
    return found


def outcomes(data: st.DataObject, name: str, function: Callable[..., Any], seconds: int) -> Iterator[Outcome]:
    """Call a function with drawn arguments, then one method or property of what it gave.

    Args:
      data: Hypothesis's source of choices.
      name: of the function, in reports.
      function: what is called.
      seconds: processor time that one call may take.
    """
    made, outcome = _called(name, function, _arguments(data, function, data.draw(st.sampled_from((0, 0, 1, 2)))), seconds)
    yield outcome
    ours = type(made).__module__.split(".")[0] in OURS
    if outcome.kind != "answered" or not ours or not (members := _members(type(made))):
        return
    member = data.draw(st.sampled_from(members))
    whole, found = f"{name}().{member}", inspect.getattr_static(type(made), member)
    if inspect.isfunction(found) or isinstance(found, (classmethod, staticmethod)):
        bound = getattr(made, member)
        yield _called(whole, bound, _arguments(data, bound, data.draw(st.sampled_from((0, 1, 1, 2)))), seconds)[1]
    else:
        yield _called(whole, lambda: _read(made, member), ((), {}), seconds)[1]


def swept(part: int, parts: int, seconds: int) -> Iterator[Outcome]:
    """One call for each parameter of each public name and each hostile value, with usual values for all others.

    Args:
      part: which of the parts, from 0; the values are dealt out to them in turn.
      parts: how many parts there are.
      seconds: processor time that one call may take.
    """
    for name, function in sorted(subjects().items()):
        parameters = [one for one in inspect.signature(function).parameters.values() if one.kind not in _MANY]
        for parameter, (number, make) in product(parameters, enumerate(HOSTILE)):
            if number % parts == part and _is_tried(parameter, value := make()):
                yield _called(name, function, _with(parameters, parameter, value), seconds)[1]


def _with(parameters: Sequence[inspect.Parameter], given: inspect.Parameter, value: Any) -> Arguments:
    """Arguments with one value given, usual ones for what has to be there."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for one in parameters:
        needed = one.default is one.empty or one.name in CHEAP
        if one is not given and not needed:
            continue
        chosen = value if one is given else _usual(one)
        if one.kind is one.KEYWORD_ONLY or named or not needed:
            named[one.name] = chosen
        else:
            positional.append(chosen)
    return tuple(positional), named


def _usual(parameter: inspect.Parameter) -> Any:
    """The first of the usual values of a parameter."""
    if parameter.name not in USUAL:
        return 1 if parameter.default is parameter.empty else parameter.default
    value = USUAL[parameter.name][0]
    return value() if inspect.isfunction(value) else value


def _read(made: Any, member: str) -> Any:
    """A property; an estimator that is not fitted has some of them not yet, as scikit-learn wants it."""
    try:
        return getattr(made, member)
    except AttributeError as error:
        if isinstance(made, BaseEstimator):
            raise NotFittedError from error
        raise


def _members(kind: type) -> list[str]:
    """Public methods and properties that are ours."""
    names = []
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        ours = f"{getattr(function, '__module__', '')}".split(".")[0] in OURS
        if not name.startswith("_") and name not in INNER and ours and callable(function):
            names.append(name)
    return names


def _arguments(data: st.DataObject, function: Callable[..., Any], hostile: int) -> Arguments:
    """Arguments for a function: usual ones, of which so many are hostile; optional ones now and then."""
    taken = [
        one
        for one in inspect.signature(function).parameters.values()
        if one.kind is not one.VAR_KEYWORD
        and (one.default is one.empty or one.name in CHEAP or data.draw(st.integers(0, 3), label=f"give {one.name}") == 0)
    ]
    places = range(len(taken))
    chosen = data.draw(st.sets(st.sampled_from(places), min_size=1, max_size=hostile)) if hostile and taken else set()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for place, one in enumerate(taken):
        value = data.draw(_value(one, hostile=place in chosen), label=one.name)
        if one.kind in {one.VAR_POSITIONAL, one.POSITIONAL_ONLY} or (
            one.kind is one.POSITIONAL_OR_KEYWORD and place == len(positional)
        ):
            positional.append(value)
        else:
            named[one.name] = value
    return tuple(positional), named


def _value(parameter: inspect.Parameter, *, hostile: bool) -> st.SearchStrategy[Any]:
    """A value for a parameter."""
    if hostile and parameter.name in PRIVATE:
        return st.sampled_from((*SECRET, *HOSTILE)).map(lambda make: make())
    if hostile:
        return (st.sampled_from(HOSTILE).map(lambda make: make()) | DRAWN).filter(lambda value: _is_tried(parameter, value))
    if parameter.name in USUAL:
        return st.sampled_from(USUAL[parameter.name]).map(lambda value: value() if inspect.isfunction(value) else value)
    return st.just(parameter.default) if parameter.default is not parameter.empty else st.sampled_from((1, "1/2", "a")) | DRAWN


def _is_tried(parameter: inspect.Parameter, value: Any) -> bool:
    """Whether a parameter is tried with a value: neither with work that would be done nor with a function of the caller."""
    much = isinstance(value, (int, np.integer)) and A_LOT[0] < int(value) <= A_LOT[1]
    return not (parameter.name in WORK and much) and not (parameter.name in CALLED and callable(value))


def _called(name: str, function: Callable[..., Any], arguments: Arguments, seconds: int) -> tuple[Any, Outcome]:
    """What a call gave, and what became of it."""
    positional, named = arguments
    try:
        with _limit(seconds), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", InsecureNoiseWarning)
            return function(*positional, **named), Outcome(name, "answered")
    except TooLong as error:
        kind, place = "too long", _place(error)
    except NotFittedError:
        return None, Outcome(name, "unfitted")
    except DpauditError as error:
        shown = "".join(traceback.format_exception(error))
        if not any(digits in shown for digits in (str(MARK), f"{MARK / 1e8:.8f}")):
            return None, Outcome(name, "refused")
        kind, place = "private value shown", _place(error)
    except Exception as error:  # noqa: BLE001 - what the calls are about
        kind, place = type(error).__name__, _place(error)
    return None, Outcome(
        name, kind, place, ", ".join([*map(_text, positional), *(f"{key}={_text(one)}" for key, one in named.items())])
    )


def _text(value: Any) -> str:
    """A value in a line."""
    try:
        return " ".join(reprlib.repr(value).split())
    except Exception as error:  # noqa: BLE001 - values that cannot be shown are among the hostile ones
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"


def _place(error: BaseException) -> str:
    """The innermost line of ours on the way of an error."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        parts = frame.filename.split("/")
        if "site-packages" not in parts and (named := [part for part in OURS if part in parts]):
            return f"{'/'.join(parts[max(map(parts.index, named)) :])}:{frame.lineno}"
    return "?"


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    """Raise TooLong in a call that takes longer, in processor time, as the machine may be busy."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)  # again every second, where an error would be lost in a destructor
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
