"""Seeded faults of the code: a check notices each of them, and none of the code as it stands."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from devtools.affected import Change, changed_files
from devtools.survey import ROOT
from dpaudit.accounting.engines import convolution
from dpaudit.accounting.laws.sampled import Sampled
from mechanisms.sampling import exactnum, kernel
from mechanisms.sampling.envelope import EnvelopeTable, envelope_table

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")


def loaded(name):
    """A module that stands beside this file."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


campaign = loaded("campaign")
TABLES = campaign.TABLES
FAULTS = [fault for table in TABLES for fault in campaign.faults(table)]
CHANGE = changed_files(ROOT)
CONCERNED = {name for table in TABLES for name in campaign.concerned(table, CHANGE)}
"""The faults that are planted in every run; the others are planted in the campaign."""
ASKED = {killer for fault in FAULTS if fault.name in CONCERNED for killer in fault.killers}
CHECKS = {name: check for modules in TABLES.values() for name, check in campaign.checks(modules).items()}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in ASKED else pytest.mark.campaign) for name in CHECKS])
def test_the_code_as_it_stands_passes(name):
    CHECKS[name]()


@pytest.mark.parametrize(
    ("fault", "killer"),
    [
        pytest.param(fault, killer, marks=() if fault.name in CONCERNED else pytest.mark.campaign, id=f"{fault.name}-{killer}")
        for fault in FAULTS
        for killer in fault.killers
    ],
)
def test_a_fault_is_noticed(fault, killer):
    assert campaign.notices(CHECKS[killer], fault), f"{killer} does not notice: {fault.what}"


def test_a_change_concerns_the_faults_of_its_files_rows_and_checks_beside_a_fixed_sample():
    first, path = FAULTS[0], "tests/mutants/faults.toml"
    chosen = [campaign.concerned("faults.toml", Change(frozenset(files), "")) for files in ((), (first.file,), (path,))]
    inside = {fault.name for fault in campaign.faults() if fault.file == first.file}
    assert 0 < len(chosen[0]) < len(campaign.faults()) / 5
    assert chosen[0] | inside == chosen[1]
    assert {fault.name for fault in campaign.faults()} == chosen[2], "the rows are new"
    by_check = campaign.concerned("faults.toml", Change(frozenset({"tests/mutants/queries.py"}), ""))
    assert {fault.name for fault in campaign.faults() if set(campaign.checks(("queries",))) & set(fault.killers)} <= by_check


def test_the_table_of_faults_fits_the_code():
    counts = {fault.name: campaign.planting.source(fault).count(fault.old) for fault in FAULTS}
    assert {} == {name: count for name, count in counts.items() if count != 1}
    assert all(fault.old != fault.new for fault in FAULTS)


def test_there_are_faults_enough_and_each_has_a_name_and_a_check():
    assert len(TABLES) * 30 <= len(FAULTS) == len({fault.name for fault in FAULTS})
    assert all(30 <= len(campaign.faults(table)) for table in TABLES)
    assert all(fault.killers and fault.what for fault in FAULTS)
    assert set() == {killer for fault in FAULTS for killer in fault.killers} - set(CHECKS)
    assert set() == set(CHECKS) - {killer for fault in FAULTS for killer in fault.killers}, "a check that kills nothing"


def test_a_fault_is_planted_in_functions_methods_and_constants_and_taken_out_again():
    by_name = {fault.name: fault for fault in FAULTS}
    places = {
        "tail starts one place too far": lambda: kernel._tail.__code__,
        "-K never drawn": lambda: EnvelopeTable.negative_start.fget.__code__,
        "exp beyond its proof": lambda: exactnum.LARGEST_EXPONENT,
        "table of exp cut off": lambda: exactnum.exp_constants().entries,
        "too few cells for a block": lambda: sys.modules["mechanisms.sampling.envelope"]._covering.__code__,
        "add and remove exchanged": lambda: Sampled.reversed.__code__,
        "unit of rounding halved": lambda: convolution.UNIT,
        "heights of shared cells not lowered": lambda: envelope_table.__wrapped__.__code__,
    }
    for name, place in places.items():
        before = place()
        with campaign.planting.planted(by_name[name]):
            assert place() != before
        assert place() == before


def test_a_fault_whose_text_is_not_there_cannot_be_planted():
    stray = campaign.planting.Fault("stray", FAULTS[0].file, "no such text anywhere", "", "nothing", ())
    with pytest.raises(LookupError, match="stands 0 times"), campaign.planting.planted(stray):
        pass
