//! Rich Text Format (RTF) -> the text of a document, without headers, footers, comments and hidden text.

use std::collections::HashMap;
use std::mem::take;

use crate::read::code_pages::CodePages;
use crate::read::paragraphs::{Paragraphs, Sections};
use crate::read::scan::{skip, skip_some};

const LONGEST_WORD: usize = 32;
const MOST_DIGITS: usize = 10;
const WESTERN: u32 = 1252;
const MACINTOSH: u32 = 10000;

/// The settings within a pair of braces.
#[derive(Clone, Copy)]
struct Group {
    is_skipped: bool,
    is_hidden: bool,
    is_font_table: bool,
    is_note: bool,
    /// The code page of the font, or 0 for that of the document.
    page: u32,
    /// How many characters after a Unicode character replace it in old programs.
    fallback: u64,
}

/// Return the text of a file whose first group begins at `start`.
pub fn rtf_text(data: &[u8], start: usize, pages: &CodePages) -> Sections {
    let group = Group {
        is_skipped: false,
        is_hidden: false,
        is_font_table: false,
        is_note: false,
        page: 0,
        fallback: 1,
    };
    let mut reader = Reader {
        pages,
        paragraphs: Paragraphs::default(),
        group,
        outer: Vec::new(),
        page: WESTERN,
        fonts: HashMap::new(),
        font: 0,
        bytes: Vec::new(),
        bytes_page: 0,
        text: Text::default(),
        interrupted: Text::default(),
        note: String::new(),
        stand_ins: 0,
        is_optional: false,
    };
    reader.read(data, start);
    reader.paragraphs.finish()
}

/// The text of a paragraph so far. Characters beyond the first 65,536 come in two halves.
#[derive(Default)]
struct Text {
    written: String,
    first_half: Option<u32>,
}

impl Text {
    fn push_unit(&mut self, unit: u32) {
        match (self.first_half, unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                self.first_half = None;
                let code = 0x1_0000 + ((high & 0x3ff) << 10 | unit & 0x3ff);
                self.written.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (_, 0xd800..=0xdbff) => {
                self.whole();
                self.first_half = Some(unit);
            }
            _ => self.whole().push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// Return the text, after a half of a character without its other half was replaced.
    fn whole(&mut self) -> &mut String {
        if self.first_half.take().is_some() {
            self.written.push(char::REPLACEMENT_CHARACTER);
        }
        &mut self.written
    }
}

/// The state of the parser at one position of the file.
struct Reader<'a> {
    pages: &'a CodePages<'a>,
    paragraphs: Paragraphs,
    group: Group,
    outer: Vec<Group>,
    /// The code page of the document.
    page: u32,
    /// The code pages of the fonts.
    fonts: HashMap<i64, u32>,
    /// The font being defined.
    font: i64,
    /// Not decoded yet: a character may consist of an escape and a letter.
    bytes: Vec<u8>,
    bytes_page: u32,
    text: Text,
    /// The paragraph that a note is in.
    interrupted: Text,
    /// The paragraphs of the note, each with a line feed before it.
    note: String,
    /// Characters still to skip, because a Unicode character came before them.
    stand_ins: u64,
    /// After `\*`: skip the group if its word is unknown.
    is_optional: bool,
}

impl Reader<'_> {
    fn read(&mut self, data: &[u8], start: usize) {
        let mut at = start;
        while let Some(&byte) = data.get(at) {
            match byte {
                b'\\' => at = self.escape(data, at + 1),
                b'{' => {
                    at += 1;
                    self.stand_ins = 0;
                    self.outer.push(self.group);
                }
                b'}' => {
                    at += 1;
                    self.close();
                    if self.outer.is_empty() {
                        break;
                    }
                }
                b'\r' | b'\n' => at += 1,
                _ => {
                    let end = skip(data, at, |b| !matches!(b, b'\\' | b'{' | b'}' | b'\r' | b'\n'));
                    self.characters(&data[at..end]);
                    at = end;
                }
            }
        }
        while !self.outer.is_empty() {
            self.close(); // a file that is cut off leaves groups open
        }
        self.end_paragraph();
    }

    /// Read what follows a backslash, and return where to continue.
    fn escape(&mut self, data: &[u8], at: usize) -> usize {
        let Some(&first) = data.get(at) else { return at };
        if !first.is_ascii_alphabetic() {
            let digit = |at: usize| data.get(at).and_then(|&byte| (byte as char).to_digit(16));
            if first == b'\''
                && let Some((high, low)) = digit(at + 1).zip(digit(at + 2))
            {
                self.characters(&[(high << 4 | low) as u8]);
                return at + 3;
            }
            if first == b'*' {
                self.is_optional = true;
            } else {
                self.control(&data[at..at + 1], None);
            }
            return at + 1;
        }
        let word = skip_some(data, at, LONGEST_WORD, |b| b.is_ascii_alphabetic());
        let digits = word + (data.get(word) == Some(&b'-')) as usize;
        let mut end = skip_some(data, digits, MOST_DIGITS, |b| b.is_ascii_digit());
        let mut number = None;
        if end > digits {
            number = std::str::from_utf8(&data[word..end]).ok().and_then(|text| text.parse().ok());
        } else {
            end = word;
        }
        end += (data.get(end) == Some(&b' ')) as usize;
        if &data[at..word] == b"bin" {
            return end.saturating_add(number.unwrap_or(0i64).max(0) as usize);
        }
        self.control(&data[at..word], number);
        end
    }

    fn is_shown(&self) -> bool {
        !(self.group.is_skipped || self.group.is_hidden)
    }

    fn close(&mut self) {
        self.stand_ins = 0;
        let Some(outer) = self.outer.pop() else { return };
        let inner = std::mem::replace(&mut self.group, outer);
        if inner.is_note && !self.group.is_note {
            self.end_paragraph_of_note();
            self.paragraphs.add_note(&take(&mut self.note));
            self.text = take(&mut self.interrupted);
        }
    }

    fn characters(&mut self, text: &[u8]) {
        let skipped = self.stand_ins.min(text.len() as u64);
        self.stand_ins -= skipped;
        self.is_optional = false;
        if self.is_shown() {
            let page = if self.group.page == 0 { self.page } else { self.group.page };
            if page != self.bytes_page {
                self.decode();
                self.bytes_page = page;
            }
            self.bytes.extend_from_slice(&text[skipped as usize..]);
        }
    }

    fn decode(&mut self) {
        if !self.bytes.is_empty() {
            self.pages.decode(&self.bytes, self.bytes_page, self.text.whole());
            self.bytes.clear();
        }
    }

    fn write(&mut self, character: u32) {
        if self.is_shown() {
            self.decode();
            self.text.push_unit(character);
        }
    }

    fn control(&mut self, word: &[u8], number: Option<i64>) {
        let is_optional = take(&mut self.is_optional);
        if let (b"u", Some(number)) = (word, number) {
            self.write((number & 0xffff) as u32);
            self.stand_ins = self.group.fallback;
        } else if self.stand_ins > 0 && word != b"uc" {
            self.stand_ins -= 1;
        } else if self.group.is_skipped {
            if self.group.is_font_table {
                self.define_font(word, number.unwrap_or(0));
            }
        } else if let Some(character) = character(word) {
            self.write(character);
        } else {
            self.command(word, number, is_optional);
        }
    }

    fn command(&mut self, word: &[u8], number: Option<i64>, is_optional: bool) {
        match word {
            b"par" | b"sect" | b"page" | b"column" | b"\n" | b"\r" => self.end_paragraph(),
            b"cell" | b"nestcell" => {
                self.end_paragraph();
                self.paragraphs.end_cell();
            }
            b"trowd" | b"row" | b"nestrow" => self.paragraphs.row(),
            b"fonttbl" => {
                self.group.is_skipped = true;
                self.group.is_font_table = true;
            }
            b"footnote" => self.begin_note(),
            b"shpinst" | b"nesttableprops" => {} // optional groups that hold text
            _ if is_optional || is_without_text(word) => self.group.is_skipped = true,
            b"f" => self.group.page = self.fonts.get(&number.unwrap_or(0)).copied().unwrap_or(0),
            b"v" | b"deleted" => self.group.is_hidden = number != Some(0),
            b"plain" => {
                self.group.is_hidden = false;
                self.group.page = 0;
            }
            b"uc" => self.group.fallback = number.unwrap_or(0).max(0) as u64,
            b"ansicpg" => self.page = self.known_page(number.unwrap_or(0)).unwrap_or(self.page),
            b"mac" => self.page = MACINTOSH,
            b"pc" => self.page = 437,
            b"pca" => self.page = 850,
            _ => {}
        }
    }

    fn known_page(&self, number: i64) -> Option<u32> {
        u32::try_from(number).ok().filter(|&page| self.pages.is_known(page))
    }

    fn define_font(&mut self, word: &[u8], number: i64) {
        let page = match word {
            b"f" => {
                self.font = number;
                return;
            }
            b"fcharset" => page_of_charset(number),
            b"cpg" => self.known_page(number),
            _ => None,
        };
        if let Some(page) = page {
            self.fonts.insert(self.font, page);
        }
    }

    fn begin_note(&mut self) {
        if !(self.group.is_note || self.group.is_hidden) {
            self.decode();
            self.interrupted = take(&mut self.text);
        }
        self.group.is_note = !self.group.is_hidden;
    }

    fn end_paragraph(&mut self) {
        if self.is_shown() {
            if self.group.is_note {
                self.end_paragraph_of_note();
            } else {
                self.decode();
                self.paragraphs.add(self.text.whole());
                self.text.written.clear();
            }
        }
    }

    fn end_paragraph_of_note(&mut self) {
        self.decode();
        self.note.push('\n');
        self.note.push_str(self.text.whole());
        self.text.written.clear();
    }
}

/// Return the character that a word stands for.
fn character(word: &[u8]) -> Option<u32> {
    let character = match word {
        b"tab" | b"\t" => '\t',
        b"line" => '\n',
        b"emdash" => '\u{2014}',
        b"endash" => '\u{2013}',
        b"lquote" => '\u{2018}',
        b"rquote" => '\u{2019}',
        b"ldblquote" => '\u{201c}',
        b"rdblquote" => '\u{201d}',
        b"bullet" => '\u{2022}',
        b"emspace" | b"enspace" | b"qmspace" => ' ',
        b"~" => '\u{a0}',
        b"_" => '-',
        b"{" => '{',
        b"}" => '}',
        b"\\" => '\\',
        _ => return None,
    };
    Some(character as u32)
}

/// Return whether this is the first word of a group without text, or with text that occurs elsewhere in another form.
#[rustfmt::skip] // one word a line would be a page
fn is_without_text(word: &[u8]) -> bool {
    matches!(
        word,
        b"colortbl" | b"filetbl" | b"stylesheet" | b"info" | b"pict" | b"header" | b"headerl" | b"headerr" |
        b"headerf" | b"footer" | b"footerl" | b"footerr" | b"footerf" | b"fldinst" | b"sp" | b"shprslt" |
        b"nonesttables" | b"pntext" | b"listtext" | b"xe" | b"tc" | b"private" | b"ftnsep" | b"ftnsepc" | b"ftncn"
        | b"aftnsep" | b"aftnsepc" | b"aftncn" | b"bkmkstart" | b"bkmkend" | b"rxe" | b"template" | b"operator"
    )
}

fn page_of_charset(number: i64) -> Option<u32> {
    Some(match number {
        0 => WESTERN,
        77 => MACINTOSH,
        128 => 932,
        129 => 949,
        130 => 1361,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        255 => 437,
        _ => return None,
    })
}
