"""From evidence to a verdict and one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpaudit.auditor.bounds import ClaimPoint
from dpaudit.auditor.exact_law import EXACT_LAW
from dpaudit.auditor.independence import INDEPENDENT
from dpaudit.auditor.prices import SAME_NOISE
from dpaudit.auditor.properties import SENSITIVITY
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, PureDP
from dpaudit.exact import outward, rational
from dpaudit.results import Attack, ClaimSummary, Price, Property, Verdict


def summary_of(claim: Claim, point: ClaimPoint | None) -> ClaimSummary:
    """The claim as data, with the point that was tested."""
    kind, parameters = _as_numbers(claim)
    tested = (None, None) if point is None else (point.epsilon, point.delta)
    return ClaimSummary(kind, parameters, str(claim.relation), str(claim), *tested)


def verdict_of(
    attack: Attack, properties: Sequence[Property], price: Price | None, *, rejected: bool, power_target: Fraction
) -> tuple[Verdict, str]:
    """What may be said of a claim, and why.

    Args:
      attack: the statistical attack.
      properties: deterministic checks.
      price: the certified price of what was logged.
      rejected: whether the family of claims rejects this one.
      power_target: largest factor between a violation that would have been found and the claim at which a surviving claim
        counts as consistent.
    Returns:
      Refuted where the statistics reject, a declared sensitivity is false on a pair, or a declared output law breaks the claim on
      one; consistent where the claim survives, a violation by `power_target` would have been found, and no check speaks against
      it; inconclusive otherwise.
    Source: docs/auditing.md, "Verdicts".
    """
    violated = {check.name: check for check in properties if check.status == "violated"}
    if INDEPENDENT in violated:
        return Verdict.INCONCLUSIVE, f"Not judged: {violated[INDEPENDENT].detail}."
    if rejected:
        return Verdict.REFUTED, _refutation(attack)
    if SENSITIVITY in violated:
        return Verdict.REFUTED, f"The declared sensitivity is false: {violated[SENSITIVITY].detail}."
    if EXACT_LAW in violated:
        return Verdict.REFUTED, f"The declared output law breaks the claim: {violated[EXACT_LAW].detail}."
    found = _what_was_found(attack)
    if SAME_NOISE in violated:
        return (
            Verdict.INCONCLUSIVE,
            f"The noise depends on the data ({violated[SAME_NOISE].detail}), which no price covers. {found}",
        )
    if price is not None and price.status == "above" and price.value is not None:
        excess = f"{price.quantity} is at least {outward(price.value.lower, digits=4, up=False)} for the worst neighbours"
        return Verdict.INCONCLUSIVE, f"The logged noise does not support the claim: {excess}. {found}"
    factor = attack.power.factor
    if factor is not None and factor <= power_target:
        return Verdict.CONSISTENT, found
    return Verdict.INCONCLUSIVE, found


def _refutation(attack: Attack) -> str:
    """Why a claim is refuted, in one or two sentences."""
    parts = []
    if attack.sequential.stopped_at is not None:
        parts.append(f"Bets against the claim won after {attack.sequential.stopped_at} runs")
    bound = attack.bound
    if bound is not None:
        ones, zeros = ("second", "first") if bound.direction == "forward" else ("first", "second")
        counted = f"{attack.event}: {bound.counts.ones} times on the {ones} dataset, {bound.counts.zeros} times on the {zeros}"
        parts.append(f"{counted}, in {bound.counts.runs} runs")
    told = "; ".join(parts) + "."
    if bound is None or bound.epsilon is None or bound.epsilon <= 0:
        return told
    at = f" at delta = {outward(bound.delta, digits=3, up=True)}" if bound.delta else ""
    least = f"epsilon{at} is at least {outward(bound.epsilon, digits=4, up=False)}"
    wrong = outward(1 - bound.confidence, digits=3, up=True)
    return f"{told} So {least}, which is wrong with probability at most {wrong}."


def _what_was_found(attack: Attack) -> str:
    """What a claim that was not refuted survived."""
    power = attack.power
    if power.epsilon is None:
        reason = (
            "no output differed enough to choose an event"
            if not attack.event
            else "the event was too rare for any violation to show"
        )
        return f"Not refuted in {attack.runs} runs; {reason}."
    factor = "" if power.factor is None else f", {power.factor:.3g} times the claim,"
    return (
        f"Not refuted in {attack.runs} runs; a true epsilon of {power.epsilon:.4g}{factor} "
        f"would have been found with probability {power.probability:g} on the tested pair."
    )


def _as_numbers(claim: Claim) -> tuple[str, tuple[tuple[str, Fraction], ...]]:
    """Kind and exact parameters of a guarantee."""
    match claim.guarantee:
        case PureDP(epsilon=epsilon):
            return "pure_dp", (("epsilon", rational(epsilon)),)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return "approx_dp", (("epsilon", rational(epsilon)), ("delta", rational(delta)))
        case ZCDP(rho=rho):
            return "zcdp", (("rho", rational(rho)),)
        case GDP(mu=mu):
            return "gdp", (("mu", rational(mu)),)
        case RDP(orders=orders):
            return "rdp", tuple((f"order {order}", bound) for order, bound in orders)
        case _:
            return "curve", ()
