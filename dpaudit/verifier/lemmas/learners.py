"""Steps of the proofs of private learners: margins, hinges, contractive steps, private choice of parameters, kernels.

g is the margin, m a score times its label, D, G, S and the like are lengths and inner products, so that the lemmas hold in every
dimension.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.statements import Lemma

_HALFSPACE: Final = "Nguyen, Ullman, Zakynthinou 2020"
_PUBLIC: Final = "Lowy, Li, Huang, Razaviyayn 2024"
_KERNEL: Final = "Jain, Thakurta 2013"
_MARGIN: Final = "Bassily, Mohri, Suresh 2022"
_CHOICE: Final = "Raskhodnikova, Smith 2016"
_STEP: Final = "Hardt, Recht, Singer 2016, Lemma 3.7"

LEMMAS: Final = (
    Lemma("learners.kept_margin", "A projection that distorts by g/100 keeps 98/100 of the margin g, so 96/100.",
        "g t k", ("0 < g", "g <= 1", "100*t == g", "k*(1 + t) == g - t"), "98*g <= 100*k and 96*g <= 100*k", _HALFSPACE),
    Lemma("learners.kept_margin_third", "A projection that distorts by g/3 keeps half of the margin.",
        "g t k", ("0 < g", "g <= 1", "3*t == g", "k*(1 + t) == g - t"), "g <= 2*k", _HALFSPACE),
    Lemma("learners.margin_gap", "The gap between 96 g/100 and g/10 is 86 g/100, which is more than g/10.",
        "g", ("0 < g",), "96*g/100 - g/10 == 86*g/100 and g/10 < 86*g/100", _HALFSPACE),
    Lemma("learners.hinge_covers", "The hinge l is at least 1 where the score m is below g/10, and 0 where it is 96 g/100 or more.",
        "g m l", ("0 < g", "86*g*l == max(0, 96*g - 100*m)"), "(g/10 <= m or 1 <= l) and (100*m < 96*g or l == 0)", _HALFSPACE),
    Lemma("learners.hinge_slope", "The hinge is 100/(86 g)-Lipschitz in the score.",
        "g m k l h", ("0 < g", "86*g*l == max(0, 96*g - 100*m)", "86*g*h == max(0, 96*g - 100*k)"),
        "abs(86*g*l - 86*g*h) <= 100*abs(m - k)", _HALFSPACE),
    Lemma("learners.hinge_range", "The hinge is at most (96 g/100 + 1)/(86 g/100) for scores of at least -1.",
        "g m l", ("0 < g", "-1 <= m", "86*g*l == max(0, 96*g - 100*m)"), "0 <= l and 86*g*l <= 96*g + 100", _HALFSPACE),
    Lemma("learners.disagreement",
        "Two classifiers with error at most 1/10 outside a band of mass p disagree on at most 2/10 + 18 p/10.",
        "e f u v d p", ("0 <= p", "p <= 1", "10*e <= 1", "10*f <= 1", "u <= e*(1 - p) + p", "v <= f*(1 - p) + p", "d <= u + v"),
        "10*d <= 2 + 18*p", _HALFSPACE),
    Lemma("learners.means",
        "Means of (epsilon, delta)-indistinguishable X and Y in [-D, D], by positive parts x, y and negative parts z, w.",
        "x y z w E d D", ("1 <= E", "0 <= d", "0 <= D", "0 <= y", "0 <= w", "x <= E*y + d*D", "w <= E*z + d*D"),
        "x - z <= (y - w) + (E - 1)*(y + w) + 2*d*D", _PUBLIC),
    Lemma("learners.update",
        "An update after a difference above s, seen with noise of at most s/4, brings the squared distance down by s^2/(2 R^2).",
        "s c t n K S a", ("0 < s", "0 < S", "K <= S", "a*S == s", "0 < a", "s < c", "abs(n) <= s/4", "t == c - n"),
        "s**2 <= 2*S*(2*a*t - a**2*K)", _KERNEL),
    Lemma("learners.convex_ends", "A convex function that is at most 1 at both ends is at most 1 between them.",
        "G a b t", ("0 <= t", "t <= 1", "G <= (1 - t)*a + t*b", "a <= 1", "b <= 1"), "G <= 1", _KERNEL),
    Lemma("learners.supermartingale", "If U <= C (1 - V), a round is worth at most 1 when each update is discounted by C; N = 1/C.",
        "U V C N", ("0 < C", "N*C == 1", "U <= C*(1 - V)"), "V + N*U <= 1", _KERNEL),
    Lemma("learners.centred_range", "A G-Lipschitz score of a prediction h in [-M, M], centred at 0, is within G M.",
        "f z h G M", ("0 <= G", "abs(h) <= M", "abs(f - z) <= G*abs(h)"), "abs(f - z) <= G*M", _PUBLIC),
    Lemma("learners.outer_products",
        "Outer products of vectors of squared length at most M differ by at most 2 M^2 in squared norm; u is the inner product.",
        "a b u M", ("0 <= a", "a <= M", "0 <= b", "b <= M"), "a**2 + b**2 - 2*u**2 <= 2*M**2", _PUBLIC),
    Lemma("learners.gradient_step",
        "A step eta <= 2/beta along gradients of a beta-smooth convex loss does not expand: S = |G|^2, p = <G, D>, q = |D|^2.",
        "S p q eta beta", ("0 <= eta", "eta*beta <= 2", "0 <= p", "S <= beta*p"), "q - 2*eta*p + eta**2*S <= q", _STEP),
    Lemma("learners.gradient_step_line",
        "The same on a line: h is the step times a slope between 0 and beta, and S the squared distance.",
        "S h", ("0 <= S", "0 <= h", "h <= 2"), "S*(1 - h)**2 <= S", _STEP),
    Lemma("learners.replaced_step", "Where the replaced record is read, two runs from one point part by at most 2 L eta.",
        "w v eta L a b", ("0 <= eta", "-L <= a", "a <= L", "-L <= b", "b <= L", "w - v == eta*b - eta*a"), "abs(w - v) <= 2*L*eta",
        _STEP),
    Lemma("learners.generalised_score",
        "A difference of scores over the sum of their sensitivities has sensitivity 1, for every t.",
        "q r p s a b t x y",
        ("0 < a", "0 < b", "abs(p - q) <= a", "abs(s - r) <= b",
         "x*(a + b) == q - r + t*(a - b)", "y*(a + b) == p - s + t*(a - b)"),
        "abs(x - y) <= 1", _CHOICE),
    Lemma("learners.root_increment", "sqrt(A (x + 1/m)) is at most sqrt(A x) + sqrt(A/m): a, b, c are the three roots.",
        "a b c A x y", ("0 <= a", "0 <= b", "0 <= c", "a**2 == A*x", "c**2 == A*y", "b**2 == A*(x + y)"), "b <= a + c", _MARGIN),
)  # fmt: skip
"""The lemmas that the learners' proofs lean on."""
