"""Counterexamples run by Python itself: on draws taken from each counted path, the function must give the event."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from dpaudit.verifier.interpreter import Halt
from dpaudit.verifier.ir import Program
from dpaudit.verifier.refuter.events import AnyNumber, Box, Event, Leaf, Toward, event_conditions, exact_event
from dpaudit.verifier.refuter.forms import Blur, Condition, Form
from dpaudit.verifier.refuter.paths import Inputs, Path, Undecided, paths_of
from dpaudit.verifier.refuter.supports import Space, spaces_of
from dpaudit.verifier.refuter.witness import Witness
from dpaudit.verifier.replay import Differs, Drawn, fraction, python_run
from dpaudit.verifier.solving import Answer, Model, satisfiable
from dpaudit.verifier.terms import ZERO, Sort, Term, add, constant, equal, less, less_equal, multiply, negation, variable

MOST_PATHS: Final = 64
"""The most paths to an event that are run on one dataset."""
_OTHERS: Final = 16
"""The most paths, to whatever output, that are run besides."""


def is_reproduced(program: Program, witness: Witness) -> bool:
    """True if Python does on both datasets of a witness what was computed of it, its event included.

    For each path that was counted, a solver gives draws that fulfil its conditions, as exact numbers; the source is then run by
    Python on the data with samplers that hand out these numbers. The event must come out each time, after the recorded draws
    with the recorded arguments. A number of other paths is run as well, whose outputs must be the computed ones.
    """
    event, counted = witness.event, 0
    for inputs in (witness.pair.first, witness.pair.second):
        # A space has probability 0 on the second dataset.
        to_event = inputs is witness.pair.first or isinstance(event, Event)
        runs = islice(_runs(program, inputs, event), MOST_PATHS) if to_event else ()
        for wanted, found in ((event, runs), (None, _others(program, inputs))):
            for path, model, drawn in found:
                try:
                    ended = python_run(program, inputs, drawn)
                except Differs:
                    return False
                if not _computed(ended, path, model) or not (wanted is None or _gives(ended, wanted)):
                    return False
                counted += wanted is not None and inputs is witness.pair.first
    return counted > 0


def _runs(program: Program, inputs: Inputs, event: Event | Space | None) -> Iterator[tuple[Path, Model, list[Drawn]]]:
    """Paths, to an event where one is given, each with draws by which the program takes it."""
    plain = exact_event(event) if isinstance(event, Event) else event
    aim = Toward(program, plain) if isinstance(plain, Event) else None
    sorts = dict(program.sorts)
    for path in paths_of(program, inputs, aim):
        added: tuple[Condition, ...] | None = ()
        if isinstance(plain, Event):
            added = event_conditions(path, plain)
        elif plain is not None and plain not in spaces_of(path):
            added = None
        model = None if added is None else _draws(path, added)
        if model is not None:
            yield (
                path,
                model,
                [
                    Drawn(statement, tuple(map(fraction, args)), _value(path, model, value, sorts[statement.name]))
                    for statement, args, value in path.draws
                ],
            )


def _others(program: Program, inputs: Inputs) -> Iterator[tuple[Path, Model, list[Drawn]]]:
    """Some paths to whatever output, as far as they can be followed."""
    try:
        yield from islice(_runs(program, inputs, None), _OTHERS)
    except (Undecided, ArithmeticError, IndexError):
        return


def _draws(path: Path, added: tuple[Condition, ...]) -> Model | None:
    """Draws that fulfil the conditions of a path and of an event."""
    facts = [less_equal(ZERO, _symbol(path, place)) for place, noise in path.noises.items() if noise.one_sided]
    for condition in (*path.conditions, *added):
        compare = {"<": less, "<=": less_equal, "==": equal}[condition.relation]
        facts.append(compare(_term(path, condition.form), ZERO))
    # Draws at 0 would hide by what they are multiplied.
    for asked in ([*facts, *(negation(equal(_symbol(path, place), ZERO)) for place in path.noises)], facts):
        outcome = satisfiable(asked)
        if outcome.answer is Answer.SAT:
            return outcome.model
    return None


def _symbol(path: Path, place: int) -> Term:
    """The real or integer that stands for a draw."""
    return variable(f"x{place}", Sort.INT if path.noises[place].whole else Sort.REAL)


def _term(path: Path, form: Form) -> Term:
    """A linear form as a term."""
    parts = (multiply(constant(fraction(factor)), _symbol(path, place)) for place, factor in form.factors.items())
    return add(constant(fraction(form.start)), *parts)


def _value(path: Path, model: Model, value: Any, sort: Sort) -> Any:
    """The value that a sampler returns, of the type that its law has."""
    number = model.value(_term(path, value)) if isinstance(value, Form) else value
    return {Sort.INT: int, Sort.REAL: Fraction, Sort.BOOL: bool}[sort](number)


def _computed(ended: Halt, path: Path, model: Model) -> bool:
    """True if a run ended as the path says."""
    same = ended.exception == path.exception and len(ended.values) == len(path.values)
    return same and all(_equal(one, value, path, model) for one, value in zip(ended.values, path.values, strict=True))


def _equal(value: Any, expected: Any, path: Path, model: Model) -> bool:
    """True if a returned value is the computed one; noise on a lattice of integers is an int, elsewhere a fraction."""
    if isinstance(expected, tuple):
        pairs = zip(value, expected, strict=False) if isinstance(value, tuple) and len(value) == len(expected) else ((None, 0),)
        return all(_equal(one, other, path, model) for one, other in pairs)
    if isinstance(expected, Blur):
        return type(value) in {int, Fraction}
    if isinstance(expected, Form):
        return type(value) in {int, Fraction} and bool(value == model.value(_term(path, expected)))
    return type(value) is type(fraction(expected)) and bool(value == fraction(expected))


def _gives(ended: Halt, event: Event | Space) -> bool:
    """True if a run ended in an event."""
    if isinstance(event, Space):
        return not ended.exception and _lies(ended, event)
    if ended.exception or event.exception:
        return ended.exception == event.exception
    wanted = [(one, leaf) for one, leaf in zip(ended.values, event.values, strict=False)]
    return len(ended.values) == len(event.values) and all(_is(one, leaf) for one, leaf in wanted)


def _is(value: Any, leaf: Leaf | tuple[Leaf, ...]) -> bool:
    """True if a returned value is what the event has at its place."""
    if isinstance(leaf, tuple):
        return isinstance(value, tuple) and len(value) == len(leaf) and all(map(_is, value, leaf))
    if isinstance(leaf, AnyNumber):
        return type(value) in {int, Fraction}
    if isinstance(leaf, Box):
        return type(value) is Fraction and leaf.low <= value < leaf.high
    return isinstance(value, bool) is isinstance(leaf, bool) and bool(value == leaf)


def _lies(ended: Halt, space: Space) -> bool:
    """True if a run's outputs lie in a space."""
    shape = tuple(len(value) if isinstance(value, tuple) else -1 for value in ended.values)
    leaves = [leaf for value in ended.values for leaf in (value if isinstance(value, tuple) else (value,))]
    if shape != space.pattern[0]:
        return False
    continuous = []
    for leaf, (kind, wanted) in zip(leaves, space.pattern[1:], strict=True):
        if kind == Form.__name__:
            continuous.append(leaf)
        elif not _is(leaf, fraction(wanted)):
            return False
    return all(sum(map(Fraction.__mul__, row, continuous)) == row[-1] for row in space.equations)
