"""Reports on disk: whole or not at all, and coded errors for what cannot be read or written."""

from __future__ import annotations

import os

import pytest

from dpaudit.errors import InvalidArgument
from dpaudit.report import read_report, to_json, write_html, write_json


def test_a_written_report_can_be_read(report, tmp_path):
    write_json(report, tmp_path / "report.json")
    assert report == read_report(tmp_path / "report.json")


def test_an_older_file_is_replaced_and_nothing_else_is_left(report, tmp_path):
    (tmp_path / "report.json").write_text("older")
    write_json(report, tmp_path / "report.json")
    assert [tmp_path / "report.json"] == list(tmp_path.iterdir())
    assert to_json(report) == (tmp_path / "report.json").read_text()


def test_what_cannot_be_written_leaves_the_older_file_alone(report, tmp_path, monkeypatch):
    (tmp_path / "report.json").write_text("older")
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(InvalidArgument, match=r"DPA503 .*No space left on device"):
        write_json(report, tmp_path / "report.json")
    assert "older" == (tmp_path / "report.json").read_text()
    assert [tmp_path / "report.json"] == list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [write_json, write_html])
@pytest.mark.parametrize("name", ["missing/report.json", "no\0where"])
def test_a_place_that_cannot_be_written_is_refused(report, tmp_path, write, name):
    with pytest.raises(InvalidArgument, match="DPA503"):
        write(report, tmp_path / name)


@pytest.mark.parametrize("name", ["missing.json", ".", "no\0where"])
def test_a_place_that_cannot_be_read_is_refused(tmp_path, name):
    with pytest.raises(InvalidArgument, match="DPA501"):
        read_report(tmp_path / name)
