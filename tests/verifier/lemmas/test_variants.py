"""A lemma says something: with one constant changed, a model refutes it; bounds that are called exact are attained."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit.verifier.lemmas import LEMMAS
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import conjunction, negation

WRONG = {
    "composition.basic": ("<= A*B*q1*q2", "<= A*q1*q2"),
    "composition.sum": ("<= R*(q + Q)", "<= R*q + Q"),
    "composition.function_term": ("p - A*q)", "p - 2*A*q)"),
    "composition.capped": ("B*q) + d", "B*q)"),
    "composition.approximate": ("+ d1 + d2", "+ d1"),
    "composition.parallel": ("<= M*q1*q2", "<= q1*q2"),
    "composition.merged": ("A*(q1 + q2)", "A*q1"),
    "composition.split": ("== w*max", "== max"),
    "composition.moment_term": ("(t + w)", "(t + 1)"),
    "composition.moment_total": ("<= M*N", "<= N"),
    "groups.pure_step": ("<= K*A*r", "<= K*r"),
    "groups.approximate_step": ("D + K*d", "D + d"),
    "groups.two": ("(1 + A)*d", "2*d"),
    "groups.delta_step": ("(K*A - 1)", "(K + A - 1)"),
    "groups.delta_bound_step": ("(k + 1)*K", "k*K"),
    "groups.shift_step": ("(k + 1)*c", "k*c"),
    "groups.square": ("k**2*c**2", "k*c**2"),
    "selection.ratio": ("R**2*v*W", "R*v*W"),
    "selection.three": ("S*v1*(w1", "v1*(w1"),
    "selection.bounded_range": ("<= R*v*W", "<= v*W"),
    "selection.range": ("<= R*v1*w2", "<= v1*w2"),
    "selection.permute_ratio": ("R**2*a1*b2", "R*a1*b2"),
    "selection.permute_limit": ("E*u <= m", "u <= m"),
    "selection.permute_factor": ("c*(E*u)", "c*u"),
    "selection.permute_product": ("0 <= x", "-1 <= x"),
    "selection.race": ("2*D", "D"),
    "selection.maximum": ("y)) <= d", "y)) <= d/2"),
    "sensitivity.error_rate": ("abs(f - g) <= 1", "abs(f - g) <= 1/2"),
    # The printed sensitivity of the hinge, Lambda r/m.
    "sensitivity.hinge": ("min(2*B, rho + B)", "B"),
    "sensitivity.hinge_mean": ("min(2*B/rho, 1 + B/rho)/m", "B/rho/m"),
    "sensitivity.clamp": ("<= abs(x - y)", "<= abs(x - y)/2"),
    "sensitivity.sum_replace": ("<= hi - lo", "<= max(abs(lo), abs(hi))"),
    "sensitivity.sum_add": ("<= max(abs(lo), abs(hi))", "<= hi - lo"),
    "sensitivity.mean_replace": ("<= hi - lo", "<= (hi - lo)/2"),
    "sensitivity.mean_remove": ("<= hi - lo", "<= (hi - lo)/2"),
    "sensitivity.histogram_step": ("s + abs", "s + 2*abs"),
    # Rounding to the nearest: distance 1 may become 2.
    "sensitivity.floor": ("x < j + 1", "x <= j + 1"),
    "sensitivity.floor_any": ("< d + 1", "<= d"),
    "sensitivity.floor_multiples": ("<= c*g", "<= c*g + g"),
    "sensitivity.truncation": ("abs(k) <= abs(x)", "abs(k) <= abs(x) + 1"),
    "sensitivity.minimiser": ("D*n <= 2*L*R", "D*n <= L*R"),
    "sensitivity.minimiser_norm": ("W <= L*R", "W <= L"),
    "sensitivity.minimiser_residual": ("2*g", "g"),
    "sensitivity.prediction": ("<= D*R", "<= D"),
    "sensitivity.cauchy_schwarz_two": ("a*c + b*d", "a*c + 2*b*d"),
    "sensitivity.cauchy_schwarz_three": ("c*f)**2", "2*c*f)**2"),
    "sensitivity.quadratic_step": ("2*(B + a*b)*t", "2*(B + 2*a*b)*t"),
    "sensitivity.discriminant": ("A*t == -B", "A*t == B"),
    "sensitivity.clip_lengths": ("<= abs(a - b)", "<= abs(a - b)/2"),
    "sensitivity.clip": ("w <= 1", "w <= 2"),
    "conversions.extreme_weights": ("a*(E + 1) == 1", "2*a == 1"),
    "conversions.convex_chord": ("(w - y)*h", "(w - y)*g"),
    "conversions.order": ("a*(a - 1)", "a"),
    "conversions.tanh_term": ("0 <= k", "-1 <= k"),
    "conversions.cosh_term": ("b*2*(k + 1)", "b*4*(k + 1)"),
    "conversions.tail_term": ("1 <= y", "0 <= y"),
    "conversions.exponent": ("4*rho", "5*rho"),
    "conversions.best_order": ("2*a*rho", "a*rho"),
    "conversions.radius": ("rho + 2*s", "rho + s"),
    "conversions.gaussian": ("+ a*(1 - a)", "- a*(1 - a)"),
    "learners.kept_margin": ("98*g", "99*g"),
    "learners.kept_margin_third": ("<= 2*k", "<= k"),
    # The printed gap.
    "learners.margin_gap": ("== 86*g/100", "== 86*g/10"),
    "learners.hinge_covers": ("m < 96*g", "m < 90*g"),
    "learners.hinge_slope": ("<= 100*abs", "<= 86*abs"),
    "learners.hinge_range": ("96*g + 100", "96*g"),
    "learners.disagreement": ("18*p", "p"),
    "learners.means": ("+ 2*d*D", "+ d*D/2"),
    "learners.update": ("s/4", "s/2"),
    "learners.convex_ends": ("b <= 1", "b <= 2"),
    "learners.supermartingale": ("C*(1 - V)", "C*(2 - V)"),
    "learners.centred_range": ("<= G*M", "<= M"),
    "learners.outer_products": ("2*M**2", "M**2"),
    # The step of an unsmoothed or too long step expands.
    "learners.gradient_step": ("eta*beta <= 2", "eta*beta <= 3"),
    "learners.gradient_step_line": ("h <= 2", "h <= 3"),
    "learners.replaced_step": ("2*L*eta", "L*eta"),
    "learners.generalised_score": ("<= 1", "<= 1/2"),
    "learners.root_increment": ("b <= a + c", "b <= a + c/2"),
    "words.range_step": ("(i + 1)*c and", "i*c and"),
    "words.saturating_step": ("<= abs(first - second)", "<= abs(first - second) - 1"),
    "floats.rounded_step": ("u*(T + e)", "u*T"),
    "floats.rounded_sensitivity": ("D + 2*e", "D + e"),
}


def varied(lemma, old, new):
    """The lemma with the one place changed that this text stands at."""
    texts = (*lemma.hypotheses, lemma.goal)
    assert 1 == sum(text.count(old) for text in texts), f"{lemma.name}: {old} must stand in one place"
    *hypotheses, goal = (text.replace(old, new) for text in texts)
    return replace(lemma, hypotheses=tuple(hypotheses), goal=goal)


def test_every_lemma_has_a_wrong_variant():
    assert set(LEMMAS) == set(WRONG)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variant_is_refuted_by_a_model(name):
    wrong = varied(LEMMAS[name], *WRONG[name])
    denied = [*wrong.premises(), negation(conjunction(*wrong.obligations()[-1:]))]
    outcome = satisfiable(denied)
    assert Answer.SAT is outcome.answer
    assert outcome.model is not None
    assert outcome.model.satisfies(*denied)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("sensitivity.hinge", "B < rho"),
        ("sensitivity.hinge", "rho < B"),
        ("sensitivity.sum_replace", "lo < 0 and 0 < hi"),
        ("sensitivity.sum_add", "lo < 0 and 0 < hi"),
        ("sensitivity.mean_remove", "lo < hi"),
        ("sensitivity.mean_replace", "lo < hi"),
        ("sensitivity.minimiser", "0 < D"),
        ("groups.square", "0 < t"),
        ("learners.generalised_score", "x < y"),
        ("learners.outer_products", "0 < M"),
        ("learners.gradient_step", "0 < p and 0 < eta"),
    ],
)
def test_a_sensitivity_is_attained(name, bound):
    lemma = LEMMAS[name]
    attained = replace(lemma, hypotheses=(*lemma.hypotheses, bound, lemma.goal.replace("<=", "==")))
    assert Answer.SAT is satisfiable(attained.premises()).answer


def test_the_hinge_attains_its_bound_at_the_ends():
    def hinge(score, rho):
        return max(Fraction(0), 1 - score / rho)

    for rho, largest in ((Fraction(1, 10), Fraction(1)), (Fraction(1), Fraction(1, 2))):
        bound = min(2 * largest / rho, 1 + largest / rho)
        assert bound == hinge(-largest, rho) - hinge(largest, rho)


def test_the_printed_contradiction_about_disagreement_is_none():
    """Two classifiers with error 1/10 may disagree on 2048/10000, as halfspaces at Hamming distance 1/10 do."""
    lemma = LEMMAS["learners.disagreement"]
    both = replace(lemma, hypotheses=(*lemma.hypotheses, "5*p == 1", "2048 <= 10000*d"))
    assert Answer.SAT is satisfiable(both.premises()).answer
