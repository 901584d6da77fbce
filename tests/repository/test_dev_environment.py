"""Making `.venv`: once, anew when it must be, whole again after every accident, and by one process at a time."""

from __future__ import annotations

import errno
import importlib.util
import platform
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from devtools import environment
from devtools.environment import LOCK_NAME, Checkout, prepare
from devtools.exclusive import exclusive
from devtools.failures import SetupFailure, pip_failure
from devtools.quick import locked_entry, uv_settings
from devtools.stamp import read_stamp

EVERYTHING = ["create", "packages", "compile", "project"]


def test_the_first_command_makes_the_environment_and_the_next_ones_use_it(fake):
    for _ in range(3):
        prepare(fake.checkout)
    assert EVERYTHING == fake.steps


def test_a_ready_environment_costs_less_than_a_second(fake):
    prepare(fake.checkout)
    start = time.monotonic()
    prepare(fake.checkout)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(("changed", "steps"), [("requirements.lock", EVERYTHING), ("pyproject.toml", ["project"])])
def test_a_change_repeats_just_what_depends_on_it(fake, changed, steps):
    prepare(fake.checkout)
    with (fake.checkout.root / changed).open("a", encoding="utf-8") as file:
        file.write("\n")
    prepare(fake.checkout)
    assert [*EVERYTHING, *steps] == fake.steps


def test_another_interpreter_makes_it_anew(fake, monkeypatch):
    prepare(fake.checkout)
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.1")
    prepare(fake.checkout)
    assert EVERYTHING * 2 == fake.steps


def test_a_moved_checkout_makes_it_anew(fake):
    prepare(fake.checkout)
    moved = fake.checkout.root.with_name("moved")
    fake.checkout.root.rename(moved)
    fake.checkout = Checkout(moved)
    prepare(fake.checkout)
    assert EVERYTHING * 2 == fake.steps


def remove_python(place: Path) -> None:
    (place / "bin" / "python").unlink()


def break_python(place: Path) -> None:
    (place / "bin" / "python").write_text("#!/nowhere/python\n", encoding="utf-8")


def stop_python(place: Path) -> None:
    (place / "bin" / "python").write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")


def remove_package(place: Path) -> None:
    shutil.rmtree(place / "lib" / "python3.11" / "site-packages" / "packages-1.dist-info")


def spoil_stamp(place: Path) -> None:
    (place / "stamp.json").write_text("{", encoding="utf-8")


def remove_everything(place: Path) -> None:
    shutil.rmtree(place)


@pytest.mark.parametrize("accident", [remove_python, break_python, stop_python, remove_package, spoil_stamp, remove_everything])
def test_a_broken_environment_is_made_anew(fake, accident):
    prepare(fake.checkout)
    accident(fake.checkout.environment)
    prepare(fake.checkout)
    assert EVERYTHING * 2 == fake.steps
    prepare(fake.checkout)
    assert EVERYTHING * 2 == fake.steps


UV_IS_LOCKED = "one==1 \\\n    --hash=sha256:00\nuv==2 \\\n    --hash=sha256:01 \\\n    --hash=sha256:02\nuvloop==3\n"


@pytest.fixture
def with_uv(fake, monkeypatch):
    """A checkout whose lock file has uv, in an environment of the process that has settings for pip and for uv."""
    (fake.checkout.root / "requirements.lock").write_text(UV_IS_LOCKED, encoding="utf-8")
    monkeypatch.setattr(environment, "_create", lambda checkout: (fake.create(checkout), fake.program("uv", fake.uv_ends_with)))
    return fake


def test_uv_installs_the_packages_where_it_is_locked(with_uv):
    prepare(with_uv.checkout)
    assert ["create", "uv", "compile", "project"] == with_uv.steps
    assert "uv==2 \\\n    --hash=sha256:01 \\\n    --hash=sha256:02\n" == (with_uv.checkout.environment / "uv.txt").read_text(
        encoding="utf-8"
    )
    (call,) = [call for call in with_uv.calls if call.startswith("uv in")]
    assert "pip install --no-config --python" in call
    assert "--require-hashes --only-binary :all: -r" in call


def test_pip_installs_them_where_uv_fails(with_uv):
    with_uv.uv_ends_with = 2
    prepare(with_uv.checkout)
    assert ["create", "uv", "packages", "compile", "project"] == with_uv.steps


def test_pip_installs_them_where_there_is_no_uv(with_uv):
    with_uv.fail["uv"] = SetupFailure("no wheel of uv for this platform")
    prepare(with_uv.checkout)
    assert ["create", "uv", "packages", "compile", "project"] == with_uv.steps


@pytest.mark.parametrize("package", ["two", "uvlo", "o"])
def test_a_package_that_is_not_locked_has_no_entry(package):
    assert "" == locked_entry(UV_IS_LOCKED, package)


def test_an_entry_ends_where_the_next_begins():
    assert "one==1 \\\n    --hash=sha256:00\n" == locked_entry(UV_IS_LOCKED, "one")
    assert "uvloop==3\n" == locked_entry(UV_IS_LOCKED, "uvloop")


def test_uv_asks_the_index_that_pip_asks():
    listed = (
        ":env:.index-url='https://own.example/wheels'\n:env:.default-timeout='20'\n"
        "global.index-url='https://other.example/wheels'\nglobal.find-links='a b'\nglobal.cert='/own.pem'\ninstall.no-index='1'\n"
    )
    assert {
        "UV_DEFAULT_INDEX": "https://own.example/wheels",
        "UV_FIND_LINKS": "a,b",
        "UV_NO_INDEX": "1",
        "SSL_CERT_FILE": "/own.pem",
    } == uv_settings(listed)
    assert {} == uv_settings("")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SetupFailure("pip failed")])
@pytest.mark.parametrize(
    ("step", "repeated"), [("create", EVERYTHING), ("packages", EVERYTHING), ("compile", EVERYTHING), ("project", ["project"])]
)
def test_an_interrupted_set_up_never_passes_for_a_finished_one(fake, step, repeated, error):
    fake.fail[step] = error
    with pytest.raises(type(error)):
        prepare(fake.checkout)
    done = list(fake.steps)
    prepare(fake.checkout)
    assert [*done, *repeated] == fake.steps
    prepare(fake.checkout)
    assert [*done, *repeated] == fake.steps


def test_an_interrupted_reinstall_of_the_project_is_repeated(fake):
    prepare(fake.checkout)
    with (fake.checkout.root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n")
    fake.fail["project"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        prepare(fake.checkout)
    prepare(fake.checkout)
    assert [*EVERYTHING, "project", "project"] == fake.steps


def test_what_another_tool_left_in_its_place_is_cleared(fake):
    old = fake.checkout.environment / "lib" / "python3.8" / "old.py"
    old.parent.mkdir(parents=True)
    old.touch()
    prepare(fake.checkout)
    assert not old.exists()
    assert EVERYTHING == fake.steps


def test_a_file_in_its_place_is_replaced(fake):
    fake.checkout.environment.touch()
    prepare(fake.checkout)
    assert fake.checkout.environment.is_dir()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_its_place_is_replaced_and_what_it_points_to_is_left_alone(fake, exists):
    elsewhere = fake.checkout.root / "elsewhere"
    if exists:
        elsewhere.mkdir()
        (elsewhere / "precious").touch()
    fake.checkout.environment.symlink_to(elsewhere)
    prepare(fake.checkout)
    assert not fake.checkout.environment.is_symlink()
    assert exists is (elsewhere / "precious").exists()


def test_several_at_once_make_it_once(fake, monkeypatch):
    said: list[str] = []
    everyone_else_waits = threading.Event()

    def say(text):
        said.append(text)
        if 3 == said.count("another process is setting up .venv; waiting for it"):
            everyone_else_waits.set()

    def create_when_the_others_wait(checkout):
        assert everyone_else_waits.wait(timeout=60)
        fake.create(checkout)

    monkeypatch.setattr(environment, "_say", say)
    monkeypatch.setattr(environment, "_create", create_when_the_others_wait)
    threads = [threading.Thread(target=prepare, args=(fake.checkout,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert EVERYTHING == fake.steps


def test_a_killed_process_leaves_no_lock_behind(fake):
    place = fake.checkout.environment
    place.mkdir()
    code = "import sys\nfrom pathlib import Path\nfrom devtools.exclusive import exclusive\n"
    code += "with exclusive(Path(sys.argv[1]), print):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    command = [sys.executable, "-c", code, str(place / LOCK_NAME)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert "held\n" == holder.stdout.readline()
        waited: list[bool] = []
        with exclusive(place / LOCK_NAME, lambda: (waited.append(True), holder.kill()), pause=0.01):
            assert [True] == waited


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.EROFS, "copy the checkout to a folder that you may write to"),
        (errno.EACCES, "copy the checkout to a folder that you may write to"),
        (errno.EPERM, "copy the checkout to a folder that you may write to"),
        (errno.ENOSPC, "the disk is full"),
        (errno.EIO, "repair that and repeat the command"),
    ],
)
def test_a_checkout_that_cannot_be_written_gives_one_sentence(fake, monkeypatch, number, says):
    def refuse(self, *arguments, **options):
        raise OSError(number, "refused", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SetupFailure, match=says) as failure:
        prepare(fake.checkout)
    assert "\n" not in str(failure.value)
    assert [] == fake.steps


def test_a_ready_environment_in_a_read_only_checkout_is_used(fake, monkeypatch):
    prepare(fake.checkout)

    def refuse(self, *arguments, **options):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    for method in ("mkdir", "write_text", "touch", "unlink", "replace"):
        monkeypatch.setattr(Path, method, refuse)
    prepare(fake.checkout)
    assert EVERYTHING == fake.steps


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_or_ensurepip_is_told_what_to_install(fake, monkeypatch, missing):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    with pytest.raises(SetupFailure, match="apt install python3-venv"):
        prepare(fake.checkout)
    assert not fake.checkout.environment.exists()


def test_a_python_whose_venv_fails_is_named_with_its_last_words(fake, monkeypatch, script):
    monkeypatch.undo()
    monkeypatch.setattr(sys, "_base_executable", str(script("echo first; echo the last words >&2; exit 1")))
    with pytest.raises(SetupFailure, match="the last words"):
        prepare(fake.checkout)
    assert read_stamp(fake.checkout.stamp) is None


REFUSED = """WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by \
'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: \
[Errno -3] Temporary failure in name resolution')': /simple/click/
ERROR: Could not find a version that satisfies the requirement click==8.5.1 (from versions: none)
ERROR: No matching distribution found for click==8.5.1"""
UNTRUSTED = """WARNING: Retrying after connection broken by 'SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]')'
ERROR: No matching distribution found for click==8.5.1"""
NO_WHEEL = """ERROR: Could not find a version that satisfies the requirement python-flint==0.9.0 (from versions: none)
ERROR: No matching distribution found for python-flint==0.9.0"""
CHANGED = """ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.
    click==8.5.1 from file:///c.whl"""
FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
OTHER = """something before
ERROR: Invalid requirement: 'one two'
[notice] A new release of pip is available"""


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (REFUSED, "the package index cannot be reached; connect to the network"),
        (UNTRUSTED, "name your network's certificate file in PIP_CERT"),
        (NO_WHEEL, "no ready-made wheel of python-flint==0.9.0 for this Python"),
        (CHANGED, "nothing was installed"),
        (FULL, "the disk is full"),
        (OTHER, "Invalid requirement: 'one two'"),
        ("", "no message"),
    ],
)
def test_each_known_failure_of_pip_is_one_sentence_with_its_remedy(output, says):
    sentence = str(pip_failure(output.splitlines(), Path("setup.log")))
    assert says in sentence
    assert "repeat the command" in sentence or "use CPython" in sentence
    assert "\n" not in sentence
