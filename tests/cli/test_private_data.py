"""The command line on a private data file: no byte of any form or stream holds a value of it, unless --show-values is given."""

import json
import re

import pytest

LEAKING = '''
"""Functions that give out records."""
from dpaudit import Claim, PureDP, Sensitivity, Target


def top(records):
    return max(records, key=lambda record: record["salary"])


def total(records):
    return sum(record["salary"] for record in records)


def fails(records, rng):
    raise ValueError(f"{top(records)}")


def target(name, run, **parts):
    return Target(name=name, claim=Claim(PureDP(epsilon=1)), data=[{"salary": 1.0, "name": "x"}], run=run, **parts)


targets = [
    target("noisy", lambda records, rng: top(records)["salary"] + rng.laplace()),
    target("names", lambda records, rng: {record["name"]: 1 for record in records}),
    target("summed", lambda records, rng: total(records) + rng.laplace(), sensitivity=Sensitivity(query=total, bound=1)),
    target("fails", fails),
]
'''
SHOWN = "values of the data are shown: --show-values was given"
PLANTED = re.compile(r"(?<![\d.])98765|987,6|9\.8[78]\d*e|Zebulon", re.IGNORECASE)


@pytest.fixture
def salaries(folder):
    """The folder with a data file, and a file of targets that leak it."""
    (folder / "leaking.py").write_text(LEAKING)
    (folder / "salaries.csv").write_text("name,salary\nAda,1000.5\nBob,1100.5\nZebulon,987654.25\n")
    return folder


def written(folder, dpaudit, name, *options):
    """What every verb writes about an audit of the data file, in files and to both streams."""
    out = folder / name
    given = ("--data", "salaries.csv", "--runs", "3000", "--report", str(out), *options)
    audited = dpaudit("audit", "leaking.py:targets", *given, "--junit", f"{name}.xml", "--sarif", f"{name}.sarif", "--github")
    shown = dpaudit("report", str(out / "report.json"), "--html", f"{name}.html")
    fresh = dpaudit("replay", str(out / "report.json#noisy"), "--fresh")
    replayed = dpaudit("replay", str(out / "report.json"), "--json")
    assert [True, True, True, None] == [target["identical"] for target in json.loads(replayed.stdout)["targets"]]
    files = [out / "report.json", out / "index.html", *(folder / f"{name}.{kind}" for kind in ("xml", "sarif", "html"))]
    texts = {file.name: file.read_text() for file in files}
    streams = {"audit": audited, "report": shown, "replay": replayed, "fresh": fresh}
    return texts | {verb: result.stdout + result.stderr for verb, result in streams.items()}


def test_a_data_file_is_private_in_every_form_until_values_are_asked_for(salaries, dpaudit):
    hidden = written(salaries, dpaudit, "hidden")
    assert {} == {name: found for name, text in hidden.items() if (found := PLANTED.findall(text))}
    shown = written(salaries, dpaudit, "shown", "--show-values")
    assert "Zebulon" in shown["report.json"]
    assert [] == [name for name, text in shown.items() if name not in {"replay", "fresh"} and SHOWN not in " ".join(text.split())]
    compared = dpaudit("diff", "hidden/report.json", "shown/report.json")
    assert "show values: no -> yes" in compared.stdout
    assert f"In the later report {SHOWN}." in compared.stdout


def test_the_command_that_repeats_an_audit_asks_for_values_again(salaries, dpaudit):
    page = written(salaries, dpaudit, "shown", "--show-values")["index.html"]
    assert "dpaudit audit leaking.py:targets --data salaries.csv --show-values --alpha" in page
