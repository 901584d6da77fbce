"""Everything that the clinic publishes keeps its claim."""

import pytest
from survey_targets import TARGETS

from dpaudit import Target
from dpaudit.pytest_plugin.check import Check


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_what_is_published_keeps_its_claim(target: Target, dpaudit_check: Check) -> None:
    """An audit at this test's share of the run's false-alarm budget."""
    dpaudit_check(target, runs=40_000)
