"""The command line: a group whose verbs are imported when they run, and one place where errors become exit codes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

import dpaudit
from dpaudit.cli.console import asks_for_json, emit_error
from dpaudit.errors import DpauditError, EngineDisagreement, EntropyFailure, LedgerFailure, LedgerRefusal, TargetFailure, origin_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VERBS: Final = {
    "account": "Price a composition: certified epsilon and delta.",
    "audit": "Audit privacy claims: proof, price, attack, checks, verdict.",
    "calibrate": "Find the least noise that meets a budget.",
    "config": "Show every option, its value and where it is from.",
    "diff": "Say what changed from one report to the next.",
    "executors": "Check whether an executor does what an audit needs.",
    "explain": "Say what an error code means and what to do.",
    "init": "Draft a file of claims from functions that look like releases.",
    "ledger": "Keep privacy budgets that programs share.",
    "membership": "Bound privacy by scores of canaries.",
    "prove": "Prove or refute claims from the source of functions.",
    "replay": "Make the recorded runs of a report again and compare.",
    "report": "Show a report again, or write it in another form.",
    "samples": "Audit a claim by two files of outputs.",
    "scan": "Read code for mistakes in its use of privacy.",
    "targets": "List the bundled targets.",
}
"""Every verb with its line in the help; its module has its name and holds a command of its name."""


class Verbs(click.Group):
    """A group that imports a verb when it is run, and turns every error into a line and an exit code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What stands before the verb; a mistake there is a JSON document too, where the verb was to give one."""
        asks_for_json(ctx, args)
        own = args[: args.index("--")] if "--" in args else args
        if "--debug" in own:  # wherever it stands
            args = ["--debug", *(word for word in own if word != "--debug"), *args[len(own) :]]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            emit_error(ctx, "usage", error.format_message())
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The verb of that name, imported now."""
        if cmd_name not in VERBS:
            return None
        command = getattr(import_module(f"dpaudit.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command), "every module of VERBS holds its command"  # noqa: S101
        from dpaudit.cli.settings import name_variables

        name_variables(command, cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb with the defaults that the project's settings give it."""
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(_no_verb(args), ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None and not ctx.resilient_parsing:
            ctx.default_map = {name: defaults(name, command)}
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs that begin so, without importing them, or options."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=line) for name, line in VERBS.items() if name.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of verbs, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; its errors end the program with the code that design and documentation state."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            emit_error(ctx, "usage", error.format_message())
            raise
        except DpauditError as error:
            emit_error(ctx, error.code, error.message)
            _complain(ctx, f"{error}", hint=f"`dpaudit explain {error.code}` says more.")
            ctx.exit(exit_code_of(error))
        except KeyboardInterrupt:
            emit_error(ctx, "interrupted", "interrupted before there was anything to report")
            _complain(ctx, "interrupted.")
            ctx.exit(_exit_code("inconclusive"))
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - the last resort for everything unforeseen
            emit_error(ctx, "internal", f"internal error: {origin_of(error)}")
            _complain(
                ctx,
                f"internal error: {origin_of(error)}. This is a bug in dpaudit; no verdict can be taken from this run.",
                hint="Please report it with what `dpaudit --debug ...` prints for the same command.",
            )
            ctx.exit(_exit_code("internal"))


def _no_verb(args: list[str]) -> str:
    """Say that the first word is no verb, and which one was probably meant."""
    from dpaudit.blame import meant

    if ".py" in args[0] or ":" in args[0]:
        return f"No such command {args[0]!r}. To audit what it holds, write: dpaudit audit {' '.join(args)}"
    return f"No such command {args[0]!r}{meant(args[0], VERBS)}. Commands are {', '.join(VERBS)}."


def defaults(verb: str, command: click.Command) -> dict[str, Any]:
    """What the nearest pyproject.toml says of a verb; nothing where there is none."""
    from pathlib import Path

    from dpaudit.cli.settings import find, read

    path = find(Path.cwd())
    return {} if path is None else read(path, verb, command, VERBS)


_HELP: Final = """Check differential privacy claims before shipping them.

\b
dpaudit audit                                       a dozen releases of real records, half of them broken
dpaudit audit --all                                 every bundled target
dpaudit audit zoo                                   known mechanisms, broken and sound
dpaudit audit papers                                claims of published papers, decided one by one
dpaudit audit release.py:mean --epsilon 1 --data people.csv   a function of your own on your own records
dpaudit init release.py                             a file of claims, drafted from its functions

\b
Exit codes: 0 every claim survives, 1 a claim is refuted, 2 wrong usage,
3 inconclusive or interrupted, 4 a target failed to load or to run,
5 a budget ledger refused, 6 an internal error.
"""


def _show_completion(ctx: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    """Print what a shell has to run, imported when it is asked for."""
    if shell is not None:
        from dpaudit.cli.completion import show_completion

        show_completion(ctx, parameter, shell)


@click.group(
    cls=Verbs,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpaudit.__version__, prog_name="dpaudit", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, envvar="DPAUDIT_DEBUG", help="Print the traceback of an error; it may quote data.")
@click.option(
    "--show-completion",
    type=click.Choice(["bash", "fish", "zsh"]),
    is_eager=True,
    expose_value=False,
    callback=_show_completion,
    help="Print what a shell runs to complete this command line.",
)
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:  # noqa: FBT001 - click gives flags by position
    """Begin a command; `debug` is read where errors are handled, here and in the processes of targets."""
    if debug:
        from dpaudit.blame import debugging

        token = debugging.set(True)
        ctx.call_on_close(lambda: debugging.reset(token))


def exit_code_of(error: DpauditError) -> int:
    """The exit code that an error of dpaudit stands for."""
    if isinstance(error, TargetFailure):
        return _exit_code("failed")
    if isinstance(error, (LedgerFailure, LedgerRefusal)):
        return _exit_code("ledger")
    return _exit_code("internal" if isinstance(error, (EngineDisagreement, EntropyFailure)) else "usage")


def _exit_code(name: str) -> int:
    """The exit code of that name; the table is imported when it is needed, since help is not."""
    from dpaudit.results import EXIT_CODES

    return EXIT_CODES[name]


def _complain(ctx: click.Context, message: str, hint: str = "") -> None:
    """Tell the person at the terminal what went wrong; the traceback only on request."""
    if ctx.params.get("debug"):
        import traceback

        click.echo(traceback.format_exc(), err=True)
    for line in (f"error: {message}", hint):
        if line:
            click.echo("".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line), err=True)
