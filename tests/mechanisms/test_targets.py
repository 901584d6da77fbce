"""Bundled targets and examples: loadable by name, cheap to import, reproducible, and honest about data and neighbours."""

from __future__ import annotations

import importlib.util
import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpaudit.accounting import price_releases
from dpaudit.auditor.verdict.proof_status import is_alone
from dpaudit.claims import GDP, ZCDP, ApproxDP, PureDP
from dpaudit.importing import module_at
from dpaudit.loading import Reference, load_targets
from dpaudit.releases import recording
from dpaudit.verifier.chain import rests_on
from mechanisms.targets import TARGETS, programs
from mechanisms.targets.queries import CLINICS
from proofs.chain import NODES

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
AUDITS = ROOT / "mechanisms" / "targets"
NAMES = {target.name: target for target in TARGETS}
BROKEN = {"broken_mean", "broken_noise", "broken_sparse_vector", "broken_noisy_max", "broken_keys", "broken_running_counts"}

PROVEN = ("laplace", "gaussian", "discrete_gaussian", "real_laplace", "real_gaussian", "randomized_response")
PROVEN += ("exponential_mechanism", "noisy_max", "above_threshold", "sparse_vector", "histogram")

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def as_rows(outputs):
    return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)


def edits(first, second):
    """How many records two data sets differ by, as (removed, added)."""
    left, right = list(first), list(second)
    for record in first:
        if record in right:
            right.remove(record)
            left.remove(record)
    return len(left), len(right)


def test_the_bundle_has_the_targets_that_the_documentation_names():
    expected = ["laplace", "gaussian", "discrete_gaussian", "staircase", "bounded_noise", "real_laplace", "real_gaussian"]
    expected += ["euclidean_laplace", "running_counts", "clipped_sum"]
    expected += ["randomized_response", "exponential_mechanism", "permute_and_flip", "top_k", "noisy_max"]
    expected += ["above_threshold", "sparse_vector", "histogram", "stability_histogram", "partition_selection"]
    expected += ["cancer_count", "cancer_mean", "cancer_histogram", "cancer_quantile", "broken_mean", "broken_noise"]
    expected += ["broken_sparse_vector", "broken_noisy_max", "broken_keys", "broken_running_counts"]
    assert expected == list(NAMES)


def test_the_readme_counts_the_bundled_targets():
    bundled = len(TARGETS) + len(module_at("learners.targets").TARGETS)
    assert f"audits the {bundled} bundled targets" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_sound_target_but_one_names_the_proof_of_what_it_logs():
    logged = module_at("proofs.chain").LOGGED
    without = {name for name, target in NAMES.items() if not target.proof}
    assert {"bounded_noise", "broken_mean", "broken_keys", "broken_running_counts"} == without
    for target in TARGETS:
        place, _, claim = target.proof.partition("#")
        with recording() as log:
            target.sample(target.neighbours[0][0], 1, np.random.default_rng(1))
        if target.name in BROKEN:
            assert place in {"", *(f"mechanisms.targets.programs:{name}(epsilon=1)" for name in vars(programs))}
        elif place:
            assert "proofs.chain" == place
            assert {release.kind for release in log} <= set(logged[claim.removesuffix(".claim")])


def test_every_public_mechanism_is_released_by_a_target():
    import mechanisms

    public = {name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "releases")}
    released = {name for path in AUDITS.glob("*.py") for name in public if f"{name}(" in path.read_text(encoding="utf-8")}
    assert public == released


@each_target
def test_a_target_can_be_loaded_again_in_another_process(target):
    reference = Reference("mechanisms.targets:TARGETS", list(NAMES).index(target.name))
    assert target == pickle.loads(pickle.dumps(reference)).load()


@each_target
def test_a_target_gives_as_many_outputs_as_asked_the_same_for_the_same_generator(target):
    for first, second in target.neighbours:
        for data in (first, second):
            outputs = [as_rows(target.sample(data, 50, np.random.default_rng(5))) for _ in range(2)]
            assert 50 == len(outputs[0])
            assert np.isfinite(outputs[0]).all()
            np.testing.assert_array_equal(*outputs)
        assert 1 == len(as_rows(target.sample(first, 1, np.random.default_rng(6))))


@each_target
def test_a_target_says_what_it_asks(target):
    assert target.description
    assert target.source is not None
    assert ("broken on purpose" in target.description) == (target.name in BROKEN)
    assert ("wrong" in target.claim.note) == (target.name in BROKEN)


@each_target
def test_the_log_of_a_target_is_priced_within_its_claim(target):
    """Also for the broken ones: their price looks right, which is why an attack is needed."""
    with recording() as log:
        target.sample(target.neighbours[0][0], 1, np.random.default_rng(1))
    assert 1 == len(log)
    assert target.adjacency == log[0].adjacency
    assert not log[0].secure
    guarantee = target.claim.guarantee
    if isinstance(guarantee, GDP):
        assert guarantee.mu == log[0].sensitivity / log[0].parameter("sigma")
    elif isinstance(guarantee, ZCDP):
        assert guarantee.rho == log[0].sensitivity ** 2 / log[0].parameter("sigma_squared") / 2
    elif isinstance(guarantee, ApproxDP):
        assert price_releases(log).delta(epsilon=guarantee.epsilon).upper <= guarantee.delta
    else:
        assert isinstance(guarantee, PureDP)
        assert price_releases(log).epsilon(delta=0).upper <= guarantee.epsilon


def is_made_of_records(target):
    """Whether neighbours are two tuples of people; a category alone is one person's, and a row of scores is nobody's."""
    return target.adjacency.kind in {"add_remove", "replace_one"} and isinstance(target.neighbours[0][0], tuple)


@pytest.mark.parametrize("name", [name for name, target in NAMES.items() if is_made_of_records(target)])
def test_the_neighbours_made_from_records_differ_as_the_claim_says(name):
    target = NAMES[name]
    allowed = {"add_remove": {(0, 1), (1, 0)}, "replace_one": {(1, 1)}}[target.adjacency.kind]
    assert all(edits(first, second) in allowed for first, second in target.neighbours)


@pytest.mark.parametrize("name", [name for name, target in NAMES.items() if target.adjacency.kind == "norm_ball"])
def test_the_neighbours_in_a_norm_ball_are_as_far_apart_as_the_claim_allows(name):
    target = NAMES[name]
    order = {"l1": 1, "l2": 2, "linf": np.inf}[target.adjacency.norm]
    for first, second in target.neighbours:
        assert target.adjacency.radius == np.linalg.norm(np.atleast_1d(first) - np.atleast_1d(second), order)


def test_a_declared_output_law_is_that_of_the_outputs():
    """Hoeffding: a share of 100,000 outputs is off by 0.011 with probability at most 6.2e-11."""
    target = NAMES["bounded_noise"]
    outputs = target.sample(3, 100_000, np.random.default_rng(11)).tolist()
    law = target.pmf(3)
    assert 1 == sum(law.values())
    assert set(law) == set(outputs)
    assert max(abs(outputs.count(value) / 100_000 - mass) for value, mass in law.items()) < 0.011


def test_no_pair_breaks_the_exact_law_of_bounded_noise_and_the_delta_is_met():
    target = NAMES["bounded_noise"]
    guarantee = target.claim.guarantee
    for first, second in [*target.neighbours, *((other, one) for one, other in target.neighbours)]:
        likely, unlikely = target.pmf(first), target.pmf(second)
        factor = Fraction(math.floor(math.exp(guarantee.epsilon) * 10**6), 10**6)
        excess = sum(max(mass - factor * unlikely.get(value, 0), 0) for value, mass in likely.items())
        assert guarantee.delta == excess


def test_a_sparse_vector_says_which_answers_are_above_until_it_has_named_two():
    answers = NAMES["sparse_vector"].sample((-900, 900, -900, 900, 900), 2, np.random.default_rng(3))
    assert [[0, 1, 0, 1, -1]] * 2 == answers.tolist()
    assert [[0, 0, 1]] == NAMES["sparse_vector"].sample((-900, -900, 900), 1, np.random.default_rng(3)).tolist()


@pytest.mark.parametrize("name", PROVEN)
def test_nothing_stands_around_a_mechanism_whose_target_reads_proven(name):
    target = NAMES[name]
    assert is_alone(target.function)
    held = rests_on(NODES, target.proof.partition("#")[2])
    assert {"proven", "axiom"} == set(held)


def test_keys_are_told_by_a_row_with_a_zero_for_each_that_is_not_shown():
    people = [("east", "west")] * 900 + [("north",)]
    (row,) = NAMES["stability_histogram"].sample(people, 1, np.random.default_rng(4)).tolist()
    assert [False, True, False, True] == [value > 0 for value in row]
    assert [0] == NAMES["partition_selection"].sample((), 1, np.random.default_rng(4)).tolist()


def test_a_person_counts_at_two_clinics_only():
    (row,) = NAMES["stability_histogram"].sample([CLINICS] * 9000, 1, np.random.default_rng(4)).tolist()
    assert [True, True, False, False] == [value > 4500 for value in row]


@each_target
def test_declared_sensitivities_hold_on_the_neighbours_and_are_met_on_one_pair(target):
    if target.sensitivity is None:
        return
    query = target.sensitivity.query
    moved = [np.abs(as_rows([query(first)]) - as_rows([query(second)])) for first, second in target.neighbours]
    distances = [difference.max() if target.sensitivity.metric == "linf" else difference.sum() for difference in moved]
    assert target.sensitivity.bound == max(distances)


def loaded_after(statement, *names):
    """Which modules a fresh interpreter holds after a statement."""
    code = f"{statement}; import sys; print([name for name in {names!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def test_importing_the_targets_is_cheap():
    assert "[]" == loaded_after("import mechanisms.targets", "sklearn", "scipy", "hypothesis", "matplotlib", "dpaudit.accounting")


def test_the_package_of_mechanisms_loads_nothing_before_it_is_used():
    assert "[]" == loaded_after("import mechanisms; dir(mechanisms)", "numpy", "flint", "cryptography", "mechanisms.laws")


def test_every_public_name_of_the_package_exists():
    import mechanisms

    assert all(getattr(mechanisms, name) is not None for name in mechanisms.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Laplace'"):
        mechanisms.Laplace  # noqa: B018


@pytest.mark.parametrize("name", ["target", "corrected"])
def test_the_example_of_a_noisy_count_runs(name):
    (target,) = load_targets(f"{EXAMPLES / 'noisy_count.py'}:{name}")
    assert 7 == target.sensitivity.query(target.data)
    assert abs(target.run(target.data, np.random.default_rng(1)) - 7) < 20


def test_the_example_of_a_csv_file_audits_its_records():
    (target,) = load_targets(f"{EXAMPLES / 'csv_mean.py'}:target", data=str(EXAMPLES / "visits.csv"))
    assert 300 == len(target.data)
    assert {"visit", "ward", "minutes"} == set(target.data[0])
    minutes = [min(record["minutes"] or 0.0, 90.0) for record in target.data]
    means = target.sample(target.data, 1000, np.random.default_rng(1))
    assert abs(np.median(means) - np.mean(minutes)) < 0.2


def test_the_csv_file_of_the_example_is_written_again_byte_for_byte(tmp_path):
    specification = importlib.util.spec_from_file_location("csv_mean", EXAMPLES / "csv_mean.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.write_visits(tmp_path / "visits.csv")
    assert (EXAMPLES / "visits.csv").read_bytes() == (tmp_path / "visits.csv").read_bytes()


def printed_by(example):
    """What an example prints, line by line, run as a user runs it."""
    command = [sys.executable, str(EXAMPLES / example)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return ran.stdout.splitlines()


def test_the_example_of_a_histogram_prints_counts_and_their_price():
    lines = printed_by("private_histogram.py")
    assert 5 == sum(line.startswith("ages") for line in lines)
    assert "price of everything released: epsilon = 1" == lines[-1]


def test_the_example_of_an_alarm_gives_at_most_three_and_prints_their_price():
    lines = printed_by("sparse_vector_alarm.py")
    assert len([line for line in lines if ": alarm, about" in line]) <= 3
    assert "price of the whole run: epsilon = 1" == lines[-1]


def test_the_example_of_unknown_keys_shows_common_ones_and_no_rare_one():
    """A key that one person has is shown with probability below 1e-9."""
    lines = printed_by("unknown_diagnoses.py")
    assert ["asthma", "influenza"] == [line.partition(":")[0] for line in lines if line.startswith(("asthma", "influenza"))]
    assert not any("parrot fever" in line for line in lines)
    assert lines[-1].startswith("price of everything released: epsilon = 1, delta = ")
