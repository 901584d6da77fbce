"""Privacy filter: a budget that is fixed beforehand and spent by adaptively chosen releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import NoReturn, TypeAlias

from dpaudit.accounting.engines.currencies import add_amounts, currency_of, max_rho, stated_amount
from dpaudit.accounting.privacy_loss import PrivacyLoss, spent_laws
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Guarantee, PureDP
from dpaudit.errors import BudgetExceeded, InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, integer, outward, rational

Amounts: TypeAlias = tuple[Fraction, ...]  # What was spent, or may be, in the order of a currency's names


@dataclass(frozen=True)
class Cap:
    """The largest amounts that a guarantee allows, in a currency that adds up; holds no account.

    Args:
      guarantee: PureDP, ApproxDP, ZCDP, RDP or GDP.
      adjacency: the neighbouring relation of the guarantee.
      limits: the largest amounts, in the order of `names`.
    """

    guarantee: Guarantee
    adjacency: Adjacency
    limits: Amounts

    @classmethod
    def of(cls, guarantee: Guarantee, *, adjacency: Adjacency | str = "add_remove", slack: Exact | None = None) -> Cap:
        """The cap that a guarantee sets; arguments and errors are those of `Filter`."""
        if not isinstance(guarantee, Guarantee):
            raise InvalidArgument("DPA105", f"a budget is a guarantee such as PureDP(epsilon=1), got a {type(guarantee).__name__}.")
        relation = Adjacency.of(adjacency)
        currency_of(guarantee)
        return cls(guarantee, relation, _limits(guarantee, slack_of(guarantee, slack)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the amounts."""
        return currency_of(self.guarantee).names

    @property
    def nothing(self) -> Amounts:
        """The amounts before anything is spent: zeros."""
        return (Fraction(0),) * len(self.limits)

    def cost(self, spending: PrivacyLoss | Guarantee, *, times: int = 1) -> Amounts:
        """Return the amounts that `times` such releases take; arguments and errors are those of `Filter.spend`."""
        count = integer(times, "times", lower=0)
        return add_amounts(self.nothing, currency_of(self.guarantee).cost(spent_laws(spending), self.adjacency), count)

    def after(self, spent: Amounts, cost: Amounts) -> Amounts:
        """Return the amounts spent after a cost, whether they are covered or not."""
        return add_amounts(spent, cost, 1)

    def covers(self, amounts: Amounts) -> bool:
        """True if no limit is passed."""
        return all(amount <= limit for amount, limit in zip(amounts, self.limits, strict=True))

    def refusal(self, amounts: Amounts) -> str:
        """Return the message that names the limit which would be passed."""
        name, amount, limit = next(found for found in zip(self.names, amounts, self.limits, strict=True) if found[1] > found[2])
        reached, allowed = outward(amount, digits=6, up=True), outward(limit, digits=6, up=False)
        return (
            f"the budget of {self.guarantee} does not cover this release: {name} would reach {reached}, allowed are {allowed}. "
            "Nothing was spent; release less or with more noise."
        )

    def read(self, state: Mapping[str, str]) -> Amounts:
        """Amounts from text by name, as `Filter.state` writes them."""
        if set(instance_of(state, Mapping, "state")) != set(self.names):
            raise InvalidArgument("DPA106", f"the state must hold {', '.join(self.names)} and nothing else.")
        return tuple(in_range(rational(state[name], name), name, lower=0, upper=2**1024) for name in self.names)

    def written(self, amounts: Amounts) -> dict[str, str]:
        """Amounts as text by name."""
        return {name: str(amount) for name, amount in zip(self.names, amounts, strict=True)}


class Filter:
    """A privacy budget for releases that are chosen one after the other, each in view of all earlier outputs.

    Whatever is admitted satisfies the guarantee together, for any strategy of choosing, because each currency adds up under
    full adaptivity: epsilon for pure, rho for concentrated, the divergences of the given orders for Renyi, mu squared for Gaussian
    differential privacy. An approximate budget (epsilon, delta) is kept in rho, up to the largest rho whose certified delta at
    epsilon is at most `slack`, and the rest of delta pays for deltas of the releases.

    Args:
      guarantee: PureDP, ApproxDP, ZCDP, RDP or GDP; what all releases together may reach.
      adjacency: the neighbouring relation of the guarantee; releases under another one are refused.
      slack: for ApproxDP only, the part of delta that the conversion from rho may use, exact, above 0 and at most delta;
        half of it by default.
    Raises:
      InvalidArgument: no guarantee (DPA105), `slack` with another guarantee (DPA106) or out of range (DPA103), or delta = 0
        in an approximate guarantee (DPA103).
      Unsupported: the guarantee is a whole profile (DPA202).
    Source: Rogers, Roth, Ullman, Vadhan 2016; Feldman and Zrnic 2021; Koskela, Tobaben, Honkela 2023; Whitehouse, Ramdas,
      Rogers, Wu 2023; docs/budgets.md.
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> budget = Filter(ZCDP(rho=1))
      >>> budget.spend(gaussian(sigma=2), times=3)
      >>> budget.remaining
      {'rho': Fraction(5, 8)}
    """

    __slots__ = ("_cap", "_lock", "_spent", "slack")

    def __init__(self, guarantee: Guarantee, *, adjacency: Adjacency | str = "add_remove", slack: Exact | None = None) -> None:
        self._cap = Cap.of(guarantee, adjacency=adjacency, slack=slack)
        self.slack = slack_of(guarantee, slack)
        self._spent = self._cap.nothing
        self._lock = Lock()

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that all releases together may reach."""
        return self._cap.guarantee

    @property
    def adjacency(self) -> Adjacency:
        """The neighbouring relation of the guarantee."""
        return self._cap.adjacency

    @property
    def spent(self) -> dict[str, Fraction]:
        """The amounts spent so far, by the name of the currency."""
        return dict(zip(self._cap.names, self._spent, strict=True))

    @property
    def remaining(self) -> dict[str, Fraction]:
        """The amounts that may still be spent, by the name of the currency."""
        left = (limit - spent for limit, spent in zip(self._cap.limits, self._spent, strict=True))
        return dict(zip(self._cap.names, left, strict=True))

    def admits(self, spending: PrivacyLoss | Guarantee, *, times: int = 1) -> bool:
        """True if the budget covers `times` such releases now; nothing is spent.

        Args:
          spending: as for `spend`.
          times: how many, at least 0.
        Returns:
          True where `spend` would admit them.
        Raises:
          InvalidArgument: as for `spend`.
        Source: docs/budgets.md.
        Example:
          >>> Filter(PureDP(epsilon=1)).admits(PureDP(epsilon="1/3"), times=4)
          False
        """
        return self._cap.covers(self._cap.after(self._spent, self._cap.cost(spending, times=times)))

    def spend(self, spending: PrivacyLoss | Guarantee, *, times: int = 1) -> None:
        """Spend the budget on releases that are about to be made; call it before their noise is drawn.

        Args:
          spending: a loss of `dpaudit.accounting` or a guarantee; its certified upper ends count.
          times: how many such releases, at least 0.
        Raises:
          BudgetExceeded: the budget does not cover them; nothing is spent (DPA204).
          AdjacencyMismatch: the loss is about another neighbouring relation (DPA201).
          InvalidArgument: something else than a loss or a guarantee, or `times` is no count (DPA103, DPA105).
          Unsupported: the loss has no finite cost in the currency of the budget (DPA202).
        Source: docs/budgets.md.
        Example:
          >>> budget = Filter(PureDP(epsilon=1))
          >>> budget.spend(PureDP(epsilon="1/10"), times=10)
          >>> budget.remaining
          {'epsilon': Fraction(0, 1)}
        """
        cost = self._cap.cost(spending, times=times)
        with self._lock:
            after = self._cap.after(self._spent, cost)
            if not self._cap.covers(after):
                raise BudgetExceeded("DPA204", self._cap.refusal(after))
            self._spent = after

    def state(self) -> dict[str, str]:
        """Return what was spent, as text with exact numbers, for `restore`."""
        return self._cap.written(self._spent)

    def restore(self, state: Mapping[str, str]) -> None:
        """Take over what an earlier filter of the same budget had spent.

        Args:
          state: what `state` gave.
        Raises:
          InvalidArgument: no mapping (DPA105), another currency (DPA106), numbers that are none (DPA101), or something was spent
            here already (DPA103).
        Source: docs/budgets.md.
        Example:
          >>> later = Filter(PureDP(epsilon=1))
          >>> later.restore({"epsilon": "3/4"})
          >>> later.admits(PureDP(epsilon="1/2"))
          False
        """
        amounts = self._cap.read(state)
        with self._lock:
            if any(self._spent):
                raise InvalidArgument("DPA103", "a state is restored into a new filter only; this one has spent already.")
            self._spent = amounts

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: two copies would each spend the same budget."""
        raise TypeError("a filter cannot be copied or pickled; keep its state() and restore it into a new one")

    def __repr__(self) -> str:
        left = ", ".join(f"{name} {outward(amount, digits=6, up=False)}" for name, amount in self.remaining.items())
        return f"Filter({self.guarantee} under {self.adjacency}; remaining: {left})"


def slack_of(guarantee: Guarantee, slack: Exact | None) -> Fraction | None:
    """The part of delta that the conversion from rho uses; None for guarantees without conversion."""
    if not isinstance(guarantee, ApproxDP):
        if slack is not None:
            raise InvalidArgument("DPA106", "slack belongs to ApproxDP budgets only. Leave it out.")
        return None
    delta = rational(guarantee.delta)
    if delta == 0:
        raise InvalidArgument("DPA103", "an approximate budget needs delta above 0, got 0. Give PureDP(epsilon) instead.")
    return delta / 2 if slack is None else in_range(slack, "slack", lower=0, upper=delta, lower_open=True)


def _limits(guarantee: Guarantee, slack: Fraction | None) -> tuple[Fraction, ...]:
    """The largest amounts that the guarantee allows, in the order of the currency's names."""
    if isinstance(guarantee, RDP):
        return tuple(bound for _, bound in guarantee.orders)
    if isinstance(guarantee, ApproxDP) and slack is not None:
        return max_rho(rational(guarantee.epsilon), slack), rational(guarantee.delta) - slack
    assert isinstance(guarantee, (PureDP, ZCDP, GDP)), "a guarantee without currency passed the check before"  # noqa: S101
    return stated_amount(guarantee)
