"""How many modules a reader steps through between a question and its answer."""

import subprocess
import sys

import pytest

MOST = 8

COUNT = """
import sys
{imports}

entered = set()
# Bodies of modules and classes run once, at import; what a reader steps through are functions.
sys.setprofile(lambda frame, event, _: event == "call" and frame.f_code.co_name != "<module>"
               and entered.add(frame.f_globals["__name__"]))
found = {call}
sys.setprofile(None)
print(found)
print(*sorted(name for name in entered if name.split(".")[0] in {{"dpaudit", "mechanisms", "learners", "proofs"}}))
"""

LAPLACE = "from dpaudit.accounting import laplace; import dpaudit.accounting.engines.evaluate"
RELEASE = "from mechanisms import LaplaceMechanism; mechanism = LaplaceMechanism(scale=2, sensitivity=1); mechanism.release(1)"


@pytest.mark.parametrize(
    ("imports", "call", "answer"),
    [(LAPLACE, "laplace(scale=2).epsilon(delta=0)", "0.5"), (RELEASE, "type(mechanism.release(1)).__name__", None)],
    ids=["a question", "a release"],
)
def test_a_call_enters_few_modules(imports, call, answer):
    script = COUNT.format(imports=imports, call=call)
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert answer in {None, printed[0]}
    assert 1 <= len(printed[1].split()) <= MOST, printed[1]
