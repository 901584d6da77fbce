"""What is audited: a function that releases something, its claim, and neighbouring inputs; loaded by name."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from dpaudit.claims import Adjacency, Claim
from dpaudit.errors import DpauditError, ForeignPackage, InvalidArgument, MissingExtra, TargetFailure, origin_of
from dpaudit.exact import Exact, integer, kind_of, positive, word
from dpaudit.extras import left_out_of
from dpaudit.own_packages import require_own

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.random import Generator
    from numpy.typing import NDArray

ENTRY_POINT_GROUP: Final = "dpaudit.targets"
ZOO: Final = {"zoo": "dpaudit.catalogue:TARGETS", "zoo_published": "dpaudit.catalogue:PUBLISHED"}
"""Specimens to try an auditor on: audited when they are named, never as part of everything that is bundled."""

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
      run: function (data, rng) -> output of one release; `rng` is a numpy Generator, for mechanisms of this project
        turned into a bit source by `mechanisms.source_from(rng)`.
      sample: function (data, n, rng) -> sequence or array of n independent outputs, instead of `run`, where that is faster.
      neighbours: pairs of neighbouring datasets, or a Hypothesis strategy of pairs.
      data: one dataset from which neighbours of the claim's adjacency are made, instead of `neighbours`.
      sensitivity: a declared sensitivity to check on the neighbours.
      pmf: function from a dataset to the exact law of the output, a mapping from output to probability.
      primitives: "auto" to record and replay whatever writes to the release log, None for no such check.
      score: function (output) -> number, a hint which outputs speak for the second dataset of a pair.
      float_bits: whether the attack also looks at how floating point holds plain numbers; noise added in floating point
        nearly always fails then, so the claim of such code should be about the real numbers that it stands for.
      proof: where the claim's proof stands, checked again by every audit: "MODULE#NODE", a claim of a proof graph such as
        "proofs.chain#LaplaceMechanism.claim", or "MODULE:FUNCTION(name=value, ...)", a function with `@spec` that the audited one
        calls, or is the like of, and its public parameters at this claim; "" for none.
      public_data: whether values of datasets and outputs may be printed in reports; False unless they are synthetic or public.
      most_runs: an audit for a number of runs makes no more of this target, at least 500; None for as many as are asked for. For
        functions that take long, such as the training of a model.
      name: how reports call it; the function's name unless given.
      description: the question it answers, one line for the report.
    Raises:
      InvalidArgument: not exactly one of run and sample, or another part of the wrong kind (DPA404), or `most_runs` is no whole
        number (DPA105) or too small (DPA103).
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
                f"a Target needs exactly one of run= (data, rng) and sample= (data, n, rng), got {got}. "
                "Write run=FUNCTION for a function of a dataset and a numpy Generator.",
            )
        for role in ("run", "sample", "pmf", "score"):
            part = getattr(self, role)
            if part is not None and not callable(part):
                raise InvalidArgument("DPA404", f"{role}= must be a function, got {kind_of(part)}.")
        if not isinstance(self.claim, Claim):
            raise InvalidArgument(
                "DPA404", f"claim= must be a Claim, got {kind_of(self.claim)}. For instance Claim(PureDP(epsilon=1))."
            )
        if self.sensitivity is not None and not isinstance(self.sensitivity, Sensitivity):
            raise InvalidArgument("DPA404", f"sensitivity= must be a Sensitivity, got {kind_of(self.sensitivity)}.")
        if self.primitives is not None:
            word(self.primitives, "primitives", ("auto",))
        _check_proof(self.proof)
        _check_runs(self.most_runs)
        if self.neighbours is not None and self.data is not None:
            raise InvalidArgument("DPA404", "a Target takes neighbours= or data=, not both; data= makes the neighbours itself.")
        if self.neighbours is not None and not _is_strategy(self.neighbours):
            object.__setattr__(self, "neighbours", _pairs(self.neighbours))
        _check_texts(name=self.name, description=self.description)
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def function(self) -> Callable[..., Any]:
        """The audited function: `run` or `sample`."""
        function = self.run or self.sample
        assert function is not None, "checked on construction"  # noqa: S101
        return function

    @property
    def adjacency(self) -> Adjacency:
        """The neighbouring relation of the claim."""
        return self.claim.relation

    @property
    def source(self) -> tuple[str, int] | None:
        """File and line where the audited function is defined, or None for built-in ones.

        The file is named from the current folder, else from where it is imported, so that reports carry no path of one machine.
        """
        try:
            function = inspect.unwrap(getattr(self.function, "func", self.function))  # what functools.partial was given
            if not (inspect.isroutine(function) or inspect.isclass(function)):
                function = type(function).__call__  # an object that can be called is defined where its class is
            file, (_, line) = inspect.getsourcefile(function), inspect.getsourcelines(function)
        except (TypeError, OSError):
            return None
        return (_short_path(Path(file)), line) if file else None


def _short_path(file: Path) -> str:
    """A file's path from the current folder if it is inside, else from the innermost folder of the import path around it."""
    around = [folder for folder in map(Path, sys.path) if folder.is_absolute() and file.is_relative_to(folder)]
    if file.is_relative_to(Path.cwd()):
        return file.relative_to(Path.cwd()).as_posix()
    return file.relative_to(max(around, key=lambda folder: len(folder.parts))).as_posix() if around else file.name


def _check_proof(place: object) -> None:
    """Refuse what does not say where a proof stands."""
    if not isinstance(place, str) or (place and not _PROOF.fullmatch(place)):
        raise InvalidArgument(
            "DPA404", f"proof= must be MODULE#NODE or MODULE:FUNCTION(name=value, ...), got {reprlib.repr(place)}."
        )


def _check_texts(**texts: object) -> None:
    """Refuse what is no text where reports need one."""
    for role, text in texts.items():
        if not isinstance(text, str):
            raise InvalidArgument("DPA404", f"{role}= must be a text, got {kind_of(text)}.")


def _check_runs(most: int | None) -> None:
    """Refuse a number of runs that no audit can be made of."""
    if most is not None:
        integer(most, "most_runs", lower=FEWEST_RUNS, upper=MOST_RUNS)


def _pairs(neighbours: object) -> tuple[tuple[Any, Any], ...]:
    """Given pairs of datasets, refused where they are none."""
    pairs = tuple(neighbours) if isinstance(neighbours, Iterable) else ()
    if not pairs or any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
        raise InvalidArgument(
            "DPA404", "neighbours= must be a non-empty sequence of pairs (first, second) of datasets, or a strategy of pairs."
        )
    return pairs


def _is_strategy(value: object) -> bool:
    """Whether a value is a Hypothesis strategy, told by its methods, since importing Hypothesis is slow."""
    return all(callable(getattr(value, method, None)) for method in ("example", "filter", "map", "flatmap"))


@dataclass(frozen=True)
class Reference:
    """Where a target can be loaded again, in this or another process: `text` as given by the user, and its position.

    `data` is the path of a data file whose records replace the target's own data.
    """

    text: str
    position: int = 0
    data: str | None = None

    def load(self) -> Target:
        """The target; raises TargetFailure (DPA401 to DPA406) when that fails."""
        targets = each_target(self.text, data=self.data)
        if self.position >= len(targets):
            raise TargetFailure("DPA401", f"{self.text} holds {len(targets)} targets, asked for number {self.position}.")
        found = targets[self.position]
        if isinstance(found, TargetFailure):
            raise found
        return found


def load_targets(text: str, *, data: str | None = None) -> tuple[Target, ...]:
    """The targets that a name stands for."""
    found = each_target(text, data=data)
    for one in found:
        if isinstance(one, TargetFailure):
            raise one
    return tuple(one for one in found if isinstance(one, Target))


def each_target(text: str, *, data: str | None = None) -> tuple[Target | TargetFailure, ...]:
    """The targets that a name stands for, and an error in the place of each part of a list that is none."""
    found = _all_of(text) if text.endswith(".py") else _from_code(text) if ":" in text else _from_bundle(text)
    if data is None:
        return found
    from dpaudit.records import read_csv

    records = read_csv(data)
    return tuple(
        replace(one, data=records, neighbours=None, public_data=False) if isinstance(one, Target) else one for one in found
    )


def bundle_locations() -> dict[str, bool]:
    """MODULE:ATTRIBUTE of every entry point for targets, and whether it is this distribution's own; own ones come first."""
    from importlib.metadata import entry_points

    own = {point.value: point.dist is not None and point.dist.name == "dpaudit" for point in entry_points(group=ENTRY_POINT_GROUP)}
    return dict(sorted(own.items(), key=lambda one: (not one[1], one[0])))


def bundled_targets(locations: Iterable[str] | None = None) -> dict[str, tuple[str, int]]:
    """Names of all targets that installed packages offer, each with the MODULE:ATTRIBUTE and position it loads from.

    A package whose targets fail to load is left out here and reported by `broken_bundles`. `locations` are those of
    `bundle_locations` to look at; all unless given.
    """
    names: dict[str, tuple[str, int]] = {}
    for location, targets in _bundles(locations)[0].items():
        for position, target in enumerate(targets):
            names.setdefault(target.name, (location, position))
    return names


def broken_bundles(locations: Iterable[str] | None = None) -> dict[str, DpauditError]:
    """Entry points that failed to load, each with its error; `locations` as for `bundled_targets`."""
    return _bundles(locations)[1]


def _bundles(locations: Iterable[str] | None) -> tuple[dict[str, tuple[Target, ...]], dict[str, DpauditError]]:
    """Targets by location, and errors by location."""
    loaded: dict[str, tuple[Target, ...]] = {}
    broken: dict[str, DpauditError] = {}
    for location in bundle_locations() if locations is None else locations:
        try:
            loaded[location] = _only_targets(_from_code(location))
        except DpauditError as error:
            broken[location] = error
    return loaded, broken


def _only_targets(found: Iterable[Target | TargetFailure]) -> tuple[Target, ...]:
    """The targets, refused where anything else is among them."""
    targets = []
    for one in found:
        if isinstance(one, TargetFailure):
            raise one
        targets.append(one)
    return tuple(targets)


def _from_bundle(name: str) -> tuple[Target | TargetFailure, ...]:
    """A bundled target or a specimen by its name, or all targets of the entry point or group of that name."""
    from importlib.metadata import entry_points

    if name in ZOO:
        return _from_code(ZOO[name])
    if name.startswith("zoo_") and (found := [one for one in _only_targets(_from_code(ZOO["zoo"])) if one.name == name]):
        return tuple(found)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return _from_code(point.value)
    for location in bundle_locations():  # one at a time: a package of somebody else's is not loaded where the name is ours
        names = bundled_targets([location])
        if name in names:
            return (_from_code(location)[names[name][1]],)
    names = bundled_targets()
    from difflib import get_close_matches

    near = ", ".join(get_close_matches(name, (*ZOO, *names)))
    broken = broken_bundles()
    for error in broken.values():
        if isinstance(error, ForeignPackage):
            raise error
    unseen = "".join(f" Not looked at: {one}." for one in left_out_of(broken))
    raise TargetFailure(
        "DPA401",
        f"no bundled target is called {name!r}.{near and f' Near it: {near}.'}{unseen} `dpaudit targets` lists all; for your own, "
        "write FILE.py:NAME or MODULE:NAME.",
    )


def _from_code(text: str) -> tuple[Target | TargetFailure, ...]:
    """Targets at MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE."""
    place, _, attribute = text.rpartition(":")
    if not place or not attribute:
        raise TargetFailure("DPA401", f"{text!r} is not of the form MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE.")
    module = module_at(place)
    if not hasattr(module, attribute):
        raise TargetFailure("DPA401", f"{place} has no attribute {attribute!r}.{_targets_within(module)}")
    found = getattr(module, attribute)
    targets = _targets_of(found, text)
    if not any(isinstance(one, Target) for one in targets):
        raise TargetFailure(
            "DPA403",
            f"{text} is a {type(found).__name__}, not a Target or a non-empty sequence of Targets.{_targets_within(module)}",
        )
    return targets


def _all_of(file: str) -> tuple[Target | TargetFailure, ...]:
    """Every target that a file holds by a name of its own or in a list of them, once each, in the order of the names."""
    values = list(vars(module_at(file)).items())
    listed = [one for name, value in values for one in _targets_of(value, f"{file}:{name}")]
    targets = tuple({id(one): one for one in listed}.values())
    if not targets:
        raise TargetFailure("DPA403", f"{file} holds no Target at module level.")
    return targets


def _targets_within(module: ModuleType) -> str:
    """Which targets the module does hold, for an error message."""
    names = [name for name, value in vars(module).items() if _targets_of(value, name)]
    return f" It has {', '.join(names)}." if names else " It has no Target at module level."


def _targets_of(value: Any, text: str) -> tuple[Target | TargetFailure, ...]:
    """The target that a value is, or those that it lists, with an error for each other part; nothing where none is a target."""
    listed = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not any(isinstance(one, Target) for one in listed):
        return ()
    return tuple(
        one if isinstance(one, Target) else TargetFailure("DPA403", f"{text}[{place}] is a {type(one).__name__}, not a Target.")
        for place, one in enumerate(listed)
    )


def module_at(place: str) -> ModuleType:
    """The module of that name, or the one that a file holds."""
    return _import_file(place) if place.endswith(".py") else _import_module(place)


def _import_module(name: str) -> ModuleType:
    """Import a module by name, the current folder included, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    require_own(name)
    try:
        return importlib.import_module(name)
    except (ForeignPackage, MissingExtra):
        raise
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise TargetFailure("DPA401", f"no module named {name!r}. Check the spelling, or write FILE.py:NAME.") from error
        raise TargetFailure("DPA402", f"{name} needs the module {error.name!r}, which is not installed.") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise TargetFailure("DPA402", f"{name} raised {_where(error)} while it was imported.") from error


class _FromSource(SourceFileLoader):
    """Compiles what a file holds now: Python's cache of compiled files goes by their size and the second of their last change."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the file."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _import_file(path: str) -> ModuleType:
    """Import a Python file once per content, its own folder importable as for a script."""
    file = Path(path).resolve()
    if not file.is_file():
        raise TargetFailure("DPA401", f"no file {path}. Check the path; it is taken relative to the current folder.")
    try:
        name = "_dpaudit_" + hashlib.sha256(os.fsencode(file) + file.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise TargetFailure("DPA401", f"{path} cannot be read ({error.strerror}). Check its permissions.") from error
    if name in sys.modules:
        return sys.modules[name]
    specification = importlib.util.spec_from_file_location(name, file, loader=_FromSource(name, str(file)))
    assert specification is not None, "a .py path always has a specification"  # noqa: S101
    assert specification.loader is not None, "and a loader"  # noqa: S101
    module = importlib.util.module_from_spec(specification)
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except (KeyboardInterrupt, ForeignPackage, MissingExtra):
        sys.modules.pop(name, None)
        raise
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, ModuleNotFoundError):
            raise TargetFailure("DPA402", f"{path} needs the module {error.name!r}, which is not installed.") from error
        raise TargetFailure("DPA402", f"{path} raised {_where(error)} while it was imported.") from error
    return module


def _where(error: BaseException) -> str:
    """Where an error came from; its own text only for errors of dpaudit and of syntax, since others may quote data."""
    text = f" ({error})" if isinstance(error, (DpauditError, SyntaxError)) else ""
    return f"{origin_of(error)}{text}"
