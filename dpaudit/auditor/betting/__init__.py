"""Betting against a claim: forecasts of labels, stakes, accounts and the wealth of their portfolio."""
