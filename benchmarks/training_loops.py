"""Loops of torch, Opacus and jax_privacy as people write them, each with one mistake and without: is it found, and where.

Run in an environment with dpaudit and torch and opacus, or jax_privacy: `python benchmarks/training_loops.py opacus`.

The loops stand in loops_opacus.py and loops_jax_privacy.py, their table in loops_table.py.

Needs: torch and Opacus, or jax_privacy. Size: 8 loops and their twins.
"""

import argparse
import importlib
import time


def main() -> None:
    """Run the pairs of one library and print what was found of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("library", choices=["opacus", "jax_privacy"])
    parser.add_argument("--half", choices=["tune", "accept"], action="append")
    asked = parser.parse_args()
    loops = importlib.import_module(f"loops_{asked.library}")
    for half in asked.half or ["tune", "accept"]:
        for train in getattr(loops, half.upper()):
            for broken in (True, False):
                start = time.process_time()
                found = [(check.name, check.where) for check in train(broken=broken).violations]
                spent = time.process_time() - start
                print(f"{half:6} {train.__name__:34} {'broken' if broken else 'sound':6} {spent:5.1f} s  {found}", flush=True)


if __name__ == "__main__":
    main()
