"""Certificates of proofs: alignments, invariants and confirmations, as strict JSON bound to the source and the specification."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from dpaudit.verifier.confirming import Confirmations, text_hash
from dpaudit.verifier.ir import Contract, Draw, ListOf, Program
from dpaudit.verifier.notation import Table
from dpaudit.verifier.product.adjacency import Neighbours, directions
from dpaudit.verifier.product.ledger import cuts
from dpaudit.verifier.product.normal import half_square
from dpaudit.verifier.product.walk import statements
from dpaudit.verifier.proving import Direction, Proof
from dpaudit.verifier.terms import TRUE, Term

FORMAT: Final = "dpaudit proof 1"
THEOREMS: Final[Mapping[str, str]] = {
    "pure": "alignment, for all outputs or for each discrete output",
    "approx": "alignment with a ledger of failures",
    "zcdp": "alignment of Gaussian noise",
    "normal": "alignment of Gaussian noise, by the sum of its squared shifts",
}
"""The theorem that a proof applies, by the cost of its claim; docs/verification.md proves them."""
LAW_VERSIONS: Final = "1"
"""Changes with the table of laws and their costs."""


def certificate_document(proof: Proof, confirmations: Confirmations) -> dict[str, Any]:
    """The certificate of a proof."""
    table, formulas = Table(), _Formulas(confirmations)
    document = {
        "format": FORMAT,
        "name": proof.program.name,
        "claim_hash": claim_hash(proof.program),
        "source_hash": source_hash(proof.program),
        "proofs": [
            _direction(program, found, table, formulas)
            for (program, _), found in zip(required_directions(proof.program), proof.directions, strict=True)
        ],
        "terms": table.rows,
        "formulas": formulas.rows,
        "made_with": _environment(),
    }
    return {**document, "evidence_hash": digest(document)}


def text_of(document: Mapping[str, Any]) -> str:
    """A certificate as the text of its file."""
    lines = [f"{json.dumps(key)}: {_lines(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def required_directions(program: Program) -> Iterator[tuple[Program, Neighbours]]:
    """All that must be proven, from the source: each helper with a contract and the program, in each direction."""
    for _, helper in program.helpers:
        yield from required_directions(helper)
    for pairs in directions(program):
        yield program, pairs


def digest(document: object) -> str:
    """SHA-256 of plain data in one canonical form."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def source_hash(program: Program) -> str:
    """SHA-256 of the source texts, bytes as they are but for line ends."""
    return digest([text.replace("\r\n", "\n") for text in _texts(program)])


def claim_hash(program: Program) -> str:
    """SHA-256 of what is claimed: syntax of the function and its helpers, frozen numbers, contract, laws and theorem.

    Comments and line breaks do not count, positions neither; every number counts with its type.
    """
    return digest(_claimed(program))


def _claimed(program: Program) -> list[Any]:
    """The claim as plain data."""
    laws = sorted({one.law.value for one in statements(program.body) if isinstance(one, Draw)})
    parameters = [(one.name, one.sort) for one in program.parameters]
    return [
        [_shape(ast.parse(text)) for text in _texts(program)],
        [[name, f"list of {sort.element.value}" if isinstance(sort, ListOf) else sort.value] for name, sort in parameters],
        sorted([name, type(value).__name__, str(value)] for name, value in program.constants),
        _promised(program.contract),
        [laws, LAW_VERSIONS, _theorem(program)],
        [[name, _claimed(helper)] for name, helper in program.helpers],
    ]


def _theorem(program: Program) -> str:
    """The theorem that a proof of this program applies."""
    if program.contract is None:
        return ""
    squares = half_square(program, program.contract, cut=bool(cuts(program)))
    return THEOREMS[program.contract.cost if squares is None else "normal"]


def _promised(contract: Contract | None) -> list[Any]:
    """A contract by what it says about values at entry."""
    if contract is None:
        return []
    changes = [[name, change.relation.value, str(change.bound)] for name, change in contract.changes]
    clauses = [[str(clause) for clause in part] for part in (contract.requires, contract.domain)]
    owed = [[kind, str(formula)] for kind, formula in contract.obligations]
    amounts = [str(contract.claim), str(contract.odds), str(contract.delta), contract.cost]
    return [amounts, changes, sorted(contract.public), clauses, owed]


def _texts(program: Program) -> list[str]:
    """The texts of the function and of all helpers that stand in place of their calls."""
    return [program.source, *(text for _, text in sorted(program.inlined))]


def _shape(node: Any) -> Any:
    """A syntax tree as plain data, the same under every version of Python: places and empty fields are left out."""
    if isinstance(node, ast.AST):
        parts = {name: _shape(value) for name, value in ast.iter_fields(node) if value not in (None, [])}
        return [type(node).__name__, parts]
    if isinstance(node, list):
        return [_shape(item) for item in node]
    return node if isinstance(node, str) else [type(node).__name__, repr(node)]


class _Formulas:
    """The formulas of obligations, each once, with who confirmed them."""

    def __init__(self, confirmations: Confirmations) -> None:
        self.rows: list[dict[str, Any]] = []
        self._confirmations = confirmations
        self._numbers: dict[Term, int] = {}

    def number(self, formula: Term) -> int | None:
        """The row of a formula; None for one that holds by its form."""
        if formula is TRUE:
            return None
        if formula not in self._numbers:
            self._numbers[formula] = len(self.rows)
            first, second = self._confirmations.solvers[formula]
            kernel = self._confirmations.kernel.get(formula)
            answers = {"z3": first.answer.value, "cvc5": second.answer.value}
            self.rows.append({"text": text_hash(formula), **answers, "kernel": kernel})
        return self._numbers[formula]


def _direction(program: Program, found: Direction, table: Table, formulas: _Formulas) -> dict[str, Any]:
    """One direction as plain data."""
    return {
        "program": program.name,
        "reverse": found.pairs.reverse,
        "pointwise": found.pointwise,
        "alignment": [[site, table.number(shift)] for site, shift in sorted(found.alignment.items())],
        "invariants": [[loop, [table.number(one) for one in stated]] for loop, stated in sorted(found.invariants.items())],
        "obligations": [[one.id, formulas.number(one.formula)] for one in found.obligations],
    }


def _environment() -> dict[str, str]:
    """With what a certificate was made; said, never compared."""
    found = {"python": platform.python_version(), "optimize": str(sys.flags.optimize), "verifier": verifier_digest()}
    for package in ("z3-solver", "cvc5"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def verifier_digest() -> str:
    """SHA-256 of the verifier's own source."""
    folder = Path(__file__).parent
    texts = [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(folder.rglob("*.py"))]
    return digest([[name, hashlib.sha256(text).hexdigest()] for name, text in texts])


def _lines(value: Any) -> str:
    """A list with one line for each item, so that files can be compared; everything else on one line."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(json.dumps(item, separators=(",", ":")) for item in value) + "\n]"
    return json.dumps(value)
