//! The C interface to the readers of formats: Markdown, RTF, TeX.

use crate::ffi::boundary::{ChfColumn, ChfResult, numbers, result};
use crate::read::code_pages::CodePages;
use crate::read::markdown::markdown_page;
use crate::read::paragraphs::Sections;
use crate::read::rtf::rtf_text;
use crate::read::tex::tex_page;

/// Return a text of Markdown in UTF-8 with spaces for what a reader does not see.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_markdown_page(data: ChfColumn) -> *mut ChfResult {
    result(|| Ok(vec![markdown_page(unsafe { numbers(&data, "Markdown") }?).into()]))
}

/// Return a text of TeX in UTF-8 with spaces for what is not on the page.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_tex_page(data: ChfColumn) -> *mut ChfResult {
    result(|| Ok(vec![tex_page(unsafe { numbers(&data, "TeX") }?).into()]))
}

/// Return the text of a file in RTF whose first group begins at `start`, as UTF-8, where its sections begin, and their
/// numbers (see `paragraphs.rs`). `pages` has the number of each code page and the length of its table (u32); the
/// tables (u32) lie one after another (see `code_pages.rs`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_rtf_text(
    data: ChfColumn,
    start: usize,
    pages: ChfColumn,
    tables: ChfColumn,
) -> *mut ChfResult {
    result(|| {
        let (data, pages, tables) =
            unsafe { (numbers(&data, "RTF")?, numbers(&pages, "pages")?, numbers(&tables, "tables")?) };
        let Sections { text, starts, numbers } = rtf_text(data, start, &CodePages::new(pages, tables)?);
        Ok(vec![text.into(), starts.into(), numbers.into()])
    })
}
