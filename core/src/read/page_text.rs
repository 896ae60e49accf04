//! Web pages -> text for people: what a reader sees, with a line for each block and a tab before each cell.

use crate::read::html::{Page, Piece};

/// Elements that begin and end a line.
const BLOCKS: &str = "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset \
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol optgroup option p \
    pre section summary table tbody tfoot thead title tr ul";

/// White space from narrow to wide. A gap in the text is written as the widest that is in it.
const SPACES: &[u8] = b" \x0c\t\n";

/// Return the text of a page in UTF-8, as UTF-8. It has the same letters as the stream of the page.
pub fn page_text(page: &[u8]) -> Vec<u8> {
    let mut text = Text { written: Vec::new(), gap: None };
    let mut is_preformatted = false;
    let mut pieces = Page::new(page.strip_prefix(b"\xef\xbb\xbf").unwrap_or(page));
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Tag { name, is_closing } => {
                if BLOCKS.split(' ').any(|block| name.eq_ignore_ascii_case(block.as_bytes())) {
                    text.push(b"\n");
                    if name.eq_ignore_ascii_case(b"pre") {
                        is_preformatted = !is_closing;
                    }
                } else if !is_closing && [b"td", b"th"].iter().any(|cell| name.eq_ignore_ascii_case(*cell)) {
                    text.push(b"\t");
                }
            }
            Piece::Text { start, end } => {
                for part in pieces.text()[start..end].split_inclusive(|byte| byte.is_ascii_whitespace()) {
                    let (last, word) = part.split_last().expect("parts are not empty");
                    match last {
                        b'\r' | b'\n' if is_preformatted => text.push(word).push(b"\n"),
                        b' ' | b'\t' | b'\n' | b'\x0c' | b'\r' if !is_preformatted => {
                            text.push(word).push(b" ")
                        }
                        _ => text.push(word).push(&[*last]),
                    };
                }
            }
            Piece::Named { codes, .. } => codes.iter().for_each(|&code| text.push_code(code)),
            Piece::Number { code, .. } => text.push_code(code),
        }
    }
    text.written
}

/// Text that is written, and the widest white space since.
struct Text {
    written: Vec<u8>,
    gap: Option<usize>,
}

impl Text {
    /// Append one white space or something that has none in it.
    fn push(&mut self, bytes: &[u8]) -> &mut Self {
        if let [byte] = bytes
            && let Some(width) = SPACES.iter().position(|space| space == byte)
        {
            self.gap = self.gap.max(Some(width));
        } else if !bytes.is_empty() {
            if let Some(width) = self.gap.take()
                && !self.written.is_empty()
            {
                self.written.push(SPACES[width]);
            }
            self.written.extend_from_slice(bytes);
        }
        self
    }

    fn push_code(&mut self, code: u32) {
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.push(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}
