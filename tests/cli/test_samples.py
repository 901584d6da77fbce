"""`dpaudit samples`: two files of outputs in any of its forms, refusals that quote nothing, and every form of report."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

ROWS = 2000


@pytest.fixture
def values(folder):
    """Outputs of a count with half the noise it needs, on two neighbouring datasets."""
    rng = np.random.default_rng(1)
    return {name: mean + rng.laplace(0, 0.5, ROWS) for name, mean in (("first", 41), ("second", 42))}


def _lines(path, lines):
    """Write a text file."""
    path.write_text("".join(f"{line}\n" for line in lines))


WRITERS = {
    "npy": np.save,
    "npz": lambda path, part: np.savez(path, part=part, size=np.zeros((len(part), 2))),
    "csv": lambda path, part: _lines(path, ["run,mean,unit", *(f"{run},{one},years" for run, one in enumerate(part))]),
    "semicolons.csv": lambda path, part: _lines(path, ["mean;unit", *(f"{one:.4f}; years".replace(".", ",") for one in part)]),
    "tsv": lambda path, part: _lines(path, (f"{one}\t1" for one in part)),
    "parquet": lambda path, part: pd.DataFrame({"mean": part, "unit": "years"}).to_parquet(path),
    "json": lambda path, part: path.write_text(json.dumps(part.tolist())),
    "jsonl": lambda path, part: _lines(path, (json.dumps({"mean": one, "unit": ["years"]}) for one in part)),
    "log": lambda path, part: _lines(path, (f"the mean is {one:.4f} years" for one in part)),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_a_leak_is_found_in_files_of_every_form(dpaudit, folder, values, ending):
    for name, part in values.items():
        WRITERS[ending](folder / f"{name}.{ending}", part)
    found = dpaudit("samples", f"first.{ending}", f"second.{ending}", "--epsilon", 1)
    assert 1 == found.exit_code, found.stderr
    assert "epsilon is at least 1." in found.stdout
    assert "41" not in found.stdout.replace(",", "").split()


def test_the_exit_codes_are_those_of_an_audit(dpaudit, values):
    for name, part in values.items():
        np.save(f"{name}.npy", part)
    assert 1 == dpaudit("samples", "first.npy", "second.npy", "--epsilon", 1).exit_code
    assert 0 == dpaudit("samples", "first.npy", "second.npy", "--epsilon", "2.5", "--alpha", "0.2").exit_code
    assert 3 == dpaudit("samples", "first.npy", "second.npy", "--epsilon", 3).exit_code
    assert 2 == dpaudit("samples", "first.npy", "second.npy").exit_code
    assert 4 == dpaudit("samples", "first.npy", "missing.npy", "--epsilon", 1).exit_code


def test_every_form_of_report_is_written_and_shown_again(dpaudit, folder, values):
    for name, part in values.items():
        np.save(f"{name}.npy", part)
    options = ["--delta", "1e-6", "--adjacency", "replace_one", "--report", "out", "--junit", "j.xml", "--sarif", "s.sarif"]
    found = dpaudit("samples", "first.npy", "second.npy", "--epsilon", 1, *options, "--json")
    assert 1 == found.exit_code, found.stderr
    [result] = json.loads(found.stdout)["evidence"]["results"]
    assert {"names": ["first.npy", "second.npy"], "rows": [ROWS, ROWS]} == {
        key: value for key, value in result["samples"].items() if key != "used"
    }
    assert json.loads(found.stdout)["evidence"] == json.loads((folder / "out/report.json").read_text())["evidence"]
    assert all((folder / name).is_file() for name in ("out/index.html", "j.xml", "s.sarif"))
    again = dpaudit("report", "out/report.json#samples")
    assert 0 == again.exit_code
    assert "the rows of first.npy against those of second.npy" in again.stdout.lower()
    assert "its outputs were collected elsewhere" in dpaudit("replay", "out/report.json").stdout


REFUSED = {
    "a.npy": lambda path: np.save(path, np.array([{"secret": 41}] * 9, dtype=object), allow_pickle=True),
    "b.npy": lambda path: path.write_bytes(b"secret"),
    "a.npz": lambda path: np.savez(path, part=np.array(["secret", None], dtype=object)),
    "b.npz": lambda path: path.write_bytes(b"secret"),
    "a.csv": lambda path: _lines(path, ["a,b", "secret,1", "secret"]),
    "b.csv": lambda path: _lines(path, ["a,b", '"secret,1']),
    "a.jsonl": lambda path: _lines(path, ['{"a": 1}', "secret"]),
    "a.json": lambda path: path.write_text('{"secret": 1}'),
    "a.parquet": lambda path: path.write_bytes(b"secret"),
    "a.txt": lambda path: path.write_bytes(b"good\nsecret\xff"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_refused_without_its_content(dpaudit, folder, name):
    REFUSED[name](folder / name)
    found = dpaudit("samples", name, name, "--epsilon", 1)
    assert 4 == found.exit_code
    assert "DPA406" in found.stderr
    assert "secret" not in found.stdout + found.stderr


def test_headers_must_agree_and_are_not_quoted(dpaudit, folder):
    for name, header in (("first.csv", "mean,secret"), ("second.csv", "mean,other")):
        _lines(folder / name, [header, *["1,2"] * 900])
    found = dpaudit("samples", "first.csv", "second.csv", "--epsilon", 1)
    assert 2 == found.exit_code
    assert "part 2 of the rows" in found.stderr
    assert "secret" not in found.stderr


@pytest.mark.parametrize("content", ["", "only,a,header\n"])
def test_a_file_without_outputs_is_refused(dpaudit, folder, content):
    (folder / "first.csv").write_text(content)
    found = dpaudit("samples", "first.csv", "first.csv", "--epsilon", 1)
    assert 2 == found.exit_code
    assert "DPA109 first.csv holds no outputs" in found.stderr
