"""A program that counts: for every line {"data": [...], "seed": ...} of its input it writes the noisy number of records.

It uses nothing but Python itself, and could as well be written in any other language. `program_count.py` audits it.
"""

import json
import random
import sys

scale = float(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])  # noqa: S311 - an audit has to repeat; a release would take secrets.SystemRandom
    noise = scale * (rng.expovariate(1) - rng.expovariate(1))
    print(len(request["data"]) + noise, flush=True)
