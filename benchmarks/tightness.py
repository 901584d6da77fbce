"""How much of a claim is needed: the smallest multiple of it that is proven, and the largest that is refuted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpaudit.clauses import Clause
from dpaudit.verifier.ir import Program, contract_of
from dpaudit.verifier.proving import Proof, prove
from dpaudit.verifier.refuter.neighbours import claim_values
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.terms import ONE, Sort, constant, multiply

SECONDS: Final = 10.0
STEP: Final = Fraction(1, 64)


@dataclass(frozen=True)
class Tightness:
    """Two multiples of a claim between which the truth lies.

    Args:
      proven: the smallest multiple tried that is proven; None where none is.
      refuted: a privacy loss that some event certainly has, as a multiple of the claim, 0 where none was found; None for infinity.
    """

    proven: Fraction | None
    refuted: Fraction | None

    @property
    def gap(self) -> Fraction | None:
        """What is neither proven nor refuted, as a part of the claim; None where a side is missing."""
        return None if self.proven is None or self.refuted is None else self.proven - self.refuted


def tightness(program: Program, *, seconds: float = SECONDS, step: Fraction = STEP) -> Tightness:
    """The smallest multiple of the claim that is proven, by bisection, and the largest loss that is certified."""
    contract = contract_of(program)
    if contract.cost != "pure" or contract.odds is not ONE:
        raise Undecided("only a pure claim that is no logarithm has multiples")
    refuted = _refuted(program, seconds, step)
    if refuted is None or not _is_proven(program, Fraction(1), seconds):
        return Tightness(None, refuted)
    low, high = refuted, Fraction(1)
    while high - low > step:
        middle = high - step if high == 1 else (low + high) / 2
        if _is_proven(program, middle, seconds):
            high = middle
        elif high == 1:
            # One step below the claim fails: the claim is as small as this search can tell.
            break
        else:
            low = middle
    return Tightness(high, refuted)


def _refuted(program: Program, seconds: float, step: Fraction) -> Fraction | None:
    """The largest loss found as a multiple of the claim: just below the claim first, then lower, and from what is found upwards."""
    low, high = Fraction(0), Fraction(1)
    factor = high - step
    while high - low > step or factor > high:
        witness = search(scaled(program, factor), seconds=seconds)
        if witness is None:
            if factor >= high:
                return low
            high = factor
        elif witness.lower is None:
            return None
        else:
            low = max(low, witness.lower / claim_values(program, witness.pair.first)[0])
        factor = max(low * (1 + step), Fraction(1)) if low >= high - step else (low + high) / 2
    return low


def _is_proven(program: Program, factor: Fraction, seconds: float) -> bool:
    """Whether a multiple of the claim is proven."""
    return isinstance(prove(scaled(program, factor), seconds=seconds), Proof)


def scaled(program: Program, factor: Fraction) -> Program:
    """The program with a multiple of its claim; what the specification owes holds of every multiple above 0."""
    contract = contract_of(program)
    claim = Clause("*", "Fraction", (Clause("number", "Fraction", value=factor), contract.promise.claim))
    scaled_contract = replace(
        contract,
        claim=multiply(constant(factor, Sort.REAL), contract.claim),
        promise=replace(contract.promise, claim=claim),
    )
    return replace(program, contract=scaled_contract)
