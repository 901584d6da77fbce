"""How noise is moved in the second run: shapes of shifts, and the search for one that hides the difference of the data."""
