"""TeX: what is on the typeset page is compared, and every symbol points at its bytes in the file."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import File, Recipe, stream
from chaffinch.native import fingerprint as core
from chaffinch.native.formats import tex_page
from chaffinch.read.formats import tex
from chaffinch.read.ready import text_document
from chaffinch.types import Stream


def read(data: bytes, encoding: str = "utf-8") -> Stream:
    file = File("x.tex", data, encoding)
    return core.stream(tex.source(text_document(file, "tex")), Recipe())


def text(written: str) -> str:
    return "".join(map(chr, read(written.encode()).symbols.tolist()))


def folded(shown: str) -> str:
    return "".join(map(chr, stream(shown).symbols.tolist()))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"Hello, \emph{big} \textbf{world}!", "Hello, big world!"),
        (r"\section*{One}\footnote{a note} \caption[short]{long}", "One a note long"),
        ("kept % gone\nkept 5\\% too \\\\% gone", "kept kept 5 too"),
        (r"nested {\bf bold {and \it both}}", "nested bold and both"),
        # Accents and letters, in all their spellings.
        (r"\'e \'{e} \`a \^o \"u \~n \=a \.z", "é é à ô ü ñ ā ż"),
        (r"\c{c} \c c \v{s} \H{o} \u{g} \r{a} \k{a} \b{o} \d{a} \t{oo}", "ç ç š ő ğ å ą o ạ oo"),
        (
            r"Stra\ss e, \ae\oe\o\aa{} \AE\OE\O\AA, {\L}\'od\'z, na\"{\i}ve, \th\dh",
            "Straße, æœøå ÆŒØÅ, Łódź, naïve, þð",
        ),
        (
            r"``quoted''---dash--~tie\,thin\ space\-hyphen \& \$ \# \_ \{ \}",
            "quoted dash tie thin space hyphen",
        ),
        # What is no text.
        (r"a\label{x}b~\ref{y} \eqref{z} \Cref{q}c \citep*[see][p.~3]{knuth}d \nocite{*}", "a b c d"),
        (r"\includegraphics[width=0.5\textwidth]{figs/{a}.png}x\input{file}\vspace*{2cm}y", "x y"),
        (r"\setlength{\parindent}{0pt}x\setcounter{page}{3}\hyphenation{hy-phen}y\index{z!w@\emph{w}}", "x y"),
        (
            r"\newcommand{\foo}[2][dft]{body {#1} of it}x\renewcommand\bar{gone}y\def\baz#1#2{gone {too}}z",
            "x y z",
        ),
        (
            r"\let\a=\b x\newtheorem{thm}[equation]{Theorem}[section]y\newenvironment{e}[1]{gone}{gone}z",
            "x y z",
        ),
        (
            r"\href{http://gone.org}{link} \url{http://kept.org} \textcolor{red}{text} \color[rgb]{1,0,0}x",
            "link http://kept.org text x",
        ),
        (r"\hskip 1em plus 2pt minus 1pt x\kern-0.5pt y \parskip=3pt z \penalty10000 w", "x y z w"),
        (r"a\\[2pt] b\\*[1em] c\\d", "a b c d"),
        (r"\mytool[width=3cm, colour=red]{kept}\mytool[kept]{too}", "kept kept too"),
        (r"\selectlanguage{german}x\foreignlanguage{french}{mot}\multicolumn{2}{c}{both}", "x mot both"),
        # Environments.
        (r"\begin{tabular}[t]{|l|p{3cm}|}a & b\\ c & d\end{tabular}", "a b c d"),
        (r"\begin{abstract}Words\end{abstract}\begin{figure}[htb]\caption{Seen}\end{figure}", "Words Seen"),
        (r"\begin{theorem}[Euler]Text\end{theorem}\begin{minipage}[t]{5cm}box\end{minipage}", "Euler Text box"),
        (r"\begin{itemize}[noitemsep]\item One\item[Two] three\end{itemize}", "One Two three"),
        (r"x\begin{tikzpicture}[scale=2]\draw (0,0) -- (1,1);\end{tikzpicture}y", "x y"),
        ("x\\begin{comment}\n\\begin{verbatim} gone\n\\end{comment}y", "x y"),
        (r"\begin{thebibliography}{99}\bibitem[Kn]{knuth} D. Knuth\end{thebibliography}", "D. Knuth"),
        ("\\begin{verbatim}\n100 % 3 \\emph{x}\n\\end{verbatim}\n% gone", "100 3 emph x"),
        ("\\begin{lstlisting}[language=C]\nint x; % y\n\\end{lstlisting}", "int x y"),
        (r"\verb|50% \x| after \verb*+a b+ end", "50 x after a b end"),
        # Formulas: what can be read of them on the page.
        (
            r"Let $\alpha+\beta_1=\sin x^2$ and \[\frac{a}{b}\in\mathbb{R}\] or \(\Omega\)",
            "Let αβ1sin x2 and ab R or Ω",
        ),
        (r"\begin{align*}x &= \left[y=z\right]\\ \text{if } n &\bmod 2\end{align*}", "x y z if n mod 2"),
        (r"\LaTeX{} and \TeX", "LaTeX and TeX"),
    ],
)
def test_what_is_on_the_page(written: str, shown: str) -> None:
    assert text(written) == folded(shown)


PAPER = r"""% \begin{document} in a comment
\documentclass[12pt]{article}
\usepackage[utf8]{inputenc}
\newcommand{\hidden}[1]{gone #1}
% \title{Old}
\title[Short]{A {\em Long} Title}
\author{Jos\'e \and {\O}re}
gone
\begin{document}
\maketitle
Body.
\end{document}
gone
"""


def test_of_the_preamble_title_and_authors_are_kept() -> None:
    assert text(PAPER) == folded("A Long Title José Øre Body")
    assert text(PAPER.replace("\n", "\r\n")) == text(PAPER)
    assert text(PAPER.replace("\n", "\r")) == text(PAPER)


def test_symbols_point_at_their_bytes(level: str) -> None:
    data = "Č\\emph{a}\\label{no}Stra\\ss e, \\'{e}\\alpha{} % no\n日".encode()
    found = read(data)
    parts = [data[a:b].decode() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]
    assert parts == ["Č", "a", "S", "t", "r", "a", "\\s", "\\s", "e", "e", "\\a", "日"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "shift_jis", "utf-8-sig"])
def test_any_encoding(encoding: str) -> None:
    words = "吾輩は猫である" if encoding == "shift_jis" else "déjà vu"
    data = rf"\section{{{words}}} \'e % gone".encode(encoding)
    assert read(data, encoding).symbols.tolist() == stream(words + " é").symbols.tolist()


MARKS = [
    b"\\", b"{", b"}", b"[", b"]", b"%", b"\n", b"\r", b"$", b"|", b"=", b" ", b"a", b"1pt", b"\xc3", b"\xa9",
    b"#1", b"*", b"\\begin", b"\\end", b"{document}", b"{comment}", b"{verbatim}", b"{tabular}", b"\\verb",
    b"\\def", b"\\let", b"\\label", b"\\newcommand", b"\\title", b"\\cite", b"\\hskip", b"\\o", b"\\pi",
    b"\\x",
]  # fmt: skip


@given(st.lists(st.sampled_from(MARKS), max_size=40).map(b"".join))
def test_any_bytes_are_read_and_none_is_moved(data: bytes) -> None:
    left = tex_page(data)
    assert len(left) == len(data)
    written = "øπå".encode()  # \\o, \\pi and \\aa
    assert all(b in (a, 0x20) or b in written for a, b in zip(data, left, strict=True))


@given(st.text(st.characters(exclude_characters="\\%", codec="utf-8")))
def test_what_has_no_commands_is_left_alone(words: str) -> None:
    assert tex_page(words.encode()) == words.encode()


HOSTILE = r"""
from chaffinch.native.formats import tex_page as blank
units = [
    b"\\", b"$", b"{", b"}", b"\\begin{", b"\\label{", b"\\verb|%|\\label{", b"\\section[",
    b"\\begin{comment}", b"\\begin{verbatim}", b"\\verb!", b"\\def\\a", b"\\title{", b"%\\begin{document}",
    b"\\newcommand{\\x}[", b"\\href{{", b"\\cite[", b"\\hskip 1", b"\\end{document", b"\\\\[", b"\\label{{}",
    b"\\verb", b"\\let",
]
for unit in units:
    for end in (b"", b"\\begin{document}"):
        data = unit * (400_000 // len(unit)) + end
        assert len(blank(data)) == len(data)
for command, run in [(b"hskip", b"1"), (b"def", b" "), (b"let\\x", b" "), (b"cite[", b"x"), (b"begin{", b"a")]:
    blank(b"\\" + command + run * 400_000)
assert not blank(b"\\label" + b"{" * 100_000 + b"}" * 100_000).strip()
"""


@pytest.mark.slow
def test_hostile_files_cost_no_more_than_their_length() -> None:
    """A search that starts again at every command would take hours."""
    subprocess.run([sys.executable, "-c", HOSTILE], check=True, timeout=300)
