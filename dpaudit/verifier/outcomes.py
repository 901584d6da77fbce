"""The result of verifying one function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from dpaudit.verifier.refuter.witness import Witness

TRUSTED: Final = (
    "the alignment theorem, proved in docs/verification.md, and for discrete laws in Rocq (proofs/rocq)",
    "the front end and the generator of obligations, tested against CPython and by mutants",
    "the kernel, or both solvers z3 and cvc5",
    "CPython's int and Fraction, python-flint's ball arithmetic",
    "the samplers, whose proofs and tests are listed in docs/proofs.md, and the operating system's entropy",
    "that adjacency and public parameters are what the specification says",
    "that nobody sees time, memory, logs, or an error about private data",
)
"""The trusted base of every proof, printed with each."""


@dataclass(frozen=True)
class Checked:
    """One obligation of a proof and who confirmed it."""

    id: str  # kind, line and number
    kind: str  # the condition of the theorem
    line: int  # in the source, 0 for the specification
    solvers: bool  # whether z3 and cvc5 both did; True for what holds by its form
    kernel: bool  # whether the kernel did; True for what holds by its form
    linear: bool  # whether it is one of linear arithmetic
    seconds: tuple[float, float]  # time of z3 and of cvc5


@dataclass(frozen=True)
class ProofResult:
    """The verifier's verdict on one function, with its evidence.

    Args:
      name: of the function.
      status: "proven", "refuted" or "unknown"; "proven (real numbers)" for a program that computes in floats, of which the proof
        covers the real-number form only.
      claim: what was to be shown, in words.
      scope: for which data and parameters it is proven; empty unless it is.
      alignment: how much each draw differs in the second run, in the names of the source, with a line for each direction.
      obligations: everything that had to be shown, for a proof.
      witness: neighbours and event, for a refutation.
      words: the witness in sentences.
      reason: what stood in the way, where the status is "unknown".
      line: of the source, where the reason has one, else 0.
      assumptions: what the claim leaves to the caller.
      trusted: what the verdict rests on.
      certificate: plain data that `recheck` checks again, for a proof.
      understood: inputs, draws and outputs of a function that was read as people write it.
      seconds: time of the whole.
    Source: docs/verification.md.
    Example:
      >>> from dpaudit.verifier import verify
      >>> from dpaudit.catalogue.programs.basic import laplace_mechanism
      >>> verify(laplace_mechanism).alignment
      ('laplace.1 moves by -(other.q[0] - q[0])',)
    """

    name: str
    status: Literal["proven", "proven (real numbers)", "refuted", "unknown"]
    claim: str
    scope: str = ""
    alignment: tuple[str, ...] = ()
    obligations: tuple[Checked, ...] = ()
    witness: Witness | None = None
    words: tuple[str, ...] = ()
    reason: str = ""
    line: int = 0
    assumptions: tuple[str, ...] = ()
    trusted: tuple[str, ...] = TRUSTED
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    understood: tuple[str, ...] = ()
    seconds: float = 0.0
