"""Ranges, two models and a decision on the census table Adult, all paid for from one budget.

    python examples/census.py adult.csv.gz

The file is adult.data of the UCI repository (CC BY 4.0) with a header; the census form describes its columns, not the file.
"""

import sys

import pandas as pd

from dpaudit import GDP
from learners import Budget, PrivateBoostingClassifier, PrivateClassifier, PrivateRanges, TableEncoder, make_private_pipeline

DELTA = "1e-6"  # of each fit
NUMBERS = {
    "age": (0, 120),
    "education_num": (1, 16),
    "hours_per_week": (0, 168),
    "capital_gain": (0, 10**8),
    "capital_loss": (0, 10**8),
}
CHOICES = {
    "sex": ["Female", "Male"],
    "race": ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
    "marital_status": [
        "Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse",
    ],
    "occupation": [
        "Prof-specialty", "Craft-repair", "Exec-managerial", "Adm-clerical", "Sales", "Other-service", "Machine-op-inspct",
        "Transport-moving", "Handlers-cleaners", "Farming-fishing", "Tech-support", "Protective-serv", "Priv-house-serv",
        "Armed-Forces",
    ],
    "workclass": [
        "Private", "Self-emp-not-inc", "Local-gov", "State-gov", "Self-emp-inc", "Federal-gov", "Without-pay", "Never-worked",
    ],
}  # fmt: skip
"""What the form asks for. A question mark is no choice and counts as none of them; amounts of money have no narrow public range."""


def main(path: str) -> None:
    """Fit on four fifths of the records; the rest only measures."""
    table = pd.read_csv(path).rename(columns=lambda name: name.replace("-", "_")).sample(frac=1, random_state=0)
    rich, cut = table["income"].str.startswith(">").astype(int), len(table) * 4 // 5
    train, test = table[[*NUMBERS, *CHOICES]].iloc[:cut], table[[*NUMBERS, *CHOICES]].iloc[cut:]
    budget = Budget(GDP(mu="3/10"))  # no less private than epsilon 1.14 at delta 1e-5

    ranges = PrivateRanges(epsilon="1/4", delta=DELTA, columns=NUMBERS | CHOICES, budget=budget).fit(train)
    columns = ranges.columns_
    print("ranges:", {name: columns[name] for name in NUMBERS})

    usual = {"delta": DELTA, "classes": [0, 1], "budget": budget}
    boosting = PrivateBoostingClassifier(epsilon="3/4", columns=columns, **usual).fit(train, rich[:cut])
    linear = make_private_pipeline(
        TableEncoder(columns), PrivateClassifier(epsilon="1/2", feature_norm=1, decision_threshold="1/4", **usual)
    ).fit(train, rich[:cut])

    print(f"boosting: accuracy {boosting.score(test, rich[cut:]):.3f}")
    found = linear.predict(test)[rich[cut:] == 1].mean()
    print(f"linear, a missed person costs three times a false one: recall {found:.3f}")
    print(f"left of mu squared: {float(budget.remaining['mu squared']):.4f} of 0.09")
    for name, fit in (("ranges", ranges), ("boosting", boosting), ("linear", linear)):
        record = fit.privacy_
        releases = sum(len(charge.releases) for charge in record.charges)
        print(f"{name}: epsilon {float(record.epsilon):.3f} at delta {float(record.delta):g}, {releases} releases")


if __name__ == "__main__":
    main(*sys.argv[1:])
