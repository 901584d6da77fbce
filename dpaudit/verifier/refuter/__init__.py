"""Certified counterexamples: neighbours and an event whose probabilities, enclosed by ball arithmetic, break the claim."""
