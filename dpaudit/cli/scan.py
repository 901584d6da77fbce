"""`dpaudit scan`: mistakes in code that uses differential privacy, found by reading it."""

from __future__ import annotations

from pathlib import Path

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option, say
from dpaudit.errors import InvalidArgument


@click.command("scan", short_help=VERBS["scan"])
@click.argument("paths", metavar="[PATH]...", nargs=-1, shell_complete=file_paths)
@click.option("--select", multiple=True, metavar="CODES", help="Use these rules only, such as DP201,DP202.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Leave out these rules.")
@click.option("--tests", is_flag=True, help="Read files of tests, too.")
@click.option("--explain", metavar="CODE", help="Say what a rule means and what to write instead; `all` lists the rules.")
@click.option("--sarif", metavar="FILE", help="Write the findings as SARIF.")
@click.option("--github", is_flag=True, help="Print a workflow command of GitHub for each finding to stderr.")
@json_option
@click.pass_context
def scan(  # noqa: PLR0913 - one argument for each option
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    tests: bool,
    explain: str | None,
    sarif: str | None,
    github: bool,
    as_json: bool,
) -> None:
    """Read Python files and notebooks for mistakes in the use of differential privacy; no target, and nothing of them is run.

    `# dpaudit: ignore[DP101] reason` on the line, or alone on the line before, suppresses a finding; the reason is required.

    Exit codes: 0 no finding, 1 findings, 3 no finding, but a file or cell could not be read. No finding does not mean private.
    """
    import dpaudit
    from dpaudit.scan import forms, scanning

    if explain is not None:
        _explain(explain, as_json=as_json)
        return
    if not paths:
        raise click.UsageError("Missing argument '[PATH]...'. To scan the current folder, write: dpaudit scan .", ctx)
    found = scanning.scan(paths, select=select, ignore=ignore, tests=tests)
    if sarif is not None:
        _write(Path(sarif), forms.to_sarif(found, dpaudit.__version__))
    if github and found.findings:
        say(forms.to_annotations(found).rstrip("\n"))
    if as_json:
        emit_json(forms.to_document(found))
    else:
        emit(forms.to_text(found))
    ctx.exit(1 if found.findings else 3 if found.broken else 0)


def _write(path: Path, text: str) -> None:
    """Write a file; InvalidArgument where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument("DPA503", f"{path} cannot be written ({error.strerror}). Name another file.") from error


def _explain(code: str, *, as_json: bool) -> None:
    """Print what a rule means, or the list of all."""
    from dataclasses import asdict

    from dpaudit.scan.rules import RULES

    if code.lower() == "all":
        if as_json:
            emit_json({"rules": {key: asdict(rule) for key, rule in RULES.items()}})
        else:
            emit("".join(f"{key}  {rule.level:7}  {rule.title}\n" for key, rule in RULES.items()))
        return
    rule = RULES.get(code.upper())
    if rule is None:
        raise InvalidArgument("DPA504", f"there is no rule {code!r}. `dpaudit scan --explain all` lists them.")
    if as_json:
        emit_json({"code": code.upper(), **asdict(rule)})
    else:
        meaning, remedy = click.wrap_text(rule.meaning, 100), click.wrap_text(rule.remedy, 100)
        emit(f"{code.upper()} {rule.title} ({rule.level})\n\n{meaning}\n\nWhat to do:\n{remedy}\n")
