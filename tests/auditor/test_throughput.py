"""What an audit does not do: its speed is held by counting work, since clocks on shared machines prove nothing."""

import subprocess
import sys

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.attack.course import join_runs
from dpaudit.auditor.attack.plans import Plan, plan_of
from dpaudit.auditor.betting import label_bettor
from dpaudit.auditor.events import predicates
from dpaudit.auditor.events.ranking import Atoms, ScoreThreshold, Threshold
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading import features as feature_maps
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.runs.chunks import BOUND, LARGEST_CHUNK, Chunk, ChunkRuns, Manner, Task, perform
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.auditor.scoring.table import ScoreTable
from dpaudit.auditor.statistics.bounds import ClaimPoint


def counted(monkeypatch, module, name):
    """Arguments of every call of a function of a module."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: calls.append(args) or function(*args))
    return calls


def bound_task(sample, first, event):
    target = Target(sample=sample, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])
    work = Workload("", Subject(target, candidate_pairs(target)))
    return Task(work, 0, Chunk(0, 0, BOUND, 0, 1000), Manner(fit_features(first, bits=True)), (event,))


def numbers(data, n, rng):
    return data + rng.laplace(size=n)


def vectors(data, n, rng):
    return data + rng.laplace(size=(n, 5))


@pytest.mark.parametrize(("column", "computed"), [(0, (0, 0)), (1, (1, 0)), (2, (0, 1)), (5, (0, 0))])
def test_the_bound_computes_no_feature_of_a_number_but_those_of_its_event(monkeypatch, column, computed):
    parity, bits = counted(monkeypatch, feature_maps, "_parity"), counted(monkeypatch, feature_maps, "_bits")
    perform(bound_task(numbers, [0.5, 1.5], Threshold(column, 0.0, at_most=True)))

    assert computed == (len(parity), len(bits))


@pytest.mark.parametrize("column", range(13))
def test_columns_of_a_vector_that_are_not_asked_for_are_not_even_written(column):
    features = fit_features([np.zeros(5)])
    outputs = 1 + np.random.default_rng(0).random((50, 5))
    matrix = features.matrix(outputs, columns=(column,))

    assert {column} >= set(np.flatnonzero(matrix.any(axis=0)).tolist())
    assert features.matrix(outputs)[:, column].tolist() == matrix[:, column].tolist()


@pytest.mark.parametrize(("column", "computed"), [(0, []), (9, [slice(0, 1)]), (11, [slice(2, 3)]), (12, [])])
def test_the_bound_computes_only_the_summary_that_its_event_needs(monkeypatch, column, computed):
    summaries = counted(monkeypatch, feature_maps, "_summaries")
    perform(bound_task(vectors, [np.zeros(5)], Threshold(column, 0.0, at_most=True)))

    assert computed == [places for _, places in summaries]


def test_what_an_event_looks_up_is_prepared_once_for_all_chunks(monkeypatch):
    codes, rows = counted(monkeypatch, predicates, "row_codes"), np.zeros((10, 1))
    atoms = Atoms((0,), ((0.0,), (1.0,)))
    table = ScoreTable((0,), ((0.5,),), ((-1.0, 1.0),), 0.0, symbols=((1, 2),), patterns=(3,), pattern_values=(0.5,))
    score = ScoreThreshold(table, 0.0, at_most=False)
    arrays = [(score.hits(rows).tolist(), table._arrays, table._pattern_arrays) for _ in range(3)]

    assert [[True] * 10] * 3 == [atoms.hits(rows).tolist() for _ in range(3)]
    assert 1 + 3 == len(codes)
    assert all(found[1] is arrays[0][1] and found[2] is arrays[0][2] for found in arrays)


def test_every_run_is_sampled_once_and_chunks_in_one_call_for_each_dataset():
    calls = []

    def sample(data, n, rng):
        calls.append(n)
        return numbers(data, n, rng)

    runs = 600_000
    (result,) = audit(Target(sample=sample, claim=Claim(PureDP(epsilon=2)), neighbours=[(0, 1)]), runs=runs, seed=2).results
    large = [n for n in calls if n > LARGEST_CHUNK // 4]

    assert result.attack.runs == sum(calls) <= runs
    assert sum(large) > 0.9 * runs
    assert len(large) <= 2 * runs / LARGEST_CHUNK + 2


def test_no_score_is_fitted_to_a_single_column_that_varies(monkeypatch):
    fits, rng = counted(monkeypatch, label_bettor, "fit_score"), np.random.default_rng(0)
    labels = rng.integers(0, 2, 3000, dtype=np.uint8)
    for columns in (1, 2):
        rows = np.column_stack([rng.normal(size=(3000, columns)), np.zeros((3000, 2))])
        label_bettor.LabelBettor(ClaimPoint(1, 0)).observe(rows, labels)
        assert (columns > 1) == bool(fits)


def test_only_the_first_rows_are_joined_where_no_more_are_looked_at():
    parts = [ChunkRuns(np.full((size, 2), float(size)), np.ones(size, dtype=np.uint8)) for size in (3, 4, 5)]
    unread = ChunkRuns(None, np.ones(6, dtype=np.uint8))

    assert [3.0] * 3 + [4.0] * 2 == join_runs([*parts, unread], 5)[0][:, 0].tolist()
    assert 7 == len(join_runs([*parts[:2], unread], 7)[1])
    assert 12 == len(join_runs(parts)[0]) == len(join_runs(parts, 100)[1])


def test_the_rows_that_are_kept_do_not_grow_with_the_budget():
    assert Plan(999_996, 449_998, 8_549_966) == plan_of(10**7, 1)
    for runs in (4 * 10**8, 10**11):
        assert 3 * 10**6 == plan_of(runs, 1).pilot + plan_of(runs, 1).betting
        assert 5 * 10**6 == plan_of(runs, 16).pilot + plan_of(runs, 16).betting


def test_an_audit_imports_no_statistics_package():
    code = (
        "import sys; from dpaudit import Claim, PureDP, Target, audit\n"
        "target = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])\n"
        "audit(target, runs=3000); print('scipy.special' in sys.modules, 'scipy.stats' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "True False" == told.stdout.strip()
