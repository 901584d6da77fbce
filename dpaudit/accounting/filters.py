"""Privacy filter: a budget that is fixed beforehand and spent by adaptively chosen releases."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from threading import Lock
from typing import NoReturn

from dpaudit.accounting.currencies import added, currency_of, rho_allowed
from dpaudit.accounting.loss import PrivacyLoss
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Guarantee, PureDP
from dpaudit.errors import BudgetExceeded, InvalidArgument
from dpaudit.exact import Exact, in_range, integer, outward, rational


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

    __slots__ = ("_currency", "_limits", "_lock", "_spent", "adjacency", "guarantee", "slack")

    def __init__(self, guarantee: Guarantee, *, adjacency: Adjacency | str = "add_remove", slack: Exact | None = None) -> None:
        """Check the budget; nothing is spent yet."""
        if not isinstance(guarantee, Guarantee):
            raise InvalidArgument("DPA105", f"a budget is a guarantee such as PureDP(epsilon=1), got a {type(guarantee).__name__}.")
        self.guarantee = guarantee
        self.adjacency = Adjacency.of(adjacency)
        self._currency = currency_of(guarantee)
        self.slack = _slack(guarantee, slack)
        self._limits = _limits(guarantee, self.slack)
        self._spent = (Fraction(0),) * len(self._limits)
        self._lock = Lock()

    @property
    def spent(self) -> dict[str, Fraction]:
        """What was spent so far, by the name of the currency."""
        return dict(zip(self._currency.names, self._spent, strict=True))

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What may still be spent, by the name of the currency."""
        left = (limit - spent for limit, spent in zip(self._limits, self._spent, strict=True))
        return dict(zip(self._currency.names, left, strict=True))

    def admits(self, spending: PrivacyLoss | Guarantee, *, times: int = 1) -> bool:
        """Whether the budget covers `times` such releases now; nothing is spent.

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
        return self._within(self._after(spending, times))

    def spend(self, spending: PrivacyLoss | Guarantee, *, times: int = 1) -> None:
        """Spend the budget on releases that are about to be made; call it before their noise is drawn.

        Args:
          spending: a loss of `dpaudit.accounting` or a guarantee; its certified upper ends count.
          times: how many such releases, at least 0.
        Returns:
          Nothing; releases that are not admitted are not made.
        Raises:
          BudgetExceeded: the budget does not cover them; nothing is spent (DPA204).
          AdjacencyMismatch: the loss speaks of another neighbouring relation (DPA201).
          InvalidArgument: something else than a loss or a guarantee, or `times` is no count (DPA103, DPA105).
          Unsupported: the loss has no finite cost in the currency of the budget (DPA202).
        Source: docs/budgets.md.
        Example:
          >>> budget = Filter(PureDP(epsilon=1))
          >>> budget.spend(PureDP(epsilon="1/10"), times=10)
          >>> budget.remaining
          {'epsilon': Fraction(0, 1)}
        """
        with self._lock:
            after = self._after(spending, times)
            if not self._within(after):
                self._refuse(after)
            self._spent = after

    def state(self) -> dict[str, str]:
        """What was spent, as text with exact numbers, from which `restore` goes on."""
        return {name: str(amount) for name, amount in self.spent.items()}

    def restore(self, state: Mapping[str, str]) -> None:
        """Take over what an earlier filter of the same budget had spent.

        Args:
          state: what `state` gave.
        Returns:
          Nothing.
        Raises:
          InvalidArgument: another currency (DPA106), numbers that are none (DPA101), or something was spent here already (DPA103).
        Source: docs/budgets.md.
        Example:
          >>> later = Filter(PureDP(epsilon=1))
          >>> later.restore({"epsilon": "3/4"})
          >>> later.admits(PureDP(epsilon="1/2"))
          False
        """
        if set(state) != set(self._currency.names):
            raise InvalidArgument("DPA106", f"the state must hold {', '.join(self._currency.names)}, got {', '.join(state)}.")
        amounts = tuple(in_range(rational(state[name], name), name, lower=0, upper=2**1024) for name in self._currency.names)
        with self._lock:
            if any(self._spent):
                raise InvalidArgument("DPA103", "a state is restored into a new filter only; this one has spent already.")
            self._spent = amounts

    def _after(self, spending: PrivacyLoss | Guarantee, times: int) -> tuple[Fraction, ...]:
        """What would have been spent in all."""
        count = integer(times, "times", lower=0)
        return added(self._spent, self._currency.cost(spending, self.adjacency), count)

    def _within(self, amounts: tuple[Fraction, ...]) -> bool:
        """Whether no limit is passed."""
        return all(amount <= limit for amount, limit in zip(amounts, self._limits, strict=True))

    def _refuse(self, amounts: tuple[Fraction, ...]) -> NoReturn:
        """Say which limit would be passed."""
        for name, amount, limit in zip(self._currency.names, amounts, self._limits, strict=True):
            if amount > limit:
                raise BudgetExceeded(
                    "DPA204",
                    f"the budget of {self.guarantee} does not cover this: {name} would reach {outward(amount, digits=6, up=True)}, "
                    f"allowed are {outward(limit, digits=6, up=False)}. Nothing was spent; release less or with more noise.",
                )
        raise AssertionError("a budget was refused although no limit is passed")

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: two copies would each spend the same budget."""
        raise TypeError("a filter cannot be copied or pickled; keep its state() and restore it into a new one")

    def __repr__(self) -> str:
        """Budget and what is left of it."""
        left = ", ".join(f"{name} {outward(amount, digits=6, up=False)}" for name, amount in self.remaining.items())
        return f"Filter({self.guarantee} under {self.adjacency}; remaining: {left})"


def _slack(guarantee: Guarantee, slack: Exact | None) -> Fraction | None:
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
    match guarantee:
        case PureDP():
            return (rational(guarantee.epsilon),)
        case ZCDP():
            return (rational(guarantee.rho),)
        case GDP():
            return (rational(guarantee.mu) ** 2,)
        case RDP():
            return tuple(bound for _, bound in guarantee.orders)
        case ApproxDP() if slack is not None:
            return rho_allowed(rational(guarantee.epsilon), slack), rational(guarantee.delta) - slack
    raise AssertionError("a guarantee without currency passed the check before")
