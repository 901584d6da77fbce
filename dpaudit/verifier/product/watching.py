"""What is known of a chosen draw and its rivals in both runs of a program that notes them."""

from __future__ import annotations

from dpaudit.verifier.ir import Draw
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.rivals import OWN, PICKED, SEEN, SO_FAR, Rivals
from dpaudit.verifier.product.runs import Run
from dpaudit.verifier.terms import Sort, Term, choose, conjunction, constant, equal, implies, negation


def know_value(execution: Execution, rivals: Rivals, draw: Draw, here: Term, runs: tuple[Run, Run]) -> None:
    """What is known of a draw's value, once its noise is there: it is the chosen one, or a rival within the furthest."""
    if draw.site not in rivals.values:
        return
    chosen = execution.valued(rivals.chosen[draw.site], runs[0])
    one, other = execution.both(rivals.values[draw.site], runs)
    picked = conjunction(here, chosen)
    execution.book.prove("ahead", draw.place.line, implies(picked, negation(runs[0].names[str(PICKED.value)])))
    execution.book.know(implies(picked, conjunction(equal(one, OWN), negation(equal(OWN, rivals.sense.one)))))
    rival = conjunction(here, negation(chosen))
    within = (rivals.sense.bounds(one, rivals.sense.one), rivals.sense.bounds(other, rivals.sense.other))
    execution.book.know(implies(rival, conjunction(*within)))


def know_furthest(execution: Execution, rivals: Rivals, runs: tuple[Run, Run]) -> None:
    """At the end the furthest rival is the furthest of all; where there was none the number is 0."""
    for run, limit in zip(runs, (rivals.sense.one, rivals.sense.other), strict=True):
        seen, so_far = (run.names[str(name.value)] for name in (SEEN, SO_FAR))
        execution.book.know(choose(seen, equal(so_far, limit), equal(limit, constant(0, Sort.REAL))))
