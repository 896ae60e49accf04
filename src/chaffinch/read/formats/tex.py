r"""TeX and LaTeX -> a Source of what the typeset pages say.

Commands are overwritten with spaces, so offsets in the result are offsets in the file. The front end drops
punctuation and accents, so neither needs care: \"o is read as o. Letters and digits of formulas stay, including
Greek letters and names like \sin, because they are on the page too. The author's own macros are not expanded;
their arguments count as text.
"""

from __future__ import annotations

import re

from chaffinch.native.fingerprint import Source
from chaffinch.types import Document

_NAMES_AS_TEXT = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln "
    "log max min sec sin sinh sup tan tanh Pr TeX LaTeX LaTeXe BibTeX XeTeX LuaTeX"
)
# A command is never shorter than the text it stands for, so the text fits in its place.
_CHARACTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ", "varkappa": "κ", "lambda": "λ",
    "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "varpi": "π", "rho": "ρ", "varrho": "ρ", "sigma": "σ",
    "varsigma": "ς", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "hbar": "ħ", "Re": "ℜ", "Im": "ℑ",
    "aleph": "ℵ", "imath": "i", "jmath": "j", "bmod": "mod", "pmod": "mod", "i": "ı", "j": "ȷ", "ss": "ß",
    "SS": "SS", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å",
    "l": "ł", "L": "Ł", "dh": "ð", "DH": "Ð", "dj": "đ", "DJ": "Đ", "th": "þ", "TH": "Þ", "ng": "ŋ",
    "NG": "Ŋ", "ij": "ij", "IJ": "IJ", "textordfeminine": "a", "textordmasculine": "o", "texttrademark": "™",
}  # fmt: skip

# What follows a command and is not text: d an argument, o an option in brackets, g a number or length, D and l
# a definition, B and E the name of an environment; v is verbatim text. Arguments after these are text, and so
# are all arguments of commands that are not listed.
_COMMANDS = {
    "d": "label nocite index glossary input include includeonly subfile bibliography bibliographystyle "
    "addbibresource hypersetup geometry graphicspath hspace vspace addvspace pagestyle thispagestyle "
    "pagenumbering stepcounter refstepcounter newlength newsavebox usebox value arabic roman Roman alph Alph "
    "fnsymbol cline hyphenation selectlanguage foreignlanguage usetikzlibrary tikzset pgfplotsset lstset "
    "markright fontfamily fontseries fontshape fontencoding ding symbol phantom hphantom vphantom href "
    "hyperlink hypertarget colorbox scalebox captionof verbatiminput typeout message theoremstyle pagecolor "
    "enlargethispage linespread setstretch bookmarksetup sisetup",
    "od": "usepackage RequirePackage documentclass LoadClass includegraphics color textcolor rotatebox "
    "bibitem usetheme usecolortheme usefonttheme lstinputlisting captionsetup cmidrule tikz includepdf",
    "dd": "setlength addtolength setcounter addtocounter numberwithin resizebox fcolorbox multicolumn "
    "markboth fontsize DeclareMathOperator PassOptionsToPackage settowidth newcolumntype "
    "DeclareUnicodeCharacter colorlet setbeamertemplate setbeamercolor setbeamerfont",
    "odd": "rule multirow inputminted",
    "ddd": "definecolor addcontentsline crefname Crefname",
    "dddd": "usefont titlespacing",
    "do": "newcounter",
    "dood": "newcommand renewcommand providecommand DeclareRobustCommand",
    "doodd": "newenvironment renewenvironment",
    "dodo": "newtheorem",
    "doo": "raisebox",
    "oood": "parbox",
    "oo": "makebox framebox",
    "o": "part chapter section subsection subsubsection paragraph subparagraph caption footnote footnotemark "
    "footnotetext linebreak nolinebreak pagebreak nopagebreak hyperref todo title author date frametitle",
    "": "left right big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr",  # no option follows
    "Dd": "def gdef edef xdef",
    "l": "let",
    "v": "verb lstinline",
    "B": "begin",
    "E": "end",
    "g": "hskip vskip kern mskip mkern hsize vsize parskip parindent baselineskip leftskip rightskip "
    "tolerance penalty char looseness hangindent hangafter widowpenalty clubpenalty raise lower moveleft "
    "moveright",
}
_ENVIRONMENTS = {
    "o": "figure figure* table table* itemize enumerate description lstlisting Verbatim frame tcolorbox "
    "algorithm algorithmic mdframed",
    "od": "tabular array longtable minted subfigure subtable",
    "d": "thebibliography multicols multicols* alignat alignat* spacing otherlanguage otherlanguage* adjustbox",
    "dd": "tabularx tabulary list",
    "dod": "tabular*",
    "odod": "wrapfigure wraptable",
    "oood": "minipage",
}
_DROPPED = b"comment filecontents filecontents* tikzpicture tikzcd pgfpicture picture pspicture CCSXML".split()
_VERBATIM = b"verbatim verbatim* Verbatim lstlisting minted".split()


def _by_name(listed: dict[str, str]) -> dict[bytes, str]:
    return {name.encode(): skipped for skipped, names in listed.items() for name in names.split()}


_TEXTS = {
    name.encode(): _CHARACTERS.get(name, name).encode() for name in (*_CHARACTERS, *_NAMES_AS_TEXT.split())
}
_SKIPPED = _by_name(_COMMANDS)
_OPENINGS = _by_name(_ENVIRONMENTS)

# No pattern looks further than the next bracket or brace, and none backtracks: all take linear time.
_TOKEN = re.compile(rb"\\(?:([A-Za-z@]++)\*?|\\\*?(?:\[[^\[\]]{0,99}+\])?|[^A-Za-z@\\])|%[^\r\n]*+")
_BODY = re.compile(rb"\\begin\s*+\{document\}")
_FRONT = re.compile(
    rb"%[^\r\n]*+|\\(?:(?:title|subtitle|author|date|institute)\*?(?:\[[^\[\]]*+\])?\s*+(?=(\{))|[\s\S])"
)
_BRACE = re.compile(rb"[{}]|\\[\s\S]|%[^\r\n]*+")
_SIMPLE_ARGUMENT = re.compile(rb"\{[^{}\\%]*+\}")
_ARGUMENT = re.compile(rb"\s*+(?:(\{)|\\(?:[A-Za-z@]++|[^A-Za-z@]))")
_OPTION = re.compile(rb"\s*+\[[^\[\]]{0,1000}+\]")
_KEYS_AND_VALUES = re.compile(rb"\[\s*+[a-z][A-Za-z -]{1,40}+=[^\[\]]{0,1000}+\]")
_UNIT = rb"(?:true)?(?:pt|em|ex|cm|mm|in|bp|pc|sp|mu|fil{1,3})(?![A-Za-z])"
_LENGTH = re.compile(
    rb"""\s*+=?\s*+[-+]?(?:"[0-9A-F]++|'[0-7]++|[\d.]++(?:\s?%(u)s)?(?:\s?(?:plus|minus)\s?[\d.]++\s?%(u)s)*+)"""
    % {b"u": _UNIT}
)
_ENVIRONMENT = re.compile(rb"\s*+\{\s*+([A-Za-z@]++\*?)\s*+\}")
_VERB = re.compile(rb"([^A-Za-z\s*\[{])[^\r\n]*?\1")
_DEFINED = re.compile(rb"\s*+\\(?:[A-Za-z@]++|.)[^{}\r\n]{0,200}+")
_LET = re.compile(rb"\s*+\\(?:[A-Za-z@]++|.)\s*+=?\s*+(?:\\(?:[A-Za-z@]++|.))?")
_PATTERNS = {"o": _OPTION, "g": _LENGTH, "D": _DEFINED, "l": _LET, "v": _VERB}

_MAX_FAILURES = 8
"""Searches to the end of the file without result, after which the file counts as broken."""


def source(document: Document) -> Source:
    """Return the document as the core reads it."""
    return Source.unicode(blank(document.data), "utf-8")


def blank(data: bytes) -> bytes:
    """Return a text in UTF-8 with spaces for everything that is not on the page, as long as before."""
    return _Page(_without_preamble(data)).read()


def _without_preamble(data: bytes) -> bytes:
    """Return the text with everything before the body blanked, except title and authors."""
    bodies = (body for body in _BODY.finditer(data) if not _in_comment(data, body.start()))
    if (body := next(bodies, None)) is None:
        return data
    page = _Page(data[: body.end()])
    front = bytearray(b" " * body.end())
    end = 0
    for command in _FRONT.finditer(page.data):
        if command.start() >= end and command[1]:
            start = command.end()
            end = page.argument_end(start) or start
            front[start:end] = data[start:end]
    return bytes(front) + data[body.end() :]


def _in_comment(data: bytes, offset: int) -> bool:
    line = data[max(0, offset - 1000) : offset].splitlines()[-1:]
    return bool(line) and b"%" in line[0] and data[offset - 1] not in b"\r\n"


class _Page:
    """A file, and the text of it that is not blanked so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = bytearray(data)
        self.failures = 0

    def blank(self, start: int, end: int, text: bytes = b"") -> None:
        self.left[start:end] = text.ljust(end - start)

    def read(self) -> bytes:
        position: int | None = 0
        while position is not None:
            position = self.read_on(position)
        return bytes(self.left)

    def read_on(self, position: int) -> int | None:
        """Read up to something that is skipped whole. Return where to continue, or None at the end."""
        data, left = self.data, self.left
        for token in _TOKEN.finditer(data, position):
            name = token[1]
            start, end = token.span()
            if name is None:
                if end - start > 2 or data[start] == 0x25:  # a line break with its height, or a comment
                    self.blank(start, end)
                continue
            left[start:end] = _TEXTS.get(name, b"").ljust(end - start)
            skipped = _SKIPPED.get(name)
            if skipped is None:
                skipped = self.guess(name, end) if data[end : end + 1] in (b"{", b"[") else ""
            if skipped and (then := self.skip(end, skipped)) != end:
                return then
        return None

    def guess(self, name: bytes, start: int) -> str:
        """Return what to skip after a command that is not listed."""
        if b"cite" in name or name.endswith(b"ref"):
            return "ood"
        if b"index" in name:
            return "d"
        return "o" if _KEYS_AND_VALUES.match(self.data, start) else ""

    def skip(self, start: int, items: str) -> int:
        """Blank what is not text, in the letters of `_COMMANDS`, and return where to continue."""
        for item in items:
            if item == "d":
                end = self.dropped_argument(start)
            elif item in _PATTERNS:
                match = _PATTERNS[item].match(self.data, start)
                end = match.end() if match else start
            else:
                return self.environment(start, is_end=item == "E")
            if item != "v":
                self.blank(start, end)
            start = end
        return start

    def dropped_argument(self, start: int) -> int:
        """Return the end of an argument: in braces, or a single command."""
        argument = _ARGUMENT.match(self.data, start)
        if argument is None:
            return start
        return self.argument_end(argument.start(1)) or start if argument[1] else argument.end()

    def environment(self, start: int, is_end: bool) -> int:
        """Blank the name of an environment, or all of one that is not read, and return where to continue."""
        match = _ENVIRONMENT.match(self.data, start)
        if match is None:
            return start
        name = match[1]
        end = len(self.data) if is_end and name == b"document" else match.end()
        self.blank(start, end)
        if is_end:
            return end
        start = self.skip(end, _OPENINGS.get(name, ""))
        if name not in _DROPPED + _VERBATIM or self.failures >= _MAX_FAILURES:
            return start
        end = self.data.find(b"\\end{%s}" % name, start)
        if end < 0:
            self.failures += 1
            return start
        if name in _DROPPED:
            self.blank(start, end)
        return end

    def argument_end(self, start: int) -> int | None:
        """Return the offset after the brace that closes the one here."""
        if simple := _SIMPLE_ARGUMENT.match(self.data, start):
            return simple.end()
        if self.failures >= _MAX_FAILURES:
            return None
        depth = 0
        for brace in _BRACE.finditer(self.data, start):
            byte = self.data[brace.start()]
            depth += (byte == 0x7B) - (byte == 0x7D)
            if depth <= 0:
                return brace.end()
        self.failures += 1
        return None
