"""Composition: probabilities of joint, parallel, adaptive and post-processed releases, with delta and with Renyi moments.

P and Q are the laws on the two neighbours, A = exp(epsilon) of the first release and B that of the second. Sums over outcomes are
built up one outcome at a time, so that a lemma about two terms is the step of an induction; for countably many, limits follow.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.statements import Lemma

_ADAPTIVE: Final = "Dwork, Rothblum, Vadhan 2010; here by functions with values in [0, 1]"
_MOMENTS: Final = "Bun, Steinke 2016, Lemma 2.3"

LEMMAS: Final = (
    Lemma("composition.basic", "Two pure losses add up; the second law may depend on the first outcome.",
        "p1 q1 p2 q2 A B", ("0 <= p1", "0 <= p2", "0 <= q1", "0 <= A", "p1 <= A*q1", "p2 <= B*q2"), "p1*p2 <= A*B*q1*q2",
        "Dwork, McSherry, Nissim, Smith 2006"),
    Lemma("composition.sum", "A factor that bounds each of two terms bounds their sum (step for a sum of any length).",
        "p q P Q R", ("p <= R*q", "P <= R*Q"), "p + P <= R*(q + Q)", "induction over outcomes"),
    Lemma("composition.function_term", "Weighing an outcome by h in [0, 1] costs at most the excess of P over A Q there.",
        "p q A h", ("0 <= h", "h <= 1"), "p*h <= A*q*h + max(0, p - A*q)", _ADAPTIVE),
    Lemma("composition.capped", "A conditional probability is at most a capped multiple plus delta.",
        "p q B d", ("p <= 1", "0 <= d", "p <= B*q + d"), "p <= min(1, B*q) + d", _ADAPTIVE),
    Lemma("composition.approximate",
        "Epsilons and deltas add up: p is a joint probability under P, q under Q, u and v are means of the capped multiple.",
        "p q u v A B d1 d2", ("0 <= A", "p <= u + d2", "u <= A*v + d1", "v <= B*q"), "p <= A*B*q + d1 + d2", _ADAPTIVE),
    Lemma("composition.parallel", "Releases on disjoint parts of the data cost the largest loss of a part: only one part differs.",
        "p1 q1 p2 q2 A M", ("0 <= q1", "0 <= p2", "p1 <= A*q1", "A <= M", "p2 == q2"), "p1*p2 <= M*q1*q2",
        "McSherry 2009, Theorem 4"),
    Lemma("composition.merged", "Two outcomes that become one have at most the sum of their excesses (step for any finite map).",
        "p1 q1 p2 q2 A", (), "max(0, p1 + p2 - A*(q1 + q2)) <= max(0, p1 - A*q1) + max(0, p2 - A*q2)",
        "Dwork, Roth 2014, Proposition 2.1"),
    Lemma("composition.split",
        "An outcome that is sent on with probability w takes the part w of its excess with it (randomised maps).",
        "p q A w", ("w == 0 or 0 < w",), "max(0, w*p - A*w*q) == w*max(0, p - A*q)", "Dwork, Roth 2014, Proposition 2.1"),
    Lemma("composition.moment_term", "A conditional moment of at most M bounds the mean of moments (step over first outcomes).",
        "s t w m M", ("0 <= w", "m <= M", "s <= M*t"), "s + w*m <= M*(t + w)", _MOMENTS),
    Lemma("composition.moment_total", "Moments multiply, so that Renyi divergences and zCDP costs add up.",
        "s t M N", ("0 <= M", "s <= M*t", "t <= N"), "s <= M*N", _MOMENTS),
)  # fmt: skip
"""The lemmas of composition and post-processing."""
