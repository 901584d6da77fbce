"""The transcendental inequalities that proofs lean on, over the parameters for which they are used."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.verifier.lemmas.boxes import Inequality, Margin

if TYPE_CHECKING:
    from flint import arb


def classical_gaussian(constant: Fraction) -> Margin:
    """1 - delta(epsilon)/delta for sigma = sqrt(2 ln(constant/delta))/epsilon, in epsilon and l = ln(1/delta)."""

    def margin(at: Sequence[arb]) -> arb:
        from flint import arb, fmpq

        epsilon, logarithm = at
        # With k = epsilon sigma the profile is Phi(epsilon/(2 k) - k) - exp(epsilon) Phi(-epsilon/(2 k) - k).
        k = (2 * (arb(fmpq(constant.numerator, constant.denominator)).log() + logarithm)).sqrt()
        root = arb(2).sqrt()
        first, second = (((k - shift) / root).erfc() / 2 for shift in (epsilon / (2 * k), -epsilon / (2 * k)))
        return 1 - (first - epsilon.exp() * second) * logarithm.exp()

    return margin


INEQUALITIES: Final = (
    Inequality(
        "inequalities.classical_gaussian",
        "sigma = sqrt(2 ln(5/(4 delta)))/epsilon suffices for all epsilon in [0, 1] and delta in [exp(-40), 1].",
        classical_gaussian(Fraction(5, 4)),
        ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(40))),
        "Dwork, Roth 2014, Theorem A.1",
    ),
    Inequality(
        "inequalities.tanh",
        "tanh u < u on [1/20, 20], so that u^2/2 - ln cosh u grows.",
        lambda at: at[0] - at[0].tanh(),
        ((Fraction(1, 20), Fraction(20)),),
        "Bun, Steinke 2016, Proposition 3.3",
    ),
    Inequality(
        "inequalities.cosh",
        "ln cosh(x/2) < x^2/8 on [1, 40].",
        lambda at: at[0] ** 2 / 8 - (at[0] / 2).cosh().log(),
        ((Fraction(1), Fraction(40)),),
        "Hoeffding 1963, Lemma 1",
    ),
    Inequality(
        "inequalities.logarithm",
        "1 - delta < ln(1/delta) for delta in [10^-9, 999/1000].",
        lambda at: at[0] - 1 - at[0].log(),
        ((Fraction(1, 10**9), Fraction(999, 1000)),),
        "Bassily, Mohri, Suresh 2022",
    ),
)
"""The inequalities, each positive on its box."""
