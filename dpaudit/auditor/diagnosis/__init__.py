"""Diagnosis: why a claim was refuted, where further runs on the refuting pair single out one cause."""
