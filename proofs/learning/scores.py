"""What one record moves in a score of a candidate: errors, ramps, hinges, leads, least losses; and what a number names."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_COUNTS: Final = "docs/choices_and_perturbation.md, Proposition 1"
_LEVELS: Final = "docs/choices_and_perturbation.md, Proposition 2"
_ARCS: Final = "docs/choices_and_perturbation.md, Arcs"
_RAMPS: Final = "docs/choices_and_perturbation.md, Ramps"
_HINGES: Final = "docs/margins.md, Scores"
_LEADS: Final = "docs/choices_and_perturbation.md, Proposition 4"
_LEAST: Final = "docs/choices_and_perturbation.md, Propositions 5 and 6"

LEMMAS: Final = (
    Lemma(
        "scores.count",
        "How many records have a signed margin of at most t moves by 1 at most when one record is another; s are the rest.",
        "s m n t",
        (),
        "abs((s + (1 if m <= t else 0)) - (s + (1 if n <= t else 0))) <= 1",
        _COUNTS,
    ),
    Lemma(
        "scores.null",
        "A record that becomes zero is an error of every candidate, as a tie is one: no count falls, none rises by more than 1.",
        "s m",
        (),
        "0 <= (s + (1 if 0 <= 0 else 0)) - (s + (1 if m <= 0 else 0)) and "
        "(s + (1 if 0 <= 0 else 0)) - (s + (1 if m <= 0 else 0)) <= 1",
        _COUNTS,
    ),
    Lemma(
        "scores.place",
        "Every place of a level is named by its own U numbers: one number does not name two places j and k.",
        "r U j:int k:int",
        ("0 < U", "j*U <= r", "r < (k + 1)*U"),
        "j <= k",
        _LEVELS,
    ),
    Lemma(
        "scores.arc_after",
        "For b > 0 a record (a, b) is right at (G, t) from t = f + 1 on, f being the floor of -x/b and x = G a.",
        "x b t f",
        ("0 < b", "-x < (f + 1)*b", "f + 1 <= t"),
        "0 < x + t*b",
        _ARCS,
    ),
    Lemma(
        "scores.arc_from",
        "It is right nowhere before that.",
        "x b t:int f:int",
        ("0 < b", "f*b <= -x", "0 < x + t*b"),
        "f + 1 <= t",
        _ARCS,
    ),
    Lemma(
        "scores.arc_before",
        "For b = -s < 0 it is right up to c - 1, c being the ceiling of x/s.",
        "x s t c",
        ("0 < s", "(c - 1)*s < x", "t <= c - 1"),
        "0 < x - t*s",
        _ARCS,
    ),
    Lemma(
        "scores.arc_until",
        "It is right nowhere after that.",
        "x s t:int c:int",
        ("0 < s", "x <= c*s", "0 < x - t*s"),
        "t <= c - 1",
        _ARCS,
    ),
    Lemma(
        "scores.ramp",
        "A ramp on a grid of S steps is a whole number from 0 to S: c is the margin cut to [0, e], v the loss rounded up.",
        "u e S:int v:int",
        ("0 < e", "(v - 1)*e < (e - max(0, min(e, u)))*S", "(e - max(0, min(e, u)))*S <= v*e", "0 <= S"),
        "0 <= v and v <= S",
        _RAMPS,
    ),
    Lemma(
        "scores.one_score",
        "A sum of losses from 0 to S moves by at most S when one record is another.",
        "s v w S",
        ("0 <= v", "v <= S", "0 <= w", "w <= S"),
        "abs((s + v) - (s + w)) <= S",
        _RAMPS,
    ),
    Lemma(
        "scores.falling",
        "Losses that are rounded up to a grid fall as margins rise, as they do unrounded.",
        "x y e v:int w:int",
        ("0 < e", "(v - 1)*e < x", "x <= v*e", "(w - 1)*e < y", "y <= w*e", "y <= x"),
        "w <= v",
        _HINGES,
    ),
    Lemma(
        "scores.ends",
        "So a hinge sum moves by at most the difference of the losses at both ends of the margins.",
        "s v w low high",
        ("high <= v", "v <= low", "high <= w", "w <= low"),
        "abs((s + v) - (s + w)) <= low - high",
        _HINGES,
    ),
    Lemma(
        "scores.grid",
        "A score at the nearest point of a grid moves by at most a step of it more.",
        "x y r s g d",
        ("2*abs(r - x) <= g", "2*abs(s - y) <= g", "abs(x - y) <= d"),
        "abs(r - s) <= d + g",
        _LEADS,
    ),
    Lemma(
        "scores.fewest",
        "The least of several counts moves by at most what each of them moves by (step to one more candidate).",
        "x y a b d",
        ("abs(x - y) <= d", "abs(a - b) <= d"),
        "abs(min(x, a) - min(y, b)) <= d",
        _LEAST,
    ),
    Lemma(
        "scores.parabola",
        "Where a margin lacks z up to h, the smooth hinge loss c z^2/(2 h), times 2 h, lies between 0 and the hinge loss c z.",
        "c z h",
        ("0 <= c*z", "0 <= z", "z <= h"),
        "0 <= c*z*z and c*z*z <= 2*h*(c*z)",
        _LEAST,
    ),
    Lemma(
        "scores.parabola_bias",
        "It is less than c h/2 below it.",
        "c z h",
        ("0 <= c*(z - h)**2",),
        "2*h*(c*z) - c*h**2 <= c*z**2",
        _LEAST,
    ),
    Lemma(
        "scores.line",
        "Beyond h it is c (z - h/2), which is between 0 and the hinge loss too, and c h/2 below it.",
        "c z h",
        ("0 <= c", "0 <= h", "h <= z"),
        "0 <= c*(2*z - h) and c*(2*z - h) <= 2*(c*z) and 2*(c*z) - c*h <= c*(2*z - h)",
        _LEAST,
    ),
    Lemma(
        "scores.range",
        "With margins of at least -1, c times what they lack of 1/c is at most 1 + c.",
        "c u z",
        ("0 < c", "-1 <= u", "c*z == max(0, 1 - c*u)"),
        "c*z <= 1 + c",
        _LEAST,
    ),
    Lemma(
        "scores.least",
        "A minimum is at most the other's minimiser's value: one term of a mean of m changes, from a to b in [0, c].",
        "g f F G a b c m",
        ("0 < m", "g <= F", "f == G", "m*F == m*G - b + a", "0 <= b", "a <= c"),
        "m*(g - f) <= c",
        _LEAST,
    ),
    Lemma(
        "scores.lowest",
        "With K = 2 tau, tau r^2 - H r is at least -H^2/(2 K): both sides times 2 K.",
        "H r K",
        ("0 <= (K*r - H)**2",),
        "-(H**2) <= K*(K*r**2 - 2*H*r)",
        _LEAST,
    ),
    Lemma(
        "scores.lowest_border",
        "Where H is at least K, it is at least K/2 - H in the ball of radius 1: both sides times 2.",
        "H r K",
        ("0 < K", "0 <= r", "r <= 1", "K <= H"),
        "K - 2*H <= K*r**2 - 2*H*r",
        _LEAST,
    ),
    Lemma(
        "scores.bracket",
        "A value V that is taken somewhere, within T of a number that no value is below, is within T above the minimum g.",
        "V L T g",
        ("g <= V", "L <= g", "V - L <= T"),
        "g <= V and V <= g + T",
        _LEAST,
    ),
    Lemma(
        "scores.tolerance",
        "Values within T above their minima are apart by at most T more than the minima.",
        "V W g f c T",
        ("g <= V", "V <= g + T", "f <= W", "W <= f + T", "abs(g - f) <= c"),
        "abs(V - W) <= c + T",
        _LEAST,
    ),
)
"""The lemmas of scores."""
