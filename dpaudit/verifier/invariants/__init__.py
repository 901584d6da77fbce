"""Loop invariants: many candidates, and the largest set of them that the program preserves."""
