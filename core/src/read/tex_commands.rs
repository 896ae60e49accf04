//! What the commands and environments of TeX and LaTeX stand for, and what follows them.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Commands that are shown by their own names.
const NAMES_AS_TEXT: &str = "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim \
    liminf limsup ln log max min sec sin sinh sup tan tanh Pr TeX LaTeX LaTeXe BibTeX XeTeX LuaTeX";

/// Commands, each with the text that it stands for. A command is never shorter, so the text fits in its place.
const CHARACTERS: &str = "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta θ iota ι \
    kappa κ varkappa κ lambda λ mu μ nu ν xi ξ pi π varpi π rho ρ varrho ρ sigma σ varsigma ς tau τ upsilon υ phi φ \
    varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω \
    ell ℓ hbar ħ Re ℜ Im ℑ aleph ℵ imath i jmath j bmod mod pmod mod i ı j ȷ ss ß SS SS ae æ AE Æ oe œ OE Œ o ø O Ø \
    aa å AA Å l ł L Ł dh ð DH Ð dj đ DJ Đ th þ TH Þ ng ŋ NG Ŋ ij ij IJ IJ textordfeminine a textordmasculine o \
    texttrademark ™";

/// What follows a command and is not text: d an argument, o an option in brackets, g a number or length, D and l a
/// definition, B and E the name of an environment; v is verbatim text. Arguments after these are text, and so are all
/// arguments of commands that are not listed.
const COMMANDS: [(&str, &str); 21] = [
    (
        "d",
        "label nocite index glossary input include includeonly subfile bibliography bibliographystyle addbibresource \
         hypersetup geometry graphicspath hspace vspace addvspace pagestyle thispagestyle pagenumbering stepcounter \
         refstepcounter newlength newsavebox usebox value arabic roman Roman alph Alph fnsymbol cline hyphenation \
         selectlanguage foreignlanguage usetikzlibrary tikzset pgfplotsset lstset markright fontfamily fontseries \
         fontshape fontencoding ding symbol phantom hphantom vphantom href hyperlink hypertarget colorbox scalebox \
         captionof verbatiminput typeout message theoremstyle pagecolor enlargethispage linespread setstretch \
         bookmarksetup sisetup",
    ),
    (
        "od",
        "usepackage RequirePackage documentclass LoadClass includegraphics color textcolor rotatebox bibitem usetheme \
         usecolortheme usefonttheme lstinputlisting captionsetup cmidrule tikz includepdf",
    ),
    (
        "dd",
        "setlength addtolength setcounter addtocounter numberwithin resizebox fcolorbox multicolumn markboth fontsize \
         DeclareMathOperator PassOptionsToPackage settowidth newcolumntype DeclareUnicodeCharacter colorlet \
         setbeamertemplate setbeamercolor setbeamerfont",
    ),
    ("odd", "rule multirow inputminted"),
    ("ddd", "definecolor addcontentsline crefname Crefname"),
    ("dddd", "usefont titlespacing"),
    ("do", "newcounter"),
    ("dood", "newcommand renewcommand providecommand DeclareRobustCommand"),
    ("doodd", "newenvironment renewenvironment"),
    ("dodo", "newtheorem"),
    ("doo", "raisebox"),
    ("oood", "parbox"),
    ("oo", "makebox framebox"),
    (
        "o",
        "part chapter section subsection subsubsection paragraph subparagraph caption footnote footnotemark \
         footnotetext linebreak nolinebreak pagebreak nopagebreak hyperref todo title author date frametitle",
    ),
    // No option follows these.
    ("", "left right big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr"),
    ("Dd", "def gdef edef xdef"),
    ("l", "let"),
    ("v", "verb lstinline"),
    ("B", "begin"),
    ("E", "end"),
    (
        "g",
        "hskip vskip kern mskip mkern hsize vsize parskip parindent baselineskip leftskip rightskip tolerance penalty \
         char looseness hangindent hangafter widowpenalty clubpenalty raise lower moveleft moveright",
    ),
];

/// What follows the beginning of an environment, in the same letters.
const ENVIRONMENTS: [(&str, &str); 7] = [
    (
        "o",
        "figure figure* table table* itemize enumerate description lstlisting Verbatim frame tcolorbox algorithm \
         algorithmic mdframed",
    ),
    ("od", "tabular array longtable minted subfigure subtable"),
    (
        "d",
        "thebibliography multicols multicols* alignat alignat* spacing otherlanguage otherlanguage* adjustbox",
    ),
    ("dd", "tabularx tabulary list"),
    ("dod", "tabular*"),
    ("odod", "wrapfigure wraptable"),
    ("oood", "minipage"),
];

/// A command: the text that is shown in its place, and what follows it if that is known.
#[derive(Default)]
pub(crate) struct Command {
    pub text: &'static str,
    pub skipped: Option<&'static str>,
}

type Table<T> = HashMap<&'static [u8], T>;

/// Return what is known about a command.
pub(crate) fn command(name: &[u8]) -> Option<&'static Command> {
    static TABLE: OnceLock<Table<Command>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: Table<Command> = HashMap::new();
        for name in NAMES_AS_TEXT.split_whitespace() {
            table.entry(name.as_bytes()).or_default().text = name;
        }
        let mut words = CHARACTERS.split_whitespace();
        while let Some((name, text)) = words.next().zip(words.next()) {
            table.entry(name.as_bytes()).or_default().text = text;
        }
        for (skipped, names) in COMMANDS {
            for name in names.split_whitespace() {
                table.entry(name.as_bytes()).or_default().skipped = Some(skipped);
            }
        }
        table
    });
    table.get(name)
}

/// Return what follows the beginning of an environment.
pub(crate) fn opening(environment: &[u8]) -> &'static str {
    static TABLE: OnceLock<Table<&str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let names = |(skipped, names): (_, &'static str)| {
            names.split_whitespace().map(move |name| (name.as_bytes(), skipped))
        };
        ENVIRONMENTS.into_iter().flat_map(names).collect()
    });
    table.get(environment).copied().unwrap_or_default()
}

/// Return whether nothing of an environment is on the page as text.
pub(crate) fn is_dropped(environment: &[u8]) -> bool {
    matches!(
        environment,
        b"comment"
            | b"filecontents"
            | b"filecontents*"
            | b"tikzpicture"
            | b"tikzcd"
            | b"pgfpicture"
            | b"picture"
            | b"pspicture"
            | b"CCSXML"
    )
}

/// Return whether the content of an environment is shown as it is.
pub(crate) fn is_verbatim(environment: &[u8]) -> bool {
    matches!(environment, b"verbatim" | b"verbatim*" | b"Verbatim" | b"lstlisting" | b"minted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_fits_in_the_place_of_its_command() {
        let pairs: Vec<_> = CHARACTERS.split_whitespace().collect();
        for pair in pairs.chunks(2) {
            assert_eq!(command(pair[0].as_bytes()).expect("it is listed").text, pair[1]);
            assert!(pair[1].len() <= pair[0].len() + 1, "{pair:?}");
        }
    }
}
