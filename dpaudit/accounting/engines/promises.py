"""From a claim to the laws of the loss that it allows."""

from __future__ import annotations

from dpaudit.accounting.laws.concentrated import Concentrated, RenyiBounded
from dpaudit.accounting.laws.gaussian import unit_gaussian
from dpaudit.accounting.laws.response import approximate_response, pure_response
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.law import Law
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, Guarantee, PureDP
from dpaudit.errors import Unsupported
from dpaudit.exact import rational


def promised_composition(claim: Claim) -> Composition:
    """Return the laws whose loss a claim promises not to exceed; DPA202 for a curve that was not built here."""
    if isinstance(claim.guarantee, Curve):
        composition = getattr(claim.guarantee.loss, "composition", None)
        if not isinstance(composition, Composition):
            kind = type(claim.guarantee.loss).__name__
            raise Unsupported("DPA202", f"a Curve must hold a loss built with dpaudit.accounting, got a {kind}.")
        return composition
    return Composition(((_promised_law(claim.guarantee), 1),), claim.relation)


def _promised_law(guarantee: Guarantee) -> Law:
    """Return the law that a guarantee with parameters allows."""
    match guarantee:
        case PureDP():
            return pure_response(rational(guarantee.epsilon))
        case ApproxDP():
            return approximate_response(rational(guarantee.epsilon), rational(guarantee.delta))
        case ZCDP():
            return Concentrated(rational(guarantee.rho))
        case RDP():
            return RenyiBounded(guarantee.orders)
        case GDP():
            return unit_gaussian(rational(guarantee.mu))
    raise Unsupported("DPA202", f"no law is known for a {type(guarantee).__name__}. Give PureDP, ApproxDP, ZCDP, RDP or GDP.")
