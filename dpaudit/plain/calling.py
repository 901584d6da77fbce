"""A plain function as the run of a target: its arguments filled in, its data in the form it takes, its randomness seeded."""

from __future__ import annotations

import contextlib
import io
import reprlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dpaudit.errors import TargetFailure
from dpaudit.plain.forms import Form, Table, form_of, kinds_for, table_of
from dpaudit.plain.seeding import seeding_place
from dpaudit.plain.signature import Call, annotation_of, call_of, parameters_of, refuse_unknown
from dpaudit.plain.streams import generators_of, is_own_process, run_seeded, states_of
from dpaudit.plain.usage import usage_of

if TYPE_CHECKING:
    from numpy.random import Generator

_HEAD: Final = 40
"""Records of a trial call: it shows whether a form is taken, in a moment also where the data are large."""

_SEEDS_TRIED: Final = 8

_WHOLE: Final = ("frame", "polars", "table")
"""Forms that hold all columns, as arrays do whose functions compute with whatever they get."""

_SOURCE_WORDS: Final = {
    "Generator": "the audit's numpy Generator",
    "RandomState": "a numpy RandomState of the audit",
    "Random": "a random.Random of the audit",
    "seed": "a fresh seed in every run",
    "source": "a source of bits of the audit",
}


@dataclass(frozen=True)
class PlainRun:
    """One release of a plain function; `owner` is the class whose method it is, of which every run makes an object."""

    func: Callable[..., Any]
    call: Call
    give: Callable[[Any], tuple[Any, ...]] = field(repr=False)
    source: str | None
    owner: type[Any] | None = None
    owner_call: Call | None = None
    own: tuple[Any, ...] = ()

    @property
    def __name__(self) -> str:
        """The function's own name."""
        return str(getattr(self.func, "__name__", type(self.func).__name__))

    def __call__(self, data: Any, rng: Generator) -> Any:
        """Release once."""
        return run_seeded(lambda: self.release(data, rng), rng, self.own)

    def release(self, data: Any, rng: Generator) -> Any:
        """Call the function, without seeding anything."""
        function, arguments = self.func, dict(zip(self.call.data, self.give(data), strict=True))
        if self.owner is not None and self.owner_call is not None:
            made = self.owner(**_filled(self.owner_call, self.owner_call.sources[:1], rng))
            function = getattr(made, self.__name__)
        return _called(function, self.call, arguments | _filled(self.call, (self.source,) if self.source else (), rng))


@dataclass(frozen=True)
class Adapted:
    """A plain function ready to be a target: its run, the dataset in the form it takes, and what a report says of the call."""

    run: PlainRun
    data: Any
    words: str


def adapt(
    function: Callable[..., Any],
    owner: type[Any] | None,
    source: Any,
    *,
    as_it_is: bool,
    budget: Mapping[str, Any],
    arguments: Mapping[str, Any],
    columns: Sequence[str],
    place: str,
) -> Adapted:
    """Decide how a function is called on data, by its signature, annotations and source, else by trial calls on a few records."""
    table = None if as_it_is or not _is_table(source) else table_of(source)
    refuse_unknown(arguments, (function, *([owner] if owner else [])), place)
    call = call_of(function, budget, arguments, () if table is None else table.names, place, is_method=owner is not None)
    owner_call = None if owner is None else _owner_call(owner, budget, arguments, place)
    own = generators_of(sys.modules.get(function.__module__))
    start = PlainRun(
        function,
        call,
        _as_it_is if len(call.data) == 1 else tuple,
        next(iter(call.sources), None),
        owner,
        owner_call,
        tuple(one for _, one in own),
    )
    if table is None:
        return Adapted(start, source, _words(start, Form("as it is", (), source, _as_it_is), own, None))
    parameters = parameters_of(function)
    kinds = (
        ["split"]
        if len(call.data) > 1
        else kinds_for(annotation_of(parameters[call.data[0]]), usage_of(function, call.data[0]), call.data[0], table.names)
    )
    chosen, form, moved = _first_that_runs(start, kinds, table, columns, own, place)
    return Adapted(chosen, form.data, _words(chosen, form, own, moved))


def _is_table(source: Any) -> bool:
    """True if data are records or an array, of which every form can be made; a DataFrame and the like are given as they are."""
    import numpy as np

    return isinstance(source, (list, tuple)) or (isinstance(source, np.ndarray) and source.ndim in (1, 2))


def _as_it_is(data: Any) -> tuple[Any, ...]:
    """Give the data unchanged."""
    return (data,)


def _owner_call(owner: type[Any], budget: Mapping[str, Any], arguments: Mapping[str, Any], place: str) -> Call:
    """Decide how an object of a method's class is made."""
    return call_of(owner, budget, arguments, (), place, takes_data=False)


def _filled(call: Call, source: Sequence[str], rng: Generator) -> dict[str, Any]:
    """Return constants and the source of randomness by name."""
    found = dict(call.constants)
    if call.source is not None and source:
        found[call.source] = _source_of(source[0], rng)
    return found


def _called(function: Callable[..., Any], call: Call, arguments: dict[str, Any]) -> Any:
    """Call a function by names, by position where it takes some by position only."""
    del call
    first = [name for name, one in parameters_of(function).items() if one.kind is one.POSITIONAL_ONLY and name in arguments]
    return function(*[arguments.pop(name) for name in first], **arguments)


def _source_of(kind: str, rng: Generator) -> Any:
    """Return a source of randomness of a kind that draws from `rng`."""
    if kind == "Generator":
        return rng
    if kind == "seed":
        return int(rng.integers(2**32))
    if kind == "source":
        return import_module("mechanisms").source_from(rng)
    if kind == "Random":
        import random

        return random.Random(int(rng.integers(2**62)))  # noqa: S311 - the audited function draws its noise so
    import numpy as np

    return np.random.RandomState(rng.bit_generator)


def _first_that_runs(
    start: PlainRun, kinds: Sequence[str], table: Table, columns: Sequence[str], own: Sequence[tuple[str, Any]], place: str
) -> tuple[PlainRun, Form, tuple[str, ...]]:
    """Return the first form, and kind of source, with which a trial call gives an output; the likeliest where none does."""
    refusals: list[TargetFailure] = []
    possible: list[tuple[str, PlainRun]] = []
    for kind in kinds:
        if refusals and kind in _WHOLE:
            break  # what takes one column would take all of them side by side without complaint, and mean something else
        try:
            form = form_of(kind, table.head(_HEAD), start.call.data, columns)
        except TargetFailure as failure:
            refusals.append(failure)
            continue
        for source in start.call.sources or (None,):
            run = replace(start, give=form.give, source=source)
            possible.append((kind, run))
            if (moved := _try(run, form.data, own)) is not None:
                return run, form_of(kind, table, start.call.data, columns), moved
    if refusals and (not possible or kinds[0] not in {kind for kind, _ in possible}):
        raise TargetFailure(refusals[0].code, f"{place}: {refusals[0].message}")
    kind, run = possible[0]
    return run, form_of(kind, table, start.call.data, columns), ()


def _try(run: PlainRun, data: Any, own: Sequence[tuple[str, Any]]) -> tuple[str, ...] | None:
    """Make a trial call; return the names of the sources it drew from, None where it gives no output."""
    import numpy as np

    drawn: list[str] = []

    def release() -> Any:
        before = states_of(own)
        output = run.release(data, rng)
        after = states_of(own)
        drawn.extend(name for name, state in before.items() if after[name] != state)
        return output

    rng = np.random.default_rng(0)
    with _silence():
        try:
            output = run_seeded(release, rng, run.own)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - the audit itself says why a function fails
            return None
    return None if output is None else tuple(drawn)


def _shown(value: Any) -> str:
    """Write a constant; of what has no short text its type, since a text may hold the place of an object in memory."""
    return reprlib.repr(value) if isinstance(value, (str, int, float, tuple, list, dict, set, type(None))) else type(value).__name__


def _repeats(run: PlainRun, data: Any) -> bool:
    """True if calls from one seed give the same, as far as their outputs can be written down."""
    import numpy as np

    try:
        with _silence():  # several seeds, since outputs of few values are often alike by chance
            pairs = [[repr(run(data, np.random.default_rng(seed))) for _ in range(2)] for seed in range(_SEEDS_TRIED)]
    except Exception:  # noqa: BLE001 - the audit itself says why a function fails
        return True
    return all(first == again for first, again in pairs)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what a trial call prints and warns."""
    import warnings

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _words(run: PlainRun, form: Form, own: Sequence[tuple[str, Any]], moved: tuple[str, ...] | None) -> str:
    """Say how the function is called, for the report: no value of the data."""
    call = run.call
    given = [
        *(f"{name}={form.words}" for name in call.data[:1]),
        *call.data[1:],
        *(f"{name}={_shown(value)}" for name, value in call.constants),
    ]
    if call.source is not None and run.source is not None:
        given.append(f"{call.source}={_SOURCE_WORDS[run.source]}")
    said = f"called with {', '.join(given)}"
    names = dict(own)
    others = [f"the generator {name} of its module" if name in names else name for name in moved or ()]
    if others:
        seeded = "is seeded by the audit" if is_own_process() else "is not seeded in this process, so that no replay repeats it"
        said += f"; its randomness from {' and '.join(others)} {seeded}"
    elif moved is not None and call.source is None:
        same = _repeats(run, form.data)
        said += (
            "; no source of randomness was noticed" if same else "; its randomness cannot be seeded, so that no replay repeats it"
        )
    if call.default_source:
        value = parameters_of(run.func)[call.default_source].default
        said += (
            f"; by default {call.default_source}={value!r} repeats one and the same noise, which the audit replaces by fresh noise"
        )
    elif place := seeding_place(run.func, call.source or ""):
        said += f"; line {place[1]} of its file seeds a generator once, so that each start of the program repeats its noise"
    return said
