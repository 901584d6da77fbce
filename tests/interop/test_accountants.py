"""What other accountants are asked: the same releases in their own terms, or a refusal in words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dpaudit.accounting import Poisson, compose, gaussian, laplace, pure_dp
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.errors import Unsupported
from dpaudit.exact import rational
from dpaudit.interop import accountants

TRAINING = compose(100 * gaussian(sigma="3/2", sensitivity=2).sampled(Poisson("1/10")), 3 * gaussian(sigma=4))
AT_DELTA = EpsilonAt(rational("1e-5"))


def asked(name):
    return {kind: ask for package, kind, ask in accountants._PEERS if package == name}


@pytest.fixture
def opacus(monkeypatch):
    """An Opacus whose accountants keep what they are given."""
    made = []

    def create_accountant(mechanism):
        made.append(SimpleNamespace(mechanism=mechanism, get_epsilon=lambda delta: delta))
        return made[-1]

    monkeypatch.setattr(accountants, "library", lambda name: SimpleNamespace(create_accountant=create_accountant))
    return made


def test_opacus_is_told_noise_multipliers_rates_and_steps(opacus):
    for ask in asked("opacus").values():
        assert 1e-5 == ask(TRAINING, AT_DELTA)
    assert ["prv", "rdp", "gdp"] == [one.mechanism for one in opacus]
    assert all([(0.75, 0.1, 100), (4.0, 1.0, 3)] == sorted(one.history) for one in opacus)


@pytest.mark.parametrize(
    ("loss", "question", "words"),
    [
        (TRAINING, DeltaAt(rational(1)), "epsilon at a delta only"),
        (laplace(scale=1), AT_DELTA, "Gaussian noise"),
        (gaussian(sigma=1, adjacency="replace_one"), AT_DELTA, "add_remove"),
    ],
)
def test_opacus_is_not_asked_what_it_has_no_answer_to(opacus, loss, question, words):
    with pytest.raises(Unsupported, match=words):
        asked("opacus")["Renyi moments"](loss, question)


def test_autodp_is_told_curves_of_its_own(monkeypatch):
    told = []
    accountant = SimpleNamespace(
        compose_mechanism=lambda curve, coeff: told.append((curve(3), coeff)),
        compose_poisson_subsampled_mechanisms=lambda curve, rate, coeff: told.append((curve(3), rate, coeff)),
        get_eps=lambda delta: delta,
    )
    curves = {name: lambda parameters, order, name=name: (name, parameters, order) for name in ("RDP_gaussian", "RDP_laplace")}
    modules = {
        "autodp.rdp_bank": SimpleNamespace(**curves),
        "autodp.rdp_acct": SimpleNamespace(anaRDPacct=lambda: accountant),
    }
    monkeypatch.setattr(accountants, "library", modules.__getitem__)
    assert 1e-5 == asked("autodp")["Renyi moments"](compose(TRAINING, laplace(scale=6, sensitivity=3)), AT_DELTA)
    assert [
        (("RDP_gaussian", {"sigma": 0.75}, 3), 0.1, 100),
        (("RDP_gaussian", {"sigma": 4.0}, 3), 3),
        (("RDP_laplace", {"b": 2.0}, 3), 1),
    ] == sorted(told, key=repr)
    with pytest.raises(Unsupported, match="Gaussian noise"):
        asked("autodp")["Renyi moments"](pure_dp(1), AT_DELTA)


def test_without_the_packages_each_of_them_is_named(monkeypatch):
    def absent(name):
        raise accountants.PackageNotFoundError(name)

    monkeypatch.setattr(accountants, "version", absent)
    found = list(accountants.ask_peers(TRAINING, AT_DELTA))
    assert {"dp-accounting", "opacus", "autodp"} == {one.why.rpartition(" ")[2] for one in found}
    assert all(one.value is None for one in found)
