"""`dpaudit account`: the certified price of a composition, from an expression or a file of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import click

from dpaudit.accounting import PrivacyLoss, compose
from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option
from dpaudit.cli.curves import CURVES, draw_curve
from dpaudit.cli.expressions import file_loss, loss_of
from dpaudit.exact import Enclosure, in_range, shown

USUAL_DELTA: Final = "1e-6"
"""Asked for when no question is given."""

ROUNDING: Final = 1e-9
"""A number of floats that misses the interval by less, relatively, is said to lie at it."""


@click.command("account", short_help=VERBS["account"])
@click.argument("expressions", nargs=-1, metavar="[EXPRESSION]...")
@click.option(
    "--events",
    "files",
    multiple=True,
    metavar="FILE",
    shell_complete=file_paths,
    help="Add the events of a JSON or TOML file.",
)
@click.option("--delta", "deltas", multiple=True, metavar="D", help="Give epsilon at this delta.  [default: 1e-6]")
@click.option("--epsilon", "epsilons", multiple=True, metavar="E", help="Give delta at this epsilon.")
@click.option("--adjacency", metavar="NAME", help="Neighbouring relation of every law that states none.")
@click.option("--why", is_flag=True, help="Print theorems, assumptions and error terms.")
@click.option("--plot", metavar="FILE.svg", help="Draw a curve, both ends.")
@click.option(
    "--curve",
    type=click.Choice(CURVES),
    default=CURVES[0],
    show_default=True,
    help="What --plot draws: delta over epsilon, errors of the best test, or epsilon after each release.",
)
@click.option("--compare", is_flag=True, help="Print the numbers of other accountants beside the interval.")
@json_option
def account(  # noqa: PLR0913 - one argument for each option
    *,
    expressions: tuple[str, ...],
    files: tuple[str, ...],
    deltas: tuple[str, ...],
    epsilons: tuple[str, ...],
    adjacency: str | None,
    why: bool,
    plot: str | None,
    curve: str,
    compare: bool,
    as_json: bool,
) -> None:
    """Price everything together: certified intervals for epsilon at a delta, or delta at an epsilon.

    EXPRESSION is a composition such as '1000 * gaussian(sigma=1) + laplace(scale=2)'; several are composed.
    """
    if not expressions and not files:
        raise click.UsageError("give an expression such as 'gaussian(sigma=1)', or --events FILE.")
    losses = [loss_of(text, adjacency=adjacency) for text in expressions]
    losses += [file_loss(Path(name), adjacency=adjacency) for name in files]
    loss = compose(*losses)
    answers = _answers(loss, deltas if deltas or epsilons else (USUAL_DELTA,), epsilons)
    if compare:
        for answer in answers:
            answer["others"] = _others(loss, answer)
    if plot is not None:
        draw_curve(curve, losses, answers, Path(plot))
    if as_json:
        emit_json({"loss": loss.describe(), "adjacency": str(loss.adjacency), "answers": answers})
    else:
        emit(_text(loss, answers, why=why))


def _answers(loss: PrivacyLoss, deltas: Sequence[str], epsilons: Sequence[str]) -> list[dict[str, Any]]:
    """Every question with its interval, exact and as floats rounded outward."""
    found = []
    for text in deltas:
        delta = in_range(text, "delta", lower=0, upper=1, upper_open=True)
        found.append(("delta", delta, "epsilon", loss.epsilon(delta=delta)))
    for text in epsilons:
        epsilon = in_range(text, "epsilon", lower=0, upper=2**1000)
        found.append(("epsilon", epsilon, "delta", loss.delta(epsilon=epsilon)))
    return [_answer(*entry) for entry in found]


def _answer(given: str, value: Fraction, asked: str, interval: Enclosure) -> dict[str, Any]:
    """One question with its interval as plain data."""
    low, high = interval.floats()
    return {
        "given": given, "at": str(value), "asked": asked,
        "lower": str(interval.lower), "upper": str(interval.upper),
        "lower_float": _finite(low), "upper_float": _finite(high),
        "shown": str(interval), "why": interval.why(),
    }  # fmt: skip


def _finite(value: float) -> float | str:
    """A float that JSON can hold."""
    return value if abs(value) < float("inf") else str(value)


def _text(loss: PrivacyLoss, answers: Sequence[dict[str, Any]], *, why: bool) -> str:
    """The answers for a person."""
    lines = [f"{loss}", ""]
    for answer in answers:
        at = shown(Fraction(answer["at"]))
        lines.append(f"{answer['given']} = {at}: {answer['asked']} {_between(answer['shown'])}")
        lines += [f"    {other['accountant']}: {_beside(other, answer)}" for other in answer.get("others", ())]
        if why:
            lines += [f"    {line}" for line in answer["why"].splitlines()]
    return "\n".join([*lines, ""])


def _others(loss: PrivacyLoss, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What other accountants answer to the same question."""
    from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
    from dpaudit.interop.accountants import ask_peers

    at = Fraction(answer["at"])
    question = EpsilonAt(at) if answer["given"] == "delta" else DeltaAt(at)
    found = (asdict(peer) for peer in ask_peers(loss, question))
    return [{**peer, "value": None if peer["value"] is None else _finite(peer["value"])} for peer in found]


def _beside(other: dict[str, Any], answer: dict[str, Any]) -> str:
    """A number of another accountant, and where it lies beside the interval."""
    value = other["value"]
    if value is None:
        return f"no number: {other['why']}"
    number, lower, upper = float(value), float(answer["lower_float"]), float(answer["upper_float"])
    if number < lower:
        return (
            f"{value:.10g}, BELOW what is certainly lost" if number < lower * (1 - ROUNDING) else f"{value:.10g}, at the interval"
        )
    if number <= upper * (1 + ROUNDING):
        return f"{value:.10g}, {'in' if number <= upper else 'at'} the interval"
    return f"{number:.10g}" + (f", {100 * (number / upper - 1):.3g} % above the interval" if upper else ", above the interval")


def _between(interval: str) -> str:
    """An interval in words of mathematics."""
    return f"in {interval}" if interval.startswith("[") else f"= {interval}"
