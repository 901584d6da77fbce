"""The weights of candidates, proved: proposals are at least the true weights, and what floats decide exact arithmetic would too.

A gap is rounded once, unless it is too small for that, and then its weight is that of no gap. x is a gap over the temperature, and
a staircase of N steps for every halving has the weight 2^(S - a/N), rounded up, where a is the whole part of a float that is at
most x N / ln 2.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.exact import working_precision
from mechanisms.selection import choosing, proposals, repeated
from mechanisms.selection.scores import LARGEST_SIZE
from proofs.certexp import prove as prove_exponential
from proofs.rounding import SMALLEST, UNIT, compound, exponential_change, require

_PRECISION: Final = 400
_LOWERED: Final = Fraction(1, 2**49)
_NARROW: Final = Fraction(1, 2**60)
_LARGEST: Final = Fraction(708)
_NORMAL: Final = Fraction(1, 2**1022)


def staircase() -> None:
    """Prove that every entry of a table is 2^(S - a/N), rounded up, for each precision and each of its places."""
    steps, most = proposals.STEPS, proposals.TABLE_PRECISION
    require("places end where the table does", holds=proposals.CLAMP % steps == 0 and proposals.CLAMP // steps > most)
    with working_precision(_PRECISION):
        above = [_rounded_up(arb(2) ** most * (-arb.const_log2() * place / steps).exp()) for place in range(steps)]
    for precision in range(most + 1):
        # Rounding up twice is rounding up once; beyond the last halving the weight is below 1.
        wanted = [-(-entry >> most - precision + halving) for halving in range(proposals.CLAMP // steps) for entry in above]
        require(f"the table of precision {precision}", holds=proposals.table(precision).tolist() == [*wanted, 1])
    size = LARGEST_SIZE
    require("all weights together fit", holds=all(n << proposals.finest_precision(n) <= 2**most for n in (1, 2, 3, size - 1, size)))
    require("a precision that the table has", holds=0 <= proposals.finest_precision(size) <= proposals.finest_precision(1) <= most)


def _rounded_up(value: arb) -> int:
    """The least whole number that is at least a real one, given by a ball around it."""
    whole = value.ceil().unique_fmpz()
    require("an entry is known", holds=whole is not None)
    return int(whole or 0)


def steps() -> None:
    """Prove that the steps of a gap are at most those of the real number, and fewer by little more than one."""
    _require_range()
    require("three roundings leave the product below the real one", holds=(1 + UNIT) ** 3 * (1 - _LOWERED) <= 1)
    # A float that is too small to be rounded so has a product below 1, and stands for no step, like one that is less.
    require("small gaps have no step", holds=2 * _NORMAL * 2 * proposals.STEPS * 2 ** _exponent() < 1)
    require("large gaps have all steps", holds=Fraction(2) ** (1023 - _exponent()) > proposals.CLAMP)


def sure() -> None:
    """Prove that a coin which floats put below the certified share of a weight is below the weight itself."""
    _require_range()
    # The real number of steps is below that of the float divided by this.
    factor = (1 - _LOWERED) * (1 - _NARROW) * (1 - UNIT) ** 3
    missing = proposals.CLAMP / factor - proposals.CLAMP
    computed = Fraction(proposals.SURE_ACCEPTANCE) * (1 + compound(*[UNIT] * 5))
    with working_precision(_PRECISION):
        share = (-arb.const_log2() * (1 + _arb(missing)) / proposals.STEPS).exp()
        require("the certified share is below the real one", holds=bool(_arb(computed) < share))


def alias() -> None:
    """Prove that the whole masses of a table are at most, and at least, the weights that they stand for."""
    _require_range()
    exponent = _LARGEST * compound(UNIT, UNIT, UNIT) + Fraction(2) ** _exponent() * 4 * SMALLEST + 4 * SMALLEST
    weight = compound(exponential_change(exponent), prove_exponential().total)
    slack = Fraction(repeated.SHIPPED.slack)
    require(
        "one less the slack, and one more, are floats", holds=all(Fraction(float(1 + end)) == 1 + end for end in (slack, -slack))
    )
    # The weight that is compared is e^-x: what floats compute is at most (1 + error) times it, and at least (1 - error) times.
    require("a sure part is at most the mass", holds=(1 + weight) * (1 + UNIT) ** 2 * (1 - slack) <= 1)
    require("a whole part is at least the mass", holds=(1 - weight) * (1 - UNIT) ** 2 * (1 + slack) >= 1)
    # Numbers up to 2^53 are exact; the sum of n floats of one sign, in any order, is less than the real one by n roundings at most.
    lost = 1 - (LARGEST_SIZE + 8) * UNIT  # at most (1 - u)^n, by Bernoulli
    whole = Fraction(2) ** repeated.SHIPPED.bits
    require("masses fit int64, and so do their sums", holds=whole * (1 + slack) / lost + LARGEST_SIZE < 2**63 and _bits() <= 62)
    with working_precision(_PRECISION):
        far = (-_arb(_LARGEST * (1 - 4 * UNIT))).exp()
        require("what is farther than floats reach has a mass below 1", holds=bool(far * _arb(whole * 2) < 1))
    require("the coin's digits", holds=repeated.SHIPPED.rest >= _bits() and repeated.SHIPPED.step >= 1)


def _bits() -> int:
    """Bits of the words that a table reads."""
    return repeated.SHIPPED.bits


def _exponent() -> int:
    """Temperatures lie between 2 to this power and one over it."""
    return choosing._TEMPERATURE_EXPONENT  # noqa: SLF001 - a proof looks inside


def _require_range() -> None:
    """Temperatures are such that no rate is subnormal or infinite."""
    require("rates are normal floats", holds=2 ** (_exponent() + 8) < 2**1022)


def _arb(value: Fraction) -> arb:
    """A ball around a fraction."""
    return arb(value.numerator) / arb(value.denominator)
