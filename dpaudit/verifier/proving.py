"""The search for a proof: an alignment by search, invariants by elimination, and then every obligation checked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from dpaudit.errors import Unsupported
from dpaudit.verifier.alignment.ahead import is_lead
from dpaudit.verifier.alignment.search import Inputs, Meanwhile, Search, user_alignment
from dpaudit.verifier.confirming import Confirmations
from dpaudit.verifier.fuel import OutOfFuel, clock, seconds_left, time_limit
from dpaudit.verifier.invariants.candidates import candidates, tiers
from dpaudit.verifier.invariants.given import Stated
from dpaudit.verifier.invariants.houdini import Houdini
from dpaudit.verifier.ir import Draw, Law, Program, While
from dpaudit.verifier.product.adjacency import Neighbours, directions
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.product.runs import Alignment, Invariants, Misused
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.product.walk import counter_of, draws, statements
from dpaudit.verifier.product.witness import Empty, first_unreachable_output, witnesses

NO_ALIGNMENT: Final = (
    "no alignment was found among those that are searched (sums of distances with whole coefficients from -2 to 2, one on each "
    "side of the first test that the noise is in; others may be given by align=), and with the last an obligation does not follow"
)
TIME_IS_UP: Final = "time is up"
NO_FLIPS: Final = "values of bernoulli draws are not moved, and "
_UNREADABLE, _EXHAUSTED, _ATTEMPTED = range(3)
"""The stage that the search for a proof reached in one mode: the alignment does not fit it, none was found, or one did not do."""
_BY_INVARIANTS: Final = (
    "out",
    "cost",
    "prefix",
    "sync",
    "trip",
    "divisor",
    "index",
    "modulus",
    "contract",
    "support",
    "ledger",
    "injective",
)
"""Kinds of obligations that more candidates may help with."""


@dataclass(frozen=True)
class Direction:
    """The proof for one direction of the neighbours."""

    pairs: Neighbours  # the neighbours, in this direction
    pointwise: bool  # whether there is an alignment for each discrete output instead of one for all
    alignment: Alignment  # shift of each site
    invariants: Invariants  # what holds at the head of each loop
    obligations: tuple[Obligation, ...]  # all that had to be valid, and is


@dataclass(frozen=True)
class Proof:
    """The claim holds for every length and every value of the parameters that meets what is required."""

    program: Program  # the program, with its contract
    directions: tuple[Direction, ...]  # one proof for each direction of the neighbours, and those of helpers with a contract
    seconds: float  # processor time that the proof took


@dataclass(frozen=True)
class Failed:
    """No proof was found; that says nothing about the claim."""

    reason: str  # what stood in the way
    obligation: str = ""  # the id of the obligation that did not follow with the alignment that came furthest, where there was one
    line: int = 0  # its line in the source, 0 where it has none
    # Neighbours that defeated alignments, from which the search for a counterexample may begin.
    examples: tuple[tuple[Inputs, Inputs], ...] = ()
    vacuous: bool = False  # whether no two neighbours differ, so that there is no counterexample either


def obligations(
    program: Program, pairs: Neighbours, alignment: Alignment, invariants: Invariants, *, pointwise: bool = False
) -> tuple[Obligation, ...]:
    """All that must be valid for the claim to hold in one direction; a function of its arguments and nothing else."""
    return tuple(execute(Execution(program, pairs, alignment, invariants, pointwise)).obligations)


def prove(
    program: Program,
    *,
    seconds: float = 60.0,
    confirmations: Confirmations | None = None,
    stated: Stated | None = None,
    meanwhile: Meanwhile | None = None,
) -> Proof | Failed:
    """Look for a proof of what a program promises, with the invariants that a user stated among the candidates.

    `meanwhile` is called again and again while alignments are looked for, and may end the search by an exception.
    """
    started = clock()
    try:
        with time_limit(seconds):
            found = _prove_directions(program, confirmations or Confirmations(), stated or Stated(), meanwhile)
    except OutOfFuel:
        found = Failed(TIME_IS_UP)
    return found if isinstance(found, Failed) else Proof(program, found, clock() - started)


def _prove_directions(
    program: Program, confirmations: Confirmations, stated: Stated, meanwhile: Meanwhile | None = None
) -> tuple[Direction, ...] | Failed:
    """A proof for each direction, and those of helpers."""
    found: list[Direction] = []
    for _, helper in program.helpers:
        inner = _prove_directions(helper, confirmations, Stated())
        if isinstance(inner, Failed):
            return replace(inner, reason=f"helper {helper.name}: {inner.reason}", examples=(), vacuous=False)
        found += inner
    real = witnesses(program)
    if isinstance(real, Empty) and real.certain:
        return Failed(real.reason, vacuous=True)
    for pairs in directions(program):
        result = _prove_direction(program, pairs, confirmations, stated, found[-1:], meanwhile)
        if isinstance(result, Failed):
            return result
        found.append(result)
    empty = real if isinstance(real, Empty) else first_unreachable_output(real)
    if empty is not None:
        return Failed(empty.reason, "vacuity", empty.line)
    return tuple(found)


def _prove_direction(
    program: Program,
    pairs: Neighbours,
    confirmations: Confirmations,
    stated: Stated,
    before: Sequence[Direction],
    meanwhile: Meanwhile | None,
) -> Direction | Failed:
    """A proof for one direction: one alignment for all outputs, or else one for each discrete output.

    The alignment of the direction before is tried first, which reads the same where the neighbours are reversed.
    """
    try:
        ways = modes(program, pairs)
    except Misused as error:
        return Failed(str(error))
    failures: list[tuple[int, Failed]] = []
    examples: list[tuple[Inputs, Inputs]] = []
    for pointwise in ways:
        try:
            given = user_alignment(program, pairs, pointwise=pointwise)
        except (Misused, Unsupported) as error:
            failures.append((_UNREADABLE, Failed(str(error))))
            continue
        alike = [one.alignment for one in before if one.pointwise is pointwise and one.pairs.contract is pairs.contract]
        search = Search(program, pairs, pointwise, given, alike, meanwhile)
        result = _prove_by_search(search, confirmations, stated)
        if isinstance(result, Direction):
            return result
        failures.append(result)
        examples += search.examples()
    # Of several modes the one that came furthest is reported, the last of those that came equally far.
    _, last = max(reversed(failures), key=lambda failure: failure[0])
    return replace(last, examples=tuple(examples))


def _prove_by_search(search: Search, confirmations: Confirmations, stated: Stated) -> Direction | tuple[int, Failed]:
    """A proof with one of the alignments that a search finds, or how far it came and what stood in the way."""
    last: tuple[int, Failed] | None = None
    try:
        for alignment in search.found():
            result = attempt(search.program, search.pairs, alignment, confirmations, pointwise=search.pointwise, stated=stated)
            if isinstance(result, Direction):
                return result
            last = (_ATTEMPTED if result.obligation else _EXHAUSTED, result)
            search.late = seconds_left() <= 0
            if search.late:
                break
    except OutOfFuel:
        search.late = True
    except (Misused, Unsupported) as error:
        return _UNREADABLE, Failed(str(error))
    if last is None:
        stuck = search.stuck()
        last = _EXHAUSTED, Failed(NO_ALIGNMENT) if stuck is None else Failed(NO_ALIGNMENT, stuck.id, stuck.line)
    flips = any(isinstance(one, Draw) and one.law is Law.BERNOULLI for one in draws(search.program.body))
    reason = TIME_IS_UP if search.late else (NO_FLIPS if flips else "") + last[1].reason
    return last[0], replace(last[1], reason=reason)


def modes(program: Program, pairs: Neighbours) -> tuple[bool, ...]:
    """The modes to try: one alignment for all outputs, and one for each output where there are countably many, first if all are."""
    ghosts = Execution(program, pairs, {}, {}, pointwise=True).output()
    whole = [ghost is not None for ghost in ghosts]
    # A run that never ends has no output to look at.
    endless = any(isinstance(one, While) and counter_of(one) is None for one in statements(program.body))
    if pairs.contract.cost != "pure" or endless or not any(whole):
        return (False,)
    # A number beside an index is mostly a gap, for which the index must be known.
    first = all(whole) or is_lead(program, pairs)
    return (True, False) if first and draws(program.body) else (False, True)


def attempt(
    program: Program,
    pairs: Neighbours,
    alignment: Alignment,
    confirmations: Confirmations,
    *,
    pointwise: bool,
    stated: Stated | None = None,
) -> Direction | Failed:
    """A proof with a given alignment: invariants are looked for, and then every obligation is made and checked again."""
    stated = stated or Stated()
    try:
        plain = Execution(program, pairs, alignment, {}, pointwise)
        execute(plain)
        invariants: Invariants | Obligation = {}
        earlier: Invariants | None = None
        for tier in tiers(program):
            given = stated.candidates(plain)
            guesses = {loop: (*given[loop], *found) for loop, found in candidates(plain, tier).items()}
            if guesses == earlier:
                break
            earlier = guesses
            houdini = Houdini(Execution(program, pairs, alignment, guesses, pointwise, switched=True))
            houdini.settle()
            stated.judge(plain, houdini)
            invariants = houdini.needed()
            if not isinstance(invariants, Obligation) or invariants.kind not in _BY_INVARIANTS:
                break
        if isinstance(invariants, Obligation):
            return Failed("an obligation does not follow", invariants.id, invariants.line)
        made = obligations(program, pairs, alignment, invariants, pointwise=pointwise)
    except (Misused, Unsupported) as error:
        return Failed(str(error))
    unproven = confirmations.first_unproven(made)
    if unproven is not None:
        return Failed("an obligation does not follow", unproven.id, unproven.line)
    return Direction(pairs, pointwise, alignment, invariants, made)
