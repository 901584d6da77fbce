"""`dpaudit calibrate`: the parameter of an expression that just meets a budget, certified from both sides."""

from __future__ import annotations

import click

from dpaudit.accounting.budgets.calibration import Calibration
from dpaudit.accounting.budgets.calibration import calibrate as search
from dpaudit.cli import VERBS
from dpaudit.cli.console import emit, emit_json, json_option
from dpaudit.cli.expressions import UNKNOWN, loss_of
from dpaudit.exact import outward


@click.command("calibrate", short_help=VERBS["calibrate"])
@click.argument("expression")
@click.option("--epsilon", required=True, metavar="E", help="The budget, in nats.")
@click.option("--delta", required=True, metavar="D", help="The budget; 0 for pure differential privacy.")
@click.option("--low", default="1e-3", show_default=True, metavar="X", help="Where the search begins.")
@click.option("--high", default="1e6", show_default=True, metavar="X", help="Where the search ends.")
@click.option("--increasing", is_flag=True, help="The loss grows with the parameter (a sensitivity, a sampling rate).")
@click.option("--precision", default="1e-6", show_default=True, metavar="R", help="Relative precision of the parameter.")
@click.option("--adjacency", metavar="NAME", help="Neighbouring relation of every law that states none.")
@json_option
def calibrate(  # noqa: PLR0913 - one argument for each option
    *,
    expression: str,
    epsilon: str,
    delta: str,
    low: str,
    high: str,
    increasing: bool,
    precision: str,
    adjacency: str | None,
    as_json: bool,
) -> None:
    """Find the least noise that meets a budget: EXPRESSION holds a ? for the parameter, as in '100 * gaussian(sigma=?)'."""
    if UNKNOWN not in expression:
        raise click.UsageError("the expression needs a ? where the parameter stands, as in 'gaussian(sigma=?)'.")
    found = search(
        lambda parameter: loss_of(expression, adjacency=adjacency, unknown=parameter),
        epsilon=epsilon, delta=delta, low=low, high=high, increasing=increasing, precision=precision,
    )  # fmt: skip
    if as_json:
        emit_json({"expression": expression, **_plain(found)})
    else:
        emit(_text(found, expression))


def _plain(found: Calibration) -> dict[str, object]:
    """The answer as plain data, exact."""
    return {
        "parameter": str(found.parameter), "parameter_float": float(found.parameter),
        "beyond": str(found.beyond), "tight": found.tight,
        "reached": [str(end) for end in (found.reached.lower, found.reached.upper)],
        "missed": [str(end) for end in (found.missed.lower, found.missed.upper)],
    }  # fmt: skip


def _text(found: Calibration, expression: str) -> str:
    """The answer for a person."""
    value, beyond = (
        outward(parameter, digits=10, up=found.parameter > found.beyond) for parameter in (found.parameter, found.beyond)
    )
    sides = "certainly breaks it" if found.tight else "is not known to meet it; the accounting leaves open whether it does"
    return (
        f"? = {value} in {expression}\n"
        f"meets the budget by the certified upper end, {found.reached}; {beyond} {sides}, {found.missed}.\n"
        f"exactly: {found.parameter}\n"
    )
