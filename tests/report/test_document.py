"""The JSON document: nothing lost, nothing accepted silently, every report valid under the shipped schema."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from fractions import Fraction
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Reason
from dpaudit.report import evidence_bytes, from_json, to_html, to_json, to_text, wording
from dpaudit.report.document import audit_command, reproduce_command
from dpaudit.results import (
    PROPERTY_STATUSES,
    Attack,
    Bound,
    ClaimSummary,
    Counts,
    Pair,
    Power,
    Price,
    ProfilePoint,
    Proof,
    ProofStep,
    Property,
    Report,
    Samples,
    Sequential,
    Settings,
    TargetResult,
    Values,
    Verdict,
    WealthPoint,
)

words = st.text(max_size=12)
counts = st.integers(0, 2**70)
reals = st.floats(allow_nan=False)
exact = st.fractions() | st.sampled_from([Fraction(10**400), Fraction(1, 10**400), Fraction(-1, 3), Fraction(0.1)])
reasons = st.recursive(st.builds(Reason, words), lambda parts: st.builds(Reason, words, st.lists(parts, max_size=3).map(tuple)))
ends = exact | st.sampled_from([math.inf, -math.inf])
enclosures = st.builds(lambda first, second, reason: Enclosure(min(first, second), max(first, second), reason), ends, ends, reasons)
named_numbers = st.lists(st.tuples(words, exact), max_size=3).map(tuple)
claims = st.builds(
    ClaimSummary,
    st.sampled_from(["pure_dp", "approx_dp", "zcdp", "rdp", "gdp", "curve", "unknown"]),
    named_numbers,
    words,
    words,
    st.none() | exact,
    st.none() | exact,
)
prices = st.builds(
    Price,
    st.sampled_from(["within", "above", "undecided", "unpriced"]),
    words,
    st.none() | enclosures,
    st.none() | exact,
    st.lists(words, max_size=2).map(tuple),
    st.lists(words, max_size=2).map(tuple),
)
bounds = st.builds(
    Bound,
    st.none() | exact,
    exact,
    exact,
    st.builds(Counts, counts, counts, counts),
    st.sampled_from(["forward", "reverse"]),
    reals,
)
sequentials = st.builds(
    Sequential,
    reals,
    reals,
    reals,
    counts,
    st.none() | counts,
    reals,
    st.lists(st.builds(WealthPoint, counts, reals), max_size=3).map(tuple),
)
attacks = st.builds(
    Attack,
    pair=st.builds(Pair, counts, words, st.none() | st.tuples(words, words)),
    pairs_tried=counts,
    event=words,
    sequential=sequentials,
    bound=st.none() | bounds,
    power=st.builds(Power, st.none() | reals, st.none() | reals, reals),
    p_value=reals,
    alpha=exact,
    runs=counts,
    seed_path=st.lists(counts, max_size=3).map(tuple),
    plan=st.tuples(counts, counts, counts),
)
proofs = st.builds(
    Proof,
    st.sampled_from(list(wording.PROOFS)[:-1]),
    words,
    words,
    words,
    st.lists(st.builds(ProofStep, words, words, st.sampled_from(list(wording.WORDS))), max_size=3).map(tuple),
)
profiles = st.lists(
    st.builds(ProfilePoint, reals, st.none() | reals, st.none() | st.tuples(reals, reals), st.none() | reals), max_size=3
).map(tuple)
results = st.builds(
    TargetResult,
    name=words,
    description=words,
    claim=claims,
    verdict=st.sampled_from(Verdict),
    summary=words,
    reference=st.none() | words,
    source=st.none() | st.tuples(words, counts),
    price=st.none() | prices,
    attack=st.none() | attacks,
    properties=st.lists(st.builds(Property, words, st.sampled_from(PROPERTY_STATUSES), counts, words), max_size=2).map(tuple),
    profile=profiles,
    failure=words,
    rejected_in_family=st.booleans(),
    proof=st.none() | proofs,
    most_runs=st.none() | counts,
    samples=st.none() | st.builds(Samples, st.tuples(words, words), st.tuples(counts, counts), st.tuples(counts, counts)),
)
reports = st.builds(
    Report,
    settings=st.builds(
        Settings,
        alpha=exact,
        runs=counts,
        seed=counts,
        family=st.sampled_from(["holm", "bonferroni"]),
        power_target=exact,
        data=st.none() | words,
        seconds=st.none() | exact,
    ),
    results=st.lists(results, max_size=2).map(tuple),
    env=st.dictionaries(words, words, max_size=2).map(lambda names: tuple(sorted(names.items()))),
    seconds=st.dictionaries(words, reals, max_size=2).map(lambda names: tuple(sorted(names.items()))),
    complete=st.booleans(),
    version=words,
)
small = settings(
    max_examples=60, phases=(Phase.generate, Phase.shrink), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

EMPTY = Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())
RESULT = TargetResult(
    name="a count",
    description="",
    claim=ClaimSummary("pure_dp", (("epsilon", Fraction(1)),), "add_remove", "epsilon = 1 under add_remove"),
    verdict=Verdict.REFUTED,
    summary="",
    reference="count.py:target",
    attack=Attack(
        pair=Pair(0, "record 0 removed, 2 -> 1 records"),
        pairs_tried=1,
        event="value >= 1",
        sequential=Sequential(1.7, 1.7, 1.6, 100, 100, 0.02),
        bound=None,
        power=Power(None, None),
        p_value=0.04,
        alpha=Fraction(1, 20),
        runs=100,
        seed_path=(0, 0),
    ),
)


@pytest.fixture(scope="module")
def validator():
    """The shipped schema, ready to check documents."""
    schema = json.loads((files("dpaudit.report") / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@small
@given(report=reports)
def test_a_report_read_back_is_the_report_that_was_written(report):
    assert report == from_json(to_json(report))


@small
@given(report=reports)
def test_writing_what_was_read_gives_the_same_text_reasons_included(report):
    text = to_json(report)
    assert text == to_json(from_json(text))
    assert evidence_bytes(report) == evidence_bytes(from_json(text))


def test_every_report_is_valid_under_the_shipped_schema(validator):
    @small
    @given(report=reports)
    def valid(report):
        assert [] == list(validator.iter_errors(json.loads(to_json(report))))

    valid()


def test_the_schema_allows_no_field_that_results_do_not_have(validator):
    document = json.loads(to_json(replace(EMPTY, results=(RESULT,))))
    document["evidence"]["results"][0]["attack"]["luck"] = 1
    assert not validator.is_valid(document)


def test_the_schema_asks_for_every_field_that_results_have(validator):
    names = {field.name for field in fields(TargetResult) if not field.metadata.get("left out")} - {"values"}
    assert names < set(validator.schema["$defs"]["result"]["required"])


def test_every_status_of_a_check_is_in_the_schema(validator):
    assert list(PROPERTY_STATUSES) == validator.schema["$defs"]["property"]["properties"]["status"]["enum"]


def test_every_word_of_the_proof_witness_is_in_the_schema_and_has_a_meaning(validator):
    found = validator.schema["$defs"]
    assert {*found["proof"]["properties"]["status"]["enum"], "not attempted"} == set(wording.PROOFS)
    assert set(found["proof_step"]["properties"]["word"]["enum"]) == set(wording.WORDS)


@settings(small, max_examples=12, phases=(Phase.generate,))
@given(report=reports)
def test_every_report_can_be_shown_as_text_and_as_a_page(report):
    assert to_text(report, width=80).endswith("\n")
    parser = HTMLParser()
    parser.feed(to_html(report))
    parser.close()


def test_a_report_of_november_2026_is_read_and_says_that_it_shows_values(validator):
    # Written by `dpaudit audit laplace --runs 2000` before values could be hidden; most points of its path are left out here.
    text = (Path(__file__).parent / "earlier.json").read_text(encoding="utf-8")
    validator.validate(json.loads(text))
    report = from_json(text)
    assert (report.settings.show_values, report.results[0].values) == (False, Values.EARLIER)
    assert report.results[0].attack.pair.witness == ("0", "1")
    assert str(Values.EARLIER) in to_text(report)
    assert from_json(to_json(report)) == report


@pytest.mark.parametrize("alpha", [Fraction(10**5000), Fraction(-1, 10**5000 + 1)], ids=["large", "small"])
def test_numbers_longer_than_python_prints_come_back(alpha):
    report = replace(EMPTY, settings=replace(EMPTY.settings, alpha=alpha))
    assert from_json(to_json(report)) == report


def test_evidence_says_nothing_of_machine_time_and_version():
    elsewhere = replace(EMPTY, env=(("python", "3.14.0"),), seconds=(("total", 9.0),), version="9.9")
    assert evidence_bytes(EMPTY) == evidence_bytes(elsewhere)
    assert to_json(EMPTY) != to_json(elsewhere)


def test_evidence_depends_on_the_seed():
    assert evidence_bytes(EMPTY) != evidence_bytes(replace(EMPTY, settings=replace(EMPTY.settings, seed=1)))


def test_exact_numbers_have_a_float_beside_them():
    settings = json.loads(to_json(EMPTY))["evidence"]["settings"]
    assert ("1/20", 0.05) == (settings["alpha"], settings["alpha_float"])


def test_the_document_has_its_fields_in_order_and_only_ascii():
    text = to_json(replace(EMPTY, results=(replace(RESULT, name="Größe \u2028"),)))
    assert text.isascii()
    assert ["env", "evidence", "schema", "seconds", "tool"] == list(json.loads(text))


def test_the_command_that_repeats_a_result_survives_a_shell():
    assert "dpaudit replay 'out/report.json#a count'" == reproduce_command(RESULT, "out/report.json")
    assert reproduce_command(replace(RESULT, reference=None)) is None
    assert reproduce_command(replace(RESULT, attack=None)) is None


def test_the_command_that_repeats_an_audit_names_each_source_once():
    settings = replace(EMPTY.settings, data="my people.csv", stop_early=False)
    report = Report(settings, (RESULT, replace(RESULT, reference="count.py:target#1"), replace(RESULT, reference="laplace")))
    expected = "dpaudit audit count.py:target laplace --data 'my people.csv' --alpha 1/20 --runs 1000 --seed 0"
    assert expected == audit_command(report)
    timed = replace(report, settings=replace(EMPTY.settings, runs=0, seconds=Fraction(60)))
    assert "--time-budget 60" in (audit_command(timed) or "")
    for other in (replace(settings, family="bonferroni"), replace(settings, power_target=Fraction(2))):
        assert audit_command(replace(report, settings=other)) is None
    assert audit_command(replace(report, complete=False)) is None


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "[]", "3", "null", "{}", b"\xff\xfe{", '{"schema": "2"}', '{"schema": 1}', '{"schema": "1"}', "[" * 100_000],
    ids=str,
)
def test_what_is_not_a_report_is_refused(text):
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(text)


def broken(change):
    """A written report with a change made by hand."""
    document = json.loads(to_json(replace(EMPTY, results=(RESULT,))))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.pop("env"),
        lambda report: report.update(more=1),
        lambda report: report["tool"].update(name="another"),
        lambda report: report.update(env=[]),
        lambda report: report["env"].update(python=3),
        lambda report: report["evidence"].pop("complete"),
        lambda report: report["evidence"].update(complete=1),
        lambda report: report["evidence"].update(results={}),
        lambda report: report["evidence"]["settings"].update(alpha=0.05),
        lambda report: report["evidence"]["settings"].update(alpha="1/0"),
        lambda report: report["evidence"]["settings"].update(alpha="1/-3"),
        lambda report: report["evidence"]["settings"].update(alpha="0.05"),
        lambda report: report["evidence"]["settings"].update(alpha="\u0663"),
        lambda report: report["evidence"]["settings"].update(alpha="1" * 30_000),
        lambda report: report["evidence"]["settings"].update(seed=True),
        lambda report: report["evidence"]["settings"].update(seed=1.0),
        lambda report: report["evidence"]["results"][0].pop("reproduce"),
        lambda report: report["evidence"]["results"][0].update(reproduce=3),
        lambda report: report["evidence"]["results"][0].update(verdict="private"),
        lambda report: report["evidence"]["results"][0].update(verdict=[]),
        lambda report: report["evidence"]["results"][0].update(source=["file.py"]),
        lambda report: report["evidence"]["results"][0].update(claim=None),
        lambda report: report["evidence"]["results"][0]["attack"].update(p_value="much"),
        lambda report: report["evidence"]["results"][0]["attack"].update(seed_path=3),
        lambda report: report["evidence"]["results"][0].pop("proof"),
        lambda report: report["evidence"]["results"][0].update(proof="proven"),
    ],
)
def test_a_report_changed_by_hand_is_refused_with_its_place(change):
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(broken(change))


def test_a_refusal_names_the_place_but_not_the_value():
    with pytest.raises(InvalidArgument, match=r"evidence\.results\[0\]\.attack\.p_value must be a number") as caught:
        from_json(broken(lambda report: report["evidence"]["results"][0]["attack"].update(p_value="secret")))
    assert "secret" not in str(caught.value)


def test_an_interval_with_its_ends_exchanged_is_refused():
    price = Price("within", "epsilon", Enclosure(Fraction(0), Fraction(1)), Fraction(1))
    document = json.loads(to_json(replace(EMPTY, results=(replace(RESULT, price=price),))))
    document["evidence"]["results"][0]["price"]["value"].update(lower="2")
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(json.dumps(document))


def test_reasons_keep_their_tree():
    tree = Reason("theorem", (Reason("assumption", (Reason("error term"),)), Reason("another")))
    price = Price("within", "epsilon", Enclosure(Fraction(0), Fraction(1), tree), Fraction(1))
    read = from_json(to_json(replace(EMPTY, results=(replace(RESULT, price=price),))))
    assert tree == read.results[0].price.value.reason


def test_a_reason_nested_too_deeply_is_refused():
    deep = '{"parts": [' * 5000 + "]}" * 5000
    price = Price("within", "epsilon", Enclosure(Fraction(0), Fraction(1)), Fraction(1))
    text = to_json(replace(EMPTY, results=(replace(RESULT, price=price),)))
    start = text.index('"why": {')
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(text[:start] + f'"why": {deep}' + text[text.index("}", start) + 1 :])


@settings(max_examples=200)
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode()))
def test_any_bytes_are_a_report_or_refused_with_a_code(content):
    with pytest.raises(InvalidArgument, match="DPA501"):
        from_json(content)
