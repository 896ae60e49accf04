"""Write core/src/read/entities.txt: the named characters of HTML, with their code points."""

from __future__ import annotations

from html.entities import html5
from pathlib import Path

TARGET = Path(__file__).parent.parent / "core" / "src" / "read" / "entities.txt"


def lines() -> list[str]:
    named = {name.removesuffix(";"): text for name, text in html5.items()}
    return [" ".join([name, *(f"{ord(char):X}" for char in text)]) for name, text in sorted(named.items())]


if __name__ == "__main__":
    TARGET.write_text("\n".join(lines()) + "\n", encoding="ascii")
