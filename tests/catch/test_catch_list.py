"""The catch list: every broken release is refuted at the suite's false-alarm budget, and no sound twin is flagged."""

from __future__ import annotations

import pytest
from causes import CAUSES, SILENT
from defects import DEFECTS
from defects.budgets import BATCHES, EPOCHS, SIGMA
from defects.defect import witnesses

from devtools.site import TABLES
from dpaudit import audit
from dpaudit.accounting import Poisson, compose, gaussian, laplace
from dpaudit.results import Verdict

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

ALPHA = "1e-6"
RUNS = 20_000
TWIN_RUNS = 1_500

KINDS = {
    "lower bound used twice",
    "bound not squared",
    "bound squared twice",
    "add-remove claimed, replace happens",
    "group size counted as distance",
    "L1 noise for an L2 query",
    "L2 noise for another norm",
    "clipping after instead of before",
    "missing clip",
    "data-dependent n",
    "batch floor",
    "empty special case",
    "odd-length special case drops a row",
    "order-dependent transform under an unordered claim",
    "shuffle inside a stable map",
    "origin or centre dropped",
    "wrap or overflow in a sum",
    "NaN or infinity as a distinguishing event",
    "float Laplace noise by inversion",
    "rounding at the wrong place",
    "seed reuse across releases",
    "noise drawn once and shared",
    "selection with the wrong zCDP constant",
    "exponential mechanism with the wrong exponent",
    "sparse vector resets without paying",
    "sparse vector reuses noise",
    "composition forgets a split",
    "composition forgets the log term",
    "Poisson accounting with shuffled batches",
    "subsampling amplification applied twice",
    "delta spent but not counted",
    "budget compare with a float slack",
    "wrong neighbour unit for grouped users",
    "votes of teachers",
    "keys taken from private data",
    "early stopping on private loss",
    "hyper-parameter choice without cost",
}
"""Classes of defects that were published, and that the list must not lose."""


def named(defects):
    return [pytest.param(defect, id=defect.name) for defect in defects]


@pytest.mark.parametrize("defect", named(DEFECTS))
def test_a_broken_release_is_refuted(defect):
    (result,) = audit(defect.mutant, alpha=ALPHA, runs=RUNS, seed=1).results
    assert Verdict.REFUTED == result.verdict
    cause = None if result.diagnosis is None else result.diagnosis.cause
    assert (cause is None) == (defect.name in SILENT)
    assert cause is None or cause in CAUSES[defect.name]


@pytest.mark.parametrize("defect", named(DEFECTS))
def test_its_sound_twin_is_not_flagged_by_any_part_of_an_audit(defect, full_size):
    (result,) = audit(defect.twin, alpha=ALPHA, runs=RUNS if full_size else TWIN_RUNS, seed=1).results
    assert result.verdict in {Verdict.CONSISTENT, Verdict.INCONCLUSIVE}
    assert result.diagnosis is None
    assert () == witnesses(result)


@pytest.mark.parametrize(
    ("name", "witness"),
    [
        ("size_of_one_bound", "declared sensitivity"),
        ("order_of_a_float_sum", "declared sensitivity"),
        ("sum_in_eight_bits", "declared sensitivity"),
        ("exponent_doubled", "declared output law"),
        ("constant_of_another_theorem", "declared output law"),
        ("keys_from_the_data", "outputs have the same form on both datasets"),
        ("sum_in_half_precision", "outputs have the same form on both datasets"),
        ("seeded_by_the_data", "output is random or does not depend on the data"),
        ("spent_twice_in_the_log", "price"),
    ],
)
def test_few_runs_are_enough_for_the_parts_of_an_audit_that_use_no_statistics(name, witness):
    (defect,) = (defect for defect in DEFECTS if defect.name == name)
    (result,) = audit(defect.mutant, alpha=ALPHA, runs=500, seed=1).results
    assert witness in witnesses(result)


def test_four_in_five_causes_are_named():
    assert {defect.name for defect in DEFECTS} == set(CAUSES)
    assert 5 * len(SILENT) <= len(CAUSES)


def test_the_list_covers_every_published_class():
    assert set() == KINDS - {defect.kind for defect in DEFECTS}
    assert 36 <= len(DEFECTS) == len({defect.name for defect in DEFECTS})


def test_the_site_lists_every_defect_beside_its_twin():
    expected = [f"| {defect.kind} | `{defect.name}` | {defect.wrong} | {defect.right} |" for defect in DEFECTS]
    assert expected == TABLES["catch_list"]().splitlines()[2:]


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("batches_dealt_out_once", (BATCHES * EPOCHS) * gaussian(sigma=str(SIGMA)).sampled(Poisson(f"1/{BATCHES}"))),
        ("logarithm_forgotten", 10 * laplace(scale="25/4")),
        ("budget_not_split", 2 * laplace(scale=2)),
        ("long_rows_kept", gaussian(sigma=1)),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_the_accountant_confirms_the_claim_of_a_twin(name, loss):
    (defect,) = (defect for defect in DEFECTS if defect.name == name)
    guarantee = defect.guarantee
    assert compose(loss).delta(epsilon=guarantee.epsilon).upper <= getattr(guarantee, "delta", 0)
