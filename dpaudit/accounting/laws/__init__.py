"""Privacy loss laws, one family a module: plain frozen data that engines interpret, and the function that builds it."""
