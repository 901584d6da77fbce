"""diffpriv-pure 0.1.0, `PrivacyBudget.advanced_composition`: the theorem's second term is missing, so many releases look cheap."""

# requires: diffpriv-pure==0.1.0

import math
from fractions import Fraction

from _entry import expect
from diffpriv_pure import PrivacyBudget

N, EACH, SLACK = 100, 1.0, 1e-5


def delta_of_responses(epsilon: float) -> float:
    """Return the exact delta of N randomised responses at EACH: the loss of k true answers is (2 k - N) EACH."""
    true = math.exp(EACH) / (1 + math.exp(EACH))
    return math.fsum(
        math.comb(N, k) * true**k * (1 - true) ** (N - k) * (1 - math.exp(epsilon - (2 * k - N) * EACH))
        for k in range(N + 1)
        if (2 * k - N) * EACH > epsilon
    )


def confirm() -> None:
    """Compare the library's composition with the binomial law of randomised responses, each of which is within its parameters."""
    epsilon, delta = PrivacyBudget(1000.0, 0.5).advanced_composition(N, EACH, SLACK)
    true = delta_of_responses(epsilon)
    print(
        f"{N} releases of epsilon {EACH} and delta {SLACK}: stated epsilon {epsilon:.3f}, delta "
        f"{delta:.0e}; exact delta there {true:.4f}"
    )
    full = EACH * math.sqrt(2 * N * math.log(1 / SLACK)) + N * EACH * math.expm1(EACH)
    print(
        f"with the theorem's second term it is epsilon {full:.2f}, which is over plain composition ({Fraction(N) * Fraction(EACH)})"
    )
    expect(true > 100 * delta, "more than a hundred times the delta")


if __name__ == "__main__":
    confirm()
    print("refuted by the exact law: this is a statement about a price, so no release is sampled")
