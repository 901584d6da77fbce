"""Warnings of an audited function: one of a line is printed once, however often libraries reset what Python remembers."""

import warnings

from dpaudit.auditor.supervision.child import _show_warnings_once


def test_a_warning_of_a_line_is_printed_once(monkeypatch):
    shown = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, category, filename, lineno, *_: shown.append((category, lineno)))
    _show_warnings_once()

    for category, line in ((RuntimeWarning, 7), (RuntimeWarning, 7), (RuntimeWarning, 8), (UserWarning, 7)):
        warnings.showwarning("divided by zero", category, "release.py", line)

    assert [(RuntimeWarning, 7), (RuntimeWarning, 8), (UserWarning, 7)] == shown
