"""What is audited: a function that releases something, its claim, and neighbouring inputs."""

from __future__ import annotations

import inspect
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from dpaudit.blame import ADAPTERS, PACKAGES
from dpaudit.claims import Adjacency, Claim, Guarantee
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, kind_of, positive, word

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.random import Generator
    from numpy.typing import NDArray

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
      most_runs: most runs of this target, at least 500, for slow functions such as the training of a model; None for no such
        limit.
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
            got = "got neither; write" if self.run is None else "got both; keep"
            raise InvalidArgument(
                "DPA404",
                f"a Target needs exactly one of run= and sample=, {got} run=f if f(data, rng) makes one output, where rng is "
                "a numpy Generator, or sample=f if f(data, n, rng) makes n.",
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
        is_ours = file is None or file.startswith(ADAPTERS)  # it calls a program, or a library that is not Python
        return None if file is None or is_ours else (short_path(Path(file)), line)


def short_path(file: Path) -> str:
    """Return a file's path from the current folder if it is inside, else from the innermost folder of the import path around it.

    The path of an installed package begins with the package.
    """
    for folder in file.parents:
        if folder.name in PACKAGES:
            return file.relative_to(folder).as_posix()
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
            "DPA404",
            "neighbours= must be a non-empty sequence of pairs (first, second) of datasets, or a strategy of pairs. "
            "For one pair write neighbours=[(first, second)].",
        )
    return pairs


def _is_strategy(value: object) -> bool:
    """True if a value is a Hypothesis strategy, judged by its methods, since importing Hypothesis is slow."""
    return all(callable(getattr(value, method, None)) for method in ("example", "filter", "map", "flatmap"))
