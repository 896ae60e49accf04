//! Bytes in the code pages of Windows -> text. The caller gives the tables, because Python has them all.

use std::collections::HashMap;

/// Entries of a table that has only bytes, and of one that has pairs of bytes too.
const SHORT: usize = 256;
const LONG: usize = SHORT + (1 << 16);
/// In a table: what is not a character. For a byte, a pair may begin with it.
const NONE: u32 = u32::MAX;
const UTF8: u32 = 65001;

/// Tables by the numbers of their code pages: the code point of every byte, and perhaps of every pair of bytes.
pub struct CodePages<'a>(HashMap<u32, &'a [u32]>);

impl<'a> CodePages<'a> {
    /// Take tables that lie one after another. `numbers` has the code page and the length of each.
    pub fn new(numbers: &[u32], tables: &'a [u32]) -> Result<Self, String> {
        let (pairs, odd) = numbers.as_chunks::<2>();
        let mut pages = HashMap::new();
        let mut rest = tables;
        for &[page, length] in pairs {
            let table = rest.split_off(..length as usize).filter(|table| matches!(table.len(), SHORT | LONG));
            pages.insert(page, table.ok_or(format!("the table of code page {page} has a wrong length"))?);
        }
        if !(odd.is_empty() && rest.is_empty()) {
            return Err("give a code page and a length for each table".to_string());
        }
        Ok(CodePages(pages))
    }

    pub(crate) fn is_known(&self, page: u32) -> bool {
        page == UTF8 || self.0.contains_key(&page)
    }

    /// Append the text of bytes; what is not a character becomes a replacement.
    pub(crate) fn decode(&self, bytes: &[u8], page: u32, text: &mut String) {
        let Some(table) = self.0.get(&page) else {
            return text.push_str(&String::from_utf8_lossy(bytes));
        };
        let shown = |code: u32| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            let mut code = table[first as usize];
            at += 1;
            if code == NONE
                && let Some(&second) = bytes.get(at)
                && let Some(&both) = table.get(SHORT + ((first as usize) << 8 | second as usize))
                && both != NONE
            {
                code = both;
                at += 1;
            }
            text.push(shown(code));
        }
    }
}
