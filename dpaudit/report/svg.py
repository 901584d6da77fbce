"""SVG elements of a page, and as files of their own: named for those who cannot see them, in colours that the page decides."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Final

# Variables of the page, so that drawings follow a light or dark scheme.
INK: Final = "ink"
QUIET: Final = "quiet"
CLAIM: Final = "claim"
PRICE: Final = "price"
ATTACK: Final = "attack"


def element(view: str, body: str, *, title: str, description: str, key: str, names: str = "") -> str:
    """An SVG element with a title and a description; `view` is its view box, `key` begins every id, `names` are more namespaces.

    Source: WAI-ARIA graphics: role img with a name and a description.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg"{names} viewBox="{view}" class="plot" role="img" '
        f'aria-labelledby="{key}-title {key}-description"><title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-description">{escape(description)}</desc>{body}</svg>'
    )


def alone(element: str) -> str:
    """An element as a file of its own: on white paper, in the page's colours for a light scheme.

    Source: the colours are those of templates/page.css.
    """
    page = (Path(__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    light = page[: page.index("@media")]
    colours = "".join(f"--{name}:{value};" for name, value in re.findall(r"--(\w+): *(#\w+)", light))
    head, end, rest = element.partition("</desc>")
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    return f"{head}{end}<style>svg{{{colours}font-family:sans-serif;stroke-linejoin:round}}</style>{paper}{rest}\n"
