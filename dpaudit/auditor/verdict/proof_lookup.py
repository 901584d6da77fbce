"""The proofs that targets name, found and checked again: claims of a proof graph, and programs with or without a certificate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from dpaudit.errors import DpauditError, InvalidArgument, MissingExtra
from dpaudit.exact import rational
from dpaudit.importing import module_at
from dpaudit.results import ProofStep

if TYPE_CHECKING:
    from dpaudit.verifier.ir import Contract, Program

SECONDS: Final = 12.0
"""Processor time of the search for a counterexample to a program without a certificate."""
EVENTS: Final = 4000
"""Events that this search looks at for each choice of parameters, so that what it finds does not depend on the clock."""

_PROGRAM: Final = re.compile(r"(?P<place>.+):(?P<function>\w+)(\((?P<values>[^()]*)\))?")


@dataclass(frozen=True)
class ProofFinding:
    """What a named proof shows by itself, before it is compared with what was audited.

    `logged` are the kinds of release that a claim of a graph covers; `contract`, `values` and `code` are those of a program.
    """

    status: str
    claim: str = ""
    reason: str = ""
    steps: tuple[ProofStep, ...] = ()
    logged: tuple[str, ...] = ()
    contract: Contract | None = None
    values: Mapping[str, Fraction] = field(default_factory=dict)
    code: CodeType | None = None


def find_proofs(names: Iterable[str]) -> dict[str, ProofFinding]:
    """Check all proofs that targets name, each piece of evidence once."""
    found: dict[str, ProofFinding] = {}
    graphs: dict[str, list[str]] = {}
    for name in dict.fromkeys(filter(None, names)):
        place, mark, node = name.partition("#")
        if mark:
            graphs.setdefault(place, []).append(node)
        else:
            found[name] = _check_program(name)
    for place, wanted in graphs.items():
        found |= {f"{place}#{node}": one for node, one in _check_claims(place, wanted).items()}
    return found


def _check_claims(place: str, wanted: Sequence[str]) -> dict[str, ProofFinding]:
    """Check claims of the graph that a module holds, with all that they rest on."""
    try:
        module: Any = module_at(place)
        return _find_claims(module, wanted)
    except MissingExtra as error:
        return dict.fromkeys(wanted, ProofFinding("unknown", reason=f"not checked: {error}"))
    except Exception as error:  # noqa: BLE001 - whatever stops a proof makes it unknown
        reason = str(error) if isinstance(error, DpauditError) else f"{place} gives no proof graph: {type(error).__name__}"
        return dict.fromkeys(wanted, ProofFinding("unknown", reason=reason))


def _find_claims(module: Any, wanted: Sequence[str]) -> dict[str, ProofFinding]:
    """Check whether claims hold, from the graph, its check and what mechanisms log."""
    from dpaudit.verifier.chain import rests_on

    nodes = module.NODES
    below = {name: {one for ids in rests_on(nodes, name).values() for one in ids} for name in wanted}
    reasons = module.standing([node for node in nodes if any(node.id in ids for ids in below.values())], quick=True)
    remarks = getattr(module, "remarks_on", lambda: lambda _nodes: ())()
    found = {}
    for name in wanted:
        part = [node for node in nodes if node.id in below[name]]
        claims = [node for node in part if node.id == name and node.stage == "claim"]
        if not claims:
            found[name] = ProofFinding("unknown", reason=f"{name} is no claim of the graph {module.__name__}")
            continue
        fallen = [f"{node.id}: {reasons[node.id]}" for node in part if reasons[node.id]]
        steps = tuple(ProofStep(node.id, _statement_of(node), node.kind) for node in part)
        steps += tuple(ProofStep(name, statement, word) for name, statement, word in remarks(part))
        found[name] = ProofFinding(
            status=_status(steps, fallen),
            claim=claims[0].statement,
            reason="; ".join(one for one in fallen if ": rests on " not in one),
            steps=steps,
            logged=tuple(module.LOGGED.get(name.removesuffix(".claim"), ())),
        )
    return found


def _statement_of(node: Any) -> str:
    """Return what a node says, and whom it cites."""
    cited = ", ".join(one.partition(":")[2] for one in node.evidence if one.startswith("citation:"))
    return f"{node.statement} ({cited})" if cited else str(node.statement)


def _status(steps: Sequence[ProofStep], fallen: Sequence[str]) -> str:
    """Return the word for a chain: it is "proven" if every step is, or is an axiom that is named."""
    if fallen:
        return "stale" if any("stale: " in reason for reason in fallen) else "unknown"
    return "proven" if all(step.word in ("proven", "axiom") for step in steps) else "in part"


def _check_program(name: str) -> ProofFinding:
    """Check a program's certificate by front end and kernel; without one, look for a counterexample."""
    from dpaudit.binding import examine
    from dpaudit.verifier.frontend import parse
    from dpaudit.verifier.recheck import parse_certificate, recheck
    from dpaudit.verifier.terms import Sort
    from dpaudit.verifier.verifying import claim_words

    try:
        place, attribute, values = _split_name(name)
        function = getattr(module_at(place), attribute, None)
        if function is None:
            return ProofFinding("unknown", reason=f"{place} has no function {attribute}")
        program = parse(function)
        examine(function)
        sorts = {one.name: one.sort for one in program.parameters}
        for one, value in values.items():
            if sorts.get(one) not in (Sort.INT, Sort.REAL) or (sorts[one] is Sort.INT and value.denominator > 1):
                return ProofFinding("unknown", reason=f"{attribute} has no parameter {one} that can be {value}")
        text = _certificate(place, function)
        known = ProofFinding("unknown", claim_words(program), contract=program.contract, values=values, code=function.__code__)
        if text is None:
            return _refute_program(program, known)
        found = recheck(program, parse_certificate(text), quick=True)
    except MissingExtra as error:
        return ProofFinding("unknown", reason=f"not checked: {error}")
    except DpauditError as error:
        return ProofFinding("unknown", reason=str(error))
    if found.status != "proven":
        return replace(known, status="stale" if found.reason.startswith("stale: ") else "unknown", reason=found.reason)
    shown = f"{found.obligations} obligations, made anew from the source; the kernel confirms them all without a solver"
    return replace(known, status="proven", steps=(ProofStep(attribute, shown, "proven"),))


def _split_name(name: str) -> tuple[str, str, dict[str, Fraction]]:
    """Split "MODULE:FUNCTION(name=value, ...)" into module, function and values."""
    found = _PROGRAM.fullmatch(name)
    assert found is not None, "checked when the target was made"  # noqa: S101
    pairs = [pair.partition("=") for pair in (found["values"] or "").split(",") if pair.strip()]
    if any(not mark for _, mark, _ in pairs):
        raise InvalidArgument("DPA404", f"{name} gives a value without a name. Write MODULE:FUNCTION(name=value, ...).")
    return found["place"], found["function"], {one.strip(): rational(value.strip(), one.strip()) for one, _, value in pairs}


def _certificate(place: str, function: Any) -> str | None:
    """Read the certificate of a function: from the folder beside its module, or from those that are installed."""
    stem = Path(place).stem if place.endswith(".py") else place
    folders: list[Any] = [Path(function.__code__.co_filename).parent / "certificates"]
    with suppress(ModuleNotFoundError):
        folders.append(files("proofs") / "certificates")
    for folder in folders:
        try:
            return str((folder / f"{stem}.{function.__name__}.json").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    return None


def _refute_program(program: Program, known: ProofFinding) -> ProofFinding:
    """Look for a certified counterexample at the values that are given; else nothing is known."""
    from dpaudit.promise import with_values
    from dpaudit.verifier.refuter.search import search
    from dpaudit.verifier.refuter.witness import recheck
    from dpaudit.verifier.telling import witness_words
    from dpaudit.verifier.terms import Sort, constant, equal, variable

    assert program.contract is not None, "programs with @spec have a contract"  # noqa: S101
    sorts = {one.name: one.sort for one in program.parameters if isinstance(one.sort, Sort)}
    fixed = [equal(variable(name, sorts[name]), constant(value)) for name, value in known.values.items()]
    contract = program.contract
    requires, promise = (*contract.requires, *fixed), with_values(contract.promise, known.values)
    there = replace(program, contract=replace(contract, requires=requires, promise=promise))
    witness = search(there, seconds=SECONDS, events=EVENTS)
    if witness is None or not recheck(there, witness):
        return replace(known, reason="there is neither a certificate nor a quick counterexample; try `dpaudit prove`")
    words = "; ".join(witness_words(there, witness))
    return replace(known, status="refuted", steps=(ProofStep(program.name, f"A certified counterexample: {words}.", "certified"),))
