"""Warnings of an audited function: one of a line is printed once, however often libraries reset what Python remembers."""

import sys
import warnings

from dpaudit.auditor.supervision.child import _show_warnings_once


def test_a_warning_of_a_line_is_printed_once(monkeypatch, capsys):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    _show_warnings_once()

    for line in (7, 7, 8):
        warnings.showwarning("divided by zero", RuntimeWarning, "release.py", line, sys.stderr)

    assert ["release.py:7: RuntimeWarning: divided by zero", "release.py:8: RuntimeWarning: divided by zero"] == [
        line for line in capsys.readouterr().err.splitlines() if "Warning" in line
    ]
