"""Verdicts about a core program in terms of the function that people wrote; there is none where Python disagrees."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from dpaudit.promise import violation
from dpaudit.verifier.ir import ListOf, Program, contract_of
from dpaudit.verifier.ordinary import grains, kinds, nested, outcomes
from dpaudit.verifier.ordinary.reading import Reading
from dpaudit.verifier.ordinary.records import column
from dpaudit.verifier.ordinary.replaying import compare, constants, random_inputs, random_noise
from dpaudit.verifier.ordinary.tapes import Differs
from dpaudit.verifier.ordinary.telling import REAL_NUMBERS, assumptions, claim_of, understood
from dpaudit.verifier.ordinary.wording import NoText
from dpaudit.verifier.outcomes import ProofResult
from dpaudit.verifier.product.witness import Empty, witnesses
from dpaudit.verifier.refuter.neighbours import InputPair, is_admissible
from dpaudit.verifier.refuter.reproducing import is_reproduced
from dpaudit.verifier.refuter.witness import recheck
from dpaudit.verifier.telling import witness_words
from dpaudit.verifier.terms import Sort

_MOST_SEEDS: Final = 60
_MOST_RECORDS: Final = 64
_FEW: Final = 2
"""How many values are tried with as many records as the program compares with."""
_FAR: Final = 20
_MOST_SHOWN: Final = 24
_RUNS: Final = 24
"""Runs by Python of a function that is proven, beside those on its witnesses."""


def in_own_terms(program: Program, reading: Reading, found: ProofResult) -> ProofResult:
    """A result about the core program as one about the source."""
    found = replace(
        found,
        claim=claim_of(reading),
        line=reading.line(found.line) if found.line else 0,
        assumptions=assumptions(reading),
        understood=tuple(understood(reading)),
        obligations=tuple(replace(one, line=reading.line(one.line) if one.line else 0) for one in found.obligations),
    )
    if found.status == "unknown":
        return found
    try:
        compared = agrees(program, reading, found)
    except Differs as error:
        return _withdrawn(found, f"Python does not agree with what was read: {error}")
    if reading.state.lenient and found.status != "refuted":
        return _withdrawn(found, "it was read to look for a counterexample alone")
    if found.status == "refuted" and outcomes.differs_by_numpy(reading.state):
        return _withdrawn(
            found, "what is released is a value of Python or of numpy, whose type may show the data; write bool(...) or float(...)"
        )
    if found.status == "refuted":
        if reading.forgets:
            assert found.witness is not None  # noqa: S101 - for the type checker: refutations have one
            again = grains.finer(reading.state, program, found.witness)
            if again is not None and recheck(program, again) and is_reproduced(program, again):
                return replace(found, witness=again, words=_words(program, reading, replace(found, witness=again)))
            return _withdrawn(
                found, "what is released before rounding breaks the claim; whether the rounded release does is not known"
            )
        try:
            return replace(found, words=_words(program, reading, found))
        except NoText:
            return _withdrawn(found, "a counterexample was computed, but no texts were found of which Python makes its values")
    if reading.untyped:
        return _withdrawn(
            found, f"line {reading.untyped} puts out an int or a float, whose type may show the data; write float(...)"
        )
    for name, _ in reading.arguments:
        if nested.is_bounded(reading.state.learned, name):
            why = f"lists inside of {name} are read to their end, and none of more than {nested.LONGEST} elements was looked at"
            return _withdrawn(found, f"{why}; take the first ones of each, records[:m]")
    if compared == 0:
        return _withdrawn(found, "no run by Python on data that meet the specification came to an end")
    return replace(found, status=REAL_NUMBERS) if reading.reals else found


def _withdrawn(found: ProofResult, reason: str) -> ProofResult:
    """An unknown result for a reason."""
    return replace(
        found, status="unknown", reason=reason, witness=None, words=(), scope="", alignment=(), obligations=(), certificate=None
    )


def agrees(program: Program, reading: Reading, found: ProofResult) -> int:
    """The number of runs in which Python did with the source what the core program does; an error where it does not."""
    source = random.Random(7)  # noqa: S311 - data for comparisons, nothing that is released
    data: list[Mapping[str, Any]] = []
    if found.witness is not None:
        data += [found.witness.pair.first, found.witness.pair.second] * 2
    else:
        real = witnesses(program)
        if not isinstance(real, Empty):
            data += [side for pair in real.pairs for side in (pair.first, pair.second)] * 2
    promise = contract_of(program).promise
    for _ in range(_RUNS * 8):
        if len(data) >= _RUNS or reading.state.unordered:
            break
        inputs = random_inputs(reading, program, source)
        if violation(promise, inputs) is None:
            data.append(inputs)
    noise = random_noise(source)
    return sum(compare(reading, program, inputs, noise) for inputs in data)


def _words(program: Program, reading: Reading, found: ProofResult) -> tuple[str, ...]:
    """A counterexample in the data of the source."""
    assert found.witness is not None  # noqa: S101 - for the type checker: refutations have one
    first, second = (reading.back(side) for side in (found.witness.pair.first, found.witness.pair.second))
    same = [f"{name} = {_shown(value)}" for name, value in first.items() if second[name] == value]
    one, other = (
        ", ".join(f"{name} = {_shown(side[name])}" for name in side if first[name] != second[name]) for side in (first, second)
    )
    rest = witness_words(program, found.witness)[3:]
    return (f"with {', '.join(same)}" if same else "for all parameters", f"dataset 1: {one}", f"dataset 2: {other}", *rest)


def _shown(value: Any) -> str:
    """A value as people write it."""
    if isinstance(value, (list, tuple)):
        more = [f"... {len(value) - _MOST_SHOWN} more"] if len(value) > _MOST_SHOWN else []
        inner = ", ".join([*map(_shown, value[:_MOST_SHOWN]), *more])
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(one)}" for key, one in value.items()) + "}"
    return str(value) if isinstance(value, Fraction) else repr(value)


def seeds(program: Program, reading: Reading) -> list[InputPair]:
    """Neighbours from which a search for a counterexample begins: one record that comes, or changes, at values that stand out."""
    return list(_seeds(program, reading))


def _seeds(program: Program, reading: Reading) -> Iterator[InputPair]:
    """Such neighbours, those with fewest records first."""
    near = [one + step for one in constants(reading) for step in (0, 1, -1)]
    values = list(dict.fromkeys([Fraction(0), Fraction(1), Fraction(1000), Fraction(-1000), *near]))[:14]
    if reading.state.ends:
        # The core program goes through all numbers between the ends.
        values = [one for one in values if abs(one) <= _FAR]
    # Numbers of one size are tried first that may be required to be larger than others.
    for size in (1, 2, 4, 10):
        scalars: dict[str, Any] = {}
        for one in program.parameters:
            if not isinstance(one.sort, ListOf):
                number = 2000 if one.name.endswith("__spread") else size
                scalars[one.name] = True if one.sort is Sort.BOOL else number if one.sort is Sort.INT else Fraction(number)
        found = list(islice(_with_scalars(program, reading, scalars, values), _MOST_SEEDS))
        yield from found
        if found:
            return


def _with_scalars(program: Program, reading: Reading, scalars: Mapping[str, Any], values: list[Fraction]) -> Iterator[InputPair]:
    """Such neighbours with these parameters."""
    lists = [(one.name, one.sort.element) for one in program.parameters if isinstance(one.sort, ListOf)]
    private = dict(contract_of(program).changes)
    truths = {
        column(name, one) + suffix
        for name, (_, kind) in reading.data.fields.items()
        for one, sort in kind.fields.items()
        for suffix in ("", "__old", "__new")
        if sort == "bool"
    }
    sizes = {int(one) - 1 for one in constants(reading) if one.denominator == 1 and 4 <= one <= _MOST_RECORDS}
    for before in (0, 1, 2, *sorted(sizes)):
        for value in values if before < 4 else values[1 : 1 + _FEW]:
            first: dict[str, Any] = dict(scalars)
            second: dict[str, Any] = dict(scalars)
            for name, sort in lists:
                new, old = (value, Fraction(0)) if sort is Sort.REAL else (int(value), 0)
                if name in truths:
                    new, old = min(max(new, 0), 1), 0
                # Many records are alike, so that what is counted of them is as large as their number.
                old = new if before >= 4 and name not in private else old
                if name.endswith(("__here", "__which")) and name in private:
                    first[name], second[name] = (*(1,) * before, 0), (*(1,) * before, 1)
                elif name in private:
                    first[name], second[name] = (old,) * (before + 1), (*(old,) * before, new)
                else:
                    first[name] = second[name] = (*(old,) * before, new)
            ahead = [
                {key: value[::-1] if isinstance(value, tuple) else value for key, value in each.items()} for each in (first, second)
            ]
            # A record may come first as well: what follows it may then be read in another way.
            for side, opposite in ((first, second), ahead)[: 1 + (before == 2)]:
                kinds.fitted(reading.state.ends, side, opposite)
                pair = InputPair(side, opposite)
                if side != opposite and is_admissible(program, pair):
                    yield pair
