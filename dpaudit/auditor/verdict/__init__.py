"""Verdicts: the evidence about one target as a profile, the proof that it names, and a verdict in words."""
