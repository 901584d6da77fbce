"""What an audit did not read is counted and named, and it never calls a claim consistent beside it."""

import json
from concurrent.futures import ProcessPoolExecutor
from threading import Lock

import numpy as np
import pytest
from output_kinds import HELD_OUT, TUNED, release

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor import replay
from dpaudit.auditor.reading.features import Form, fit_features, widen_map
from dpaudit.auditor.reading.keeping import keep_output
from dpaudit.auditor.reading.leaves import Leaves
from dpaudit.auditor.reading.outputs import groups
from dpaudit.auditor.reading.reader import parse_output
from dpaudit.auditor.reading.unread import NEW_KEYS, Tally, account_of, unread_in
from dpaudit.report import from_json, to_annotations, to_html, to_json, to_junit, to_sarif
from dpaudit.results import Verdict

PAIR = ([1] * 5, [1] * 4)

LEAKS = {
    "text and number": lambda data, rng: ("debug", len(data)),
    "dictionary": lambda data, rng: {"rows": len(data), "noise": rng.random()},
    "log line": lambda data, rng: f"debug: {len(data)} rows at {rng.random():.3f}",
    "bytes": lambda data, rng: bytes([200, len(data)]) + rng.bytes(60),
    "function": lambda data, rng: lambda: data,
    "lock": lambda data, rng: Lock(),
    "unique text": lambda data, rng: f"{rng.bytes(6).hex()}{len(data)}",
}


class Sometimes:
    """A release that shows its data now and then, and is sound otherwise; it can be sent to a worker."""

    def __init__(self, name, rate):
        self.name, self.rate = name, rate

    def __call__(self, data, rng):
        return LEAKS[self.name](data, rng) if rng.random() < self.rate else len(data) + rng.laplace()


def seen_late(kind, times, of=2000):
    """A tally of outputs of which some have a form that the first map did not know."""
    features = widen_map(fit_features([1.5]), [Form(kind, ((0,), (1,)))])
    tally = Tally()
    tally.add(account(features, [1.5] * (of - times) + [("debug", 1)] * times))
    return tally


def target_of(run, pairs=(PAIR,), epsilon=1):
    return Target(run=run, claim=Claim(PureDP(epsilon=epsilon)), neighbours=list(pairs))


def audited(run, runs=20_000, seed=0, **options):
    return audit(target_of(run), runs=runs, seed=seed, **options).results[0]


@pytest.mark.parametrize("kind", ["JSON", "pickle", "datetime64", "slots", "base64", "memoryview", "lock", "order of keys", "enum"])
def test_a_leak_in_any_kind_of_output_is_refuted_or_said_not_to_be_looked_into(kind):
    (result,) = audit(release(kind, scale=0.1), runs=4000, seed=1).results

    assert result.verdict is Verdict.REFUTED or (result.verdict is Verdict.INCONCLUSIVE and result.attack.unread is not None)


@pytest.mark.parametrize("kind", ["CSV row", "structured array", "deque", "huge integer", "masked array", "JSON spelled out"])
def test_sound_outputs_of_many_kinds_are_read_in_full_and_not_refuted(kind):
    (result,) = audit(release(kind, scale=1.0), runs=4000, seed=1).results

    assert result.verdict is not Verdict.REFUTED
    assert result.attack.unread is None


@pytest.mark.parametrize(("rate", "seed"), [(0.01, 0), (0.003, 1), (0.001, 2)])
@pytest.mark.parametrize("name", LEAKS)
def test_a_form_that_appears_late_never_leaves_a_claim_consistent(name, rate, seed):
    result = audited(Sometimes(name, rate), runs=8000, seed=seed)

    assert result.verdict is Verdict.REFUTED or (result.verdict is Verdict.INCONCLUSIVE and result.attack.power.epsilon is None)


@pytest.mark.parametrize("seed", range(2))
def test_what_appears_late_in_the_pilot_is_read_there_and_refutes(seed):
    result = audited(Sometimes("text and number", 0.01), runs=50_000, seed=seed)

    assert Verdict.REFUTED == result.verdict
    assert result.attack.unread is None


def test_a_late_form_that_only_one_of_several_pairs_shows_is_not_lost():
    pairs = [([1, index], [index]) for index in range(2, 5)]

    def run(data, rng):
        late = 4 in data and rng.random() < 0.02
        return ("debug", float(len(data))) if late else len(data) + rng.laplace()

    (result,) = audit(target_of(run, pairs), runs=40_000, seed=1).results

    assert Verdict.REFUTED == result.verdict
    assert 2 == result.attack.pair.index


def test_runs_that_are_read_again_win_nothing_and_are_not_counted_twice():
    calls = []

    def run(data, rng):
        calls.append(1)
        return [rng.laplace()] * (2 if rng.random() < 0.01 else 1)

    result = audited(run, runs=6000)
    path = result.attack.sequential.path

    assert result.attack.runs <= 6000 < len(calls)
    assert result.attack.plan[0] + result.attack.plan[1] == result.attack.sequential.runs
    assert path[-1].log10_wealth < 1


def test_evidence_with_late_forms_does_not_depend_on_workers_and_is_replayed():
    target = target_of(Sometimes("log line", 0.01))
    alone = audit(target, runs=8000, seed=2)
    with ProcessPoolExecutor(2) as pool:
        together = audit(target, runs=8000, seed=2, executor=pool)

    assert alone.results == together.results
    assert [()] == [one.differences for one in replay(alone, targets=[target])]


def test_a_budget_in_seconds_reads_late_forms_too_and_is_replayed():
    target = target_of(Sometimes("dictionary", 0.05))
    report = audit(target, seconds="1", seed=1)

    assert report.results[0].verdict in {Verdict.REFUTED, Verdict.INCONCLUSIVE}
    assert [()] == [one.differences for one in replay(report, targets=[target])]


def test_a_form_first_seen_in_the_bound_is_counted_there():
    def run(data, rng):
        run.calls += 1
        return {"rows": len(data)} if run.calls in (9000, 9500) else len(data) + rng.laplace()

    run.calls = 0
    result = audited(run, runs=12_000)

    assert Verdict.INCONCLUSIVE == result.verdict
    assert 2 == result.attack.unread.runs
    assert ("a form first seen after the pilot (a dict of 1: an integer)",) == result.attack.unread.kinds


def test_new_lengths_are_no_reason_to_doubt_a_release():
    def run(data, rng):
        return [len(data) + rng.laplace(), *rng.normal(size=min(12, rng.geometric(0.4)))]

    result = audited(run, runs=6000, power_target=2)

    assert result.attack.unread is None
    assert Verdict.CONSISTENT == result.verdict


def test_words_of_a_fixed_list_are_read_and_words_that_never_come_again_are_not():
    chosen = audited(lambda data, rng: "word" + "abcdefgh"[min(7, rng.geometric(0.5))], runs=4000)
    random = audited(lambda data, rng: rng.bytes(8).hex().translate(str.maketrans("0123456789", "ghijklmnop")), runs=4000)

    assert chosen.attack.unread is None
    assert ("str values that hardly repeat",) == random.attack.unread.kinds


def test_the_share_that_was_not_read_reaches_every_kind_of_report():
    report = audit(target_of(Sometimes("lock", 0.2)), runs=3000, seed=1)
    said = "of the outputs hold something that is not looked into: object."

    assert said in report.results[0].summary
    for written in (to_json(report), to_junit(report), to_sarif(report), to_html(report), to_annotations(report)):
        assert said in str(written)


def test_a_report_keeps_what_was_not_read_and_leaves_it_out_where_there_is_nothing():
    report = audit(target_of(Sometimes("lock", 0.2)), runs=3000, seed=1)
    plain = audit(target_of(lambda data, rng: rng.laplace()), runs=3000, seed=1)

    assert report.results == from_json(to_json(report)).results
    assert plain.results == from_json(to_json(plain)).results
    assert "unread" not in json.loads(to_json(plain))["evidence"]["results"][0]["attack"]


@pytest.mark.parametrize(
    ("output", "names"),
    [
        (Lock(), ["object"]),
        ([[[[[[[[[[[[[[[[[[3.0]]]]]]]]]]]]]]]]]], ["what lies more than 16 levels deep"]),
        (" " * 200_000, ["the end of a str of more than 100,000 letters"]),
        ({Leaves: 1}, ["type as a key"]),
        (type("Odd", (), {"__array__": lambda self, *_, **__: np.zeros(2)})(), []),
    ],
    ids=["lock", "depth", "length", "key", "array-like"],
)
def test_what_cannot_be_looked_into_is_named_by_its_type(output, names):
    assert names == parse_output(output).leaves.unread


def test_an_endless_generator_is_read_up_to_a_limit():
    def endless():
        while True:
            yield 1.0

    assert ["what a generator gives out after 10,000 items"] == parse_output(keep_output(endless())).leaves.unread
    assert [] == parse_output(keep_output(value for value in (1.0, 2.0))).leaves.unread


def test_an_object_that_holds_itself_is_read_once():
    items = [1.0]
    items.append(items)

    assert [] == parse_output(items).leaves.unread
    assert "list(float,itself)" == parse_output(items).kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**53, 2**53 + 1),
        (10**40, 10**40 + 1),
        (1e300, 1.5e300),
        (np.array([2**60, 1]), np.array([2**60 + 1, 1])),
        (np.datetime64("2024-01-01T00:00:00.000000001"), np.datetime64("2024-01-01T00:00:00.000000002")),
        ("a 12345678901234567890", "a 12345678901234567891"),
        ("1.5", "1.50"),
        (b"\x00" * 40 + b"\x01", b"\x00" * 40 + b"\x02"),
    ],
    ids=["bits", "digits", "beyond", "arrays", "nanoseconds", "long digits", "zeros", "bytes"],
)
def test_outputs_that_differ_in_a_last_digit_have_different_leaves(one, other):
    assert parse_output(one).leaves.values != parse_output(other).leaves.values


@pytest.mark.parametrize("kind", sorted(TUNED | HELD_OUT))
def test_every_kind_of_output_is_read_alike_one_by_one_and_together(kind):
    run, rng = release(kind, scale=1.0).run, np.random.default_rng(1)
    outputs = [keep_output(run(0, rng)) for _ in range(30)]
    features = fit_features(outputs)
    matrix = features.matrix(outputs)

    assert np.isfinite(matrix).all()
    assert matrix.tolist() == [features.matrix([output])[0].tolist() for output in outputs]


def test_a_wider_map_has_columns_for_late_forms_and_keeps_the_old_ones():
    first = fit_features([1.5, 2.5])
    wider = widen_map(first, [Form("tuple(str,int)", ((0,), (1,)))])
    row = dict(zip(wider.names, wider.matrix([("debug", 7)])[0].tolist(), strict=True))

    assert 7.0 == row["item 1"]
    assert set(first.names) <= set(wider.names)
    assert 1.5 == wider.matrix([1.5])[0][wider.names.index("value")]


def account(features, outputs):
    return account_of(features, list(groups(outputs)), len(outputs))


def test_a_place_without_a_column_is_unread_unless_items_vary():
    fixed, ragged = fit_features([[1.0, 2.0]]), fit_features([[1.0], [1.0, 2.0]])
    outputs = [[1.0, 2.0], [1.0, 2.0, 3.0]]

    assert 1 == account(fixed, outputs).unread
    assert 0 == account(ragged, outputs).unread
    assert 1 == len(account(ragged, outputs).late) == len(account(fixed, outputs).late)


def test_new_keys_are_forgiven_only_while_they_are_rare():
    features = fit_features([{"a": 1.0, "b": 2.0}, {"a": 1.0}])
    rare, often = Tally(), Tally()
    rare.add(account(features, [{"a": 1.0}] * 5000 + [{"a": 1.0, "c": 1.0}]))
    often.add(account(features, [{"a": 1.0}] * 50 + [{"a": 1.0, "c": 1.0}]))

    assert unread_in([rare]) is None
    assert (1, 51, (NEW_KEYS,)) == (unread_in([often]).runs, unread_in([often]).of, unread_in([often]).kinds)


def test_a_late_form_counts_as_read_only_where_each_pilot_saw_enough_of_it():
    kind = "tuple(str,int)"

    assert unread_in([seen_late(kind, 0), seen_late(kind, 30)], [seen_late(kind, 1)]) is None
    assert (31, ("a form seen too rarely to be judged (a tuple of 2: a text, an integer)",)) == (
        unread_in([seen_late(kind, 30), seen_late(kind, 1)]).runs,
        unread_in([seen_late(kind, 30), seen_late(kind, 1)]).kinds,
    )
