"""Anchors: heads of a ledger kept elsewhere, which show later that it was rolled back, or that two of it live on."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.extras import require
from dpaudit.ledger.entries import ChainHead, now, printable
from dpaudit.ledger.places import is_server, open_store
from dpaudit.ledger.state import State

_GIT_SECONDS: Final = 60


@dataclass(frozen=True)
class Anchor:
    """One head of one ledger, as it was at a time.

    Args:
      ledger: identity of the ledger.
      head: NUMBER:HASH of its newest entry.
      time: in UTC, ISO 8601 to the second.
    Source: docs/ledger.md, "Anchors".
    Example:
      >>> Anchor("c0ffee", "1:" + "0f" * 32, "2026-01-01T00:00:00Z").ledger
      'c0ffee'
    """

    ledger: str
    head: str
    time: str


def write_anchor(place: str | os.PathLike[str], to: str | os.PathLike[str], *, commit: bool = False) -> Anchor:
    """Add the newest entry of a ledger to a file of anchors, or to a table of a second database.

    Args:
      place: the ledger.
      to: a file, which is made if it is not there, or the address of a database of somebody else than the ledger's owner.
      commit: True to commit the file to the git repository that it is in.
    Returns:
      The anchor, which is durable.
    Raises:
      InvalidArgument: the file cannot be written (DPA503), or `commit` of a database (DPA106).
      LedgerFailure: the ledger, the database or git cannot be used (DPA804).
    Source: docs/ledger.md, "Anchors".
    Example:
      >>> import tempfile
      >>> from dpaudit.ledger import Ledger
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     _ = Ledger.create(f"{folder}/budget.ledger")
      ...     anchor = write_anchor(f"{folder}/budget.ledger", f"{folder}/anchors")
      ...     anchors_of(f"{folder}/anchors") == [anchor]
      True
    """
    store = open_store(place)
    name, newest = store.read(lambda state: (state.name(), state.newest()))
    store.settle(newest)  # an anchor must never be ahead of what a loss of power leaves
    anchor = Anchor(name, str(newest.head), now())
    if is_server(to):
        if commit:
            raise InvalidArgument("DPA106", "a database is in no git repository. Anchor to a file.")
        _insert(str(to), anchor)
        return anchor
    path = Path(to)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(anchor), sort_keys=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InvalidArgument("DPA503", f"{printable(path.name)} cannot be written ({error.strerror}).") from error
    if commit:
        _git(path, "add", "--", path.name)
        _git(path, "commit", "--quiet", "--message", f"Anchor {anchor.head[:24]} of ledger {name[:8]}", "--", path.name)
    return anchor


def anchors_of(place: str | os.PathLike[str]) -> list[Anchor]:
    """Read anchors, those of a file in a git repository also as they were last committed; DPA801 for anything else.

    Args:
      place: a file, or the address of a database.
    Returns:
      Every anchor, the oldest first.
    Raises:
      InvalidArgument: nothing there, or something else than anchors (DPA801).
      LedgerFailure: the database cannot be used (DPA804).
    Source: docs/ledger.md, "Anchors".
    Example:
      >>> anchors_of("/none")
      Traceback (most recent call last):
      dpaudit.errors.InvalidArgument: DPA801 none holds no anchors (FileNotFoundError). Write some with `dpaudit ledger anchor`.
    """
    if is_server(place):
        return _selected(str(place))
    path = Path(place)
    try:
        texts = [path.read_text(encoding="utf-8"), _committed(path)]
        found = [_anchor(line) for text in texts for line in text.splitlines()]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidArgument(
            "DPA801", f"{printable(path.name)} holds no anchors ({type(error).__name__}). Write some with `dpaudit ledger anchor`."
        ) from None
    return list(dict.fromkeys(found))


def compare_with_anchors(place: str | os.PathLike[str], anchors: Sequence[Anchor]) -> tuple[str, ...]:
    """Compare a ledger with its anchors.

    Args:
      place: the ledger.
      anchors: at least one of them of this ledger.
    Returns:
      Problems: entries that were cut off, and the place from which another history was written; empty where there are none.
    Raises:
      InvalidArgument: no anchor is of this ledger (DPA106).
      LedgerFailure: the ledger cannot be used (DPA804, DPA805).
    Source: docs/ledger.md, "Anchors".
    Example:
      >>> import tempfile
      >>> from dpaudit.ledger import Ledger
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     ledger = Ledger.create(f"{folder}/budget.ledger")
      ...     compare_with_anchors(f"{folder}/budget.ledger", [Anchor(ledger.name, "2:" + "0f" * 32, "2026-01-01T00:00:00Z")])
      ('rolled back: entry 2 was there at 2026-01-01T00:00:00Z, and the ledger ends with entry 1',)
    """

    def question(state: State) -> tuple[str, ...]:
        name, newest = state.name(), state.newest()
        mine = sorted({(ChainHead.of(anchor.head), anchor.time) for anchor in anchors if anchor.ledger == name}, key=_order)
        if not mine:
            raise InvalidArgument("DPA106", "none of these anchors is of this ledger. Give the anchors that were made of it.")
        last, problems = 0, []
        for head, time in mine:
            entry = state.entry(head.number)
            if entry is None:
                problems.append(
                    f"rolled back: entry {head.number} was there at {time}, and the ledger ends with entry {newest.number}"
                )
            elif entry.head != head:
                problems.append(f"forked: entry {head.number} is not the one of {time}; the last that agrees is {last or 'none'}")
            else:
                last = head.number
        return tuple(problems)

    return open_store(place).read(question)


def _order(anchor: tuple[ChainHead, str]) -> tuple[int, str]:
    """The order of anchors: by number, then by time."""
    return anchor[0].number, anchor[1]


def _anchor(line: str) -> Anchor:
    """Read an anchor; an error of Python for a line that is none."""
    anchor = Anchor(**json.loads(line))
    ChainHead.of(anchor.head)
    if not all(isinstance(text, str) and text.isprintable() for text in asdict(anchor).values()):
        raise ValueError("an anchor is three texts")
    return anchor


def _committed(path: Path) -> str:
    """Return the file as git has it, nothing where git knows nothing of it."""
    try:
        return _git(path, "show", f"HEAD:./{path.name}")
    except LedgerFailure:
        return ""


def _git(path: Path, *words: str) -> str:
    """Run git beside a file; DPA804 where it fails."""
    try:
        command = ["git", "-C", str(path.absolute().parent), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)  # noqa: S603 - no shell
    except (OSError, subprocess.SubprocessError) as error:
        raise LedgerFailure("DPA804", f"git cannot be run ({type(error).__name__}).") from error
    if done.returncode:
        said = printable((done.stderr or done.stdout).strip().splitlines()[-1:][0] if (done.stderr or done.stdout).strip() else "")
        raise LedgerFailure("DPA804", f"git {words[0]} failed: {said}. The anchor is in the file, and not committed.")
    return done.stdout


def _insert(url: str, anchor: Anchor) -> None:
    """Write an anchor to the table of a second database."""
    _on_server(
        url,
        [
            ("CREATE TABLE IF NOT EXISTS dpaudit_anchor (ledger text NOT NULL, head text NOT NULL, time text NOT NULL)", ()),
            ("INSERT INTO dpaudit_anchor VALUES (%s, %s, %s)", tuple(asdict(anchor).values())),
        ],
    )


def _selected(url: str) -> list[Anchor]:
    """Read the anchors of a second database."""
    return [Anchor(*map(str, row)) for row in _on_server(url, [("SELECT ledger, head, time FROM dpaudit_anchor", ())])]


def _on_server(url: str, statements: Iterable[tuple[str, tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """Run statements in the database's own schema, durably; the rows of the last."""
    require("postgres")
    from dpaudit.ledger.server import run

    return run(url, statements)
