//! The C interface to the index: segments built, opened, looked up, scanned, merged.

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use crate::compare::matches::How;
use crate::ffi::boundary::{self, ChfBytes, ChfTable, chf_message_free, guarded, message, slice, table};
use crate::ffi::fingerprint_ffi::{ChfSource, form, source};
use crate::index::evidence::{Asked, Seeds, evidence};
use crate::index::lookup::{Found, lookup};
use crate::index::segment::{Damage, Segment};
use crate::index::segment_merge::{Failure, Merge};
use crate::index::segment_scan::{Scanned, scan};
use crate::index::segment_write::build;
use crate::machine::level::Level;

/// Columns of `len` numbers; scanning fills the first, looking up the second.
#[repr(C)]
pub struct ChfPostings {
    pub hashes: *const u64,
    pub queries: *const u32,
    pub documents: *const u32,
    pub positions: *const u32,
    pub len: usize,
    pub error: *mut c_char,
    /// One more than the number of the segment that the error is about, or 0 if it is about none.
    pub damaged: usize,
    owner: *mut c_void,
}

/// What is told of a segment.
#[repr(C)]
pub struct ChfShape {
    pub postings: u64,
    pub first_document: u32,
    pub last_document: u32,
    pub hash_bits: u32,
}

type Columns = (Vec<u64>, Found);
type Outcome<T> = Option<Result<T, Failure>>;

/// The value, the error's message and whose it is; `None` stands for a panic.
fn outcome<T: Default>((outcome, error): (Outcome<T>, *mut c_char)) -> (T, *mut c_char, usize) {
    match outcome {
        Some(Ok(value)) => (value, null_mut(), 0),
        Some(Err((segment, Damage(why)))) => (T::default(), message(&why), segment + 1),
        None => (T::default(), error, 0),
    }
}

fn postings(work: impl FnOnce() -> Result<Columns, Failure>) -> *mut ChfPostings {
    let (value, error, damaged) = outcome(guarded(|| Some(work())));
    let owner: Box<Columns> = Box::new(value);
    Box::into_raw(Box::new(ChfPostings {
        hashes: owner.0.as_ptr(),
        queries: owner.1.queries.as_ptr(),
        documents: owner.1.documents.as_ptr(),
        positions: owner.1.positions.as_ptr(),
        len: owner.1.documents.len(),
        error,
        damaged,
        owner: Box::into_raw(owner).cast(),
    }))
}

fn bytes(work: impl FnOnce() -> Result<Vec<u8>, Failure>) -> *mut ChfBytes {
    boundary::bytes(outcome(guarded(|| Some(work()))))
}

/// # Safety
/// `postings` must come from a function of this interface and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_postings_free(postings: *mut ChfPostings) {
    unsafe {
        let postings = Box::from_raw(postings);
        drop(Box::from_raw(postings.owner.cast::<Columns>()));
        chf_message_free(postings.error);
    }
}

/// The bytes of a segment of these postings.
///
/// # Safety
/// The columns must hold `len` numbers each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_build(
    hashes: *const u64,
    documents: *const u32,
    positions: *const u32,
    len: usize,
    hash_bits: u32,
    threads: u32,
) -> *mut ChfBytes {
    bytes(|| {
        let (hashes, documents, positions) =
            unsafe { (slice(hashes, len), slice(documents, len), slice(positions, len)) };
        Ok(build(hashes, documents, positions, hash_bits, threads as usize))
    })
}

/// A segment, with what there is to tell of it, or null and a message that `chf_message_free` takes back.
///
/// # Safety
/// `data` must hold `len` bytes that do not change until the segment is freed; `shape` and `why` must hold one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_open(
    data: *const u8,
    len: usize,
    shape: *mut ChfShape,
    why: *mut *mut c_char,
) -> *mut c_void {
    let opened = guarded(|| Some(Segment::open(unsafe { slice(data, len) }).map_err(|damage| (0, damage))));
    let (segment, error, _) = outcome((opened.0.map(|result| result.map(Some)), opened.1));
    unsafe { *why = error };
    let Some(segment) = segment else { return null_mut() };
    let s = segment.shape;
    let told = ChfShape {
        postings: s.postings,
        first_document: s.first,
        last_document: s.last,
        hash_bits: s.hash_bits,
    };
    unsafe { *shape = told };
    Box::into_raw(Box::new(segment)).cast()
}

/// # Safety
/// `segment` must come from `chf_segment_open`, be freed once, and not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_free(segment: *mut c_void) {
    drop(unsafe { Box::from_raw(segment.cast::<Segment>()) });
}

/// No bytes, or an error if anything in the segment is not as it should be.
///
/// # Safety
/// `segment` must come from `chf_segment_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_check(segment: *const c_void, threads: u32) -> *mut ChfBytes {
    bytes(|| {
        let segment = unsafe { &*segment.cast::<Segment>() };
        segment.check(threads as usize).map(|()| Vec::new()).map_err(|damage| (0, damage))
    })
}

/// At most `limit` postings from a place on, which is two numbers, 0 and 0 at first; it is moved behind them.
///
/// # Safety
/// `segment` must come from `chf_segment_open`, and `place` hold two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_scan(
    segment: *const c_void,
    place: *mut u64,
    limit: usize,
) -> *mut ChfPostings {
    postings(|| {
        let segment = unsafe { &*segment.cast::<Segment>() };
        let place = unsafe { std::slice::from_raw_parts_mut(place, 2) };
        let from = (place[0] as usize, place[1]);
        let Scanned { hashes, documents, positions, next } =
            scan(segment, from, limit).map_err(|damage| (0, damage))?;
        (place[0], place[1]) = (next.0 as u64, next.1);
        Ok((hashes, Found { queries: Vec::new(), documents, positions }))
    })
}

unsafe fn segments<'a>(handles: *const *const c_void, len: usize) -> Vec<&'a Segment<'a>> {
    unsafe { slice(handles, len).iter().map(|&handle| &*handle.cast::<Segment>()).collect() }
}

/// Who has these hashes: the number of the hash, document, position.
///
/// # Safety
/// `handles` must hold `len` segments, `hashes` and `removed` as many numbers as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_lookup(
    handles: *const *const c_void,
    len: usize,
    hashes: *const u64,
    hashes_len: usize,
    removed: *const u32,
    removed_len: usize,
    threads: u32,
) -> *mut ChfPostings {
    postings(|| {
        let (hashes, removed) = unsafe { (slice(hashes, hashes_len), slice(removed, removed_len)) };
        let found = lookup(&unsafe { segments(handles, len) }, hashes, removed, threads as usize)?;
        Ok((Vec::new(), found))
    })
}

/// What a query was asked for and what was found, and how matches are made of it: see `evidence.rs`.
#[repr(C)]
pub struct ChfFound {
    /// Of the query's fingerprints.
    pub positions: *const u32,
    pub numbers: *const u32,
    pub prints: usize,
    /// Of what is in the query.
    pub from: *const u32,
    pub owners: *const u32,
    pub spread: usize,
    /// Of what was found, sorted by all three.
    pub queries: *const u32,
    pub documents: *const u32,
    pub places: *const u32,
    pub found: usize,
    pub k: u32,
    pub gap: u32,
    pub sure: u32,
}

/// The matches of a query, which is the first of the sources, with the others, whose numbers are given. For every run
/// its bytes: start and end on the left, start and end on the right; for every match its first run, its symbols, its
/// longest run, its owners; for every document its first match, the symbols covered on the left and on the right, its
/// length, whether it is the same; and the query's length.
///
/// # Safety
/// The pointers must hold what `ChfSource` and `ChfFound` say, `numbers` one less than `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_evidence(
    sources: *const ChfSource,
    numbers: *const u32,
    count: usize,
    form_number: u32,
    found: *const ChfFound,
    threads: u32,
    level: u32,
) -> *mut ChfTable {
    table(|| {
        let mut sources =
            unsafe { slice(sources, count) }.iter().map(|s| unsafe { source(s, form(form_number)) });
        let query = sources.next().expect("there is a query");
        let numbers = unsafe { slice(numbers, count - 1) };
        let documents: Vec<_> = numbers.iter().copied().zip(sources).collect();
        let found = unsafe { &*found };
        let column = |data, len| unsafe { slice::<u32>(data, len) };
        let asked = Asked {
            positions: column(found.positions, found.prints),
            numbers: column(found.numbers, found.prints),
            spread: (column(found.from, found.spread), column(found.owners, found.spread)),
        };
        let seeds = Seeds {
            hashes: column(found.queries, found.found),
            documents: column(found.documents, found.found),
            places: column(found.places, found.found),
        };
        let how = How { k: found.k as usize, gap: found.gap, sure: found.sure };
        let (all, size) =
            evidence(&query, &documents, &asked, &seeds, how, Level::at_most(level), threads as usize);
        let mut columns = vec![Vec::new(), Vec::new(), Vec::new(), vec![size]];
        for one in all {
            let first = (columns[1].len() / 4) as u32;
            columns[2].extend([first, one.covered[0], one.covered[1], one.symbols, one.same as u32]);
            for found in one.matches {
                let first = (columns[0].len() / 4) as u32;
                columns[1].extend([first, found.symbols, found.longest, found.owners]);
                columns[0].extend(found.runs.into_flattened());
            }
        }
        columns
    })
}

/// A merge that has not begun.
struct Merging {
    segments: Vec<&'static Segment<'static>>,
    removed: &'static [u32],
    threads: usize,
    merge: Option<Merge<'static>>,
}

/// A merge of segments, to be freed with `chf_merge_free`.
///
/// # Safety
/// As for `chf_lookup`; the segments and the removed documents must stay until the merge is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge(
    handles: *const *const c_void,
    len: usize,
    removed: *const u32,
    removed_len: usize,
    threads: u32,
) -> *mut c_void {
    let (segments, removed) = unsafe { (segments(handles, len), slice(removed, removed_len)) };
    Box::into_raw(Box::new(Merging { segments, removed, threads: threads as usize, merge: None })).cast()
}

/// The bytes that come next, none at the end. Behind an error there are no more.
///
/// # Safety
/// `merging` must come from `chf_merge` and be used by one thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge_next(merging: *mut c_void) -> *mut ChfBytes {
    bytes(|| {
        let merging = unsafe { &mut *merging.cast::<Merging>() };
        let merge = match &mut merging.merge {
            Some(merge) => merge,
            slot => {
                let segments = merging.segments.clone();
                slot.insert(Merge::new(segments, merging.removed, merging.threads)?)
            }
        };
        merge.piece()
    })
}

/// # Safety
/// `merging` must come from `chf_merge` and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge_free(merging: *mut c_void) {
    drop(unsafe { Box::from_raw(merging.cast::<Merging>()) });
}
