"""Text -> symbols: what is folded, what is dropped, and that every symbol points back to its own bytes."""

from __future__ import annotations

import codecs
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import File, Recipe, Unreadable, fingerprint, reference, stream
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.read import encoding as plain

CONSONANTS = Recipe("consonants", k=20, w=20)


def folded(text: str, recipe: Recipe | None = None) -> str:
    return "".join(map(chr, stream(text, recipe).symbols.tolist()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World 42!", "helloworld42"),
        ("naïve café Ångström", "naivecafeangstrom"),
        ("ﬁnal eﬄuent ß Æsop", "finaleffluentssaesop"),
        ("ＦＵＬＬ－ｗｉｄｔｈ １２", "fullwidth12"),
        ("𝐁𝐨𝐥𝐝 𝒮𝒸𝓇𝒾𝓅𝓉 𝔽𝕣𝕒𝕜𝕥𝕦𝕣 𝟙𝟚", "boldscriptfraktur12"),
        ("zero\u200bwidth\u200djoiner\ufeff so\u00adft", "zerowidthjoinersoft"),
        ("e\u0301tude a\u0308\u0323", "etudea"),
        ("раураl scоpe", "paypalscope"),  # Cyrillic letters that look Latin
        ("Ηello ΑΒC", "nelloabc"),  # Greek: capital eta follows the small one
        ("日本語、テキスト。", "日本語テキスト"),
        ("مرحبا بالعالم", "مرحبابالعالم"),
        ("שָׁלוֹם", "שלום"),
        ("٣٤٥ ५६ ²³ ½ Ⅷ ①", "345562312viii1"),
        ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("👍🏽 🇫🇷 emoji ☃", "emoji"),
        ("🅰🅱 Ⓒⓓ ⒠", "abcde"),
        ("Łódź øre Đặng ħ", "lodzoredangh"),
        ("İstanbul ISTANBUL ıstanbul", "istanbulistanbulistanbul"),
        ("\0a\x1bb\x7f", "ab"),
        ("", ""),
    ],
)
def test_folding(text: str, expected: str) -> None:
    assert folded(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The quick brown fox, 1996", "thqckbrwnfx"),
        ("ÉCOLE über", "clbr"),
        ("Привет, как дела?", "пpbtkkдл"),
        ("한글", "\u1112\u11ab\u1100\u11af"),
        ("日本語", "日本語"),
        ("مرحبا", "مرحبا"),
    ],
)
def test_consonants(text: str, expected: str) -> None:
    """Scripts whose letters are consonants, syllables or ideographs keep them all."""
    assert folded(text, CONSONANTS) == expected


def test_precomposed_and_decomposed_text_are_the_same() -> None:
    text = "Übergrößenträger, naïveté, 한국어, ガギグ, Việt Nam"
    forms = {folded(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert len(forms) == 1


def test_case_does_not_matter() -> None:
    text = "Straße Ǆungla ΣΊΣΥΦΟΣ Ժամ ԺԱՄ ﬀ"
    assert folded(text.upper()) == folded(text.lower()) == folded(text.casefold())


def test_symbols_are_letters_and_digits_and_fold_to_themselves() -> None:
    for form in ("text", "consonants"):
        table = reference.folding(form)
        for symbols in table.values():
            for symbol in symbols:
                assert table.get(symbol) == (symbol,), hex(symbol)


@given(st.text(max_size=80), st.sampled_from(("text", "consonants")))
def test_folding_the_bytes_of_a_span_gives_the_symbol(level: str, text: str, front: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    recipe = Recipe(front)
    found = core.stream(Source.unicode(data, "utf-8"), recipe)
    table = reference.folding(front)
    for symbol, start, end in zip(
        found.symbols.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True
    ):
        character = data[start:end].decode()
        assert len(character) == 1
        assert symbol in table[ord(character)]
    expected = [s for c in text for s in table.get(ord(c), ())]
    assert found.symbols.tolist() == expected


@given(st.binary(max_size=200), st.sampled_from(("text", "consonants")))
def test_any_bytes_are_read_as_the_reference_reads_them(level: str, data: bytes, front: str) -> None:
    found = core.stream(Source.unicode(data, "utf-8"), Recipe(front))
    columns = (found.symbols.tolist(), found.starts.tolist(), found.ends.tolist())
    assert list(zip(*columns, strict=True)) == reference.stream(data, front)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@given(text=st.text(max_size=60), cut=st.integers(0, 3))
def test_wide_encodings_are_read_as_the_reference_reads_them(encoding: str, text: str, cut: int) -> None:
    data = text.encode(encoding, "surrogatepass")
    data = data[: len(data) - cut]
    found = core.stream(Source.unicode(data, encoding), Recipe())
    columns = (found.symbols.tolist(), found.starts.tolist(), found.ends.tolist())
    assert list(zip(*columns, strict=True)) == reference.stream(data, "text", encoding)


RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. " * 4
FRENCH = "Longtemps, je me suis couché de bonne heure. Parfois, à peine ma bougie éteinte, mes yeux. " * 4
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗い所で。" * 6
CHINESE = "凡我所失，皆非我所有。天下大势，分久必合，合久必分。学而时习之，不亦说乎。" * 6
KOREAN = "모든 국민은 인간으로서의 존엄과 가치를 가지며, 행복을 추구할 권리를 가진다. " * 6


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "utf-16"),
        (RUSSIAN, "utf-32"),
        (RUSSIAN, "utf-8-sig"),
        (FRENCH, "latin-1"),
        (FRENCH, "cp1252"),
        (FRENCH, "mac-roman"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso2022_jp"),
        (CHINESE, "gb18030"),
        (CHINESE, "big5hkscs"),
        (KOREAN, "cp949"),
    ],
)
def test_a_given_encoding_gives_the_symbols_and_the_bytes(text: str, encoding: str) -> None:
    text = "".join(c for c in text if _encodable(c, encoding))
    data = text.encode(encoding)
    found = stream(File("x", data, encoding))
    assert found.symbols.tolist() == stream(text).symbols.tolist()
    decoder = codecs.getincrementaldecoder(encoding)
    table = reference.folding("text")
    if encoding == "iso2022_jp":  # has states: a stretch of bytes means nothing alone
        assert all(a < b for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True))
        return
    for symbol, start, end in zip(
        found.symbols.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True
    ):
        name = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
        character = codecs.decode(data[start:end], name)
        assert len(character) == 1
        assert symbol in table[ord(character)], (decoder, start)


def _encodable(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "utf-16-le"),
        (RUSSIAN, "utf-16"),
        (RUSSIAN, "utf-32"),
        (RUSSIAN, "utf-8-sig"),
        (FRENCH, "cp1252"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (CHINESE, "gb18030"),
        (KOREAN, "cp949"),
        (JAPANESE, "iso2022_jp"),
        ("a" + JAPANESE.replace("。", "") * 400, "shift_jis"),
        ("Only ASCII for a long while. " * 4000 + RUSSIAN, "koi8-r"),
        (RUSSIAN.replace(" ", ""), "utf-16-le"),
        (RUSSIAN, "utf-32-be"),
        (RUSSIAN, "utf-32-le"),
        (CHINESE + "\n", "utf-16-be"),
        ("Plain words in sixteen bits, " * 20, "utf-16-be"),
    ],
)
def test_an_encoding_is_detected(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert stream(data).symbols.tolist() == stream(text).symbols.tolist()
    assert fingerprint(data).hashes.tolist() == fingerprint(text).hashes.tolist()


def test_a_few_bad_bytes_do_not_make_utf8_something_else() -> None:
    data = RUSSIAN.encode()
    broken = data[:101] + b"\xff\xfe" + data[101:-1]  # in the middle of a character, and cut at the end
    whole = fingerprint(data)
    found = fingerprint(broken)
    assert len(set(whole.hashes.tolist()) & set(found.hashes.tolist())) > 0.5 * len(set(whole.hashes.tolist()))


def test_a_character_cut_by_the_end_does_not_make_utf8_something_else() -> None:
    data = "The café was naïve and the résumé".encode()[:-1]
    assert stream(data).symbols.tolist() == stream("The café was naïve and the résum").symbols.tolist()


def test_a_bad_byte_does_not_make_a_document_latin() -> None:
    data = JAPANESE.encode("shift_jis") * 3
    broken = data[:1000] + b"\xff" + data[1000:]
    whole, found = (set(fingerprint(d).hashes.tolist()) for d in (data, broken))
    assert len(whole & found) > 0.9 * len(whole)


def test_errors_in_a_double_byte_encoding_keep_the_places_of_the_others() -> None:
    good = JAPANESE.encode("shift_jis")
    data = good + b"\xff\x80 \xfd" + good
    found = stream(File("x", data, "shift_jis"))
    table = reference.folding("text")
    for symbol, start, end in zip(
        found.symbols.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True
    ):
        assert symbol in table[ord(data[start:end].decode("shift_jis"))]


def test_bytes_in_no_encoding_are_read_all_the_same() -> None:
    assert plain.detect(bytes(range(128, 256)) * 3)
    assert stream(bytes(range(256)) * 50).symbols.size > 0


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(Unreadable, match="no encoding 'klingon'"):
        stream(File("x.txt", b"abc", "klingon"))


def test_half_a_surrogate_pair_is_passed_over() -> None:
    assert folded("a\ud800b") == "ab"


def test_a_str_counts_bytes_of_its_utf8() -> None:
    found = stream("é日x")
    assert found.starts.tolist() == [0, 2, 5]
    assert found.ends.tolist() == [2, 5, 6]


@pytest.mark.parametrize("before", range(6))
def test_a_few_quotation_marks_of_windows_do_not_make_ascii_another_encoding(before: int) -> None:
    text = "x" * before + "It has been used by the “search engine” since 1998 to rank what it finds. " * 30
    for data in (text.encode("cp1252"), ("plain words " * 100 + text[:120]).encode("cp1252")):
        assert stream(data).symbols.tolist() == stream(data.decode("cp1252")).symbols.tolist()
