"""Features: any output as a row of finite numbers, by a map that is fixed before the runs that decide."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.leaves import LARGEST, OWN, Path, stable_code
from dpaudit.auditor.reading.outputs import Group, Matrix, Outputs, groups, parse_output
from dpaudit.auditor.reading.precision import COLUMNS, Fine, columns_of
from dpaudit.auditor.reading.shapes import shape_of
from dpaudit.auditor.reading.wide import NORMS, Couple, Lens, norms

MAX_ITEMS: Final = 32
"""Outputs with more numbers than this are read as sums of that many blocks, less one for each number with a column of its own."""

_MOST_OWN: Final = 28
"""Places of wide outputs that get columns of their own because they varied at first."""

ITEMS: Final = 0
DERIVED: Final = (1, 2)
"""Groups of columns: items of an output, and what follows from them (differences; sum, largest and its position, norms)."""

Places: TypeAlias = slice
"""Neighbouring columns within one part of the matrix."""

UNSEEN: Final = 1000
"""Forms of output that the map has not seen have codes from here on."""

_MOST_FURTHER: Final = 1024
"""Most places that are added to a map: their columns are 32 blocks anyway, and a map goes to every worker."""

_SIGNIFICAND: Final = 53
_NO_BIT: Final = 1100
"""Exponent in the place of that of 0, which has none: beyond those of all floats."""


class Form(NamedTuple):
    """A form of output, the places of its numbers, in which outputs of one form may differ, and the form in words."""

    kind: str
    paths: tuple[Path, ...]
    shape: str = "an output"


@dataclass(frozen=True)
class FeatureMap:
    """Map from outputs to rows of numbers.

    Args:
      kinds: forms of output seen when the map was made (type, length, keys); a form's code is its position.
      paths: places of numbers inside those outputs, in order.
      blocks: for each path the column it is added to.
      names: names of the columns of the matrix.
      parity, summaries, differences, length, score, bits: which columns there are besides: plain numbers even, odd or no integers;
        sum, largest and its position; differences of consecutive items; how many numbers there are; the target's own
        score; of plain floats the exponent, the lowest bit that is set and the last 8 bits.
      shapes: each of `kinds` in words that hold no value and no key.
      show_keys: whether keys of mappings may appear in names.
      open: patterns of places that some outputs of a type have and others lack, such as the items of lists of varying length;
        numbers at further places like these are read through sum, largest and length.
      further: places that the map was widened by, except those like others.
      norms: whether there are columns for the measures of wide outputs.
      chosen: places of wide outputs that have columns of their own, since they varied at first or a screening chose them.
      lens: learned scores and couples of numbers of wide outputs, None before a screening.
      fine: places whose precision and last bits have columns.
    """

    kinds: tuple[str, ...]
    paths: tuple[Path, ...]
    blocks: tuple[int, ...]
    names: tuple[str, ...]
    parity: bool = False
    summaries: bool = False
    differences: bool = False
    length: bool = False
    score: bool = False
    bits: bool = False
    shapes: tuple[str, ...] = ()
    show_keys: bool = False
    open: frozenset[Path] = frozenset()
    further: frozenset[Path] = frozenset()
    norms: bool = False
    chosen: frozenset[Path] = frozenset()
    lens: Lens | None = None
    fine: tuple[Fine, ...] = ()

    @cached_property
    def known(self) -> dict[Path, int]:
        """Columns of the places that have one, of their own or of a block."""
        return dict(zip(self.paths, self.blocks, strict=True))

    @property
    def groups(self) -> tuple[int, ...]:
        """Group of each column: items, differences, other summaries, and one for each further column."""
        items = max(self.blocks, default=-1) + 1
        sizes = (items, items - 1 if self.differences else 0, 3 * self.summaries + len(NORMS) * self.norms)
        known = [group for group, size in zip((ITEMS, *DERIVED), sizes, strict=True) for _ in range(size)]
        place = items + (1 if self.parity else 0) + (3 if self.bits else 0)
        rest = len(self.names) - len(known)
        further = list(range(max(DERIVED) + 1, max(DERIVED) + 1 + rest))
        return (*known[:items], *further[: place - items], *known[items:], *further[place - items :])

    def matrix(self, outputs: Outputs, score: Callable[[Any], float] | None = None, columns: Sequence[int] | None = None) -> Matrix:
        """Compute the features of outputs, one row each, all finite; where only some `columns` are asked for, others may be 0."""
        return self.matrix_of(list(groups(outputs)), outputs, score, columns)

    def matrix_of(
        self,
        grouped: Sequence[Group],
        outputs: Outputs,
        score: Callable[[Any], float] | None = None,
        columns: Sequence[int] | None = None,
    ) -> Matrix:
        """Compute the features of outputs that are grouped already."""
        matrix = np.zeros((len(outputs), len(self.names)), order="F")
        wanted = np.full(len(self.names), columns is None)
        wanted[list(columns or ())] = True
        for group in grouped:
            self._fill(matrix, group, wanted)
        if self.score and score is not None and wanted[self.names.index("score")]:
            matrix[:, self.names.index("score")] = [_score_output(score, output) for output in outputs]
        return matrix

    def kind_code(self, kind: str) -> float:
        """Number a form of output for the column "kind"."""
        # A form that the map has not seen is coded by itself alone, so that the row of an output depends on no other output.
        return float(self.kinds.index(kind)) if kind in self.kinds else float(UNSEEN + stable_code(kind))

    def legend(self) -> str:
        """Explain the codes of the column "kind", of forms that were seen when the map was made."""
        return ", ".join(f"{code} {kind if len(kind) <= 60 else kind[:57] + '...'}" for code, kind in enumerate(self.kinds))

    def _fill(self, matrix: Matrix, group: Group, wanted: NDArray[np.bool_]) -> None:
        """Write the rows of outputs that share one form; columns that are not wanted are not computed."""
        values, width = group.values, max(self.blocks, default=-1) + 1
        items = self._items(group, wanted[:width])
        plain = group.paths == ((),)
        scores, couples = self._learned(group)
        parts: list[tuple[bool, int, Callable[[Places], Matrix | float]]] = [
            (True, items.shape[1], lambda places: items[:, places]),
            (self.parity, 1, lambda _: _parity(values) if plain else 0.0),
            (self.bits, 3, lambda places: _bits(values)[:, places] if plain else 0.0),
            (self.differences, items.shape[1] - 1, lambda places: items[:, 1:][:, places] - items[:, :-1][:, places]),
            (self.summaries, 3, lambda places: _summaries(group.summed, places)),
            (self.norms, len(NORMS), lambda places: norms(group.summed, places)),
            (self.length, 1, lambda _: float(values.shape[1])),
            (True, 1, lambda _: self.kind_code(group.kind)),
            (bool(scores), len(scores), lambda places: np.column_stack([score() for score in scores[places]])),
            (bool(couples), len(couples), lambda places: np.column_stack([couple() for couple in couples[places]])),
            (bool(self.fine), COLUMNS * len(self.fine), lambda places: self._finely(group)[:, places]),
        ]
        first = 0
        for present, width, part in parts:
            if present:
                for places in _wanted_places(wanted[first : first + width]):
                    matrix[group.rows, first + places.start : first + places.stop] = part(places)
                first += width

    def _items(self, group: Group, wanted: NDArray[np.bool_]) -> Matrix:
        """Columns of items, or of sums of blocks of items; places that the map does not know are left out."""
        if group.paths == self.paths and len(wanted) == len(self.paths):
            return group.values
        items = np.zeros((len(group.values), len(wanted)), order="F")
        if group.paths == self.paths:
            starts, owners = self._segments
            segments = np.add.reduceat(group.values, starts, axis=1) if wanted.all() and len(starts) else None
            for number, owner in enumerate(owners.tolist()):
                if segments is not None:
                    items[:, owner] += segments[:, number]
                elif wanted[owner]:
                    part = group.values[:, starts[number] : starts[number + 1] if number + 1 < len(starts) else None]
                    items[:, owner] += np.add.reduceat(part, [0], axis=1)[:, 0]
            return items
        for position, path in enumerate(group.paths):
            if path in self.known and wanted[self.known[path]]:
                items[:, self.known[path]] += group.values[:, position]
        return items

    @cached_property
    def _segments(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the places of one column begin that stand next to each other, and which column that is."""
        owners = np.array(self.blocks, dtype=np.intp)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        return starts, owners[starts]

    def aligned(self, group: Group) -> Matrix:
        """Numbers of outputs of one form, a column for each place that the map knows, NaN where an output has none."""
        if group.paths == self.paths:
            return group.values
        places = {path: place for place, path in enumerate(self.paths)}
        values = np.full((len(group.values), len(self.paths)), np.nan)
        known = [position for position, path in enumerate(group.paths) if path in places]
        values[:, [places[group.paths[position]] for position in known]] = group.values[:, known]
        return values

    def _finely(self, group: Group) -> Matrix:
        """Columns of precision and last bits; those of 0 where an output has no such place."""
        none = np.zeros(len(group.values))
        places = {path: place for place, path in enumerate(group.paths)}
        found = [group.values[:, places[fine.path]] if fine.path in places else none for fine in self.fine]
        return np.column_stack([columns_of(values, fine) for values, fine in zip(found, self.fine, strict=True)])

    def _learned(self, group: Group) -> tuple[list[Callable[[], Matrix]], list[Callable[[], Matrix]]]:
        """Return functions for the columns of scores and couples that a screening found."""
        if self.lens is None:
            return [], []
        lens, values = self.lens, self.aligned(group)
        return lens.scores(values), [partial(couple.of, values, lens) for couple in lens.couples]


def fit_features(outputs: Sequence[Any], *, score: bool = False, show_keys: bool = False, bits: bool = False) -> FeatureMap:
    """Fit the feature map of a target to the few outputs that are read before the statistical test begins."""
    forms: dict[Form, None] = {}
    values: dict[Path, set[float | None]] = {}
    for number, output in enumerate(outputs):
        reading = parse_output(output)
        forms.setdefault(Form(reading.kind, reading.paths, shape_of(output)))
        missing = values.keys() - set(reading.paths)
        for path, value in (*zip(reading.paths, reading.leaves.values, strict=True), *((path, None) for path in missing)):
            values.setdefault(path, {None} if number else set()).add(value)
    # Places that stay the same so far share blocks, where a change of one still shows.
    varying = [path for path, found in values.items() if len(found) > 1]
    chosen = frozenset(varying if len(varying) <= _MOST_OWN < MAX_ITEMS < len(values) else ())
    start = FeatureMap((), (), (), (), score=score, show_keys=show_keys, bits=bits, chosen=chosen)
    return _map_of(start, forms)


def widen_map(features: FeatureMap, forms: Iterable[Form]) -> FeatureMap:
    """Add columns for further forms of output, which were met after the map was made."""
    seen, met = [], set(features.known)
    for form in limit_forms(forms, _MOST_FURTHER):
        met.update(form.paths)
        if len(met) > len(features.known) + _MOST_FURTHER:
            break
        seen.append(form)
    wider = _map_of(features, seen)
    added = (path for path in wider.paths if path not in features.known)
    return replace(wider, further=features.further.union(path for path in added if pattern_of(path) not in features.open))


def screened_map(features: FeatureMap, chosen: Iterable[int], lens: Lens) -> FeatureMap:
    """Give the chosen places of wide outputs columns of their own, and add those of a lens."""
    own = {features.paths[place] for place in chosen}
    both = own | features.chosen
    return _map_of(replace(features, chosen=frozenset(both if len(both) <= _MOST_OWN else own), lens=lens), [])


def finer_map(features: FeatureMap, fine: Iterable[Fine]) -> FeatureMap:
    """Add columns for the precision of some places."""
    return _map_of(replace(features, fine=(*features.fine, *fine)), [])


def single_places(features: FeatureMap) -> dict[Path, int]:
    """Return the columns of places that have one of their own and whose precision has none."""
    fine = {one.path for one in features.fine}
    shared = Counter(features.blocks)
    return {path: block for path, block in features.known.items() if shared[block] == 1 and path not in fine}


def own_places(features: FeatureMap) -> dict[int, int]:
    """Return the columns of places that have one of their own, by position among the places."""
    shared = Counter(features.blocks)
    return {place: block for place, block in enumerate(features.blocks) if shared[block] == 1}


def with_lens(features: FeatureMap, lens: Lens | None) -> FeatureMap:
    """Add the columns of a lens, if there is one."""
    return features if lens is None else _map_of(replace(features, lens=lens), [])


def limit_forms(forms: Iterable[Form], most: int) -> tuple[Form, ...]:
    """Keep at most so many forms, chosen by their codes: if the first were kept, early runs would look different from late ones."""
    found = tuple(dict.fromkeys(forms))
    return found if len(found) <= most else tuple(sorted(found, key=lambda form: stable_code(repr(form)))[:most])


def _map_of(features: FeatureMap, forms: Iterable[Form]) -> FeatureMap:
    """Extend a map by some forms."""
    forms = list(forms)
    shapes = dict(zip(features.kinds, features.shapes, strict=True))
    for form in forms:
        shapes.setdefault(form.kind, form.shape)
    met = {path for form in forms for path in form.paths}.difference(features.paths)
    paths = tuple(sorted({*features.paths, *met}, key=_order)) if met else features.paths
    width = min(len(paths), MAX_ITEMS)
    blocks = _blocks_of(paths, features.chosen)
    lens, before = features.lens, features.paths
    if lens is not None and before != paths:
        places = {path: place for place, path in enumerate(paths)}
        lens = lens.moved([places[path] for path in before], len(paths))
    lengths = {len(form.paths) for form in forms if form.paths != ((),)}
    plain = [form.kind for form in forms if form.paths == ((),)]
    parity = features.parity or any(kind.startswith(("int", "float", "uint")) for kind in plain)
    summaries = features.summaries or max(lengths, default=0) >= 2
    wide = summaries and len(paths) > width
    differences = summaries and len(paths) == width and all(path and isinstance(path[-1], int) for path in paths)
    length = features.length or len(lengths) > 1 or bool(features.paths and lengths)
    bits = features.bits and any(kind.startswith("float") for kind in (*features.kinds, *plain))
    names = _block_names(paths, blocks, show_keys=features.show_keys)
    names += ["parity"] if parity else []
    names += ["exponent", "lowest bit", "last 8 bits"] if bits else []
    names += [f"{after} - {before}" for before, after in pairwise(names[:width])] if differences else []
    names += ["sum", "largest", "position of largest"] if summaries else []
    names += NORMS if wide else []
    names += ["length"] if length else []
    names += ["kind"]
    names += [] if lens is None else [*lens.names, *(_couple_name(paths, couple, features.show_keys) for couple in lens.couples)]
    names += [f"{name}{_of_place(paths, fine.path, features.show_keys)}" for fine in features.fine for name in fine.names]
    names += ["score"] if features.score else []
    return replace(
        features,
        kinds=tuple(shapes),
        paths=paths,
        blocks=blocks,
        names=tuple(names),
        parity=parity,
        summaries=summaries,
        differences=differences,
        length=length,
        bits=bits,
        shapes=tuple(shapes.values()),
        open=features.open | _open_patterns(forms) if summaries else frozenset(),
        norms=wide,
        lens=lens,
    )


def _blocks_of(paths: tuple[Path, ...], chosen: frozenset[Path]) -> tuple[int, ...]:
    """Return the column of each place: its own if it is chosen or all have one, else that of a block of its neighbours."""
    others = len(paths) - len(chosen)
    width, own, seen, blocks = min(len(paths), MAX_ITEMS) - len(chosen), 0, 0, []
    for path in paths:
        if path in chosen:
            blocks.append(own)
            own += 1
        else:
            blocks.append(len(chosen) + seen * width // others)
            seen += 1
    return tuple(blocks)


def pattern_of(path: Path) -> Path:
    """Put "*" for every index and key of a place, and leave what the reading itself added."""
    return tuple(part if isinstance(part, str) and part.startswith(OWN) else "*" for part in path)


def _open_patterns(forms: Sequence[Form]) -> frozenset[Path]:
    """Patterns of places that some outputs of one outer type have and others lack."""
    found: set[Path] = set()
    by_type: dict[str, list[Form]] = {}
    for form in forms:
        by_type.setdefault(outer_type(form.kind), []).append(form)
    for alike in by_type.values():
        everywhere = set(alike[0].paths).intersection(*(form.paths for form in alike))
        found.update(pattern_of(path) for form in alike for path in form.paths if path not in everywhere)
    return frozenset(found)


def outer_type(kind: str) -> str:
    """Type of the outermost object of a form."""
    return kind.partition("(")[0]


def _order(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Sort key of paths: shorter containers first, indices by number, keys by text."""
    return tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in path)


def _block_names(paths: tuple[Path, ...], blocks: tuple[int, ...], *, show_keys: bool) -> list[str]:
    """Name the columns of items, by their first and last place where they have several."""
    last = {block: place for place, block in enumerate(blocks)}
    first = {block: place for place, block in reversed(list(enumerate(blocks)))}
    return [
        _place_name(paths, first[block], show_keys=show_keys)
        if first[block] == last[block]
        else f"items {first[block]} to {last[block]}"
        for block in range(len(first))
    ]


def _couple_name(paths: tuple[Path, ...], couple: Couple, show_keys: bool) -> str:  # noqa: FBT001 - one call
    """Name a column of two numbers."""
    one, other = (_place_name(paths, place, show_keys=show_keys) for place in (couple.first, couple.second))
    sign = {"difference": "-", "sum": "+", "product": "times"}[couple.kind]
    return f"{other} {sign} {one}"


def _of_place(paths: tuple[Path, ...], path: Path, show_keys: bool) -> str:  # noqa: FBT001 - one call
    """Name the place of a column of precision; nothing where the output is a number."""
    return f" of {_place_name(paths, paths.index(path), show_keys=show_keys)}" if path else ""


def _place_name(paths: tuple[Path, ...], place: int, *, show_keys: bool) -> str:
    """Name a place by index, by key where keys may be shown, else by position."""
    path = paths[place]
    if not path:
        return "value"
    if show_keys or all(isinstance(part, int) or part.startswith(OWN) for part in path):
        own = next((place for place, part in enumerate(path) if isinstance(part, str) and part.startswith(OWN)), len(path))
        parts = [" ".join(map(str, path[own:]))] if path[own:] else []
        parts += ["item " + ", ".join(map(str, path[:own]))] if own else []
        return " of ".join(parts)
    return f"item number {place}"


def _parity(values: Matrix) -> Matrix:
    """0 for even numbers, 1 for odd ones, 1/2 for numbers that are no integers."""
    halves = values * 0.5
    return np.where(np.floor(values) == values, np.floor(halves) != halves, 0.5)


def _bits(values: Matrix) -> Matrix:
    """Exponents of the highest bit of each number and of its lowest one that is set, and the last 8 bits of its significand."""
    significand, exponent = np.frexp(values)
    whole = np.abs(np.ldexp(significand, _SIGNIFICAND)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1]
    some = whole > 0
    last = np.where(some, exponent - _SIGNIFICAND + lowest, _NO_BIT)
    return np.column_stack([np.where(some, exponent, -_NO_BIT), last, whole & 0xFF]).astype(np.float64)


def _summaries(values: Matrix, places: Places) -> Matrix | float:
    """Those of sum, largest number and its position that stand at `places`; zero where there are no numbers."""
    if values.shape[1] == 0:
        return 0.0
    found: tuple[Callable[[], NDArray[Any]], ...] = (
        lambda: np.clip(values.sum(axis=1), -LARGEST, LARGEST),
        lambda: values.max(axis=1),
        lambda: values.argmax(axis=1),
    )
    return np.column_stack([summary() for summary in found[places]]).astype(np.float64)


def _wanted_places(wanted: NDArray[np.bool_]) -> list[Places]:
    """The places that are wanted: all together, or one by one."""
    if wanted.all():
        return [slice(0, len(wanted))]
    return [slice(place, place + 1) for place in np.flatnonzero(wanted).tolist()]


def _score_output(score: Callable[[Any], float], output: Any) -> float:
    """Score of an output by the target itself; 0 where it has none."""
    try:
        value = float(score(output))
    except Exception:  # noqa: BLE001 - a score that fails on an unusual output must not stop the audit
        return 0.0
    return min(max(value, -LARGEST), LARGEST) if not math.isnan(value) else 0.0
