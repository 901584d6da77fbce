"""The report as one HTML page: no script, no outside reference, readable on a phone and on paper; same report, same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from dpaudit.exact import instance_of
from dpaudit.report import reading, wording
from dpaudit.report.answers import Answers, answers
from dpaudit.report.document import SCHEMA_VERSION, audit_command, reproduce_command
from dpaudit.report.plots import Plot, profile_plot, tradeoff_plot, wealth_plot
from dpaudit.results import Report, TargetResult

if TYPE_CHECKING:
    from jinja2 import Template

_SHORTEST_SCALE: Final = 1.25
_LONGEST_SCALE: Final = 4.0


@dataclass(frozen=True)
class Bar:
    """One bar of the comparison with the claim: certain up to `sure`, possible up to `length`, in percent of the width."""

    name: str
    sure: float
    length: float
    text: str


@dataclass(frozen=True)
class Section:
    """One target on the page: its result, its plots, and the bars that compare it with its claim at `claim`."""

    key: str
    result: TargetResult
    plots: tuple[Plot, ...]
    bars: tuple[Bar, ...]
    claim: float
    reproduce: str | None
    answers: Answers


def to_html(report: Report) -> str:
    """The report as a page.

    Args:
      report: what an audit found.
    Returns:
      A whole HTML document that loads nothing and runs nothing; what wants attention comes first.
    Raises:
      Nothing; every report has a page.
    Source: WCAG 2.2; design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> to_html(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=()))[:15]
      '<!DOCTYPE html>'
    """
    results = wording.by_urgency(instance_of(report, Report, "report").results)
    return template("page.html.j2").render(
        report=report,
        version=report.version,
        sections=[_section(report, result, f"t{place}") for place, result in enumerate(results, start=1)],
        verdicts=[verdict for verdict in wording.ORDER if any(result.verdict is verdict for result in report.results)],
        proofs={wording.proof_status(result.proof) for result in results},
        family=wording.family(report),
        terms=reading.terms(report),
        closing=reading.closing(report),
        release=reading.RELEASE,
        command=audit_command(report),
        schema=SCHEMA_VERSION,
        words=wording,
    )


@lru_cache
def template(name: str) -> Template:
    """A page's template, compiled once."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dpaudit.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["signs"] = lambda text: text.replace(">=", "\u2265").replace("<=", "\u2264")
    return environment.get_template(name)


def _section(report: Report, result: TargetResult, key: str) -> Section:
    """A target made ready for the template."""
    bets, bound = (None, None) if result.attack is None else (result.attack.sequential, result.attack.bound)
    drawn = (
        profile_plot(result.profile, result.name, f"{key}p"),
        tradeoff_plot(result.profile, bound, result.name, f"{key}t"),
        None if bets is None else wealth_plot(bets, result.name, f"{key}w"),
    )
    bars, claim = _bars(result)
    return Section(
        key,
        result,
        tuple(plot for plot in drawn if plot is not None),
        bars,
        claim,
        reproduce_command(result),
        answers(report, result),
    )


def _bars(result: TargetResult) -> tuple[tuple[Bar, ...], float]:
    """Attack, price and proof as shares of what the claim allows, and where the claim is on their scale."""
    attack, price = wording.shares(result)
    ends = [attack or 0.0, price[1] if price is not None else 0.0]
    scale = min(max(_SHORTEST_SCALE, 1.08 * max(ends)), _LONGEST_SCALE)
    bars = []
    if attack is not None and attack > 0:
        length = 100 * min(attack / scale, 1)
        bars.append(Bar("attack", length, length, f"at least {_percent(attack)} of what is claimed{_beyond(attack, scale)}"))
    if price is not None:
        low, high = map(_percent, price)
        sure, length = (100 * min(max(end / scale, 0), 1) for end in price)
        text = high if low == high else f"{low} to {high}"
        bars.append(Bar("price", sure, length, f"{text} of what is claimed{_beyond(price[1], scale)}"))
    status = wording.proof_status(result.proof)
    shown = 100 / scale if status in ("proven", "in part") else 0.0
    if shown:
        bars.append(Bar("proof", shown * (status == "proven"), shown, wording.proof_steps(result.proof)))
    return tuple(bars), 100 / scale


def _percent(share: float) -> str:
    """A share of the claim with three digits."""
    return f"{100 * share:.3g} %" if share < 10 else f"{share:,.3g} times"


def _beyond(share: float, scale: float) -> str:
    """A note where a bar is longer than its scale."""
    return "; the bar is cut off" if share > scale else ""
