"""Paragraphs in many languages and in encodings older than Unicode are read as they were written."""

from __future__ import annotations

import re

import pytest

from chaffinch import Document, File, Unreadable, stream
from chaffinch.read import encoding as plain

WESTERN = ("cp1252", "iso8859-15", "mac-roman")
CENTRAL = ("cp1250", "iso8859-2")

PARAGRAPHS = {
    "French": (
        WESTERN,
        "L'été dernier, nous avons passé trois semaines à la campagne près de la forêt. Les élèves étaient "
        "très fatigués, mais la soirée fut agréable. Où sont passés les garçons? Ils ont reçu une lettre de "
        "leur mère, qui s'inquiétait déjà.",
    ),
    "French, of a program": (
        ("cp1252",),
        "La complexité de cet algorithme dépend du nombre d'éléments à trier. Après chaque itération, le plus "
        "grand élément se trouve à sa place définitive. C'est pourquoi la méthode est appelée tri à bulles.",
    ),
    "French, of a letter": (
        ("cp1252",),
        "Chère Hélène, je t'écris de la bibliothèque, où il fait bien plus frais qu'à la maison. Le père de "
        "Zoé nous a prêté sa voiture, et dès demain nous irons voir le château. À bientôt, et bonne fête!",
    ),
    "German": (
        WESTERN,
        "Die Schüler haben für die Prüfung große Mühe aufgewendet. Während der Übung fiel ihnen auf, dass die "
        "Lösung nicht vollständig war. Schließlich änderten sie den größten Teil der Ausführung.",
    ),
    "Spanish": (
        WESTERN,
        "El año pasado los niños aprendieron a escribir pequeños programas. ¿Cuándo terminará la lección? La "
        "profesora explicó también cómo se comprueba una solución sin ejecutarla. Así aprendió más rápido.",
    ),
    "Portuguese": (
        WESTERN,
        "A solução não está completa, porque faltam três funções importantes. Os alunos começaram o trabalho "
        "ontem e só então perceberam a dificuldade. É possível que a conclusão seja outra.",
    ),
    "Italian": (
        ("cp1252",),
        "La città era così tranquilla che nessuno parlava più. Perché non è venuto? Domani sarà già lunedì, e "
        "la verità è che nessuno lo sa. Però l'università resterà aperta.",
    ),
    "Swedish": (
        ("cp1252",),
        "Två små flickor gick över ängen för att plocka blåbär. På vägen hem såg de en älg som stod stilla. "
        "Läraren frågade varför lösningen inte fungerade, och ingen hade något svar.",
    ),
    "Danish": (
        ("cp1252",),
        "Børnene løb ned til søen, før det begyndte at regne. Læreren spurgte, hvorfor opgaven ikke var "
        "færdig. På vejen hjem så de en ræv, der lå og sov under et træ.",
    ),
    "Finnish": (
        ("cp1252",),
        "Tämä tehtävä on helpompi kuin miltä se näyttää. Opettaja kysyi, miksi ratkaisu ei ollut valmis, mutta "
        "kukaan ei tiennyt. Syksyllä päivät lyhenevät ja yöt ovat pimeitä.",
    ),
    "Icelandic": (
        ("cp1252",),
        "Það er ekki auðvelt að skrifa góða ritgerð um þetta efni. Kennarinn sagði að við ættum að lesa bókina "
        "fyrst. Síðan fórum við út í garð og töluðum saman.",
    ),
    "Polish": (
        CENTRAL,
        "Uczniowie długo szukali rozwiązania, które byłoby zrozumiałe dla wszystkich. Gdy wreszcie je "
        "znaleźli, było już późno. Następnego dnia pokazali swoją pracę nauczycielce, która się ucieszyła.",
    ),
    "Czech": (
        CENTRAL,
        "Žáci dlouho přemýšleli, jak úlohu co nejlépe vyřešit. Učitelka jim řekla, že každé řešení je třeba "
        "vysvětlit. Večer šli všichni domů, protože už byla tma a přišel déšť.",
    ),
    "Slovak": (
        CENTRAL,
        "Študenti už ráno vedeli, že úloha bude ťažká a dlhá. Učiteľ im povedal, aby čítali pozorne. Potom "
        "všetci išli domov, pretože začalo pršať a bola tma.",
    ),
    "Hungarian": (
        CENTRAL,
        "A diákok sokáig gondolkodtak azon, hogyan lehetne a feladatot megoldani. Végül az egyikük rájött, "
        "hogy a kérdés egyszerűbb, mint hitték. A tanárnő örült, és hosszú szünetet adott nekik, "
        "mert jó idő volt.",
    ),
    "Croatian": (
        CENTRAL,
        "Učenici su dugo tražili rješenje koje će svi razumjeti. Učiteljica je rekla da je važno objasniti "
        "svaki korak. Navečer su otišli kući, jer je već počela kiša.",
    ),
    "Romanian": (
        CENTRAL,
        "Elevii au căutat mult timp o soluţie pe care să o înţeleagă toţi. Profesoara a spus că este important "
        "să explice fiecare pas. Seara s-au întors acasă, pentru că începuse ploaia şi era frig.",
    ),
    "Lithuanian": (
        ("cp1257",),
        "Mokiniai ilgai ieškojo sprendimo, kuris būtų aiškus visiems. Mokytoja pasakė, kad svarbu paaiškinti "
        "kiekvieną žingsnį. Vakare jie grįžo namo, nes jau buvo tamsu ir šalta.",
    ),
    "Latvian": (
        ("cp1257",),
        "Skolēni ilgi meklēja risinājumu, kas būtu saprotams visiem. Skolotāja teica, ka ir svarīgi izskaidrot "
        "katru soli. Vakarā viņi gāja mājās, jo bija jau tumšs un auksts.",
    ),
    "Estonian": (
        ("cp1257", "cp1252"),
        "Õpilased otsisid kaua lahendust, mis oleks kõigile arusaadav. Õpetaja ütles, et iga sammu peab "
        "selgitama. Õhtul läksid nad koju, sest väljas oli juba külm ja pime.",
    ),
    "Turkish": (
        ("cp1254",),
        "Öğrenciler herkesin anlayacağı bir çözüm için uzun süre çalıştılar. Öğretmen, her adımı açıklamanın "
        "önemli olduğunu söyledi. Akşam olunca eve döndüler, çünkü yağmur başlamıştı ve hava soğuktu.",
    ),
    "Welsh": (
        ("cp1252",),
        "Aeth y plant â'u llyfrau i'r ysgol, a siaradodd yr athro â phob un. Roedd y tŷ bach yn wag."
        .replace("ŷ", "y"),
    ),
    "Greek": (
        ("cp1253", "iso8859-7"),
        "Οι μαθητές έψαχναν για πολλή ώρα μια λύση που θα καταλάβαιναν όλοι. Η δασκάλα είπε ότι είναι "
        "σημαντικό να εξηγήσουν κάθε βήμα. Το βράδυ γύρισαν στο σπίτι, γιατί είχε αρχίσει να βρέχει.",
    ),
    "Russian": (
        ("cp1251", "koi8-r"),
        "Ученики долго искали решение, которое было бы понятно всем. Учительница сказала, что важно объяснить "
        "каждый шаг. Вечером они пошли домой, потому что уже было темно и холодно.",
    ),
    "Ukrainian": (
        ("cp1251",),
        "Учні довго шукали розв'язок, який був би зрозумілий усім. Учителька сказала, що важливо пояснити "
        "кожен крок. Увечері вони пішли додому, бо вже було темно й холодно.",
    ),
    "Bulgarian": (
        ("cp1251",),
        "Учениците дълго търсиха решение, което да бъде разбираемо за всички. Учителката каза, че е важно да "
        "се обясни всяка стъпка. Вечерта те се прибраха вкъщи, защото вече беше тъмно и студено.",
    ),
}  # fmt: skip

SAMPLES = [
    pytest.param(text, encoding, id=f"{language} {encoding} {length}")
    for language, (encodings, paragraph) in PARAGRAPHS.items()
    for length, text in (("one", re.split(r"(?<=[.?!]) ", paragraph)[0]), ("several", paragraph))
    for encoding in encodings
]


@pytest.mark.parametrize(("text", "encoding"), SAMPLES)
def test_a_paragraph_is_read_as_it_was_written(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert data.decode(plain.detect(data)) == text
    assert stream(data).symbols.tolist() == stream(text).symbols.tolist()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r"])
def test_programs_keep_their_lines_in_every_encoding(encoding: str, line_end: str) -> None:
    lines = ["def total(items):", "    number = 0", "    return number + len(items)"] * 4
    document = Document("a.py", line_end.join(lines).encode(encoding))
    assert document.data.decode(document.encoding).removeprefix("\ufeff").splitlines() == lines
    assert document.place(document.data.index(b"return")) == "line 3"


SLOW = (
    "punycode",
    "idna",
    "unicode_escape",
    "raw_unicode_escape",
    "undefined",
    "rot13",
    "base64",
    "zlib",
    "mbcs",
)


@pytest.mark.parametrize("name", SLOW)
def test_only_encodings_of_text_that_are_decoded_in_linear_time_are_used(name: str) -> None:
    assert plain.known(name) is None
    page = f'<html><meta charset="{name}"><body>'.encode() + b"words \xe9t\xe9 " * 9
    assert Document("x.html", page).encoding in ("cp1252", "latin-1")
    mail = f"From: a\nTo: b\nSubject: =?{name}?q?a=E9-b?=\nContent-Type: text/plain; charset={name}\n\nwords"
    assert Document("x.eml", mail.encode()).data.decode() == "a\xe9-b\nwords\n"
    with pytest.raises(Unreadable, match="there is no encoding"):
        stream(File("x.txt", b"words", name))


@pytest.mark.parametrize(
    "name", ["latin-1", "cp1252", "koi8-r", "UTF8", "utf-7", "Shift_JIS", "gb2312", "big5"]
)
def test_encodings_of_text_are_used(name: str) -> None:
    assert plain.known(name)


def test_a_text_without_offsets_for_its_characters_is_read_as_unicode() -> None:
    japanese = "\u540d\u524d\u306f\u307e\u3060\u7121\u3044\u3002" * 50
    clean = Document("x.txt", japanese.encode("shift_jis"), "shift_jis")
    few = Document("x.txt", japanese.encode("shift_jis") + b"\xff", "shift_jis")
    assert (clean.encoding, few.encoding) == ("shift_jis", "shift_jis")
    many = Document("x.txt", japanese.encode("shift_jis") + b"\xff" * 2000, "shift_jis")
    stateful = Document("x.txt", japanese.encode("iso2022_jp"), "iso2022_jp")
    assert (many.encoding, stateful.encoding) == ("utf-8", "utf-8")
    assert stream(stateful).symbols.tolist() == stream(clean).symbols.tolist()
