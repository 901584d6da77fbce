"""Every check without chance, on one target: laws of its query, record and replay, what it spends, its exact output law."""

from __future__ import annotations

from dpaudit.auditor.checks.counterexamples import PropertyResult
from dpaudit.auditor.checks.exact_law import check_exact_law
from dpaudit.auditor.checks.prices import check_spending
from dpaudit.auditor.checks.query_laws import check_laws, check_sensitivity
from dpaudit.auditor.checks.replay import check_replay
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer
from dpaudit.targets import Target


def check_properties(target: Target, *, examples: Exact = 1000) -> tuple[PropertyResult, ...]:
    """Try every law that a target's declarations allow to state, without statistics and so without any error probability.

    An audit makes the same checks on fewer pairs; this is for unit tests, and for looking longer.

    Args:
      target: a declared sensitivity, mechanisms that write to the release log, or a declared output law make laws to check.
      examples: how many pairs to draw for each law, beyond the candidate pairs, where the target's neighbours are a Hypothesis
        strategy; an integer from 0 on.
    Returns:
      One `PropertyResult` for each law, in a fixed order: its property and, where it is violated, the smallest pair found.
      Empty where nothing is declared and nothing logged.
    Raises:
      InvalidArgument: not a Target (DPA105), `examples` is no integer from 0 on (DPA103, DPA105), or neighbours that cannot be
        used (DPA404, DPA407, DPA409).
    Source: docs/property_tests.md.
    Example:
      >>> from dpaudit import Claim, PureDP, Sensitivity
      >>> from dpaudit.auditor import neighbours
      >>> mean = Sensitivity(query=lambda rows: sum(rows) / max(len(rows), 1), bound="1/4")
      >>> target = Target(run=lambda rows, rng: 0, claim=Claim(PureDP(epsilon=1)), neighbours=neighbours(bool), sensitivity=mean)
      >>> [(found.property.name, found.pair) for found in check_properties(target) if found.pair][0]
      ('declared sensitivity', ([True], []))
    """
    if not isinstance(target, Target):
        raise InvalidArgument("DPA105", f"a target must be a Target, got a {type(target).__name__}.")
    count = integer(examples, "examples", lower=0)
    pairs = candidate_pairs(target)
    sensitivity = check_sensitivity(target, pairs, examples=count)
    found = [] if sensitivity is None else [sensitivity]
    found += [*check_laws(target, pairs, examples=count), *check_replay(target, pairs, examples=count)]
    spending = check_spending(target, pairs[0])
    found += [] if spending is None else [spending]
    return (*found, *(PropertyResult(law) for law in check_exact_law(target, pairs)))
