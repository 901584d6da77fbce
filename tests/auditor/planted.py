"""Private datasets with values that nothing else prints, functions that leak them, and every form of a report."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import asdict, dataclass, make_dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from dpaudit import Adjacency, Claim, PureDP, Sensitivity, Target
from dpaudit.auditor.reading.outputs import parse_output, stable_code
from dpaudit.errors import InvalidArgument
from dpaudit.releases import Release, note
from mechanisms import LaplaceMechanism, source_from

NAME = "Zebulon"
SALARY = 987654.25
PEOPLE = [{"name": f"p{place}", "salary": 1000.0 + place} for place in range(6)] + [{"name": NAME, "salary": SALARY}]
WITHOUT = PEOPLE[:-1]

_NUMBER = r"(?<!\d)98[78][,_ ]?6\d\d|9\.8[78]\d*e\+?0*5|1\.e2[0-9a-f]+p|f1206|1975308|493827"
_CODES = "|".join(
    [str(stable_code(NAME)), f"{stable_code(NAME):x}", str(stable_code(NAME.encode())), str(stable_code(repr(NAME)))]
    + [hashlib.new(kind, NAME.encode()).hexdigest()[:8] for kind in ("sha256", "sha1", "md5")]
    + [NAME.encode().hex(), base64.b64encode(NAME.encode()).decode()[:8], str(stable_code(repr({NAME}))), str(abs(hash(SALARY)))]
)
PLANTED = re.compile(f"{_NUMBER}|{NAME}|{_CODES}", re.IGNORECASE)
"""The name and the salary, plain, rounded, with separators, in hexadecimal, in base 64, and hashed."""


def codes_of(output):
    """The codes by which features tell the form of an output, which are hashes of its keys."""
    reading = parse_output(output)
    codes = [str(int(value)) for value in reading.leaves.values if value > 1e5]
    return [str(stable_code(reading.kind)), str(1000 + stable_code(reading.kind)), *codes]


def top(data):
    """The best paid person."""
    return max(data, key=lambda person: person["salary"])


@dataclass
class Row:
    """A record with fields that source code names."""

    name: str
    salary: float


class Person(NamedTuple):
    """A record as a tuple with names."""

    name: str
    salary: float


class HeldBack(Exception):
    """An exception that source code names."""


def raised(error):
    """Raise it."""
    raise error


def _noisy(data, rng):
    return top(data)["salary"] + rng.laplace()


def _rare(data, rng):
    return top(data)["name"] if rng.random() < 0.05 else "nobody"


def _half(data, rng, error):
    return raised(error) if rng.random() < 0.5 else 0


def _scaled(data, rng):
    # The noise is scaled to a maximum that the data give.
    scale = int(top(data)["salary"])
    return LaplaceMechanism(sensitivity=scale, epsilon="1/2").release(len(data), source_from(rng))


def _noted(data, rng):
    scale = Fraction(top(data)["salary"])
    note(Release("discrete_laplace", (("scale", scale),), scale, Adjacency("add_remove")))
    return round(rng.laplace(0, float(scale)))


def _unclipped(data, rng):
    total = int(sum(person["salary"] for person in data))
    return LaplaceMechanism(sensitivity=1, epsilon=1).release(total, source_from(rng))


def _total(data):
    return sum(person["salary"] for person in data)


def _law(data):
    return {top(data)["salary"]: Fraction(1, 2), top(data)["name"]: Fraction(1, 2)}


def _no_law(data):
    return {0: top(data)["salary"], 1: -top(data)["salary"]}


def _target(run=None, **parts):
    given = {"claim": Claim(PureDP(epsilon=1)), "neighbours": [(PEOPLE, WITHOUT)], "name": "release", **parts}
    return Target(run=run, **given)


def _bad_scale(data, rng):
    return LaplaceMechanism(sensitivity=-int(top(data)["salary"]), epsilon=1).release(0, source_from(rng))


TUNED = {
    "noisy maximum": _target(_noisy),
    "raw maximum": _target(lambda data, rng: top(data)["salary"]),
    "text": _target(lambda data, rng: top(data)["name"]),
    "rare text": _target(_rare),
    "key of a mapping": _target(lambda data, rng: {top(data)["name"]: int(rng.integers(2))}),
    "set": _target(lambda data, rng: {top(data)["name"]}),
    "tuple": _target(lambda data, rng: (top(data)["name"], top(data)["salary"] + rng.random())),
    "exception": _target(lambda data, rng: raised(ValueError(f"{top(data)}"))),
    "exception now and then": _target(lambda data, rng: _half(data, rng, ValueError(f"{top(data)}"))),
    "refusal of this library": _target(_bad_scale),
    "noise scaled to the data": _target(_scaled),
    "declared sensitivity": _target(lambda data, rng: _total(data) + rng.laplace(), sensitivity=Sensitivity(query=_total, bound=1)),
    "unclipped sum": _target(_unclipped),
    "declared law": _target(lambda data, rng: 0, pmf=_law),
    "made from data": _target(_noisy, neighbours=None, data=PEOPLE),
}
"""Functions that the descriptions were made with."""

HELD_OUT = {
    "array": _target(lambda data, rng: np.array([top(data)["salary"], rng.random()])),
    "many numbers": _target(lambda data, rng: np.array([person["salary"] for person in data] * 20)),
    "list of records": _target(lambda data, rng: list(data)),
    "nested integer key": _target(lambda data, rng: {"a": {int(top(data)["salary"]): 1}}),
    "numeric key": _target(lambda data, rng: {top(data)["salary"]: rng.random()}),
    "dataclass": _target(lambda data, rng: Row(**top(data))),
    "fields named by data": _target(lambda data, rng: make_dataclass(top(data)["name"], [top(data)["name"]])(1)),
    "attributes named by data": _target(lambda data, rng: SimpleNamespace(**{top(data)["name"]: top(data)["salary"]})),
    "class named by data": _target(lambda data, rng: type(top(data)["name"], (), {})()),
    "exception class named by data": _target(lambda data, rng: raised(type(top(data)["name"], (ValueError,), {})())),
    "now and then an exception class named by data": _target(
        lambda data, rng: _half(data, rng, type(top(data)["name"], (HeldBack,), {})())
    ),
    "exit": _target(lambda data, rng: raised(SystemExit(top(data)["name"]))),
    "exception of our own kind": _target(lambda data, rng: raised(InvalidArgument("DPA105", f"{top(data)}"))),
    "code of an error": _target(lambda data, rng: raised(InvalidArgument(top(data)["name"], "no"))),
    "bytes": _target(lambda data, rng: top(data)["name"].encode()),
    "decimal": _target(lambda data, rng: Decimal(top(data)["salary"])),
    "fraction": _target(lambda data, rng: Fraction(top(data)["salary"]) + int(rng.integers(3))),
    "complex": _target(lambda data, rng: complex(0, top(data)["salary"])),
    "named tuple": _target(lambda data, rng: Person(**top(data))),
    "array of text": _target(sample=lambda data, n, rng: np.array([top(data)["name"]] * n)),
    "array of objects": _target(lambda data, rng: np.array([top(data)["name"], None], dtype=object)),
    "lists of many lengths": _target(lambda data, rng: [top(data)["name"]] * int(rng.integers(1, 4))),
    "many samples": _target(sample=lambda data, n, rng: top(data)["salary"] + rng.laplace(size=n)),
    "samples that raise": _target(sample=lambda data, n, rng: raised(KeyError(top(data)["name"]))),
    "samples that raise together": _target(
        sample=lambda data, n, rng: [0] if n == 1 else raised(type(top(data)["name"], (KeyError,), {})())
    ),
    "date": _target(lambda data, rng: (date(2000, 1, 1), top(data)["salary"])),
    "noise noted with a parameter of the data": _target(_noted),
    "noise noted, another record changed": _target(_noted, neighbours=[(PEOPLE, PEOPLE[1:]), (PEOPLE, WITHOUT)]),
    "law that is none": _target(lambda data, rng: 0, pmf=_no_law),
    "law that raises": _target(lambda data, rng: 0, pmf=lambda data: raised(type(top(data)["name"], (KeyError,), {})())),
    "query that raises": _target(
        lambda data, rng: 0,
        sensitivity=Sensitivity(query=lambda data: raised(type(top(data)["name"], (KeyError,), {})()), bound=1),
    ),
    "query with keys": _target(
        lambda data, rng: 0, sensitivity=Sensitivity(query=lambda data: {one["name"]: one["salary"] for one in data}, bound="1/2")
    ),
    "score": _target(lambda data, rng: top(data)["name"], score=lambda output: SALARY * len(output)),
    "bits of numbers": _target(lambda data, rng: top(data)["salary"], float_bits=True),
    "rows": _target(
        lambda data, rng: float(np.max(data)) + rng.laplace(),
        neighbours=None,
        data=np.array([[1.0, 2.0], [3.0, SALARY], [5.0, 6.0]]),
    ),
    "columns": _target(
        lambda data, rng: {name: max(column) + rng.laplace() for name, column in data.items()},
        neighbours=[({"salary": [1.0, SALARY]}, {"salary": [1.0, 2.0]})],
    ),
    "vector": _target(
        lambda data, rng: float(sum(data)) + rng.laplace(),
        neighbours=None,
        data=[SALARY, 1.0],
        claim=Claim(PureDP(epsilon="1/9"), adjacency=Adjacency("norm_ball", norm="l1", radius=1)),
    ),
    "graph": _target(
        lambda data, rng: max(data),
        neighbours=None,
        data={NAME: ["a"], "a": [NAME], "b": []},
        claim=Claim(PureDP(epsilon=1), adjacency=Adjacency("node")),
    ),
    "users": _target(
        lambda data, rng: sorted({row["name"] for row in data}),
        neighbours=None,
        data=[*PEOPLE, {"name": NAME, "salary": 1.0}],
        claim=Claim(PureDP(epsilon=1), adjacency=Adjacency("add_remove", unit="user:name")),
    ),
}
"""Functions that no description was made with."""


def forms(report):
    """Every form of a report by name: for people, for programs, compared with others, and as tests fail with it."""
    from dpaudit.cli.diff import _text
    from dpaudit.pytest_plugin.check import describe
    from dpaudit.report import difference, evidence_bytes, to_annotations, to_html, to_json, to_junit, to_sarif, to_summary, to_text
    from dpaudit.report.changes import changes, disclosures
    from dpaudit.results import Verdict

    bare = replace(
        report, results=tuple(replace(one, properties=(), attack=None, verdict=Verdict.CONSISTENT) for one in report.results)
    )
    return {
        "wide": to_text(report, width=200),
        "narrow": to_text(report, width=60, ascii_only=True),
        "json": to_json(report),
        "evidence": evidence_bytes(report).decode(),
        "html": to_html(report),
        "junit": to_junit(report),
        "sarif": to_sarif(report),
        "annotations": to_annotations(report),
        "summary": to_summary(report),
        "pytest": "\n".join(describe(result) for result in report.results),
        "diff": _text(changes(bare, report), disclosures(bare, report)),
        "diff summary": difference.to_summary(bare, report),
        "diff page": difference.to_html(bare, report),
        "diff annotations": difference.to_annotations(bare, report),
        "repr": repr(report) + repr(report.results),
        "fields": repr(asdict(report)),
        "notebook": "".join(shown._repr_html_() for shown in (report, *report.results)),
    }
