"""What the reader learned from a sixth list: coins, quantiles, texts, tables and rounding, each with its false twin."""

from __future__ import annotations

import pytest

from dpaudit.errors import Unsupported
from dpaudit.verifier import verify
from dpaudit.verifier.ordinary.wording import Words, applied

HEAD = "import json\nimport math\nimport random\nimport secrets\nfrom collections import Counter\nimport numpy as np\n"
TEXTS = """
def f(q: list[str], eps: float):
    return sum(min(len(x.strip()), 9) for x in q) + np.random.laplace(0, 9 / eps)
"""
LOWER = """
def f(q: list[str], eps: float):
    return sum(1 for x in q if x.lower() == "yes") + np.random.laplace(0, 1 / eps)
"""
QUANTILE = """
def noise(scale):
    u = random.random() - 0.5
    return -scale * math.copysign(1, u) * math.log(1 - 2 * abs(u))

def f(q: list[int], eps: float):
    return len(q) + noise(1 / eps)
"""
TABLE = """
def f(q: np.ndarray, eps: float):
    return np.clip(q[:, 1], 0, 1).sum() + np.random.laplace(0, 1 / eps)
"""
CONSTANT_KEYS = """
def f(q: list[int], eps: float):
    seen = Counter()
    for x in q:
        seen["all"] += 1
    return seen["all"] + np.random.laplace(0, 1 / eps)
"""


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (TEXTS, "0, 9 / eps", "0, 4 / eps"),
        (LOWER, "0, 1 / eps", "0, 0.5 / eps"),
        (QUANTILE, "copysign(1, u)", "copysign(0.5, u)"),
        (TABLE, "0, 1 / eps", "0, 0.5 / eps"),
        (CONSTANT_KEYS, "0, 1 / eps", "0, 0.5 / eps"),
    ],
)
def test_what_is_read_now_is_proven_and_its_twin_is_refuted(text, old, new):
    promise = {"claim": "eps", "adjacency": "add_remove", "requires": ["eps > 0"], "seconds": 15}
    assert "proven (real numbers)" == verify(HEAD + text, **promise).status
    assert "refuted" == verify(HEAD + text.replace(old, new), **promise).status


ANSWERS = """
def f(q: list[bool]):
    out = []
    for truth in q:
        if COIN:
            out.append(truth)
        else:
            out.append(FAIR)
    return out
"""


@pytest.mark.parametrize("coin", ["secrets.randbelow(2) == 0", "random.getrandbits(1)", "random.choice([True, False])"])
def test_two_coins_are_one_answer(coin):
    text = HEAD + ANSWERS.replace("COIN", coin).replace("FAIR", "random.random() < 0.5")
    assert "proven (real numbers)" == verify(text, claim="log(3)", adjacency="replace_one").status
    for old, new in (("random() < 0.5", "random() < 0.25"), (coin, "random.random() < 0.6")):
        assert "refuted" == verify(text.replace(old, new, 1), claim="log(3)", adjacency="replace_one").status


SHOWN = (
    "return [x + np.random.laplace(0, 1 / eps) for x in q]",
    "return {k: n + np.random.laplace(0, 1 / eps) for k, n in Counter(q).items()}",
    "return {k: q.count(k) + np.random.laplace(0, 1 / eps) for k in set(q)}",
    "return sum(min(max(x, 0), 1) for x in q) / len(q) + np.random.laplace(0, 1 / (len(q) * eps))",
    "return q[0] + np.random.laplace(0, 1 / eps)",
    "for x in q:\n        if x > 9:\n            return None\n    return 1",
)


@pytest.mark.parametrize("body", SHOWN)
def test_what_shows_records_is_refuted(body):
    text = HEAD + f"def f(q: list[int], eps: float):\n    {body}\n"
    assert "refuted" == verify(text, claim="eps", adjacency="add_remove", requires=["eps > 0"], seconds=5).status


def test_what_is_read_to_refute_alone_is_never_proven():
    text = (
        HEAD + "def f(q: list[int]):\n    for x in q:\n        if x > 9:\n            break\n    return np.random.laplace(0, 1)\n"
    )
    with pytest.raises(Unsupported, match="a break in a loop over records"):
        verify(text, claim="1", adjacency="add_remove", seconds=5)


ROUNDED = (
    "return round(n, 1)",
    "return f'about {n:.1f}'",
    "return json.dumps({'n': round(n), 'k': 3})",
    "return max(0, int(n))",
    "return math.floor(n)",
)


@pytest.mark.parametrize("body", ROUNDED)
def test_a_rounded_release_is_refuted_where_the_rounded_value_shows_it(body):
    text = HEAD + f"def f(q: list[int], eps: float):\n    n = len(q) + np.random.laplace(0, SCALE / eps)\n    {body}\n"
    promise = {"claim": "eps", "adjacency": "add_remove", "requires": ["eps > 0"], "seconds": 10}
    assert "refuted" == verify(text.replace("SCALE", "0.5"), **promise).status
    assert "proven (real numbers)" == verify(text.replace("SCALE", "1"), **promise).status


def test_a_rounded_release_that_hides_what_differs_is_not_refuted():
    text = HEAD + "def f(q: list[int], eps: float):\n    return round(min(len(q), 1) * 0.25)\n"
    assert verify(text, claim="eps", adjacency="add_remove", requires=["eps > 0"], seconds=5).status != "refuted"


def test_texts_are_found_of_which_python_makes_what_is_wanted():
    lower, starts, size = (("lower", ()),), (("startswith", ("ab",)),), (("len", ()),)
    words = Words({0: "abc", 1: "x"})
    found = words.text_for(None, {lower: 0, size: 3})
    assert found is not None
    assert ("abc", 3) == (applied(found, lower), applied(found, size))
    assert words.text_for(None, {starts: 1, (("startswith", ("cd",)),): 1}) is None
    assert words.text_for(1, {starts: 1}) is None
