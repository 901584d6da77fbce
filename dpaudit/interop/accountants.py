"""What other accountants answer for a privacy loss: dp-accounting, Opacus and autodp, where they are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.accounting.model.law import Law
from dpaudit.errors import Unsupported
from dpaudit.interop.event_writing import to_dp_accounting
from dpaudit.interop.libraries import library


@dataclass(frozen=True)
class PeerAnswer:
    """One number of another accountant, without a certificate; None with the reason in words where it has none.

    Args:
      accountant: package, version and kind of accountant.
      value: epsilon or delta, as asked.
      why: why there is no number, empty where there is one.
    """

    accountant: str
    value: float | None
    why: str = ""


Ask = Callable[[PrivacyLoss, "DeltaAt | EpsilonAt"], float]


def ask_peers(loss: PrivacyLoss, question: DeltaAt | EpsilonAt) -> Iterator[PeerAnswer]:
    """Ask every accountant the same question about the same releases, parameters rounded to the nearest floats."""
    for package, kind, ask in _PEERS:
        try:
            name = f"{package} {version(package)}, {kind}"
        except PackageNotFoundError:
            yield PeerAnswer(f"{package}, {kind}", None, f"not installed. Run: pip install {package}")
            continue
        try:
            yield PeerAnswer(name, ask(loss, question))
        except Unsupported as error:
            yield PeerAnswer(name, None, error.message)
        except Exception as error:  # noqa: BLE001 - whatever another library raises is its answer, in its words
            yield PeerAnswer(name, None, f"{type(error).__name__}: {error}"[:200])


def _dp_accounting(module: str, kind: str) -> Ask:
    """An accountant of dp-accounting with its defaults."""

    def ask(loss: PrivacyLoss, question: DeltaAt | EpsilonAt) -> float:
        event, relations = to_dp_accounting(loss, nearest=True), library("dp_accounting").NeighboringRelation
        relation = {"add_remove": relations.ADD_OR_REMOVE_ONE, "replace_one": relations.REPLACE_ONE}.get(loss.adjacency.kind)
        if relation is None:
            raise Unsupported("DPA202", f"dp-accounting knows add_remove and replace_one, got {loss.adjacency}.")
        accountant = getattr(library(module), kind)(neighboring_relation=relation)
        accountant.compose(event)
        if isinstance(question, EpsilonAt):
            return float(accountant.get_epsilon(float(question.delta)))
        return float(accountant.get_delta(float(question.epsilon)))

    return ask


def _opacus(mechanism: str) -> Ask:
    """An accountant of Opacus with its defaults."""

    def ask(loss: PrivacyLoss, question: DeltaAt | EpsilonAt) -> float:
        delta = _delta_of(question, "Opacus")
        steps = [(*_sampled_gaussian(law, loss, "Opacus"), count) for law, count in loss.parts]
        accountant = library("opacus.accountants").create_accountant(mechanism=mechanism)
        accountant.history = [(float(noise), float(rate), count) for noise, rate, count in steps]
        return float(accountant.get_epsilon(delta=delta))

    return ask


def _autodp(loss: PrivacyLoss, question: DeltaAt | EpsilonAt) -> float:
    """The moments accountant of autodp."""
    delta, bank = _delta_of(question, "autodp"), library("autodp.rdp_bank")
    accountant = library("autodp.rdp_acct").anaRDPacct()
    for law, count in loss.parts:
        if isinstance(law, Laplace):
            _require_add_remove(loss, "autodp")
            curve, parameters, rate = bank.RDP_laplace, {"b": float(law.scale / law.sensitivity)}, Fraction(1)
        else:
            noise, rate = _sampled_gaussian(law, loss, "autodp")
            curve, parameters = bank.RDP_gaussian, {"sigma": float(noise)}
        divergence = _bound_to(curve, parameters)
        if rate == 1:
            accountant.compose_mechanism(divergence, coeff=count)
        else:
            accountant.compose_poisson_subsampled_mechanisms(divergence, float(rate), coeff=count)
    return float(accountant.get_eps(delta))


def _bound_to(curve: Any, parameters: dict[str, float]) -> Callable[[float], Any]:
    """A Renyi curve with its parameters."""
    return lambda order: curve(parameters, order)


def _delta_of(question: DeltaAt | EpsilonAt, name: str) -> float:
    """The delta of a question about epsilon."""
    if isinstance(question, DeltaAt):
        raise Unsupported("DPA202", f"{name} answers for epsilon at a delta only")
    return float(question.delta)


def _require_add_remove(loss: PrivacyLoss, name: str) -> None:
    """Refuse neighbours of another kind."""
    if loss.adjacency.kind != "add_remove":
        raise Unsupported("DPA202", f"{name} counts under add_remove, got {loss.adjacency}")


def _sampled_gaussian(law: Law, loss: PrivacyLoss, name: str) -> tuple[Fraction, Fraction]:
    """Noise multiplier and rate of a Gaussian, Poisson sampled or not."""
    _require_add_remove(loss, name)
    inner, rate = (law.law, law.rate) if isinstance(law, Sampled) and law.removing else (law, Fraction(1))
    if not isinstance(inner, Gaussian) or not inner.mu:
        raise Unsupported("DPA202", f"{name} is asked about Gaussian noise here, Poisson sampled or not, got {law.describe()}")
    return 1 / inner.mu, rate


_PEERS: Final[tuple[tuple[str, str, Ask], ...]] = (
    ("dp-accounting", "privacy loss distribution", _dp_accounting("dp_accounting.pld", "PLDAccountant")),
    ("dp-accounting", "Renyi moments", _dp_accounting("dp_accounting.rdp", "RdpAccountant")),
    ("opacus", "PRV, numbers with an error bound of its own", _opacus("prv")),
    ("opacus", "Renyi moments", _opacus("rdp")),
    ("opacus", "Gaussian limit, an approximation and no bound", _opacus("gdp")),
    ("autodp", "Renyi moments", _autodp),
)
