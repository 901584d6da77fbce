"""Checks without chance: laws of declared queries, record and replay of logged releases, exact output laws."""
