"""Why the samplers are exact: recurrences of their laws, chains with their absorption, and which place decides what, as lemmas.

q is exp(-1/scale) and stands for any number in (0, 1); p stands for its current power, so that a lemma about p is the step of an
induction. What remains outside is that the balls of python-flint contain the exponential.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_ENVELOPE: Final = "docs/sampling.md, exactness theorem"
_TAIL: Final = "docs/sampling.md, tails by one uniform number"
_LAZY: Final = "docs/sampling.md, lazy comparison"
_LAWS: Final = "docs/laws_and_real_noise.md, "
_COIN: Final = "Canonne, Kamath, Steinke 2020, Algorithm 1; von Neumann 1951"
_NORMAL: Final = "Canonne, Kamath, Steinke 2020, Algorithm 3"
_CHOICE: Final = "docs/selection_and_queries.md, "

LEMMAS: Final = (
    Lemma(
        "samplers.lazy_below",
        "Of U the first digits read v among N: if v + 1 <= N x then U is below x.",
        "U N x v",
        ("0 < N", "v <= U*N", "U*N < v + 1", "v + 1 <= N*x"),
        "U < x",
        _LAZY,
    ),
    Lemma(
        "samplers.lazy_above",
        "If v >= N x then U is not below x; no third answer is given.",
        "U N x v",
        ("0 < N", "v <= U*N", "U*N < v + 1", "N*x <= v"),
        "not U < x",
        _LAZY,
    ),
    Lemma(
        "samplers.lazy_digit",
        "One more digit d keeps U within what the digits say.",
        "U N v d:int",
        ("0 < N", "0 <= d", "d <= 1", "2*v + d <= U*2*N", "U*2*N < 2*v + d + 1"),
        "v <= U*N and U*N < v + 1",
        _LAZY,
    ),
    Lemma(
        "samplers.rejection",
        "A loop whose trial returns the outcome with probability r and anything with probability a returns it with x = r/a.",
        "x r a",
        ("0 < a", "x == r + (1 - a)*x"),
        "x == r/a",
        "absorption of a chain with one state",
    ),
    Lemma(
        "samplers.proportional",
        "Two outcomes of a loop keep the proportion that they have in a trial.",
        "x y r s a w v c",
        ("0 < a", "x*a == r", "y*a == s", "r == c*w", "s == c*v"),
        "x*v == y*w",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.coin_step",
        "The chain that stops at the first tails of coins g/1, g/2, ... reaches the n-th with a = g^(n-1)/(n-1)! and "
        "stops there with a - b, b = g^n/n!.",
        "a b g n stopped",
        ("1 <= n", "b*n == a*g", "stopped*n == a*(n - g)"),
        "stopped == a - b",
        _COIN,
    ),
    Lemma(
        "samplers.coin_pair",
        "Two terms of the series enclose it, as they fall: a partial sum is a lower end after a minus, an upper end after a plus.",
        "s a b rest",
        ("0 <= rest", "rest <= b", "b <= a"),
        "s + a - b <= s + a - b + rest and s + a - b + rest <= s + a",
        "Leibniz's criterion",
    ),
    Lemma(
        "samplers.geometric_sum",
        "Masses (1 - q) q^k up to some k sum to 1 - q^(k + 1); step to the next k.",
        "F p q",
        ("F == 1 - p",),
        "F + (1 - q)*p == 1 - p*q",
        _LAWS + "geometric digits",
    ),
    Lemma(
        "samplers.geometric_chain",
        "From each place on, the law is the first place's, moved: coins that fail with probability q, stopping at x = (1 - q) p.",
        "x y p q",
        ("x == (1 - q)*p", "y == (1 - q)*(p*q)"),
        "y == q*x",
        "pmf recurrence of the geometric law",
    ),
    Lemma(
        "samplers.digits",
        "A low digit with normaliser n = (1 - q)/(1 - Q), Q = q^S, and an independent high one give the geometric mass at both.",
        "q Q x y n",
        ("Q < 1", "n*(1 - Q) == 1 - q"),
        "(n*x)*((1 - Q)*y) == (1 - q)*(x*y)",
        _LAWS + "geometric digits",
    ),
    Lemma(
        "samplers.digit_sum",
        "The masses q^d of a low digit sum to (1 - q^S)/(1 - q); step to the next d.",
        "s p q",
        ("s*(1 - q) == 1 - p",),
        "(s + p)*(1 - q) == 1 - p*q",
        _LAWS + "geometric digits",
    ),
    Lemma(
        "samplers.laplace_sides",
        "A sign with probability q/(1 + q) and one more than a geometric draw give the discrete Laplace mass at k >= 1.",
        "q p",
        ("0 < q", "q < 1"),
        "(q/(1 + q))*((1 - q)*p) == ((1 - q)/(1 + q))*(q*p)",
        _LAWS + "fixed work",
    ),
    Lemma(
        "samplers.laplace_mass",
        "Both signs and 0 have probability 1 together.",
        "q",
        ("0 < q", "q < 1"),
        "(1 - q)/(1 + q) + 2*(q/(1 + q)) == 1",
        _LAWS + "fixed work",
    ),
    Lemma(
        "samplers.laplace_shift",
        "A shift by m changes the exponent |k|/scale by at most m/scale.",
        "k:int m:int scale",
        ("0 < scale", "0 <= m"),
        "abs(k + m)/scale <= abs(k)/scale + m/scale and abs(k - m)/scale <= abs(k)/scale + m/scale",
        "Ghosh, Roughgarden, Sundararajan 2012",
    ),
    Lemma(
        "samplers.gaussian_step",
        "Exponents k^2/(2 v) of the discrete Gaussian from one k to the next.",
        "k v",
        ("0 < v",),
        "(k + 1)**2/(2*v) - k**2/(2*v) == (2*k + 1)/(2*v)",
        "pmf recurrence of the discrete Gaussian law",
    ),
    Lemma(
        "samplers.gaussian_rejection",
        "A Laplace proposal of scale t, kept with exp(-(k - v/t)^2/(2 v)), k >= 0, has the Gaussian's exponent k^2/(2 v) up to a "
        "constant; both sides times 2 v t^2.",
        "k v t",
        (),
        "2*v*t*k + (k*t - v)**2 == k**2*t**2 + v**2",
        _NORMAL,
    ),
    Lemma(
        "samplers.gaussian_tail",
        "Beyond K the exponent grows by at least K/v at every step.",
        "K j v",
        ("0 < v", "0 <= j"),
        "(K**2 + 2*K*j)/(2*v) <= (K + j)**2/(2*v)",
        _TAIL,
    ),
    Lemma(
        "samplers.cells_step",
        "The covered parts of the first c cells add up to min(w, c), w being the weight in heights; step to the next cell.",
        "w c:int s",
        ("0 <= w", "0 <= c", "s == min(w, c)"),
        "s + max(0, min(1, w - c)) == min(w, c + 1)",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.cells",
        "With cells enough the covered parts are the weight itself, so that a trial's probability is proportional to it.",
        "w c s weight height M",
        ("0 < height", "0 < M", "weight == w*height", "weight <= c*height", "s == min(w, c)"),
        "(s/M)*height == weight/M",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.cells_whole",
        "A cell that ends at or below the smallest weight of its block is under every weight of it, whatever V is.",
        "j V h least weight",
        ("0 < h", "V < 1", "(j + 1)*h <= least", "least <= weight"),
        "(j + V)*h < weight",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.blocks_long",
        "Blocks of several integers: each integer lies in one of the two sides or in one of the two tails, and in no two.",
        "k:int K:int",
        ("1 <= K",),
        "(1 if k >= K else 0) + (1 if 0 <= k and k < K else 0) + (1 if -K <= k and k < 0 else 0) + (1 if k < -K else 0) == 1",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.blocks_single",
        "Blocks of one integer cover -(K - 1) to K - 1, and the tails begin at K and -K.",
        "k:int K:int",
        ("1 <= K",),
        "(1 if k >= K else 0) + (1 if -K < k and k < K else 0) + (1 if k <= -K else 0) == 1",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.blocks_apart",
        "Two blocks of length B and the places in them never name the same integer.",
        "a:int b:int B:int r:int s:int",
        ("a + 1 <= b", "0 <= r", "r < B", "0 <= s", "s < B"),
        "a*B + r < b*B + s",
        _ENVELOPE,
    ),
    Lemma(
        "samplers.tail_interval",
        "What is accepted for the j-th place of a tail lies inside the j-th interval of the envelope.",
        "C D weight bound z",
        ("D == C - bound", "weight <= bound", "D <= z", "z < D + weight"),
        "D <= z and z < C",
        _TAIL,
    ),
    Lemma(
        "samplers.tail_apart",
        "Intervals of different places do not meet: the envelope falls.",
        "C D E z y",
        ("D <= C", "E <= D", "D <= z", "z < C", "E <= y", "y < D"),
        "y < z",
        _TAIL,
    ),
    Lemma(
        "samplers.inversion",
        "Of u <= N U < u + 1: below the certified lower end of N F the draw is within F, from the upper end on it is beyond.",
        "U N F u:int below:int beyond:int",
        ("0 < N", "u <= U*N", "U*N < u + 1", "below <= N*F", "N*F <= beyond"),
        "(not u < below or U < F) and (not u >= beyond or U >= F)",
        _LAWS + "inversion of a cumulative function",
    ),
    Lemma(
        "samplers.room",
        "A value of at most 2^60 steps and noise of at most 2^62 have a sum within 64 bits.",
        "value:int noise:int",
        ("abs(value) <= 1152921504606846976", "abs(noise) <= 4611686018427387904"),
        "abs(value + noise) <= 9223372036854775807",
        "docs/sampling.md, size, overflow, time",
    ),
    Lemma(
        "samplers.integer_floats",
        "Whole numbers of size at most 2^52 have a sum that float64 holds exactly (2^53).",
        "a:int b:int",
        ("abs(a) <= 4503599627370496", "abs(b) <= 4503599627370496"),
        "abs(a + b) <= 9007199254740992",
        "IEEE 754",
    ),
    Lemma(
        "samplers.proposal",
        "A proposal U at least w S, kept with w S/U, returns a candidate with probability w S/T, T being the sum of proposals.",
        "U w S T",
        ("0 < U", "0 < T", "0 <= w", "w*S <= U"),
        "(U/T)*(w*S/U) == w*S/T and w*S/U <= 1",
        _CHOICE + "one choice",
    ),
    Lemma(
        "samplers.columns",
        "A part B at once, and the rest R, in which x = (U - B)/R proposes and y = (w A - B)/(U - B) accepts, make the mass w A.",
        "B R U w A x y",
        ("x*R == U - B", "y*(U - B) == w*A - B"),
        "B + R*x*y == w*A",
        _CHOICE + "many choices",
    ),
    Lemma(
        "samplers.uniform",
        "Drawing again beyond the limit leaves each number below it equally likely: 1/W a trial, limit/W to stop.",
        "x W limit",
        ("0 < limit", "limit <= W", "x*W == 1 + (W - limit)*x"),
        "x*limit == 1",
        "absorption of a chain with one state",
    ),
)
"""The lemmas of exact sampling."""
