"""Damaged archives yield their intact members; hostile ones give a message."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from chaffinch.read.budget import MAX_DEPTH, Budget
from tests.archives import TARS, TEXT, expanded, opened, raw, seven_zipped, tarred, zip_of_raw, zipped


@pytest.mark.sevenzip
def test_damaged_7z_archives_are_reported(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.c").write_bytes(TEXT)
    (folder / "b.c").write_bytes(random.Random(1).randbytes(1000))
    whole = seven_zipped(folder, "-ms=off", "-mx0")
    assert opened("7z", whole[:-20], "a.7z") == {"a.7z": "is damaged"}
    at = whole.index(TEXT)
    bad = whole[:at] + b"W" + whole[at + 1 :]
    assert opened("7z", bad, "a.7z") == {"a.7z/a.c": "is damaged", "a.7z/b.c": (folder / "b.c").read_bytes()}


@pytest.mark.sevenzip
def test_a_7z_bomb_is_not_unpacked(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (folder / "zeros").open("wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "bomb.7z").write_bytes(seven_zipped(folder, "-mx1"))
    assert "unpack it yourself if you trust it" in expanded(tmp_path / "bomb.7z", "7z")


def test_a_zip_cut_anywhere_gives_what_is_whole() -> None:
    noise = random.Random(2)
    files = {f"{i}.txt": noise.randbytes(50) + TEXT for i in range(8)}
    whole = zipped(files)
    for cut in range(len(whole)):
        found = opened("zip", whole[:cut])
        right = [n for n, data in found.items() if isinstance(data, bytes)]
        assert all(files[n.removeprefix("a.zip/")] == found[n] for n in right)
        assert len(right) >= 8 * cut // len(whole) - 2
        assert cut == 0 or "a.zip" in found


def test_a_zip_written_as_a_stream_and_cut_off_gives_what_is_whole() -> None:
    class Stream(io.RawIOBase):
        written = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.written += bytes(data)  # type: ignore[call-overload]
            return len(bytes(data))  # type: ignore[call-overload]

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for i in range(5):
            file.writestr(f"{i}.c", TEXT * (i + 1))
    data = bytes(stream.written)
    assert len(opened("zip", data)) == 5
    found = opened("zip", data[: data.index(b"PK\x01\x02") - 3])
    assert {n: d for n, d in found.items() if isinstance(d, bytes)} == {
        f"a.zip/{i}.c": TEXT * (i + 1) for i in range(4)
    }


@pytest.mark.parametrize("kind", ["zip", "tar", "gzip", "bzip2", "xz"])
def test_damage_loses_no_more_than_it_must_and_never_raises(kind: str) -> None:
    noise = random.Random(3)
    files = {f"{i}.txt": noise.randbytes(300) + TEXT * 20 for i in range(10)}
    whole = zipped(files) if kind == "zip" else tarred(files, TARS[kind])
    for _ in range(300):
        bad = bytearray(whole)
        for _ in range(noise.choice([1, 1, 5, 50])):
            bad[noise.randrange(len(bad))] = noise.randrange(256)
        found = opened(kind, bytes(bad))
        assert found
        if kind == "zip":
            assert all(d in files.values() for d in found.values() if isinstance(d, bytes))
    for size in range(0, len(whole), 101):
        opened(kind, whole[:size])


def test_behind_a_damaged_header_the_rest_of_a_tar_is_found() -> None:
    data = bytearray(tarred({"a.c": TEXT, "b.c": TEXT, "c.c": TEXT}))
    data[1024 + 5] ^= 1
    assert opened("tar", bytes(data)) == {
        "a.zip/a.c": TEXT,
        "a.zip/c.c": TEXT,
        "a.zip": "is cut off or damaged; not all of it was read",
    }


def test_a_packed_tar_that_is_cut_off_gives_what_is_whole() -> None:
    noise = random.Random(4)
    files = {f"{i}.txt": noise.randbytes(100_000) for i in range(30)}
    for kind in ("gzip", "xz", "bzip2"):
        data = tarred(files, TARS[kind])
        found = opened(kind, data[: 6 * len(data) // 10])
        assert sum(files.get(n.removeprefix("a.zip/")) == d for n, d in found.items()) >= 1
        assert "a.zip" in found


def test_a_small_packed_tar_without_its_last_bytes_gives_what_is_whole() -> None:
    for kind in ("gzip", "xz"):
        found = opened(kind, tarred({"a.c": TEXT}, TARS[kind])[:-4])
        assert found == {"a.zip/a.c": TEXT, "a.zip": "is cut off or damaged; not all of it was read"}


def header(name: bytes, size: bytes, type_: bytes = b"0") -> bytes:
    block = bytearray(name.ljust(100, b"\0") + b"0000644\0" + b"0" * 16 + size.ljust(12, b"\0") + b"0" * 12)
    block += b" " * 8 + type_ + b"\0" * 100 + b"ustar\x0000"
    block = block.ljust(512, b"\0")
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize(
    "made",
    [
        header(b"minus", b"\xff" * 12) * 3,
        header(b"minus", b"-0000001000\0") * 3,
        header(b"huge", b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7),
        header(b"pax", b"\xff" * 12, b"x") * 3,
        header(b"pax", b"77777777777\0", b"x"),
        header(b"pax", b"00000000020\0", b"x") + b"99 size=-512\n".ljust(512, b"\0") + header(b"a", b"0\0"),
        (header(b"pax", b"00000000020\0", b"x") + b"9 path=a\n".ljust(512, b"\0")) * 5000,
        header(b"pax", b"00004000000\0", b"x") + b"1" * (1 << 20) + header(b"a", b"0\0"),
        header(b"long", b"77777777777\0", b"L"),
        header(b"sparse", b"00000000000\0", b"S"),
        header(b"zero", b"0\0", b"x") * 5000,
    ],
)
def test_a_tar_with_impossible_sizes_ends(made: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.tar").write_bytes(made + tarred({"good.c": TEXT}))
    assert "more files" not in expanded(tmp_path / "bad.tar", "tar")


def zeros_deflated(size: int) -> bytes:
    """Repeats one compressed block, which is faster than compressing them all."""
    pack = zlib.compressobj(9, wbits=-15)
    block = pack.compress(bytes(64 << 20)) + pack.flush(zlib.Z_FULL_FLUSH)
    return block * (size // (64 << 20)) + zlib.compressobj(wbits=-15).flush()


@pytest.mark.slow
def test_ten_gigabytes_of_zeros_are_a_message(tmp_path: Path) -> None:
    packed = zeros_deflated(10 << 30)
    gzip_header = gzip.compress(b"")[:10]
    (tmp_path / "zeros.gz").write_bytes(gzip_header + packed)
    assert "zeros.gz/zeros unpacks to more than the" in expanded(tmp_path / "zeros.gz", "gzip")
    # In a ZIP that says how large it is, and in one that lies.
    for said, message in ((3 << 30, "unpacks to more than the"), (1000, "is damaged")):
        bomb = zip_of_raw([("zeros.txt", packed, said, 0), ("a.c", *raw(TEXT))])
        (tmp_path / "zeros.zip").write_bytes(bomb)
        printed = expanded(tmp_path / "zeros.zip", "zip")
        assert f"a.c {len(TEXT)}" in printed
        assert f"zeros.txt {message}" in printed


@pytest.mark.slow
def test_before_a_bomb_in_a_packed_tar_all_is_read(tmp_path: Path) -> None:
    start = zlib.compressobj(9, wbits=-15)
    files = tarred({"a.c": TEXT})[:1024] + header(b"zeros", b"77777777777\0")
    packed = start.compress(files) + start.flush(zlib.Z_FULL_FLUSH) + zeros_deflated(2 << 30)
    (tmp_path / "bomb.tgz").write_bytes(gzip.compress(b"")[:10] + packed)
    printed = expanded(tmp_path / "bomb.tgz", "gzip")
    assert f"bomb.tgz/a.c {len(TEXT)}" in printed
    assert "bomb.tgz/zeros is cut off" in printed
    assert "bomb.tgz unpacks to more than the" in printed


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_in_other_methods_are_messages(method: int, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", method) as file, file.open("zeros.txt", "w") as member:
        for _ in range(400):
            member.write(bytes(1 << 20))
    data = bytearray(bomb.read_bytes())
    entry = data.index(b"PK\x01\x02")
    assert "unpacks to more" in expanded(bomb, "zip", megabytes=300)
    data[entry + 24 : entry + 28] = struct.pack("<I", 1000)  # it lies
    bomb.write_bytes(data)
    assert "zeros.txt is damaged" in expanded(bomb, "zip", megabytes=300)


def test_entries_that_overlap_are_a_bomb(tmp_path: Path) -> None:
    """Many entries share the same packed bytes, as in David Fifield's bombs."""
    packed, size, checksum = raw(bytes(20 << 20))
    name = b"0"
    fields = struct.pack("<5H3I2H", 20, 0, 8, 0, 0, checksum, len(packed), size, 1, 0)
    body = b"PK\x03\x04" + fields + name + packed
    entry = b"PK\x01\x02\x14\0" + fields + struct.pack("<3H2I", 0, 0, 0, 0, 0) + name
    count = 50_000
    end = b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, count, count, len(entry) * count, len(body), 0)
    (tmp_path / "bomb.zip").write_bytes(body + entry * count + end)
    printed = expanded(tmp_path / "bomb.zip", "zip").splitlines()
    assert len(printed) == count
    assert sum("shares its bytes with other members" in line for line in printed) == count - 1


def test_zips_within_zips_are_a_message_when_too_deep(tmp_path: Path) -> None:
    data = zipped({"a.c": TEXT})
    for _ in range(MAX_DEPTH - 1):
        data = zipped({"inner.zip": data, "a.c": TEXT})
    (tmp_path / "deep.zip").write_bytes(data)
    assert expanded(tmp_path / "deep.zip", "zip").count(f"a.c {len(TEXT)}") == MAX_DEPTH
    (tmp_path / "deeper.zip").write_bytes(zipped({"inner.zip": data}))
    printed = expanded(tmp_path / "deeper.zip", "zip")
    assert f"lies within {MAX_DEPTH} other archives; unpack it yourself" in printed


def test_a_bomb_of_zips_within_zips_is_bounded_and_loses_no_neighbour(tmp_path: Path) -> None:
    """Like 42.zip: sixteen of sixteen of sixteen, down to gigabytes of zeros."""
    data = zipped({"page.txt": bytes(8 << 20)})
    for level in range(5):
        data = zipped({f"{level}{i:x}.zip": data for i in range(16)})
    (tmp_path / "class.zip").write_bytes(zipped({"ann/42.zip": data, "ben/main.c": TEXT}))
    printed = expanded(tmp_path / "class.zip", "zip")
    assert f"class.zip/ben/main.c {len(TEXT)}" in printed
    assert "unpack it yourself if you trust it" in printed
    assert printed.count(f"page.txt {8 << 20}") <= 4  # as much as so small a file may hold


def test_a_gzip_that_unpacks_to_itself_ends(tmp_path: Path) -> None:
    """A file that unpacks to itself never ends."""
    data = gzip.compress(TEXT)
    for _ in range(50):
        data = gzip.compress(data, 0)
    (tmp_path / "quine.gz").write_bytes(data)
    assert "other archives; unpack it yourself" in expanded(tmp_path / "quine.gz", "gzip")


def test_more_files_than_allowed_are_a_message() -> None:
    files = {f"{i}.c": b"" for i in range(100)}
    why = "holds more files than the limit; unpack it yourself"
    for kind, data in (("zip", zipped(files)), ("tar", tarred(files))):
        assert opened(kind, data, budget=Budget(files=50)) == {"a.zip": why}
        assert len(opened(kind, data, budget=Budget(files=100))) == 100
    deep = zipped({"/".join(["d"] * 1000) + "/a.c": TEXT})
    assert opened("zip", deep, budget=Budget(files=500)) == {"a.zip": why}


def test_what_is_unpacked_is_spent_by_all_around() -> None:
    outer = Budget(room=10_000)
    opened("zip", zipped({"a.c": TEXT}), budget=outer)
    assert outer.room == 10_000 - len(TEXT)
    found = opened("zip", zipped({"a.c": b"a" * 9_000, "b.c": b"b" * 9_000, "c.c": b"c"}), budget=outer)
    assert [len(v) for v in found.values() if isinstance(v, bytes)] == [9_000, 1]
    assert "unpacks to more than" in str(found["a.zip/b.c"])


@pytest.mark.slow
def test_one_member_is_in_memory_at_a_time(tmp_path: Path) -> None:
    noise = random.Random(5).randbytes(15 << 20)
    large = tmp_path / "large.zip"
    large.write_bytes(zipped({f"{i}.txt": noise for i in range(20)}, zipfile.ZIP_STORED))
    assert expanded(large, "zip", megabytes=500).count("\n") == 20
