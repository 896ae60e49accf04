//! The C interface to the index: build, open, search, scan and merge segments; extend matches.

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use crate::compare::matches::{OwnerCounts, Settings};
use crate::compare::to_u32;
use crate::ffi::boundary::{self, ChfBytes, ChfTable, chf_message_free, guarded, message, slice, table};
use crate::ffi::fingerprint_ffi::{ChfSource, form, source};
use crate::index::lookup::{LookupResult, lookup};
use crate::index::mapped::handle_bus_errors;
use crate::index::query_matches::{Query, QuerySeeds, SharedPostings, extend_matches};
use crate::index::segment::{Damage, Segment, Shape};
use crate::index::segment_merge::{Failure, Merge};
use crate::index::segment_scan::{Scanned, scan};
use crate::index::segment_write::build;
use crate::machine::level::Level;

/// Columns of `len` numbers. Only a scan fills the first, only a look-up the second.
#[repr(C)]
pub struct ChfPostings {
    pub hashes: *const u64,
    pub queries: *const u32,
    pub documents: *const u32,
    pub positions: *const u32,
    pub len: usize,
    pub error: *mut c_char,
    /// One more than the number of the damaged segment, or 0 if the error is another.
    pub damaged: usize,
    owner: *mut c_void,
}

/// The numbers of a segment that callers need.
#[repr(C)]
pub struct ChfShape {
    pub postings: u64,
    pub first_document: u32,
    pub last_document: u32,
    pub hash_bits: u32,
}

type Columns = (Vec<u64>, LookupResult);
type Outcome<T> = Option<Result<T, Failure>>;

/// Return the value, the error's message, and `damaged`. `None` stands for a panic.
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

/// Return the bytes of a segment of these postings.
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

/// Open a segment and fill in its shape. Return null and a message for `chf_message_free` if it is damaged.
///
/// # Safety
/// `data` must hold `len` bytes that do not change until the segment is freed, or be a mapped file that may shrink;
/// `shape` and `why` must point to one each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_open(
    data: *const u8,
    len: usize,
    shape: *mut ChfShape,
    why: *mut *mut c_char,
) -> *mut c_void {
    let opened = guarded(|| {
        handle_bus_errors();
        Some(Segment::open(unsafe { slice(data, len) }).map(Some).map_err(|damage| (0, damage)))
    });
    let (segment, error, _) = outcome(opened);
    unsafe { *why = error };
    let Some(segment) = segment else { return null_mut() };
    let Shape { postings, first, last, hash_bits, .. } = segment.shape;
    unsafe { *shape = ChfShape { postings, first_document: first, last_document: last, hash_bits } };
    Box::into_raw(Box::new(segment)).cast()
}

/// # Safety
/// `segment` must come from `chf_segment_open`, be freed once, and not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_free(segment: *mut c_void) {
    drop(unsafe { Box::from_raw(segment.cast::<Segment>()) });
}

/// Read a whole segment. Return no bytes, or an error if it is damaged.
///
/// # Safety
/// `segment` must come from `chf_segment_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_check(segment: *const c_void, threads: u32) -> *mut ChfBytes {
    bytes(|| {
        let segment = unsafe { opened(segment) };
        segment.check(threads as usize).map(|()| Vec::new()).map_err(|damage| (0, damage))
    })
}

/// Return at most `limit` postings. `next` is two numbers that keep track of where to go on: 0 and 0 at first.
///
/// # Safety
/// `segment` must come from `chf_segment_open`, and `next` hold two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_scan(
    segment: *const c_void,
    next: *mut u64,
    limit: usize,
) -> *mut ChfPostings {
    postings(|| {
        let segment = unsafe { opened(segment) };
        let next = unsafe { std::slice::from_raw_parts_mut(next, 2) };
        let scanned = scan(segment, (next[0] as usize, next[1]), limit).map_err(|damage| (0, damage))?;
        (next[0], next[1]) = (scanned.next.0 as u64, scanned.next.1);
        let Scanned { hashes, documents, positions, .. } = scanned;
        Ok((hashes, LookupResult { queries: Vec::new(), documents, positions }))
    })
}

unsafe fn opened<'a>(handle: *const c_void) -> &'a Segment<'a> {
    handle_bus_errors();
    unsafe { &*handle.cast::<Segment>() }
}

unsafe fn all_opened<'a>(handles: *const *const c_void, len: usize) -> Vec<&'a Segment<'a>> {
    handle_bus_errors();
    unsafe { slice(handles, len).iter().map(|&handle| &*handle.cast::<Segment>()).collect() }
}

/// Return the postings of these hashes: the number of the hash, document, position.
///
/// # Safety
/// `handles` must hold `len` segments, `hashes` and `removed` as many numbers as their lengths say.
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
        let result = lookup(&unsafe { all_opened(handles, len) }, hashes, removed, threads as usize)?;
        Ok((Vec::new(), result))
    })
}

/// What a query shares with documents, and how to extend it to matches: see `query_matches.rs`.
#[repr(C)]
pub struct ChfShared {
    /// The query's fingerprints: position, and number of the hash.
    pub positions: *const u32,
    pub numbers: *const u32,
    pub prints: usize,
    /// From each of these positions of the query on, this many documents have what is there.
    pub owner_positions: *const u32,
    pub owners: *const u32,
    pub owners_len: usize,
    /// The postings: number of the hash, document, byte. Sorted by all three.
    pub queries: *const u32,
    pub documents: *const u32,
    pub offsets: *const u32,
    pub postings: usize,
    pub k: u32,
    pub gap: u32,
    pub guarantee: u32,
}

/// Extend matches of a query, which is the first source, with the others, whose numbers are given. Columns: for every
/// run its bytes, start and end on the left, start and end on the right; for every match its first run, its symbols, its
/// longest run, its owners; for every document its first match, the symbols covered on the left and on the right, its
/// length, whether it is identical; and the query's length.
///
/// # Safety
/// The pointers must hold what `ChfSource` and `ChfShared` say, `numbers` one less than `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_extend_matches(
    sources: *const ChfSource,
    numbers: *const u32,
    count: usize,
    form_number: u32,
    shared: *const ChfShared,
    threads: u32,
    level: u32,
) -> *mut ChfTable {
    table(|| {
        let mut sources =
            unsafe { slice(sources, count) }.iter().map(|s| unsafe { source(s, form(form_number)) });
        let query = sources.next().expect("the query is the first source");
        let numbers = unsafe { slice(numbers, count - 1) };
        let documents: Vec<_> = numbers.iter().copied().zip(sources).collect();
        let shared = unsafe { &*shared };
        let column = |data, len| unsafe { slice::<u32>(data, len) };
        let query = Query {
            source: query,
            seeds: QuerySeeds {
                positions: column(shared.positions, shared.prints),
                numbers: column(shared.numbers, shared.prints),
            },
            owners: OwnerCounts::new(
                column(shared.owner_positions, shared.owners_len),
                column(shared.owners, shared.owners_len),
            ),
        };
        let postings = SharedPostings {
            hashes: column(shared.queries, shared.postings),
            documents: column(shared.documents, shared.postings),
            offsets: column(shared.offsets, shared.postings),
        };
        let settings = Settings { k: shared.k as usize, gap: shared.gap, guarantee: shared.guarantee };
        let (all, size) =
            extend_matches(&query, &documents, &postings, settings, Level::at_most(level), threads as usize);
        let mut columns = vec![Vec::new(), Vec::new(), Vec::new(), vec![size]];
        for document in all {
            let first = to_u32(columns[1].len() / 4);
            let [left, right] = document.covered;
            columns[2].extend([first, left, right, document.symbols, document.is_identical as u32]);
            for one in document.matches {
                let first = to_u32(columns[0].len() / 4);
                columns[1].extend([first, one.symbols, one.longest, one.owners]);
                columns[0].extend(one.runs.into_flattened());
            }
        }
        columns
    })
}

/// A merge, which begins with its first piece.
struct Merging {
    segments: Vec<&'static Segment<'static>>,
    removed: &'static [u32],
    threads: usize,
    merge: Option<Merge<'static>>,
}

/// Prepare a merge of segments, to be freed with `chf_merge_free`. Return null if the core fails.
///
/// # Safety
/// As for `chf_lookup`. The segments and the removed documents must stay until the merge is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge(
    handles: *const *const c_void,
    len: usize,
    removed: *const u32,
    removed_len: usize,
    threads: u32,
) -> *mut c_void {
    let (merging, error) = guarded(|| {
        let (segments, removed) = unsafe { (all_opened(handles, len), slice(removed, removed_len)) };
        Some(Merging { segments, removed, threads: threads as usize, merge: None })
    });
    unsafe { chf_message_free(error) };
    merging.map_or(null_mut(), |merging| Box::into_raw(Box::new(merging)).cast())
}

/// Return the bytes that come next; none at the end or after an error.
///
/// # Safety
/// `merging` must come from `chf_merge` and be used by one thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge_next(merging: *mut c_void) -> *mut ChfBytes {
    bytes(|| {
        handle_bus_errors();
        assert!(!merging.is_null(), "the merge could not be prepared");
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
    if !merging.is_null() {
        drop(unsafe { Box::from_raw(merging.cast::<Merging>()) });
    }
}
