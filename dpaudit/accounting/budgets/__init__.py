"""Budgets for adaptively chosen releases: filters, odometers, accounts of single records, calibration."""
