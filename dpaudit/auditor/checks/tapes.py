"""A tape of releases: on one dataset it keeps what every release read and gave, on another it gives the same outputs back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dpaudit.auditor.data.records import copy_of
from dpaudit.releases import Hold, Release

_Output = TypeVar("_Output")


@dataclass
class Held:
    """One release: what was logged of it, the values that it read and the outputs that it gave, in their order.

    Most releases read one value; an open run of comparisons reads one for each question.
    """

    release: Release
    values: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)


class Recorder:
    """Keeps the releases of one run in memory, and gives recorded outputs in place of its own.

    Args:
      recorded: entries of a run on another dataset whose outputs are given back, place by place; nothing is given back without.
    """

    def __init__(self, recorded: Sequence[Held] = ()) -> None:
        """Start an empty tape."""
        self.entries: list[Held] = []
        self._recorded = recorded

    def hold(self, release: Release) -> Hold:
        """A place on the tape for one release."""
        place = len(self.entries)
        entry = Held(release)
        self.entries.append(entry)
        given = self._recorded[place].outputs if place < len(self._recorded) else []

        def held(value: Any, output: _Output) -> _Output:
            number = len(entry.outputs)
            result = copy_of(given[number]) if number < len(given) else output
            entry.values.append(copy_of(value))
            entry.outputs.append(copy_of(result))
            return result

        return held
