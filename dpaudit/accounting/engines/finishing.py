"""The last step: every upper end the least and every lower end the greatest of all that are valid, where an answer is wide."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from dpaudit.accounting.engines.bounds import upper_bound
from dpaudit.accounting.engines.closed_forms import Profile, closed_form, counted_profile
from dpaudit.accounting.engines.jumps import largest_jump
from dpaudit.accounting.engines.parts import parts_of
from dpaudit.accounting.engines.shape import Known, below_chords, implied, known_at
from dpaudit.accounting.engines.tilts import tilted_end
from dpaudit.accounting.laws.between import dominated_laws, dominating_laws
from dpaudit.accounting.laws.unsampled import published_laws
from dpaudit.accounting.model.composition import Composition, DeltaAt, EpsilonAt, Question, greatest_loss, infinite_loss, is_narrow
from dpaudit.exact import Enclosure, Endpoint, Reason

# An answer of one direction from the engines alone.
Plain: TypeAlias = Callable[[Composition, Question], Enclosure]

MISSED: Final = Fraction(1, 1 << 20)  # Relative distance below an epsilon at which other answers are compared with it
INVERTED: Final = Fraction(1, 100)  # Relative width of an epsilon beyond which the finished profile is inverted
RUNGS: Final = 10  # Epsilons below the greatest loss g are g - g/2^j for j up to this
LARGE: Final = Fraction(1, 64)  # Deltas above which chords say more than moments, which say nothing at small epsilons
# Epsilons to which chords are drawn where only moments are known.
FIXED: Final = tuple(Fraction(size, 64) * 2**power for power in range(10) for size in (4, 5, 6, 7))
PUBLISHED: Final = "the hidden choice of records published: a mixture loses at most what its components lose"


def finished(composition: Composition, question: Question, first: Enclosure, plain: Plain, *, sharp: bool = False) -> Enclosure:
    """The answer of one direction from the best of all ends; what was asked before has no influence on it."""
    # A `sharp` first answer is as near as the laws above and below allow.
    best, known = (
        _best(composition, question, first, plain, sharp=sharp),
        dominating_laws(composition) == dominated_laws(composition),
    )
    if not known:  # a class of mechanisms is wide whatever is done, and the shape of its ends would cost as much again
        if isinstance(question, DeltaAt) and best.upper > LARGE and parts_of(composition, lower=False) is None:
            return _below_chords(composition, question, best, plain)
        return best
    if is_narrow(best):
        return best
    if isinstance(question, EpsilonAt):  # the finished profile says more only where it has the greatest loss to begin at
        settled = is_narrow(best, INVERTED) or greatest_loss(composition) is None
        return best if settled else _inverted(composition, question, best, plain)
    others = [(epsilon, _best(composition, DeltaAt(epsilon), None, plain)) for epsilon in _rungs(composition, question.epsilon)]
    return _joined([best, implied(question.epsilon, others, _limit(composition))])


def _best(composition: Composition, question: Question, first: Enclosure | None, plain: Plain, *, sharp: bool = False) -> Enclosure:
    """The best ends of the engines, of few outcomes, and of the published choice, as long as they are needed."""
    found = [plain(composition, question) if first is None else first]
    for one in _further(composition, question, plain, found, sharp=sharp):
        if is_narrow(found[-1]):
            break
        found.append(_joined([found[-1], one]))
    return found[-1]


def _further(
    composition: Composition, question: Question, plain: Plain, found: Sequence[Enclosure], *, sharp: bool
) -> Iterator[Enclosure]:
    """Answers, the cheap ones first; those that hold from one side only have the trivial end on the other."""
    # An epsilon is asked of another answer only where its delta is small enough a little below the least one found so far.
    most: Endpoint = Fraction(1) if isinstance(question, DeltaAt) else float("inf")
    end, place, target = found[-1].upper, None, Fraction(1)
    if isinstance(question, EpsilonAt) and isinstance(end, Fraction) and end > 0:
        place, target = DeltaAt(end * (1 - MISSED)), question.delta
    published = published_laws(composition)
    if published and (place is None or all(plain(way, place).lower <= target for way in published)):
        worst = max((plain(way, question) for way in published), key=lambda answer: answer.upper)
        yield Enclosure(Fraction(0), worst.upper, Reason(PUBLISHED, (worst.reason,)))
    if not sharp:
        small = place is None or (least := tilted_end(composition, place)) is None or least.upper <= target
        if small and (tilted := tilted_end(composition, question)) is not None:
            yield tilted
        above = counted_profile(dominating_laws(composition))
        if above is not None:
            answer = above.answer(question, "upper")
            yield Enclosure(Fraction(0), answer.upper, answer.reason)
    below = counted_profile(dominated_laws(composition))
    if below is not None:
        answer = below.answer(question, "lower")
        yield Enclosure(answer.lower, most, answer.reason)
    if (
        not sharp
        and isinstance(question, DeltaAt)
        and (jump := largest_jump(dominated_laws(composition), question.epsilon)) is not None
    ):
        yield jump


def _below_chords(composition: Composition, question: DeltaAt, best: Enclosure, plain: Plain) -> Enclosure:
    """The upper end of laws known by their moments alone, which say nothing at small epsilons, by chords to fixed larger ones."""
    # The chord to b = e^place is 1 - e^epsilon (1 - delta)/b: no further one is below that of the greatest (1 - delta)/b so far
    # once 1/b is smaller, so that few of the fixed epsilons are asked.
    known, greatest = list[Known](), 0.0
    for place in FIXED:
        if place > question.epsilon:
            if math.exp(-float(place)) < greatest:
                break
            known.append(point := _fixed_point(composition, place, plain))
            greatest = max(greatest, (1 - float(point.upper)) * math.exp(-float(place)))
    return _joined([best, below_chords(question.epsilon, known)])


@lru_cache(maxsize=256)
def _fixed_point(composition: Composition, place: Fraction, plain: Plain) -> Known:
    """What is known from above at a fixed epsilon, the same for every question; chords need nothing from below."""
    return known_at(place, Enclosure(Fraction(0), _from_above(composition, DeltaAt(place), plain)))


def _from_above(composition: Composition, question: DeltaAt, plain: Plain) -> Fraction:
    """The least upper end that the engines know for laws without distributions, and for the published choice."""
    # The whole answer would take a lattice of the laws below at every epsilon.
    exact, published = closed_form(composition, question), published_laws(composition)
    found = [upper_bound(composition, question), *((exact,) if exact is not None else ())]
    if published:
        ways = (plain(way, question) if parts_of(way, lower=False) else upper_bound(way, question) for way in published)
        found.append(max(ways, key=lambda answer: answer.upper))
    return Fraction(min(answer.upper for answer in found))


def _rungs(composition: Composition, epsilon: Fraction) -> list[Fraction]:
    """Two members of the ladder on either side of an epsilon, a function of the composition and of that epsilon alone."""
    greatest = greatest_loss(composition)
    end = None if greatest is None else greatest.ends()[0]
    if not isinstance(end, Fraction) or end <= 0:
        return [Fraction(0)] if epsilon else []
    ladder = [Fraction(0), *(end - end / 2**power for power in range(1, RUNGS + 1))]
    return [rung for rung in ladder if rung < epsilon][-2:] + [rung for rung in ladder if rung > epsilon][:2]


def _limit(composition: Composition) -> tuple[Fraction, Endpoint] | None:
    """An epsilon from which on delta is the probability of an infinite loss, and that; None where losses are unbounded."""
    greatest = greatest_loss(dominating_laws(composition))
    end = None if greatest is None else greatest.ends()[1]
    return (end, infinite_loss(dominating_laws(composition)).upper) if isinstance(end, Fraction) else None


def _inverted(composition: Composition, question: EpsilonAt, best: Enclosure, plain: Plain) -> Enclosure:
    """Epsilon from the finished profile."""

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:  # noqa: ARG001 - all values are resolved
        return finished(composition, DeltaAt(epsilon), plain(composition, DeltaAt(epsilon)), plain)

    profile = Profile(delta, infinite_loss(composition), greatest_loss(composition))
    return _joined([best, profile.answer(question)])


def _joined(answers: list[Enclosure]) -> Enclosure:
    """The intersection, whose reason names where each end is from; DPA203 where two answers exclude each other."""
    whole = answers[0]
    for other in answers[1:]:
        whole = whole.intersect(other)
    upper = min(answers, key=lambda answer: answer.upper)
    lower = max(answers, key=lambda answer: answer.lower)
    ends = (Reason("upper end", (upper.reason,)), Reason("lower end", (lower.reason,)))
    return Enclosure(whole.lower, whole.upper, upper.reason if upper is lower else Reason("the best of several ends", ends))
