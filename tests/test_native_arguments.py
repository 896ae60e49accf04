"""The wrappers of the core refuse what does not fit with a clear error, and never end the process."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaffinch.errors import BadArgument, BadRecipe
from chaffinch.languages.language import languages, records
from chaffinch.native import fingerprint as core
from chaffinch.native import pairs, segment
from chaffinch.native.fingerprint import Language, Source
from chaffinch.native.pairs import Corpus, GramCounts
from chaffinch.native.segment import LookupResult, OwnerCounts, Postings, QuerySeeds, Segment
from chaffinch.native.tally import Tally
from chaffinch.recipe import Recipe
from chaffinch.types import Fingerprints, Stream

SAMPLES = Path(__file__).parent / "data" / "languages"
RECIPE = Recipe("text", k=5, w=4)
SYMBOLS = np.arange(40, dtype=np.uint32)
NONE = np.empty(0, np.uint32)
WORDS = b"some words that are long enough to have fingerprints"


def whole(*values: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(values, np.uint32)


def postings(*numbers: int) -> Postings:
    return Postings(np.array(numbers, np.uint64), whole(*numbers), whole(*numbers))


def opened(*numbers: int, hash_bits: int = 64) -> Segment:
    return Segment(segment.build(postings(*numbers), hash_bits=hash_bits).tobytes(), "small")


def prints(*positions: int) -> Fingerprints:
    hashes = np.array(positions, np.uint64)
    return Fingerprints(hashes, whole(*positions), whole(*positions), whole(*positions), len(SYMBOLS))


def read(*source: object) -> Callable[[], object]:
    return lambda: core.fingerprint([Source(*source)], RECIPE)  # type: ignore[arg-type]


WRONG_SOURCES = {
    "symbols in too few bytes": read(b"abc", 6),
    "symbols in bytes": read(np.zeros(40, np.uint8), 6),
    "symbols of 64 bits": read(np.zeros(40, np.uint64), 6),
    "bytes in numbers": read(SYMBOLS, 1),
    "every other symbol": read(SYMBOLS[::2], 6),
    "code points without a table": read(SYMBOLS, 7),
    "code points with a start too few": read(SYMBOLS, 7, SYMBOLS),
    "code points in bytes": read(b"abcd", 7, whole(0, 1, 2, 3, 4)),
    "a single-byte encoding without a table": read(WORDS, 8),
    "a single-byte encoding with a short table": read(WORDS, 8, SYMBOLS),
    "a page with a short table": read(WORDS, 10, SYMBOLS),
    "a table of wide numbers": read(WORDS, 8, np.arange(256, dtype=np.uint64)),
    "a table that is a list": read(WORDS, 8, list(range(256))),
    "a program without a language": read(WORDS, 9),
    "a program with a table": read(WORDS, 9, np.zeros(256, np.uint32)),
    "a text with a language": read(WORDS, 1, Language("none", b"")),
    "a text with a table": read(WORDS, 1, np.zeros(256, np.uint32)),
    "starts without ends": read(SYMBOLS, 6, SYMBOLS),
    "ends without starts": read(SYMBOLS, 6, None, SYMBOLS),
    "starts too few": read(SYMBOLS, 6, SYMBOLS[1:], SYMBOLS),
    "ends too few": read(SYMBOLS, 6, SYMBOLS, SYMBOLS[1:]),
    "no encoding of this number": read(WORDS, 11),
    "an encoding below zero": read(WORDS, -1),
    "half an encoding": read(WORDS, 1.5),
    "a string": read("words", 1),
    "nothing": read(None, 1),
    "a short table of a page": lambda: Source.html(WORDS, SYMBOLS),
    "a short table of an encoding": lambda: Source.single_byte(WORDS, SYMBOLS),
    "a start too few": lambda: Source.decoded(SYMBOLS, SYMBOLS),
    "a stream with few starts": lambda: Source.stream(Stream(SYMBOLS, SYMBOLS[1:], SYMBOLS)),
    "a stream with few ends": lambda: Source.stream(Stream(SYMBOLS, SYMBOLS, SYMBOLS[1:])),
    "negative symbols": lambda: Source.canonical(np.array([-1, 2])),
    "large symbols": lambda: Source.canonical(np.array([2**32])),
    "symbols that are not whole": lambda: Source.canonical(np.array([1.5])),
    "symbols in rows": lambda: Source.canonical(SYMBOLS.reshape(4, 10)),
    "a record that is not known": lambda: Language("odd", b"no such record"),
    "a record without fields": lambda: Language("odd", b"string"),
    "columns that do not exist": lambda: Language("odd", b"columns\x1f*\x1f99999999\x1f72"),
}


def candidates(**changed: object) -> Callable[[], object]:
    hashes = [np.array([1, 2], np.uint64), np.array([2, 3], np.uint64)]
    right = {"hashes": hashes, "old": np.zeros(2, np.uint8), "rarity": np.ones(3, np.float32)}
    return lambda: pairs.candidate_pairs(**(right | changed))  # type: ignore[arg-type]


def matches(corpus: Callable[[], Corpus] | None = None, **changed: object) -> Callable[[], object]:
    right = {"pairs": np.array([[0, 1]]), "k": 5, "gap": 3, "guarantee": 8}

    def call() -> object:
        made = corpus() if corpus else Corpus([SYMBOLS, SYMBOLS], [prints(3), prints(4)])
        return pairs.find_matches(made, **(right | changed))  # type: ignore[arg-type]

    return call


def grams(n: int, rarity: object, of: object = ((0, 1),)) -> Callable[[], object]:
    corpus = Corpus([SYMBOLS, SYMBOLS], [prints(), prints()])
    return lambda: GramCounts(corpus, n, rarity).shares(np.array(of))  # type: ignore[arg-type]


ONES = np.ones(3, np.float32)
WRONG_COMPARISONS = {
    "too few old": candidates(old=np.zeros(1, np.uint8)),
    "too many old": candidates(old=np.zeros(3, np.uint8)),
    "old is more than a byte": candidates(old=np.array([0, 256])),
    "too few rarities": candidates(rarity=np.ones(2, np.float32)),
    "no rarity": candidates(rarity=np.empty(0, np.float32)),
    "a rarity that is not a number": candidates(rarity=np.array([1, np.nan, 1])),
    "an infinite rarity": candidates(rarity=np.array([1, 1e300, 1])),
    "a negative rarity": candidates(rarity=np.array([1, -1, 1])),
    "a share that is not a number": candidates(min_share=float("nan")),
    "enough that is not a number": candidates(enough=float("nan")),
    "a share that is a string": candidates(min_share="all"),
    "hashes out of order": candidates(hashes=[np.array([2, 1], np.uint64), np.array([2, 3], np.uint64)]),
    "a hash twice": candidates(hashes=[np.array([2, 2, 2], np.uint64), np.array([2, 3], np.uint64)]),
    "a negative hash": candidates(hashes=[np.array([-1]), np.array([2])]),
    "no threads": candidates(threads=0),
    "fewer than no threads": candidates(threads=-1),
    "more threads than can be counted": candidates(threads=2**32),
    "half a thread": candidates(threads=0.5),
    "a document that is not there": matches(pairs=np.array([[0, 2]])),
    "a document below zero": matches(pairs=np.array([[0, -1]])),
    "pairs of three": matches(pairs=np.array([[0, 1, 1]])),
    "pairs in a row": matches(pairs=whole(0, 1)),
    "no pairs": matches(pairs=None),
    "k is 0": matches(k=0),
    "k is negative": matches(k=-5),
    "a huge k": matches(k=2**31),
    "a huge gap": matches(gap=2**32 - 1),
    "a huge guarantee": matches(guarantee=2**32 - 1),
    "fewer fingerprints than streams": matches(lambda: Corpus([SYMBOLS, SYMBOLS], [prints(3)])),
    "fingerprints without positions": matches(
        lambda: Corpus([SYMBOLS] * 2, [prints(3), Fingerprints(SYMBOLS.astype(np.uint64), NONE, NONE, NONE, 1)])
    ),
    "a fingerprint behind the end": matches(lambda: Corpus([SYMBOLS, SYMBOLS], [prints(3), prints(40)])),
    "owners too few": matches(lambda: Corpus([SYMBOLS] * 2, [prints(3), prints(4)], [whole(2), NONE])),
    "owners too many": matches(lambda: Corpus([SYMBOLS] * 2, [prints(3), prints(4)], [whole(2), whole(2, 2)])),
    "kinds too few": matches(
        lambda: Corpus([SYMBOLS] * 2, [prints(3), prints(4)], kinds=[np.zeros(40, np.uint8)])
    ),
    "separators that count too much": matches(
        lambda: Corpus([np.arange(5000, dtype=np.uint32)] * 2, [prints(3)] * 2, kinds=[np.full(5000, 2)] * 2),
        gap=2**20,
    ),
    "grams of nothing": grams(0, ONES),
    "grams of less than nothing": grams(-1, ONES),
    "grams with few rarities": grams(3, ONES[1:]),
    "grams with a rarity that is not a number": grams(3, ONES * np.nan),
    "grams of a document that is not there": grams(3, ONES, ((0, 2),)),
    "no window": lambda: core.winnow(np.arange(9, dtype=np.uint64), 0),
    "a window below zero": lambda: core.winnow(np.arange(9, dtype=np.uint64), -3),
    "a window of 65 bits": lambda: core.winnow(np.arange(9, dtype=np.uint64), 2**64),
    "keys without an order": lambda: core.order_keys(SYMBOLS, Recipe("text", k=5, w=4, scheme="all")),
}


def extended(
    seeds: QuerySeeds | None = None, owners: OwnerCounts | None = None, found: LookupResult | None = None
) -> Callable[[], object]:
    source = Source.unicode(WORDS, "utf-8")
    return lambda: segment.extend_matches(
        source,
        {7: source},
        seeds or QuerySeeds(whole(3), whole(0)),
        owners or OwnerCounts(whole(0), whole(1)),
        found or LookupResult(whole(0), whole(7), whole(3)),
        RECIPE,
        3,
    )


def tallied(queries: int = 3, weights: int = 3, repeats: int = 3, **changed: object) -> Callable[[], object]:
    found = LookupResult(np.arange(queries, dtype=np.uint32), whole(1, 2, 3), NONE)
    right = {"postings": found, "hashes": 3, "boilerplate": whole(1, 2)} | changed
    return lambda: Tally(**right).shared(np.ones(weights), np.ones(repeats, int))  # type: ignore[arg-type]


WRONG_INDEX_CALLS = {
    "postings without positions": lambda: segment.build(postings(1, 2)._replace(positions=whole(1))),
    "postings of too many documents": lambda: segment.build(postings(1, 2)._replace(documents=whole(1, 2, 3))),
    "negative documents": lambda: segment.build(postings(1)._replace(documents=np.array([-1]))),
    "too few bits": lambda: segment.build(postings(1), hash_bits=31),
    "too many bits": lambda: segment.build(postings(1), hash_bits=65),
    "removed documents out of order": lambda: segment.lookup([opened(1)], postings(1).hashes, whole(2, 1)),
    "removed documents below zero": lambda: segment.lookup([opened(1)], postings(1).hashes, np.array([-1])),
    "hashes that are not whole": lambda: segment.lookup([opened(1)], np.array([0.5]), NONE),
    "a merge with removed documents out of order": lambda: list(segment.merge([opened(1)], whole(2, 1))),
    "a merge of different segments": lambda: segment.merge([opened(1), opened(1, hash_bits=44)], NONE),
    "a fingerprint behind the query": extended(QuerySeeds(whole(10**6), whole(0))),
    "seeds without numbers": extended(QuerySeeds(whole(3), NONE)),
    "owners without positions": extended(owners=OwnerCounts(NONE, whole(1))),
    "matches of postings without bytes": extended(found=LookupResult(whole(0), whole(7), NONE)),
    "matches of postings without documents": extended(found=LookupResult(whole(0), NONE, whole(3))),
    "too few weights": tallied(weights=2),
    "too many weights": tallied(weights=4),
    "too few repeats": tallied(repeats=2),
    "queries without documents": tallied(queries=4),
    "hashes that are not there": tallied(hashes=2),
    "hashes below zero": tallied(hashes=-1),
    "more hashes than can be counted": tallied(hashes=2**40),
    "boilerplate out of order": tallied(boilerplate=whole(2, 1)),
}

WRONG: dict[str, Callable[[], object]] = WRONG_SOURCES | WRONG_COMPARISONS | WRONG_INDEX_CALLS


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(what: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((BadArgument, BadRecipe), match=r"\w+ \w+"):
        WRONG[what]()
    assert capfd.readouterr() == ("", "")


def test_numbers_of_other_types_are_read_by_value() -> None:
    expected = core.winnow(np.arange(0, 90, 2, dtype=np.uint64), 4).tolist()
    others: list[Any] = [
        np.arange(0, 90, 2),
        np.arange(90, dtype=np.uint64)[::2],
        np.arange(0, 90, 2, dtype=">u8"),
    ]
    for other in others:
        assert core.winnow(other, 4).tolist() == expected


def test_a_closed_segment_is_refused_and_closing_twice_is_fine() -> None:
    one = opened(1, 2, 3)
    scan = one.scan()
    one.close()
    one.close()
    for use in (one.check, lambda: next(scan), lambda: segment.lookup([one], postings(1).hashes, NONE)):
        with pytest.raises(BadArgument, match="small is closed"):
            use()


def test_segments_can_be_read_and_closed_on_several_threads() -> None:
    def use(number: int) -> int:
        try:
            if number == 150:
                one.close()
            return len(segment.lookup([one], hashes, NONE, threads=2).queries)
        except BadArgument:
            return 0

    one, hashes = opened(*range(1000)), np.arange(1000, dtype=np.uint64)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(use, range(200))) == {0, 1000}


@pytest.mark.parametrize("language", languages())
def test_a_damaged_table_of_a_language_is_refused_or_harmless(language: str) -> None:
    table = b"\x1e".join(b"\x1f".join(f.encode() for f in row) for row in records(language))
    sample = (SAMPLES / f"{language}.one").read_bytes()[:2000]
    chance = random.Random(language)
    for _ in range(20):
        damaged = bytearray(table[: chance.randrange(len(table))] if chance.random() < 0.3 else table)
        for _ in range(chance.randrange(6) if damaged else 0):
            damaged[chance.randrange(len(damaged))] = chance.choice(b"\x1e\x1f\n 0'\"\xff" + sample[:9])
        try:
            made = Language(language, bytes(damaged))
        except BadArgument:
            continue
        stream = core.stream(Source.code(sample, made), RECIPE)
        assert (stream.starts < stream.ends).all()
        assert (stream.ends <= len(sample)).all()
