"""The options that say how functions without a Target are audited, and what of a run counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from dpaudit.plain.asked import Asked

NAMES: Final = ("epsilon", "delta", "adjacency", "unit", "columns", "arguments", "most_runs", "streams", "timing")
"""The parameters that these options fill."""

_OPTIONS: Final = (
    click.option("--epsilon", metavar="E", help="Claim of functions without a Target; passed to their argument epsilon."),
    click.option("--delta", metavar="D", help="Delta of that claim; 0 unless given."),
    click.option("--adjacency", metavar="KIND", help="Its neighbouring relation, such as replace_one; add_remove unless given."),
    click.option("--unit", metavar="user:COLUMN", help="Whose records change: all with one value of a column, instead of one."),
    click.option("--columns", multiple=True, metavar="NAME,...", help="Columns of the data that the function takes."),
    click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A further argument; repeat it for more."),
    click.option("--most-runs", type=int, metavar="N", help="Most runs of each target, for slow functions."),
    click.option("--streams", is_flag=True, help="What a run prints to standard output and standard error counts as output."),
    click.option("--timing", is_flag=True, help="Test the time that runs take as well, on this machine; a statement of its own."),
)


def plain_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_asked(given: dict[str, Any]) -> Asked | None:
    """Return what the options ask; None where none of them is given."""
    from dpaudit.plain.asked import asked_of
    from dpaudit.targets import FEWEST_RUNS

    return asked_of(**{name: given[name] for name in NAMES}, fewest=FEWEST_RUNS)
