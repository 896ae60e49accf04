"""Text in a language with Latin letters -> its encoding.

These encodings use the same bytes for different letters. Only the text itself shows which one it is in: by its
common words, and by letters that one language has and others do not.
"""

from __future__ import annotations

import re
from collections import Counter

_WESTERN = ("cp1252", "iso8859-15", "mac-roman")
_CENTRAL = ("cp1250", "iso8859-2")
_BALTIC = ("cp1257",)
_TURKISH = ("cp1254",)

# Encodings, likeliest first; letters outside ASCII (a lower-case İ has a separate dot); common words.
_LANGUAGES = (
    (_WESTERN, "éèàçïñöü", "the of and to in a is that for it was on are as with be this his from"),
    (_WESTERN, "éèêëàâæçîïôœùûüÿ", "de la le les et des en un une est à que qui dans du il pour sur au ne a"),
    (_WESTERN, "äöüßé", "der die und das in den von zu mit ist des im nicht ein eine es auf sich sie dem er"),
    (_WESTERN, "áéíóúüñ", "de la que el en y a los se del las un por con no una su para es al lo como más"),
    (_WESTERN, "áàâãçéêíóôõúü", "de a o que e do da em um para com não uma os no se na por mais as dos é ao"),
    (_WESTERN, "àèéìíîòóùú", "di e il la che in a per è un del non una i le si con da della sono al lo ha gli"),
    (_WESTERN, "àçèéíïòóúü", "de la i el que en a les els per un amb una és del dels va no al es ha"),
    (_WESTERN, "éëïèêöüóá", "de het een van en in is dat op te zijn met voor niet die aan er om ook was hij"),
    (_WESTERN, "åäöé", "och i att det en som på är av för med den till inte om ett han de var jag har"),
    (_WESTERN, "æøåéòôü", "og i at det en er på som til af for med den de ikke et har han var å av jeg vi"),
    ((*_WESTERN, *_BALTIC), "äöåšž", "ja on ei se että hän oli joka mutta ovat kun niin myös sen tai kuin"),
    ((*_WESTERN, *_BALTIC), "õäöüšž", "ja on ei et see ta oli kui ka oma mis aga nii siis ning seda ma kes"),
    (_WESTERN, "áðéíóúýþæö", "og að í á er sem var til um það en við með ekki af hann ég þeir hún"),
    (_CENTRAL, "ąćęłńóśźż", "i w na się z do nie to że jest o jak po a co ale od za przez są było jego dla"),
    (_CENTRAL, "áčďéěíňóřšťúůýž", "a v se na je že s z do o i to ve k pro si za by jsou jako po ale byl od"),
    (_CENTRAL, "áäčďéíĺľňóôŕšťúýž", "a v sa na je že s z do o to vo k pre si za by sú ako po ale bol od aj"),
    (_CENTRAL, "áéíóöőúüű", "a az és hogy nem is egy ez volt meg de csak el ha van azt mint már még ki vagy"),
    (_CENTRAL, "čćđšž", "i je u na da se za su od ne koji s a to kao ali iz bi sam o in v ki so po bil pa"),
    (_CENTRAL, "ăâîşţ", "de şi în a la cu pe că nu o un din care se mai este pentru au fost o să era sau"),
    (_BALTIC, "ąčęėįšųūž", "ir kad yra į su iš o tai bet kaip buvo ne jis ji apie ar jo po už nuo tik taip"),
    (_BALTIC, "āčēģīķļņšūžŗō", "un ir ar no uz par ka kas bija to viņš bet arī pie lai tas kā es pēc vai"),
    (_TURKISH, "çğıöşüâî\u0307", "ve bir bu da de için ile çok ne o gibi daha olarak var ama kadar sonra her"),
)
_LETTER = r"[^\W\d_]"
_MARK = r"[\xa0«»„“”‚‘‹›–…•·¡¿§°€£©®™½¼¾²³×ªº´]"
# Inside a word these are letters of another encoding, except apostrophes and dashes.
_MARKS = re.compile(f"[’—]|(?<!{_LETTER}){_MARK}|{_MARK}(?!{_LETTER})")
_WORD = re.compile(f"{_LETTER}+")
_LOWEST_SCORE = 1.0
"""Reached if all letters are known, or most of them and many words."""
_SAMPLE_BYTES = 1 << 14


def encoding_of(sample: bytes) -> str | None:
    """Return the encoding that makes the text look most like one of these languages, or None if none does."""
    texts = {}
    for encoding in {encoding for encodings, _, _ in _LANGUAGES for encoding in encodings}:
        text = sample[:_SAMPLE_BYTES].decode(encoding, "replace").lower()
        letters_used = Counter(char for char in _MARKS.sub("", text) if char > "\x7f")
        texts[encoding] = letters_used, Counter(_WORD.findall(text))
    scores: dict[str, tuple[float, int]] = {}
    for encodings, letters, words in _LANGUAGES:
        for rank, encoding in enumerate(encodings):
            letters_used, words_used = texts[encoding]
            if rank and not letters_used:
                continue  # only marks: no evidence for a rarer encoding
            score = _share(letters_used, set(letters)) + _share(words_used, set(words.split()))
            scores[encoding] = max(scores.get(encoding, (0.0, 0)), (score, -rank))
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best][0] >= _LOWEST_SCORE else None


def _share(counts: Counter[str], known: set[str]) -> float:
    """Return the share of the counted letters or words that are known, or 1 if there are none."""
    return sum(counts[item] for item in known) / counts.total() if counts else 1.0
