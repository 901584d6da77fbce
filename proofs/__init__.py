"""Proofs as programs: each reads the constants of code that ships and bounds what can go wrong, or raises an error."""
