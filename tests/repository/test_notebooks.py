"""The notebooks among the pages show what their code prints, the .ipynb files hold the same, and a difference is found."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from devtools import notebooks
from devtools.notebooks import Cell

LONGEST = 900
AGAIN = "the page shows something else; run `python -m devtools.notebooks`"
PAGE = """# A page

```python
print(6 * 7)
```

```text
42
```

In between.

```python
import random

print("drawn:", random.random())
```

```text noisy
drawn: 0.25
```

```python
# answer.py
print("an answer")
```

```console
$ answer
$ answer --again
```

```text
an answer
an answer
```
"""


def cells_of(page: Path) -> list[Cell]:
    return notebooks.read_cells(page.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of notebooks with one page."""
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda page: page.stem)
def test_a_notebook_shows_what_its_cells_print(page):
    cells = cells_of(page)
    printed = notebooks.execute(cells, page.parent)
    assert [] == [new.shown for old, new in zip(cells, printed, strict=True) if not old.agrees(new.shown)], AGAIN


@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda page: page.stem)
def test_the_file_for_jupyter_is_made_from_the_page(page):
    assert notebooks.to_notebook(cells_of(page)) == page.with_suffix(".ipynb").read_text(encoding="utf-8"), AGAIN


@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda page: page.stem)
def test_a_notebook_is_short_and_most_of_its_cells_print(page):
    cells = cells_of(page)
    assert LONGEST >= len(page.read_text(encoding="utf-8").split())
    assert 5 <= sum(bool(cell.shown) for cell in cells)


def test_a_page_is_the_sum_of_its_cells():
    cells = notebooks.read_cells(PAGE)
    assert PAGE == notebooks.to_page(cells)
    assert ["prose", "python", "prose", "python", "prose", "python", "prose", "console", "prose"] == [cell.kind for cell in cells]
    assert ["42\n", "drawn: 0.25\n", "an answer\nan answer\n"] == [cell.shown for cell in cells if cell.shown]
    assert [3] == [place for place, cell in enumerate(cells) if cell.noisy]


def test_cells_share_names_and_write_files_where_they_run(tmp_path):
    before = Path.cwd(), tempfile.tempdir
    source = "import os, tempfile\n\nos.chdir(tempfile.mkdtemp())\nplace = os.getcwd()\n"
    cells = [
        Cell("python", source),
        Cell("python", "# made.py\nprint('made')\n"),
        Cell("python", "print(place == os.getcwd())\n"),
        Cell("console", "$ made\n"),
    ]
    assert ["", "", "True\n", "made\n"] == [cell.shown for cell in notebooks.execute(cells, tmp_path)]
    assert before == (Path.cwd(), tempfile.tempdir)
    assert [] == list(tmp_path.iterdir())


def test_an_error_of_a_cell_ends_the_run_where_it_began(tmp_path):
    before = Path.cwd()
    with pytest.raises(ZeroDivisionError):
        notebooks.execute([Cell("python", "1 / 0\n")], tmp_path)
    assert before == Path.cwd()


def test_a_command_shows_its_errors_and_no_durations(tmp_path):
    (tmp_path / "slow.py").write_text("import sys\nprint('1 passed in 0.25s')\nsys.exit('refused')\n", encoding="utf-8")
    (ran,) = notebooks.execute([Cell("console", "$ slow\n")], tmp_path)
    assert "1 passed\nrefused\n" == ran.shown


@pytest.mark.parametrize(
    ("shown", "noisy", "printed", "agree"),
    [
        ("epsilon 1\n", False, "epsilon 1\n", True),
        ("epsilon 1\n", False, "epsilon 2\n", False),
        ("mean: 38.0 minutes\n", True, "mean:  -4 minutes\n", True),
        ("mean: 38.0 minutes\n", True, "median: 38.0 minutes\n", False),
        ("{'A': 102, 'B': 100}\n", True, "{'A': 99, 'B': -3}\n", True),
        ("{'A': 102, 'B': 100}\n", True, "{'A': 102}\n", False),
        (f"head 10:{'a1' * 32}\n", True, f"head 10:{'9f' * 32}\n", True),
        ("", True, "an error\n", False),
    ],
)
def test_what_is_shown_agrees_with_what_is_printed_apart_from_drawn_numbers(shown, noisy, printed, agree):
    assert agree is Cell("python", "", shown, noisy).agrees(printed)


def test_a_run_writes_what_is_printed_now_and_keeps_drawn_numbers(folder):
    wrong = PAGE.replace("```text\n42", "```text\n41")
    (folder / "page.md").write_text(wrong, encoding="utf-8")
    assert 0 == notebooks.main()
    text = (folder / "page.md").read_text(encoding="utf-8")
    assert "```text\n42\n```" in text
    assert "drawn: 0.25" in text
    assert 0 == notebooks.main()
    assert text == (folder / "page.md").read_text(encoding="utf-8")


def test_the_file_for_jupyter_has_the_cells_in_the_form_of_jupyter(folder):
    document = json.loads(notebooks.to_notebook(notebooks.read_cells(PAGE)))
    assert (4, 5) == (document["nbformat"], document["nbformat_minor"])
    cells = document["cells"]
    assert ["markdown", "code", "markdown", "code", "code", "code"] == [cell["cell_type"] for cell in cells]
    assert len(cells) == len({cell["id"] for cell in cells})
    assert ["# A page"] == cells[0]["source"]
    assert [{"name": "stdout", "output_type": "stream", "text": ["42\n"]}] == cells[1]["outputs"]
    assert ["%%writefile answer.py\n", 'print("an answer")'] == cells[4]["source"]
    assert ["!answer\n", "!answer --again"] == cells[5]["source"]
