"""Records from CSV files: types by column, exact refusals, and never a value in a message."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import DpauditError, TargetFailure
from dpaudit.plain import records
from dpaudit.plain.records import read_csv


@pytest.fixture
def read(tmp_path):
    """Read what is given as the content of a file."""

    def read(content):
        path = tmp_path / "people.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_csv(path)

    return read


def test_columns_get_the_narrowest_type_that_all_their_cells_have(read):
    found = read("age,height,city\n31,1.80,Turin\n-4,2,7\n")
    assert ({"age": 31, "height": 1.8, "city": "Turin"}, {"age": -4, "height": 2.0, "city": "7"}) == found
    assert [int, float, str] == [type(value) for value in found[1].values()]


def test_empty_and_blank_cells_are_none_and_do_not_decide_the_type(read):
    assert ({"age": None, "city": None}, {"age": 3, "city": " x "}) == read("age,city\n,  \n 3 , x \n")


def test_a_column_without_any_value_is_all_none(read):
    assert ({"a": None, "b": 1},) == read("a,b\n,1\n")


@pytest.mark.parametrize(
    "word", ["nan", "inf", "-inf", "1e999", "0x10", "1_000", "1,5", "\u0663", "1.2.3", ".", "e5", "True", "--1"]
)
def test_words_that_only_look_like_numbers_stay_text(read, word):
    assert word == read(f'a,b\n"{word}",1\n')[0]["a"]
    assert "1" == read(f'a\n"{word}"\n1\n')[1]["a"]


@pytest.mark.parametrize(
    ("cell", "value"), [("007", 7), ("+5", 5), ("9" * 30, int("9" * 30)), (".5", 0.5), ("5.", 5.0), ("1E-3", 0.001)]
)
def test_numerals_of_every_form_are_numbers(read, cell, value):
    (found,) = read(f"a\n{cell}\n")[0].values()
    assert (type(value), value) == (type(found), found)


def test_quotes_line_ends_and_byte_order_marks_are_understood(read):
    assert ({"na,me": "a\nb", "q": 'say "x"'},) == read(b'\xef\xbb\xbf"na,me",q\r\n"a\nb","say ""x"""\r\n')


def test_lines_without_any_character_are_skipped(read):
    assert ({"a": 1}, {"a": 2}) == read("a\n\n1\n\n2\n\n")


def test_a_quoted_empty_cell_of_a_single_column_is_a_record(read):
    assert ({"a": 1}, {"a": None}) == read('a\n1\n""\n')


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "no records"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, the header has 2"),
        ('a,b\n"x\ny",2\n3,4,5\n', "line 4 has 3 cells, the header has 2"),
        ("a,,b\n1,2,3\n", "column 2 of the header in line 1 has no name"),
        ("a, \n1,2\n", "column 2 of the header in line 1 has no name"),
        ("a,b,a\n1,2,3\n", "column 3 of the header in line 1 has a name that was given before"),
        ('a\n"x\n', "has a broken quote"),
        ('a\n"x"y\n', "line 2 has a broken quote"),
        (b"a\nx\n\xff\n", "line 3 is not UTF-8"),
        (b"a\n\0\n", "line 2 is not UTF-8 or has a NUL"),
        ("a\n" + "x" * 200_000 + "\n", "a cell that is too long"),
        (",".join(f"c{place}" for place in range(5000)) + "\n", "it has 5000 columns, allowed are 4096"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(read, content, part):
    with pytest.raises(TargetFailure, match="DPA406") as caught:
        read(content)
    assert part in str(caught.value)


def test_a_refusal_never_shows_the_content(read):
    with pytest.raises(TargetFailure) as caught:
        read("name,illness\nAda,gout\nBob,flu,extra\n")
    assert not {"Ada", "gout", "Bob", "flu", "extra", "name", "illness"} & set(str(caught.value).replace(",", " ").split())


def test_a_file_that_is_missing_or_a_folder_is_refused(tmp_path):
    for path in (tmp_path / "missing.csv", tmp_path, "no\0where"):
        with pytest.raises(TargetFailure, match="DPA406"):
            read_csv(path)


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed(read, monkeypatch):
    monkeypatch.setattr(records, "LARGEST_FILE", 10)
    with pytest.raises(TargetFailure, match=r"DPA406 .*larger than"):
        read("a,b\n1,2\n3,4\n")


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
names = st.lists(cells.filter(str.strip), min_size=1, max_size=4, unique=True)


@settings(max_examples=150)
@given(data=st.data(), header=names)
def test_what_csv_writes_is_read_back_up_to_types(data, header, tmp_path_factory):
    rows = data.draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), min_size=1, max_size=5))
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    path = tmp_path_factory.getbasetemp() / "round.csv"
    path.write_text(text.getvalue(), encoding="utf-8-sig", newline="")
    found = read_csv(path)
    assert [header] * len(rows) == [list(record) for record in found]
    for record, row in zip(found, rows, strict=True):
        for value, cell in zip(record.values(), row, strict=True):
            assert (None if not cell.strip() else cell if isinstance(value, str) else type(value)(cell)) == value


@settings(max_examples=300)
@given(content=st.binary(max_size=80) | st.text(alphabet='a1,."\n\r -+e\0', max_size=40).map(str.encode))
def test_any_bytes_are_records_or_refused_with_a_code(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    try:
        found = read_csv(path)
    except DpauditError as error:
        assert "DPA406" == error.code  # noqa: PT017 - either outcome is right
    else:
        assert found
        assert all(list(found[0]) == list(record) for record in found)
