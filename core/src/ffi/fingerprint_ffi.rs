//! The C interface: the only place where raw pointers become slices. A panic becomes an error message.
//!
//! Every function that returns a pointer returns ownership; the matching `_free` takes it back.

use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use crate::ffi::compare_ffi::{ChfTable, table};
use crate::machine::level::Level;
use crate::read::fold::Form;
use crate::read::language::Language;
use crate::read::stream::{Stream, read_streams};
use crate::read::text::{Endian, Source, count_utf8};
use crate::select::batch::{self, Batch};
use crate::select::hash::MAX_K;
use crate::select::selector::{Recipe, Scheme, winnow};
use crate::select::window::Windows;

/// A document: `data` holds `len` bytes, or `len` numbers for encodings 6 and 7.
#[repr(C)]
pub struct ChfSource {
    pub data: *const u8,
    pub len: usize,
    /// 0 bytes, 1 UTF-8, 2 UTF-16 LE, 3 UTF-16 BE, 4 UTF-32 LE, 5 UTF-32 BE, 6 symbols (u32),
    /// 7 code points (u32), 8 a single-byte encoding, 9 a program,
    /// 10 a web page, 11 UTF-8 unless it looks otherwise
    pub encoding: u32,
    /// For 6 the start of each symbol, or null if ranges count symbols; for 7 the start of each code point and the
    /// end of the last; for 8 the code point of each byte, for 10 too or null for UTF-8; for 9 a language from
    /// `chf_language`.
    pub table: *const u32,
    /// For 6 with starts the end of each symbol.
    pub ends: *const u32,
}

#[repr(C)]
pub struct ChfRecipe {
    /// 0 all, 1 every w-th, 2 0 mod p, 3 safe 0 mod p, 4 w smallest, 5 winnow, 6 open-closed, 7 mod,
    /// 8 w rarest
    pub scheme: u32,
    pub robust: u32,
    /// 0 letters and digits, 1 consonants
    pub form: u32,
    pub k: u32,
    pub w: u32,
    /// The window to use, at least w.
    pub window: u32,
    pub r: u32,
    pub p: u32,
    /// Symbols to pass over at the start of a document, for scheme 8.
    pub skip: u32,
    /// Whether positions and ends are not asked for.
    pub only_starts: u32,
    pub seed: u64,
}

/// Four columns of `len` fingerprints; `offsets` has a place for each document and one more.
#[repr(C)]
pub struct ChfBatch {
    pub hashes: *const u64,
    pub positions: *const u32,
    pub starts: *const u32,
    pub ends: *const u32,
    pub len: usize,
    pub offsets: *const u64,
    pub symbols: *const u64,
    pub invalid: *const u64,
    pub documents: usize,
    pub error: *mut c_char,
    owner: *mut c_void,
}

/// A column of 32-bit numbers, or three of them.
#[repr(C)]
pub struct ChfColumns {
    pub first: *const u32,
    pub second: *const u32,
    pub third: *const u32,
    pub len: usize,
    pub error: *mut c_char,
    owner: *mut c_void,
}

/// A slice of what the caller gave; an empty one may come with any pointer.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}

pub(crate) unsafe fn source<'a>(s: &ChfSource, form: Form) -> Source<'a> {
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
            10 if s.table.is_null() => Source::Html(bytes(), form, None),
            10 => Source::Html(bytes(), form, Some(slice(s.table, 256))),
            11 => Source::Unknown(bytes(), form),
            9 => Source::Code(bytes(), &*s.table.cast::<Language>()),
            other => panic!("no encoding {other}"),
        }
    }
}

pub(crate) fn form(number: u32) -> Form {
    match number {
        0 => Form::Letters,
        1 => Form::Consonants,
        other => panic!("no form {other}"),
    }
}

fn recipe(r: &ChfRecipe) -> Recipe {
    let Some(scheme) = Scheme::numbered(r.scheme) else { panic!("no scheme {}", r.scheme) };
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

/// Runs `work`; a panic becomes a message for the caller.
pub(crate) fn guarded<T: Default>(work: impl FnOnce() -> T) -> (T, *mut c_char) {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => (value, null_mut()),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("the core failed");
            (T::default(), message(text))
        }
    }
}

/// A text for the caller, who gives it back to `free_message`.
pub(crate) fn message(text: &str) -> *mut c_char {
    CString::new(text.replace('\0', " ")).unwrap_or_default().into_raw()
}

fn columns(work: impl FnOnce() -> [Vec<u32>; 3]) -> *mut ChfColumns {
    let (value, error) = guarded(work);
    let owner = Box::new(value);
    Box::into_raw(Box::new(ChfColumns {
        first: owner[0].as_ptr(),
        second: owner[1].as_ptr(),
        third: owner[2].as_ptr(),
        len: owner[0].len(),
        error,
        owner: Box::into_raw(owner).cast(),
    }))
}

/// Fingerprints of all documents.
///
/// # Safety
/// The pointers must hold what `ChfSource` says, until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_fingerprint(
    sources: *const ChfSource,
    documents: usize,
    how: *const ChfRecipe,
    threads: u32,
    level: u32,
) -> *mut ChfBatch {
    let (batch, error) = guarded(|| {
        let how = unsafe { &*how };
        let sources: Vec<Source> =
            unsafe { slice(sources, documents) }.iter().map(|s| unsafe { source(s, form(how.form)) }).collect();
        let batch = batch::fingerprint(&sources, recipe(how), threads as usize, Level::at_most(level));
        let longest = batch.symbols.iter().max().copied().unwrap_or(0);
        assert!(longest <= u32::MAX as u64, "a document has more than 2^32 symbols; split it");
        batch
    });
    let owner = Box::new(batch);
    let f = &owner.fingerprints;
    Box::into_raw(Box::new(ChfBatch {
        hashes: f.hashes.as_ptr(),
        positions: f.positions.as_ptr(),
        starts: f.starts.as_ptr(),
        ends: f.ends.as_ptr(),
        len: f.hashes.len(),
        offsets: owner.offsets.as_ptr(),
        symbols: owner.symbols.as_ptr(),
        invalid: owner.invalid.as_ptr(),
        documents: owner.symbols.len(),
        error,
        owner: Box::into_raw(owner).cast(),
    }))
}

/// # Safety
/// `batch` must come from `chf_fingerprint` and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_batch_free(batch: *mut ChfBatch) {
    unsafe {
        let batch = Box::from_raw(batch);
        drop(Box::from_raw(batch.owner.cast::<Batch>()));
        free_message(batch.error);
    }
}

/// The canonical streams of documents one after another: symbols, starts, ends, the length of each and, if
/// `with_names` is not 0, the named symbols.
///
/// # Safety
/// As for `chf_fingerprint`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_streams(
    documents: *const ChfSource,
    count: usize,
    form_number: u32,
    with_names: u32,
    threads: u32,
    level: u32,
) -> *mut ChfTable {
    table(|| {
        let documents = unsafe { slice(documents, count) };
        let sources: Vec<Source> =
            documents.iter().map(|document| unsafe { source(document, form(form_number)) }).collect();
        let streams = read_streams(&sources, with_names != 0, threads as usize, Level::at_most(level));
        vec![streams.symbols, streams.starts, streams.ends, streams.lengths, streams.named]
    })
}

/// A language from its table (see `language.rs`), or null and a message of at most `size` bytes.
///
/// # Safety
/// `table` must hold `len` bytes and `message` room for `size`, one or more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_language(
    table: *const u8,
    len: usize,
    message: *mut c_char,
    size: usize,
) -> *mut c_void {
    match Language::parse(unsafe { slice(table, len) }) {
        Ok(language) => Box::into_raw(Box::new(language)).cast(),
        Err(why) => {
            let n = why.len().min(size - 1);
            unsafe {
                std::ptr::copy_nonoverlapping(why.as_ptr(), message.cast(), n);
                *message.add(n) = 0;
            }
            null_mut()
        }
    }
}

/// # Safety
/// `language` must come from `chf_language`, be freed once, and not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_language_free(language: *mut c_void) {
    drop(unsafe { Box::from_raw(language.cast::<Language>()) });
}

/// The order key of every gram; the scheme must have an order.
///
/// # Safety
/// `symbols` must hold `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_keys(
    symbols: *const u32,
    len: usize,
    how: *const ChfRecipe,
    level: u32,
) -> *mut ChfColumns {
    columns(|| {
        let Recipe { scheme, k, w, r, seed, .. } = recipe(unsafe { &*how });
        let Scheme::Windows(order) = scheme else { panic!("this scheme has no order") };
        let mut windows = Windows::new(order, k, w, r, seed, Level::at_most(level), w);
        [windows.keys(unsafe { slice(symbols, len) }), Vec::new(), Vec::new()]
    })
}

/// The positions that winnowing chooses among hashes made elsewhere.
///
/// # Safety
/// `hashes` must hold `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_winnow(hashes: *const u64, len: usize, w: usize, robust: u32) -> *mut ChfColumns {
    columns(|| {
        assert!(w >= 1 && len <= u32::MAX as usize);
        [winnow(unsafe { slice(hashes, len) }, w, robust != 0), Vec::new(), Vec::new()]
    })
}

/// # Safety
/// `columns` must come from a function of this interface and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_columns_free(columns: *mut ChfColumns) {
    unsafe {
        let columns = Box::from_raw(columns);
        drop(Box::from_raw(columns.owner.cast::<[Vec<u32>; 3]>()));
        free_message(columns.error);
    }
}

/// Multi-byte characters that are valid UTF-8, and bytes that are not.
///
/// # Safety
/// `data` must hold `len` bytes, `characters` and `invalid` a number each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_count_utf8(data: *const u8, len: usize, characters: *mut u64, invalid: *mut u64) {
    let (found, bad) = count_utf8(unsafe { slice(data, len) });
    unsafe {
        *characters = found as u64;
        *invalid = bad as u64;
    }
}

/// The best level this machine has: 0 portable, 1 AVX2, 2 AVX-512.
#[unsafe(no_mangle)]
pub extern "C" fn chf_best_level() -> u32 {
    Level::best().number()
}

pub(crate) unsafe fn free_message(message: *mut c_char) {
    if !message.is_null() {
        drop(unsafe { CString::from_raw(message) });
    }
}
