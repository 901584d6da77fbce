"""Candidates: targets described before they are run, in processes of their own, one for each name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dpaudit.auditor.request import entry_of
from dpaudit.auditor.supervision.apart import NO_RESULT, run_apart
from dpaudit.auditor.supervision.child import Json, Send
from dpaudit.auditor.supervision.limits import Limits
from dpaudit.auditor.verdict.verdicts import summary_of
from dpaudit.codec import decode, encode
from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure
from dpaudit.loading import Reference, each_target
from dpaudit.results import ClaimSummary, Settings, TargetResult, Verdict
from dpaudit.targets import Target

NO_CLAIM: Final = ClaimSummary(kind="unknown", parameters=(), adjacency="", text="unknown")
_TARGET_CODES: Final = "DPA4"
_MOST_TWICE: Final = 20_000
"""Of larger data neighbours are made once, where the target is run, which takes seconds: what is refused there fails the target."""


@dataclass(frozen=True)
class Candidate:
    """A target as data: `text` and `place` are those of its `Reference`, "" for an object, `refusal` an error's code and text."""

    name: str
    description: str
    claim: ClaimSummary
    source: tuple[str, int] | None
    proof: str
    text: str
    place: int
    refusal: tuple[str, str] = ("", "")

    @property
    def reference(self) -> str | None:
        """The address that loads this one target again, None for an object."""
        return Reference(self.text, self.place).address or None

    def failed(self, failure: DpauditError, summary: str = "The target could not be audited.") -> TargetResult:
        """Return the result of a target that could not be audited."""
        source = self.source or _line_of(self.text, failure)
        return TargetResult(
            self.name, self.description, self.claim, Verdict.FAILED, summary, self.reference, source, failure=str(failure)
        )


def candidate_of(target: Target, text: str = "", place: int = 0) -> Candidate:
    """Describe a loaded target."""
    claim = summary_of(target.claim, None)
    return Candidate(target.name, target.description, claim, target.source, target.proof, text, place)


def candidates_of(names: Sequence[str], settings: Settings, limits: Limits) -> list[list[Candidate]]:
    """Describe the targets of each name, loaded in processes of their own."""
    found: dict[int, list[Candidate]] = {}
    # Names of installed packages can share a process: loading one of them does nothing to the others.
    together = [place for place, name in enumerate(names) if is_bundled(name)]
    if len(together) > 1:
        found |= _describe_apart([(place, names[place]) for place in together], settings, limits)
    for place, name in enumerate(names):
        if not found.get(place) or any(one.refusal[0] for one in found[place]):
            found |= _describe_apart([(place, name)], settings, limits)
    for one in (one for listed in found.values() for one in listed):
        if one.refusal[0] and not one.refusal[0].startswith(_TARGET_CODES) and one.claim != NO_CLAIM:
            code, message = one.refusal
            where = "" if one.source is None else f", {one.source[0]}:{one.source[1]}"
            raise InvalidArgument(code, f"target {one.name}{where}: {message}")
    return [found[place] for place in range(len(names))]


def is_bundled(name: str) -> bool:
    """True if a name is looked up in installed packages."""
    return ":" not in name and not name.endswith(".py")


def _describe_apart(names: Sequence[tuple[int, str]], settings: Settings, limits: Limits) -> dict[int, list[Candidate]]:
    """Describe targets by the place of their name, as far as one process came; a single name at which it ended is refused."""
    found: dict[int, list[Candidate]] = {}

    def work(send: Send) -> Json:
        for place, name in names:
            candidates = tuple(_describe(name, settings))
            send([place, encode(candidates, tuple[Candidate, ...])])
        return None

    def hear(message: Json) -> None:
        place, candidates = message
        if place in {place for place, _ in names}:
            found[place] = list(decode(candidates, tuple[Candidate, ...], "candidates"))

    try:
        run_apart(work, limits, hear)
        error: DpauditError = TargetFailure("DPA413", "it ended its process before its targets were known.")
    except (ValueError, TypeError):
        error = TargetFailure("DPA413", NO_RESULT)
    except TargetFailure as failure:
        error = failure
    place, name = names[0]
    if len(names) == 1 and not found.get(place):
        refusal = TargetFailure(error.code, f"{name} could not be loaded: {error.message}")
        found[place] = [_refused_candidate(name, refusal, name, 0)]
    return found


def _describe(name: str, settings: Settings) -> Iterator[Candidate]:
    """Load the targets of one name, which runs the user's code, and check each as the audit will."""
    try:
        targets = each_target(name, data=settings.data, asked=settings.asked)
    except DpauditError as error:
        yield _refused_candidate(name, error, name, 0)
        return
    for place, target in enumerate(targets):
        if isinstance(target, TargetFailure):
            yield _refused_candidate(name if len(targets) == 1 else f"{name}[{place}]", target, name, place)
            continue
        candidate = candidate_of(target, name, place)
        if hasattr(target.data, "__len__") and len(target.data) > _MOST_TWICE:
            yield candidate
            continue
        try:
            entry_of(target, Reference(name, place, settings.data, settings.asked), settings, None)
        except DpauditError as error:
            candidate = replace(candidate, refusal=(error.code, error.message))
        yield candidate


def _refused_candidate(name: str, error: DpauditError, text: str, place: int) -> Candidate:
    """Return the candidate of a name that gives no target."""
    return Candidate(name, "", NO_CLAIM, _line_of(text, error), "", text, place, (error.code, error.message))


def _line_of(text: str, error: DpauditError) -> tuple[str, int] | None:
    """Return file and line of what failed to load: where the file raised, else its first line; None where no file was named."""
    file = text if text.endswith(".py") else text.rpartition(":")[0]
    path = Path(file if file.endswith(".py") else file.replace(".", "/") + ".py")
    if not file or not path.is_file():
        return None
    cause, lines = error.__cause__, [1]
    if isinstance(cause, SyntaxError) and cause.filename and os.path.realpath(cause.filename) == str(path.resolve()):
        lines.append(cause.lineno or 1)
    trace = None if cause is None else cause.__traceback__
    while trace is not None:
        if os.path.realpath(trace.tb_frame.f_code.co_filename) == str(path.resolve()):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return (path.as_posix() if not path.is_absolute() else path.name), lines[-1]
