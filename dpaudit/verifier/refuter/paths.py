"""All paths of a program on given data, each with its conditions on the noise and its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any, Final, Protocol, TypeAlias

from flint import arb, fmpq

from dpaudit.exact import fmpq_of
from dpaudit.verifier.fuel import spend
from dpaudit.verifier.interpreter import Machine, TooLong, Undefined, machine_of
from dpaudit.verifier.ir import Draw, Invoke, Law, Program
from dpaudit.verifier.refuter.forms import Blur, Condition, Form, NotLinear
from dpaudit.verifier.refuter.pieces import Bell, Density, decay

Inputs: TypeAlias = Mapping[str, Any]


class Aim(Protocol):
    """An output to which paths should lead."""

    def hear(self, place: int, value: Any) -> None:
        """Hear that an output list gets a value at a place; may end the run by `Elsewhere`."""

    def truth(self, place: tuple[int, ...]) -> bool | None:
        """The truth value that a returned one must have at its place, in a list or not, None if it may have either."""


MOST_DECISIONS: Final = 5_000
"""Most decisions on noise over all paths together; programs whose loops end by chance have no end of paths."""

_LONGEST_RUN: Final = 2_000

_TWO_SIDED: Final = (Law.LAPLACE, Law.DISCRETE_LAPLACE)
_ONE_SIDED: Final = (Law.EXPONENTIAL, Law.GEOMETRIC)
_WHOLE: Final = (Law.DISCRETE_LAPLACE, Law.GEOMETRIC)


class Undecided(ArithmeticError):
    """The evaluator cannot give a certified number here; the text says why."""


class Elsewhere(Exception):
    """The run has left the event that is looked at."""


@dataclass(frozen=True)
class Noise:
    """One draw of a continuous or lattice law: its mass or density by the real or integer that stands for it."""

    density: Density
    lattice: fmpq
    one_sided: bool = False

    @property
    def whole(self) -> bool:
        """True if it takes values on a lattice."""
        return self.density.whole


@dataclass(frozen=True)
class Path:
    """One way through the program.

    `noises` are its draws by number, `conditions` what they have to fulfil, `weight` the probability of its finite choices,
    `values` what is returned (numbers, truth values, forms of noise, tuples of these), or `exception`. `draws` are all draws in
    their order, each with the arguments of its law and its value or form.
    """

    noises: Mapping[int, Noise]
    conditions: tuple[Condition, ...]
    weight: arb
    values: tuple[Any, ...]
    exception: str
    draws: tuple[tuple[Draw, tuple[Any, ...], Any], ...]


@dataclass(frozen=True)
class _Trail:
    """What was decided and drawn on the way to one place of a run."""

    noises: Mapping[int, Noise] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    ends: Mapping[int, _Ends] = field(default_factory=dict)
    weight: arb = field(default_factory=lambda: arb(1))
    draws: tuple[tuple[Draw, tuple[Any, ...], Any], ...] = ()
    decisions: int = 0

    def is_null(self) -> bool:
        """True if a linear form of continuous noise has to have one value, which has probability 0."""
        equalities = (one.form.factors for one in self.conditions if one.relation == "==")
        return any(not any(self.noises[place].whole for place in factors) for factors in equalities)

    def under(self, condition: Condition) -> _Trail:
        """The trail with one condition more, which may be the end of it."""
        ends = self.ends
        if len(condition.form.factors) == 1:
            ((place, factor),) = condition.form.factors.items()
            edge, strict = -condition.form.start / factor, condition.relation == "<"
            low, high = ends.get(place, ((None, False), (None, False)))
            if condition.relation == "==" or factor < 0:
                low = _stricter(low, (edge, strict), above=True)
            if condition.relation == "==" or factor > 0:
                high = _stricter(high, (edge, strict), above=False)
            if _is_empty(low, high):
                raise Elsewhere
            ends = {**ends, place: (low, high)}
        return replace(self, conditions=(*self.conditions, condition), ends=ends)


_End: TypeAlias = tuple[fmpq | None, bool]
_Ends: TypeAlias = tuple[_End, _End]
"""Where a draw lies by the conditions on it alone: the ends, if there are any, and whether they are left out."""


def _stricter(one: _End, other: _End, *, above: bool) -> _End:
    """The stricter of two ends from below, with `above`, or from above."""
    if one[0] is None or one[0] == other[0]:
        return other[0], (one[1] and one[0] is not None) or other[1]
    return other if other[0] is not None and (other[0] > one[0]) is above else one


def _is_empty(low: _End, high: _End) -> bool:
    """True if nothing lies between two ends."""
    if low[0] is None or high[0] is None:
        return False
    return bool(low[0] > high[0]) or (bool(low[0] == high[0]) and (low[1] or high[1]))


@dataclass
class _Course:
    """One run, a statement at a time; each decision leaves its other possibilities to be tried from this statement on.

    `given` are the decisions that were made for this statement before; it takes the first possibility each where there are none.
    """

    machine: Machine
    trail: _Trail
    given: tuple[int, ...] = ()
    waiting: list[_Course] = field(default_factory=list)
    start: _Trail = field(init=False)
    taken: tuple[int, ...] = ()

    def finish(self, aim: Aim | None) -> Path | None:
        """Run to the end; None where that is elsewhere."""
        machine = self.machine
        machine.draw, machine.decide = self.draw, self.decide
        if aim is not None:
            machine.emit = lambda statement, value: aim.hear(len(machine.names.get(statement.name, ())), value)
        while True:
            self.start, self.taken = self.trail, ()
            ended = machine.step()
            if ended is not None:
                values = tuple(self.settle(value, aim, (part,)) for part, value in enumerate(ended.values))
                trail = self.trail
                return Path(trail.noises, trail.conditions, trail.weight, values, ended.exception, trail.draws)
            self.given = ()

    def pick(self, count: int) -> int:
        """Choose one of `count` possibilities for this run."""
        place = len(self.taken)
        if place < len(self.given):
            chosen = self.given[place]
        else:
            chosen = 0
            for other in range(1, count):
                self.waiting.append(_Course(self.machine.copied(), self.start, (*self.taken, other), self.waiting))
        self.taken = (*self.taken, chosen)
        self.trail = replace(self.trail, decisions=self.trail.decisions + 1)
        return chosen

    def decide(self, value: Any, *, wanted: bool | None = None) -> bool:
        """The truth of a test; one that depends on noise becomes a condition, on one side alone where that is wanted."""
        if not isinstance(value, Condition):
            return bool(value)
        opposite = value.negated()
        sides = [value, opposite] if opposite is not None else [value, *value.unequal()]
        truths = [place for place in range(len(sides)) if wanted is None or wanted is (place == 0)]
        chosen = truths[self.pick(len(truths)) if len(truths) > 1 else 0]
        self.trail = self.trail.under(sides[chosen])
        return chosen == 0

    def settle(self, value: Any, aim: Aim | None, place: tuple[int, ...]) -> Any:
        """An output with its truth values decided."""
        if isinstance(value, tuple):
            return tuple(self.settle(one, aim, (*place, number)) for number, one in enumerate(value))
        if not isinstance(value, Condition):
            return value
        return self.decide(value, wanted=None if aim is None else aim.truth(place))

    def draw(self, statement: Draw | Invoke, args: tuple[Any, ...]) -> Any:
        """Fresh noise as a form, or one outcome of a finite law."""
        if isinstance(statement, Invoke):
            raise Undecided("a helper with a contract of its own is called")
        if any(isinstance(argument, (Form, Blur, Condition)) for argument in args):
            raise Undecided("the parameters of a law depend on noise")
        noises, weight = self.trail.noises, self.trail.weight
        value: Any
        if statement.law in (*_TWO_SIDED, *_ONE_SIDED, Law.GAUSSIAN):
            noise, place = noise_of(statement.law, args), len(self.trail.draws) + 1
            noises, value = {**noises, place: noise}, Form({place: noise.lattice}, fmpq())
        else:
            outcomes = outcomes_of(statement.law, args)
            value, share = outcomes[self.pick(len(outcomes))]
            weight = weight * share
        self.trail = replace(self.trail, noises=noises, weight=weight, draws=(*self.trail.draws, (statement, args, value)))
        return value


def noise_of(law: Law, args: tuple[Any, ...]) -> Noise:
    """The density of a law of noise."""
    scale, lattice = fmpq(args[0]), fmpq(args[1]) if len(args) > 1 else fmpq(1)
    if scale <= 0 or lattice <= 0:
        raise Undecided("a law has a scale that is not positive")
    if law is Law.GAUSSIAN:
        return Noise(Bell(scale), fmpq(1))
    whole, one_sided = law in _WHOLE, law in _ONE_SIDED
    rate = (lattice if whole else 1) / scale
    continuous, lattice_mass = rate if one_sided else rate / 2, -arb(-rate).expm1() if one_sided else (arb(rate) / 2).tanh()
    factor = lattice_mass if whole else arb(continuous)
    return Noise(decay(rate, factor, whole=whole, one_sided=one_sided), lattice if whole else fmpq(1), one_sided)


def outcomes_of(law: Law, args: tuple[Any, ...]) -> list[tuple[Any, arb]]:
    """Values of a finite law with their probabilities."""
    match law:
        case Law.BERNOULLI if 0 <= args[0] <= 1:
            return [(True, arb(fmpq(args[0]))), (False, arb(1 - fmpq(args[0])))]
        case Law.RANDOMIZED_RESPONSE if 0 <= args[1] <= 1:
            return [(bool(args[0]), arb(fmpq(args[1]))), (not args[0], arb(1 - fmpq(args[1])))]
        case Law.UNIFORM_INT if args[0] >= 1:
            return [(place, arb(fmpq(1, args[0]))) for place in range(args[0])]
        case Law.EXPONENTIAL_CHOICE if len(args) > 2 and args[-1] > 0:
            weights = [arb(fmpq(args[-2]) * score / (2 * args[-1])).exp() for score in args[:-2]]
            total = reduce(arb.__add__, weights)
            return [(place, weight / total) for place, weight in enumerate(weights)]
    raise Undecided(f"the law {law.value} has no finite list of outcomes with these parameters")


def paths_of(program: Program, inputs: Inputs, aim: Aim | None = None) -> Iterator[Path]:
    """Every path of a program on given data; with an aim, at least those that may lead to it.

    Paths share what comes before they part. Those whose conditions leave a draw no value are left out.
    """
    data = {name: _exact(value) for name, value in inputs.items()}
    machine = machine_of(program, data, draw=_nobody, limit=_LONGEST_RUN, real=fmpq_of)
    waiting: list[_Course] = []
    waiting.append(_Course(machine, _Trail(), (), waiting))
    decisions = 0
    while waiting:
        spend()
        course = waiting.pop()
        if decisions > MOST_DECISIONS:
            raise Undecided(f"the paths on these data take more than {MOST_DECISIONS} decisions")
        found = None
        try:
            found = course.finish(aim)
        except Elsewhere:
            pass
        except Undefined:
            if not course.trail.is_null():
                raise
        except (NotLinear, TooLong, TypeError) as refusal:
            raise Undecided(str(refusal)) from refusal
        decisions += course.trail.decisions + 1
        if found is not None:
            yield found


def _nobody(*_: Any) -> Any:
    """Draw for a machine that has not begun."""
    raise TypeError("this machine has no source of draws")


def _exact(value: Any) -> Any:
    """An input with flint's fractions in place of Python's, which are several times slower."""
    if isinstance(value, tuple):
        return tuple(map(_exact, value))
    return fmpq_of(value) if isinstance(value, Fraction) else value
