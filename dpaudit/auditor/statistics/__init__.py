"""Exact binomial statistics, bins and error levels: what every judgement about outputs rests on."""
