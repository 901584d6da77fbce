"""Chunks, seeds and tasks: pure functions of their place in the seed tree."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Claim, PureDP, Target
from dpaudit.auditor.events.ranking import Threshold
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.reading.outputs import Failure
from dpaudit.auditor.runs.chunks import (
    LARGEST_CHUNK,
    PILOT,
    SMALLEST_CHUNK,
    Broken,
    Chunk,
    ChunkRuns,
    Manner,
    Task,
    chunk_sizes,
    perform,
    sample_one,
)
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.errors import InvalidArgument
from dpaudit.results import Counts


def task(size=100, index=0, events=(), manner=None, pair=0, root=1, **parts):
    target = Target(claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1), (0, 2)], **parts)
    work = Workload("", Subject(target, candidate_pairs(target)))
    return Task(work, root, Chunk(0, pair, PILOT, index, size), manner or Manner(fit_features([0.5])), events)


def noisy(data, rng):
    return data + rng.laplace()


def noisy_many(data, count, rng):
    return data + rng.laplace(size=count)


@given(total=st.integers(1, 200_000), first=st.integers(1, 64))
def test_chunk_sizes_add_up_double_and_stay_below_the_largest(total, first):
    sizes = list(chunk_sizes(total, first=first))

    assert total == sum(sizes)
    assert max(sizes) <= LARGEST_CHUNK
    assert all(after in {before, 2 * before, LARGEST_CHUNK} for before, after in itertools.pairwise(sizes[:-1]))


def test_the_schedule_without_an_end_starts_like_the_one_with_an_end():
    assert list(chunk_sizes(100_000))[:-1] == list(itertools.islice(chunk_sizes(None), len(list(chunk_sizes(100_000))) - 1))
    assert [32, 32, 64, 128, 256] == list(itertools.islice(chunk_sizes(None), 5))


@pytest.mark.parametrize("parts", [{"run": noisy}, {"sample": noisy_many}])
def test_a_task_repeats_exactly(parts):
    first, second = perform(task(**parts)), perform(task(**parts))

    assert (first.features == second.features).all()
    assert (first.labels == second.labels).all()


@pytest.mark.parametrize("other", [{"index": 1}, {"pair": 1}, {"root": 2}])
def test_another_place_in_the_seed_tree_gives_other_labels_and_other_noise(other):
    first, second = perform(task(run=noisy)), perform(task(run=noisy, **other))

    assert (first.labels != second.labels).any()
    assert not set(first.features[:, 0].tolist()) & set(second.features[:, 0].tolist())


def test_labels_do_not_depend_on_what_the_target_does_with_its_generator():
    thirsty = task(run=lambda data, rng: rng.random(17).sum())

    assert (perform(thirsty).labels == perform(task(run=noisy)).labels).all()


@pytest.mark.parametrize("size", [SMALLEST_CHUNK, 1000])
def test_outputs_of_a_sample_function_stand_at_their_labels(size):
    outcome = perform(task(size, sample=lambda data, count, rng: np.full(count, float(data))))

    assert outcome.labels.tolist() == outcome.features[:, 0].tolist()
    assert 0 < outcome.labels.mean() < 1


def test_outputs_of_different_types_on_the_two_sides_stand_at_their_labels():
    def sample(data, count, rng):
        return np.full(count, 1.0) if data else [0] * count

    outcome = perform(task(1000, sample=sample))

    assert outcome.labels.tolist() == outcome.features[:, 0].tolist()


def test_with_events_only_their_hits_come_back():
    plain = perform(task(1000, run=noisy))
    events = tuple(Threshold(0, limit, at_most=side) for limit, side in ((0.5, False), (0.0, True), (2.0, False)))
    hits = [plain.labels[event.hits(plain.features)] for event in events]

    expected = tuple(Counts(int(one.sum()), int((1 - one).sum()), 1000) for one in hits)
    assert expected == perform(task(1000, run=noisy, events=events)).counts


def test_an_exception_is_the_output_of_its_run_and_of_no_other():
    def sometimes(data, rng):
        if rng.random() < 0.3:
            raise ValueError(data)
        return 0.0

    kinds = perform(task(2000, run=sometimes)).features[:, 2]

    assert 0.25 < float((kinds != 0).mean()) < 0.35


class Leaking(InvalidArgument):
    """An error of ours whose code was replaced by what no output may hold."""

    def __init__(self, code):
        super().__init__("DPA103", "alice")
        self.code = code


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidArgument("DPA103", "alice is 31"), "raised InvalidArgument DPA103"),
        (KeyError("alice is 31"), "raised KeyError"),
        (SystemExit("DPA103"), "raised SystemExit"),
        (Leaking("alice"), "raised Leaking"),
        (Leaking(["alice"]), "raised Leaking"),
    ],
)
def test_of_an_error_the_type_is_kept_and_a_code_of_ours_and_nothing_else(error, kind):
    def fails(data, rng):
        raise error

    target = Target(run=fails, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])
    assert Failure(kind) == sample_one(target, 0, np.random.default_rng(1))


def test_a_sample_call_for_many_that_fails_breaks_the_chunk():
    def fails_on_many(data, count, rng):
        if count > 1:
            raise ValueError(data)
        return [0.0]

    assert Broken("raised ValueError") == perform(task(100, sample=fails_on_many))
    single = replace(task(100, sample=fails_on_many), manner=Manner(fit_features([0.5]), single=True))
    assert isinstance(perform(single), ChunkRuns)


@pytest.mark.parametrize("result", [3.0, None, "ab", [1.0], {0: 1.0, 1: 2.0}])
def test_a_sample_result_that_is_no_sequence_of_the_right_length_breaks_the_chunk(result):
    assert isinstance(perform(task(100, sample=lambda data, count, rng: result)), Broken)


def test_a_wrong_single_result_is_a_failure_with_a_kind():
    features = fit_features([Failure("returned another number of outputs than asked for"), 1.0])
    outcome = perform(task(32, sample=lambda data, count, rng: [0.0, 0.0], manner=Manner(features)))

    assert {0.0} == set(outcome.features[:, features.names.index("kind")].tolist())


def test_copies_protect_later_runs_from_a_function_that_changes_its_data():
    def consuming(data, rng):
        return float(len([data.pop() for _ in range(len(data))]))

    target = Target(run=consuming, claim=Claim(PureDP(epsilon=1)), neighbours=[([1, 2], [1])])
    work = Workload("", Subject(target, candidate_pairs(target)))
    outcome = perform(Task(work, 0, Chunk(0, 0, PILOT, 0, 50), Manner(fit_features([0.5]), copies=True)))

    assert (2.0 - outcome.labels).tolist() == outcome.features[:, 0].tolist()
