//! The C interface to the index: build, open, search, scan and merge segments; extend matches.

use std::sync::Mutex;

use crate::compare::matches::{OwnerCounts, Settings};
use crate::compare::to_u32;
use crate::ffi::boundary::{ChfResult, Column, object, result, result_with, slice};
use crate::ffi::fingerprint_ffi::{ChfSource, form, source};
use crate::index::lookup::{LookupResult, lookup};
use crate::index::mapped::handle_bus_errors;
use crate::index::query_matches::{Query, SharedPostings, extend_matches};
use crate::index::segment::{Segment, Shape};
use crate::index::segment_merge::Merge;
use crate::index::segment_scan::{Scanned, scan};
use crate::index::segment_write::build;
use crate::index::tally::{Shared, count_owners, tally};
use crate::machine::level::Level;

/// Return the bytes of a segment of these postings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_build(
    hashes: *const u64,
    documents: *const u32,
    positions: *const u32,
    len: usize,
    hash_bits: u32,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let (hashes, documents, positions) =
            unsafe { (slice(hashes, len), slice(documents, len), slice(positions, len)) };
        Ok(vec![build(hashes, documents, positions, hash_bits, threads as usize).into()])
    })
}

/// Open a segment, which becomes an object. The bytes must stay as they are until it is freed, except that a mapped file
/// may shrink. Column: the number of postings, the first and the last document, the bits of a hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_open(data: *const u8, len: usize) -> *mut ChfResult {
    result_with(|| {
        handle_bus_errors();
        let segment = Segment::open(unsafe { slice(data, len) })?;
        let Shape { postings, first, last, hash_bits, .. } = segment.shape;
        Ok((segment, vec![vec![postings, first as u64, last as u64, hash_bits as u64].into()]))
    })
}

/// Read a whole segment. Return no columns, or an error if it is damaged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_check(segment: *const ChfResult, threads: u32) -> *mut ChfResult {
    result(|| {
        unsafe { opened(segment) }.check(threads as usize)?;
        Ok(Vec::new())
    })
}

/// Return at most `limit` postings. Columns: hash, document, position. `next` is two numbers that keep track of where to go on: 0 and 0 at first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_scan(
    segment: *const ChfResult,
    next: *mut u64,
    limit: usize,
) -> *mut ChfResult {
    result(|| {
        let segment = unsafe { opened(segment) };
        let next = unsafe { std::slice::from_raw_parts_mut(next, 2) };
        let Scanned { hashes, documents, positions, next: (bucket, skipped) } =
            scan(segment, (next[0] as usize, next[1]), limit)?;
        (next[0], next[1]) = (bucket as u64, skipped);
        Ok(vec![hashes.into(), documents.into(), positions.into()])
    })
}

unsafe fn opened<'a>(handle: *const ChfResult) -> &'a Segment<'static> {
    handle_bus_errors();
    unsafe { object(handle) }
}

unsafe fn all_opened<'a>(handles: *const *const ChfResult, len: usize) -> Vec<&'a Segment<'static>> {
    handle_bus_errors();
    unsafe { slice(handles, len).iter().map(|&handle| object(handle)).collect() }
}

/// Return the postings of these hashes. Columns: the number of the hash, document, position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_lookup(
    handles: *const *const ChfResult,
    len: usize,
    hashes: *const u64,
    hashes_len: usize,
    removed: *const u32,
    removed_len: usize,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let (hashes, removed) = unsafe { (slice(hashes, hashes_len), slice(removed, removed_len)) };
        let LookupResult { queries, documents, positions } =
            lookup(&unsafe { all_opened(handles, len) }, hashes, removed, threads as usize)?;
        Ok(vec![queries.into(), documents.into(), positions.into()])
    })
}

/// Postings of the query's hashes as a look-up returns them, and the documents that are boilerplate, sorted.
#[repr(C)]
pub struct ChfPostings {
    pub queries: *const u32,
    pub documents: *const u32,
    pub len: usize,
    pub hashes: usize,
    pub boilerplate: *const u32,
    pub boilerplate_len: usize,
}

/// Return how many documents have each hash. Columns: the number without boilerplate, whether boilerplate has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_count_owners(postings: *const ChfPostings) -> *mut ChfResult {
    result(|| {
        let p = unsafe { &*postings };
        let (queries, documents) = unsafe { (slice(p.queries, p.len), slice(p.documents, p.len)) };
        let boilerplate = unsafe { slice(p.boilerplate, p.boilerplate_len) };
        let (owners, is_boilerplate) = count_owners(queries, documents, p.hashes, boilerplate);
        Ok(vec![owners.into(), is_boilerplate.into()])
    })
}

/// Return what every document shares with the query, given the weight of every hash and how often the query has it.
/// Columns: document; weight; fingerprints of the query that it has, its own that the query has, those that do not count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_tally(
    postings: *const ChfPostings,
    weights: *const f64,
    repeats: *const u32,
) -> *mut ChfResult {
    result(|| {
        let p = unsafe { &*postings };
        let (queries, documents) = unsafe { (slice(p.queries, p.len), slice(p.documents, p.len)) };
        let boilerplate = unsafe { slice(p.boilerplate, p.boilerplate_len) };
        let (weights, repeats) = unsafe { (slice(weights, p.hashes), slice(repeats, p.hashes)) };
        let rows = tally(queries, documents, weights, repeats, boilerplate);
        let counts = |count: fn(&Shared) -> u64| rows.iter().map(count).collect::<Vec<u64>>();
        Ok(vec![
            rows.iter().map(|row| row.document).collect::<Vec<u32>>().into(),
            rows.iter().map(|row| row.weight).collect::<Vec<f64>>().into(),
            counts(|row| row.of_query).into(),
            counts(|row| row.of_document).into(),
            counts(|row| row.uncounted).into(),
        ])
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
    /// Not 0 if every gram of the query is a seed. Its fingerprints and the postings are not used then.
    pub all_grams: u32,
}

/// Extend matches of a query, which is the first source, with the others, whose numbers are given. Columns: for every
/// run its bytes, start and end on the left, start and end on the right; for every match its first run, its symbols, its
/// longest run, its owners; for every document its first match, the symbols covered on the left and on the right, its
/// length, whether it is identical; and the query's length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_extend_matches(
    sources: *const ChfSource,
    numbers: *const u32,
    count: usize,
    form_number: u32,
    shared: *const ChfShared,
    threads: u32,
    level: u32,
) -> *mut ChfResult {
    result(|| {
        let mut sources =
            unsafe { slice(sources, count) }.iter().map(|s| unsafe { source(s, form(form_number)) });
        let query = sources.next().expect("the query is the first source");
        let numbers = unsafe { slice(numbers, count - 1) };
        let documents: Vec<_> = numbers.iter().copied().zip(sources).collect();
        let shared = unsafe { &*shared };
        let column = |data, len| unsafe { slice::<u32>(data, len) };
        let query = Query {
            source: query,
            positions: column(shared.positions, shared.prints),
            numbers: column(shared.numbers, shared.prints),
            owners: OwnerCounts::new(
                column(shared.owner_positions, shared.owners_len),
                column(shared.owners, shared.owners_len),
            ),
            all_grams: shared.all_grams != 0,
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
        Ok(columns.into_iter().map(Column::from).collect())
    })
}

/// Begin a merge of segments, which becomes an object. The segments and the removed documents must stay until it is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge(
    handles: *const *const ChfResult,
    len: usize,
    removed: *const u32,
    removed_len: usize,
    threads: u32,
) -> *mut ChfResult {
    result_with(|| {
        let (segments, removed) = unsafe { (all_opened(handles, len), slice(removed, removed_len)) };
        Ok((Mutex::new(Merge::new(segments, removed, threads as usize)?), Vec::new()))
    })
}

/// Return the bytes that come next in a merge; none at the end or after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge_next(merge: *const ChfResult) -> *mut ChfResult {
    result(|| {
        handle_bus_errors();
        let merge = unsafe { object::<Mutex<Merge>>(merge) };
        Ok(vec![merge.lock().expect("a merge that has not failed").piece()?.into()])
    })
}
