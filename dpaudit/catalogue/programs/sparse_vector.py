"""Which queries lie above a threshold: the sparse vector technique in its published forms, right and wrong."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.catalogue.programs.samplers import Laplace
from dpaudit.spec import spec


@spec(claim="eps", adjacency="all", requires=["eps > 0"])
def above_threshold(q: list[Fraction], eps: Fraction, threshold: Fraction, *, laplace: Laplace) -> list[bool]:
    """Whether each query lies above the threshold, up to the first that does."""
    out = []
    noisy = threshold + laplace(2 / eps)
    for i in range(len(q)):
        if q[i] + laplace(4 / eps) >= noisy:
            out.append(True)
            break
        out.append(False)
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"])
def sparse_vector(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[bool]:
    """Whether each query lies above the threshold, up to the `most`-th that does."""
    out = []
    noisy = threshold + laplace(2 / eps)
    count = 0
    for i in range(len(q)):
        if q[i] + laplace(4 * most / eps) >= noisy:
            out.append(True)
            count = count + 1
            if count == most:
                break
        else:
            out.append(False)
    return out


@spec(claim="eps", adjacency="inc", requires=["eps > 0", "most >= 1"])
def sparse_vector_increasing(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[bool]:
    """The same with half the noise, for queries that all move one way."""
    out = []
    noisy = threshold + laplace(2 / eps)
    count = 0
    for i in range(len(q)):
        if q[i] + laplace(2 * most / eps) >= noisy:
            out.append(True)
            count = count + 1
            if count == most:
                break
        else:
            out.append(False)
    return out


@spec(claim="eps", adjacency="dec", requires=["eps > 0", "most >= 1"])
def sparse_vector_decreasing(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[bool]:
    """The same with half the noise, for queries that all move the other way."""
    out = []
    noisy = threshold + laplace(2 / eps)
    count = 0
    for i in range(len(q)):
        if q[i] + laplace(2 * most / eps) >= noisy:
            out.append(True)
            count = count + 1
            if count == most:
                break
        else:
            out.append(False)
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"])
def gap_sparse_vector(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[Fraction]:
    """By how much a query lies above the noisy threshold, 0 for one below."""
    out = []
    noisy = threshold + laplace(2 / eps)
    count = 0
    for i in range(len(q)):
        answer = q[i] + laplace(4 * most / eps)
        if answer >= noisy:
            out.append(answer - noisy)
            count = count + 1
            if count == most:
                break
        else:
            out.append(Fraction(0))
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0"])
def numeric_above_threshold(q: list[Fraction], eps: Fraction, threshold: Fraction, *, laplace: Laplace) -> list[Fraction]:
    """0 for each query below the threshold, up to the first above it, whose value is given with noise of its own."""
    out = []
    noisy = threshold + laplace(3 / eps)
    for i in range(len(q)):
        if q[i] + laplace(6 / eps) >= noisy:
            out.append(q[i] + laplace(3 / eps))
            break
        out.append(Fraction(0))
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"])
def numeric_sparse_vector(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[Fraction]:
    """0 for each query below the threshold, and the value of each above it, with noise of its own."""
    out = []
    noisy = threshold + laplace(3 / eps)
    count = 0
    for i in range(len(q)):
        if q[i] + laplace(6 * most / eps) >= noisy:
            out.append(q[i] + laplace(3 * most / eps))
            count = count + 1
            if count == most:
                break
        else:
            out.append(Fraction(0))
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1", "margin >= 0"])
def adaptive_sparse_vector(
    q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, margin: Fraction, *, laplace: Laplace
) -> list[Fraction]:
    """The gap above the noisy threshold; a query far above it is answered with more noise and costs half."""
    out = []
    noisy = threshold + laplace(2 / eps)
    spent = 0
    for i in range(len(q)):
        far = q[i] + laplace(8 * most / eps) - noisy
        if far >= margin:
            out.append(far)
            spent = spent + 1
        else:
            near = q[i] + laplace(4 * most / eps) - noisy
            if near >= 0:
                out.append(near)
                spent = spent + 2
            else:
                out.append(Fraction(0))
        if spent > 2 * most - 2:
            break
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0"])
def bad_sparse_vector_without_noise(q: list[Fraction], eps: Fraction, threshold: Fraction, *, laplace: Laplace) -> list[bool]:
    """Wrong: the queries get no noise, and answers do not stop."""
    out = []
    noisy = threshold + laplace(2 / eps)
    for i in range(len(q)):
        if q[i] >= noisy:
            out.append(True)
        else:
            out.append(False)
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0"])
def bad_sparse_vector_without_stop(q: list[Fraction], eps: Fraction, threshold: Fraction, *, laplace: Laplace) -> list[bool]:
    """Wrong: answers do not stop, and their noise does not grow with their number."""
    out = []
    noisy = threshold + laplace(2 / eps)
    for i in range(len(q)):
        if q[i] + laplace(2 / eps) >= noisy:
            out.append(True)
        else:
            out.append(False)
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"])
def bad_sparse_vector_scale(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[bool]:
    """Wrong: the noise of answers does not grow with their number."""
    out = []
    noisy = threshold + laplace(4 / eps)
    count = 0
    for i in range(len(q)):
        if q[i] + laplace(4 / (3 * eps)) >= noisy:
            out.append(True)
            count = count + 1
            if count == most:
                break
        else:
            out.append(False)
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"])
def bad_gap_sparse_vector(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, *, laplace: Laplace) -> list[Fraction]:
    """Wrong: the noisy value that was compared is given itself; -100 stands for one below."""
    out = []
    noisy = threshold + laplace(2 / eps)
    count = 0
    for i in range(len(q)):
        answer = q[i] + laplace(4 * most / eps)
        if answer >= noisy:
            out.append(answer)
            count = count + 1
            if count == most:
                break
        else:
            out.append(Fraction(-100))
    return out


@spec(claim="eps", adjacency="all", requires=["eps > 0", "most >= 1", "margin >= 0"])
def bad_adaptive_sparse_vector(
    q: list[Fraction], eps: Fraction, threshold: Fraction, most: int, margin: Fraction, *, laplace: Laplace
) -> list[Fraction]:
    """Wrong: a query far above the threshold is given itself; -100 stands for one below."""
    out = []
    noisy = threshold + laplace(2 / eps)
    spent = 0
    for i in range(len(q)):
        answer = q[i] + laplace(8 * most / eps)
        if answer - noisy >= margin:
            out.append(answer)
            spent = spent + 1
        else:
            near = q[i] + laplace(4 * most / eps) - noisy
            if near >= 0:
                out.append(near)
                spent = spent + 2
            else:
                out.append(Fraction(-100))
        if spent > 2 * most - 2:
            break
    return out
