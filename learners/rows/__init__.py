"""Records to integers: every map is per record, exact and independent of the data."""
