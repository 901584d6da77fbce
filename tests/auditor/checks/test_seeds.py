"""Constant seeds of the generator that an audited function draws from."""

import importlib.util

import pytest

from dpaudit import Claim, PureDP, Target, Verdict, audit
from dpaudit.auditor.checks.seeds import check_seeds
from dpaudit.loading import each_target
from dpaudit.plain.asked import Asked
from dpaudit.report import to_text

CLAIM = Claim(PureDP(epsilon=1))


def target_in(folder, source):
    """A target whose function is `release` of a file."""
    file = folder / "first.py"
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("first", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Target(run=module.release, claim=CLAIM, data=[1, 2, 3])


SEEDED = {
    "numpy": "import numpy as np\nnp.random.seed(7)\ndef release(data, rng):\n    return len(data) + np.random.laplace()\n",
    "from": "from numpy.random import seed, laplace\nseed(7)\ndef release(data):\n    return len(data) + laplace()\n",
    "random": "import random\nrandom.seed(0)\ndef release(data):\n    return len(data) + random.gauss(0, 1)\n",
    "object": "import numpy as np\nRNG = np.random.default_rng(42)\ndef release(data):\n    return len(data) + RNG.laplace()\n",
    "old": "import numpy as np\nr = np.random.RandomState(seed=1)\ndef release(data, rng):\n    return len(data) + r.laplace()\n",
    "helper": (
        "import random\nR = random.Random(3)\ndef noise():\n    return R.gauss(0, 1)\n"
        "def release(data):\n    return len(data) + noise()\n"
    ),
}
FINE = {
    "given": "import numpy as np\nnp.random.seed(7)\ndef release(data, rng):\n    return len(data) + rng.laplace()\n",
    "data": (
        "import numpy as np\nR = np.random.default_rng(0)\nX = R.normal(size=3)\n"
        "def release(data, rng):\n    return len(data) + rng.laplace()\n"
    ),
    "projected": (
        "import numpy as np\nR = np.random.default_rng(0)\n"
        "def release(data, rng):\n    return R.normal() + len(data) + rng.laplace()\n"
    ),
    "other": "import random\nimport numpy as np\nrandom.seed(1)\ndef release(data):\n    return len(data) + np.random.laplace()\n",
    "fresh": "import numpy as np\nR = np.random.default_rng()\ndef release(data):\n    return len(data) + R.laplace()\n",
    "elsewhere": (
        "import numpy as np\ndef simulate():\n    np.random.seed(0)\n"
        "def release(data):\n    return len(data) + np.random.laplace()\n"
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_that_the_file_sets_is_a_violated_check(name, tmp_path):
    found = check_seeds(target_in(tmp_path, SEEDED[name]))
    assert [one.status for one in found] == ["violated"]
    assert "first.py:2 gives its generator a constant seed" in found[0].detail


@pytest.mark.parametrize("name", FINE)
def test_other_seeds_are_left_alone(name, tmp_path):
    assert check_seeds(target_in(tmp_path, FINE[name])) == ()


def test_objects_and_functions_without_source_have_no_seeds(tmp_path):
    assert check_seeds(Target(run=lambda data, rng: rng.laplace(), claim=CLAIM, data=[1])) == ()
    assert check_seeds(Target(run=max, claim=CLAIM, data=[1])) == ()


def test_such_a_release_is_not_called_consistent(tmp_path):
    report = audit(target_in(tmp_path, SEEDED["numpy"]), runs=20_000)
    assert report.results[0].verdict is Verdict.INCONCLUSIVE
    assert "draw the same noise" in to_text(report)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("ages, epsilon", ["violated"]),
        ("ages", ["violated"]),
        ("ages, epsilon, rng", []),
        ("ages, epsilon, rng=None", []),
        ("ages, rng=np.random.default_rng()", []),
        ("ages, rng=np.random.default_rng(42)", ["violated"]),
        ("ages, *, rng=np.random.RandomState(seed=3)", ["violated"]),
        ("ages, seed", []),
        ("ages, seed=None", []),
        ("ages, seed=42", ["violated"]),
    ],
)
def test_a_plain_function_is_looked_at_as_well(tmp_path, monkeypatch, arguments, status):
    monkeypatch.chdir(tmp_path)
    noise = "rng.laplace()" if "rng" in arguments else "np.random.laplace(0, 1)"
    noise = "np.random.default_rng(seed).laplace()" if "seed" in arguments.split(", ")[-1][:4] else noise
    source = f"import numpy as np\nnp.random.seed(7)\n\n\ndef count({arguments}):\n    return len(ages) + {noise}\n"
    (tmp_path / "counted.py").write_text(source, encoding="utf-8")
    (tmp_path / "ages.csv").write_text("ages\n" + "\n".join(map(str, range(20, 60))), encoding="utf-8")
    target = each_target("counted.py:count", data="ages.csv", asked=Asked(epsilon="1"))[0]
    assert status == [one.status for one in check_seeds(target)]


def test_a_target_whose_runs_are_given_a_generator_is_not_held_to_a_default(tmp_path):
    source = "import numpy as np\ndef release(data, rng=np.random.default_rng(7)):\n    return len(data) + rng.laplace()\n"
    assert check_seeds(target_in(tmp_path, source)) == ()
