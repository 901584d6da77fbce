"""`dpaudit membership`: scores of canaries against a claim, or bounds alone where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option
from dpaudit.errors import InvalidArgument
from dpaudit.exact import outward

if TYPE_CHECKING:
    from dpaudit.auditor.membership.scores import DPSGD, ScoreAudit
    from dpaudit.claims import Claim

_CURVE_POINTS: Final = 40
_UNCHECKED: Final = (
    "that each canary was decided by a fair coin of its own before training, and that scores look at nothing but what was released"
)


@click.command("membership", short_help=VERBS["membership"])
@click.argument("scores", metavar="SCORES", shell_complete=file_paths)
@click.option("--delta", required=True, metavar="D", help="Bound epsilon at this delta; also the delta of --epsilon.")
@click.option("--epsilon", metavar="E", help="Test the claim of this epsilon at delta.")
@click.option("--mu", metavar="M", help="Test the claim of mu-GDP instead.")
@click.option(
    "--design", type=click.Choice(["one_run", "many_runs"]), default="one_run", show_default=True, help="Runs behind the scores."
)
@click.option("--rate", metavar="Q", help="Also bound epsilon within DP-SGD of this sampling rate.")
@click.option("--steps", type=int, metavar="N", help="Steps of that DP-SGD.")
@click.option("--noise", metavar="S", help="Its claimed noise multiplier, which weights scores that have one for each step.")
@click.option("--alpha", default="0.05", metavar="P", show_default=True, help="Probability that a bound is wrong.")
@click.option("--plot", metavar="FILE.svg", help="Draw the rates at all thresholds beside what the claim allows.")
@json_option
@click.pass_context
def membership(  # noqa: PLR0913 - one argument for each option
    ctx: click.Context,
    *,
    scores: str,
    delta: str,
    epsilon: str | None,
    mu: str | None,
    design: str,
    rate: str | None,
    steps: int | None,
    noise: str | None,
    alpha: str,
    plot: str | None,
    as_json: bool,
) -> None:
    """Bound epsilon by scores of canaries, each put in or left out by a fair coin of its own before training.

    SCORES is a csv file with the header included,score and a line for each canary (several score columns are steps), or the same as
    tsv, jsonl, npy or npz. Exit code 1 if the claim is refuted, 3 if it is not, 0 without a claim.
    """
    from dpaudit.auditor.membership import DPSGD, audit_scores, read_scores

    if (rate is None) != (steps is None) or (noise is not None and rate is None):
        raise click.UsageError("--rate, --steps belong together; --noise needs both.")
    if plot is not None and Path(plot).suffix.lower() != ".svg":
        raise InvalidArgument("DPA503", f"plots are written as SVG, got {Path(plot).name}. Choose a name that ends in .svg.")
    family = None if rate is None or steps is None else DPSGD(rate=rate, steps=steps, noise_multiplier=noise)
    claim = _claim(epsilon, mu, delta)
    values, included = read_scores(scores)
    found = audit_scores(values, included, claim=claim, design=design, delta=delta, alpha=alpha, law=family)
    document = _document(found, family)
    if plot is not None:
        from dpaudit.report import write_text
        from dpaudit.report.roc_file import roc_file

        write_text(roc_file(found.roc, _allowed(claim), canaries=found.nested.canaries), Path(plot))
    if as_json:
        emit_json({"membership": document})
    else:
        emit(_text(document))
    ctx.exit(0 if claim is None else 1 if found.refuted else 3)


def _claim(epsilon: str | None, mu: str | None, delta: str) -> Claim | None:
    """Return the claim that the options state, if any."""
    from dpaudit.claims import GDP, ApproxDP, Claim, PureDP
    from dpaudit.exact import in_range

    if epsilon is not None and mu is not None:
        raise click.UsageError("give --epsilon or --mu, not both.")
    if mu is not None:
        return Claim(GDP(mu=mu))
    if epsilon is None:
        return None
    return Claim(ApproxDP(epsilon, delta) if in_range(delta, "delta", lower=0, upper=1, upper_open=True) else PureDP(epsilon))


def _document(found: ScoreAudit, family: DPSGD | None) -> dict[str, Any]:
    """Everything found, as plain data: each bound with its assumption and error probability."""
    free = {"delta": str(found.delta), "for": "any mechanism", "assumes": found.assumption}
    bounds: list[dict[str, Any]] = [
        {"quantity": "epsilon", "at_least": str(found.epsilon), **free},
        {"quantity": "mu", "at_least": str(found.mu), "for": "a mechanism that is mu-GDP", "assumes": found.assumption},
    ]
    if family is not None:
        inside = found.within(family)
        bounds.append(
            {
                "quantity": "epsilon",
                "at_least": str(inside.epsilon),
                "delta": str(found.delta),
                "for": f"DP-SGD of rate {family.rate} and {family.steps} steps, or less than it shows",
                "noise_multiplier_at_most": inside.noise_multiplier,
                "assumes": inside.assumption,
            }
        )
    return {
        "design": found.design,
        "canaries": found.nested.canaries,
        "alpha": str(found.alpha),
        "error": "each bound alone is wrong with probability at most alpha",
        "bounds": bounds,
        "not_checked": _UNCHECKED,
        "claim": None if found.claim is None else str(found.claim),
        "p_value": None if found.claim is None else found.p_value,
        "refuted": None if found.claim is None else found.refuted,
        "counts": {"guessed": list(found.nested.guessed), "correct": list(found.nested.correct)},
        "roc": [list(point) for point in found.roc],
    }


def _text(document: dict[str, Any]) -> str:
    """The findings for a person."""
    from fractions import Fraction

    design, alpha = document["design"].replace("_", " "), float(Fraction(document["alpha"]))
    lines = [f"{document['canaries']} canaries, {design}; each bound alone is wrong with probability at most {alpha:g}.", ""]
    for bound in document["bounds"]:
        at = f" at delta = {float(Fraction(bound['delta'])):g}" if "delta" in bound else ""
        least = outward(Fraction(bound["at_least"]), digits=4, up=False)
        lines += [f"{bound['quantity']} >= {least}{at}, for {bound['for']}", f"    assumes: {bound['assumes']}"]
    if document["claim"] is not None:
        verdict = "refuted" if document["refuted"] else "not refuted (inconclusive)"
        lines += ["", f"{document['claim']}: {verdict}, p = {document['p_value']:.3g}"]
    return "\n".join([*lines, "", f"Not checked: {document['not_checked']}.", ""])


def _allowed(claim: Claim | None) -> list[tuple[float, float]]:
    """The largest rate of true positives that a claim allows at rates of false positives, from its trade-off curve."""
    if claim is None:
        return []
    from dpaudit.accounting import loss_of_claim

    loss = loss_of_claim(claim)
    rates = [10 ** (-5 * (1 - step / _CURVE_POINTS)) for step in range(_CURVE_POINTS)]
    return [(rate, 1 - loss.tradeoff(alpha=rate, of="profile").floats()[0]) for rate in rates] + [(1.0, 1.0)]
