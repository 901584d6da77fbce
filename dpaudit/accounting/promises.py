"""From a claim to the privacy loss it allows."""

from __future__ import annotations

from dpaudit.accounting.laws.concentrated import rdp, zcdp
from dpaudit.accounting.laws.gaussian import gdp
from dpaudit.accounting.laws.response import approx_dp, pure_dp
from dpaudit.accounting.loss import PrivacyLoss
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, PureDP
from dpaudit.errors import InvalidArgument, Unsupported


def claimed_loss(claim: Claim) -> PrivacyLoss:
    """The privacy loss that a claim promises not to exceed.

    Args:
      claim: a guarantee with its adjacency.
    Returns:
      A loss whose `delta(epsilon=...).upper` is the largest delta that the claim allows at that epsilon.
    Raises:
      InvalidArgument: not a Claim (DPA105).
      Unsupported: the claim is a Curve of something that was not built with `dpaudit.accounting` (DPA202).
    Source: docs/accounting.md, section on guarantees.
    Example:
      >>> print(claimed_loss(Claim(ApproxDP(epsilon=1, delta="1e-6"))).delta(epsilon=1))
      0.000001
    """
    if not isinstance(claim, Claim):
        raise InvalidArgument(
            "DPA105", f"claimed_loss takes a Claim, got a {type(claim).__name__}. For instance Claim(PureDP(epsilon=1))."
        )
    guarantee, adjacency = claim.guarantee, claim.relation
    match guarantee:
        case PureDP():
            return pure_dp(guarantee.epsilon, adjacency=adjacency)
        case ApproxDP():
            return approx_dp(guarantee.epsilon, delta=guarantee.delta, adjacency=adjacency)
        case ZCDP():
            return zcdp(guarantee.rho, adjacency=adjacency)
        case RDP():
            return rdp(dict(guarantee.orders), adjacency=adjacency)
        case GDP():
            return gdp(guarantee.mu, adjacency=adjacency)
        case _:
            if not isinstance(guarantee.loss, PrivacyLoss):
                kind = type(guarantee.loss).__name__
                raise Unsupported("DPA202", f"a Curve must hold a loss built with dpaudit.accounting, got a {kind}.")
            return guarantee.loss
