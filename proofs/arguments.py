"""Steps of the written proofs of mechanisms that are no programs: distances, mixtures, shares of a budget, keys, categories."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_STABILITY: Final = "Korolova, Kenthapadi, Mishra, Ntoulas 2009; docs/selection_and_queries.md, stability theorem"
_SELECTION: Final = "Desfontaines, Voss, Gipson, Mandayam 2022; docs/selection_and_queries.md, selection theorem"
_BUDGET: Final = "docs/selection_and_queries.md, sparse vector theorem"

LEMMAS: Final = (
    Lemma(
        "arguments.unit_step",
        "A whole number at distance d from another, moved towards it by a step of at most 1, is at distance d - 1.",
        "v:int w:int d:int",
        ("1 <= d", "abs(v - w) <= d"),
        "abs(v + (1 if v < w else -1 if w < v else 0) - w) <= d - 1",
        "docs/proofs.md, programs and shipped code",
    ),
    Lemma(
        "arguments.directed_step",
        "If it may only grow, so does each step, and what is left to go is still growth.",
        "v:int w:int",
        ("v <= w",),
        "v <= v + (1 if v < w else 0) and v + (1 if v < w else 0) <= w",
        "docs/proofs.md, programs and shipped code",
    ),
    Lemma(
        "arguments.mixture",
        "A factor that bounds each part of a mixture bounds the mixture (step for any number of parts; s and t are weights).",
        "x X y Y s t R",
        ("0 <= s", "0 <= t", "x <= R*y", "X <= R*Y"),
        "s*x + t*X <= R*(s*y + t*Y)",
        "docs/selection_and_queries.md, noisy max on a lattice",
    ),
    Lemma(
        "arguments.shares",
        "Noise of scale T = m S/(e x), for m moves of size S with the share x of epsilon e, costs m S/T = e x: shares add up.",
        "S T e x m cost",
        ("0 < T", "T*(e*x) == m*S", "cost*T == m*S"),
        "cost == e*x",
        _BUDGET,
    ),
    Lemma(
        "arguments.categories",
        "With odds a against each of k - 1 lies, y is the chance of a lie and x = a y that of the truth; they sum to 1.",
        "a k x y",
        ("1 <= a", "2 <= k", "x*(a + k - 1) == a", "y*(a + k - 1) == 1"),
        "x + (k - 1)*y == 1 and x == a*y and y <= x",
        "Kairouz, Oh, Viswanath 2016",
    ),
    Lemma(
        "arguments.root_above",
        "One more than the whole root of m - 1 has a square q above m - 1; so q/F is at least n/d, where m is n F/d rounded up.",
        "m:int q:int n d F",
        ("1 <= d", "m - 1 < q", "n*F <= m*d"),
        "n*F <= q*d",
        "integer square roots",
    ),
    Lemma(
        "arguments.rounding",
        "Rounding a real number that is moved by a whole one is rounding first: r, s are nearest to n, x + n.",
        "n x:int r:int s:int",
        ("2*r - 1 < 2*n", "2*n < 2*r + 1", "2*s - 1 < 2*(x + n)", "2*(x + n) < 2*s + 1"),
        "s == x + r",
        "docs/sampling.md, rounded Gaussian",
    ),
    Lemma(
        "arguments.stability",
        "Delta for keys that only one side has, R for common keys, E for keys of the other side alone.",
        "P Q p r delta w R E",
        ("0 <= p", "0 <= R", "w <= 1", "P <= delta + w*p", "p <= R*r", "r <= E*Q"),
        "P <= delta + R*E*Q",
        _STABILITY,
    ),
    Lemma(
        "arguments.stability_hidden",
        "A key of one person is hidden with 1 - t >= q = 1/E, so that hiding one more costs at most a factor E.",
        "t q E r K Q",
        ("0 < q", "E*q == 1", "t <= 1 - q", "0 <= r", "0 <= K", "(1 - t)*r <= K*Q"),
        "r <= E*K*Q",
        _STABILITY,
    ),
    Lemma(
        "arguments.selection_private",
        "The recursion p' = min(a p + d, 1 - y, 1) with a y = 1 - p - d meets both conditions of privacy and does not fall.",
        "p a d y",
        ("1 <= a", "0 <= d", "0 <= p", "p <= 1", "a*y == 1 - p - d"),
        "min(min(a*p + d, 1 - y), 1) <= a*p + d and 1 - p <= a*(1 - min(min(a*p + d, 1 - y), 1)) + d "
        "and p <= min(min(a*p + d, 1 - y), 1)",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_optimal",
        "A private rule that was not above the recursion is not above it for one person more.",
        "p a d y s r",
        ("1 <= a", "s <= p", "r <= 1", "r <= a*s + d", "1 - s <= a*(1 - r) + d", "a*y == 1 - p - d"),
        "r <= min(min(a*p + d, 1 - y), 1)",
        _SELECTION,
    ),
)
"""The lemmas of mechanisms."""
