"""How far a long command is, on stderr: a bar on a terminal, elsewhere a line about every ten seconds, as logs of CI want it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Final

from dpaudit.cli.console import say

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import ProgressColumn

    from dpaudit.auditor import Progress

SECONDS_BETWEEN_LINES: Final = 10.0


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """A function to call with how far an audit is."""
    if not sys.stderr.isatty():
        write = timed_lines("audit")
        yield lambda progress: write(line_of(progress))
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
    )
    with _display(*columns) as display:
        bar = display.add_task("loading", total=1.0)
        refuted = set[int]()

        def tell(progress: Progress) -> None:
            if progress.log10_wealth >= progress.log10_threshold:
                refuted.add(progress.position)
            so_far = f", {len(refuted)} refuted so far" if refuted else ""
            display.update(bar, completed=progress.fraction, description=described(progress) + so_far)
            display.refresh()

        yield tell


@contextmanager
def program_counter() -> Iterator[Callable[[str], None]]:
    """A function to call with the name of each program before it is verified."""
    if not sys.stderr.isatty():
        write, number = timed_lines("prove"), count(1)
        yield lambda name: write(f"program {next(number)}, {_program(name)}")
        return
    from rich.progress import TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TextColumn("{task.completed} done"), TimeElapsedColumn())
    with _display(*columns) as display:
        line = display.add_task("loading", total=None, completed=-1)

        def tell(name: str) -> None:
            display.update(line, advance=1, description=_program(name))
            display.refresh()

        yield tell


def timed_lines(
    verb: str, *, clock: Callable[[], float] = time.monotonic, write: Callable[[str], None] = say
) -> Callable[[str], None]:
    """A function that writes a text with the time elapsed, at most every ten seconds, and nothing in the first ten.

    It writes only when it is called: a thread that wrote by itself would not survive the forks in which targets run.
    """
    began = clock()
    due = began + SECONDS_BETWEEN_LINES

    def tell(text: str) -> None:
        nonlocal due
        now = clock()
        if now >= due:
            due = now + SECONDS_BETWEEN_LINES
            write(f"{verb}: {_printable(text)}, {timedelta(seconds=int(now - began))} elapsed")

    return tell


def described(progress: Progress) -> str:
    """The state of an audit in few words: which target, which stage, how much speaks against the claim."""
    name = progress.target if len(progress.target) <= 24 else f"{progress.target[:21]}..."
    evidence = f", evidence 10^{progress.log10_wealth:.1f} of 10^{progress.log10_threshold:.1f}" if progress.done else ""
    return f"{progress.position + 1}/{progress.count} {name}: {progress.stage}{evidence}"


def line_of(progress: Progress) -> str:
    """The state of an audit for a log: which target of how many, which stage, and the share of the target's runs that is done."""
    share = f" ({min(100, 100 * progress.done // progress.planned)} % of its runs)" if progress.planned else ""
    return f"target {progress.position + 1} of {progress.count}, {progress.target}, stage {progress.stage}{share}"


def _program(name: str) -> str:
    """The last part of a program's name, which tells programs apart."""
    return name.rpartition(".")[2][:32]


def _printable(text: str) -> str:
    """The text with control characters escaped, so that the name of a target cannot write lines of its own."""
    from dpaudit.report.terminal import printable

    return printable(text)


def _display(*columns: ProgressColumn) -> Display:
    """A display on stderr that is gone when it is left."""
    from rich.console import Console
    from rich.progress import Progress as Display

    # No thread refreshes it: targets run in processes that are forked from this one, and a fork copies no thread.
    return Display(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False, auto_refresh=False
    )
