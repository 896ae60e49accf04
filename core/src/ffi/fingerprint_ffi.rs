//! The C interface to reading and selecting: streams, fingerprints, languages, the text of web pages.

use crate::ffi::boundary::{ChfResult, object, result, result_with, slice};
use crate::machine::level::Level;
use crate::read::code_pages::CodePages;
use crate::read::fold::Form;
use crate::read::language::Language;
use crate::read::markdown::markdown_page;
use crate::read::page_text::page_text;
use crate::read::paragraphs::Sections;
use crate::read::rtf::rtf_text;
use crate::read::source::Source;
use crate::read::stream::{Stream, Streams, read_streams};
use crate::read::tex::tex_page;
use crate::read::text::{Endian, count_utf8};
use crate::select::batch;
use crate::select::fingerprints::Fingerprints;
use crate::select::hash::MAX_K;
use crate::select::selector::{Recipe, Scheme, winnow};
use crate::select::window::Windows;

/// A document: `data` holds `len` bytes, or `len` numbers for encodings 6 and 7.
#[repr(C)]
pub struct ChfSource {
    pub data: *const u8,
    pub len: usize,
    /// 0 bytes, 1 UTF-8, 2 UTF-16 LE, 3 UTF-16 BE, 4 UTF-32 LE, 5 UTF-32 BE, 6 symbols (u32), 7 code points (u32),
    /// 8 a single-byte encoding, 9 a program, 10 a web page.
    pub encoding: u32,
    /// For 6 the start of each symbol, or null if ranges count symbols; for 7 the start of each code point and the
    /// end of the last; for 8 the code point of each byte; for 9 a language from `chf_language`; for 10 the code point
    /// of each byte, or null for UTF-8.
    pub table: *const u32,
    /// For 6 with starts, the end of each symbol.
    pub ends: *const u32,
}

#[repr(C)]
pub struct ChfRecipe {
    /// 0 all, 1 every w-th, 2 0 mod p, 3 safe 0 mod p, 4 w smallest, 5 winnow, 6 open-closed, 7 mod, 8 w rarest.
    pub scheme: u32,
    pub robust: u32,
    /// 0 letters and digits, 1 consonants.
    pub form: u32,
    pub k: u32,
    pub w: u32,
    /// The window to use, at least w.
    pub window: u32,
    pub r: u32,
    pub p: u32,
    /// Symbols to skip at the start of a document, for schemes 4 and 8.
    pub skip: u32,
    /// Not 0 if positions and ends are not needed.
    pub only_starts: u32,
    pub seed: u64,
}

/// Return a document as the core reads it. Offsets in a document have 32 bits, and so has the number of its symbols:
/// everything that counts bytes or symbols relies on the limit that is checked here.
pub(crate) unsafe fn source<'a>(s: &ChfSource, form: Form) -> Source<'a> {
    assert!(u32::try_from(s.len).is_ok(), "a document has more than 2^32 - 1 bytes or symbols; split it");
    unsafe {
        let bytes = || slice(s.data, s.len);
        let numbers = || slice(s.data.cast::<u32>(), s.len);
        match s.encoding {
            0 => Source::Bytes(bytes()),
            1 => Source::Utf8(bytes(), form),
            2 => Source::Utf16(bytes(), form, Endian::Little),
            3 => Source::Utf16(bytes(), form, Endian::Big),
            4 => Source::Utf32(bytes(), form, Endian::Little),
            5 => Source::Utf32(bytes(), form, Endian::Big),
            6 if s.table.is_null() => Source::Symbols(numbers()),
            6 => Source::Stream(Stream {
                symbols: numbers(),
                starts: slice(s.table, s.len),
                ends: slice(s.ends, s.len),
            }),
            7 => Source::Decoded(numbers(), form, slice(s.table, s.len + 1)),
            8 => Source::SingleByte(bytes(), form, slice(s.table, 256)),
            9 => Source::Code(bytes(), object(s.table.cast())),
            10 if s.table.is_null() => Source::Html(bytes(), form, None),
            10 => Source::Html(bytes(), form, Some(slice(s.table, 256))),
            other => panic!("there is no encoding {other}"),
        }
    }
}

unsafe fn sources<'a>(documents: *const ChfSource, len: usize, form: Form) -> Vec<Source<'a>> {
    unsafe { slice(documents, len).iter().map(|document| source(document, form)).collect() }
}

pub(crate) fn form(number: u32) -> Form {
    match number {
        0 => Form::Letters,
        1 => Form::Consonants,
        other => panic!("there is no form {other}"),
    }
}

fn recipe(r: &ChfRecipe) -> Recipe {
    let Some(scheme) = Scheme::numbered(r.scheme) else { panic!("there is no scheme {}", r.scheme) };
    let (k, w, window) = (r.k as usize, r.w as usize, r.window as usize);
    let (robust, only_starts, skip, seed) = (r.robust != 0, r.only_starts != 0, r.skip, r.seed);
    let (p, r) = (r.p as u64, r.r as usize);
    assert!((1..=MAX_K).contains(&k), "k must be 1 to {MAX_K}");
    assert!((1..=Windows::MAX_W).contains(&w), "w must be 1 to {}", Windows::MAX_W);
    assert!((w..=Windows::MAX_W).contains(&window), "the window must be w to {}", Windows::MAX_W);
    assert!((1..=k).contains(&r), "r must be 1 to k");
    assert!(p >= 1, "p must be at least 1");
    Recipe { scheme, robust, k, w, window, p, r, skip, only_starts, seed }
}

/// Return the fingerprints of all documents. Columns: hashes, positions, starts, ends; where the fingerprints of each
/// document begin, and the end of the last; for each document its symbols.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_fingerprint(
    documents: *const ChfSource,
    count: usize,
    how: *const ChfRecipe,
    threads: u32,
    level: u32,
) -> *mut ChfResult {
    result(|| {
        let how = unsafe { &*how };
        let sources = unsafe { sources(documents, count, form(how.form)) };
        let batch = batch::fingerprint(&sources, recipe(how), threads as usize, Level::at_most(level));
        let longest = batch.symbols.iter().max().copied().unwrap_or(0);
        assert!(u32::try_from(longest).is_ok(), "a document has more than 2^32 - 1 symbols; split it");
        let Fingerprints { hashes, positions, starts, ends } = batch.fingerprints;
        Ok(vec![
            hashes.into(),
            positions.into(),
            starts.into(),
            ends.into(),
            batch.offsets.into(),
            batch.symbols.into(),
        ])
    })
}

/// Return the streams of documents one after another: symbols, starts, ends, the length of each stream and, if
/// `with_names` is not 0, the named symbols.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_streams(
    documents: *const ChfSource,
    count: usize,
    form_number: u32,
    with_names: u32,
    threads: u32,
    level: u32,
) -> *mut ChfResult {
    result(|| {
        let sources = unsafe { sources(documents, count, form(form_number)) };
        let Streams { symbols, starts, ends, lengths, named } =
            read_streams(&sources, with_names != 0, threads as usize, Level::at_most(level));
        Ok(vec![symbols.into(), starts.into(), ends.into(), lengths.into(), named.into()])
    })
}

/// Return a language, as an object, from its records (see `language.rs`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_language(records: *const u8, len: usize) -> *mut ChfResult {
    result_with(|| Ok((Language::parse(unsafe { slice(records, len) })?, Vec::new())))
}

/// Return the order key of every gram, in one column; the scheme must have an order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_keys(
    symbols: *const u32,
    len: usize,
    how: *const ChfRecipe,
    level: u32,
) -> *mut ChfResult {
    result(|| {
        let Recipe { scheme, k, w, r, seed, .. } = recipe(unsafe { &*how });
        let Scheme::Windows(order) = scheme else { panic!("this scheme has no order") };
        let mut windows = Windows::new(order, k, w, r, seed, Level::at_most(level), w);
        Ok(vec![windows.keys(unsafe { slice(symbols, len) }).into()])
    })
}

/// Return the positions that winnowing chooses among hashes made elsewhere, in one column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_winnow(hashes: *const u64, len: usize, w: usize, robust: u32) -> *mut ChfResult {
    result(|| {
        assert!(w >= 1, "w must be at least 1");
        assert!(u32::try_from(len).is_ok(), "there are more than 2^32 - 1 hashes; split them");
        Ok(vec![winnow(unsafe { slice(hashes, len) }, w, robust != 0).into()])
    })
}

/// Return, in one column, how many characters of more than one byte are valid UTF-8 and how many bytes are not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_count_utf8(data: *const u8, len: usize) -> *mut ChfResult {
    result(|| {
        assert!(u32::try_from(len).is_ok(), "a text has more than 2^32 - 1 bytes; split it");
        let (characters, invalid) = count_utf8(unsafe { slice(data, len) });
        Ok(vec![vec![characters as u32, invalid as u32].into()])
    })
}

/// Return what a reader sees of a web page in UTF-8, as UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_page_text(data: *const u8, len: usize) -> *mut ChfResult {
    result(|| Ok(vec![page_text(unsafe { slice(data, len) }).into()]))
}

/// Return a text of Markdown in UTF-8 with spaces for what a reader does not see.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_markdown_page(data: *const u8, len: usize) -> *mut ChfResult {
    result(|| Ok(vec![markdown_page(unsafe { slice(data, len) }).into()]))
}

/// Return the text of a file in RTF whose first group begins at `start`, as UTF-8, where its sections begin, and their
/// numbers (see `paragraphs.rs`). `pages` has the number of each code page and the length of its table; the tables lie
/// one after another (see `code_pages.rs`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_rtf_text(
    data: *const u8,
    len: usize,
    start: usize,
    pages: *const u32,
    pages_len: usize,
    tables: *const u32,
    tables_len: usize,
) -> *mut ChfResult {
    result(|| {
        let pages = unsafe { CodePages::new(slice(pages, pages_len), slice(tables, tables_len)) };
        let Sections { text, starts, numbers } = rtf_text(unsafe { slice(data, len) }, start, &pages);
        Ok(vec![text.into(), starts.into(), numbers.into()])
    })
}

/// Return a text of TeX in UTF-8 with spaces for what is not on the page.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_tex_page(data: *const u8, len: usize) -> *mut ChfResult {
    result(|| Ok(vec![tex_page(unsafe { slice(data, len) }).into()]))
}

/// Return the best level this machine has: 0 portable, 1 AVX2, 2 AVX-512.
#[unsafe(no_mangle)]
pub extern "C" fn chf_best_level() -> u32 {
    Level::best().number()
}
