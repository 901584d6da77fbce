"""`dpaudit samples`: a claim against two files of outputs, with the report and the exit codes of an audit."""

from __future__ import annotations

from pathlib import Path

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import json_option
from dpaudit.cli.folders import make_folder
from dpaudit.cli.outputs import DOCUMENT, PAGE, forms, print_report, write_folder, write_forms


@click.command("samples", short_help=VERBS["samples"])
@click.argument("first", metavar="FIRST", shell_complete=file_paths)
@click.argument("second", metavar="SECOND", shell_complete=file_paths)
@click.option("--epsilon", required=True, metavar="E", help="The claimed epsilon.")
@click.option("--delta", default="0", metavar="D", show_default=True, help="The claimed delta.")
@click.option("--adjacency", default="add_remove", metavar="NAME", show_default=True, help="How the two datasets differ.")
@click.option("--alpha", default="0.001", metavar="P", show_default=True, help="Probability of refuting a claim that holds.")
@click.option("--seed", type=int, default=0, metavar="N", show_default=True, help="Root of the random order of the rows.")
@click.option("--report", "folder", metavar="DIR", help=f"Write {PAGE} and {DOCUMENT} to this folder.")
@json_option
@forms
@click.option("--show-values", is_flag=True, help="Show values of the outputs in the report, which then says so.")
@click.pass_context
def samples(  # noqa: PLR0913 - one argument for each option
    ctx: click.Context,
    *,
    first: str,
    second: str,
    epsilon: str,
    delta: str,
    adjacency: str,
    alpha: str,
    seed: int,
    folder: str | None,
    as_json: bool,
    junit: str | None,
    sarif: str | None,
    github: bool,
    show_values: bool,
) -> None:
    """Audit a claim by outputs that were collected elsewhere, in any language: a bound and a verdict.

    FIRST and SECOND hold independent outputs on two neighbouring datasets, one for each run: npy, npz, csv, tsv, parquet, json
    (a list), jsonl or ndjson; any other ending means lines of text. Some rows choose an event, the others decide.
    """
    from dpaudit.auditor import audit_samples
    from dpaudit.claims import ApproxDP, Claim, PureDP
    from dpaudit.exact import in_range

    guarantee = ApproxDP(epsilon, delta) if in_range(delta, "delta", lower=0, upper=1, upper_open=True) else PureDP(epsilon)
    for place in (folder, *(Path(file).parent for file in (junit, sarif) if file is not None)):
        if place is not None:
            make_folder(Path(place))
    report = audit_samples(
        first, second, claim=Claim(guarantee, adjacency=adjacency), alpha=alpha, seed=seed, show_values=show_values
    )
    path = None if folder is None else write_folder(report, Path(folder))
    write_forms(report, junit=junit, sarif=sarif, github=github)
    print_report(report, path, as_json=as_json)
    ctx.exit(report.exit_code)
