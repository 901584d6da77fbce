"""Supervision: each target in a process of its own, with limits, so that whatever it does ends as a result of that target alone."""
