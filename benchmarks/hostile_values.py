"""Arguments for calls that no caller should make: usual ones by the name of their parameter, hostile ones, and private ones."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dpaudit.accounting import Poisson, gaussian, laplace, pure_dp
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Claim, PureDP
from dpaudit.exact import Enclosure
from dpaudit.releases import Release
from dpaudit.targets import Sensitivity, Target

MARK: Final = 918273645
"""The private number: in no message may its digits stand."""

PRIVATE: Final = {"X", "data", "people", "private", "records", "rows", "scores", "value", "values", "y", "questions"}
"""Parameters whose values are private."""


def _rows(*shape: int) -> Any:
    """Public numbers of about the size that records have."""
    return np.random.default_rng(7).normal(size=shape) / 2


def _count(data: Any, rng: Any) -> float:
    """A count, to be audited."""
    return float(len(data) + rng.laplace())


def _target() -> Target:
    """A small target."""
    return Target(run=_count, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], name="count")


def _estimator() -> Any:
    """A learner for those that search among learners."""
    return import_module("learners").PureMarginClassifier(epsilon=1, feature_norm=1, margin="1/4", candidates=8)


def _law() -> Any:
    """A law of whole numbers."""
    return import_module("mechanisms").DiscreteLaplace(scale=2)


def _losses() -> list[Any]:
    """Losses that are cheap to ask."""
    return [laplace(scale=2), gaussian(sigma=3), 4 * pure_dp(epsilon="1/4"), gaussian(sigma=3).sampled(Poisson("1/10"))]


_numbers: Final = (1, 2, "1/2", Fraction(1, 3), 0.25)
_whole: Final = (1, 2, 3)
_features: Final = (lambda: _rows(12, 3), lambda: csr_array(_rows(12, 3)), lambda: _rows(12, 3).tolist())
_labels: Final = (lambda: ["no", "yes"] * 6, lambda: np.array(["no", "yes"] * 6))
_integers: Final = (3, [1, 5, 2], lambda: np.arange(4), lambda: np.arange(6).reshape(2, 3))
_grants: Final = (
    lambda: PureDP(epsilon=1), lambda: ApproxDP(epsilon=1, delta="1e-6"), lambda: ZCDP(rho="1/2"), lambda: GDP(mu=1),
    lambda: RDP({2: 1, 8: 2}),
)  # fmt: skip
_spent: Final = tuple(lambda place=place: _losses()[place] for place in range(4))
_release: Final = lambda: Release("laplace", (("scale", Fraction(2)),), Fraction(1), Adjacency("add_remove"), 1)  # noqa: E731

USUAL: Final[dict[str, tuple[Any, ...]]] = {
    **dict.fromkeys(("epsilon", "sensitivity", "scale", "sigma", "noise_multiplier", "feature_norm", "rho", "mu"), _numbers),
    **dict.fromkeys(("sigma_squared", "lattice", "norm_bound", "label_bound", "ridge", "radius", "bound"), _numbers),
    **dict.fromkeys(("distance", "power_target"), _numbers),
    **dict.fromkeys(("k", "n", "count", "size", "times", "dimension", "reports", "steps", "updates", "rounds", "degree"), _whole),
    **dict.fromkeys(("candidates", "frequencies", "point_count", "columns", "width", "categories", "cutoff"), (8, 16)),
    **dict.fromkeys(("delta", "failure", "tolerance", "beta", "alpha", "rate", "share", "slack"), ("1e-3", "1/10")),
    **dict.fromkeys(("margin", "threshold_share", "number_share", "choice_share", "held_out", "jl_fraction"), ("1/4", 0.25)),
    **dict.fromkeys(("seed", "map_seed", "point_seed", "split_seed", "projection_seed", "random_state"), (0, 7)),
    **dict.fromkeys(("loss", "spending", "losses", "target_loss"), _spent),
    **dict.fromkeys(("value", "threshold", "shift", "reach", "start", "step", "position"), _integers),
    **dict.fromkeys(("values", "scores", "weights", "counts", "member_scores", "other_scores"), (_integers[1], _integers[2])),
    **dict.fromkeys(("lower", "first", "low"), (0, 1, "1/2")),
    **dict.fromkeys(("upper", "last", "high"), (4, 8, "9/2")),
    **dict.fromkeys(("public_X", "X", "queries"), _features),
    **dict.fromkeys(("p", "q"), (["1/4", "3/4"], ["3/4", "1/4"])),
    **dict.fromkeys(("fn", "factory", "query", "run", "score", "pmf", "fit"), (lambda: len,)),
    **dict.fromkeys(("targets", "target"), (_target, lambda: "zoo_laplace")),
    **dict.fromkeys(("included", "guessed", "canaries"), (4, [0, 1, 1], [True, False, True])),
    "accounting": ("blocks",),
    "y": _labels,
    "classes": (["no", "yes"],),
    "adjacency": ("add_remove", "replace_one", lambda: Adjacency("norm_ball", norm="l2", radius=1)),
    "guarantee": _grants,
    "claim": tuple(lambda grant=grant: Claim(grant()) for grant in _grants),
    "sensitivity_of_target": (lambda: Sensitivity(query=len, bound=1),),
    "law": (_law,),
    "lattice_bits": (4, 12),
    "norm": ("l1", "l2"),
    "metric": ("l1", "l2"),
    "kind": ("add_remove", "replace_one"),
    "unit": ("record", "user:id"),
    "neighbours": (lambda: [([1], [1, 1])],),
    "rows": (lambda: _rows(4, 3), lambda: [[1, 2], [3, 4]]),
    "people": (lambda: ["ann", "bob"],),
    "records": (3, lambda: _rows(5, 2)),
    "questions": (4,),
    "batches": (2,),
    "contributions": (1, 2),
    "stop": ("1/2",),
    "shape": (0, 1),
    "of": (10,),
    "order": (2, 8, "3/2"),
    "orders": (lambda: {2: 1, "3/2": 2},),
    "parts": (lambda: [("1/2", gaussian(sigma=2)), ("1/2", gaussian(sigma=3))], dict),
    "scheme": (lambda: Poisson("1/10"),),
    "releases": (lambda: [_release()],),
    "squares": (lambda: [1, 2],),
    "estimator": (_estimator,),
    "param_grid": (lambda: {"candidates": [4, 8]},),
    "make": (lambda: lambda parameter: gaussian(sigma=parameter),),
    "runs": (500,),
    "seconds": ("1/100",),
    "executor": (None,),
    "timeout": ("1/10",),
    "path": ("book.sqlite", "report.json"),
    "scope": ("survey/person/dashboard",),
    "dataset": ("survey",),
    "purpose": ("dashboard",),
    "rng": (lambda: np.random.default_rng(3),),
    "source": (None,),
    "other": (lambda: Enclosure(0, 1), lambda: "replace_one"),
    "text": ("{}", "os:getcwd"),
    "state": (dict,),
    "function": (lambda: "def f(q: list[int]): return 0",),
}  # fmt: skip
"""Values by the name of a parameter; a function is called for a fresh one."""

HOSTILE: Final[tuple[Callable[[], Any], ...]] = (
    *(lambda value=value: value for value in (  # type: ignore[misc]
        None, True, False, 0, -1, 2**31, 2**62, 2**63, 2**64, -(2**63), 10**400, float("nan"), float("inf"),
        -float("inf"), -0.0, 5e-324, 1e308, 0.1, Fraction(-1, 3), Fraction(1, 10**400), Decimal("NaN"), Decimal("sNaN"),
        Decimal("-Infinity"), Decimal("1e999999"), Decimal("1e-999999"), 1j, b"", b"\xff", "", " ", "nan", "-inf", "1/0", "1e5001",
        "1e999999999999", "0x10", "1_0", "\N{FULLWIDTH DIGIT ONE}", "\x00", "\ud800", "9" * 5000, "add_remove", "l2", "hinge",
        len, int, ..., NotImplemented, np.float64("nan"), np.float32(0.1), np.float16(2), np.int8(-128), np.uint64(2**64 - 1),
        np.bool_(1), np.longdouble("1e4000"), np.datetime64("2026-01-01"), range(0), range(3), (), frozenset(),
    )),
    lambda: -(10**5000),
    object, list, dict, set, lambda: [None], lambda: ["a", 1], lambda: [[1, 2], [3]], lambda: {"a": 1}, lambda: iter([1, 2]),
    lambda: [float("nan")], lambda: [2**63, -(2**70)], lambda: (value for value in "ab"), lambda: (lambda *_, **__: None),
    lambda: np.zeros(0), lambda: np.zeros((0, 3)), lambda: np.zeros((3, 0)), lambda: np.zeros((2, 2, 2)), lambda: np.array(3),
    lambda: np.full(3, np.nan), lambda: np.full((4, 3), np.inf), lambda: np.array([1 + 2j]), lambda: np.array([None, "a"]),
    lambda: np.array(["a", "b"]), lambda: np.array([True, False]), lambda: np.array([-128], dtype=np.int8),
    lambda: np.array([b"a"]), lambda: np.array([2**64 - 1], dtype=np.uint64), lambda: np.arange(3, dtype=">i8"),
    lambda: np.array([2**70, 1], dtype=object), lambda: np.array(["2026-01-01"], dtype="M8[D]"),
    lambda: np.ma.masked_array([1, 2], mask=[True, False]), lambda: np.zeros(2, dtype=[("a", "i4")]),
    lambda: np.array([1e308, 1e308]), lambda: csr_array(np.eye(3)), lambda: csr_array((0, 3)), lambda: np.full(3, 2**53 + 1),
    lambda: np.random.default_rng(1), _law, *_spent, *_grants,
)  # fmt: skip
"""Values that fit nearly nowhere, each made when it is needed."""

SECRET: Final[tuple[Callable[[], Any], ...]] = (
    lambda: MARK, lambda: MARK + 0.5, lambda: f"person {MARK}", lambda: [MARK], lambda: [f"{MARK}", None],
    lambda: [[MARK], [1, 2]], lambda: np.full((3, 2), MARK), lambda: np.full(4, MARK + 0.25), lambda: np.full(12, f"{MARK}"),
    lambda: {MARK: MARK}, lambda: Fraction(MARK, 7), lambda: Decimal(MARK), lambda: csr_array(np.full((12, 3), MARK * 1.0)),
    lambda: -MARK, lambda: (MARK, "a"), lambda: np.array([MARK, None, f"{MARK}"], dtype=object), lambda: MARK * 10**40,
    lambda: f"{MARK}/0", lambda: b"%d" % MARK,
)  # fmt: skip
"""Values of private parameters that must not be shown."""

DRAWN: Final = st.one_of(
    st.integers(),
    st.floats(),
    st.fractions(max_denominator=1000),
    st.decimals(),
    st.text(st.characters(exclude_characters="/"), max_size=9),
    st.lists(st.integers() | st.floats() | st.none(), max_size=4),
    st.binary(max_size=4),
)
"""Values of simple kinds that nobody thought of; texts without slashes, as some become paths."""
