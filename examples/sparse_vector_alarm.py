"""Watch daily numbers of patients for outbreaks: only the days with an alarm cost privacy, however many days there are.

Run it with `python examples/sparse_vector_alarm.py`.
"""

from dpaudit.accounting import price_releases
from dpaudit.releases import recording
from mechanisms import SparseVector

# Made-up numbers of patients with one symptom, day by day. What is watched for is public and fixed beforehand.
PATIENTS = [31, 24, 28, 35, 22, 30, 210, 226, 27, 33, 29, 25, 204, 30, 26]
THRESHOLD = 120

# One visit more or less moves a single day's number by 1, and no number the other way: the answers are monotonic. The run ends
# with the third alarm; epsilon 1 pays for all of it, a fifth of which is for the noisy numbers of the days with an alarm.
MECHANISM = SparseVector(sensitivity=1, epsilon=1, cutoff=3, monotonic=True, number_share="1/5")


def main() -> None:
    """Ask day by day, print what may be published, and the price computed from what really ran."""
    with recording() as log:
        run = MECHANISM.start(THRESHOLD)
        for day, patients in enumerate(PATIENTS, start=1):
            number = run.ask_number(patients)
            if number is not None:
                print(f"day {day:2d}: alarm, about {number} patients; alarms left: {run.left}")
            if not run.left:
                break
    print(MECHANISM.describe())
    print("price of the whole run: epsilon =", price_releases(log).epsilon(delta=0).upper)


if __name__ == "__main__":
    main()
