"""The program as a process: what it imports, signals, closed pipes, terminals, and targets that write past Python."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpaudit.report import evidence_bytes, from_json

COMMAND = [sys.executable, "-m", "dpaudit"]
ROOT = str(Path(__file__).resolve().parents[2])
PLAIN = {**os.environ, "PYTHONPATH": ROOT, "PYTHONWARNINGS": "error", "COLUMNS": "120"}

NOISY_WORKERS = """
import os
from dpaudit import Claim, PureDP, Target


def release(data, count, rng):
    os.write(1, b"straight to the file descriptor")
    print("through Python", flush=True)
    return data + rng.laplace(scale=0.3, size=count)


target = Target(name="noisy", claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)], sample=release)
"""


def run(*arguments, **options):
    """Run the program and give its exit code, stdout and stderr."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, env=PLAIN, timeout=100, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_nothing_slow(argument):
    program = (
        "import sys; from dpaudit.cli import main\n"
        f"try: main([{argument!r}])\n"
        "except SystemExit: pass\n"
        "slow = {'numpy', 'scipy', 'flint', 'rich', 'jinja2', 'matplotlib', 'hypothesis', 'sklearn', 'cryptography'}\n"
        "print(sorted(slow & set(sys.modules)), sorted(name for name in sys.modules if name.startswith('dpaudit.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=PLAIN)
    assert (
        "[] ['dpaudit.cli', 'dpaudit.cli.console', 'dpaudit.errors', 'dpaudit.lazy', 'dpaudit.origins']"
        == done.stdout.splitlines()[-1]
    )


def test_a_json_report_costs_no_plots():
    program = (
        "import sys; import dpaudit.report as report; report.to_json; report.read_report\n"
        "print(sorted({'matplotlib', 'jinja2', 'rich', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=PLAIN)
    assert "[]\n" == done.stdout


def test_the_module_runs_as_a_program():
    code, out, err = run("explain", "DPA104")
    assert (0, "") == (code, err)
    assert out.startswith("DPA104")


def test_exit_codes_reach_the_shell(folder):
    assert 2 == run("audit", "releases.py:sound", "--alpha", "7")[0]
    assert 4 == run("audit", "missing.py:x")[0]
    assert 1 == run("audit", "releases.py:broken", "--runs", "2000")[0]


def test_stdout_holds_the_document_alone_even_when_workers_print(folder):
    (folder / "noisy.py").write_text(NOISY_WORKERS)
    documents = []
    for jobs in ("1", "2"):
        code, out, err = run("audit", "noisy.py:target", "--runs", "2000", "--json", "--jobs", jobs)
        assert 1 == code
        assert "straight to the file descriptor" in err
        documents.append(evidence_bytes(from_json(out)))
    assert documents[0] == documents[1]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_leaves_a_report_and_exit_code_3(folder, jobs):
    (folder / "slow.py").write_text(
        NOISY_WORKERS.replace('    os.write(1, b"straight to the file descriptor")\n', "    import time; time.sleep(0.05)\n")
    )
    arguments = ["audit", "slow.py:target", "--alpha", "1e-100", "--runs", "90000000", "--json", "--report", "out", "--jobs", jobs]
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN, text=True, start_new_session=True
    )
    line = process.stderr.readline()
    assert "through Python" in line
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert 3 == process.returncode
    assert "Traceback" not in err
    assert json.loads(out)["evidence"]["complete"] is False
    assert json.loads((folder / "out/report.json").read_text())["evidence"]["complete"] is False


def test_a_reader_that_has_seen_enough_does_not_change_the_exit_code(folder):
    command = [*COMMAND, "audit", "releases.py:broken", "--runs", "2000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN) as process:
        process.stdout.close()
        err = process.stderr.read()
        assert 1 == process.wait(timeout=60)
    assert b"BrokenPipe" not in err
    assert b"Traceback" not in err


def test_an_ascii_terminal_gets_ascii(folder):
    (folder / "names.py").write_text(
        (folder / "releases.py").read_text().replace('"broken"', '"gr\u00f6\u00dfe"'), encoding="utf-8"
    )
    environment = PLAIN | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*COMMAND, "audit", "names.py:broken", "--runs", "2000"], capture_output=True, check=False, env=environment
    )
    assert 1 == done.returncode
    assert done.stdout.isascii()
    assert b"gr\\xf6\\xdfe" in done.stdout


def on_a_terminal(*arguments, **environment):
    """Run the program with stdout and stderr on a terminal; its exit code and everything that the terminal got."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=follower, stderr=follower, env=PLAIN | {"TERM": "xterm"} | environment
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(leader)
    return process.wait(timeout=60), seen.decode()


def test_a_terminal_gets_a_progress_bar_and_colours(folder):
    code, seen = on_a_terminal("audit", "releases.py:broken", "--runs", "2000")
    assert 1 == code
    assert "1/1 broken:" in seen
    assert "\x1b[1;31mREFUTED" in seen


def test_no_color_is_honoured(folder):
    code, seen = on_a_terminal("audit", "releases.py:broken", "--runs", "2000", NO_COLOR="1")
    assert 1 == code
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", seen)
    assert "refuted" in seen


def test_a_pipe_gets_no_progress_bar(folder):
    code, out, err = run("audit", "releases.py:broken", "--runs", "2000")
    assert 1 == code
    assert "\x1b" not in out + err
    assert "1/1" not in err


def test_a_broken_claim_is_refuted_in_seconds(folder):
    start = time.monotonic()
    assert 1 == run("audit", "releases.py:broken")[0]
    assert time.monotonic() - start < 60
