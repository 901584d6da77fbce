"""Targets that do to their process what no release should do: modules whose `release` is sound apart from that."""

# ruff: noqa: E501 - the modules are read as they are written

from __future__ import annotations

from typing import Final

PRELUDE: Final = """
import atexit, builtins, ctypes, faulthandler, gc, multiprocessing, os, random, resource, signal, subprocess, sys, threading, time, warnings
import numpy as np
from dpaudit import Claim, PureDP, Sensitivity, Target

COUNT = [0]

def sound(data, rng):
    return len(data) + rng.laplace()
"""

POSTLUDE: Final = """
target = Target(name="strange", run=release, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])
"""

DEATHS: Final = {
    "exits at once": "os._exit(0)",
    "exits with the code of a refuted claim": "os._exit(1)",
    "exits in a later run": "COUNT[0] += 1\n    if COUNT[0] > 300: os._exit(0)",
    "exits on one dataset": "if len(data) == 2: os._exit(0)",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "aborts": "os.abort()",
    "ends its process group": "os.killpg(0, signal.SIGKILL)",
    "asks to be terminated": "os.kill(os.getpid(), signal.SIGTERM)",
    "hangs up": "os.kill(os.getpid(), signal.SIGHUP)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "kills its parent": "os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)",
    "reads where nothing is": "ctypes.string_at(0)",
    "sleeps": "time.sleep(600)",
    "spins": "while True: pass",
    "waits for a lock": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "ignores every signal and sleeps": (
        "for number in range(1, 32):\n        if number not in (9, 19): signal.signal(number, signal.SIG_IGN)\n    time.sleep(600)"
    ),
    "floods and exits": "os.write(1, b'x' * 10**7); os._exit(0)",
    "writes past every bound and sleeps": "os.write(2, b'y' * 10**6); time.sleep(600)",
    "closes everything and sleeps": "os.closerange(0, 256); time.sleep(600)",
    "exits in a thread": "threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(5)",
    "exits in a signal handler": "signal.signal(signal.SIGALRM, lambda *_: os._exit(0)); signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(5)",
    "dies of an alarm": "signal.alarm(1); time.sleep(600)",
    "takes the place of the process": "os.execv('/bin/true', ['true'])",
    "takes all memory": "COUNT.append(bytearray(10**8) + b'1')",
    "takes all memory in children": (
        "COUNT.append(multiprocessing.get_context('fork').Process(target=lambda: (bytearray(4 * 10**8), time.sleep(600))));"
        " COUNT[-1].start()"
    ),
    "gives outputs of a hundred megabytes": "return b'z' * 10**8 + bytes(str(rng.laplace()), 'ascii')",
    "recurses in C": "sys.setrecursionlimit(10**9)\n    def deeper(): return deeper()\n    return eval('deeper()', {'deeper': deeper})",
    "limits its own processor time": "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n    while True: pass",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "forks on and on": "os.fork(); os.fork(); time.sleep(600)",
}
"""Bodies of `release` after which there is nothing to say but "failed"."""

SETTINGS: Final = {
    "sets what numpy raises": "np.seterr(all='raise')",
    "lowers the recursion limit": "sys.setrecursionlimit(max(60, len(__import__('inspect').stack(0)) + 30))",
    "handles signals": "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, lambda *_: None)",
    "leaves threads behind": "COUNT[0] or threading.Thread(target=time.sleep, args=(600,)).start(); COUNT[0] = 1",
    "forgets all modules": "sys.modules.clear()",
    "replaces a module": "sys.modules['scipy'] = None; sys.modules['json'] = None",
    "replaces the auditor's modules": "[sys.modules.pop(name) for name in list(sys.modules) if name.startswith('dpaudit')]",
    "changes the folder": "os.chdir('/')",
    "removes the environment": "os.environ.clear()",
    "makes warnings errors": "warnings.simplefilter('error')",
    "seeds": "random.seed(0); np.random.seed(0)",
    "closes stdout": "sys.stdout.close()",
    "closes the descriptors of stdout": "COUNT[0] or (os.close(1), os.close(2)); COUNT[0] = 1",
    "replaces stdout": "sys.stdout = None; sys.stderr = 3",
    "registers something for the end": "atexit.register(os._exit, 0)",
    "registers a hang for the end": "COUNT[0] or atexit.register(time.sleep, 600); COUNT[0] = 1",
    "turns off the collector": "gc.disable(); gc.set_threshold(1)",
    "asks Python to exit": "COUNT[0] += 1\n    if COUNT[0] % 50 == 0: sys.exit(0)",
    "enables the fault handler": "faulthandler.enable(); faulthandler.dump_traceback_later(0.2, repeat=True)",
    "limits its open files": "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    "forks once and both return": "COUNT[0] += 1\n    if COUNT[0] == 70: os.fork()",
    "forks in every run": "COUNT[0] += 1\n    if COUNT[0] < 60: os.fork()",
    "leaves its session": "COUNT[0] or (os.fork() or (os.setsid(), time.sleep(600), os._exit(0))); COUNT[0] = 1",
    "leaves a daemon": (
        "COUNT[0] or subprocess.Popen(['sleep', '617'], start_new_session=True, stdin=-3, stdout=-3, stderr=-3); COUNT[0] = 1"
    ),
    "leaves children": (
        "COUNT[0] or multiprocessing.get_context('fork').Process(target=time.sleep, args=(618,)).start(); COUNT[0] = 1"
    ),
    "prints a lot": "print('w' * 1000)",
    "sets the profiler": "sys.setprofile(lambda *_: None); sys.settrace(lambda *_: None)",
    "replaces a builtin": "builtins.len = lambda data: 1; builtins.print = None",
    "sets decimals": "import decimal; decimal.getcontext().prec = 1; decimal.getcontext().traps[decimal.Inexact] = True",
    "raises its own kind of BaseException": ("class Odd(BaseException): pass\n    if (n := rng.random()) < 0.1: raise Odd(n)"),
    "changes its priority": "COUNT[0] or os.nice(5); COUNT[0] = 1",
    "changes the file mode": "os.umask(0o777)",
    "shadows dpaudit": "sys.path.insert(0, '/nonexistent'); sys.path[:] = []",
    "interrupts the main thread": "__import__('_thread').interrupt_main() if rng.random() < 0.01 else None",
}
"""First lines of `release`, which goes on with a sound answer: "failed", or what is right for a sound release."""

IMPORTS: Final = {
    "exits while imported": "os._exit(0)",
    "exits politely while imported": "sys.exit(0)",
    "dies while imported": "os.kill(os.getpid(), signal.SIGKILL)",
    "hangs while imported": "time.sleep(600)",
    "raises while imported": "raise ValueError('Ada is 36')",
    "raises a kind of its own while imported": "class Odd(BaseException): pass\nraise Odd",
    "is interrupted while imported": "raise KeyboardInterrupt",
    "needs a module": "import no_such_module_anywhere",
    "is not Python": "def def",
    "refuses its own claim": "Target(run=sound, claim=Claim(PureDP(epsilon=-1)), data=[1])",
    "has no function": "Target(run=None, claim=Claim(PureDP(epsilon=1)), data=[1])",
    "floods while imported": "os.write(1, b'x' * 10**7); os._exit(0)",
    "forks while imported": "os.fork()",
    "closes everything while imported": "os.closerange(0, 256)",
    "registers an exit while imported": "atexit.register(os._exit, 0); raise SystemExit",
    "replaces load_targets while imported": "import dpaudit.loading; dpaudit.loading.load_targets = None; raise ValueError",
}
"""Lines that stand before a target in its file."""

OTHER_PARTS: Final = {
    "a score that exits": "target = Target(name='strange', run=sound, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], score=lambda output: os._exit(0))",
    "a query that exits": (
        "target = Target(name='strange', run=sound, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])],"
        " sensitivity=Sensitivity(query=lambda data: os._exit(0), bound=1))"
    ),
    "a law that exits": "target = Target(name='strange', run=sound, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], pmf=lambda data: os._exit(0))",
    "an output whose comparison exits": (
        "class Output:\n    def __eq__(self, other): os._exit(0)\n    __hash__ = lambda self: os._exit(0)\n"
        "    __repr__ = __len__ = __iter__ = __float__ = __getitem__ = lambda self, *_: os._exit(0)\n"
        "target = Target(name='strange', run=lambda data, rng: Output(), claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])"
    ),
    "a dataset whose copy exits": (
        "class Data(list):\n    def __deepcopy__(self, memo): os._exit(0)\n    def __reduce_ex__(self, version): os._exit(0)\n"
        "target = Target(name='strange', run=sound, claim=Claim(PureDP(epsilon=1)), neighbours=[(Data([1]), Data([1, 1]))])"
    ),
    "neighbours that exit": (
        "from hypothesis import strategies\n"
        "target = Target(name='strange', run=sound, claim=Claim(PureDP(epsilon=1)),"
        " neighbours=strategies.integers().map(lambda number: os._exit(0)))"
    ),
    "neighbours that raise": (
        "from hypothesis import strategies\n"
        "target = Target(name='strange', run=sound, claim=Claim(PureDP(epsilon=1)),"
        " neighbours=strategies.integers().map(lambda number: 1 / 0))"
    ),
    "a wrong signature": "target = Target(name='strange', run=lambda: 1, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])",
    "a deep list": (
        "def deep(data, rng):\n    value = rng.laplace()\n    for _ in range(10**5): value = [value]\n    return value\n"
        "target = Target(name='strange', run=deep, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])"
    ),
    "a list that holds itself": (
        "def own(data, rng):\n    value = [rng.laplace()]\n    value.append(value)\n    return value\n"
        "target = Target(name='strange', run=own, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])"
    ),
    "an endless generator": (
        "def own(data, rng):\n    while True: yield rng.laplace()\n"
        "target = Target(name='strange', run=own, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])"
    ),
    "a sample that exits": "target = Target(name='strange', sample=lambda data, n, rng: os._exit(0), claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])",
    "an object that pickles into an exit": (
        "class Release:\n    def __call__(self, data, rng): return sound(data, rng)\n    def __reduce__(self): return (os._exit, (0,))\n"
        "target = Target(name='strange', run=Release(), claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])"
    ),
    "a number instead of a target": "target = 3",
    "no target at all": "",
}
"""Whole modules after the prelude."""


def module(kind: str, name: str) -> str:
    """The text of a module whose `target` is the strange one of that name."""
    table = {"deaths": DEATHS, "settings": SETTINGS, "imports": IMPORTS, "parts": OTHER_PARTS}[kind]
    body = table[name]
    if kind == "parts":
        return f"{PRELUDE}\n{body}\n"
    if kind == "imports":
        return f"{PRELUDE}\n{body}\nrelease = sound\n{POSTLUDE}"
    return f"{PRELUDE}\ndef release(data, rng):\n    {body}\n    return sound(data, rng)\n{POSTLUDE}"


CASES: Final = tuple(
    (kind, name)
    for kind, table in (("deaths", DEATHS), ("settings", SETTINGS), ("imports", IMPORTS), ("parts", OTHER_PARTS))
    for name in table
)
TUNED, HELD_OUT = CASES[::2], CASES[1::2]
