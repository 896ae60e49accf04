//! A programming language as data: what opens and closes comments and strings, what names are made of, which words
//! are keywords. There is no code for any one language.

use crate::read::keyword::Keywords;
use crate::read::symbol::{NAME, NUMBER, STRING, spelling};

/// The last column of a line that can have a meaning.
const MAX_COLUMN: usize = 1 << 16;
/// Rules have numbers of 16 bits.
const MAX_RULES: usize = 1 << 16;

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Class {
    #[default]
    Space,
    Name,
    Digit,
    Mark,
    /// A punctuation mark that may begin a number.
    Point,
}

/// A comment, string or the like: it begins with fixed bytes and is skipped or becomes one token.
pub(crate) struct Rule {
    pub(crate) open: Vec<u8>,
    pub(crate) kind: Kind,
    /// Applies only at the start of a line, after white space.
    pub(crate) first: bool,
    /// If its close stands right before a word, it opens another: then this one was not closed.
    pub(crate) reopens: bool,
}

pub(crate) enum Kind {
    /// Ends with its line.
    LineComment,
    /// Ends with its close; `nested` ones are counted.
    BlockComment { close: Vec<u8>, nested: bool },
    /// `escape` hides the byte behind it; a `doubled` close is part of the string.
    Text { close: Vec<u8>, escape: Option<u8>, doubled: bool, lines: bool },
    /// One character between quotes; otherwise the quote is a punctuation mark.
    Char { escape: Option<u8> },
    /// Some fence bytes, then a quote; closed by a quote and the same number of fence bytes.
    Fenced { fence: u8, quote: u8, close: u8 },
    /// The programmer chooses the word before the bracket, which also closes the string.
    Tagged,
    /// The programmer chooses a word, perhaps quoted; the line that begins with it closes the string.
    Here,
    /// Fixed bytes that look like the opening of something else.
    Literal,
    /// A regular expression between two marks on a line. It begins where no operator can stand: behind one of the
    /// marks `after`, behind one of the words, or at the start.
    Pattern { after: Vec<u8>, words: Vec<Vec<u8>> },
    /// A statement that says nothing about the program: imports and the like. It ends with its line at the latest.
    Ceremony,
    /// The end of the program, up to where it continues.
    Outside,
}

impl Kind {
    /// Return whether it gives no token.
    pub(crate) fn is_skipped(&self) -> bool {
        matches!(self, Kind::LineComment | Kind::Ceremony | Kind::BlockComment { .. } | Kind::Outside)
    }
}

impl Rule {
    fn closes_with(&self, mark: &[u8]) -> bool {
        matches!(&self.kind, Kind::BlockComment { close, .. } | Kind::Text { close, .. } if close == mark)
    }
}

/// The meaning of columns, in languages with fixed lines. Columns count from 1.
pub(crate) struct Columns {
    pub(crate) comment: Vec<u8>,
    pub(crate) continuation: usize,
    pub(crate) last: usize,
}

/// The marks between a program and the page that contains it.
pub(crate) struct Outside {
    pub(crate) close: Vec<u8>,
    pub(crate) open: Vec<u8>,
    /// Words that belong to the mark if they follow it.
    pub(crate) rest: Vec<Vec<u8>>,
}

impl Outside {
    /// Return how many bytes of a text belong to the mark before it.
    pub(crate) fn rest_of_mark(&self, text: &[u8]) -> usize {
        let begins = |rest: &&Vec<u8>| text.get(..rest.len()).is_some_and(|t| t.eq_ignore_ascii_case(rest));
        self.rest.iter().find(begins).map_or(0, Vec::len)
    }
}

/// The rules of a language.
pub struct Language {
    pub(crate) classes: [Class; 256],
    /// The bytes that names consist of.
    pub(crate) inside: [bool; 256],
    /// The bytes that may separate the digits of a number.
    pub(crate) inside_number: [bool; 256],
    pub(crate) rules: Vec<Rule>,
    /// The rules to try for every first byte, longest first.
    pub(crate) by_byte: Vec<Vec<u16>>,
    /// Whether a rule begins with white space: then the last of several spaces may begin a comment.
    pub(crate) is_space_ruled: bool,
    /// One bit for every two bytes: whether a rule may begin with them.
    pairs: Box<[u64; 256 * 4]>,
    pub(crate) keywords: Keywords,
    pub(crate) ignore_case: bool,
    /// Whether every symbol is the named one.
    pub(crate) keep_names: bool,
    /// The marks that end a ceremony before its line ends.
    pub(crate) ceremony_ends: Vec<Vec<u8>>,
    pub(crate) columns: Option<Columns>,
    pub(crate) outside: Option<Outside>,
}

impl Language {
    /// Parse records separated by byte 30, of fields separated by byte 31. `languages/language.py` makes them.
    pub fn parse(table: &[u8]) -> Result<Language, String> {
        let mut language = Language {
            classes: [Class::Space; 256],
            inside: [false; 256],
            inside_number: [false; 256],
            rules: Vec::new(),
            by_byte: vec![Vec::new(); 256],
            is_space_ruled: false,
            pairs: Box::new([0; 256 * 4]),
            keywords: Keywords::default(),
            ignore_case: false,
            keep_names: false,
            ceremony_ends: Vec::new(),
            columns: None,
            outside: None,
        };
        for byte in 0..=255u8 {
            let name = byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80;
            let class = match byte {
                _ if name => Class::Name,
                b'0'..=b'9' => Class::Digit,
                b'!'..=b'~' => Class::Mark,
                _ => Class::Space,
            };
            language.classes[byte as usize] = class;
            language.inside[byte as usize] = name || class == Class::Digit;
        }
        let mut keywords = Vec::new();
        for record in table.split(|&b| b == 30).filter(|r| !r.is_empty()) {
            let fields: Vec<&[u8]> = record.split(|&b| b == 31).collect();
            language
                .apply(&fields, &mut keywords)
                .map_err(|why| format!("{why} in the record {:?}", String::from_utf8_lossy(record)))?;
        }
        if language.rules.len() > MAX_RULES {
            return Err(format!("there are {} rules; give at most {MAX_RULES}", language.rules.len()));
        }
        language.keywords = Keywords::new(&keywords, language.ignore_case);
        language.rules.sort_by_key(|rule| std::cmp::Reverse(rule.open.len()));
        for (i, rule) in language.rules.iter().enumerate() {
            let same = |a: u8, b: u8| a == b || language.ignore_case && a.eq_ignore_ascii_case(&b);
            for first in (0..=255).filter(|&b| same(rule.open[0], b)) {
                language.by_byte[first as usize].push(i as u16);
                for second in (0..=255).filter(|&b| rule.open.get(1).is_none_or(|&own| same(own, b))) {
                    language.pairs[first as usize * 4 + second as usize / 64] |= 1 << (second % 64);
                }
            }
        }
        language.is_space_ruled =
            (0..256).any(|b| language.classes[b] == Class::Space && !language.by_byte[b].is_empty());
        Ok(language)
    }

    /// Return whether a rule may begin with these two bytes.
    #[inline(always)]
    pub(crate) fn may_begin(&self, first: u8, second: u8) -> bool {
        self.pairs[first as usize * 4 + second as usize / 64] >> (second % 64) & 1 != 0
    }

    fn apply(&mut self, fields: &[&[u8]], keywords: &mut Vec<Vec<u8>>) -> Result<(), &'static str> {
        let field = |i: usize| fields.get(i).map(|f| f.to_vec()).ok_or("a field is missing");
        let number = |i: usize| {
            let text = std::str::from_utf8(fields.get(i).copied().unwrap_or_default());
            text.ok().and_then(|text| text.parse::<usize>().ok()).ok_or("a number is missing")
        };
        match fields[0] {
            b"keyword" => keywords.push(field(1).and_then(filled)?),
            b"ignore-case" => self.ignore_case = true,
            b"keep-names" => self.keep_names = true,
            b"starts-name" => {
                for b in field(1)? {
                    self.classes[b as usize] = Class::Name;
                    self.inside[b as usize] = true;
                }
            }
            b"starts-number" => field(1)?.iter().for_each(|&b| self.classes[b as usize] = Class::Point),
            b"inside-number" => field(1)?.iter().for_each(|&b| self.inside_number[b as usize] = true),
            b"inside-name" => field(1)?.iter().for_each(|&b| self.inside[b as usize] = true),
            b"columns" if !(1..=MAX_COLUMN).contains(&number(2)?) => {
                return Err("columns count from 1 to 65536");
            }
            b"columns" => {
                self.columns = Some(Columns { comment: field(1)?, continuation: number(2)?, last: number(3)? });
            }
            b"ceremony-end" => self.ceremony_ends.push(field(1).and_then(filled)?),
            b"reopens" => {
                let mark = field(1)?;
                self.rules.iter_mut().for_each(|rule| rule.reopens |= rule.closes_with(&mark));
            }
            _ => self.add_rule(fields)?,
        }
        Ok(())
    }

    fn add_rule(&mut self, fields: &[&[u8]]) -> Result<(), &'static str> {
        let field = |i: usize| fields.get(i).map(|f| f.to_vec()).ok_or("a field is missing").and_then(filled);
        let byte = |i: usize| fields.get(i).and_then(|f| f.first().copied());
        let flag = |i: usize| byte(i) == Some(b'1');
        let (kind, first) = match fields[0] {
            b"outside" => {
                let rest = (3..fields.len()).map(|i| fields[i].to_vec()).collect();
                self.outside = Some(Outside { close: field(1)?, open: field(2)?, rest });
                (Kind::Outside, false)
            }
            b"line-comment" => (Kind::LineComment, flag(2)),
            b"block-comment" => (Kind::BlockComment { close: field(2)?, nested: flag(3) }, flag(4)),
            b"string" => {
                let (escape, doubled, lines) = (byte(3), flag(4), flag(5));
                (Kind::Text { close: field(2)?, escape, doubled, lines }, false)
            }
            b"char" => (Kind::Char { escape: byte(2) }, false),
            b"fenced" => {
                let fence = byte(2).ok_or("a fence is missing")?;
                let quote = byte(3).ok_or("a quote is missing")?;
                (Kind::Fenced { fence, quote, close: byte(4).ok_or("a close is missing")? }, false)
            }
            b"tagged" => (Kind::Tagged, false),
            b"here" => (Kind::Here, false),
            b"literal" => (Kind::Literal, false),
            b"pattern" => {
                let words = (3..fields.len()).map(|i| fields[i].to_vec()).collect();
                (Kind::Pattern { after: field(2)?, words }, false)
            }
            b"ceremony" => (Kind::Ceremony, true),
            _ => return Err("there is no such kind of record"),
        };
        self.rules.push(Rule { open: field(1)?, kind, first, reopens: false });
        Ok(())
    }

    /// Return the named symbol of a token: a name, number or string by what it says, anything else as it is.
    #[inline(always)]
    pub(crate) fn named(&self, symbol: u32, token: &[u8]) -> u32 {
        match symbol {
            NAME => spelling(token, self.ignore_case),
            NUMBER | STRING => spelling(token, false),
            _ => symbol,
        }
    }

    #[inline(always)]
    pub(crate) fn starts_with(&self, text: &[u8], open: &[u8]) -> bool {
        let same = |(a, b): (&u8, &u8)| a == b || self.ignore_case && a.eq_ignore_ascii_case(b);
        text.len() >= open.len() && text.iter().zip(open).all(same)
    }
}

fn filled(field: Vec<u8>) -> Result<Vec<u8>, &'static str> {
    if field.is_empty() { Err("an empty field") } else { Ok(field) }
}
