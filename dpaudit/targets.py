"""What is audited: a function that releases something, its claim, and neighbouring inputs; loaded by name."""

from __future__ import annotations

import inspect
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, get_args

from dpaudit.blame import meant
from dpaudit.claims import Adjacency, Claim, Guarantee
from dpaudit.errors import DpauditError, ForeignPackage, InvalidArgument, TargetFailure
from dpaudit.exact import Exact, integer, kind_of, positive, word
from dpaudit.extras import left_out_of
from dpaudit.importing import module_at
from dpaudit.misnamed import how_to_make_one, near_in, place_in, what_is_there

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.random import Generator
    from numpy.typing import NDArray

ENTRY_POINT_GROUP: Final = "dpaudit.targets"
ZOO: Final = {"zoo": "dpaudit.catalogue:TARGETS", "zoo_published": "dpaudit.catalogue:PUBLISHED"}
"""Specimens to try an auditor on: audited when they are named, never as part of everything that is bundled."""

STORY: Final = ("mechanisms.targets.story:TARGETS", "learners.targets.story:TARGETS")
"""What an audit without any name shows: everyday releases of real records and broken twins of them.

Named here and not by entry points, since what a newcomer meets first is not for other packages to add to.
"""

FEWEST_RUNS: Final = 500
"""Fewer runs than this cannot say anything worth reading."""

MOST_RUNS: Final = 2**40
"""More runs than this take days on thousands of processors."""

MOST_SECONDS: Final = 10**9
"""Nobody waits for longer."""

METRICS: Final = ("l1", "l2", "linf", "hamming")

_PROOF: Final = re.compile(r"[^#]+#[\w.]+|[^()#]+:\w+(\([^()]*\))?")
"""How the place of a proof is written: a node of a graph, or a function with the values of its parameters."""


@dataclass(frozen=True)
class Sensitivity:
    """A sensitivity that a target declares, checked on neighbouring datasets in exact arithmetic.

    Args:
      query: function from a dataset to a number or a sequence of numbers, before any noise.
      bound: largest distance between the query's values on neighbours, exact and positive, in the query's units.
      metric: "l1", "l2", "linf" or "hamming".
    Raises:
      InvalidArgument: `query` is not callable (DPA105), `bound` not positive (DPA104), or an unknown metric (DPA103).
    Source: Dwork, McSherry, Nissim, Smith 2006, Definition 2.
    Example:
      >>> Sensitivity(query=len, bound=1).metric
      'l1'
    """

    query: Callable[[Any], Any]
    bound: Exact
    metric: str = "l1"

    def __post_init__(self) -> None:
        """Check the parts and store the bound exactly."""
        if not callable(self.query):
            raise InvalidArgument("DPA105", f"query must be a function of a dataset, got {kind_of(self.query)}.")
        word(self.metric, "metric", METRICS)
        object.__setattr__(self, "bound", positive(self.bound, "sensitivity bound"))


@dataclass(frozen=True, kw_only=True)
class Target:
    """A function to audit, with what it promises.

    Args:
      claim: the guarantee and its adjacency.
      run: function (data, rng) -> output of one release; `mechanisms.source_from(rng)` turns the numpy Generator `rng` into a bit
        source for mechanisms of this project.
      sample: function (data, n, rng) -> sequence or array of n independent outputs, instead of `run`, where that is faster.
      neighbours: pairs of neighbouring datasets, or a Hypothesis strategy of pairs.
      data: one dataset from which neighbours of the claim's adjacency are made, instead of `neighbours`.
      sensitivity: a declared sensitivity to check on the neighbours.
      pmf: function from a dataset to the exact law of the output, a mapping from output to probability.
      primitives: "auto" to record and replay whatever writes to the release log, None for no such check.
      score: function (output) -> number that is larger for outputs that suggest the second dataset of a pair; a hint.
      float_bits: whether the attack also reads the bits of floating-point outputs; noise added in floating point nearly always
        fails then, so claim only something about the real numbers that such code stands for.
      proof: the claim's proof, checked again by every audit: "MODULE#NODE", a claim of a proof graph such as
        "proofs.chain#LaplaceMechanism.claim", or "MODULE:FUNCTION(name=value, ...)", a function with `@spec` that the audited one
        calls or resembles, and its public parameters at this claim; "" for none.
      public_data: whether reports may show values of datasets and outputs; False unless they are synthetic or public.
      most_runs: most runs of this target in an audit for a number of runs, at least 500, for slow functions such as the training
        of a model; None for no such limit.
      name: its name in reports; the function's name unless given.
      description: the question it answers, one line for the report.
    Raises:
      InvalidArgument: not exactly one of run and sample, or another part of the wrong kind (DPA404), or `most_runs` is no integer
        (DPA105) or too small (DPA103).
    Source: docs/audit_your_own.md.
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> target = Target(run=lambda data, rng: len(data) + rng.laplace(), claim=Claim(PureDP(epsilon=1)), data=[1, 2])
      >>> target.adjacency.kind
      'add_remove'
    """

    claim: Claim
    run: Callable[[Any, Generator], Any] | None = None
    sample: Callable[[Any, int, Generator], Sequence[Any] | NDArray[Any]] | None = None
    neighbours: Sequence[tuple[Any, Any]] | SearchStrategy[tuple[Any, Any]] | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False)
    sensitivity: Sensitivity | None = None
    pmf: Callable[[Any], Mapping[Any, Exact]] | None = None
    primitives: str | None = "auto"
    score: Callable[[Any], float] | None = None
    float_bits: bool = False
    proof: str = ""
    public_data: bool = False
    most_runs: int | None = None
    name: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        """Refuse incomplete or contradictory targets with the remedy."""
        if (self.run is None) == (self.sample is None):
            got = "neither" if self.run is None else "both"
            raise InvalidArgument(
                "DPA404",
                f"a Target needs one function: run=f with f(data, rng), or sample=f with f(data, n, rng); got {got}. "
                "Write run=FUNCTION for a function of a dataset and a numpy Generator.",
            )
        for role in ("run", "sample", "pmf", "score"):
            _require_function(role, getattr(self, role))
        for role in ("name", "description"):
            _require(role, part := getattr(self, role), "a string", holds=isinstance(part, str))
        example = f"{type(self.claim).__name__}(...)" if isinstance(self.claim, get_args(Guarantee)) else "PureDP(epsilon=1)"
        remedy = f" Write claim=Claim({example})."
        _require("claim", self.claim, "a Claim", holds=isinstance(self.claim, Claim), remedy=remedy)
        _require("sensitivity", self.sensitivity, "a Sensitivity", holds=isinstance(self.sensitivity, (Sensitivity, type(None))))
        if self.primitives is not None:
            word(self.primitives, "primitives", ("auto",))
        if not isinstance(self.proof, str) or (self.proof and not _PROOF.fullmatch(self.proof)):
            shown = reprlib.repr(self.proof)
            raise InvalidArgument("DPA404", f"proof= must be MODULE#NODE or MODULE:FUNCTION(name=value, ...), got {shown}.")
        if self.most_runs is not None:
            integer(self.most_runs, "most_runs", lower=FEWEST_RUNS, upper=MOST_RUNS)
        if self.neighbours is not None and self.data is not None:
            raise InvalidArgument("DPA404", "a Target takes neighbours= or data=, not both; data= makes the neighbours itself.")
        if self.neighbours is not None and not _is_strategy(self.neighbours):
            object.__setattr__(self, "neighbours", _pairs(self.neighbours))
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def function(self) -> Callable[..., Any]:
        """Return the audited function: `run` or `sample`."""
        function = self.run or self.sample
        assert function is not None, "checked on construction"  # noqa: S101
        return function

    @property
    def adjacency(self) -> Adjacency:
        """The neighbouring relation of the claim."""
        return self.claim.relation

    @property
    def source(self) -> tuple[str, int] | None:
        """Return file and line of the audited function, None for built-in ones; with no path of one machine, as reports hold it."""
        try:
            function = inspect.unwrap(getattr(self.function, "func", self.function))  # what functools.partial was given
            if not (inspect.isroutine(function) or inspect.isclass(function)):
                function = type(function).__call__  # an object that can be called is defined where its class is
            file, (_, line) = inspect.getsourcefile(function), inspect.getsourcelines(function)
        except (TypeError, OSError):
            return None
        return (_short_path(Path(file)), line) if file else None


def _short_path(file: Path) -> str:
    """Return a file's path from the current folder if it is inside, else from the innermost folder of the import path around it."""
    around = [folder for folder in map(Path, sys.path) if folder.is_absolute() and file.is_relative_to(folder)]
    if file.is_relative_to(Path.cwd()):
        return file.relative_to(Path.cwd()).as_posix()
    return file.relative_to(max(around, key=lambda folder: len(folder.parts))).as_posix() if around else file.name


def _require(role: str, part: object, wanted: str, *, holds: bool, remedy: str = "") -> None:
    """Refuse a part of a target that is not what is wanted there (DPA404)."""
    if not holds:
        raise InvalidArgument("DPA404", f"{role}= must be {wanted}, got {kind_of(part)}.{remedy}")


def _require_function(role: str, part: object) -> None:
    """Refuse what is neither None nor a function that gives its result when it is called (DPA404)."""
    remedy = f" Write its name without calling it: {role}=FUNCTION." if role in ("run", "sample") else ""
    _require(role, part, "a function", holds=part is None or callable(part), remedy=remedy)
    if inspect.iscoroutinefunction(part):
        raise InvalidArgument(
            "DPA404", f"{role}= must be a plain function, got an async one. Write a def that calls it with asyncio.run(...)."
        )


def _pairs(neighbours: object) -> tuple[tuple[Any, Any], ...]:
    """Return the pairs of datasets that were given; refuse anything else."""
    pairs = tuple(neighbours) if isinstance(neighbours, Iterable) else ()
    if not pairs or any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
        raise InvalidArgument(
            "DPA404", "neighbours= must be a non-empty sequence of pairs (first, second) of datasets, or a strategy of pairs."
        )
    return pairs


def _is_strategy(value: object) -> bool:
    """True if a value is a Hypothesis strategy, judged by its methods, since importing Hypothesis is slow."""
    return all(callable(getattr(value, method, None)) for method in ("example", "filter", "map", "flatmap"))


@dataclass(frozen=True)
class Reference:
    """Where a target can be loaded again, in any process: the user's `text`, its place, and the file for its `data`, if any."""

    text: str
    position: int = 0
    data: str | None = None

    @property
    def address(self) -> str:
        """Return text and place as a report keeps them; `reference_at` reads it."""
        return f"{self.text}#{self.position}" if self.position else self.text

    def load(self) -> Target:
        """Load the target; TargetFailure (DPA401 to DPA406) where that fails."""
        targets = each_target(self.text, data=self.data)
        if self.position >= len(targets):
            raise TargetFailure("DPA401", f"{self.text} holds {len(targets)} targets, asked for number {self.position}.")
        found = targets[self.position]
        if isinstance(found, TargetFailure):
            raise found
        return found


def reference_at(address: str, data: str | None) -> Reference:
    """Return the reference whose `address` this is."""
    text, mark, position = address.rpartition("#")
    return Reference(text, int(position), data) if mark and position.isdecimal() else Reference(address, 0, data)


def load_targets(text: str, *, data: str | None = None) -> tuple[Target, ...]:
    """Load the targets that a name stands for, at least one; TargetFailure (DPA401 to DPA406) where one is none."""
    return _only_targets(each_target(text, data=data))


def each_target(text: str, *, data: str | None = None) -> tuple[Target | TargetFailure, ...]:
    """Load the targets that a name stands for, with an error in the place of each part of a list that is none."""
    found = _all_of(text) if text.endswith(".py") else _from_code(text) if ":" in text else _from_bundle(text)
    if data is None:
        return found
    from dpaudit.records import read_csv

    records = read_csv(data)
    return tuple(
        replace(one, data=records, neighbours=None, public_data=False) if isinstance(one, Target) else one for one in found
    )


def bundle_locations() -> dict[str, bool]:
    """Return MODULE:ATTRIBUTE of every entry point for targets, and whether it is this distribution's own; own ones come first."""
    from importlib.metadata import entry_points

    own = {point.value: point.dist is not None and point.dist.name == "dpaudit" for point in entry_points(group=ENTRY_POINT_GROUP)}
    return dict(sorted(own.items(), key=lambda one: (not one[1], one[0])))


def bundled_targets(locations: Iterable[str] | None = None) -> dict[str, tuple[str, int]]:
    """Return the names of targets that load from some or all `bundle_locations`, each with its MODULE:ATTRIBUTE and place there."""
    names: dict[str, tuple[str, int]] = {}
    for location, targets in _bundles(locations)[0].items():
        for position, target in enumerate(targets):
            names.setdefault(target.name, (location, position))
    return names


def broken_bundles(locations: Iterable[str] | None = None) -> dict[str, DpauditError]:
    """Return the entry points that fail to load, each with its error; `locations` as for `bundled_targets`."""
    return _bundles(locations)[1]


def _bundles(locations: Iterable[str] | None) -> tuple[dict[str, tuple[Target, ...]], dict[str, DpauditError]]:
    """Load targets by location, and return the errors of the others by location."""
    loaded: dict[str, tuple[Target, ...]] = {}
    broken: dict[str, DpauditError] = {}
    for location in bundle_locations() if locations is None else locations:
        try:
            loaded[location] = _only_targets(_from_code(location))
        except DpauditError as error:
            broken[location] = error
    return loaded, broken


def _only_targets(found: Iterable[Target | TargetFailure]) -> tuple[Target, ...]:
    """Return the targets; raise the first error among them."""
    targets = []
    for one in found:
        if isinstance(one, TargetFailure):
            raise one
        targets.append(one)
    return tuple(targets)


def _from_bundle(name: str) -> tuple[Target | TargetFailure, ...]:
    """Load a bundled target or a specimen by its name, or all targets of the entry point or group of that name."""
    from importlib.metadata import entry_points

    if name in ZOO:
        return _from_code(ZOO[name])
    if name.startswith("zoo_") and (found := [one for one in _only_targets(_from_code(ZOO["zoo"])) if one.name == name]):
        return tuple(found)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return _from_code(point.value)
    for location in (*STORY, *bundle_locations()):  # one at a time, own ones first: others are not loaded for our names
        names = bundled_targets([location])
        if name in names:
            return (_from_code(location)[names[name][1]],)
    if there := what_is_there(name):
        raise TargetFailure("DPA401", there)
    near = meant(name, (*ZOO, *bundled_targets([*STORY, *bundle_locations()])))
    broken = broken_bundles()
    for error in broken.values():
        if isinstance(error, ForeignPackage):
            raise error
    unseen = "".join(f" Not looked at: {one}." for one in left_out_of(broken))
    raise TargetFailure(
        "DPA401",
        f"no bundled target is called {name!r}{near}.{unseen} `dpaudit targets` lists all; for your own, "
        "write FILE.py:NAME or MODULE:NAME.",
    )


def _from_code(text: str) -> tuple[Target | TargetFailure, ...]:
    """Load the targets at MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE."""
    place, _, attribute = text.rpartition(":")
    if not place or not attribute:
        raise TargetFailure("DPA401", f"{text!r} is not of the form MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE.")
    module = module_at(place)
    if not hasattr(module, attribute):
        raise TargetFailure(
            "DPA401", f"{place} has no attribute {attribute!r}{near_in(module, attribute)}.{_targets_within(module)}"
        )
    found = getattr(module, attribute)
    targets = _targets_of(found, module, attribute)
    if not any(isinstance(one, Target) for one in targets):
        where, within = place_in(module, attribute), _targets_within(module, found)
        raise TargetFailure(
            "DPA403", f"{attribute} at {where} is {kind_of(found)}, not a Target or a non-empty list of them.{within}"
        )
    return targets


def _all_of(file: str) -> tuple[Target | TargetFailure, ...]:
    """Load every target that a file holds by a name of its own or in a list, once each, in the order of the names."""
    module = module_at(file)
    listed = [one for name, value in list(vars(module).items()) for one in _targets_of(value, module, name)]
    targets = tuple({id(one): one for one in listed}.values())
    if not targets:
        raise TargetFailure("DPA403", f"{file} holds no Target at module level. {how_to_make_one(module)}")
    return targets


def _targets_within(module: ModuleType, value: object = None) -> str:
    """Name the targets that a module holds, for an error message, or say how to make one, of the value if that is a function."""
    names = [name for name, one in vars(module).items() if _targets_of(one, module, name)]
    return f" It has {', '.join(names)}." if names else f" It has no Target at module level. {how_to_make_one(module, value)}"


def _targets_of(value: Any, module: ModuleType, name: str) -> tuple[Target | TargetFailure, ...]:
    """Return the target that a value is, or those that it lists, with an error for each other part; () where none is a target."""
    listed = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not any(isinstance(one, Target) for one in listed):
        return ()
    return tuple(
        one
        if isinstance(one, Target)
        else TargetFailure("DPA403", f"{place_in(module, name)}: {name}[{place}] is {kind_of(one)}, not a Target. Take it out.")
        for place, one in enumerate(listed)
    )
