"""The tilted lattice engine: any composition of laws with known distribution functions, between two certified ends."""
