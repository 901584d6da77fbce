"""Functions of diffpriv-pure 0.1.0 in which nothing was found."""

# requires: diffpriv-pure==0.1.0

from _entry import show_table
from diffpriv_pure import private_mean, private_sum

from dpaudit import ApproxDP, Claim, PureDP
from dpaudit.interop import from_function

PAIR = ([0.0, 0.5, 0.5], [1.0, 0.5, 0.5])
PARTS = {
    "private_sum": (lambda data: private_sum(data, (0, 1), epsilon=1.0), PureDP(epsilon=1)),
    "private_mean": (lambda data: private_mean(data, (0, 1), epsilon=1.0), PureDP(epsilon=1)),
    "private_sum, Gaussian at epsilon 1": (lambda data: private_sum(data, (0, 1), epsilon=1.0, delta=0.01), ApproxDP(1, "0.01")),
    "private_mean, Gaussian at epsilon 1": (lambda data: private_mean(data, (0, 1), epsilon=1.0, delta=0.01), ApproxDP(1, "0.01")),
}

TARGETS = [
    from_function(release, claim=Claim(guarantee, adjacency="replace_one"), neighbours=[PAIR], name=name, public_data=True)
    for name, (release, guarantee) in PARTS.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
