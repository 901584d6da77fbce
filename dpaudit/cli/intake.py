"""The targets that a command line names: those that can be audited, and those that cannot, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.results import ClaimSummary, Settings, TargetResult, Verdict
from dpaudit.targets import Reference, broken_bundles, bundled_targets, load_targets

NO_CLAIM = ClaimSummary(kind="unknown", parameters=(), adjacency="", text="unknown")


@dataclass(frozen=True)
class Intake:
    """What was named, in order: a reference to a target that can be audited, or the result of one that cannot."""

    items: tuple[Reference | TargetResult, ...]

    @property
    def references(self) -> list[Reference]:
        """The targets that can be audited."""
        return [item for item in self.items if isinstance(item, Reference)]

    def merged(self, results: Sequence[TargetResult]) -> tuple[TargetResult, ...]:
        """All results in the order of the names; `results` are those of `references`, perhaps fewer."""
        audited = iter(results)
        found = (item if isinstance(item, TargetResult) else next(audited, None) for item in self.items)
        return tuple(result for result in found if result is not None)


def take_in(names: Sequence[str], settings: Settings) -> Intake:
    """Load every target that is named, or all bundled ones, and see whether its datasets can be used.

    Args:
      names: as given on the command line; none for all bundled targets.
      settings: of the audit; its data file replaces the records of every target.
    Returns:
      The targets, in the order of the names.
    Raises:
      InvalidArgument: nothing is named and nothing is bundled (DPA109), or a setting does not fit a target (DPA103).
      TargetFailure: the data file cannot be read (DPA406).
    Source: design, "Verdict and exit codes": one target that fails does not hide the others.
    """
    if settings.data is not None:
        from dpaudit.records import read_csv

        read_csv(settings.data)
    items = [item for name in names or bundled_targets() for item in _loaded(name, settings)]
    if not names:
        items += [_failed(location, error) for location, error in broken_bundles().items()]
    if not items:
        raise InvalidArgument("DPA109", "no target is bundled with the installed packages. Name one, FILE.py:NAME or MODULE:NAME.")
    return Intake(tuple(items))


def _loaded(name: str, settings: Settings) -> Iterator[Reference | TargetResult]:
    """The targets of one name, each checked as the audit will check it."""
    from dpaudit.auditor.request import entry_of

    try:
        targets = load_targets(name, data=settings.data)
    except DpauditError as error:
        yield _failed(name, error)
        return
    for position, target in enumerate(targets):
        reference = Reference(name, position, settings.data)
        try:
            entry_of(target, reference, settings, None)
        except DpauditError as error:
            if not error.code.startswith("DPA4"):
                raise
            yield _failed(target.name, error)
        else:
            yield reference


def _failed(name: str, error: DpauditError) -> TargetResult:
    """The result of a target that could not be audited."""
    return TargetResult(name, "", NO_CLAIM, Verdict.FAILED, "The target could not be audited.", failure=str(error))
