"""diffprivlib 0.6.6, `GaussianNB.partial_fit`: a class that nobody has gets no noise, although the classes are given."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import numpy as np
from _entry import expect, show
from diffprivlib.models import GaussianNB

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

CLASSES = [0, 1, 2]
ROWS = np.array([[0.5]] * 6)
WITHOUT, WITH = [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2]


def release(labels: list[int]) -> tuple[float, ...]:
    """Fit to six persons as the library does, with its classes given, and give out how many it counted of each."""
    seed = int(np.random.randint(2**31))  # noqa: NPY002 - seeded by the audit
    model = GaussianNB(epsilon=1.0, bounds=(0, 1), random_state=seed)
    return tuple(float(one) for one in model.partial_fit(ROWS, np.array(labels), classes=CLASSES).class_count_)


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(WITHOUT, WITH)],
    name="GaussianNB",
    public_data=True,
    most_runs=3_000,
)


def confirm() -> None:
    """Count a class that one person has, whose noisy count is 1 or more, and one that nobody has, whose count is 0."""
    np.random.seed(1)  # noqa: NPY002 - as above
    without, there = ([release(labels)[2] for _ in range(500)] for labels in (WITHOUT, WITH))
    print(
        f"counts of class 2: {sorted(set(without))} where nobody has it, {sorted(set(there))} where one "
        "has: no finite epsilon holds"
    )
    expect(set(without) == {0.0}, "no noise on a class that nobody has")
    expect(min(there) >= 1, "the noisy count of a class that one has is 1 or more")


if __name__ == "__main__":
    confirm()
    show(target, runs=3_000)
