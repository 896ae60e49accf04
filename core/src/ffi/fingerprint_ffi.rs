//! The C interface to reading and selecting: streams, fingerprints, languages, the text of web pages.

use crate::ffi::boundary::{
    ChfColumn, ChfResult, Failure, ensure, ensure_rows, numbers, object, reference, result, result_with,
    structures,
};
use crate::machine::level::Level;
use crate::read::digest::digests;
use crate::read::fold::Form;
use crate::read::language::Language;
use crate::read::page_text::page_text;
use crate::read::source::Source;
use crate::read::stream::{Stream, Streams, read_streams};
use crate::read::text::{Endian, count_utf8};
use crate::select::batch;
use crate::select::fingerprints::Fingerprints;
use crate::select::hash::MAX_K;
use crate::select::selector::{Recipe, Scheme, winnow};
use crate::select::window::Windows;

/// A document.
#[repr(C)]
pub struct ChfSource {
    /// Bytes, or numbers (u32) for encodings 6 and 7.
    pub data: ChfColumn,
    /// 0 bytes, 1 UTF-8, 2 UTF-16 LE, 3 UTF-16 BE, 4 UTF-32 LE, 5 UTF-32 BE, 6 symbols (u32), 7 code points (u32),
    /// 8 a single-byte encoding, 9 a program, 10 a web page.
    pub encoding: u32,
    /// Numbers (u32): for 6 the start of each symbol, or none if ranges count symbols; for 7 the start of each code
    /// point and the end of the last; for 8 the code point of each byte; for 10 the same, or none for UTF-8.
    pub table: ChfColumn,
    /// For 6 with starts, the end of each symbol (u32).
    pub ends: ChfColumn,
    /// For 9, from `chf_language`.
    pub language: *const ChfResult,
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
/// everything that counts bytes or symbols relies on the limit that is checked here. Starts and ends may be any numbers,
/// since they are only handed on.
pub(crate) unsafe fn source<'a>(s: &ChfSource, form: Form) -> Result<Source<'a>, Failure> {
    ensure!(u32::try_from(s.data.len).is_ok(), "a document has more than 2^32 - 1 bytes or symbols; split it");
    ensure!(matches!(s.encoding, 6 | 7 | 8 | 10) || !s.table.is_given(), "this encoding has no table");
    ensure!(s.encoding == 6 && s.table.is_given() || !s.ends.is_given(), "only symbols with starts have ends");
    ensure!(s.encoding == 9 || s.language.is_null(), "only a program has a language");
    let bytes = || unsafe { numbers::<u8>(&s.data, "the bytes of a document") };
    let symbols = || unsafe { numbers::<u32>(&s.data, "the numbers of a document") };
    let table = |len: usize| {
        let table = unsafe { numbers::<u32>(&s.table, "the table of an encoding") }?;
        ensure!(table.len() == len, "the table of this encoding has {} numbers; give {len}", table.len());
        Ok(table)
    };
    Ok(match s.encoding {
        0 => Source::Bytes(bytes()?),
        1 => Source::Utf8(bytes()?, form),
        2 => Source::Utf16(bytes()?, form, Endian::Little),
        3 => Source::Utf16(bytes()?, form, Endian::Big),
        4 => Source::Utf32(bytes()?, form, Endian::Little),
        5 => Source::Utf32(bytes()?, form, Endian::Big),
        6 if !s.table.is_given() => Source::Symbols(symbols()?),
        6 => {
            let (symbols, starts) = (symbols()?, table(s.data.len)?);
            let ends = unsafe { numbers(&s.ends, "the ends of symbols") }?;
            ensure_rows("symbols and their ends", &[symbols.len(), ends.len()])?;
            Source::Stream(Stream { symbols, starts, ends })
        }
        7 => Source::Decoded(symbols()?, form, table(s.data.len + 1)?),
        8 => Source::SingleByte(bytes()?, form, table(256)?),
        9 => Source::Code(bytes()?, unsafe { object(s.language, "a language") }?),
        10 if !s.table.is_given() => Source::Html(bytes()?, form, None),
        10 => Source::Html(bytes()?, form, Some(table(256)?)),
        other => return Err(format!("there is no encoding {other}").into()),
    })
}

pub(crate) unsafe fn sources<'a>(
    documents: *const ChfSource,
    len: usize,
    form: Form,
) -> Result<Vec<Source<'a>>, Failure> {
    let documents = unsafe { structures(documents, len, "documents") }?;
    documents.iter().map(|document| unsafe { source(document, form) }).collect()
}

pub(crate) fn form(number: u32) -> Result<Form, Failure> {
    match number {
        0 => Ok(Form::Letters),
        1 => Ok(Form::Consonants),
        other => Err(format!("there is no form {other}").into()),
    }
}

pub(crate) fn ensure_k(k: u32) -> Result<(), Failure> {
    ensure!((1..=MAX_K).contains(&(k as usize)), "k is {k}; give 1 to {MAX_K}");
    Ok(())
}

unsafe fn recipe(how: *const ChfRecipe) -> Result<(Recipe, Form), Failure> {
    let how = unsafe { reference(how, "the recipe") }?;
    let scheme = Scheme::numbered(how.scheme);
    let scheme = scheme.ok_or_else(|| Failure::Argument(format!("there is no scheme {}", how.scheme)))?;
    let &ChfRecipe { k, w, window, r, p, .. } = how;
    let widest = Windows::MAX_W as u32;
    ensure_k(k)?;
    ensure!((1..=widest).contains(&w), "w is {w}; give 1 to {widest}");
    ensure!((w..=widest).contains(&window), "the window is {window}; give {w}, which is w, to {widest}");
    ensure!((1..=k).contains(&r), "r is {r}; give 1 to {k}, which is k");
    ensure!(p >= 1, "p is 0; give at least 1");
    let recipe = Recipe {
        scheme,
        robust: how.robust != 0,
        k: k as usize,
        w: w as usize,
        window: window as usize,
        p: p as u64,
        r: r as usize,
        skip: how.skip,
        only_starts: how.only_starts != 0,
        seed: how.seed,
    };
    Ok((recipe, form(how.form)?))
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
        let (recipe, form) = unsafe { recipe(how) }?;
        let sources = unsafe { sources(documents, count, form) }?;
        let batch = batch::fingerprint(&sources, recipe, threads as usize, Level::at_most(level));
        let longest = batch.symbols.iter().max().copied().unwrap_or(0);
        ensure!(u32::try_from(longest).is_ok(), "a document has more than 2^32 - 1 symbols; split it");
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
        let sources = unsafe { sources(documents, count, form(form_number)?) }?;
        let Streams { symbols, starts, ends, lengths, named } =
            read_streams(&sources, with_names != 0, threads as usize, Level::at_most(level));
        Ok(vec![symbols.into(), starts.into(), ends.into(), lengths.into(), named.into()])
    })
}

/// Return hashes of the stream of each document, in two columns: by the order of its symbols, and in any order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_digests(
    documents: *const ChfSource,
    count: usize,
    form_number: u32,
    threads: u32,
    level: u32,
) -> *mut ChfResult {
    result(|| {
        let sources = unsafe { sources(documents, count, form(form_number)?) }?;
        let (in_order, in_any_order): (Vec<u64>, Vec<u64>) =
            digests(&sources, threads as usize, Level::at_most(level))
                .into_iter()
                .map(|digest| (digest.in_order, digest.in_any_order))
                .unzip();
        Ok(vec![in_order.into(), in_any_order.into()])
    })
}

/// Return a language, as an object, from its records (see `language.rs`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_language(records: ChfColumn) -> *mut ChfResult {
    result_with(|| {
        Ok((Language::parse(unsafe { numbers(&records, "the records of a language") }?)?, Vec::new()))
    })
}

/// Return the order key of every gram, in one column; the scheme must have an order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_keys(symbols: ChfColumn, how: *const ChfRecipe, level: u32) -> *mut ChfResult {
    result(|| {
        let (Recipe { scheme, k, w, r, seed, .. }, _) = unsafe { recipe(how) }?;
        let Scheme::Windows(order) = scheme else { return Err("this scheme has no order".to_string().into()) };
        let symbols = unsafe { numbers(&symbols, "symbols") }?;
        let mut windows = Windows::new(order, k, w, r, seed, Level::at_most(level), w);
        Ok(vec![windows.keys(symbols).into()])
    })
}

/// Return the positions that winnowing chooses among hashes made elsewhere, in one column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_winnow(hashes: ChfColumn, w: usize, robust: u32) -> *mut ChfResult {
    result(|| {
        ensure!(w >= 1, "w is 0; give at least 1");
        ensure!(u32::try_from(hashes.len).is_ok(), "there are more than 2^32 - 1 hashes; split them");
        Ok(vec![winnow(unsafe { numbers(&hashes, "hashes") }?, w, robust != 0).into()])
    })
}

/// Return, in one column, how many characters of more than one byte are valid UTF-8 and how many bytes are not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_count_utf8(data: ChfColumn) -> *mut ChfResult {
    result(|| {
        ensure!(u32::try_from(data.len).is_ok(), "a text has more than 2^32 - 1 bytes; split it");
        let (characters, invalid) = count_utf8(unsafe { numbers(&data, "a text") }?);
        Ok(vec![vec![characters as u32, invalid as u32].into()])
    })
}

/// Return what a reader sees of a web page in UTF-8, as UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_page_text(data: ChfColumn) -> *mut ChfResult {
    result(|| Ok(vec![page_text(unsafe { numbers(&data, "a web page") }?).into()]))
}

/// Return the best level this machine has: 0 portable, 1 AVX2, 2 AVX-512.
#[unsafe(no_mangle)]
pub extern "C" fn chf_best_level() -> u32 {
    Level::best().number()
}
