"""Targets that the learners offer to the auditor, and the hooks by which it sees inside them."""
