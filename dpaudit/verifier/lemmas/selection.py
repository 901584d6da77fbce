"""Choices by score: the exponential mechanism and permute-and-flip for any number of candidates, and maxima.

R bounds how much one weight changes, which is exp(epsilon / 2); weights of the two neighbours are w and v, their totals W and V.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.statements import Lemma

_EXPONENTIAL: Final = "McSherry, Talwar 2007, Theorem 6"
_RANGE: Final = "Durfee, Rogers 2019, Definition 4.1"
_FLIP: Final = "McKenna, Sheldon 2020, Theorem 1; here by arrival times and a substitution"

LEMMAS: Final = (
    Lemma("selection.ratio", "Weights and totals within R give probabilities w/W and v/V within R^2 (totals by composition.sum).",
        "w v W V R", ("0 <= v", "0 <= V", "0 <= R", "w <= R*v", "V <= R*W"), "w*V <= R**2*v*W", _EXPONENTIAL),
    Lemma("selection.three", "The same for three candidates, from pairs: S = R^2 bounds the ratio of each pair's ratios.",
        "w1 w2 w3 v1 v2 v3 S", ("0 <= v1", "0 <= w1", "1 <= S", "w1*v2 <= S*v1*w2", "w1*v3 <= S*v1*w3"),
        "w1*(v1 + v2 + v3) <= S*v1*(w1 + w2 + w3)", _EXPONENTIAL),
    Lemma("selection.bounded_range",
        "If weights change by factors between m and m R, probabilities change by at most R: one-sided scores cost half.",
        "w v W V R m", ("0 <= R", "0 <= v", "0 <= V", "w <= m*R*v", "m*V <= W"), "w*V <= R*v*W", _RANGE),
    Lemma("selection.range", "The losses of two candidates differ by at most ln R; totals cancel.",
        "w1 v1 w2 v2 R m", ("0 <= R", "0 <= v1", "0 <= v2", "w1 <= m*R*v1", "m*v2 <= w2"), "w1*v2 <= R*v1*w2", _RANGE),
    Lemma("selection.permute_ratio",
        "The ratio of two candidates' coins changes by at most R^2 = exp(epsilon), whatever the best score.",
        "a1 b1 a2 b2 R", ("0 <= a1", "0 <= a2", "0 <= R", "b1 <= R*a1", "a2 <= R*b2"), "b1*a2 <= R**2*a1*b2", _FLIP),
    Lemma("selection.permute_limit", "The times u up to m/E stay inside the range of the neighbour's integral.",
        "c b m u E", ("0 <= u", "E*u <= m", "c*m <= 1", "0 <= c", "b <= E*c"), "b*u <= 1", _FLIP),
    Lemma("selection.permute_factor",
        "At time u no rival has won with at least the probability that the other law has at time E u.",
        "c b u E", ("0 <= u", "b <= E*c"), "1 - c*(E*u) <= 1 - b*u", _FLIP),
    Lemma("selection.permute_product", "Products of such probabilities are ordered too (step for any number of rivals).",
        "x X y Y", ("0 <= x", "x <= X", "0 <= y", "y <= Y"), "x*y <= X*Y", _FLIP),
    Lemma("selection.race", "Noise of the winner that is raised by twice the sensitivity lets it win on the neighbour as well.",
        "q r p s e f D", ("abs(p - q) <= D", "abs(s - r) <= D", "r + f <= q + e"), "s + f <= p + e + 2*D",
        "Dwork, Roth 2014, Claim 3.9; Ding, Kifer, Steinke, Wang, Xiao, Zhang 2021"),
    Lemma("selection.maximum", "A maximum changes by at most what its entries change by (step for any number).",
        "a b x y d", ("abs(a - b) <= d", "abs(x - y) <= d"), "abs(max(a, x) - max(b, y)) <= d", "induction over entries"),
)  # fmt: skip
"""The lemmas of private selection."""
