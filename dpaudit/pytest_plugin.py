"""The pytest plugin: audits inside tests, all of them under one false-alarm budget per test run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path

    from dpaudit.auditor.request import Given
    from dpaudit.results import Report, TargetResult

DEFAULT_BUDGET: Final = "1e-6"


@dataclass(frozen=True)
class Share:
    """What one test may use: `alpha` of the run's false-alarm budget, and the `seed` of all its random streams."""

    alpha: Fraction
    seed: int


_SHARE: Final = pytest.StashKey[Share]()
_SPENT: Final = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the three options and their ini forms."""
    group = parser.getgroup("dpaudit", "statistical audits of differential privacy claims")
    group.addoption("--dp-budget", metavar="P", help=f"probability of one or more false alarms in the whole run ({DEFAULT_BUDGET})")
    group.addoption("--dp-seed", metavar="N", type=int, help="seed from which each test's own seed is made (0)")
    group.addoption("--dp-evidence", metavar="DIR", help="write the report of every audit in a test to this folder, as JSON")
    parser.addini("dp_budget", "as --dp-budget", default=DEFAULT_BUDGET)
    parser.addini("dp_seed", "as --dp-seed", default="0")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "dp(weight=1): an audit in a test; weight sets its part of the run's false-alarm budget")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Split the budget over everything collected, before any test is deselected, so that no selection raises a share."""
    statistical = [item for item in items if _is_statistical(item)]
    if not statistical:
        return
    from dpaudit.errors import DpauditError

    _refuse_reruns(config, statistical)
    try:
        budget, weights = _budget(config), [_weight(item) for item in statistical]
    except DpauditError as error:
        raise pytest.UsageError(str(error)) from error
    for item, weight in zip(statistical, weights, strict=True):
        item.stash[_SHARE] = Share(alpha=budget * weight / sum(weights), seed=_seed_of(_session_seed(config), item.nodeid))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many tests audited something and what that cost of the budget."""
    reports = (report for group in terminalreporter.stats.values() for report in group)
    properties = {report.nodeid: dict(report.user_properties) for report in reports if hasattr(report, "user_properties")}
    spent = [found["dp_alpha"] for found in properties.values() if "dp_alpha" in found]
    if not spent:
        return
    from fractions import Fraction

    total, budget = float(sum(map(Fraction, spent))), float(_budget(config))
    tests = "1 test" if len(spent) == 1 else f"{len(spent)} tests"
    terminalreporter.write_line(
        f"dpaudit: audits in {tests}, false-alarm budget spent {total:.3g} of {budget:.3g}, --dp-seed {_session_seed(config)}"
    )


@dataclass(frozen=True)
class Check:
    """What the fixture `dpaudit_check` gives: a function that audits, with this test's `alpha` and `seed`."""

    item: pytest.Item
    alpha: Fraction
    seed: int

    def __call__(
        self, target: Given | Sequence[Given], *, runs: int | None = None, allow_inconclusive: bool = False, **options: Any
    ) -> Report:
        """Audit a target, or several together, and fail the test unless every claim survives.

        Args:
          target: a Target, a name that loads one, or a list of these.
          runs: runs per target; the default of `dpaudit.audit` unless given.
          allow_inconclusive: whether an audit too weak to find the violation it was asked for passes.
          options: further keyword arguments of `dpaudit.audit`, such as executor=.
        Returns:
          The report, for further assertions.
        Raises:
          BudgetExceeded: this test has audited before (DPA204).
        Source: docs/decisions/0007-one-false-alarm-budget-per-test-run.md.
        Example:
          `def test_count(dpaudit_check): dpaudit_check(target, runs=20_000)`
        """
        from dpaudit import audit

        self._spend()
        chosen = options if runs is None else {"runs": runs, **options}
        report = audit(target, alpha=self.alpha, seed=self.seed, **chosen)
        evidence = self._write_evidence(report)
        failing = [result for result in report.results if not _passes(result, allow_inconclusive=allow_inconclusive)]
        if failing:
            pytest.fail("\n".join([*(_describe(result) for result in failing), *self._how_to_repeat(evidence)]), pytrace=False)
        return report

    def _spend(self) -> None:
        """Note that this test's share is used, once."""
        from dpaudit.errors import BudgetExceeded

        if self.item.stash.get(_SPENT, False):
            raise BudgetExceeded(
                "DPA204",
                f"{self.item.nodeid} has spent its false-alarm share. Check once per test; give several targets as one list.",
            )
        self.item.stash[_SPENT] = True
        self.item.user_properties += [("dp_alpha", str(self.alpha)), ("dp_seed", self.seed)]

    def _write_evidence(self, report: Report) -> Path | None:
        """Write the report to the folder of --dp-evidence, if one was named."""
        folder = self.item.config.getoption("--dp-evidence")
        if folder is None:
            return None
        import re
        from pathlib import Path

        from dpaudit.report import write_json

        name = re.sub(r"[^A-Za-z0-9]+", "-", self.item.nodeid)[-80:].strip("-")
        path = self.item.config.invocation_params.dir / Path(folder) / f"{name}-{self.seed:016x}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(report, path)
        return path

    def _how_to_repeat(self, evidence: Path | None) -> list[str]:
        """The command that runs this one test again with the same share and seed, and where its evidence is."""
        seed = _session_seed(self.item.config)
        repeat = f"  repeat:   pytest '{self.item.nodeid}' --dp-seed {seed} --dp-budget {self.alpha}"
        return [f"  seed:     {self.seed}", repeat, *([f"  evidence: {evidence}"] if evidence else [])]


@pytest.fixture
def dpaudit_check(request: pytest.FixtureRequest) -> Check:
    """A function that audits a target under this test's share of the run's false-alarm budget."""
    share = request.node.stash.get(_SHARE, None)
    if share is None:
        from dpaudit.errors import BudgetExceeded

        raise BudgetExceeded("DPA204", f"{request.node.nodeid} has no false-alarm share. Mark the test with @pytest.mark.dp.")
    return Check(item=request.node, alpha=share.alpha, seed=share.seed)


def _is_statistical(item: pytest.Item) -> bool:
    """Whether a test takes part in the split: it bears the marker or asks for the fixture."""
    return item.get_closest_marker("dp") is not None or "dpaudit_check" in getattr(item, "fixturenames", ())


def _refuse_reruns(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Repeating a failed statistical test changes its error rate, so plugins that do so are refused on these tests."""
    repeats = getattr(config.option, "reruns", None)
    flaky = next((item for item in items if item.get_closest_marker("flaky")), None)
    if repeats or flaky is not None:
        what = "--reruns" if repeats or flaky is None else f"the marker flaky on {flaky.nodeid}"
        raise pytest.UsageError(
            f"{what} repeats failed dp tests, which changes their error rate. Leave it out; their seeds are fixed."
        )


def _budget(config: pytest.Config) -> Fraction:
    """The run's false-alarm budget, exact."""
    from dpaudit.exact import in_range

    given = config.getoption("--dp-budget")
    text = config.getini("dp_budget") if given is None else given
    return in_range(text, "dp-budget", lower=0, upper=1, lower_open=True, upper_open=True)


def _session_seed(config: pytest.Config) -> int:
    """The seed of the whole run."""
    given = config.getoption("--dp-seed")
    try:
        return int(config.getini("dp_seed") if given is None else given)
    except ValueError as error:
        raise pytest.UsageError(f"the ini option dp_seed must be a whole number, got {config.getini('dp_seed')!r}.") from error


def _weight(item: pytest.Item) -> Fraction:
    """The exact weight that a test's marker asks for, 1 without one."""
    from dpaudit.errors import InvalidArgument
    from dpaudit.exact import positive

    marker = item.get_closest_marker("dp")
    if marker is None:
        return positive(1)
    if marker.args or marker.kwargs.keys() - {"weight"}:
        raise InvalidArgument("DPA105", f"the marker dp of {item.nodeid} takes weight= only. Write @pytest.mark.dp(weight=2).")
    return positive(marker.kwargs.get("weight", 1), f"weight of {item.nodeid}")


def _seed_of(session_seed: int, node: str) -> int:
    """A 63-bit seed that depends on the run's seed and the test's name only, whatever the order and the worker."""
    from hashlib import sha256

    return int.from_bytes(sha256(f"{session_seed}:{node}".encode()).digest()[:8], "big") >> 1


def _passes(result: TargetResult, *, allow_inconclusive: bool) -> bool:
    """Whether a verdict lets the test pass; an audit without power does not, unless the test says so."""
    from dpaudit.results import Verdict

    return result.verdict in {Verdict.PROVEN, Verdict.CONSISTENT} or (allow_inconclusive and result.verdict is Verdict.INCONCLUSIVE)


def _describe(result: TargetResult) -> str:
    """Verdict, claim and evidence of one target, as lines for the test's failure."""
    from dpaudit.report import wording

    lines = [f"dpaudit: {result.name} is {result.verdict}: {result.summary}", f"  claim:    {result.claim.text}"]
    lines += [f"  violated: {check.name}. {check.detail}" for check in result.properties if check.status == "violated"]
    if result.failure:
        lines.append(f"  failure:  {result.failure}")
    attack = result.attack
    if attack is not None:
        lines += [f"  pair:     {wording.pair(attack)}", f"  event:    {attack.event}"]
        lines += [f"  dataset:  {dataset}" for dataset in attack.pair.witness or ()]
        if attack.bound is not None:
            lines.append(f"  counts:   {wording.counted(attack.bound)}")
            lines.append(f"  bound:    {wording.attacked(attack)}, {wording.confidence(attack.bound)}")
        lines.append(f"  bets:     {wording.evidence(attack)}")
        if attack.minimal is not None:
            lines.append(f"  minimal:  {wording.minimal(attack.minimal)}")
            lines += [f"  dataset:  {dataset}" for dataset in attack.minimal.pair.witness or ()]
    if result.verdict == "inconclusive":
        lines.append("  remedy:   more runs=, or allow_inconclusive=True if the test is not meant to have this power")
    return "\n".join(lines)
