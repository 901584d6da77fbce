"""Individual accounts: no record pays too little, none pays for a round it was left out of, nothing is told about them."""

from __future__ import annotations

import copy
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import IndividualFilter
from dpaudit.accounting.budgets.individual import BUDGET_UNITS
from dpaudit.claims import RDP, ZCDP, PureDP
from dpaudit.errors import InvalidArgument

SQUARES = st.integers(0, 2**63 - 1) | st.integers(0, 1000)


@given(
    st.lists(st.lists(SQUARES, min_size=3, max_size=3), min_size=1, max_size=12),
    st.fractions("1/1000000", 1000, max_denominator=10**6),
    st.integers(-70, 10),
)
def test_nobody_pays_too_little_and_nobody_much_too_much(rounds, unit, exponent):
    unit *= Fraction(2) ** exponent
    accounts, paid, owed = IndividualFilter(ZCDP(rho=2), records=3), [Fraction(0)] * 3, [Fraction(0)] * 3
    for squares in rounds:
        admitted = accounts.admit(np.array(squares), unit=unit)
        for record, square in enumerate(squares):
            cost = square * unit
            generous = cost * (1 + Fraction(1, 2**19)) + Fraction(2, 2**38)
            if admitted[record]:
                paid[record] += cost
                owed[record] += generous
            else:
                assert owed[record] + generous > 2, "a record was left out although its account covers the round"
        assert all(total <= 2 for total in paid)


def test_costs_that_divide_the_budget_are_exact():
    accounts = IndividualFilter(RDP({4: 1}), records=2)
    admitted = [accounts.admit(np.array([1, 3]), unit="1/16").tolist() for _ in range(17)]
    assert [True] * 16 + [False] == [first for first, _ in admitted]
    assert [True] * 5 + [False] * 12 == [second for _, second in admitted]


def test_a_record_that_was_left_out_does_not_pay():
    accounts = IndividualFilter(ZCDP(rho=1), records=1)
    assert [False] == accounts.admit(np.array([9]), unit="1/8").tolist()
    assert [True] == accounts.admit(np.array([8]), unit="1/8").tolist()
    assert [False] == accounts.admit(np.array([1]), unit="1/8").tolist()
    assert [True] == accounts.admit(np.array([0]), unit="1/8").tolist()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_every_integer_type_is_read_as_it_is(kind):
    largest = np.iinfo(kind).max
    accounts = IndividualFilter(ZCDP(rho=1), records=2)
    assert [True, True] == accounts.admit(np.array([largest, 1], dtype=kind), unit=Fraction(1, int(largest) + 1)).tolist()
    squares = np.array([largest, 1], dtype=kind)
    assert [False, False] == accounts.admit(squares, unit=2**80).tolist()
    assert [int(largest), 1] == squares.tolist()


def test_many_records_are_handled_in_chunks_alike():
    squares = np.arange(100_000) % 7
    accounts = IndividualFilter(ZCDP(rho=1), records=100_000)
    for number in range(1, 4):
        admitted = accounts.admit(squares, unit="1/8")
        assert np.array_equal(squares * number <= 8, admitted) or number > 1
    assert np.array_equal(squares * 3 <= 8, admitted & (squares * 3 <= 8))


def test_a_million_records_take_milliseconds_a_round():
    accounts = IndividualFilter(ZCDP(rho=1), records=10**6)
    squares = np.random.default_rng(5).integers(0, 2**42, 10**6)
    start = time.process_time()
    for _ in range(10):
        accounts.admit(squares, unit=Fraction(1, 2**52))
    assert time.process_time() - start < 0.4, "the bar is 10 s for 1000 rounds on a quiet machine"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: IndividualFilter(PureDP(epsilon=1), records=3), "DPA105"),
        (lambda: IndividualFilter(RDP({2: 1, 4: 2}), records=3), "DPA105"),
        (lambda: IndividualFilter(ZCDP(rho=0), records=3), "DPA104"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=0), "DPA103"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2**63), "DPA103"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2).admit(np.array([1.0, 2.0]), unit=1), "DPA105"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2).admit(np.array([1]), unit=1), "DPA105"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2).admit([1, 2], unit=1), "DPA105"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2).admit(np.array([1, 2], dtype=np.uint64), unit=1), "DPA105"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2).admit(np.array([1, -2]), unit=1), "DPA103"),
        (lambda: IndividualFilter(ZCDP(rho=1), records=2).admit(np.array([1, 2]), unit=0), "DPA104"),
    ],
)
def test_what_makes_no_sense_is_refused(make, code):
    with pytest.raises(InvalidArgument, match=code):
        make()


def test_accounts_are_neither_shown_nor_copied():
    accounts = IndividualFilter(ZCDP(rho=1), records=2)
    accounts.admit(np.array([1, 3]), unit="1/8")
    assert "IndividualFilter(rho = 1 (zCDP), records=2)" == repr(accounts)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copied(accounts)


def test_the_budget_in_units_is_a_power_of_two():
    assert 1 == BUDGET_UNITS.bit_count()
