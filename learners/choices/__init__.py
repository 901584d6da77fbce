"""Private choices: integer scores, candidates that depend on no private data, and exact exponential mechanisms on them."""
