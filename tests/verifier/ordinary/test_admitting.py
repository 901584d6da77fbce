"""False programs, written to be proven, are not read; ordinary ones are."""

import tomllib
from pathlib import Path

import pytest

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.ordinary.reading import read

ATTACKS = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text(encoding="utf-8"))["program"]
HEAD = "import numpy as np\n\ndef f(data: list[int], eps):\n"


@pytest.mark.parametrize("program", ATTACKS, ids=lambda program: program["name"])
def test_a_program_that_was_written_to_deceive_is_not_read(program):
    with pytest.raises(Unsupported):
        read(program["text"], Spec("1", "add_remove"), function="f")


@pytest.mark.parametrize(
    "body",
    [
        "    return len(data) + np.random.laplace(0, 1 / eps)\n",
        "    total = 0\n    for x in data:\n        total += min(max(x, 0), 9)\n    return total + np.random.laplace(0, 9 / eps)\n",
        "    big = sum(1 for x in data if x > 9)\n    noisy = big + np.random.laplace(0, 1 / eps)\n    return f'{noisy} of them'\n",
        "    if eps <= 0:\n        raise ValueError\n    return round(len(data) + np.random.laplace(0, 1 / eps))\n",
        "    n = 0\n    for x in data:\n        if x > 3:\n            n += 1\n    return n + np.random.laplace(0, 1 / eps)\n",
    ],
)
def test_an_ordinary_function_is_read(body):
    assert read(HEAD + body, Spec("eps", "add_remove", requires=["eps > 0"]), function="f").draws


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    n = 0\n    for x in data:\n        n += 1\n    return x + np.random.laplace(0, 1)\n", "x, which may have no value"),
        ("    d = {}\n    d['a'] = 1\n    return d['a']\n", "the assignment to d['a']"),
        ("    y = round(0.5)\n    return y if len(data) > 3 else 2\n", "a choice among rounded or formatted values"),
        ("    k = 1\n    xs = [x * k for x in data]\n    k = 2\n    return sum(xs)\n", "k, which gets another value"),
    ],
)
def test_a_refusal_names_the_form_and_what_to_write(body, said):
    with pytest.raises(Unsupported) as refusal:
        read(HEAD + body, Spec("eps", "add_remove"), function="f")
    assert said in str(refusal.value)
