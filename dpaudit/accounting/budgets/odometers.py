"""Privacy odometer: how much adaptively chosen releases have cost so far, a statement that holds at every time at once."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import NoReturn

from dpaudit.accounting.engines.currencies import CONCENTRATED, PURE, add_amounts
from dpaudit.accounting.privacy_loss import PrivacyLoss, spent_laws
from dpaudit.claims import Adjacency, Guarantee
from dpaudit.errors import Unsupported
from dpaudit.exact import (
    Enclosure,
    Exact,
    Reason,
    ball,
    ball_endpoints,
    in_range,
    integer,
    outward,
    positive,
    shown,
    working_precision,
)


class Odometer:
    """A running privacy loss without a budget: the epsilon shown holds at every time at once, also when one stops by looking at it.

    With probability at least 1 - delta the privacy loss is below the epsilon shown at all times simultaneously, whatever the
    strategy by which releases are chosen. So releases that stop while at most a fixed epsilon is shown are (epsilon, delta)-DP.

    Args:
      delta: probability that the loss ever passes what is shown, exact, in (0, 1), dimensionless; chosen beforehand.
      adjacency: the neighbouring relation of everything counted.
      scale: the total rho at which the bound is to be tightest, exact, positive; any value is valid. It must be public.
    Raises:
      InvalidArgument: `delta` is outside (0, 1) (DPA103), or `scale` is not positive (DPA104).
    Source: Whitehouse, Ramdas, Rogers, Wu 2023 (method of mixtures); docs/budgets.md for the proof.
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> odometer = Odometer(delta="1e-6")
      >>> odometer.count(gaussian(sigma=10), times=100)
      >>> print(odometer.epsilon().upper < 7)
      True
    """

    __slots__ = ("_lock", "_pure", "_rho", "_scale", "adjacency", "delta")

    def __init__(self, *, delta: Exact, adjacency: Adjacency | str = "add_remove", scale: Exact = "1/4") -> None:
        self.delta = in_range(delta, "delta", lower=0, upper=1, lower_open=True, upper_open=True)
        self.adjacency = Adjacency.of(adjacency)
        self._scale = positive(scale, "scale")
        self._rho = Fraction(0)
        self._pure: Fraction | None = Fraction(0)
        self._lock = Lock()

    def count(self, spending: PrivacyLoss | Guarantee, *, times: int = 1) -> None:
        """Count releases that are about to be made; call it before their noise is drawn.

        Args:
          spending: a loss of `dpaudit.accounting` or a guarantee; its certified upper ends count.
          times: how many such releases, at least 0.
        Raises:
          AdjacencyMismatch: the loss is about another neighbouring relation (DPA201).
          InvalidArgument: something else than a loss or a guarantee, or `times` is no count (DPA103, DPA105).
          Unsupported: nothing is known about the loss in rho, or it can be infinite: a delta of single releases has no place
            in a statement about all times (DPA202).
        Source: docs/budgets.md.
        Example:
          >>> from dpaudit.claims import PureDP
          >>> odometer = Odometer(delta="1e-6")
          >>> odometer.count(PureDP(epsilon="1/2"))
          >>> print(odometer.epsilon().upper)
          1/2
        """
        copies = integer(times, "times", lower=0)
        rho = CONCENTRATED.cost(spent_laws(spending), self.adjacency)
        pure = _pure_cost(spending, self.adjacency)
        with self._lock:
            self._rho = add_amounts((self._rho,), rho, copies)[0]
            if copies:
                self._pure = None if self._pure is None or pure is None else add_amounts((self._pure,), pure, copies)[0]

    def epsilon(self) -> Enclosure:
        """The privacy loss so far.

        Returns:
          Enclosure in nats whose upper end holds at all times together, with `delta`; nothing is known from below, so that
          the lower end is 0.
        Source: Whitehouse, Ramdas, Rogers, Wu 2023; docs/budgets.md.
        Example:
          >>> print(Odometer(delta="1e-6").epsilon().upper)
          0
        """
        with self._lock:
            rho, pure = self._rho, self._pure
        reason = Reason(
            "a supermartingale mixed over its parameter, with Ville's inequality at all times together (docs/budgets.md): "
            "epsilon <= rho + sqrt(2 (s + 2 rho) log(sqrt(1 + 2 rho / s) / delta))",
            (Reason(f"rho {outward(rho, digits=6, up=True)}, s {shown(self._scale)}, delta {shown(self.delta)}"),),
        )
        with working_precision(128):
            wide = ball(self._scale + 2 * rho)
            room = (wide / ball(self._scale)).log() / 2 - ball(self.delta).log()
            upper = ball_endpoints(ball(rho) + (2 * wide * room).sqrt())[1]
        if pure is not None and pure <= upper:
            return Enclosure(0, pure, Reason("epsilons of pure guarantees add up under full adaptivity"))
        return Enclosure(0, upper, reason)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: two copies would each spend the same budget."""
        raise TypeError("an odometer cannot be copied or pickled; every copy would miss what the others count")


def _pure_cost(spending: PrivacyLoss | Guarantee, adjacency: Adjacency) -> tuple[Fraction, ...] | None:
    """The pure epsilon of what is spent, None where it has none."""
    try:
        return PURE.cost(spent_laws(spending), adjacency)
    except Unsupported:
        return None
