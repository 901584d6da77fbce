"""A report as an audit of several targets gives it: made by hand, so that every case is in it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from dpaudit.exact import Enclosure, Reason
from dpaudit.results import (
    Attack,
    Bound,
    ClaimSummary,
    Counts,
    Pair,
    Power,
    Price,
    ProfilePoint,
    Proof,
    ProofStep,
    Property,
    Report,
    Sequential,
    Settings,
    TargetResult,
    Verdict,
    WealthPoint,
)

VOID = {"meta", "br", "hr", "img", "input", "link"}
REFERENCES = {"href", "src", "xlink:href"}


class Page(HTMLParser):
    """Checks that every element is closed in order, and keeps elements with their attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag):
        assert tag == self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    def links(self):
        """Where the page refers to."""
        return [value for _, attributes, _ in self.elements for name, value in attributes.items() if name in REFERENCES]

    def named(self, tag):
        """Attributes of all elements of a kind."""
        return [attributes for name, attributes, _ in self.elements if name == tag]


LEVEL = math.log10(2e7)
CHECKS = (Property("input is left unchanged", "holds", 16), Property("declared sensitivity", "holds", 2, "at most 1 in l1"))


def profile(attacked):
    """Delta of pure differential privacy at epsilon 1, with an attack that found epsilon `attacked`."""

    def delta(epsilon, limit):
        return max(0.0, (math.exp(limit) - math.exp(epsilon)) / (1 + math.exp(limit)))

    places = [place / 12 for place in range(25)]
    return tuple(ProfilePoint(x, delta(x, 1), (0.99 * delta(x, 1), delta(x, 1)), 0.9 * delta(x, attacked)) for x in places)


def bets(final, stopped):
    """Wealth that goes to `final` in 200 noted steps."""
    last = stopped or 30_000
    runs = sorted({round(last ** (place / 199)) for place in range(200)})
    path = (WealthPoint(run, final * run / last + 0.05 * math.sin(run)) for run in runs)
    return Sequential(final, max(final, 0.2), LEVEL, last, stopped, 10 ** -max(final, 0.2), tuple(path))


def attack(found, stopped=None):
    """An attack whose bound is `found`; it refuted the claim at run `stopped`, if that is given."""
    bound = Bound(found, Fraction(0), 1 - Fraction(1, 2 * 10**7), Counts(36_500, 13_700, 150_000), "reverse", 0.6)
    return Attack(
        pair=Pair(1, "record 20 removed, 569 -> 568 records"),
        pairs_tried=2,
        event="value <= -146",
        sequential=bets(LEVEL + 0.2 if stopped else -4.0, stopped),
        bound=bound,
        power=Power(None, None) if stopped else Power(1.07, 1.07),
        p_value=1e-8 if stopped else 0.4,
        alpha=Fraction(1, 10**7),
        runs=200_000,
        seed_path=(3, 1),
        plan=(20_000, 30_000, 150_000),
    )


STEPS = (
    ProofStep("Count.source", "a release is a draw", "enumerated"),
    ProofStep("Count.mechanism", "noise costs the distance over the scale", "proven"),
    ProofStep("bits", "bits are fair (the operating system)", "axiom"),
)
COUNTEREXAMPLE = (ProofStep("half_noise", "A certified counterexample: dataset 1: q = [1].", "certified"),)


def proof(status, reason="", steps=STEPS):
    """A proof with that status."""
    return Proof(status, "proofs.chain#Count.claim", "epsilon = sensitivity / scale", reason, steps)


def consistent(name):
    """A claim that survives."""
    value = Enclosure.point(1, Reason("closed form", (Reason("Ghosh, Roughgarden, Sundararajan 2009"),)))
    return TargetResult(
        name=name,
        description=f"what is the {name} of the records?",
        claim=ClaimSummary(
            "pure_dp", (("epsilon", Fraction(1)),), "add_remove", "epsilon = 1 under add_remove", Fraction(1), Fraction(0)
        ),
        verdict=Verdict.CONSISTENT,
        summary="Not refuted in 200,000 runs.",
        reference=f"release.py:{name}",
        source=("release.py", 12),
        price=Price(
            "within",
            "epsilon",
            value,
            Fraction(1),
            ("discrete_laplace(scale=1, sensitivity=1) under add_remove",),
            tuple(value.reason.lines()),
        ),
        attack=attack(Fraction(961, 1000)),
        properties=CHECKS,
        profile=profile(0.96),
        proof=proof("in part"),
    )


@pytest.fixture(scope="session")
def report():
    """Ten targets: seven consistent, one refuted, one inconclusive without a price, one failed."""
    refuted = replace(
        consistent("half_noise"),
        verdict=Verdict.REFUTED,
        summary="Bets against the claim won after 231 runs.",
        attack=replace(
            attack(Fraction(171, 100), 231), pair=Pair(0, "record 0 replaced, 2 records", ("['first secret']", "['second']"))
        ),
        properties=(Property("declared sensitivity", "violated", 1, "moves by more than 1"),),
        profile=profile(1.8),
        rejected_in_family=True,
        proof=proof("refuted", steps=COUNTEREXAMPLE),
    )
    weak = replace(
        consistent("rare"),
        verdict=Verdict.INCONCLUSIVE,
        price=Price("unpriced", why=("nothing was logged",)),
        profile=(),
        proof=proof("stale", "Count.source: stale: release.py:Count is not what was looked at"),
    )
    failed = TargetResult(
        "crash",
        "",
        refuted.claim,
        Verdict.FAILED,
        "The target failed to run.",
        reference="release.py:crash",
        failure="DPA405 every run raised ZeroDivisionError at release.py:7",
    )
    names = ("count", "mean", "histogram", "median", "choice", "answer", "maximum")
    return Report(
        Settings(alpha=Fraction(1, 10**6), runs=200_000, seed=1),
        (*map(consistent, names), weak, refuted, failed),
        env=(("numpy", "2.4.6"), ("python", "3.11.9")),
        seconds=(("total", 41.7),),
        version="0.1.0",
    )


@pytest.fixture(scope="session")
def parsed():
    """A page as its elements and texts; it must be well-formed."""
    return Page
