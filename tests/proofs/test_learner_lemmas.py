"""Lemmas about learners hold by all three checkers, and say something: with one constant changed a model refutes each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpaudit.verifier.lemmas import checked
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import conjunction, negation
from proofs import learning

OWN = {lemma.name: lemma for lemma in learning.LEMMAS}
WRONG = {
    "sums.root_above": ("s - 1 < (k + 1)**2", "s - 1 <= (k + 1)**2"),
    "sums.constant": ("R + c**2", "R + c"),
    "sums.beside": ("2*b**2", "b**2"),
    "sums.part": ("q + x**2 <= B**2", "q + x <= B**2"),
    "sums.exact": ("<= H - 1", "<= H"),
    "sums.logistic": ("s == -1", "s == -2"),
    # Rounded down, a root may be too small.
    "sums.rounded_root": ("1 if r**2 < s", "0 if r**2 < s"),
    "sums.cut_step": ("T*N**2 <= U**2*S", "T*N**2 <= U*S"),
    # Without the cut of residuals: their length may be more than what they are divided by.
    "sums.cut": ("S <= W", "S <= 2*W"),
    "sums.outer_step": ("a + s**2", "a + s"),
    "sums.contribution": ("<= V*W", "<= V"),
    "sums.lengths_step": ("X - 2*u + Y", "X - u + Y"),
    # What a record that comes or goes moves is not enough for one that is replaced.
    "sums.replaced": ("4*M", "2*M"),
    "sums.outer_row": ("- 2*x*y*(u", "- x*y*(u"),
    "sums.outer_all": ("- 2*(u", "- (u"),
    # With 8 for the other entries the triangle is no longer within the matrix.
    "sums.triangle_step": ("(7*e)", "(8*e)"),
    "sums.moment": ("v*(5*M)", "v*(4*M)"),
    "sums.moment_removed": ("<= M**2", "<= M"),
    "passes.slope": ("<= A*(a - b)", "<= A*(a - b)/2"),
    "passes.steepness": ("A*R <= 2", "A*R <= 3"),
    # Steeper steps expand.
    "passes.step": ("c*t <= 2", "c*t <= 3"),
    "passes.own_step": ("C**2*R", "C*R"),
    "passes.triangle": ("<= (x + y)**2", "<= x**2 + y**2"),
    "passes.drift": ("(4*k + 16)", "(2*k + 5)"),
    "passes.drift_step": ("f <= e + 2*w", "f <= e + 3*w"),
    "passes.places": ("(J + 1)*M", "J*M"),
    "passes.mean": ("(i + 1)*T", "i*T"),
    "passes.nearest": ("<= g**2", "<= g**2/4"),
    # A lattice of the step of one phase alone is not paid for by the last records of it.
    "passes.rounded": ("(T + n*G)", "(T + G)"),
    "passes.quarter": ("1 <= f", "0 < f"),
    "passes.mixture": ("0 <= t", "-1 <= t"),
    # Rounding to the nearest may leave the ball.
    "passes.ball": ("abs(k) <= abs(z)", "abs(k) <= abs(z) + 1"),
    "scores.count": ("<= 1", "<= 1/2"),
    # A tie that is right for one label and wrong for the other moves counts both ways.
    "scores.null": ("0 <= (s + (1 if 0 <= 0 else 0)) - (s +", "0 <= (s + (1 if 0 < 0 else 0)) - (s +"),
    "scores.place": ("r < (k + 1)*U", "r <= (k + 1)*U"),
    "scores.arc_after": ("-x < (f + 1)*b", "-x <= (f + 1)*b"),
    "scores.arc_from": ("f*b <= -x", "f*b <= b - x"),
    "scores.arc_before": ("(c - 1)*s < x", "(c - 1)*s <= x"),
    "scores.arc_until": ("x <= c*s", "x <= c*s + s"),
    "scores.ramp": ("v <= S", "v < S"),
    "scores.one_score": (")) <= S", ")) <= S/2"),
    "scores.falling": ("(w - 1)*e < y", "(w - 2)*e < y"),
    "scores.ends": ("<= low - high", "<= (low - high)/2"),
    # Sensitivities that are not raised by the step of the grid.
    "scores.grid": ("<= d + g", "<= d"),
    "scores.fewest": ("<= d", "<= d/2"),
    "scores.parabola": ("2*h*(c*z)", "h*(c*z)/2"),
    "scores.parabola_bias": ("- c*h**2", "- c*h**2/2"),
    "scores.line": ("2*(c*z) - c*h", "2*(c*z) - c*h/2"),
    "scores.range": ("<= 1 + c", "<= c"),
    "scores.least": ("<= c", "<= c/2"),
    "scores.lowest": ("2*H*r", "3*H*r"),
    "scores.lowest_border": ("K <= H", "K <= 2*H"),
    # What is only nearly a minimum has no sensitivity.
    "scores.bracket": ("V - L <= T", "V - L <= 2*T"),
    "scores.tolerance": ("<= c + T", "<= c"),
    "minimisers.rounded_step": ("<= i + 1", "<= i"),
    "minimisers.values": ("d < m + 1", "d < m + 2"),
    "minimisers.differences": ("<= d", "<= d/2"),
    "minimisers.products": ("<= x**2 + y**2", "<= x**2"),
    # Directions that are not quite at right angles, taken for such.
    "minimisers.row_sums": ("<= T + h*w", "<= T"),
    # Without the root of the columns the sum of sizes is not bounded by the length.
    "minimisers.sizes_step": ("i*(i + 1)*(T", "i*(T"),
    "minimisers.curvature": ("1 + c*N", "1 + c*N/2"),
    # One record's gradient is not enough where it is replaced.
    "minimisers.linear_term": ("t == 2*s", "t == s"),
}


@pytest.mark.parametrize("name", OWN)
def test_a_lemma_is_confirmed_by_all_three(name):
    found = checked(OWN[name], seconds=60.0)
    assert (Answer.UNSAT, Answer.UNSAT, True, True) == (found.z3, found.cvc5, found.kernel, found.example)


def test_every_lemma_has_a_wrong_variant():
    assert set(OWN) == set(WRONG)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variant_is_refuted_by_a_model(name):
    old, new = WRONG[name]
    *hypotheses, goal = (*OWN[name].hypotheses, OWN[name].goal)
    changed = [place for place, text in enumerate((*hypotheses, goal)) if old in text]
    assert changed, f"{name}: {old} stands nowhere"
    # In the last place that it stands at: a constant that hypotheses and goal share is changed in the goal.
    texts = [text.replace(old, new, 1) if place == changed[-1] else text for place, text in enumerate((*hypotheses, goal))]
    wrong = replace(OWN[name], hypotheses=tuple(texts[:-1]), goal=texts[-1])
    denied = [*wrong.premises(), negation(conjunction(*wrong.obligations()[-1:]))]
    outcome = satisfiable(denied)
    assert Answer.SAT is outcome.answer
    assert outcome.model is not None
    assert outcome.model.satisfies(*denied)
