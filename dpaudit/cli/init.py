"""`dpaudit init`: a file of claims drafted from the functions of a file that look like releases."""

from __future__ import annotations

from pathlib import Path

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option, say
from dpaudit.errors import InvalidArgument


@click.command("init", short_help=VERBS["init"])
@click.argument("file", metavar="FILE.py", shell_complete=file_paths)
@click.option("--output", metavar="FILE.py", help="The file to write; audit_FILE.py beside it unless given.")
@json_option
def init(*, file: str, output: str | None, as_json: bool) -> None:
    """Draft a file of claims for the functions that look like releases; nothing of FILE.py is run.

    The draft says what to fill in, and is audited by `dpaudit audit audit_FILE.py --data FILE.csv`. A file that exists is never
    overwritten.
    """
    from dpaudit.blame import meant
    from dpaudit.plain.drafting import candidates, draft

    source = Path(file)
    if not source.is_file() or source.suffix != ".py":
        near = meant(source.name, (one.name for one in source.parent.glob("*.py"))) if source.parent.is_dir() else ""
        raise InvalidArgument("DPA105", f"no Python file {file}{near}. Paths are taken relative to the current folder.")
    written = source.with_name(f"audit_{source.name}") if output is None else Path(output)
    text = draft(source, written)
    try:
        with written.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise InvalidArgument("DPA503", f"{written} exists and is not overwritten. Name another file with --output.") from error
    except OSError as error:
        raise InvalidArgument(
            "DPA503", f"{written} cannot be written ({error.strerror}). Name another file with --output."
        ) from error
    found = list(candidates(source))
    if as_json:
        named = [{"name": one.name, "line": one.line, "reasons": list(one.reasons)} for one in found]
        emit_json({"written": str(written), "functions": named})
    for one in () if as_json else found:
        emit(f"{file}:{one.line}  {one.name}  {', '.join(one.reasons)}\n")
    say(f"written: {written}. Fill in what is marked FILL IN, then: dpaudit audit {written} --data FILE.csv")
