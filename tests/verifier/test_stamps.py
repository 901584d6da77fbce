"""A stamp changes with everything that a definition can reach, and with nothing else."""

from __future__ import annotations

import ast

import pytest

from dpaudit.verifier.stamps.canonical import canonical, digest
from dpaudit.verifier.stamps.cited import read_cited
from dpaudit.verifier.stamps.modules import Tree
from dpaudit.verifier.stamps.reach import Reach

BASE = {
    "low/__init__.py": "",
    "low/base.py": (
        "from typing import Protocol\n"
        "class Source(Protocol):\n"
        "    def bits(self, count: int) -> int: ...\n"
        "class Law:\n"
        "    def mass(self):\n"
        "        return self.part()\n"
        "    def part(self):\n"
        "        return 1\n"
        "class Coin:\n"
        "    def bits(self, count):\n"
        "        return 0\n"
        "class Words:\n"
        "    def bits(self):\n"
        "        return 'word'\n"
        "class Narrow(Law):\n"
        "    def part(self):\n"
        "        return 2\n"
    ),
    "low/numbers.py": (
        "import math\n"
        "import numpy as np\n"
        "LIMIT = 64\n"
        "TABLE = {}\n"
        "WEIGHTS = np.array([1, 2], dtype=np.int64)\n"
        "OTHER = 5\n"
        "def fill():\n"
        "    TABLE['a'] = LIMIT\n"
        "def root(x):\n"
        "    return math.floor(x)\n"
        "def above(x):\n"
        "    return math.ceil(x)\n"
        "def unused():\n"
        "    return OTHER\n"
    ),
    "low/data.csv": "1,2\n",
    "low/effects.py": "import low.numbers\nHOOK = []\nHOOK.append(low.numbers.root)\n\ndef hooked():\n    return HOOK\n",
    "high/__init__.py": "",
    "high/draws.py": (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from low import numbers\n"
        "from low.base import Law, Narrow, Source\n"
        "from low.numbers import TABLE, root as lower\n"
        "BITS = numbers.LIMIT // 2\n"
        "@dataclass(frozen=True)\n"
        "class Sampler:\n"
        "    law: Narrow\n"
        "    def many(self, size, source: Source):\n"
        "        return [self._one(source) for _ in range(size)]\n"
        "    def _one(self, source):\n"
        "        return source.bits(BITS) + self.law.mass()\n"
        "def narrowed():\n"
        "    return Narrow().mass()\n"
        "def looked_up(key):\n"
        "    return TABLE[key]\n"
        "def local(x):\n"
        "    from low.numbers import above as one\n"
        "    return one(x)\n"
        "def weighted(x, law: Law):\n"
        "    return numbers.WEIGHTS @ x\n"
        "def rounded(x):\n"
        "    root = x\n"
        "    return lower(root)\n"
        "def read():\n"
        "    return open('data.csv')\n"
        "def plain(x):\n"
        "    return x + 1\n"
        "def by_name(name):\n"
        "    return getattr(numbers, name)\n"
        "def hidden(text):\n"
        "    return eval(text)\n"
        "def named_file():\n"
        "    return 'data.csv'\n"
        "async def later():\n"
        "    return BITS\n"
    ),
    "top/__init__.py": "",
    "top/tape.py": "class Tape:\n    def bits(self, count):\n        return 7\n",
}


@pytest.fixture
def tree(tmp_path):
    def made(**changed):
        for path, text in {**BASE, **changed}.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return Reach(Tree(tmp_path, ("low", "high", "top")))

    return made


def edited(path, old, new):
    assert 1 == BASE[path].count(old), old
    return {path: BASE[path].replace(old, new)}


SEEN = [
    ("Sampler", "high/draws.py", "        return [self._one(source) for _ in range(size)]", "        return [0] * size"),
    ("Sampler", "high/draws.py", "numbers.LIMIT // 2", "numbers.LIMIT // 4"),
    ("Sampler", "high/draws.py", "frozen=True", "frozen=False"),
    ("Sampler", "low/numbers.py", "LIMIT = 64", "LIMIT = 32"),
    ("Sampler", "low/numbers.py", "LIMIT = 64", "LIMIT = 64.0"),
    ("Sampler", "low/base.py", "return 0", "return 1"),
    ("Sampler", "low/base.py", "return 1\n", "return 3\n"),
    ("Sampler", "low/base.py", "return 2", "return 4"),
    ("narrowed", "low/base.py", "return self.part()", "return 0"),
    ("looked_up", "low/numbers.py", "TABLE['a'] = LIMIT", "TABLE['a'] = 0"),
    ("looked_up", "low/numbers.py", "LIMIT = 64", "LIMIT = 63"),
    ("local", "low/numbers.py", "math.ceil(x)", "math.floor(x)"),
    ("weighted", "low/numbers.py", "np.array([1, 2], dtype=np.int64)", "np.array([1, 2], dtype=np.int32)"),
    ("weighted", "low/base.py", "return 2", "return 4"),
    ("rounded", "low/numbers.py", "math.floor(x)", "math.trunc(x)"),
    ("rounded", "high/draws.py", "root as lower", "above as lower"),
    ("by_name", "low/numbers.py", "OTHER = 5", "OTHER = 6"),
    ("named_file", "low/data.csv", "1,2", "1,3"),
    ("later", "low/numbers.py", "LIMIT = 64", "LIMIT = 8"),
]


@pytest.mark.parametrize(("name", "path", "old", "new"), SEEN)
def test_a_stamp_changes_with_what_a_definition_reaches(tree, name, path, old, new):
    place = f"high/draws.py:{name}"
    assert tree().stamp(place) not in {"", tree(**edited(path, old, new)).stamp(place)}


UNSEEN = [
    ("plain", "low/numbers.py", "LIMIT = 64", "LIMIT = 32"),
    ("plain", "high/draws.py", "return source.bits(BITS)", "return 0"),
    ("Sampler", "low/numbers.py", "OTHER = 5", "OTHER = 6"),
    ("Sampler", "low/base.py", "return 'word'", "return 'other'"),
    ("Sampler", "top/tape.py", "return 7", "return 8"),
    ("rounded", "low/numbers.py", "math.ceil(x)", "math.floor(x)"),
    ("looked_up", "low/numbers.py", "return OTHER", "return -OTHER"),
    ("rounded", "low/numbers.py", "LIMIT = 64", "LIMIT = 0x40  # bits"),
    ("Sampler", "low/numbers.py", "LIMIT = 64", "\n\nLIMIT  =  6_4\n'''The widest word.'''"),
    ("Sampler", "low/base.py", "    def mass(self):\n", "    def mass(self):\n        '''Its mass.'''\n"),
]


@pytest.mark.parametrize(("name", "path", "old", "new"), UNSEEN)
def test_a_stamp_keeps_with_what_a_definition_does_not_reach_and_with_comments(tree, name, path, old, new):
    place = f"high/draws.py:{name}"
    assert tree().stamp(place) == tree(**edited(path, old, new)).stamp(place)


def test_a_class_that_is_added_and_fits_a_protocol_changes_the_stamp(tree):
    before = tree().stamp("high/draws.py:Sampler")
    other = tree(**{"low/more.py": "class Zeros:\n    def bits(self, count):\n        return 0\n"})
    assert before != other.stamp("high/draws.py:Sampler")


def test_what_a_module_does_when_it_is_imported_belongs_to_all_that_it_defines(tree):
    before = tree().stamp("low/effects.py:hooked")
    assert before != tree(**edited("low/effects.py", "low.numbers.root)", "low.numbers.above)")).stamp("low/effects.py:hooked")
    assert before != tree(**edited("low/numbers.py", "math.floor(x)", "x")).stamp("low/effects.py:hooked")


def test_a_module_that_changes_another_when_it_is_imported_counts_where_it_is_imported(tree):
    patching = "import low.base\nlow.base.Law.part = len\n"
    imported = edited("high/draws.py", "from low import numbers\n", "from low import numbers, patch\n")
    before = tree(**imported, **{"low/patch.py": ""}).stamp("high/draws.py:plain")
    assert before != tree(**imported, **{"low/patch.py": patching}).stamp("high/draws.py:plain")


def test_swapped_imports_change_the_stamp_although_no_definition_does(tree):
    both = "from low.numbers import above, root\ndef f(x):\n    return above(x) - root(x)\n"
    swapped = both.replace("above, root\n", "above as root, root as above\n")
    first = tree(**{"high/two.py": both}).stamp("high/two.py:f")
    assert first != tree(**{"high/two.py": swapped}).stamp("high/two.py:f")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("'draw': 'one'", "'draw': 'two'", False),
        ("return 'loaded'", "return None", False),
        ("'other': 'two'", "'other': 'one'", True),
    ],
)
def test_a_name_that_a_package_loads_on_first_use_stands_for_its_entry_in_the_table_and_for_what_loads_it(tree, old, new, same):
    table = "def load(homes):\n    return 'loaded'\n_HOMES = {'draw': 'one', 'other': 'two'}\n__getattr__ = load(_HOMES)\n"
    assert 1 == table.count(old)
    modules = {f"lazy/{name}.py": f"def draw():\n    return {name!r}\ndef other():\n    return 0\n" for name in ("one", "two")}
    use = {"high/use.py": "from lazy import draw\ndef f():\n    return draw()\n"}

    def stamp(text):
        reach = tree(**modules, **use, **{"lazy/__init__.py": text})
        return Reach(Tree(reach.tree.root, ("low", "lazy", "high"))).stamp("high/use.py:f")

    assert same is (stamp(table) == stamp(table.replace(old, new)))


def test_definitions_that_call_each_other_have_stamps_that_change_together(tree):
    text = "def even(n):\n    return n == 0 or odd(n - 1)\ndef odd(n):\n    return n != 0 and even(n - 1)\n"
    first = tree(**{"high/ring.py": text})
    before = [first.stamp(f"high/ring.py:{name}") for name in ("even", "odd")]
    second = tree(**{"high/ring.py": text.replace("n != 0", "n > 0")})
    assert first.closure("high/ring.py:even") == first.closure("high/ring.py:odd")
    assert not {*before} & {second.stamp(f"high/ring.py:{name}") for name in ("even", "odd")}


def test_a_method_stands_for_its_class_and_a_name_that_is_not_there_has_no_stamp(tree):
    reach = tree()
    assert reach.stamp("high/draws.py:Sampler") == reach.stamp("high/draws.py:Sampler.many")
    assert ["", "", ""] == [reach.stamp(f"high/{place}") for place in ("draws.py:Sampler.few", "draws.py:gone", "gone.py:f")]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return eval(x)", "eval reaches what the source does not name"),
        (
            "import importlib\n    return importlib.import_module(x)",
            "importlib.import_module reaches what the source does not name",
        ),
        ("import os\n    return os.environ['NOISE']", "os.environ reaches what the source does not name"),
        ("import math\n    return getattr(math, x)(2)", "math reaches what the source does not name"),
        ("Law.part = x", "low/base.py:Law is changed while the program runs"),
        ("setattr(Law, x, 0)", "low/base.py:Law is changed while the program runs"),
        ("return missing(x)", "missing is not defined in high/case.py"),
        ("return x.read_text()", "a file is read that is named when the program runs"),
        ("from low import gone\n    return gone(x)", "low has no gone"),
    ],
)
def test_what_cannot_be_followed_is_an_open_edge(tree, body, said):
    reach = tree(**{"high/case.py": f"from low.base import Law\ndef f(x):\n    {body}\n"})
    assert {"high/case.py:f": (said,)} == reach.unresolved(reach.closure("high/case.py:f"))


def test_plain_code_has_no_open_edge(tree):
    reach = tree()
    assert {} == reach.unresolved(reach.closure("high/draws.py:Sampler"))


def test_the_text_of_a_stamp_forgets_form_and_keeps_values_with_their_type():
    assert canonical(ast.parse("x = f(1,\n  'a')  # two")) == canonical(ast.parse('x=f(0x1, "a")'))
    texts = ["x = 1", "x = 1.0", "x = True", "x = '1'", "x = b'1'", "x = -1", "x: int = 1", "x += 1", "x = 1j"]
    assert len(texts) == len({canonical(ast.parse(text)) for text in texts})
    assert canonical(ast.parse("f'a' f'{x}b'")) == canonical(ast.parse("f'a{x}' 'b'"))
    assert digest("a", "bc") != digest("ab", "c")


TESTS = {
    "tests/conftest.py": (
        "import pytest\nfrom low.numbers import root\n\n@pytest.fixture\ndef value():\n    return root(3)\n\n"
        "@pytest.fixture(autouse=True)\ndef everywhere():\n    return None\n\n@pytest.fixture\ndef other():\n    return 1\n"
    ),
    "tests/test_draws.py": (
        "import pytest\nfrom high.draws import plain\nCASES = [1, 2]\n\ndef held(x):\n    return x > 0\n\n"
        "@pytest.mark.parametrize('x', CASES)\ndef test_plain(x, value):\n    assert held(plain(x) + value)\n"
    ),
}


@pytest.mark.parametrize(
    ("path", "old", "new", "test", "code"),
    [
        ("tests/test_draws.py", "    assert held(plain(x) + value)\n", "    pass\n", True, True),
        ("tests/test_draws.py", "@pytest.mark.parametrize", "@pytest.mark.skip\n@pytest.mark.parametrize", True, False),
        ("tests/test_draws.py", "CASES = [1, 2]", "CASES = []", True, False),
        ("tests/test_draws.py", "return x > 0", "return True", True, False),
        ("tests/test_draws.py", "import pytest\n", "import pytest\npytestmark = pytest.mark.skip\n", True, False),
        ("tests/conftest.py", "return root(3)", "return root(4)", True, False),
        ("tests/conftest.py", "return None", "pytest.skip('none')", True, False),
        (
            "tests/conftest.py",
            "import pytest\n",
            "import pytest\ndef pytest_collection_modifyitems(items): items.clear()\n",
            True,
            False,
        ),
        ("tests/conftest.py", "return 1\n", "return 2\n", False, False),
        ("tests/conftest.py", "return None\n", "return None  # nothing\n", False, False),
        ("low/numbers.py", "math.floor(x)", "x", False, True),
        ("high/draws.py", "return x + 1", "return x + 2", False, True),
        ("high/draws.py", "root = x\n", "root = -x\n", False, False),
    ],
)
def test_a_cited_test_changes_with_its_body_fixtures_parameters_marks_hooks_and_the_code_it_reaches(
    tree, path, old, new, test, code
):
    source = {**BASE, **TESTS}
    assert 1 == source[path].count(old)
    before = read_cited(tree(**TESTS), "tests/test_draws.py::test_plain")
    after = read_cited(tree(**{**TESTS, path: source[path].replace(old, new)}), "tests/test_draws.py::test_plain")
    assert "high/draws.py:plain" in before.reaches
    assert (test, code) == (before.test != after.test, before.code != after.code)
