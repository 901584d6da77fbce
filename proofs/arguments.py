"""Steps of the written proofs of mechanisms that are no programs: distances, mixtures, shares of a budget, keys, categories."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_STABILITY: Final = "Korolova, Kenthapadi, Mishra, Ntoulas 2009; docs/selection_and_queries.md, stability theorem"
_SELECTION: Final = "Desfontaines, Voss, Gipson, Mandayam 2022; docs/selection_and_queries.md, selection theorem"
_PEOPLE: Final = "docs/selection_and_queries.md, bounded contributions"
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
        "arguments.pairs",
        "Two numbers in one, p W + x with x below W: the quotient by W is the first, the remainder the second.",
        "p:int x:int W:int",
        ("0 <= p", "0 <= x", "x < W"),
        "(p*W + x) // W == p and (p*W + x) % W == x and -1 < p*W + x",
        _PEOPLE,
    ),
    Lemma(
        "arguments.pairs_room",
        "Two numbers in one fit 64 bits where both are below 2^31.",
        "p:int x:int W:int",
        ("0 <= p", f"p < {2**31}", "0 <= x", "x < W", f"W <= {2**31}"),
        f"p*W + x < {2**62}",
        _PEOPLE,
    ),
    Lemma(
        "arguments.rank",
        "Places less the first of their block count it from 0 on: those below c are its first c, or all of it.",
        "first:int end:int k:int c:int",
        ("first <= k", "k < end", "0 <= c"),
        "0 <= k - first and (not k - first < c or k < first + c) and (not k < first + c or k - first < c)",
        _PEOPLE,
    ),
    Lemma(
        "arguments.range",
        "A whole number, cut to one beyond either end of a range, has the place of a key of the range exactly if it is the key.",
        "low:int high:int key:int entry:int",
        ("low <= key", "key <= high"),
        "(not entry == key or max(min(entry, high + 1), low - 1) - (low - 1) == key - low + 1) "
        "and (not max(min(entry, high + 1), low - 1) - (low - 1) == key - low + 1 or entry == key) "
        "and 1 <= key - low + 1 and key - low + 1 < high - low + 2",
        _PEOPLE,
    ),
    Lemma(
        "arguments.persons",
        "A person adds 0 or 1 to a count, a before and b after: it moves by 1 at most, and all by no more than all a and all b.",
        "a:int b:int A:int B:int moved:int",
        ("0 <= a", "a <= 1", "0 <= b", "b <= 1", "moved <= A + B"),
        "abs(a - b) <= 1 and moved + abs(a - b) <= (A + a) + (B + b)",
        _PEOPLE,
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
        "arguments.stability_shift",
        "m from -s (L + M) on, L and M being logarithms of a chance x and of 1 + q, has the exponent -m/s at most L + M, so that "
        "q^m/(1 + q) is at most x.",
        "m:int s L M",
        ("0 < s", "-s*(L + M) <= m"),
        "-m/s <= L + M",
        _STABILITY,
    ),
    Lemma(
        "arguments.stability_several",
        "Of keys that are each hidden with 1 - t, at least 1 - x, all are hidden with at least the power of 1 - x; next key.",
        "t x p P",
        ("t <= x", "x <= 1", "0 <= p", "p <= P"),
        "(1 - x)*p <= (1 - t)*P",
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
        "arguments.selection_growth",
        "d (P - 1)/(a - 1), P being a power of a, has a times itself and d as its next value.",
        "a d P",
        ("1 < a",),
        "d*(a*P - 1)/(a - 1) == a*(d*(P - 1)/(a - 1)) + d",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_turn",
        "Up to (1 - d)/(1 + a) the first bound of the recursion is the least of the first two, from there on the second.",
        "a d p y",
        ("1 < a", "0 <= d", "a*y == 1 - p - d"),
        "(not p*(1 + a) <= 1 - d or a*p + d <= 1 - y) and (not p*(1 + a) >= 1 - d or 1 - y <= a*p + d)",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_turns",
        "Growth is beyond (1 - d)/(1 + a) exactly from powers P beyond 1 + ((1 - d)/d) (a - 1)/(2 + (a - 1)) on.",
        "a d P",
        ("1 < a", "0 < d"),
        "(not (1 - d) < (d*(P - 1)/(a - 1))*(1 + a) or ((1 - d)/d)*(a - 1)/(2 + (a - 1)) < P - 1) "
        "and (not ((1 - d)/d)*(a - 1)/(2 + (a - 1)) < P - 1 or (1 - d) < (d*(P - 1)/(a - 1))*(1 + a))",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_shrinks",
        "After the turn 1 - y with y = z (1 - g) - w (1 - z), w being d/(a - 1), is g + (1 - z) (1 - g + w).",
        "g z w",
        (),
        "1 - (z*(1 - g) - w*(1 - z)) == g + (1 - z)*(1 - g + w)",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_shrinks_on",
        "The next y has u = z/a in place of z, and is (y - d)/a.",
        "a d g z u w",
        ("u*a == z", "w*(a - 1) == d"),
        "a*(u*(1 - g) - w*(1 - u)) == z*(1 - g) - w*(1 - z) - d",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_sure",
        "With a power A of a from 1 + r/w on, r = 1 - g and w = d/(a - 1), the probability g + (1 - 1/A) (r + w) is 1 at least.",
        "g r w A B",
        ("0 < B", "B*A == 1", "r == 1 - g", "w + r <= w*A"),
        "1 <= g + (1 - B)*(r + w)",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_stays",
        "What is 1 at least stays so: the second bound is then 1 at least, and the recursion from 1 is 1.",
        "a d p y",
        ("1 < a", "0 < d", "1 <= p", "a*y == 1 - p - d"),
        "1 <= 1 - y and 1 <= a + d",
        _SELECTION,
    ),
    Lemma(
        "arguments.selection_half",
        "With d from 1/2 on two people are enough: both bounds are 1 at least.",
        "a d",
        ("1 < a", "1 <= 2*d"),
        "1 <= a*d + d and 1 <= 1 - (1 - 2*d)/a",
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
