"""Rechecks a certificate against the source as it is now: obligations are generated again, and nothing in the file is trusted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from dpaudit.errors import InvalidArgument
from dpaudit.verifier.certificates import FORMAT, claim_hash, digest, required_directions, source_hash
from dpaudit.verifier.confirming import Confirmations, is_accepted, is_linear, text_hash
from dpaudit.verifier.ir import Program
from dpaudit.verifier.kernel import KernelRejects
from dpaudit.verifier.kernel import read as read_json
from dpaudit.verifier.notation import Unreadable, number_in, read_terms
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.product.runs import Misused
from dpaudit.verifier.product.walk import draws, loops
from dpaudit.verifier.product.witness import Empty, first_unreachable_output, witnesses
from dpaudit.verifier.proving import modes, obligations
from dpaudit.verifier.terms import TRUE, IllSorted, Sort, Term, variables

_FIELDS: Final = {
    "format", "name", "claim_hash", "source_hash", "evidence_hash", "proofs", "terms", "formulas", "made_with",
}  # fmt: skip
_PROOF: Final = {"program", "reverse", "pointwise", "alignment", "invariants", "obligations"}
_FORMULA: Final = {"text", "z3", "cvc5", "kernel"}


@dataclass(frozen=True)
class Rechecked:
    """The result of rechecking a certificate."""

    name: str
    status: Literal["proven", "unknown"]  # "proven" where everything was confirmed again, else "unknown"
    reason: str  # why it was not, empty where it was
    obligations: int  # how many there are
    kernel: int  # how many of them the kernel confirmed, those that hold by their form among them
    quick: bool  # whether solvers were left out
    seconds: float  # the time it took


class _Invalid(ValueError):
    """The certificate does not show the claim."""


def parse_certificate(text: str) -> dict[str, Any]:
    """The certificate that a text holds, its outer form checked."""
    remedy = "Write it again with `dpaudit prove`."
    try:
        document = dict(read_json(text))
    except KernelRejects as error:
        raise InvalidArgument("DPA730", f"this file is not a proof certificate: {error}. {remedy}") from error
    if set(document) != _FIELDS or document["format"] != FORMAT:
        raise InvalidArgument("DPA730", f"this file is not a proof certificate: its fields are not those of one. {remedy}")
    return document


def recheck(program: Program, certificate: Mapping[str, Any], *, quick: bool = False) -> Rechecked:
    """Check a certificate against a program as it is now."""
    started = time.monotonic()
    made: list[tuple[Obligation, Any]] = []
    confirmed = 0
    reason = ""
    try:
        _bound(program, certificate)
        made = _regenerated(program, certificate)
        confirmed, reason = _confirmed(made, quick=quick)
        if not reason and not quick:
            reason = _unreached(program)
    except (_Invalid, Misused, IllSorted, Unreadable) as error:
        reason = str(error)
    status: Literal["proven", "unknown"] = "unknown" if reason else "proven"
    return Rechecked(program.name, status, reason, len(made), confirmed, quick, time.monotonic() - started)


def _bound(program: Program, certificate: Mapping[str, Any]) -> None:
    """The certificate is of this source and this specification."""
    if certificate["claim_hash"] != claim_hash(program):
        raise _Invalid("stale: the source or the specification is not the one that was proven; prove it again")
    if certificate["source_hash"] != source_hash(program):
        raise _Invalid("stale: comments or line breaks of the source changed; write the certificate again")
    rest = {key: value for key, value in certificate.items() if key != "evidence_hash"}
    if certificate["evidence_hash"] != digest(rest):
        raise _Invalid("the certificate was changed after it was written")


def _regenerated(program: Program, certificate: Mapping[str, Any]) -> list[tuple[Obligation, Any]]:
    """The obligations, made from the source, each with the row that the certificate has for its text."""
    terms = read_terms(certificate["terms"])
    formulas, entries = _rows(certificate["formulas"], _FORMULA), _rows(certificate["proofs"], _PROOF)
    wanted = list(required_directions(program))
    if [(entry["program"], entry["reverse"]) for entry in entries] != [(one.name, pairs.reverse) for one, pairs in wanted]:
        raise _Invalid("the certificate does not have one proof for each direction and helper")
    found: list[tuple[Obligation, Any]] = []
    for entry, (one, pairs) in zip(entries, wanted, strict=True):
        made = _made(one, pairs, entry, terms)
        listed = entry["obligations"]
        if type(listed) is not list or [_pair(row)[0] for row in listed] != [each.id for each in made]:
            raise _Invalid("the obligations that the source gives are not those of the certificate")
        for each, row in zip(made, listed, strict=True):
            found.append((each, _formula(each, row[1], formulas)))
    return found


def _made(program: Program, pairs: Neighbours, entry: Mapping[str, Any], terms: list[Term]) -> tuple[Obligation, ...]:
    """The obligations of one direction, from the source and what the certificate proposes."""
    pointwise = entry["pointwise"]
    if type(pointwise) is not bool or pointwise not in modes(program, pairs):
        raise _Invalid("the mode of a proof is not one that its claim allows")
    sites = {draw.site for draw in draws(program.body)}
    numbers = set(range(1, len(loops(program)) + 1))
    alignment = {site: _term(shift, terms) for site, shift in _items(entry["alignment"], sites)}
    invariants = {}
    for loop, stated in _items(entry["invariants"], numbers):
        if type(stated) is not list:
            raise _Invalid("invariants must be lists")
        invariants[loop] = tuple(_term(one, terms) for one in stated)
    _sorted(program, pairs, [*alignment.values(), *(one for stated in invariants.values() for one in stated)], pointwise=pointwise)
    if any(one.sort is not Sort.BOOL for stated in invariants.values() for one in stated):
        raise _Invalid("an invariant is not a truth value")
    if any(shift.sort is Sort.BOOL for shift in alignment.values()):
        raise _Invalid("a shift is not a number")
    return obligations(program, pairs, alignment, invariants, pointwise=pointwise)


def _sorted(program: Program, pairs: Neighbours, given: list[Term], *, pointwise: bool) -> None:
    """Inputs and ghosts are named with the sorts that they have; what else may be named is decided where it is used."""
    sorts: dict[str, Any] = {str(one.value): one.sort for one in Execution(program, pairs, {}, {}, pointwise).ghosts()}
    sorts |= {one.name: one.sort for one in program.parameters if isinstance(one.sort, Sort)}
    sorts |= dict(program.sorts)
    for symbol in variables(*given):
        name = str(symbol.value).removeprefix("other.")
        if name in sorts and symbol.sort is not sorts[name]:
            raise _Invalid(f"{name} is named with a sort that it does not have")


def _formula(obligation: Obligation, number: Any, formulas: list[dict[str, Any]]) -> Any:
    """The row of an obligation; its text must be the one that was confirmed. None for what holds by its form."""
    if obligation.formula is TRUE:
        return None
    if type(number) is not int or not 0 <= number < len(formulas) or formulas[number]["text"] != text_hash(obligation.formula):
        raise _Invalid(f"the text of obligation {obligation.id} is not the one that was confirmed")
    return formulas[number]


def _confirmed(made: list[tuple[Obligation, Any]], *, quick: bool) -> tuple[int, str]:
    """Count the obligations that the kernel confirms, and name the first that is not confirmed."""
    known: dict[Term, bool] = {}
    confirmations = Confirmations()
    count = 0
    for obligation, row in made:
        formula = obligation.formula
        if formula not in known:
            known[formula] = formula is TRUE or (row["kernel"] is not None and is_accepted(formula, row["kernel"]))
        count += known[formula]
        if not known[formula] and (quick or is_linear(formula)):
            return count, f"the kernel does not confirm obligation {obligation.id}"
        if not quick and formula is not TRUE and not confirmations.by_solvers(formula):
            first, second = confirmations.solvers[formula]
            if not (known[formula] and (first.answer.value, second.answer.value) == ("unsat", "unknown")):
                return count, f"the solvers do not confirm obligation {obligation.id}"
    return count, ""


def _unreached(program: Program) -> str:
    """Say why the proof may say nothing: no neighbours differ, or no run reaches an output; empty if it does say something."""
    for one in (one for one, pairs in required_directions(program) if not pairs.reverse):
        real = witnesses(one)
        empty = real if isinstance(real, Empty) else first_unreachable_output(real)
        if empty is not None:
            return empty.reason + (f": line {empty.line}" if empty.line else "")
    return ""


def _rows(value: Any, fields: set[str]) -> list[dict[str, Any]]:
    """A list of objects with exactly these fields."""
    if type(value) is not list or any(type(row) is not dict or set(row) != fields for row in value):
        raise _Invalid("the certificate has other fields")
    return value


def _pair(value: Any) -> list[Any]:
    """A list of two."""
    if type(value) is not list or len(value) != 2:
        raise _Invalid("the certificate is not written as it must be")
    return value


def _items(value: Any, keys: set[int]) -> list[list[Any]]:
    """Pairs of a known number, each once, and what belongs to it."""
    if type(value) is not list:
        raise _Invalid("the certificate is not written as it must be")
    pairs = [_pair(row) for row in value]
    numbers = [pair[0] for pair in pairs]
    if any(type(number) is not int for number in numbers) or len(set(numbers)) < len(numbers) or not set(numbers) <= keys:
        raise _Invalid("a draw or loop is named that the source does not have")
    return pairs


def _term(number: Any, terms: list[Term]) -> Term:
    """The term of this number."""
    try:
        return terms[number_in(number, len(terms))]
    except IndexError as error:
        raise _Invalid("a term is named that is not there") from error
