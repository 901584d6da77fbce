"""The false-alarm budget of a test run: split exactly, the same in every order and on every worker, and spent once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.pytest_plugin.session import shares_of, summary

SHARES = """
    import json, os
    from pathlib import Path
    import pytest

    def keep(request, check):
        file = Path(os.environ["SHARES"]) / str(check.seed)
        file.write_text(json.dumps([request.node.nodeid, str(check.alpha), check.seed]))

    @pytest.mark.dp
    def test_one(request, dpaudit_check):
        keep(request, dpaudit_check)

    @pytest.mark.dp(weight="1/2")
    @pytest.mark.parametrize("case", range(4))
    def test_light(request, dpaudit_check, case):
        keep(request, dpaudit_check)

    def test_unmarked(request, dpaudit_check):
        keep(request, dpaudit_check)

    def test_plain():
        pass
    """
STUB = """
    import dpaudit, pytest
    from fractions import Fraction
    from dpaudit.results import ClaimSummary, Report, Settings, TargetResult, Verdict

    def audit(target, *, alpha, seed, supervised, stop_early, runs=100):
        result = TargetResult(
            name="stub", description="", claim=ClaimSummary("pure_dp", (), "add_remove", "epsilon = 1"),
            verdict=Verdict(target), summary="made up",
        )
        return Report(settings=Settings(alpha=alpha, runs=runs, seed=seed), results=(result,))

    @pytest.fixture(autouse=True)
    def _stub(monkeypatch):
        monkeypatch.setitem(vars(dpaudit), "audit", audit)
    """

Shares = Callable[..., dict[str, tuple[Fraction, int]]]


@pytest.fixture
def shares(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Shares:
    """Run the sample tests with some options and give share and seed of each test that ran."""
    pytester.makepyfile(SHARES)

    def run(*options: str) -> dict[str, tuple[Fraction, int]]:
        folder = pytester.mkdir(f"shares{len(list(pytester.path.iterdir()))}")
        monkeypatch.setenv("SHARES", str(folder))
        ran = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
        assert 0 == ran("-p", "no:cacheprovider", *options).ret
        found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.iterdir()]
        return {node: (Fraction(alpha), seed) for node, alpha, seed in found}

    return run


def test_the_shares_add_up_to_the_budget_by_weight(shares):
    found = shares()
    assert 6 == len(found)
    assert Fraction(1, 10**6) == sum(alpha for alpha, _ in found.values())
    assert {Fraction(1, 4 * 10**6), Fraction(1, 8 * 10**6)} == {alpha for alpha, _ in found.values()}
    assert 6 == len({seed for _, seed in found.values()})


@pytest.mark.parametrize("options", [("-n", "2"), ("-n", "1", "--dist", "loadfile")])
def test_neither_workers_nor_their_number_change_a_share_or_a_seed(shares, options):
    assert shares() == shares(*options)


def test_neither_order_nor_choice_changes_a_share_or_a_seed(pytester, shares):
    everything = shares()
    pytester.makeconftest("def pytest_collection_modifyitems(items):\n    items.reverse()\n")
    assert everything == shares()
    chosen = shares("-k", "light")
    assert chosen == {node: share for node, share in everything.items() if "light" in node}
    assert shares("-m", "dp") == {node: share for node, share in everything.items() if "unmarked" not in node}


def test_a_plugin_that_deselects_before_all_others_raises_no_share(pytester, shares):
    everything = shares()
    pytester.makeconftest(
        "import pytest\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if 'light' in item.name]\n"
    )
    assert shares() == {node: share for node, share in everything.items() if "light" in node}


@given(
    weights=st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1000), min_size=1, max_size=60),
    budget=st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(99, 100)),
    seed=st.integers(0, 2**64),
)
def test_shares_are_exact_parts_by_weight_and_seeds_differ(weights, budget, seed):
    found = shares_of(budget, seed, [(f"test_{place}", weight) for place, weight in enumerate(weights)])
    assert budget == sum(share.alpha for share in found)
    assert [found[0].alpha * weight for weight in weights] == [share.alpha * weights[0] for share in found]
    assert len(weights) == len({share.seed for share in found})
    assert all(0 <= share.seed < 2**63 for share in found)


def test_the_seed_and_the_budget_can_be_set_in_both_places(pytester, shares):
    usual = shares()
    other = shares("--dp-seed", "7", "--dp-budget", "1/100")
    assert {seed for _, seed in usual.values()}.isdisjoint(seed for _, seed in other.values())
    assert Fraction(1, 100) == sum(alpha for alpha, _ in other.values())
    pytester.makeini("[pytest]\ndp_seed = 7\ndp_budget = 1/100\n")
    assert other == shares()
    assert usual == shares("--dp-seed", "0", "--dp-budget", "1e-6")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--dp-budget", "0"), "DPA103 dp-budget must be above 0 and below 1"),
        (("--dp-budget", "1"), "DPA103 dp-budget must be above 0 and below 1"),
        (("--dp-budget", "much"), "DPA101 dp-budget must be a number"),
        (("--dp-seed", "x"), "--dp-seed"),
        (("-o", "dp_seed=x"), "dp_seed must be an integer"),
    ],
)
def test_a_budget_or_seed_that_makes_no_sense_is_a_usage_error(pytester, options, says):
    pytester.makepyfile(SHARES)
    ran = pytester.runpytest_inprocess(*options)
    assert pytest.ExitCode.USAGE_ERROR == ran.ret
    ran.stderr.re_match_lines([f".*{re.escape(says)}"])


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        ("dp(weight=0)", "DPA104 weight of"),
        ("dp(weight='x')", "DPA101 weight of"),
        ("dp(2)", "takes weight= only"),
        ("dp(part=2)", "weight="),
    ],
)
def test_a_weight_that_makes_no_sense_is_a_usage_error(pytester, marker, says):
    pytester.makepyfile(f"import pytest\n@pytest.mark.{marker}\ndef test_it(dpaudit_check):\n    pass\n")
    ran = pytester.runpytest_inprocess()
    assert pytest.ExitCode.USAGE_ERROR == ran.ret
    ran.stderr.re_match_lines([f".*{re.escape(says)}"])


def test_a_run_without_statistical_tests_says_nothing(pytester):
    pytester.makepyfile("def test_plain():\n    pass\n")
    assert "dpaudit:" not in pytester.runpytest_inprocess().stdout.str()


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_summary_says_what_was_spent(pytester, workers):
    pytester.makeconftest(STUB)
    pytester.makepyfile(
        "import pytest\n@pytest.mark.parametrize('verdict', ['consistent', 'refuted', 'proven'])\n"
        "def test_it(dpaudit_check, verdict):\n    dpaudit_check(verdict)\ndef test_unspent(dpaudit_check):\n    pass\n"
    )
    ran = pytester.runpytest_subprocess(*workers)
    ran.assert_outcomes(passed=3, failed=1)
    ran.stdout.fnmatch_lines(["dpaudit: audits in 3 tests, false-alarm budget spent 7.5e-07 of 1e-06, --dp-seed 0"])


def test_the_summary_names_the_least_power_among_tests_that_passed(pytester):
    def report(node, power, outcome="passed"):
        properties = [("dp_alpha", "1/8"), ("dp_power", f"{power} with probability 0.9")]
        return SimpleNamespace(nodeid=node, when="call", passed=outcome == "passed", user_properties=properties)

    config = pytester.parseconfigure()
    reports = [report("a", 1.5), report("b", 2.5), report("c", "inf", "failed")]
    found = "would have been found with probability 0.9"
    least = f"dpaudit: least power: epsilon 2.5 times the claimed one {found} (b)"
    spent = "dpaudit: audits in 3 tests, false-alarm budget spent 0.375 of 1e-06, --dp-seed 0"
    assert [spent, least] == list(summary(config, reports, verbose=False))
    other = f"dpaudit: power: epsilon 1.5 times the claimed one {found} (a)"
    assert [spent, least, other] == list(summary(config, reports, verbose=True))
    blind = "dpaudit: least power: even the largest violation would have been missed (d)"
    assert blind == list(summary(config, [*reports, report("d", "inf")], verbose=False))[1]


def test_the_summary_names_checks_that_were_not_run_in_tests_that_passed(pytester):
    found = [("dp_alpha", "1/8"), ("dp_not_run", "count: forms")]
    reports = [SimpleNamespace(nodeid="a", when="call", passed=True, user_properties=found)]
    lines = list(summary(pytester.parseconfigure(), reports, verbose=False))
    assert "dpaudit: checks not run: count: forms (a)" == lines[-1]


def test_share_and_seed_stand_in_the_junit_file(pytester):
    pytester.makeconftest(STUB)
    pytester.makepyfile("def test_it(dpaudit_check):\n    dpaudit_check('consistent')\n")
    pytester.runpytest_inprocess("--junitxml", "junit.xml").assert_outcomes(passed=1)
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert '<property name="dp_alpha" value="1/1000000"' in junit
    assert '<property name="dp_verdict" value="stub: consistent"' in junit


@pytest.mark.parametrize(
    ("call", "passed"),
    [
        ("'consistent'", 1),
        ("'proven'", 1),
        ("'refuted'", 0),
        ("'failed'", 0),
        ("'inconclusive'", 0),
        ("'inconclusive', allow_inconclusive=True", 1),
        ("'refuted', allow_inconclusive=True", 0),
        ("'failed', allow_inconclusive=True", 0),
    ],
)
def test_only_a_claim_that_survives_lets_the_test_pass(pytester, call, passed):
    pytester.makeconftest(STUB)
    pytester.makepyfile(f"def test_it(dpaudit_check):\n    dpaudit_check({call})\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=passed, failed=1 - passed)


def test_runs_are_given_to_the_audit_and_the_report_comes_back(pytester):
    pytester.makeconftest(STUB)
    pytester.makepyfile("def test_it(dpaudit_check):\n    assert 7 == dpaudit_check('proven', runs=7).settings.runs\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_test_of_ones_own_spends_its_share_once(pytester):
    pytester.makeconftest(STUB)
    pytester.makepyfile(
        "from fractions import Fraction\nimport pytest\nfrom dpaudit.errors import BudgetExceeded\n"
        "def test_it(dpaudit_check):\n    assert Fraction(1, 10**6) == dpaudit_check.spend().alpha\n"
        "    with pytest.raises(BudgetExceeded, match='DPA204'):\n        dpaudit_check('consistent')\n"
    )
    ran = pytester.runpytest_inprocess("--junitxml", "junit.xml")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["dpaudit: audits in 1 test, false-alarm budget spent 1e-06 of 1e-06, --dp-seed 0"])
    assert '<property name="dp_alpha" value="1/1000000"' in (pytester.path / "junit.xml").read_text(encoding="utf-8")


def test_a_second_check_in_one_test_is_refused_with_the_remedy(pytester):
    pytester.makeconftest(STUB)
    pytester.makepyfile("def test_it(dpaudit_check):\n    for _ in range(2):\n        dpaudit_check('consistent')\n")
    ran = pytester.runpytest_inprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        ["*DPA204 *test_it has spent its false-alarm share. Check once per test; give several targets as one list."]
    )


def test_a_fixture_asked_for_behind_the_collections_back_has_no_share(pytester):
    pytester.makepyfile("def test_it(request):\n    request.getfixturevalue('dpaudit_check')\n")
    ran = pytester.runpytest_inprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*has no false-alarm share. Mark the test with @pytest.mark.dp."])


REPEATING = """
    def pytest_addoption(parser):
        parser.addoption("--reruns", type=int)
        parser.addini("reruns", "", default=0)
        parser.addoption("--retries", type=int)
        parser.addoption("--force-flaky", action="store_true", dest="force_flaky")

    def pytest_configure(config):
        config.addinivalue_line("markers", "flaky: repeat")
    """
DECORATED = "import pytest\ndef flaky(test):\n    test._flaky_max_runs = 2\n    return test\n"


@pytest.mark.parametrize(
    ("options", "decoration", "says"),
    [
        (("--reruns", "2"), "", "the option reruns"),
        (("-o", "reruns=2"), "", "the option reruns"),
        (("--retries", "1"), "", "the option retries"),
        (("--force-flaky",), "", "the option force_flaky"),
        ((), "@pytest.mark.flaky", "the marker flaky on *test_it"),
        ((), "@flaky", "the decorator flaky on *test_it"),
    ],
)
def test_repeating_statistical_tests_is_refused(pytester, options, decoration, says):
    pytester.makeconftest(REPEATING)
    pytester.makepyfile(f"{DECORATED}{decoration}\ndef test_it(dpaudit_check):\n    pass\n")
    ran = pytester.runpytest_inprocess(*options)
    assert pytest.ExitCode.USAGE_ERROR == ran.ret
    ran.stderr.fnmatch_lines([f"*{says} repeats failed dp tests, which changes their error rate*"])


@pytest.mark.parametrize("options", [("-o", "reruns=2", "--reruns", "0"), ("-o", "reruns=0")])
def test_a_repetition_that_is_switched_off_is_not_refused(pytester, options):
    pytester.makeconftest(REPEATING)
    pytester.makepyfile("def test_it(dpaudit_check):\n    pass\n")
    assert 0 == pytester.runpytest_inprocess(*options).ret


def test_a_plugin_that_repeats_unasked_gets_no_second_audit(pytester):
    pytester.makeconftest(
        STUB.replace("\n    ", "\n") + "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    for _ in range(2):\n"
        "        item._initrequest()\n"
        "        reports = runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "    for report in reports:\n"
        "        item.ihook.pytest_runtest_logreport(report=report)\n"
        "    return True\n"
    )
    pytester.makepyfile("def test_it(dpaudit_check):\n    dpaudit_check('consistent')\n")
    ran = pytester.runpytest_inprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*DPA204 *test_it has spent its false-alarm share*"])


def test_workers_say_why_a_run_is_refused(pytester):
    pytester.makeconftest(REPEATING)
    pytester.makepyfile("def test_it(dpaudit_check):\n    pass\ndef test_plain():\n    pass\n")
    ran = pytester.runpytest_subprocess("-n", "1", "--reruns", "2")
    ran.assert_outcomes(passed=1, errors=1)
    ran.stdout.fnmatch_lines(["*the option reruns repeats failed dp tests*"])


def test_repeating_other_tests_is_not(pytester):
    pytester.makeconftest(REPEATING)
    pytester.makepyfile("def test_it():\n    pass\n")
    assert 0 == pytester.runpytest_inprocess("--reruns", "2").ret


def test_the_marker_is_registered_and_the_options_are_explained(pytester):
    assert "@pytest.mark.dp(weight=1)" in pytester.runpytest_inprocess("--markers").stdout.str()
    shown = pytester.runpytest_inprocess("--help").stdout.str()
    assert all(option in shown for option in ("--dp-budget=P", "--dp-seed=N", "--dp-evidence=DIR", "dp_budget", "dp_seed"))
    assert "(1e-6, since tests are run many times a day)" in " ".join(shown.split())
