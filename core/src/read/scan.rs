//! Small matchers for markup: each returns where it ends, or nothing, and looks no further than it must.

/// Return whether a byte is white space, as regular expressions have it.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Return the first offset from `at` on whose byte does not belong, or the end of the text.
pub(crate) fn skip(text: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
}

/// The same, but at most `most` bytes further.
pub(crate) fn skip_some(text: &[u8], at: usize, most: usize, belongs: impl Fn(u8) -> bool) -> usize {
    skip(&text[..text.len().min(at.saturating_add(most))], at, belongs)
}

pub(crate) fn skip_space(text: &[u8], at: usize) -> usize {
    skip(text, at, is_space)
}

/// Return the offset behind a byte that must be here.
pub(crate) fn byte(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (text.get(at) == Some(&byte)).then_some(at + 1)
}

/// Return the offset behind a word that must be here.
pub(crate) fn word(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    text.get(at..)?.starts_with(word).then_some(at + word.len())
}

/// Return where the line ends, at a line feed or a carriage return.
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    crate::read::byte_search::find(text, at, [b'\n', b'\r'])
}

/// Return the first offset from `at` on where a word stands.
pub(crate) fn find_word(text: &[u8], mut at: usize, word: &[u8]) -> Option<usize> {
    loop {
        at = crate::read::byte_search::find(text, at, [word[0]]);
        if text.get(at..)?.starts_with(word) {
            return Some(at);
        }
        if at >= text.len() {
            return None;
        }
        at += 1;
    }
}
