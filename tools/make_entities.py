"""Writes core/src/read/entities.txt: the named characters of HTML.

A name without code points stands for nothing in a text: a space, an arrow, punctuation.
"""

from __future__ import annotations

from html.entities import html5
from pathlib import Path

from chaffinch.reference import folding

TARGET = Path(__file__).parent.parent / "core" / "src" / "read" / "entities.txt"


def lines() -> list[str]:
    table = folding("text")
    named = {name.removesuffix(";"): text for name, text in html5.items()}
    return [
        " ".join([name, *(f"{ord(char):X}" for char in text if table.get(ord(char)))])
        for name, text in sorted(named.items())
    ]


if __name__ == "__main__":
    TARGET.write_text("\n".join(lines()) + "\n", encoding="ascii")
