//! How a programming language is written, as a table: no code per language.

/// A name, a number, a string; punctuation is its own byte, keywords have the top bit set.
pub(crate) const NAME: u32 = 1;
pub(crate) const NUMBER: u32 = 2;
pub(crate) const STRING: u32 = 3;
const WORD: u32 = 1 << 31;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Class {
    #[default]
    Space,
    Name,
    Digit,
    Mark,
}

/// Something that begins with fixed bytes and is skipped or taken as a whole.
pub(crate) struct Rule {
    pub(crate) open: Vec<u8>,
    pub(crate) kind: Kind,
    /// Counts only as the first thing on its line.
    pub(crate) first: bool,
}

pub(crate) enum Kind {
    LineComment,
    BlockComment {
        close: Vec<u8>,
        nested: bool,
    },
    /// `escape` hides the byte behind it; a `doubled` close is part of the string.
    Text {
        close: Vec<u8>,
        escape: Option<u8>,
        doubled: bool,
        lines: bool,
    },
    /// One character between quotes; otherwise the quote is a mark.
    Char {
        escape: Option<u8>,
    },
    /// A number of fence bytes, then a quote; closed by a quote and as many fence bytes.
    Fenced {
        fence: u8,
        quote: u8,
        close: u8,
    },
    /// Up to the bracket a word of the writer's own, which closes the string.
    Tagged,
    /// A line that is ceremony: imports and the like.
    Ceremony,
}

/// Lines whose columns have meaning.
pub(crate) struct Columns {
    pub(crate) comment: Vec<u8>,
    pub(crate) continuation: usize,
    pub(crate) last: usize,
}

/// How a language is written.
pub struct Language {
    pub(crate) classes: [Class; 256],
    pub(crate) inside: [bool; 256],
    pub(crate) rules: Vec<Rule>,
    /// For every first byte the rules to try, longest first.
    pub(crate) by_byte: Vec<Vec<u16>>,
    /// Whether there are any.
    pub(crate) ruled: [bool; 256],
    /// For every first byte the lengths of keywords, a bit each: most names are told by that.
    lengths: [u32; 256],
    /// Hashes of keywords, open addressing; 0 is free.
    words: Vec<u32>,
    pub(crate) ignore_case: bool,
    pub(crate) keep_names: bool,
    pub(crate) columns: Option<Columns>,
}

fn length_bit(word: &[u8]) -> u32 {
    1 << word.len().min(31)
}

/// FNV-1a, made to fit a symbol: the same word is the same symbol in every language and release.
pub(crate) fn word_hash(word: &[u8], ignore_case: bool) -> u32 {
    let hash = word.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| {
        let b = if ignore_case { b.to_ascii_lowercase() } else { b };
        (h ^ b as u64).wrapping_mul(0x100_0000_01b3)
    });
    WORD | (hash ^ (hash >> 32)) as u32
}

impl Language {
    /// From records separated by byte 30, with fields separated by byte 31; see `languages.py`.
    pub fn parse(table: &[u8]) -> Result<Language, String> {
        let mut language = Language {
            classes: [Class::Space; 256],
            inside: [false; 256],
            rules: Vec::new(),
            by_byte: vec![Vec::new(); 256],
            ruled: [false; 256],
            lengths: [0; 256],
            words: Vec::new(),
            ignore_case: false,
            keep_names: false,
            columns: None,
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
        language.words = vec![0; (4 * keywords.len()).next_power_of_two().max(4)];
        let mask = language.words.len() - 1;
        for word in keywords {
            let hash = word_hash(&word, language.ignore_case);
            let mut slot = hash as usize & mask;
            while language.words[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            language.words[slot] = hash;
            let first = word[0] as usize;
            language.lengths[first] |= length_bit(&word);
            if language.ignore_case && word[0].is_ascii_alphabetic() {
                language.lengths[first ^ 0x20] |= length_bit(&word);
            }
        }
        language.rules.sort_by_key(|rule| std::cmp::Reverse(rule.open.len()));
        for (i, rule) in language.rules.iter().enumerate() {
            let first = rule.open[0];
            language.by_byte[first as usize].push(i as u16);
            language.ruled[first as usize] = true;
            if language.ignore_case && first.is_ascii_alphabetic() {
                language.by_byte[first as usize ^ 0x20].push(i as u16);
                language.ruled[first as usize ^ 0x20] = true;
            }
        }
        Ok(language)
    }

    fn apply(&mut self, fields: &[&[u8]], keywords: &mut Vec<Vec<u8>>) -> Result<(), &'static str> {
        let field = |i: usize| fields.get(i).map(|f| f.to_vec()).ok_or("a field is missing");
        let byte = |i: usize| fields.get(i).and_then(|f| f.first().copied());
        let flag = |i: usize| byte(i) == Some(b'1');
        let number = |i: usize| {
            std::str::from_utf8(fields.get(i).copied().unwrap_or_default())
                .ok()
                .and_then(|text| text.parse::<usize>().ok())
                .ok_or("a number is missing")
        };
        let mut first = false;
        let kind = match fields[0] {
            b"keyword" => {
                let word = field(1)?;
                if word.is_empty() {
                    return Err("an empty field");
                }
                keywords.push(word);
                return Ok(());
            }
            b"ignore-case" => {
                self.ignore_case = true;
                return Ok(());
            }
            b"keep-names" => {
                self.keep_names = true;
                return Ok(());
            }
            b"starts-name" => {
                for b in field(1)? {
                    self.classes[b as usize] = Class::Name;
                    self.inside[b as usize] = true;
                }
                return Ok(());
            }
            b"inside-name" => {
                field(1)?.iter().for_each(|&b| self.inside[b as usize] = true);
                return Ok(());
            }
            b"columns" => {
                if number(2)? == 0 {
                    return Err("columns count from 1");
                }
                self.columns = Some(Columns { comment: field(1)?, continuation: number(2)?, last: number(3)? });
                return Ok(());
            }
            b"line-comment" => {
                first = flag(2);
                Kind::LineComment
            }
            b"block-comment" => {
                first = flag(4);
                Kind::BlockComment { close: field(2)?, nested: flag(3) }
            }
            b"string" => Kind::Text { close: field(2)?, escape: byte(3), doubled: flag(4), lines: flag(5) },
            b"char" => Kind::Char { escape: byte(2) },
            b"fenced" => Kind::Fenced {
                fence: byte(2).ok_or("a fence is missing")?,
                quote: byte(3).ok_or("a quote is missing")?,
                close: byte(4).ok_or("a close is missing")?,
            },
            b"tagged" => Kind::Tagged,
            b"ceremony" => {
                first = true;
                Kind::Ceremony
            }
            _ => return Err("an unknown kind"),
        };
        let open = field(1)?;
        if open.is_empty()
            || matches!(&kind, Kind::BlockComment { close, .. } | Kind::Text { close, .. } if close.is_empty())
        {
            return Err("an empty field");
        }
        self.rules.push(Rule { open, kind, first });
        Ok(())
    }

    /// The symbol of a name: its own if it is a keyword or names are kept.
    pub(crate) fn name(&self, word: &[u8]) -> u32 {
        if self.keep_names {
            return word_hash(word, self.ignore_case);
        }
        if self.lengths[word[0] as usize] & length_bit(word) == 0 {
            return NAME;
        }
        let hash = word_hash(word, self.ignore_case);
        let mask = self.words.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.words[slot] {
                0 => return NAME,
                found if found == hash => return hash,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    pub(crate) fn starts_with(&self, text: &[u8], open: &[u8]) -> bool {
        text.len() >= open.len()
            && if self.ignore_case {
                text[..open.len()].eq_ignore_ascii_case(open)
            } else {
                &text[..open.len()] == open
            }
    }
}
