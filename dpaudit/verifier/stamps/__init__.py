"""Stamps of shipped source: a digest of a definition and of everything that it can reach by name."""
