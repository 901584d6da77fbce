"""Runs of a target: chunks on a public schedule, seeded from one tree and dispatched to any executor."""
