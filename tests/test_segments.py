"""Segments give back exactly the postings that went in, or say that they are damaged; a sorted list is the
specification."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.errors import Damaged
from chaffinch.native import segment as core_index
from chaffinch.native.segment import Postings, Segment

Posting = tuple[int, int, int]
M32, M64 = 2**32 - 1, 2**64 - 1
NONE = np.empty(0, np.uint32)

# Few different values, so that they repeat, near each other in the top bits and in the lowest.
hashes = st.one_of(
    st.sampled_from((0, 1, M64, M64 - 1, 1 << 63, 1 << 32, 1 << 20, (1 << 63) + 5)),
    st.integers(0, 15).map(lambda i: i << 60),
    st.integers(0, M64),
)
documents = st.one_of(st.integers(0, 4), st.sampled_from((M32, M32 - 1, 1000)))
positions = st.one_of(st.integers(0, 2), st.sampled_from((M32, 70_000)))
postings = st.lists(st.tuples(hashes, documents, positions), max_size=40)
bits = st.sampled_from((64, 44, 32, 63, 33))
threads = st.sampled_from((1, 2, 3))


def columns(rows: Iterable[Posting]) -> Postings:
    rows = list(rows)
    return Postings(
        np.array([r[0] for r in rows], np.uint64),
        np.array([r[1] for r in rows], np.uint32),
        np.array([r[2] for r in rows], np.uint32),
    )


def made(rows: Iterable[Posting], hash_bits: int = 64, name: str = "one") -> Segment:
    return Segment(bytes(core_index.build(columns(rows), hash_bits=hash_bits)), name)


def kept(hash_: int, hash_bits: int) -> int:
    return hash_ >> (64 - hash_bits) << (64 - hash_bits)


def ordered(rows: Iterable[Posting], hash_bits: int = 64) -> list[Posting]:
    return sorted((kept(h, hash_bits), d, p) for h, d, p in rows)


def scanned(segment: Segment, pieces: int = 7) -> list[Posting]:
    rows: list[Posting] = []
    for piece in segment.scan(pieces):
        assert 0 < len(piece.hashes) <= pieces
        rows.extend(zip(*(c.tolist() for c in piece), strict=True))
    return rows


def numbers(values: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(sorted(values), np.uint32)


def looked_up(
    segments: Sequence[Segment], asked: Sequence[int], removed: Iterable[int] = (), threads: int = 1
) -> list[Posting]:
    found = core_index.lookup(segments, np.array(asked, np.uint64), numbers(removed), threads=threads)
    return list(zip(*(c.tolist() for c in found), strict=True))


def expected(
    rows: Iterable[Posting], asked: Sequence[int], removed: Iterable[int] = (), hash_bits: int = 64
) -> list[Posting]:
    gone = set(removed)
    return sorted(
        (q, d, p)
        for q, hash_ in enumerate(asked)
        for h, d, p in rows
        if kept(h, hash_bits) == kept(hash_, hash_bits) and d not in gone
    )


def merged(segments: Sequence[Segment], removed: Iterable[int] = (), threads: int = 1) -> bytes:
    return b"".join(bytes(p) for p in core_index.merge(segments, numbers(removed), threads=threads))


def many(n: int, documents: int = 1000, seed: int = 1, hash_limit: int = M64) -> Postings:
    random = np.random.default_rng(seed)
    return Postings(
        random.integers(0, hash_limit, n, np.uint64, endpoint=True),
        random.integers(0, documents, n, np.uint32),
        random.integers(0, 16384, n, np.uint32),
    )


def rows_of(all_: Postings) -> list[Posting]:
    return list(zip(*(c.tolist() for c in all_), strict=True))


@settings(max_examples=300)
@given(postings, bits, threads)
def test_scanning_gives_back_everything_in_order(rows: list[Posting], hash_bits: int, threads: int) -> None:
    segment = Segment(bytes(core_index.build(columns(rows), hash_bits=hash_bits, threads=threads)), "one")
    segment.check()
    assert scanned(segment) == ordered(rows, hash_bits)
    assert (segment.postings, segment.hash_bits) == (len(rows), hash_bits)
    if rows:
        assert segment.first_document == min(d for _, d, _ in rows)
        assert segment.last_document == max(d for _, d, _ in rows)


@settings(max_examples=500)
@given(st.lists(postings, max_size=4), bits, st.lists(hashes, max_size=12), st.sets(documents), threads)
def test_looking_up_is_going_through_the_list(
    parts: list[list[Posting]], hash_bits: int, other: list[int], removed: set[int], threads: int
) -> None:
    rows = [row for part in parts for row in part]
    asked = [h for h, _, _ in rows[::3]] + other
    segments = [made(part, hash_bits) for part in parts]
    assert looked_up(segments, asked, removed, threads) == expected(rows, asked, removed, hash_bits)


@settings(max_examples=300)
@given(st.lists(postings, min_size=1, max_size=5), bits, st.sets(documents), threads)
def test_merging_is_building_from_all(
    parts: list[list[Posting]], hash_bits: int, removed: set[int], threads: int
) -> None:
    rows = [row for part in parts for row in part if row[1] not in removed]
    whole = bytes(core_index.build(columns(rows), hash_bits=hash_bits))
    assert merged([made(part, hash_bits) for part in parts], removed, threads) == whole


@pytest.mark.parametrize("n", [0, 1, 2, 383, 767, 768, 1535, 1536, 50_000])
@pytest.mark.parametrize("hash_bits", [64, 44, 32])
def test_sizes_around_the_boundaries(n: int, hash_bits: int) -> None:
    rows = rows_of(many(n))
    segment = made(rows, hash_bits)
    segment.check()
    assert scanned(segment, 1000) == ordered(rows, hash_bits)
    asked = [h for h, _, _ in rows[::97]] + [h ^ 1 << 33 for h, _, _ in rows[::101]]
    index: dict[int, list[Posting]] = {}
    for row in rows:
        index.setdefault(kept(row[0], hash_bits), []).append(row)
    truth = sorted((q, d, p) for q, h in enumerate(asked) for _, d, p in index.get(kept(h, hash_bits), []))
    assert looked_up([segment], asked) == truth


@pytest.mark.parametrize("hash_bits", [64, 44])
def test_the_number_of_threads_changes_nothing(hash_bits: int) -> None:
    all_ = many(200_000, hash_limit=2**63)
    built = [bytes(core_index.build(all_, hash_bits=hash_bits, threads=t)) for t in (1, 2, 5)]
    assert len(set(built)) == 1
    segments = [made(rows_of(all_)[i::3], hash_bits) for i in range(3)]
    assert {merged(segments, (), t) for t in (1, 2, 5)} == set(built)
    rows = [row for row in rows_of(all_) if row[1] % 10]
    removed = range(0, 1000, 10)
    whole = bytes(core_index.build(columns(rows), hash_bits=hash_bits))
    assert {merged(segments, removed, t) for t in (1, 2)} == {whole}
    asked = all_.hashes[::10].tolist()
    found = [looked_up(segments, asked, removed, t) for t in (1, 2, 5)]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) >= sum(1 for row in rows_of(all_)[::10] if row[1] % 10)


@pytest.mark.parametrize("hash_bits", [64, 32])
def test_a_hash_that_everybody_has(hash_bits: int) -> None:
    boilerplate = 0x1234_5678_9ABC_DEF0
    common = [(boilerplate, d, d % 7) for d in range(100_000)]
    near = [(boilerplate ^ 1 << i, 5, 5) for i in range(64)]
    other = rows_of(many(5_000))
    segments = [made(common[::2] + near), made(common[1::2] + other)]
    rows = common + near + other
    if hash_bits == 32:
        segments = [made(common[::2] + near, 32), made(common[1::2] + other, 32)]
    asked = [boilerplate, boilerplate ^ 4, boilerplate ^ 1 << 50, boilerplate, boilerplate + 9]
    truth = expected(rows, asked, range(10, 20), hash_bits)
    assert looked_up(segments, asked, range(10, 20)) == truth
    whole = bytes(core_index.build(columns(rows), hash_bits=hash_bits))
    assert merged(segments, (), 2) == whole
    one = Segment(whole, "whole")
    one.check()
    assert scanned(one, 30_000) == ordered(rows, hash_bits)
    assert merged([one], range(1, 100_000)) == bytes(
        core_index.build(columns(r for r in rows if not 1 <= r[1] < 100_000), hash_bits=hash_bits)
    )


def test_extreme_values() -> None:
    rows = [(h, d, p) for h in (0, M64) for d in (0, M32) for p in (0, M32)]
    segment = made(rows)
    assert scanned(segment) == rows
    assert looked_up([segment], [M64, 0, 1]) == expected(rows, [M64, 0, 1])
    assert looked_up([segment], [M64, 0], [M32]) == expected(rows, [M64, 0], [M32])


def answers(data: bytes, asked: list[int]) -> tuple[list[Posting], list[Posting], bytes]:
    segment = Segment(data, "broken")
    return looked_up([segment], asked), scanned(segment, 50), merged([segment])


@pytest.mark.parametrize("n", [0, 60, 1000])
def test_a_changed_byte_is_found_or_changes_nothing(n: int) -> None:
    rows = rows_of(many(n, 50))
    asked = [h for h, _, _ in rows[::10]]
    data = bytes(core_index.build(columns(rows)))
    whole = answers(data, asked)
    for at in range(0, len(data), 1 if n < 1000 else 13):
        broken = bytearray(data)
        broken[at] ^= 1 << at % 8
        with pytest.raises(Damaged, match="broken: "):
            Segment(bytes(broken), "broken").check()
        try:
            told = answers(bytes(broken), asked)
        except Damaged:
            continue
        assert told == whole


@pytest.mark.parametrize("n", [0, 60, 1000])
def test_what_is_cut_off_is_missed(n: int) -> None:
    data = bytes(core_index.build(many(n)))
    for end in range(0, len(data), 1 if n < 1000 else 17):
        with pytest.raises(Damaged):
            Segment(data[:end], "cut")
    for more in (b"\0", b"\0" * 100, data):
        with pytest.raises(Damaged):
            answers(data + more[: len(data) - 1], [])


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data: bytes) -> None:
    for tried in (data, bytes(core_index.build(columns([])))[:16] + data):
        with pytest.raises(Damaged):
            Segment(tried, "any")


def test_damage_is_told_with_the_segment_and_the_place() -> None:
    all_ = many(20_000)
    data = bytearray(core_index.build(all_))
    data[10_000] ^= 64
    whole, broken = made(rows_of(all_)), Segment(bytes(data), "the broken one")
    asked = all_.hashes.tolist()
    with pytest.raises(Damaged, match="the broken one: damaged at byte 8192; ") as caught:
        looked_up([whole, broken, whole], asked)
    assert caught.value.name == "the broken one"
    with pytest.raises(Damaged, match="the broken one"):
        merged([whole, broken])
    with pytest.raises(Damaged, match="the broken one"):
        merged([whole, broken], range(10))
    with pytest.raises(Damaged, match="the broken one"):
        list(broken.scan())


def test_other_versions_are_refused() -> None:
    data = bytearray(core_index.build(columns([])))
    data[8] = 2
    with pytest.raises(Damaged, match="version 2"):
        Segment(bytes(data), "new")


def test_a_mapped_file_can_be_closed(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    rows = rows_of(many(3_000))
    path.write_bytes(bytes(core_index.build(columns(rows))))
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    segment = Segment(mapped, "mapped")
    pieces = segment.scan(100)
    first = next(pieces)
    segment.close()
    with pytest.raises(ValueError, match="mapped is closed"):
        looked_up([segment], [1])
    with pytest.raises(BufferError):
        mapped.close()  # the scan still reads it
    assert sum(len(p.hashes) for p in pieces) + len(first.hashes) == 3_000
    del pieces
    mapped.close()
    assert len(first.hashes) == 100


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="32 to 64"):
        core_index.build(columns([]), hash_bits=31)
    with pytest.raises(ValueError, match="columns of equal length"):
        core_index.build(Postings(np.zeros(2, np.uint64), NONE, NONE))
    with pytest.raises(ValueError, match="cannot be merged"):
        core_index.merge([made([]), made([], 44)], NONE)


def test_postings_are_small() -> None:
    """As many in a bucket and as far apart as in a large index, with a document's number to match."""
    n = 400_000
    documents = np.arange(n, dtype=np.uint32) % 250_000
    positions = np.arange(n, dtype=np.uint32) % 16_384
    hashes_ = many(n).hashes
    assert len(core_index.build(Postings(hashes_, documents, positions))) / n < 9.2 + 1
    short = core_index.build(Postings(hashes_, documents, positions * 0), hash_bits=36)
    assert len(short) / n < 4.95 - 2 / 8
