"""Completion in a shell: what may stand where, and the line that switches it on; click does the rest."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class


def file_paths(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The files of the current folder, which the shell knows better."""
    return [CompletionItem(incomplete, type="file")]


def target_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Bundled targets and groups of them that begin so; files where none does."""
    from dpaudit.dossier import DOSSIERS
    from dpaudit.loading import ZOO, bundled_targets

    named = [name for name in (*DOSSIERS, *ZOO, *bundled_targets()) if name.startswith(incomplete)]
    return [CompletionItem(name) for name in named] or file_paths(ctx, parameter, incomplete)


def error_codes(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes of errors that begin so, in small or capital letters, with their titles."""
    from dpaudit.errors import CODES

    return [CompletionItem(code, help=entry.title) for code, entry in CODES.items() if code.startswith(incomplete.upper())]


def show_completion(ctx: click.Context, _parameter: click.Parameter, shell: str | None) -> None:
    """Print what a shell has to run to complete the command line, and end."""
    if shell is None or ctx.resilient_parsing:
        return
    made = get_completion_class(shell)
    assert made is not None, "click knows these shells"  # noqa: S101
    name = ctx.find_root().info_name or "dpaudit"
    source = made(ctx.command, {}, name, f"_{name.upper()}_COMPLETE").source()
    # click's script for fish cuts a description at its first comma.
    click.echo(source.replace('string split "," $completion', 'string split --max 1 "," $completion'))
    ctx.exit()
