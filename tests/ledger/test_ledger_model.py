"""A ledger against a model of it: any order of charges, cancellations, failures and openings gives the totals of plain sums."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from dpaudit import PureDP
from dpaudit.errors import InvalidArgument, LedgerFailure, LedgerRefusal
from dpaudit.ledger import Ledger, Scope
from mechanisms import LaplaceMechanism

SCOPES = st.sampled_from(["a/x", "a/x/p", "a/x/q", "a/y", "b/x/p"])
AMOUNTS = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 7), Fraction(1, 2), Fraction(1)])


class Interrupted(Exception):
    """What a block may raise."""


class LedgerModel(RuleBasedStateMachine):
    """What was opened and spent, by scope, as plain fractions."""

    new_place = None

    @initialize()
    def make(self):
        self.place = self.new_place()
        self.ledger = Ledger.create(self.place)
        self.limits, self.spent, self.heads, self.pending = {}, {}, [], 0

    def paying(self, scope):
        return [other for other in self.limits if Scope.of(other).covers(Scope.of(scope))]

    def admits(self, scope, amount):
        return self.paying(scope) and all(self.spent[one] + amount <= self.limits[one] for one in self.paying(scope))

    def add(self, scope, amount):
        for one in self.paying(scope):
            self.spent[one] += amount

    @rule(scope=SCOPES, limit=AMOUNTS)
    def open_budget(self, scope, limit):
        if scope in self.limits:
            with pytest.raises(InvalidArgument, match="DPA802"):
                self.ledger.open_budget(scope, PureDP(limit))
        else:
            self.ledger.open_budget(scope, PureDP(limit))
            self.limits[scope], self.spent[scope] = limit, Fraction(0)

    @rule(scope=SCOPES, amount=AMOUNTS, times=st.integers(0, 3))
    def spend(self, scope, amount, times):
        if self.admits(scope, amount * times):
            self.heads.append(self.ledger.spend(PureDP(amount), scope=scope, times=times).head)
            self.add(scope, amount * times)
        else:
            with pytest.raises(LedgerRefusal):
                self.ledger.spend(PureDP(amount), scope=scope, times=times)

    @rule(scope=SCOPES, amount=AMOUNTS, how=st.sampled_from(["ends", "cancels", "raises"]))
    def charge(self, scope, amount, how):
        admitted = self.admits(scope, amount)
        try:
            with self.ledger.charge(PureDP(amount), scope=scope) as charge:
                if how == "cancels":
                    charge.cancel()
                if how == "raises":
                    raise Interrupted  # noqa: TRY301 - what a block may do
        except LedgerRefusal:
            assert not admitted
            return
        except Interrupted:
            self.pending += 1
        assert admitted
        self.add(scope, amount if how != "cancels" else Fraction(0))

    @precondition(lambda self: "a/x" in self.limits)
    @rule(count=st.integers(1, 3))
    def release(self, count):
        noise, amount = LaplaceMechanism(scale=4, sensitivity=1), Fraction(1, 4)
        if not self.admits("a/x", amount):
            return
        try:
            with self.ledger.charge(noise, scope="a/x"):
                noise.releases(1, count)
        except LedgerFailure:
            assert count > 1
        self.add("a/x", amount * count)

    @rule()
    def open_again(self):
        self.ledger = Ledger(self.place)

    @invariant()
    def totals_are_sums(self):
        accounts = {str(account.scope): account for account in self.ledger.accounts()}
        assert {scope: (limit, self.spent[scope]) for scope, limit in self.limits.items()} == {
            scope: (account.cap.limits[0], account.spent[0]) for scope, account in accounts.items()
        }

    def teardown(self):
        if not hasattr(self, "ledger"):
            return
        found = self.ledger.verify()
        assert ((), self.pending) == (found.problems, len(found.open_charges))
        for head in self.heads:
            assert () == self.ledger.verify(head=head).problems


@pytest.mark.parametrize("kind", ["file", "server"])
def test_any_order_of_changes_gives_the_totals_of_plain_sums(kind, tmp_path, request):
    """The same changes for both kinds of storage; a server takes more time, and fewer of them."""
    names = itertools.count()
    server = request.getfixturevalue("server") if kind == "server" else None

    class Model(LedgerModel):
        def new_place(self):
            return server.database() if server else tmp_path / f"{next(names)}.ledger"

    examples, steps = (25, 20) if server is None else (8, 20)
    run_state_machine_as_test(Model, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None))
