"""Bad conversion hides nothing from a koala index: the same text in every format, and damaged by scanning."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from chaffinch import File
from chaffinch.index.index import Index
from tests.koalas import CONTENTS, maker, named
from tests.made import FORMAT_PARAMETERS, FORMATS, lines, prose

ORIGINAL = prose(60)
_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
_MISREAD = {"rn": "m", "cl": "d", "h": "b", "e": "c", "l": "1", "o": "0", "s": "5", "i": "l", "u": "v"}


@pytest.fixture(scope="module", params=CONTENTS)
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The original among others that are made of the same words."""
    with pytest.MonkeyPatch.context() as patch:
        made = maker(tmp_path_factory.mktemp("noise"), patch)(content=request.param)
    others = [prose(60, seed) for seed in range(100, 115)]
    made.add(File(f"other{i}.txt", FORMATS["txt"](other)) for i, other in enumerate(others))
    made.add(File("original.txt", FORMATS["txt"](ORIGINAL)))
    return made


def scanned(paragraphs: list[str], share: float, seed: int = 1) -> str:
    """Lines with words broken at their ends, ligatures, and some characters misread, lost or made up."""
    chance = random.Random(seed)
    page = "\n".join(lines(paragraphs, 60))
    for letters, one in _LIGATURES.items():
        page = page.replace(letters, one)

    def misread(found: re.Match[str]) -> str:
        if chance.random() >= share:
            return found[0]
        return chance.choice(["", _MISREAD.get(found[0], "x"), found[0] + chance.choice(".,'~ ")])

    return re.sub(r"rn|cl|\S", misread, page)


@pytest.mark.parametrize("kind", FORMAT_PARAMETERS)
def test_every_format_of_it_is_found_first(index: Index, kind: str) -> None:
    answer = index.search(File(f"query.{kind}", FORMATS[kind](ORIGINAL)))
    assert named(answer, "original.txt") == [(1.0, 1.0, "identical")]
    assert answer[0].document.name == "original.txt"
    assert all(h.containment.document < 0.1 for h in answer[1:])


@pytest.mark.parametrize(("share", "relations"), [(0.0, {"identical"}), (0.02, {"edited", "revised"})])
def test_what_a_scanner_makes_of_it_is_found_first(index: Index, share: float, relations: set[str]) -> None:
    for seed in range(4):
        first = index.search(scanned(ORIGINAL, share, seed))[0]
        assert first.document.name == "original.txt"
        assert first.relation in relations


def test_even_bad_damage_hides_nothing(index: Index) -> None:
    for seed in range(4):
        first = index.search(scanned(ORIGINAL, 0.04, seed))[0]
        assert first.document.name == "original.txt"
        assert min(first.containment.query, first.containment.document) > 0.25


@pytest.mark.ghostscript
def test_what_was_added_badly_is_found_by_the_clean_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = maker(tmp_path, monkeypatch)(content="none")
    made.add(File(f"as.{kind}", make(ORIGINAL)) for kind, make in FORMATS.items())
    made.add(File("scanned.txt", scanned(ORIGINAL, 0.02).encode()))
    made.add(File("other.txt", FORMATS["txt"](prose(60, 100))))
    names = [hit.document.name for hit in made.search(File("clean.txt", FORMATS["txt"](ORIGINAL)))]
    assert set(names[:11]) == {"scanned.txt", *(f"as.{kind}" for kind in FORMATS)}
