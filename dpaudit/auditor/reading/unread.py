"""Count of outputs that were not read whole, since something of them has no column: by type, never by value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from dpaudit.auditor.reading.features import FeatureMap, Form, limit_forms, pattern_of
from dpaudit.auditor.reading.leaves import Path, stable_code
from dpaudit.auditor.reading.outputs import REORDERED, Group
from dpaudit.results import Unread

NEW_KEYS: Final = "keys first seen after the pilot"

_FEW: Final = 3
"""Contents that may have been seen only once, as rare words of a fixed list are; more are taken for contents that never repeat."""

_RARE_KEYS: Final = 2000
"""Outputs with new keys are not counted while they are fewer than one in so many, about the runs of a pilot."""

_ENOUGH: Final = 30
"""Outputs of a late form that a pilot needs to judge it by: fewer do not outweigh what is seen in all other outputs."""

_MOST_CONTENTS: Final = 200_000
_MOST_FORMS: Final = 256

_Place: TypeAlias = tuple[str, int]
_Contents: TypeAlias = tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Account:
    """Account of what was read of the outputs of a chunk.

    `unread` of `runs` outputs hold something that no column shows, `reasons` by name; `new_keys` have keys that the map does not
    know where keys vary; `further` counts, by type, those of forms that the map was widened by; `contents` are codes that tell
    outputs apart only where they repeat, by kind and place; `late` are forms with places that the map does not know.
    """

    runs: int = 0
    unread: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    new_keys: int = 0
    further: tuple[tuple[str, int], ...] = ()
    contents: tuple[tuple[_Place, _Contents], ...] = ()
    late: tuple[Form, ...] = ()


NOTHING: Final = Account()


def account_of(features: FeatureMap, grouped: Sequence[Group], runs: int) -> Account:
    """Count what a feature map reads of outputs that are grouped already.

    An output is read if each of its numbers has a column, its own or one of a block, or is, where items or keys vary from output to
    output, at one more place like those that have one, where sum and largest show it. Codes of contents have to repeat.
    """
    unread = new_keys = 0
    reasons: Counter[str] = Counter()
    further: Counter[str] = Counter()
    contents: dict[_Place, Counter[float]] = {}
    late: dict[Form, None] = {}
    for group in grouped:
        size = len(group.values)
        missing = [] if group.paths == features.paths else [path for path in group.paths if path not in features.known]
        names = list(group.unread)
        if missing:
            late[Form(group.kind, group.paths, group.shape)] = None
            if any(pattern_of(path) not in features.open for path in missing):
                names.append(f"a form first seen after the pilot ({group.shape})")
            else:
                new_keys += size * any(_has_key(path) for path in missing)
        if features.further and not features.further.isdisjoint(group.paths):
            further[group.shape] += size
        if names or group.reordered:
            unread += size if names else group.reordered
            reasons.update(dict.fromkeys(names, size))
            reasons.update({REORDERED: group.reordered} if group.reordered else {})
        for column, content in group.codes:
            place = (f"{content} values", stable_code(repr(pattern_of(group.paths[column]))))
            values, counts = np.unique(group.values[:, column], return_counts=True)
            contents.setdefault(place, Counter()).update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        if group.mixed:
            contents.setdefault(("forms of nested outputs", 0), Counter())[float(stable_code(group.kind))] += size
    return Account(
        runs=runs,
        unread=unread,
        reasons=tuple(sorted(reasons.items())),
        new_keys=new_keys,
        further=tuple(sorted(further.items())),
        contents=tuple((place, tuple(sorted(found.items()))) for place, found in sorted(contents.items())),
        late=limit_forms(late, _MOST_FORMS),
    )


def join_accounts(accounts: Iterable[Account]) -> Account:
    """Join the accounts of the parts of a chunk."""
    whole, late = Tally(), dict[Form, None]()
    for account in accounts:
        whole.add(account, math.inf)
        late.update(dict.fromkeys(account.late))
    return Account(
        runs=whole.runs,
        unread=whole.unread,
        reasons=tuple(sorted(whole.reasons.items())),
        new_keys=whole.new_keys,
        further=tuple(sorted(whole.further.items())),
        contents=tuple((place, tuple(sorted(found.items()))) for place, found in sorted(whole.contents.items())),
        late=limit_forms(late, _MOST_FORMS),
    )


def _has_key(path: Path) -> bool:
    """True if a place is under a key of a mapping or a name."""
    return any(isinstance(part, str) and pattern_of((part,)) == ("*",) for part in path)


@dataclass
class Tally:
    """Accounts of many chunks together."""

    runs: int = 0
    unread: int = 0
    new_keys: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    further: Counter[str] = field(default_factory=Counter)
    contents: dict[_Place, Counter[float]] = field(default_factory=dict)

    def add(self, account: Account | Tally, most: float = _MOST_CONTENTS) -> None:
        """Count one more chunk, or another tally; no more than about so many contents of a place."""
        self.runs += account.runs
        self.unread += account.unread
        self.new_keys += account.new_keys
        self.reasons.update(dict(account.reasons))
        self.further.update(dict(account.further))
        for place, found in account.contents if isinstance(account, Account) else account.contents.items():
            known = self.contents.setdefault(place, Counter())
            # Contents of so many kinds hardly repeat, whatever comes.
            if len(known) < most:
                known.update(dict(found))


def unread_in(pilots: Iterable[Tally], later: Iterable[Tally] = ()) -> Unread | None:
    """Sum up what was not read in several stages; None where everything was."""
    pilots = list(pilots)
    parts, whole = [*pilots, *later], Tally()
    for part in parts:
        whole.add(part, math.inf)
    reasons, most = dict(whole.reasons), whole.unread
    if whole.new_keys * _RARE_KEYS > whole.runs:
        reasons[NEW_KEYS], most = whole.new_keys, most + whole.new_keys
    for name in sorted({name for pilot in pilots for name, count in pilot.further.items() if count < _ENOUGH}):
        reasons[f"a form seen too rarely to be judged ({name})"] = whole.further[name]
        most += whole.further[name]
    for place in sorted(whole.contents):
        found = (tally.contents.get(place, Counter()).values() for tally in (whole, *parts))
        once = max(sum(count == 1 for count in counts) for counts in found)
        if once > _FEW:
            hardly = f"{place[0]} that hardly repeat"
            reasons[hardly], most = max(once, reasons.get(hardly, 0)), max(most, once)
    if not reasons:
        return None
    return Unread(min(most, whole.runs), whole.runs, tuple(sorted(reasons, key=lambda name: (-reasons[name], name))))
