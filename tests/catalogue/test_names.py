"""How the zoo is reached: by the name of the group or of one specimen, on the command line too, and cheap to load."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from devtools.site import TABLES
from dpaudit.catalogue import SPECIMENS, specimens
from dpaudit.cli import main
from dpaudit.errors import TargetFailure
from dpaudit.loading import Reference, bundled_targets, load_targets

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {"zoo": "1/2", "zoo_published": "1/10"}


@pytest.mark.parametrize("group", CLAIMS)
def test_a_group_holds_every_specimen_at_its_epsilon(group):
    expected = [(f"zoo_{one.name}", str(one.target.claim.guarantee)) for one in specimens(CLAIMS[group])]
    assert expected == [(target.name, str(target.claim.guarantee)) for target in load_targets(group)]


def test_a_specimen_is_found_by_its_name_and_by_its_place():
    (target,) = load_targets("zoo_svt5")
    place = [one.name for one in SPECIMENS].index("svt5")
    assert target == Reference("zoo", place).load()


def test_an_unknown_specimen_is_an_unknown_target():
    with pytest.raises(TargetFailure, match="DPA401"):
        load_targets("zoo_unicorn")


def test_the_zoo_is_no_part_of_what_is_audited_when_nothing_is_named():
    assert [] == [name for name in bundled_targets() if name.startswith("zoo")]


def test_the_command_line_refutes_a_broken_specimen_and_replays_it(tmp_path):
    runner = CliRunner()
    audited = runner.invoke(main, ["audit", "zoo_svt5", "--runs", "6000", "--seed", "1", "--report", str(tmp_path), "--json"])
    assert 1 == audited.exit_code
    assert ["zoo_svt5"] == [result["name"] for result in json.loads(audited.stdout)["evidence"]["results"]]
    assert 0 == runner.invoke(main, ["replay", str(tmp_path / "report.json")]).exit_code


@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda specimen: specimen.name)
def test_a_specimen_gives_as_many_outputs_as_asked_the_same_for_the_same_generator(specimen):
    for data in specimen.target.neighbours[0]:
        first, second = (specimen.target.sample(data, 40, np.random.default_rng(5)) for _ in range(2))
        assert 40 == len(first)
        assert np.isfinite(first).all()
        np.testing.assert_array_equal(first, second)
        assert first[:1].shape == specimen.target.sample(data, 1, np.random.default_rng(6)).shape


@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda specimen: specimen.name)
def test_a_specimen_says_what_it_is_and_where_it_is_from(specimen):
    assert specimen.source in specimen.target.description
    assert specimen.description in specimen.target.description
    file, line = specimen.target.source
    assert file.startswith("dpaudit/catalogue/")
    assert 0 < line


def test_the_zoo_is_cheap_to_import():
    names = ("scipy", "hypothesis", "mpmath", "mechanisms", "dpaudit.accounting")
    code = f"import dpaudit.catalogue, sys; print([name for name in {names!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "[]" == printed.strip()


def test_the_site_lists_every_specimen_with_its_stored_truth():
    groups = [{one.name: one for one in specimens(epsilon)} for epsilon in CLAIMS.values()]
    lines = TABLES["zoo"]().splitlines()[2:]
    assert [f"`{name}`" for name in dict.fromkeys([*groups[0], *groups[1]])] == [line.split("<br>")[0][2:] for line in lines]
    for group in groups:
        for specimen in group.values():
            (line,) = [line for line in lines if f"| `{specimen.name}`<br>" in line]
            assert f"| {specimen.truth.epsilon:.4g} (claimed {specimen.truth.at_epsilon:.4g})" in line
