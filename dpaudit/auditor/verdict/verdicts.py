"""The verdict on a claim from the evidence, and one sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from dpaudit.auditor.attack.distances import RARER
from dpaudit.auditor.attack.searching import ERRORS, NO_NUMBER, UNTRIED
from dpaudit.auditor.checks.exact_law import EXACT_LAW
from dpaudit.auditor.checks.independence import INDEPENDENT
from dpaudit.auditor.checks.prices import SAME_NOISE
from dpaudit.auditor.checks.properties import REVEALS
from dpaudit.auditor.checks.query_laws import SENSITIVITY
from dpaudit.auditor.checks.replay import LOGGED_SENSITIVITY, MEASURED_PRICE, SAME_OUTPUT, SAME_PATH
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.normal import allowed_distance, shown_distance
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, PureDP
from dpaudit.exact import outward, rational
from dpaudit.results import Attack, ClaimSummary, Price, Proof, Property, Unread, Verdict

_KINDS_SHOWN: Final = 3
_SUSPICIOUS: Final = 20
"""A p-value of at most so many times a claim's alpha, or this limit, keeps it from being called consistent. In a test suite,
whose alpha is far smaller than elsewhere, that is so little that sound claims do not fail by chance."""

_MOST_SUSPICIOUS: Final = 1 / 50

_SMALL_DELTA: Final = Fraction(1, 100)
_NEARLY: Final = Fraction(4, 5)
"""Share of a claim's epsilon that noise of bounded log-ratios shows at common outputs."""

_OPEN: Final = (ERRORS, NO_NUMBER, RARER, UNTRIED)
"""What nobody judged and may break the claim: a value at which the function raises or gives no number, or that no run tried."""

_DISPROVED: Final = {
    SENSITIVITY: "The declared sensitivity is false",
    MEASURED_PRICE: "A sensitivity that noise was scaled to is false",
    EXACT_LAW: "The declared output law breaks the claim",
}
"""Properties whose violation on one pair refutes, without any error probability."""


def summary_of(claim: Claim, point: ClaimPoint | None) -> ClaimSummary:
    """Return the claim as data, with the point that was tested."""
    kind, parameters = _as_numbers(claim)
    tested = (None, None) if point is None else (point.epsilon, point.delta)
    return ClaimSummary(kind, parameters, str(claim.relation), str(claim), *tested)


def verdict_of(
    attack: Attack,
    properties: Sequence[Property],
    price: Price | None,
    proof: Proof | None = None,
    *,
    point: ClaimPoint | None = None,
    returned: bool = False,
    rejected: bool,
    power_target: Fraction,
) -> tuple[Verdict, str]:
    """Decide what may be said of a claim, and say why; `returned` if the runs gave out what the program of the proof returned.

    `point` is that at which an approximate claim was tested.
    """
    violated = {check.name: check for check in properties if check.status == "violated"}
    if INDEPENDENT in violated:
        return Verdict.INCONCLUSIVE, f"Not judged: {violated[INDEPENDENT].detail}."
    if rejected:
        return Verdict.REFUTED, _refutation(attack)
    for name, said in _DISPROVED.items():
        if name in violated:
            return Verdict.REFUTED, f"{said}: {violated[name].detail}."
    # Its status stays "refuted" only where the audited claim fails with the program's.
    disproved = proof is not None and proof.status == "refuted"
    if disproved and returned:
        return Verdict.REFUTED, "Its program has a certified counterexample, which breaks the claim."
    found = " ".join((_survival(attack), *_list_not_run(properties)))
    reservation = _reservation(violated, price)
    if disproved and not reservation:
        reservation = "The program that the target names has a certified counterexample; no run gave out what it returned."
    if reservation or any(map(_is_open, properties)):
        return Verdict.INCONCLUSIVE, f"{reservation} {found}".lstrip()
    if doubt := _doubt(attack) or _rarer_outputs(attack, point):
        return Verdict.INCONCLUSIVE, f"{doubt} {found}"
    factor = attack.power.factor
    if attack.unread is None and factor is not None and factor <= power_target:
        return _supported(proof, f"{found}{_not_covered(attack)}")
    return Verdict.INCONCLUSIVE, found


def _supported(proof: Proof | None, found: str) -> tuple[Verdict, str]:
    """Say that a claim is consistent with the runs, or also proven from its source, and then what the proof takes as given."""
    # The proof of a program does not reach its samplers; a claim of a graph rests on all that there is.
    if proof is None or proof.status != "proven" or "#" not in proof.name:
        return Verdict.CONSISTENT, found
    given = "; ".join(step.statement.rstrip(".") for step in proof.steps if step.word == "axiom")
    return Verdict.PROVEN, f"No step of the proof rests on tests. It takes as given: {given}. {found}"


def _doubt(attack: Attack) -> str:
    """Say that the runs speak against a claim that they do not refute; "" where they do not."""
    if attack.p_value > min(float(_SUSPICIOUS * attack.alpha), _MOST_SUSPICIOUS):
        return ""
    p_value = outward(Fraction(attack.p_value), digits=2, up=True)
    return f"The runs speak against the claim, with a p-value of {p_value}, but too few to refute it."


def _rarer_outputs(attack: Attack, point: ClaimPoint | None) -> str:
    """Say that an approximate claim fails at outputs rarer than those tested if the noise is Gaussian; "" where nothing says so.

    Other noise, such as Laplace noise, differs as much at common outputs, and shows nearly all of epsilon there.
    """
    bound = attack.bound
    if point is None or bound is None or not 0 < point.delta < _SMALL_DELTA:
        return ""
    if bound.epsilon is not None and bound.epsilon >= _NEARLY * point.epsilon:
        return ""
    shown, allowed = shown_distance(bound.counts), allowed_distance(point)
    if shown <= allowed:
        return ""
    least, most = outward(Fraction(shown), digits=3, up=False), outward(Fraction(allowed), digits=3, up=True)
    return (
        f"The datasets differ as with Gaussian noise of mu about {least} or more, which meets this claim up to {most} only: "
        "with such noise it fails at outputs too rare for these runs."
    )


def _is_open(check: Property) -> bool:
    """True if a check says of data that there may be that the function gives away a record there."""
    return check.status == "not run" and (check.name in _OPEN or REVEALS in check.detail)


def _reservation(violated: Mapping[str, Property], price: Price | None) -> str:
    """Say why a claim that was not refuted is not called consistent either; "" where nothing speaks against it."""
    if SAME_NOISE in violated:
        return f"The noise depends on the data ({violated[SAME_NOISE].detail}), which no price covers."
    if LOGGED_SENSITIVITY in violated:
        return f"A sensitivity that noise was scaled to is false: {violated[LOGGED_SENSITIVITY].detail}."
    for leak in (SAME_PATH, SAME_OUTPUT):
        if leak in violated:
            return f"Private data reach the result past the logged releases ({violated[leak].detail}), which no price covers."
    if price is not None and price.status == "above":
        if price.value is None:
            return "The logged noise does not support the claim."
        excess = f"{price.quantity} is at least {outward(price.value.lower, digits=4, up=False)} for the worst neighbours"
        return f"The logged noise does not support the claim: {excess}."
    return " ".join(f"Violated: {check.name} ({check.detail})." for check in violated.values())


def _list_not_run(properties: Sequence[Property]) -> list[str]:
    """List what was not checked, a sentence each."""
    return [f"Not run: {check.name} ({check.detail})." for check in properties if check.status == "not run"]


def _refutation(attack: Attack) -> str:
    """Say why a claim is refuted, in one or two sentences."""
    parts = []
    if attack.sequential.stopped_at is not None:
        parts.append(f"Bets against the claim won after {attack.sequential.stopped_at:,} runs")
    bound = attack.bound
    if bound is not None:
        ones, zeros = ("second", "first") if bound.direction == "forward" else ("first", "second")
        counted = f"{attack.event}: {bound.counts.ones:,} times on the {ones} dataset, {bound.counts.zeros:,} times on the {zeros}"
        parts.append(f"{counted}, in {bound.counts.runs:,} runs")
    found = "; ".join(parts) + "."
    if attack.minimal is not None and attack.sequential.stopped_at is None:
        found += f" The search for a smaller pair made {attack.minimal.runs:,} runs beyond the budget."
    rejected = attack.sequential.rejected
    if rejected is not None and (bound is None or bound.epsilon is None or bound.epsilon < rejected):
        at = f" at delta = {outward(bound.delta, digits=3, up=True)}" if bound is not None and bound.delta else ""
        found += f" The bets alone refute every epsilon{at} up to {outward(rejected, digits=4, up=False)}; the bound shows less."
    if bound is None or bound.epsilon is None or bound.epsilon <= 0:
        return found
    at = f" at delta = {outward(bound.delta, digits=3, up=True)}" if bound.delta else ""
    least = f"epsilon{at} is at least {outward(bound.epsilon, digits=4, up=False)}"
    wrong = outward(1 - bound.confidence, digits=3, up=True)
    mu = f" As mu that is at least {outward(bound.mu, digits=4, up=False)}, wrong as seldom." if bound.mu else ""
    return f"{found} So {least}, which is wrong with probability at most {wrong}.{mu}"


def _survival(attack: Attack) -> str:
    """Say what a claim that was not refuted survived."""
    power = attack.power
    if attack.unread is not None:
        return f"Not refuted in {attack.runs} runs, but {_not_read(attack.unread)} What that holds was not tested."
    if power.epsilon is None:
        reason = (
            "no output differed enough to choose an event"
            if not attack.event
            else "the event was too rare for any violation to show"
        )
        return f"Not refuted in {attack.runs} runs; {reason}."
    factor = "" if power.factor is None else f", {power.factor:.3g} times the claim,"
    others = attack.pairs_tried - 1
    fewer = (
        f" {others} other pair{'s' if others > 1 else ''} had fewer runs, in which only larger violations show." if others else ""
    )
    return (
        f"Not refuted in {attack.runs} runs; a true epsilon of {power.epsilon:.4g}{factor} "
        f"would have been found with probability {power.probability:g} on the tested pair and event.{fewer}"
    )


def _not_covered(attack: Attack) -> str:
    """Say which outputs no event of so few runs could have judged."""
    rarest = attack.power.rarest
    if rarest is None:
        return ""
    share = outward(Fraction(100 * rarest), digits=2, up=True)
    return f" Not covered: outputs of less than {share} % of the runs; whatever they give away, so few runs could not show it."


def _not_read(unread: Unread) -> str:
    """Say which share of the outputs was not read, and what they hold."""
    shown = [
        *unread.kinds[:_KINDS_SHOWN],
        *([f"{len(unread.kinds) - _KINDS_SHOWN} more"] if len(unread.kinds) > _KINDS_SHOWN else []),
    ]
    share = outward(Fraction(100 * unread.runs, unread.of), digits=2, up=True)
    return f"{share} % of the outputs hold something that is not looked into: {', '.join(shown)}."


def _as_numbers(claim: Claim) -> tuple[str, tuple[tuple[str, Fraction], ...]]:
    """Return kind and exact parameters of a guarantee."""
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
