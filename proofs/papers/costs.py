"""Differentially Private Learning with Margin Guarantees: what passes cost together, and how much noise the same promise takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.accounting import approx_dp, compose, pure_dp
from dpaudit.dossier import Found, Repair, Standing, Table, Witness
from dpaudit.exact import ball, ball_endpoints, working_precision
from learners.margins.erm import ErmPlan, erm_plan
from proofs.papers.points import DRAWS, EPSILONS, NOISE, PLAN, SMALL
from proofs.papers.witnessing import claims, closed_form, computed, decision, digits, lemma, price_of, priced, proof, survives

if TYPE_CHECKING:
    from flint import arb

_claim = claims("Margin guarantees")
_MILLIONTH: Final = "1e-6"
_HALF: Final = Fraction(1, 2)
ROUNDS: Final = 4
"""ceil(log(2/beta)) at beta = 1/20."""


def plan_of(**given: Any) -> ErmPlan:
    """A plan at 100,000 records, epsilon 1 and delta 1e-6 unless told otherwise."""
    return erm_plan(**(PLAN | {"epsilon": 1, "delta": _MILLIONTH} | given))


def _noise(plan: ErmPlan) -> float:
    """The noise multiplier of the text: standard deviation over half of the sensitivity."""
    release = plan.schedule.releases[0]
    return float(2 * release.parameter("sigma") / release.sensitivity)


@_claim(
    "A3",
    "appendix B.2, proof of Lemma 3.1",
    quote=r"again by basic composition of DP, we conclude that Algorithm 4 is  $(\varepsilon, \delta)$ -DP",
    promised="M passes at (epsilon/2M, delta/M) each and a choice at epsilon/2 are (epsilon, delta)-private together.",
    expects=Standing.HOLDS,
    number="epsilon 1 of 1",
    code=("learners/margins/erm.py:erm_plan",),
)
def _a3(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The lemmas, and the accountant for the worst mechanisms that keep such promises."""
    epsilon, risk = Fraction(1, 8), Fraction(1, 4_000_000)
    passes = ROUNDS * approx_dp(epsilon=epsilon, delta=risk, adjacency="replace_one")
    witness = priced(compose(passes, pure_dp(epsilon=_HALF, adjacency="replace_one")), _MILLIONTH, 1, "four passes and a choice")
    return decision(
        "They are. The worst mechanisms that keep such promises come to just that.",
        f"epsilon {price_of(witness):.4g} of 1",
        lemma(
            "promises add up, and M shares of epsilon/(2 M) and one of epsilon/2 are epsilon",
            *("papers.shares", "composition.approximate", "composition.basic"),
            where="every M, epsilon > 0 and delta in [0, 1)",
        ),
        computed(
            (ROUNDS * epsilon, ROUNDS * risk) == (_HALF, Fraction(_MILLIONTH)),
            "shares of 1/8 and 2.5e-7 are used up",
            about="repair",
        ),
        witness,
    )


def _tail(records: int, least: int) -> Fraction:
    """Probability that a record is drawn at least so often in as many draws as there are records."""
    chance = Fraction(1, records)
    fewer = sum((math.comb(records, k) * chance**k * (1 - chance) ** (records - k) for k in range(least)), Fraction(0))
    return 1 - fewer


@_claim(
    "A4",
    "appendix B.2, proof of Lemma 3.1",
    quote=r"$J \leq 2\log(2/\hat{\delta})$  with probability at least  $1 - \hat{\delta}/2$",
    promised="In m draws with replacement a record appears more than 2 log(2/delta) times with probability at most delta/2.",
    expects=Standing.HOLDS,
    number="0.7048, 0.9683, 0.747 and 0.4122 of the bound; 9 of 31",
    correction="It is far from tight: at 2.5e-7 nine appearances are enough, where the bound allows 31.",
    code=("dpaudit/accounting/schemes.py:RandomOrder",),
)
def _a4(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """At least i appearances have probability at most exp(-i/2): two exactly for small m, three and more by 1/i!."""
    with working_precision(128):
        once = (-ball(1)).exp()
        limit = Fraction(ball_endpoints(once)[0])
        first, two = next((m, twice) for m in range(DRAWS) if (twice := 1 - (2 - 1 / ball(m)) * once) <= once)
        share = Fraction(ball_endpoints(two)[1]) / limit
        three = Fraction(ball_endpoints(ball(Fraction(1, 6)) * ball(Fraction(3, 2)).exp())[1])
        further = Fraction(ball_endpoints(ball(Fraction(1, 4)) * ball(_HALF).exp())[1])
    small = max(_tail(records, 2) for records in range(1, first)) / limit
    rare = Fraction(_MILLIONTH) / ROUNDS / 2
    allowed = math.floor(-2 * math.log(rare))
    least = next(i for i in range(allowed) if _tail(DRAWS, i + 1) <= rare)
    return decision(
        f"It does: the bound is used to {digits(share)} at most. At delta 2.5e-7 a record appears at most {least} times; the "
        "bound allows "
        f"{allowed}.",
        f"{digits(small)}, {digits(share)}, {digits(three)} and {digits(further)} of the bound; {least} of {allowed}",
        closed_form(
            max(small, share, three, further) <= 1,
            "i appearances or more have probability at most exp(-i/2): for i = 2 at most 1 - (2 - 1/m)/e from m = 4 on, and "
            "exactly for m "
            "= 2, 3; for i = 3 at most 1/6 < exp(-3/2); one more multiplies 1/i! by at most 1/4 < exp(-1/2)",
            "every m and delta in (0, 1]",
        ),
        computed(least < allowed, f"{least} appearances are enough at m = {DRAWS}, {allowed} are allowed for", about="repair"),
    )


def _group(epsilon: Fraction, delta: Fraction, rounds: arb) -> tuple[arb, arb, arb]:
    """What delta becomes for a record that is in a pass as often as is allowed, the text's bound of it, and what it may become."""
    pass_epsilon, pass_delta = ball(epsilon) / (2 * rounds), ball(delta) / rounds
    length = (2 / pass_delta).log()
    total = (pass_epsilon.exp() - 1) / ((pass_epsilon / (2 * length)).exp() - 1)
    bound = ball(delta) * pass_delta * (pass_epsilon.exp() - 1) / (2 * pass_epsilon)
    return ball(delta) * pass_delta / (4 * length) * total, bound, pass_delta / 2


def _rounds() -> arb:
    """M = log(2/beta) at beta = 1/20, as the text has it, without rounding."""
    return ball(40).log()


@_claim(
    "A5",
    "appendix B.2, proof of Lemma 3.1",
    quote=r"\leq \frac{\delta \hat{\delta} (e^{\hat{\varepsilon}} - 1)}{2\hat{\varepsilon}} \\ &\leq \frac{\hat{\delta}}{2}",
    promised="For epsilon up to log(1/delta) a record that is in a pass several times costs at most half of the pass's delta.",
    expects=Standing.HOLDS,
    number="1.448e-13 of 1.355e-07; 0.997859 of the step between",
    correction="The printed sum runs to one term more than its closed form has; the closed form is the right one.",
    code=("dpaudit/accounting/schemes.py:RandomOrder",),
)
def _a5(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The inequality behind the bound on its whole range, and the bound at usual parameters."""
    from dpaudit.verifier.lemmas import INEQUALITIES, positive_on

    with working_precision(128):
        spent, bound, allowed = _group(Fraction(1), Fraction(_MILLIONTH), _rounds())
    inequality = next(each for each in INEQUALITIES if each.name == "inequalities.logarithm")
    cover = positive_on(inequality.margin, inequality.box)
    one = f"{float(spent):.4g} of {float(allowed):.4g}; {float(spent / bound):.6f} of the step between"
    where = "every delta in (0, 1), epsilon up to log(1/delta) and M"
    return decision(
        f"It does. At epsilon 1 and delta 1e-6 it costs {one}.",
        one,
        closed_form(
            cover.holds,
            "(e^a - 1)/a grows, so that it is at most (1/delta - 1)/log(1/delta) up to a = log(1/delta), and 1 - delta <= "
            "log(1/delta): the "
            "difference falls to 0 at delta = 1",
            where,
        ),
        computed(cover.holds, f"{inequality.statement} ({cover.boxes} parts)", kind="cover", name=inequality.name, about="repair"),
        lemma("j changes cost delta (e^(j x) - 1)/(e^x - 1)", "groups.approximate_step", "groups.delta_step", where=where),
        computed(spent <= bound <= allowed, f"at epsilon 1 and delta 1e-6: {one}", about="repair"),
    )


def _at_most_nine(epsilon: float, delta: float) -> float:
    """Noise for a record that appears at most nine times in each of the passes, whose probability is taken from delta."""
    from scipy.stats import binom

    records = PLAN["records"]
    seldom = ROUNDS * float(binom.sf(9, records, 1 / records))
    return _least(lambda c: _profile(epsilon / 2, 18 * math.sqrt(ROUNDS) / c) <= delta - seldom)


def _split(epsilon: float, delta: float) -> float:
    """Noise for the text's share of epsilon and delta in each pass, by the exact profile of Gaussian noise."""
    share = 4 * ROUNDS * math.log(2 * ROUNDS / delta)
    return _least(lambda c: _profile(epsilon / share, 2 / c) <= delta**2 / share)


def _profile(epsilon: float, mu: float) -> float:
    """The delta of Gaussian differential privacy, in floats."""
    from scipy.special import log_ndtr

    above, below = log_ndtr(mu / 2 - epsilon / mu), log_ndtr(-mu / 2 - epsilon / mu)
    return float(np.exp(above) * -np.expm1(epsilon + below - above))


def _least(enough: Callable[[float], bool]) -> float:
    """The least noise that is enough, to the last bit."""
    low, high = NOISE
    while low < (middle := math.sqrt(low * high)) < high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


ACCOUNTINGS: Final = (
    "printed constants",
    "printed split",
    "at most 9 times",
    "secret draws",
    "secret order",
    "secret order, place",
    "one pass",
)
"""Seven ways to price such passes, by decreasing noise.

The text's constants; its split of epsilon and delta, with the exact profile of Gaussian noise; that profile for records that appear
at most nine times; and what the accountant says of secret orders.
"""


def _accounted(epsilon: Fraction) -> tuple[float, ...]:
    """The noise multipliers of the seven, at delta 1e-6 and 100,000 records, with half of epsilon for the choice."""
    several: tuple[dict[str, Any], ...] = (
        {"variant": "faithful"},
        {"variant": "permutation", "by_place": False},
        {"variant": "permutation"},
    )
    return (
        _noise(plan_of(epsilon=epsilon, variant="faithful", calibration="paper")),
        _split(float(epsilon), float(_MILLIONTH)),
        _at_most_nine(float(epsilon), float(_MILLIONTH)),
        *(_noise(plan_of(epsilon=epsilon, choice_share="1/2", **given)) for given in several),
        _noise(plan_of(epsilon=epsilon)),
    )


@cache
def accountings() -> Table:
    """Noise multipliers under the seven accountings by epsilon."""
    rows = tuple((float(epsilon), *_accounted(epsilon)) for epsilon in EPSILONS)
    caption = "Noise multiplier by epsilon, at delta 1e-6 and 100,000 records, for the same passes and the same promise."
    return Table(caption, ("epsilon", *ACCOUNTINGS), rows)


def round_is_private(about: str) -> Witness:
    """One round of Algorithm 4, from the steps that A4 and A5 decide."""
    return lemma(
        "but for delta/(2 M) a record is in a round at most 2 log(2 M/delta) times (A4); so many changes of an (epsilon', "
        "delta')-private "
        "pass cost epsilon/(2 M) and, by A5, at most delta/(2 M)",
        *("groups.pure_step", "groups.approximate_step", "groups.delta_step", "composition.capped", "passes.mixture"),
        about=about,
        where="every m, 0 < delta < 1/m, 0 < epsilon <= log(1/delta), every M >= 1",
    )


@_claim(
    "A10",
    "appendix B.2, Algorithm 4, steps 2 and 3, and proof of Lemma 3.1",
    quote=r"the *t*-th round is  $(\frac{\varepsilon}{2M}, \frac{\delta}{M})$ -DP",
    promised=(
        "epsilon/(4 M log(2M/delta)) and delta^2/(4 M log(2M/delta)) for every pass make a round (epsilon/2M, delta/M)-private."
    ),
    expects=Standing.HOLDS,
    number=(
        "noise 5,859 printed, 3,299 by its split, 299.0 for nine draws, 45.33 for secret ones, 7.2 for one pass; "
        "0.005413 of what passes may cost"
    ),
    correction="It is, with hundreds of times more noise than is needed. The shipped learner prices the secret order exactly.",
    code=("learners/margins/erm.py:erm_plan", "dpaudit/accounting/schemes.py:RandomOrder"),
)
def _a10(runs: int) -> Found:  # noqa: ARG001 - nothing is attacked
    """The round's promise, what the passes cost at the printed noise, and how little noise would do."""
    table = accountings()
    _, paper, split, nine, secret, *_, best = table.rows[1]
    passes = priced(
        plan_of(**SMALL, variant="faithful", calibration="paper").charges[0].loss,
        _MILLIONTH,
        _HALF,
        "four passes at the printed noise",
    )
    return decision(
        f"It does. At epsilon 1 the printed constants ask for a noise multiplier of {paper:,.0f}; with secret draws the same "
        "passes keep "
        f"their share of epsilon at {secret:.1f}, and one pass without a choice the whole promise at {best:.2f}.",
        f"noise {paper:,.0f} printed, {split:,.0f} by its split, {nine:.1f} for nine draws, {digits(secret)} for secret ones, "
        f"{digits(best, 2)} for one pass; {price_of(passes):.4g} of what passes may cost",
        round_is_private("claim"),
        passes,
        table=table,
    )


def _in_theorem(epsilon: Fraction, delta: Fraction) -> bool:
    """Whether Theorem 3.2 speaks of these: epsilon at most log(1/delta)."""
    with working_precision(128):
        return bool(ball(epsilon) <= -ball(delta).log())


@_claim(
    "A13",
    "Theorem 4.2, appendix C",
    quote=r"For any  $\varepsilon > 0$  and  $\delta \in (0, 1)$ , Algorithm 3 is  $(\varepsilon, \delta)$ -differentially private",
    promised="The kernel learner is (epsilon, delta)-private for every epsilon > 0 and every delta in (0, 1).",
    expects=Standing.UNSHOWN,
    number="31.6 > 0.0136; 0.9969 of 20 by an accountant",
    correction="Theorem 3.2, from which it follows, has the range 0 < delta < 1/m, epsilon up to log(1/delta).",
    code=("learners/margins/kernel.py:KernelMarginClassifier", "learners/margins/erm.py:erm_plan"),
    repair=Repair(
        "Repeat the range of Theorem 3.2: 0 < delta < 1/m and 0 < epsilon <= log(1/delta).",
        "Nothing inside of it; outside, noise found by an accountant keeps the promise without a range.",
        "Yes, in that range, where it follows as printed; outside it is open, not refuted.",
    ),
)
def _a13(runs: int) -> Found:
    """The range of the theorem that is cited, the step of A5 outside of it, and a plan there."""
    epsilon, delta = Fraction(100), Fraction(1, 10)
    with working_precision(128):
        spent, _, allowed = _group(epsilon, delta, _rounds())
    outside, inside = 20, math.floor(-math.log(delta))
    plan = plan_of(**SMALL, epsilon=outside, delta=delta)
    shipped = priced(
        compose(*(charge.loss for charge in plan.charges)),
        f"{delta}",
        outside,
        f"the shipped noise at epsilon {outside}, delta {delta}",
    )
    return decision(
        "It follows from Theorem 3.2 where that theorem speaks, for epsilon up to log(1/delta). Outside, the step on repeated "
        "records fails: "
        f"at epsilon {epsilon} and delta {delta} it would need {float(spent):.3g} <= {float(allowed):.3g}. Whether the claim "
        "fails there is "
        "open.",
        f"{float(spent):.3g} > {float(allowed):.3g}; {price_of(shipped):.4g} of {outside} by an accountant",
        computed(
            _in_theorem(epsilon, delta), f"Theorem 3.2 covers epsilon {epsilon} and delta {delta}", about="step", expects=False
        ),
        computed(
            spent <= allowed, f"{float(spent):.3g} <= {float(allowed):.3g}, as the proof needs there", about="step", expects=False
        ),
        computed(_in_theorem(Fraction(inside), delta), f"it covers epsilon {inside} and delta {delta}", about="repair"),
        shipped,
        survives("kernel_releases", runs),
        proof("KernelMarginClassifier"),
    )


@_claim(
    "A24",
    "Corollary F.2",
    quote=r"Then  $w^{\mathsf{Priv}}$  is  $(\varepsilon, \delta)$  differentially private",
    promised="A margin chosen at epsilon/2 and a learner at (epsilon/2, delta) are (epsilon, delta)-private together.",
    expects=Standing.HOLDS,
    number="epsilon 1 of 1",
    code=("learners/margins/margin_search.py:MarginSearch",),
)
def _a24(runs: int) -> Found:
    """The lemma, and the best composition of the two promises."""
    parts = (pure_dp(epsilon=_HALF, adjacency="replace_one"), approx_dp(epsilon=_HALF, delta=_MILLIONTH, adjacency="replace_one"))
    witness = priced(compose(*parts), _MILLIONTH, 1, "the worst pairs of both promises, composed exactly")
    return decision(
        "They are. The worst mechanisms that keep the two promises keep the third together, with nothing to spare.",
        f"epsilon {price_of(witness):.4g} of 1",
        lemma("two promises add up", "composition.approximate", "composition.basic", where="every epsilon > 0 and delta in [0, 1)"),
        witness,
        survives("margin_choice", runs),
        proof("MarginSearch"),
    )


ITEMS: Final = (_a3, _a4, _a5, _a10, _a13, _a24)
"""All of them."""
