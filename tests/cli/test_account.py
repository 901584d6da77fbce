"""`dpaudit account` and `dpaudit calibrate`: what they print is what the library says, and nothing else can be written."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import bounded_range, compose, explicit_pair, gaussian, laplace, mixture, pure_dp, rdp, zcdp
from dpaudit.cli.expressions import file_loss, loss_of, names
from dpaudit.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("gaussian(sigma=1)", gaussian(sigma=1)),
        ("gaussian(0.1)", gaussian(sigma="1/10")),
        ("1000 * gaussian(sigma=1)", 1000 * gaussian(sigma=1)),
        ("gaussian(sigma=1) * 3", 3 * gaussian(sigma=1)),
        ("gaussian(sigma=1).under('replace_one')", gaussian(sigma=1).under("replace_one")),
        ("laplace(scale=1).user(records=3)", laplace(scale=1).user(records=3)),
        ("2 * (gaussian(sigma=1) + 3 * laplace(scale=2))", compose(2 * gaussian(sigma=1), 6 * laplace(scale=2))),
        ("compose(pure_dp(1/3), zcdp('1/8'), pure_dp(1e-3))", compose(pure_dp("1/3"), zcdp("1/8"), pure_dp("1/1000"))),
        ("explicit_pair(p=[3/4, 1/4], q=('1/4', 0.75))", explicit_pair(["3/4", "1/4"], ["1/4", "3/4"])),
        ("rdp({2: 1/2, 8: 2})", rdp({2: "1/2", 8: 2})),
        (
            "2 * mixture([(1/3, gaussian(sigma=1)), (2/3, 0 * laplace(scale=2))], revealed=False)",
            2 * mixture([("1/3", gaussian(sigma=1)), ("2/3", 0 * laplace(scale=2))], revealed=False),
        ),
        ("laplace(scale=2).group(3)", laplace(scale=2).group(3)),
        ("0 * gaussian(sigma=1) + bounded_range(epsilon=1_0.5)", bounded_range(epsilon="10.5")),
    ],
)
def test_an_expression_is_the_loss_it_names(text, loss):
    assert loss == loss_of(text)


@given(st.decimals("0.0001", 10**6, places=6), st.integers(1, 10**6))
def test_numbers_are_exact_as_they_are_written(number, times):
    assert times * gaussian(sigma=str(number)) == loss_of(f"{times} * gaussian(sigma={number})")


def test_an_adjacency_holds_for_laws_that_state_none():
    loss = loss_of(
        "gaussian(sigma=1) + randomized_response(1) + laplace(scale=1, adjacency='replace_one')", adjacency="replace_one"
    )
    assert "replace_one" == str(loss.adjacency)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("gaussian(sigma=1", "cannot be read"),
        ("", "cannot be read"),
        ("1", "'1'"),
        ("gauss(sigma=1)", "no law 'gauss'"),
        ("gaussian(sgma=1)", "sgma"),
        ("gaussian(**{'sigma': 1})", "by name"),
        ("mixture(gaussian(sigma=1))", "is written mixture("),
        ("mixture([gaussian(sigma=1)])", "component"),
        ("mixture([(1, gaussian(sigma=1))], shown=True)", "shown"),
        ("gaussian(sigma=open('x'))", "number"),
        ("__import__('os').system('true')", "expected"),
        ("(lambda: 0)()", "expected"),
        ("gaussian(sigma=1).__class__", "expected"),
        ("gaussian(sigma=1).adjacency", "expected"),
        ("[gaussian(sigma=1)]", "expected"),
        ("gaussian(sigma=1) - gaussian(sigma=1)", "expected"),
        ("True * gaussian(sigma=1)", "expected"),
        ("1.5 * gaussian(sigma=1)", "expected"),
        ("gaussian(sigma=?)", "calibrate"),
        ("gaussian(sigma=1/0)", "number"),
        ("gaussian(sigma=1/'x')", "number"),
        ("gaussian(sigma=f'{1}')", "number"),
        ("gaussian(sigma=[1 for _ in (1, 2)])", "number"),
        ("loss_of_claim(1)", "no law 'loss_of_claim'"),
        ("(" * 5000 + "1" + ")" * 5000, "DPA505"),
        ("gaussian(sigma=1)" + " + gaussian(sigma=1)" * 2000, "characters"),
    ],
)
def test_anything_else_is_refused_and_not_run(text, what):
    with pytest.raises(InvalidArgument, match="DPA505") as refusal:
        loss_of(text)
    assert what in str(refusal.value)


def test_only_laws_and_schemes_are_names():
    from dpaudit import accounting

    laws, schemes = names()
    for name in laws:
        assert callable(getattr(accounting, name))
    assert {"gaussian", "laplace", "zcdp"} <= set(laws)
    assert not {"compose", "price_releases", "calibrate", "loss_of_claim"} & {*laws, *schemes}


def test_intervals_are_those_of_the_library(dpaudit):
    result = dpaudit("account", "1000 * gaussian(sigma=1)", "--delta", "1e-6", "--epsilon", "700", "--json")
    assert 0 == result.exit_code
    document = json.loads(result.stdout)
    loss = 1000 * gaussian(sigma=1)
    for answer, interval in zip(document["answers"], [loss.epsilon(delta="1e-6"), loss.delta(epsilon=700)], strict=True):
        assert (interval.lower, interval.upper) == (Fraction(answer["lower"]), Fraction(answer["upper"]))
        assert answer["lower_float"] <= interval.lower <= interval.upper <= answer["upper_float"]
        assert answer["why"]
    assert "add_remove" == document["adjacency"]


def test_text_names_the_loss_and_the_question(dpaudit):
    result = dpaudit("account", "laplace(scale=2)", "pure_dp(1)", "--delta", "0")
    assert (
        "compose(laplace(scale=2, sensitivity=1), pure_dp(epsilon=1)) under add_remove\n\ndelta = 0: epsilon = 1.5\n"
        == result.stdout
    )


def test_reasons_are_printed_on_request(dpaudit):
    assert "Balle and Wang 2018" in dpaudit("account", "gaussian(sigma=2)", "--why").stdout
    assert "Balle and Wang 2018" not in dpaudit("account", "gaussian(sigma=2)").stdout


def test_infinity_is_valid_json(dpaudit):
    answer = json.loads(dpaudit("account", "gaussian(sigma=2)", "--delta", "0", "--json").stdout)["answers"][0]
    assert ("inf", "inf") == (answer["upper"], answer["upper_float"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("events.toml", 'schema = 1\nadjacency = "replace_one"\n[[events]]\nlaw = "gaussian(sigma=2)"\ntimes = 3\nnote = "mean"\n'),
        ("events.json", '{"schema": 1, "adjacency": "replace_one", "events": [{"law": "gaussian(sigma=2)", "times": 3}]}'),
    ],
)
def test_files_of_events_are_composed(dpaudit, folder, name, text):
    (folder / name).write_text(text)
    result = dpaudit("account", "--events", name)
    assert 0 == result.exit_code
    assert result.stdout.startswith("3 * gaussian(sigma=2, sensitivity=1) under replace_one\n")


@pytest.mark.parametrize(
    "text",
    [
        "not toml =",
        "schema = 2\nevents = []",
        "schema = 1",
        "schema = 1\nevents = []",
        "schema = 1\nevents = [1]",
        'schema = 1\n[[events]]\nlaw = "gaussian(sigma=1)"\ntimes = -1',
        'schema = 1\n[[events]]\nlaw = "gaussian(sigma=1)"\ntime = 2',
        'schema = 1\nevent = 2\n[[events]]\nlaw = "gaussian(sigma=1)"',
    ],
)
def test_files_of_another_form_are_refused(tmp_path, text):
    (tmp_path / "events.toml").write_text(text)
    with pytest.raises(InvalidArgument, match="DPA505"):
        file_loss(tmp_path / "events.toml")


def test_a_missing_file_is_refused(dpaudit):
    result = dpaudit("account", "--events", "missing.toml")
    assert (2, True) == (result.exit_code, "DPA505" in result.stderr)


def test_a_profile_is_drawn(dpaudit, folder):
    result = dpaudit("account", "gaussian(sigma=1) + laplace(scale=2)", "--plot", "profile.svg")
    assert 0 == result.exit_code
    drawing = (folder / "profile.svg").read_text()
    assert drawing.startswith("<svg xmlns=")
    assert drawing.endswith("</svg>\n")
    # A file of its own has no page that would give its colours a meaning.
    used, defined = set(re.findall(r"var\(--(\w+)\)", drawing)), set(re.findall(r"--(\w+):#", drawing))
    assert {"ink", "price", "claim", "paper"} <= used <= defined
    assert "upper end, a valid claim" in drawing
    assert "10⁻⁶" in drawing


def test_a_drawing_reaches_the_smallest_delta_asked_for(dpaudit, folder):
    dpaudit("account", "gaussian(sigma=1)", "--delta", "1e-30", "--plot", "profile.svg")
    assert "10⁻³¹" in (folder / "profile.svg").read_text()
    assert 2 == dpaudit("account", "0 * gaussian(sigma=1)", "--plot", "profile.svg").exit_code


def test_the_errors_of_tests_are_drawn_beside_the_gaussian_curve_of_the_same_advantage(dpaudit, folder):
    assert 0 == dpaudit("account", "gaussian(sigma=2)", "--plot", "errors.svg", "--curve", "tradeoff").exit_code
    drawing = (folder / "errors.svg").read_text()
    for said in (
        "Trade-off function of gaussian(sigma=2, sensitivity=1)",
        "mu-GDP with mu = 0.5, which",
        "0.8739 to 0.8739 at type I",
    ):
        assert said in drawing
    result = dpaudit("account", "approx_dp(0, delta=0.1)", "--delta", "0.2", "--plot", "errors.svg", "--curve", "tradeoff")
    assert 0 == result.exit_code


def test_other_accountants_are_asked_where_they_are_installed(dpaudit, monkeypatch):
    from dpaudit.interop import accountants

    def refuses(loss, question):
        raise ValueError("no such law")

    known = {"exact": 0.5, "low": 0.4, "high": 0.75, "hair": 0.5 * (1 + 1e-12), "none": math.inf}
    peers = [("click", name, lambda loss, question, value=value: value) for name, value in known.items()]
    monkeypatch.setattr(accountants, "_PEERS", (*peers, ("click", "words", refuses), ("nowhere", "absent", refuses)))
    said = dpaudit("account", "pure_dp(1/2)", "--delta", "0", "--compare").stdout.splitlines()[3:]
    for line, (name, answer) in zip(
        said,
        {
            "exact": "0.5, in the interval",
            "low": "0.4, BELOW what is certainly lost",
            "high": "0.75, 50 % above the interval",
            "hair": "0.5, at the interval",
            "none": "inf, inf % above the interval",
            "words": "no number: ValueError: no such law",
            "absent": "no number: not installed. Run: pip install nowhere",
        }.items(),
        strict=True,
    ):
        assert line.endswith(f"{name}: {answer}")
        assert line.startswith("    nowhere, absent" if name == "absent" else f"    click {version('click')}, {name}")
    assert 7 == len(
        json.loads(dpaudit("account", "pure_dp(1/2)", "--delta", "0", "--compare", "--json").stdout)["answers"][0]["others"]
    )


def test_a_budget_over_time_ends_at_what_everything_costs(dpaudit, folder):
    parts = ["100 * gaussian(sigma=20)", "laplace(scale=4) + laplace(scale=2)", "3 * gaussian(sigma=5)"]
    result = dpaudit("account", *parts, "--delta", "1e-5", "--plot", "budget.svg", "--curve", "budget", "--json")
    answer = json.loads(result.stdout)["answers"][0]
    drawing = (folder / "budget.svg").read_text()
    assert f"after each of 105 releases: {answer['lower_float']:.4g} to {answer['upper_float']:.4g} at the end" in drawing
    heights = [float(y) for y in re.findall(r'cy="([0-9.]+)" r="1.8"', drawing)]
    assert 30 < len(heights) < 60
    assert sorted(heights, reverse=True) == heights, "nothing that is released lowers what was spent"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "give an expression"),
        (["gaussian(sigma=1)", "--delta", "1"], "DPA103"),
        (["gaussian(sigma=1)", "--delta", "x"], "DPA101"),
        (["gaussian(sigma=1)", "--epsilon", "-1"], "DPA103"),
        (["gaussian(sigma=0)"], "DPA104"),
        (["gaussian(sigma=1)", "--plot", "profile.png"], "DPA503"),
        (["gaussian(sigma=1)", "--plot", "budget.svg", "--curve", "budget", "--epsilon", "1"], "DPA503"),
        (["pure_dp(1)", "--plot", "profile.svg", "--curve", "nonsense"], "Invalid value for '--curve'"),
        (["gaussian(sigma=1)", "--plot", "missing/profile.svg"], "DPA503"),
        (["gaussian(sigma=1) + randomized_response(1)"], "DPA201"),
        (["gaussian(sigma=1)", "--adjacency", "nonsense"], "DPA103"),
    ],
)
def test_wrong_usage_is_refused(dpaudit, arguments, text):
    result = dpaudit("account", *arguments)
    assert 2 == result.exit_code
    assert text in result.stderr


def test_a_calibrated_parameter_meets_the_budget(dpaudit):
    result = dpaudit("calibrate", "100 * gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-6", "--json")
    document = json.loads(result.stdout)
    assert document["tight"]
    sigma = Fraction(document["parameter"])
    assert (100 * gaussian(sigma=sigma)).delta(epsilon=1).upper <= Fraction(1, 10**6)
    shown = dpaudit("calibrate", "100 * gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-6").stdout
    assert "certainly breaks it" in shown
    assert str(sigma) in shown


def test_a_sensitivity_is_calibrated_upwards(dpaudit):
    arguments = ["--epsilon", "1", "--delta", "0", "--increasing", "--low", "1e-3", "--high", "10"]
    result = dpaudit("calibrate", "laplace(scale=1, sensitivity=?)", *arguments, "--json")
    assert abs(Fraction(json.loads(result.stdout)["parameter"]) - 1) < Fraction(1, 10**5)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["gaussian(sigma=1)", "--epsilon", "1", "--delta", "1e-6"], "needs a ?"),
        (["gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-6", "--high", "1e-2"], "DPA202"),
        (["gaussian(sigma=?)", "--epsilon", "1"], "--delta"),
    ],
)
def test_wrong_budgets_are_refused(dpaudit, arguments, text):
    result = dpaudit("calibrate", *arguments)
    assert 2 == result.exit_code
    assert text in result.stderr
