"""Count diagnoses that nobody listed beforehand: rare ones are left out, since their name alone would tell of a patient.

Run it with `python examples/unknown_diagnoses.py`.
"""

from dpaudit.accounting import price_releases
from dpaudit.releases import recording
from mechanisms import StabilityHistogram

# Made-up visits: who came, and with what. One patient came with something that nobody else has.
VISITS = [(patient, "influenza") for patient in range(900)]
VISITS += [(patient, "asthma") for patient in range(0, 900, 2)]
VISITS += [(patient, "migraine") for patient in range(0, 900, 3)]
VISITS += [(17, "parrot fever"), (17, "influenza")]

# A patient counts for two diagnoses, however often they came: the first two of theirs. Whoever has all three is missing under
# migraine, which makes that number too small; a larger bound would need more noise and a higher threshold.
MECHANISM = StabilityHistogram(epsilon=1, delta="1e-9", contributions=2)


def main() -> None:
    """Release the common diagnoses with their counts, and the price computed from what really ran."""
    patients = [patient for patient, _ in VISITS]
    diagnoses = [diagnosis for _, diagnosis in VISITS]
    with recording() as log:
        shown = MECHANISM.release(diagnoses, people=patients)
    for diagnosis, number in shown.items():
        print(f"{diagnosis}: about {number} patients")
    print(MECHANISM.describe())
    paid = price_releases(log)
    print(f"price of everything released: epsilon = 1, delta = {float(paid.delta(epsilon=1).upper):.2g}")


if __name__ == "__main__":
    main()
