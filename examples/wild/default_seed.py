"""syndp 0.5.2, `TimeDP`: every call seeds numpy's generator with 0, so the noise is the same constant."""

# requires: syndp==0.5.2 --no-deps numpy pandas matplotlib scikit-learn

from _entry import expect, show
from syndp.timedp_algorithm import TimeDP

from dpaudit.interop import from_client

VALUES = [0.0, 0.1]


def release(value: float) -> float:
    """Report a value of sensitivity 0.1, the library's default, as it does."""
    return float(TimeDP(epsilon=1, delta=0, mechanism_type="laplace").calculate_dp_value(value))


target = from_client(release, epsilon=1, values=VALUES, name="TimeDP", public_data=True)


def confirm() -> None:
    """Report two values many times: each has one report, without the auditor."""
    first, second = ({release(value) for _ in range(200)} for value in VALUES)
    print(f"reports of {VALUES[0]}: {first}; of {VALUES[1]}: {second}: the noise is a constant, no finite epsilon holds")
    expect(len(first) == len(second) == 1, "one report each")
    expect(first != second, "they differ")


if __name__ == "__main__":
    confirm()
    show(target, runs=20_000)
