"""A progress bar on stderr while an audit runs; nothing where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.auditor import Progress


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None] | None]:
    """A function to tell how far an audit is, or None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Display

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
    )
    # No thread refreshes it: targets run in processes that are forked from this one, and a fork copies no thread.
    with Display(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False, auto_refresh=False
    ) as display:
        bar = display.add_task("loading", total=1.0)

        def tell(progress: Progress) -> None:
            display.update(bar, completed=progress.fraction, description=described(progress))
            display.refresh()

        yield tell


def described(progress: Progress) -> str:
    """The state of an audit in few words: which target, which stage, how much speaks against the claim."""
    name = progress.target if len(progress.target) <= 24 else f"{progress.target[:21]}..."
    evidence = f", evidence 10^{progress.log10_wealth:.1f} of 10^{progress.log10_threshold:.1f}" if progress.done else ""
    return f"{progress.position + 1}/{progress.count} {name}: {progress.stage}{evidence}"
