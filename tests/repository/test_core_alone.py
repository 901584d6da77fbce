"""What `pip install dpaudit` holds without any extra: everything but solvers, learners and some plots, which are refused by name.

The same tests run with an import system that refuses the packages of the extras, and, in a campaign, in a real environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from devtools.survey import ROOT
from devtools.wheels import locked_packages
from dpaudit.extras import EXTRAS

REFUSED = {module for packages in EXTRAS.values() for module in packages} | {"joblib", "mpmath", "threadpoolctl"}
BLOCK = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(REFUSED)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
sys.path[:0] = [{str(ROOT)!r}]
"""
TARGETS = """
from dpaudit import Claim, PureDP, Target
from mechanisms import LaplaceMechanism, source_from


def noisy_count(people, rng):
    return LaplaceMechanism(sensitivity=1, epsilon=3).release(len(people), source_from(rng))


target = Target(run=noisy_count, claim=Claim(PureDP(epsilon=1)), data=[31, 54, 27, 42])
"""
TEST = """
from releases import target


def test_the_count_keeps_its_promise(dpaudit_check):
    dpaudit_check(target, runs=5_000)
"""


@dataclass(frozen=True)
class Core:
    """A Python in which only the core is installed, or can be imported."""

    python: str
    before: str

    def run(self, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [self.python, "-c", self.before + code]
        return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)

    def dpaudit(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(f"import sys\nsys.argv = ['dpaudit', *{list(words)}]\nfrom dpaudit.cli import main\nmain()", folder)


@pytest.fixture(
    scope="module", params=["blocked", pytest.param("installed", marks=[pytest.mark.campaign, pytest.mark.timeout(900)])]
)
def core(request, tmp_path_factory) -> Core:
    if request.param == "blocked":
        return Core(sys.executable, BLOCK)
    folder = tmp_path_factory.mktemp("core")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    venv.create(folder / "bare", with_pip=True)
    python = folder / "bare" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    lock = locked_packages((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    (folder / "pins.txt").write_text("\n".join(line for line, _ in lock.values()), encoding="utf-8")
    wanted = ["--constraint", str(folder / "pins.txt"), str(next(folder.glob("*.whl"))), "pytest"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return Core(str(python), "")


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "releases.py").write_text(TARGETS)
    (tmp_path / "test_releases.py").write_text(TEST)
    return tmp_path


def test_every_public_name_of_the_core_can_be_imported(core, folder):
    packages = ["dpaudit", "mechanisms"]
    packages += [f"dpaudit.{name}" for name in ("accounting", "auditor", "interop", "ledger", "report", "verifier")]
    code = f"""
from importlib import import_module
for name in {packages}:
    module = import_module(name)
    assert module.__all__ and all(getattr(module, one) is not None for one in module.__all__), name
print("all of them")
"""
    ran = core.run(code, folder)
    assert ("all of them\n", 0) == (ran.stdout, ran.returncode), ran.stderr


def test_compositions_are_priced_and_drawn(core, folder):
    ran = core.dpaudit(folder, "account", "gaussian(sigma=1)", "--delta", "1e-6", "--plot", "profile.svg")
    assert 0 == ran.returncode, ran.stderr
    assert (folder / "profile.svg").read_text().startswith("<svg")


def test_a_target_is_audited_with_a_report_in_every_form(core, folder):
    forms = ("--report", "out", "--junit", "junit.xml", "--sarif", "dpaudit.sarif", "--github")
    ran = core.dpaudit(folder, "audit", "releases.py:target", "--runs", "20000", "--alpha", "1e-9", *forms)
    assert 1 == ran.returncode, ran.stderr
    assert "::error" in ran.stdout + ran.stderr
    page = (folder / "out" / "index.html").read_text()
    assert 3 == page.count("<svg")
    assert "refuted" in page
    assert "refuted" == json.loads((folder / "out" / "report.json").read_text())["evidence"]["results"][0]["verdict"]
    assert "<failure" in (folder / "junit.xml").read_text()
    assert json.loads((folder / "dpaudit.sarif").read_text())["runs"][0]["results"]
    assert 0 == core.dpaudit(folder, "replay", "out/report.json").returncode


def test_the_bundled_targets_are_those_of_the_mechanisms_and_what_is_left_out_is_said(core, folder):
    code = """
from dpaudit.cli.intake import bundled
found = bundled(everything=True)
assert found.broken == [], found.broken
assert {"laplace", "cancer_count"} <= set(found.names), found.names
print(*found.left_out)
"""
    ran = core.run(code, folder)
    assert 0 == ran.returncode, ran.stderr
    assert (
        "the targets of learners: learners need scikit-learn, which is not installed. "
        'Run: pip install "dpaudit[learners]"\n' == ran.stdout
    )


def test_a_target_of_an_extra_is_refused_with_the_command_that_adds_it(core, folder):
    ran = core.dpaudit(folder, "audit", "halfspace", "--runs", "1000", "--json")
    assert 4 == ran.returncode, ran.stderr
    assert 'pip install \\"dpaudit[learners]\\"' in ran.stdout


def test_budgets_are_kept(core, folder):
    code = """
from dpaudit import ApproxDP
from dpaudit.ledger import Ledger
from mechanisms import LaplaceMechanism
ledger = Ledger.create("budget.ledger")
ledger.open_budget("survey/person", ApproxDP(1, "1e-6"))
count = LaplaceMechanism(scale=20, sensitivity=1)
with ledger.charge(count, scope="survey/person") as charge:
    count.release(412)
print(charge.receipt.amounts)
"""
    ran = core.run(code, folder)
    assert "survey/person" in ran.stdout, ran.stderr
    assert 0 == core.dpaudit(folder, "ledger", "verify", "budget.ledger").returncode


def test_the_pytest_plugin_audits(core, folder):
    code = "import sys, pytest\nsys.path.insert(0, '.')\nsys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:xdist']))"
    ran = core.run(code, folder)
    assert 1 == ran.returncode
    assert "1 failed" in ran.stdout, ran.stdout
    assert "refuted" in ran.stdout


def test_certificates_are_checked_by_the_kernel_without_a_solver(core, folder):
    ran = core.dpaudit(folder, "prove", "--recheck", "--quick", "dpaudit.catalogue.programs.basic:histogram")
    assert 0 == ran.returncode, ran.stdout + ran.stderr
    assert "1 proven" in ran.stdout


def test_the_code_of_a_missing_extra_is_explained(core, folder):
    assert core.dpaudit(folder, "explain", "DPA206").stdout.startswith("DPA206 extra not installed")


VERIFY = """
from dpaudit import verify
verify("def noisy(q: list[Fraction], eps: Fraction) -> Fraction: return q[0] + laplace(1 / eps)",
       claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
"""
SOLVERS = 'proofs need z3-solver and cvc5, which are not installed. Run: pip install "dpaudit[proofs]".'
LEARNERS = 'learners need scikit-learn, which is not installed. Run: pip install "dpaudit[learners]".'
PLOTS = 'plots need matplotlib, which is not installed. Run: pip install "dpaudit[plots]".'


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (VERIFY, SOLVERS),
        ("from dpaudit.verifier.solving import satisfiable\nsatisfiable([])", SOLVERS),
        ("from dpaudit.verifier.solving.session import Session\nSession()", SOLVERS),
        ("from dpaudit.verifier.lemmas import asked\nasked('(check-sat)', 'cvc5')", SOLVERS),
        ("import learners", LEARNERS),
        ("from learners import MarginClassifier", LEARNERS),
        ("import learners.margins.margin", LEARNERS),
        ("from dpaudit.report.figures import canvas\nwith canvas(): pass", PLOTS),
    ],
    ids=("verify", "back ends", "session", "lemmas", "learners", "a learner", "a module of learners", "figures"),
)
def test_what_an_extra_adds_is_refused_in_one_sentence(core, folder, code, sentence):
    ran = core.run(code, folder)
    assert 1 == ran.returncode
    assert f"dpaudit.errors.MissingExtra: DPA206 {sentence}" == ran.stderr.splitlines()[-1]


@pytest.mark.parametrize(("words", "sentence"), [(["prove"], SOLVERS), (["audit", "papers"], LEARNERS)], ids=("prove", "papers"))
def test_commands_that_need_an_extra_end_with_its_sentence(core, folder, words, sentence):
    ran = core.dpaudit(folder, *words)
    assert 2 == ran.returncode
    assert f"error: DPA206 {sentence}" == ran.stderr.splitlines()[0]


def test_a_missing_extra_is_an_import_error_too(core, folder):
    assert "caught\n" == core.run("try:\n    import learners\nexcept ImportError:\n    print('caught')", folder).stdout


def test_a_proof_that_needs_a_solver_is_said_not_to_be_checked(core, folder):
    code = """
from dpaudit.auditor.verdict.proof_lookup import find_proofs
name = "proofs.chain#LaplaceMechanism.claim"
found = find_proofs([name])[name]
print(found.status, found.reason)
"""
    ran = core.run(code, folder)
    assert f"unknown not checked: DPA206 {SOLVERS}\n" == ran.stdout, ran.stderr


@pytest.fixture
def foreign(tmp_path) -> Callable[[str], Path]:
    """A folder to be in, with somebody else's package of a name."""

    def made(name: str) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / "releases.py").write_text(TARGETS.replace("mechanisms", "dpaudit"))
        return tmp_path

    return made


def here(folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dpaudit", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("mechanisms", ("targets",), 0),
        ("mechanisms", ("audit", "laplace", "--runs", "1000", "--json"), 4),
        ("mechanisms", ("prove", "proofs"), 4),
        ("learners", ("targets",), 0),
        ("proofs", ("prove", "proofs"), 4),
        ("proofs", ("prove", "--recheck", "suite"), 4),
        ("proofs", ("audit", "papers"), 4),
    ],
)
def test_a_foreign_package_of_that_name_is_named_with_its_place(foreign, name, words, code):
    folder = foreign(name)
    ran = here(folder, words)
    assert code == ran.returncode, ran.stderr
    printed = ran.stdout + ran.stderr
    assert "DPA417" in printed
    assert str(folder / name) in printed
    assert "Rename" in printed


def test_a_foreign_package_hinders_nobody_who_does_not_need_ours(foreign):
    folder = foreign("proofs")
    assert 0 == here(folder, ("account", "laplace(scale=1)")).returncode
    assert 0 == here(folder, ("explain", "DPA417")).returncode
    assert "laplace" in here(folder, ("targets",)).stdout


def test_a_folder_without_code_is_not_taken_for_a_package(tmp_path):
    (tmp_path / "proofs").mkdir()
    assert 0 == here(tmp_path, ("prove", "--recheck", "--quick", "dpaudit.catalogue.programs.basic:histogram")).returncode
