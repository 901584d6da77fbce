"""The reference table of accounting: what each row means, and how its values were made.

A row has a loss, a question (delta at an epsilon, epsilon at a delta, type II error at an alpha, divergence at an order), and two
methods, each a function of an oracle in this folder with its arguments, the value it gave, and to how many digits the two agree.
`side` says what the values are of what the loss promises: `both` ends enclose them; or they are what the worst pair that is
published loses, of which the library claims the `upper` end only, or to the stated digits; or they are what some member of a class
loses, so that the upper end is not `below` them. `way` picks one direction of the neighbouring relation.

A row that is `slow` is left out of a short run.

`python tests/reference/reference_table.py` computes all values anew, writes the table, and prints how well methods agree; with an
argument, only those that the table lacks.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path

from mpmath import mp, mpf

HERE = Path(__file__).parent
TABLE = HERE / "accounting_table.json"
DIGITS = 50


@cache
def oracle(name):
    """One of the modules beside this one; test folders are no packages."""
    specification = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def rows():
    """The table."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def value(method, at):
    """What a method gives at a place: a number, or for compositions in doubles its logarithm made one."""
    module, function = method["name"].split(".")
    found = getattr(oracle(module), function)
    if module == "composition_oracle":
        result = found(float(at), **method["arguments"])
        return mpf(result) if function.startswith("sampled") else mp.exp(mpf(float(result)))
    return found(at, **method["arguments"])


def recompute(row, method):
    """The number that a method gives for a row; an epsilon is the root of the profile."""
    (kind, place), *_ = row["ask"].items()
    with mp.workdps(DIGITS):
        if kind != "delta":
            return value(method, place)
        target, near = mp.log(mpf(place)), mpf(row["near"])
        with mp.workdps(30):
            return mp.findroot(
                lambda epsilon: mp.log(value(method, epsilon)) - target,
                (near, near * (1 + mpf(10) ** -4)),
                tol=mpf(10) ** (-20 if method["name"].startswith("composition") else -40),
                verify=False,
                maxsteps=8 if method["name"].startswith("composition") else 20,
            )


def distance(first, second):
    """Relative distance of two values."""
    first, second = mpf(first), mpf(second)
    return abs(first - second) / max(abs(first), abs(second)) if first != second else mpf(0)


def main():
    """Write the table anew."""
    table = rows()
    for row in table["rows"]:
        with mp.workdps(DIGITS):
            for method in row["methods"]:
                if "value" in method and len(sys.argv) > 1:
                    continue
                digits = 12 if method["name"].startswith("composition") else 25
                method["value"] = mp.nstr(recompute(row, method), digits, min_fixed=0, max_fixed=0)
            gap = distance(*(method["value"] for method in row["methods"]))
        flag = "" if gap <= mpf(10) ** -row["digits"] else "   DISAGREE"
        sys.stdout.write(f"{row['loss']} {row['ask']} {row['methods'][0]['value']} {mp.nstr(gap, 2)}{flag}\n")
        sys.stdout.flush()
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
