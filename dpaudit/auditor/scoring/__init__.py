"""Scoring: one additive score of whole outputs, fitted on a pilot so that high scores speak for label 1."""
