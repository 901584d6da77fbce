"""`verify`: reads a function, searches for a proof and then for a counterexample, and reports which it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.binding import examine
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.extras import require
from dpaudit.promise import claim_text
from dpaudit.spec import Adjacent, Cost, Expression, Spec, spec_of
from dpaudit.verifier.alignment.search import Inputs
from dpaudit.verifier.certificates import certificate_document
from dpaudit.verifier.confirming import Confirmations, is_linear
from dpaudit.verifier.frontend import OutsideSubset, parse
from dpaudit.verifier.fuel import OutOfFuel, clock, seconds_left, spend, time_limit
from dpaudit.verifier.invariants.given import Stated
from dpaudit.verifier.ir import Draw, ListOf, Place, Program, contract_of
from dpaudit.verifier.notation import format_term
from dpaudit.verifier.ordinary.answering import in_own_terms, seeds
from dpaudit.verifier.ordinary.entering import read_function
from dpaudit.verifier.ordinary.reading import Reading, read
from dpaudit.verifier.outcomes import Checked, ProofResult
from dpaudit.verifier.product.walk import statements
from dpaudit.verifier.proving import TIME_IS_UP, Direction, Failed, Proof, prove
from dpaudit.verifier.refuter.neighbours import InputPair
from dpaudit.verifier.refuter.reproducing import is_reproduced
from dpaudit.verifier.refuter.search import search, witness_on
from dpaudit.verifier.refuter.witness import Witness, recheck
from dpaudit.verifier.solving import Answer
from dpaudit.verifier.telling import obligation_words, witness_words
from dpaudit.verifier.terms import TRUE, Sort

SECONDS: Final = 70.0
REFUTATION_SECONDS: Final = 10.0
"""The most that the search for a counterexample takes at the end."""
_TURNS: Final = ((2.0, 2.0), (6.0, 4.0), (16.0, 10.0))
"""When the search for a counterexample has a turn while alignments are looked for, in seconds since the start, and for how long.

Most broken programs have a small counterexample, and most private ones an alignment that is found before the first turn.
"""
_FURTHER_SECONDS: Final = 2.0
"""The most that the search for a certificate takes which a proof can do without."""
_SHARE: Final = Fraction(6, 7)
"""The part of the time that the search for a proof may take; certificates and counterexamples have what is left."""
_READABLE: Final = frozenset({"DPA701", "DPA702", "DPA703", "DPA704", "DPA705", "DPA706"})
"""Codes of refusals of a construct, after which a counterexample is still looked for."""
UNBOUNDED: Final = "every length of the lists and every value of the parameters that meets what is required"


def verify(  # noqa: PLR0913 - the parts of a specification
    source: str | Callable[..., Any],
    *,
    claim: Expression | tuple[Expression, ...] | None = None,
    adjacency: Adjacent | Mapping[str, Adjacent] | None = None,
    requires: Iterable[str] = (),
    domain: Iterable[str] = (),
    public: Iterable[str] = (),
    cost: Cost | None = None,
    laws: Mapping[str, str] | None = None,
    align: Mapping[str, Expression] | None = None,
    invariants: Mapping[int, Sequence[str]] | None = None,
    helpers: Mapping[str, tuple[str, Spec | None]] | None = None,
    function: str | None = None,
    data: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> ProofResult:
    """Prove or refute the privacy claim of a function from its source.

    Args:
      source: a plain function with `@spec`, or the text of one or of a whole file; in a text names of laws mean the laws.
      claim: as for `spec`, for a text or a function without `@spec`.
      adjacency: as for `spec`.
      requires: as for `spec`.
      domain: as for `spec`.
      public: as for `spec`.
      cost: as for `spec`.
      laws: as for `spec`.
      align: as for `spec`.
      invariants: what holds at the head of a loop, by the loop's line: over the names there, those of the second run behind
        "other.", the ghosts `ghost.k` and `ghost.d` (where the data differ, and by how much) and `spent("eta")`, the units that a
        draw has cost so far. They are tried like those that are searched for; a false one is dropped, and the reason says why.
      helpers: for a text, texts of the functions that it calls, by name, with their specifications, None for pure ones.
      function: for the text of a file, which function is meant, such as "mean" or "Survey.answer"; the last one unless given.
      data: types of parameters that the source does not say, such as {"ages": "list[int]"}.
      seconds: processor time for the whole call, above 0; the search for a proof takes at most six sevenths of it, the search for
        a counterexample at most 10 seconds.
    Returns:
      "proven" for every length and every value of the parameters, with a certificate, or "proven (real numbers)" where the source
      computes in floats, which is no proof about floats; "refuted" with neighbours and an event whose probabilities are certified;
      or "unknown" with what stood in the way, which says nothing about the claim.
    Raises:
      Unsupported: source outside the subset, with line, column, construct and hint (DPA701 to DPA706), or a specification that
        cannot be read (DPA722, DPA723).
      InvalidArgument: a specification is missing or given twice (DPA731), its parts do not fit (DPA720, DPA721), or the function
        is not what its source says (DPA725).
      MissingExtra: the solvers are not installed (DPA206).
    Source: Wang, Ding, Kifer, Zhang 2020 (synthesis of alignments); docs/verification.md, "The alignment theorem".
    Example:
      >>> verify(
      ...     "def noisy(q: list[Fraction], eps: Fraction) -> Fraction: return q[0] + laplace(1 / eps)",
      ...     claim="eps",
      ...     adjacency="one",
      ...     requires=["eps > 0", "len(q) >= 1"],
      ... ).status
      'proven'
    """
    given: Spec | None = None
    if claim is not None and adjacency is not None:
        given = Spec(claim, adjacency, requires, domain, public, cost, {} if laws is None else laws, {} if align is None else align)
    parts = (claim, adjacency, requires, domain, public, cost)
    loose = any(part is not None and not (isinstance(part, (list, tuple)) and not part) for part in parts)
    if (given is None) == (spec_of(source) is None) or (given is None and loose):
        raise InvalidArgument("DPA731", "one specification is needed: @spec of a function, or claim= and adjacency= here.")
    began, promise = time.monotonic(), given or spec_of(source)
    assert promise is not None  # noqa: S101 - for the type checker: there is one
    understood = _understood_or_broken(source, promise, helpers, function, data, seconds if not invariants else 0.0)
    if isinstance(understood, ProofResult):
        return replace(understood, seconds=time.monotonic() - began)
    program, reading = understood
    if reading is None and not isinstance(source, str):
        examine(source)
    if reading is not None and invariants:
        # Their lines and names would be those of the text that was made from the source.
        raise InvalidArgument("DPA731", "invariants= needs a function in the verified subset, with index loops; leave it out here.")
    require("proofs")
    with time_limit(seconds):
        stated = Stated({line: tuple(texts) for line, texts in (invariants or {}).items()})
        try:
            found = _decide(program, seconds, stated, () if reading is None else seeds(program, reading))
        except OutOfFuel:
            found = ProofResult(**_common(program), status="unknown", reason=TIME_IS_UP)
        if stated.dropped and found.status != "refuted":
            found = replace(found, reason="; ".join([*([found.reason] if found.reason else []), *stated.dropped.values()]))
    if reading is not None:
        try:
            with time_limit(max(1.0, seconds / 10)):
                found = in_own_terms(program, reading, found)
        except OutOfFuel:
            found = ProofResult(found.name, "unknown", found.claim, reason=f"{TIME_IS_UP}: runs by Python were compared last")
    return replace(found, seconds=time.monotonic() - began)


def _understood_or_broken(
    source: str | Callable[..., Any],
    promise: Spec,
    helpers: Mapping[str, tuple[str, Spec | None]] | None,
    function: str | None,
    data: Mapping[str, str] | None,
    seconds: float,
) -> tuple[Program, Reading | None] | ProofResult:
    """The program of a source, or the refutation of one that is not read to be proven; an error where it is neither."""
    try:
        return _understood(source, promise, helpers, function, data)
    except Unsupported as refusal:
        if helpers or not seconds or refusal.code not in _READABLE:
            raise
        broken = _broken_all_the_same(source, promise, function, data, seconds)
        if broken is None:
            raise
        return broken


def _broken_all_the_same(
    source: str | Callable[..., Any], promise: Spec, function: str | None, data: Mapping[str, str] | None, seconds: float
) -> ProofResult | None:
    """The refutation of a claim whose function shows which records there are, and so is not read to be proven."""
    try:
        if isinstance(source, str):
            reading = read(source, promise, function=function, data=data, lenient=True)
        else:
            reading = read_function(source, promise, data, lenient=True)
        program = parse(reading.text, reading.promise)
    except (Unsupported, InvalidArgument):
        return None
    require("proofs")
    limit = min(seconds, REFUTATION_SECONDS)
    witness = _counterexample(program, seeds(program, reading), (), limit)
    if witness is None:
        return None
    try:
        with time_limit(max(1.0, limit / 2)):
            found = in_own_terms(program, reading, _refuted(program, witness, _common(program)))
    except OutOfFuel:
        return None
    return found if found.status == "refuted" else None


def _understood(
    source: str | Callable[..., Any],
    promise: Spec,
    helpers: Mapping[str, tuple[str, Spec | None]] | None,
    function: str | None,
    data: Mapping[str, str] | None,
) -> tuple[Program, Reading | None]:
    """The program of a source: read as it stands where it is in the subset, else as people write."""
    records = any(change.relation in ("add_remove", "replace_one") for _, change in promise.changes)
    if not (records or function or data):
        try:
            return parse(source, promise, helpers=helpers), None
        except OutsideSubset:
            if helpers:
                raise
        except Unsupported as error:
            if helpers or error.code not in ("DPA702", "DPA723"):
                raise
    reading = (
        read(source, promise, function=function, data=data) if isinstance(source, str) else read_function(source, promise, data)
    )
    try:
        return parse(reading.text, reading.promise), reading
    except OutsideSubset as error:
        line = reading.line(error.line)
        raise OutsideSubset(error.code, Place(line, 1), error.construct, error.hint) from error


def _decide(program: Program, seconds: float, stated: Stated, seeds: Sequence[InputPair] = ()) -> ProofResult:
    """The verdict on a program: a proof or a counterexample, or else what stood in the way of a proof."""
    confirmations = Confirmations()
    common = _common(program)
    turns = _Turns(program, seeds, clock())
    try:
        found = prove(program, seconds=float(seconds * _SHARE), confirmations=confirmations, stated=stated, meanwhile=turns)
    except _Broken as broken:
        return _refuted(program, broken.witness, common)
    if isinstance(found, Proof):
        try:
            return _report_proof(found, confirmations, common)
        except OutOfFuel:
            return ProofResult(**common, status="unknown", reason=f"{TIME_IS_UP}: certificates for the kernel were looked for last")
    if found.vacuous:
        return _unknown(found, common)
    witness = _counterexample(program, seeds, found.examples, REFUTATION_SECONDS)
    return _unknown(found, common) if witness is None else _refuted(program, witness, common)


def _common(program: Program) -> dict[str, Any]:
    """What every verdict says of a program."""
    return {"name": program.name, "claim": claim_words(program), "assumptions": _assumptions(program)}


class _Broken(Exception):
    """A counterexample was found while a proof was looked for."""

    def __init__(self, witness: Witness) -> None:
        """With the counterexample."""
        super().__init__()
        self.witness = witness


@dataclass
class _Turns:
    """The turns of the search for a counterexample while a proof is looked for."""

    program: Program
    seeds: Sequence[InputPair]
    started: float
    taken: int = 0

    def __call__(self, examples: Callable[[], Sequence[tuple[Inputs, Inputs]]]) -> None:
        """Take the next turn, if it is due; `examples` are the neighbours that defeated alignments so far."""
        if self.taken < len(_TURNS) and clock() - self.started > _TURNS[self.taken][0]:
            _, seconds = _TURNS[self.taken]
            self.taken += 1
            # Small data first; those that defeated alignments are begun from in the later turns.
            witness = _counterexample(self.program, self.seeds, examples() if self.taken > 1 else (), seconds)
            if witness is not None:
                raise _Broken(witness)


def _counterexample(
    program: Program, seeds: Sequence[InputPair], examples: Sequence[tuple[Inputs, Inputs]], seconds: float
) -> Witness | None:
    """A counterexample that a second computation confirms, looked for in so many seconds."""
    try:
        with time_limit(seconds):
            witness = witness_on(program, seeds, seconds=seconds / 3) if seeds else None
            if witness is None:
                witness = search(program, seconds=seconds, seeds=[*seeds, *(InputPair(*pair) for pair in examples)])
            return witness if witness is not None and recheck(program, witness) else None
    except OutOfFuel:
        spend()
        return None


def _refuted(program: Program, witness: Witness, common: dict[str, Any]) -> ProofResult:
    """The verdict by a counterexample: runs by Python must give its event."""
    if is_reproduced(program, witness):
        return ProofResult(**common, status="refuted", witness=witness, words=witness_words(program, witness))
    reason = "a counterexample was computed, but runs by Python itself do not give its event"
    return ProofResult(**common, status="unknown", reason=reason)


def _unknown(failed: Failed, common: dict[str, Any]) -> ProofResult:
    """The verdict where neither a proof nor a counterexample was found."""
    reason = failed.reason + (f": {obligation_words(failed.obligation)}" if failed.obligation else "")
    return ProofResult(**common, status="unknown", reason=reason, line=failed.line)


def _report_proof(proof: Proof, confirmations: Confirmations, common: dict[str, Any]) -> ProofResult:
    """The verdict on a proof, once the kernel has confirmed what it can: all that is linear."""
    checked = []
    owed = [one.formula for direction in proof.directions for one in direction.obligations if one.formula is not TRUE]
    for formula in sorted(dict.fromkeys(owed), key=is_linear, reverse=True):
        # Both solvers have confirmed all; what is linear the kernel must confirm too, and comes first.
        confirmations.by_kernel(formula, seconds=20.0 if is_linear(formula) else min(_FURTHER_SECONDS, seconds_left() / 4))
    for direction in proof.directions:
        for one in direction.obligations:
            if one.formula is TRUE:
                checked.append(Checked(one.id, one.kind, one.line, solvers=True, kernel=True, linear=True, seconds=(0.0, 0.0)))
                continue
            by_kernel, linear = confirmations.by_kernel(one.formula), is_linear(one.formula)
            if linear and not by_kernel:
                reason = f"the kernel does not confirm obligation {one.id}"
                return ProofResult(**common, status="unknown", reason=reason, line=one.line)
            both = confirmations.solvers[one.formula]
            solvers = all(outcome.answer is Answer.UNSAT for outcome in both)
            times = (both[0].seconds, both[1].seconds)
            checked.append(Checked(one.id, one.kind, one.line, solvers=solvers, kernel=by_kernel, linear=linear, seconds=times))
    return ProofResult(
        **common,
        status="proven",
        scope=UNBOUNDED,
        alignment=tuple(
            line for one in proof.directions for line in _alignment_lines(proof.program, one, several=len(proof.directions) > 1)
        ),
        obligations=tuple(checked),
        certificate=certificate_document(proof, confirmations),
    )


def claim_words(program: Program) -> str:
    """The claim of a program in words."""
    return claim_text(contract_of(program).promise)


def _assumptions(program: Program) -> tuple[str, ...]:
    """The assumptions that the claim leaves to the caller."""
    found = ["types and requires are checked before each call, as `dpaudit.binding.bind` does"]
    if contract_of(program).domain:
        found.append("between databases of the domain; that data outside it are rejected can be observed")
    if any(isinstance(one.sort, ListOf) and one.sort.element is Sort.REAL for one in program.parameters):
        found.append("exact fractions, not floats")
    return tuple(found)


def _alignment_lines(program: Program, direction: Direction, *, several: bool) -> list[str]:
    """The shift of each draw in the names of the source."""
    names = {one.site: one.name for one in statements(program.body) if isinstance(one, Draw)}
    way = ("reversed neighbours: " if direction.pairs.reverse else "neighbours as stated: ") if several else ""
    return [
        f"{way}{names.get(site, f'site {site}')} moves by {format_term(shift)}"
        for site, shift in sorted(direction.alignment.items())
        if format_term(shift) != "0"
    ]
