"""Affected tests: what a change reaches through imports of every kind, in what order, and the tiers into which tests fall."""

from __future__ import annotations

import gc
import subprocess
import time
import tomllib

import pytest

from devtools import affected
from devtools.affected import Change, affected_tests, changed_files
from devtools.survey import PACKAGES, ROOT
from devtools.tiers import ROOMS, is_touched

FILES = {
    "dpaudit/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dpaudit.law import price as price\n    "
    "from dpaudit.other import count as count\n",
    "dpaudit/errors.py": "",
    "dpaudit/law.py": "def price():\n    from dpaudit.deep import root\n    return root\n",
    "dpaudit/deep.py": "root = 1\n",
    "dpaudit/other.py": "count = 1\n",
    "dpaudit/verbs/__init__.py": "import importlib\ndef run(name):\n    importlib.import_module(f'dpaudit.verbs.{name}')\n",
    "dpaudit/verbs/audit.py": "",
    "tests/conftest.py": "",
    "tests/one/conftest.py": "import dpaudit.other\n",
    "tests/one/helper.py": "from dpaudit.deep import root\n",
    "tests/one/test_beside.py": "import helper\n",
    "tests/test_direct.py": "import dpaudit.deep\n",
    "tests/test_name.py": "from dpaudit import price\n",
    "tests/test_whole.py": "import dpaudit\n",
    "tests/test_text.py": "NAME = 'dpaudit/deep.py:root'\n",
    "tests/test_loaded.py": "from dpaudit.verbs import run\n",
    "tests/test_nothing.py": "import json\n",
    "tests/repository/test_pages.py": "",
}


@pytest.fixture
def project(tmp_path):
    """A project of a few modules and tests."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def names(root, *files, base="base"):
    return [file.rpartition("/")[2] for file in affected_tests(root, Change(frozenset(files), base)).tests]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("dpaudit/deep.py", ["test_direct.py", "test_text.py", "test_beside.py", "test_name.py", "test_whole.py"]),
        ("dpaudit/law.py", ["test_name.py", "test_whole.py"]),
        ("dpaudit/other.py", ["test_beside.py", "test_whole.py"]),
        ("dpaudit/verbs/audit.py", ["test_loaded.py"]),
        ("tests/test_nothing.py", ["test_nothing.py"]),
        ("docs/page.txt", ["test_pages.py"]),
        ("README.md", ["test_pages.py"]),
    ],
)
def test_a_change_affects_the_tests_whose_imports_reach_it_the_nearest_first(project, file, expected):
    assert expected == names(project, file)


@pytest.mark.parametrize("file", ["dpaudit/errors.py", "tests/one/conftest.py", "requirements.lock", "dpaudit/table.json"])
def test_a_change_of_what_everything_depends_on_affects_everything(project, file):
    found = affected_tests(project, Change(frozenset({file}), "base"))
    assert 8 == len(found.tests)
    assert file in found.reason


def test_without_a_commit_to_compare_with_everything_is_affected(project):
    assert 8 == len(names(project, base=""))
    assert Change(frozenset(), "") == changed_files(project)


def git(root, *words):
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main", *words]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def test_a_change_is_what_differs_from_the_commit_before_or_from_where_the_branch_began(project):
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first")
    assert Change(frozenset(), "") == changed_files(project), "there is no commit before the first"
    (project / "dpaudit/law.py").write_text("price = 1\n", encoding="utf-8")
    git(project, "commit", "-am", "second")
    (project / "dpaudit/new.py").write_text("", encoding="utf-8")
    assert {"dpaudit/law.py", "dpaudit/new.py"} == changed_files(project).files
    git(project, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    (project / "dpaudit/deep.py").unlink()
    git(project, "commit", "-am", "third")
    assert {"dpaudit/law.py", "dpaudit/deep.py", "dpaudit/new.py"} == changed_files(project).files
    assert {"dpaudit/deep.py", "dpaudit/new.py"} == changed_files(project, "HEAD~1").files
    assert "root = 1" == affected.text_at(project, "HEAD~2", "dpaudit/deep.py")


def test_in_this_project_a_law_reaches_its_own_tests_but_not_those_of_unrelated_packages():
    found = affected_tests(ROOT, Change(frozenset({"mechanisms/laplace.py"}), "base")).tests
    assert "tests/mechanisms/test_noise.py" in found
    assert "tests/core/test_exact.py" not in found
    assert len(found) < len(list((ROOT / "tests").rglob("test_*.py"))) / 2


def test_every_test_that_a_tier_leaves_out_is_there():
    tiers = tomllib.loads((ROOT / "tests" / "tiers.toml").read_text(encoding="utf-8"))
    assert {"campaign", "sampled", "slow", "touched"} == set(tiers)
    listed = {tuple(name.split("::")) for tests in tiers.values() for name in tests}
    written = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in listed}
    assert [] == sorted((file, function) for file, function in listed if f"def {function}(" not in written[file])
    assert not set(tiers["campaign"]) & {*tiers["slow"], *tiers["sampled"], *tiers["touched"]}


@pytest.mark.parametrize(
    ("change", "runs"),
    [
        ({"dpaudit/cli/audit.py"}, True),
        ({"tests/cli/test_process.py"}, True),
        ({"dpaudit/client.py", "tests/cli/test_forms.py", "docs/ledger.md"}, False),
        (set(), False),
    ],
)
def test_a_long_test_is_run_where_its_room_or_its_own_file_has_changed(change, runs):
    assert runs == is_touched("tests/cli/test_process.py", change)


def test_every_folder_of_a_long_test_is_about_files_that_exist():
    tiers = tomllib.loads((ROOT / "tests" / "tiers.toml").read_text(encoding="utf-8"))
    for room in {name.split("/")[1] for name in tiers["touched"]}:
        folders = ROOMS.get(room, (f"dpaudit/{room}", room))
        assert any((ROOT / folder).is_dir() for folder in folders), room
        assert room not in ROOMS or all((ROOT / folder).is_dir() for folder in folders), room


def test_of_a_sampled_test_the_same_cases_are_run_whatever_their_order(pytester):
    table = "[campaign]\n[slow]\n[touched]\n[sampled]\n'test_cases.py::test_case' = 4\n"
    body = "import pytest\n@pytest.mark.parametrize('case', {})\ndef test_case(case): pass\n"
    collected = []
    for order in (range(10), range(9, -1, -1)):
        pytester.makepyfile(test_cases=body.format(list(order)))
        pytester.makefile(".toml", tiers=table)
        pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
        pytester.makeini("[pytest]\nmarkers =\n  campaign: once a night\n  slow: not in a hurry\n")
        found = pytester.runpytest_subprocess("-m", "not campaign", "--collect-only", "-q", "-p", "no:cacheprovider")
        collected.append(sorted(line for line in found.outlines if "::" in line))
    assert collected[0] == collected[1]
    assert 3 == len(collected[0])


def test_named_files_come_first_and_after_the_time_tests_are_left_out_aloud(pytester):
    pytester.makepyfile(test_a="def test_a(): pass", test_b="def test_b(): pass", test_c="def test_c(): pass")
    run = pytester.runpytest("-v", "-p", "devtools.tiers", "--first", "test_c.py", "--first", "test_b.py")
    run.stdout.fnmatch_lines(["*test_c.py::test_c*", "*test_b.py::test_b*", "*test_a.py::test_a*"])
    late = pytester.runpytest("-p", "devtools.tiers", "--until", f"{time.time() - 1:.0f}")
    late.assert_outcomes(skipped=3)
    late.stdout.fnmatch_lines(["*3 tests were left out because the time is over*", "*1 in test_a.py"])


def test_garbage_is_looked_for_while_tests_run(pytester):
    pytester.makepyfile(test_a="import gc\ndef test_a(): assert gc.isenabled()")
    pytester.runpytest("-p", "devtools.tiers").assert_outcomes(passed=1)
    pytester.makepyfile(test_a="import nothing_of_this_name")
    pytester.runpytest("-p", "devtools.tiers").assert_outcomes(errors=1)
    assert gc.isenabled()


def test_the_packages_that_are_searched_are_those_that_ship():
    assert set(PACKAGES) < set(affected.CODE)
