"""A dataset's way through an audit: few modules are handed one, so that it can be followed by reading them."""

from __future__ import annotations

import sys
from pathlib import Path

import dpaudit
from dpaudit import Claim, PureDP, Target, audit

PACKAGE = str(Path(dpaudit.__file__).parent)


class Records(list):
    """A list that can be told from all others."""


FIRST, SECOND = Records([1, 2, 3]), Records([1, 2])


def noisy_count(records, rng):
    return len(records) + rng.laplace()


def test_at_most_twelve_modules_are_handed_a_dataset():
    handed = set()

    def look(frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            count = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
            given = [frame.f_locals.get(name) for name in frame.f_code.co_varnames[:count]]
            pairs = [part for one in given if type(one) is tuple for part in one]
            if any(one is FIRST or one is SECOND for one in (*given, *pairs)):
                handed.add(Path(file).relative_to(PACKAGE).as_posix())

    target = Target(run=noisy_count, claim=Claim(PureDP(1)), neighbours=[(FIRST, SECOND)], name="count")
    sys.setprofile(look)
    try:
        audit(target, runs=2000)
    finally:
        sys.setprofile(None)
    assert {"auditor/pairs/kinds.py", "auditor/checks/properties.py", "auditor/runs/chunks.py"} <= handed
    assert len(handed) <= 12, sorted(handed)
