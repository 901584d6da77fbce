"""Scanning: files in, findings out, and everything that was not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpaudit.errors import InvalidArgument
from dpaudit.scan.checks import noise, releases, scales, training
from dpaudit.scan.reading import Cell, Source, Unread, files_in, read
from dpaudit.scan.rules import RULES, Finding
from dpaudit.scan.scopes import follow

_CHECKS = (noise.check, scales.check, releases.check, training.check)


@dataclass(frozen=True)
class Scan:
    """What a scan found, and what it did not read.

    Args:
      findings: lines that break a rule, in the order of files and lines.
      read: number of files that were read.
      unread: files and cells that were not, each with its reason.
      suppressed: number of findings that comments suppress.
    Example:
      >>> Scan(findings=(), read=3, unread=(), suppressed=0).broken
      ()
    """

    findings: tuple[Finding, ...]
    read: int
    unread: tuple[Unread, ...]
    suppressed: int

    @property
    def broken(self) -> tuple[Unread, ...]:
        """What should have been read and could not be."""
        return tuple(one for one in self.unread if one.kind not in {"sign", "test"})


def scan(paths: Sequence[str], *, ignore: Iterable[str] = (), select: Iterable[str] = (), tests: bool = False) -> Scan:
    """Read Python files and notebooks for mistakes in the use of differential privacy; nothing of them is imported or run.

    Args:
      paths: files and folders; folders are searched, hidden ones and environments left out.
      ignore: codes of rules to leave out.
      select: codes of the only rules to use; all where none is given.
      tests: whether to read files of tests, too.
    Returns:
      The findings, and what was not read. No finding does not mean that the code is private.
    Raises:
      InvalidArgument: a path does not exist, or a code is none.
    Example:
      >>> import tempfile
      >>> folder = tempfile.TemporaryDirectory()
      >>> written = Path(folder.name, "release.py").write_text("import random; total = random.gauss(sum(ages), 1 / epsilon)")
      >>> [one.code for one in scan([folder.name]).findings]
      ['DP101', 'DP102', 'DP302']
    """
    left_out, chosen = _codes(ignore), _codes(select)
    for given in paths:
        if not Path(given).exists():
            raise InvalidArgument("DPA105", f"there is no file or folder {given}. Paths are taken relative to the current folder.")
    findings: list[Finding] = []
    unread: list[Unread] = []
    count = suppressed = 0
    for path in files_in(paths, tests=tests):
        if isinstance(path, Unread):
            unread.append(path)
            continue
        source, lacking = read(path)
        unread.extend(lacking)
        if source is None:
            continue
        try:
            found = _found(source)
        except RecursionError:
            unread.append(Unread(source.path, "syntax", "nested too deeply to be followed"))
            continue
        count += 1
        wanted = [one for one in found if one.code not in left_out and (not chosen or one.code in chosen)]
        kept = [one for one in wanted if not _is_suppressed(one, source)]
        suppressed += len(wanted) - len(kept)
        findings.extend(kept)
    return Scan(tuple(findings), count, tuple(unread), suppressed)


def _codes(given: Iterable[str]) -> frozenset[str]:
    """Return codes of rules; InvalidArgument for one that is none."""
    codes = frozenset(part.strip().upper() for one in given for part in one.split(",") if part.strip())
    if unknown := sorted(codes - set(RULES)):
        raise InvalidArgument("DPA504", f"there is no rule {unknown[0]}. `dpaudit scan --explain all` lists them.")
    return codes


def _found(source: Source) -> list[Finding]:
    """Return the findings of one file, by line, each once."""
    module = follow(source)
    places: dict[tuple[str, int | None, int], Finding] = {}
    for check in _CHECKS:
        for code, cell, line, text in check(module):
            places.setdefault((code, cell.number, line), _finding(source, code, cell, line, text))
    return sorted(places.values(), key=lambda one: (one.cell or 0, one.cell_line or one.line, one.code))


def _finding(source: Source, code: str, cell: Cell, line: int, text: str) -> Finding:
    """Return a finding at its place in the file."""
    return Finding(code, source.path, cell.place(line), text, cell.number, line if cell.number is not None else None)


def _is_suppressed(finding: Finding, source: Source) -> bool:
    """True if a comment on the line, or alone on the line before, suppresses the rule."""
    return finding.code in source.suppressed.get((finding.cell, finding.cell_line or finding.line), ())
