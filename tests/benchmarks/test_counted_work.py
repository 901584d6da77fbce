"""Counted work: the quick jobs need what is committed, counting changes no result, and a difference is told."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from flint import arb, fmpq

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import counted_work
import counting

SOURCE = """
def total(values, *more, scale=1):
    found = -values[0]
    for value in (*values[1:], *more):
        found += value
        found = (found * 3 - 1) // 2 % 97 | 1
    return max(found, scale) ** 2 if more else [value @ value for value in ()]

class Doubled(int):
    def __add__(self, other):
        return super().__add__(2 * int(other))
"""


@pytest.mark.timeout(600)  # ten seconds of a processor, which may be busy
def test_the_quick_jobs_need_what_is_committed(tmp_path):
    command = [sys.executable, counted_work.__file__, "--quick", "--output", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    found = {row["job"]: row["counts"] for row in json.loads((tmp_path / "counted_work.json").read_text())["jobs"]}
    lines = counted_work.differences(counted_work.committed(), found)
    assert [] == lines, counted_work.RENEW
    assert {what for counts in found.values() for what in counts} == set(counted_work.COLUMNS)


@pytest.mark.parametrize(("now", "told"), [(90, False), (110, False), (89, True), (111, True), (0, True)])
def test_a_count_may_differ_by_a_tenth(now, told):
    lines = counted_work.differences({"a job": {"bits": 100, "balls": 7}}, {"a job": {"bits": now, "balls": 7}})
    assert ([f"a job: {now} bits, committed are 100"] if told else []) == lines


def test_a_count_where_there_was_none_and_a_new_job_are_told():
    assert ["a job: 1 z3, committed are 0"] == counted_work.differences({"a job": {}}, {"a job": {"z3": 1}})
    assert ["a job is new"] == counted_work.differences({}, {"a job": {"z3": 1}})


def test_rewritten_sources_do_what_they_did():
    plain, counted = {}, {"_counted_operation": counting._operation, "_counted_call": counting._call}
    exec(compile(SOURCE, "plain", "exec"), plain)  # noqa: S102 - the text above
    tree = ast.fix_missing_locations(counting._Rewriting().visit(ast.parse(SOURCE)))
    exec(compile(tree, "counted", "exec"), counted)  # noqa: S102 - the same
    for names in (plain, counted):
        names["found"] = names["total"]([5, 7], 11, 2**40, scale=3), names["Doubled"](3) + 4
    assert plain["found"] == counted["found"]


def test_operations_and_calls_on_balls_are_counted_and_others_are_not():
    _operation, _call, before = counting._operation, counting._call, counting.COUNTS.copy()
    assert 3 == _operation("add", 1, 2)
    assert _operation("mul", fmpq(1, 2), 4) == 2
    assert _operation("add", fmpq(1, 2), arb(1)) > 1
    assert _call(arb)(4) == _call(arb(4).abs_upper)()
    assert _call(len)("ab") == 2
    assert {"balls": 3, "rationals": 1} == {name: counting.COUNTS[name] - before[name] for name in ("balls", "rationals")}
