"""From random bits to integers of a stated law, exactly: bit sources, certified comparisons, tables and kernels."""
