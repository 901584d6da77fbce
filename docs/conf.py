"""How the documentation is built: `python3 dev docs` makes HTML of the pages in this folder, with every warning an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from devtools.site import TABLES, write_redirects
from dpaudit import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER: Final = Path(__file__).resolve().parent

project = "dpaudit"
release = version = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md"]  # index.md includes it, and its tables are the table of contents
myst_heading_anchors = 4

default_role = "code"
autodoc_default_options = {"members": True, "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request"}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Source"]
# Signatures name types of other libraries, and our own that are not public; neither has a page here.
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_title = "dpaudit"
html_copy_source = False
html_show_sphinx = False


def plain_text(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Docstrings are plain text: `|`, `*` and a final `_` mean themselves, and a source on its heading's line is a section."""
    shown: list[str] = []
    for line in lines:
        source = re.fullmatch(r"( *)Source: (.+)", line)
        shown += [source[1] + "Source:", f"{source[1]}  {source[2]}"] if source else [line]
    in_example = False
    for place, line in enumerate(shown):
        in_example = line.lstrip().startswith(">>> ") or (in_example and bool(line.strip()))
        if not in_example:
            parts = re.split(r"(`[^`]*`)", line)
            shown[place] = "".join(part if part.startswith("`") else re.sub(r"([|*]|_\b)", r"\\\1", part) for part in parts)
    lines[:] = shown


def files_beside(_app: Sphinx, docname: str, text: list[str]) -> None:
    """Links to files of the checkout outside this folder become downloads; images are copied anyway."""
    here = (FOLDER / docname).parent

    def outside(found: re.Match[str]) -> str:
        return found[0] if (here / found[2]).resolve().is_relative_to(FOLDER) else f"{found[1]}(<path:{found[2]}>)"

    text[0] = re.sub(r"((?<!!)\[[^][]*\])\((\.\./[^)#\s]+)\)", outside, text[0])


def tables(_app: Sphinx, _docname: str, text: list[str]) -> None:
    """Put the tables that are made from data where a page names them."""
    text[0] = re.sub(r"^<!-- table: (\w+) -->$", lambda found: TABLES[found[1]](), text[0], flags=re.MULTILINE)


def pages_with_tables(_app: Sphinx, *_changed: object) -> list[str]:
    """Read pages with such tables every time: the data change without the page."""
    return [page.stem for page in FOLDER.glob("*.md") if "<!-- table: " in page.read_text(encoding="utf-8")]


def redirects(app: Sphinx, exception: Exception | None) -> None:
    """Write a page for every old address."""
    if exception is None and app.builder.format == "html":
        write_redirects(Path(app.outdir), app.env.found_docs)


def contents(_app: Sphinx, docname: str, text: list[str]) -> None:
    """Make the table of contents beside every page from the sections and rows of README.md."""
    if docname == "index":
        index = (FOLDER / "README.md").read_text(encoding="utf-8")
        for section in index.split("\n## ")[1:]:
            entries = re.findall(r"^\| \[([^]]*)\]\(([\w/]+)\.md\) \|", section, flags=re.MULTILINE)
            lines = [":hidden:", f':caption: "{section.splitlines()[0]}"', "", *(f"{title} <{page}>" for title, page in entries)]
            text[0] += "\n".join(["\n```{toctree}", *lines, "```\n"])


def setup(app: Sphinx) -> None:
    """Connect these functions to Sphinx."""
    app.connect("autodoc-process-docstring", plain_text, priority=400)  # before napoleon
    app.connect("source-read", tables)
    app.connect("env-get-outdated", pages_with_tables)
    app.connect("build-finished", redirects)
    app.connect("source-read", files_beside)
    app.connect("source-read", contents)
