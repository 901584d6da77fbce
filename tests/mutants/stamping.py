"""Checks of stamps and of results of tests, on a package of a few lines: each sees one thing that must not change unseen."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

from dpaudit.verifier.stamps.cited import Cited, read_cited
from dpaudit.verifier.stamps.modules import Tree
from dpaudit.verifier.stamps.reach import Reach
from proofs import results

FILES = {
    "low/__init__.py": "",
    "low/law.py": (
        "LIMIT = 3\n\ndef inner():\n    return 1\n\ndef outer():\n    return inner() + LIMIT\n\ndef draw():\n    return outer()\n"
    ),
    "tests/test_law.py": "from low.law import draw\n\ndef test_draw():\n    assert draw() == 4\n",
}


def read(changed, ask):
    """What is said of the package with one file changed."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**FILES, **changed}.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text, encoding="utf-8")
        return ask(Reach(Tree(Path(folder), ("low",))))


def stamp_with(old, new):
    """The stamp of `draw` after a change of its module."""
    text = FILES["low/law.py"]
    assert text.count(old) == 1
    return read({"low/law.py": text.replace(old, new)}, lambda reach: reach.stamp("low/law.py:draw"))


def a_stamp_covers_constants():
    assert stamp_with("LIMIT = 3", "LIMIT = 4") != stamp_with("LIMIT = 3", "LIMIT  =  3")


def a_stamp_covers_what_is_called_by_what_is_called():
    assert stamp_with("return 1", "return 0") != stamp_with("return 1", "return  1")


def a_test_is_its_body():
    name, path = "tests/test_law.py::test_draw", "tests/test_law.py"
    empty = {path: FILES[path].replace("    assert draw() == 4", "    pass")}
    assert read({}, lambda reach: read_cited(reach, name).test) != read(empty, lambda reach: read_cited(reach, name).test)


def a_result_counts_for_its_own_test_alone():
    cited = Cited("test", "code", ())
    passed = results.Result("passed", 1, cited, "1")
    assert not results._why_not(passed, cited, "t.py::test")
    others = (Cited("other", "code", ()), Cited("test", "other", ()), Cited("", "", ()))
    assert all(results._why_not(passed, other, "t.py::test") for other in others)
    assert all(results._why_not(results.Result(outcome, 1, cited, "1"), cited, "") for outcome in ("failed", "skipped", "missing"))


def a_test_without_a_result_has_not_passed():
    record = results.Record("files", "files", {}, {})
    with patch.object(results, "read_record", lambda root: record), patch.object(results, "files_digest", lambda *_: "files"):
        for there in (True, False):
            with patch.object(results, "are_installed", lambda root, there=there: there):
                assert results.test_check(Path(), quick=True)("tests/test_law.py::test_draw")


CHECKS = (
    a_stamp_covers_constants,
    a_stamp_covers_what_is_called_by_what_is_called,
    a_test_is_its_body,
    a_result_counts_for_its_own_test_alone,
    a_test_without_a_result_has_not_passed,
)
