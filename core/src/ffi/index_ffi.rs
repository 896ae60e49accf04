//! The C interface to the index: build, open, search, scan and merge segments; extend matches.

use std::sync::Mutex;

use crate::compare::matches::OwnerCounts;
use crate::compare::to_u32;
use crate::ffi::boundary::{
    ChfColumn, ChfResult, Column, Failure, ensure, ensure_rows, ensure_weights, numbers, object, reference,
    result, result_with, structures,
};
use crate::ffi::compare_ffi::settings;
use crate::ffi::fingerprint_ffi::{ChfSource, form, sources};
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
    hashes: ChfColumn,
    documents: ChfColumn,
    positions: ChfColumn,
    hash_bits: u32,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let hashes = unsafe { numbers(&hashes, "hashes") }?;
        let documents = unsafe { numbers(&documents, "documents") }?;
        let positions = unsafe { numbers(&positions, "positions") }?;
        ensure_rows("hashes, documents, positions", &[hashes.len(), documents.len(), positions.len()])?;
        ensure!((32..=64).contains(&hash_bits), "hash_bits is {hash_bits}; give 32 to 64");
        Ok(vec![build(hashes, documents, positions, hash_bits, threads as usize).into()])
    })
}

/// Open a segment, which becomes an object. The bytes must stay as they are until it is freed, except that a mapped file
/// may shrink. Column: the number of postings, the first and the last document, the bits of a hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_open(data: ChfColumn) -> *mut ChfResult {
    result_with(|| {
        handle_bus_errors();
        let segment = Segment::open(unsafe { numbers(&data, "a segment") }?)?;
        let Shape { postings, first, last, hash_bits, .. } = segment.shape;
        Ok((segment, vec![vec![postings, first as u64, last as u64, hash_bits as u64].into()]))
    })
}

/// Read a whole segment. Return no columns, or an error if it is damaged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_check(segment: *const ChfResult, threads: u32) -> *mut ChfResult {
    result(|| {
        unsafe { opened(segment) }?.check(threads as usize)?;
        Ok(Vec::new())
    })
}

/// Return at most `limit` postings, from where the scan before this one ended. Columns: hash, document, position; and
/// the two numbers that `bucket` and `skipped` are in the next scan. They are 0 in the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_segment_scan(
    segment: *const ChfResult,
    bucket: usize,
    skipped: u64,
    limit: usize,
) -> *mut ChfResult {
    result(|| {
        let segment = unsafe { opened(segment) }?;
        let Scanned { hashes, documents, positions, next } = scan(segment, (bucket, skipped), limit)?;
        let next = vec![next.0 as u64, next.1];
        Ok(vec![hashes.into(), documents.into(), positions.into(), next.into()])
    })
}

unsafe fn opened<'a>(handle: *const ChfResult) -> Result<&'a Segment<'static>, Failure> {
    handle_bus_errors();
    unsafe { object(handle, "a segment") }
}

unsafe fn all_opened<'a>(
    handles: *const *const ChfResult,
    len: usize,
) -> Result<Vec<&'a Segment<'static>>, Failure> {
    unsafe { structures(handles, len, "segments") }?.iter().map(|&handle| unsafe { opened(handle) }).collect()
}

/// Return numbers of documents in ascending order.
unsafe fn sorted<'a>(documents: &ChfColumn, name: &str) -> Result<&'a [u32], Failure> {
    let documents = unsafe { numbers::<u32>(documents, name) }?;
    ensure!(documents.is_sorted(), "{name} must be sorted");
    Ok(documents)
}

/// Return the postings of these hashes. Columns: the number of the hash, document, position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_lookup(
    handles: *const *const ChfResult,
    len: usize,
    hashes: ChfColumn,
    removed: ChfColumn,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let (hashes, removed) =
            unsafe { (numbers(&hashes, "hashes")?, sorted(&removed, "removed documents")?) };
        ensure!(u32::try_from(hashes.len()).is_ok(), "look up at most 2^32 - 1 hashes at a time");
        let LookupResult { queries, documents, positions } =
            lookup(&unsafe { all_opened(handles, len) }?, hashes, removed, threads as usize)?;
        Ok(vec![queries.into(), documents.into(), positions.into()])
    })
}

/// Postings of the query's hashes as a look-up returns them, and the documents that are boilerplate, sorted.
#[repr(C)]
pub struct ChfPostings {
    /// u32.
    pub queries: ChfColumn,
    /// u32.
    pub documents: ChfColumn,
    pub hashes: usize,
    /// u32.
    pub boilerplate: ChfColumn,
}

/// The same as slices that fit each other.
struct QueryPostings<'a> {
    queries: &'a [u32],
    documents: &'a [u32],
    hashes: usize,
    boilerplate: &'a [u32],
}

impl QueryPostings<'_> {
    unsafe fn new(postings: *const ChfPostings) -> Result<Self, Failure> {
        let all = unsafe {
            let postings = reference(postings, "the postings")?;
            QueryPostings {
                queries: sorted(&postings.queries, "the numbers of hashes")?,
                documents: numbers(&postings.documents, "documents")?,
                hashes: postings.hashes,
                boilerplate: sorted(&postings.boilerplate, "boilerplate documents")?,
            }
        };
        ensure_rows("queries, documents", &[all.queries.len(), all.documents.len()])?;
        ensure!(u32::try_from(all.hashes).is_ok(), "there are {} hashes; give at most 2^32 - 1", all.hashes);
        let last = all.queries.last();
        ensure!(
            last.is_none_or(|&number| (number as usize) < all.hashes),
            "there is no hash {}; there are {}",
            last.unwrap_or(&0),
            all.hashes
        );
        Ok(all)
    }
}

/// Return how many documents have each hash. Columns: the number without boilerplate, whether boilerplate has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_count_owners(postings: *const ChfPostings) -> *mut ChfResult {
    result(|| {
        let QueryPostings { queries, documents, hashes, boilerplate } =
            unsafe { QueryPostings::new(postings) }?;
        let (owners, is_boilerplate) = count_owners(queries, documents, hashes, boilerplate);
        Ok(vec![owners.into(), is_boilerplate.into()])
    })
}

/// Return what every document shares with the query, given the weight of every hash and how often the query has it.
/// Columns: document; weight; fingerprints of the query that it has, its own that the query has, those that do not count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_tally(
    postings: *const ChfPostings,
    weights: ChfColumn,
    repeats: ChfColumn,
) -> *mut ChfResult {
    result(|| {
        let QueryPostings { queries, documents, hashes, boilerplate } =
            unsafe { QueryPostings::new(postings) }?;
        let (weights, repeats) =
            unsafe { (numbers::<f64>(&weights, "weights")?, numbers(&repeats, "repeats")?) };
        ensure_rows("hashes, weights, repeats", &[hashes, weights.len(), repeats.len()])?;
        ensure_weights(weights)?;
        let rows = tally(queries, documents, weights, repeats, boilerplate);
        let counts = |count: fn(&Shared) -> u32| rows.iter().map(count).collect::<Vec<u32>>();
        Ok(vec![
            counts(|row| row.document).into(),
            rows.iter().map(|row| row.weight).collect::<Vec<f64>>().into(),
            rows.iter().map(|row| row.of_query).collect::<Vec<u64>>().into(),
            counts(|row| row.of_document).into(),
            counts(|row| row.uncounted).into(),
        ])
    })
}

/// What a query shares with documents, and how to extend it to matches: see `query_matches.rs`. All columns are u32.
#[repr(C)]
pub struct ChfShared {
    /// The query's fingerprints: position, and number of the hash.
    pub positions: ChfColumn,
    pub numbers: ChfColumn,
    /// From each of these positions of the query on, this many documents have what is there.
    pub owner_positions: ChfColumn,
    pub owners: ChfColumn,
    /// The postings: number of the hash, document, byte. Sorted by all three.
    pub queries: ChfColumn,
    pub documents: ChfColumn,
    pub offsets: ChfColumn,
    pub k: u32,
    pub gap: u32,
    pub guarantee: u32,
    /// Not 0 if every gram of the query is a seed. Its fingerprints and the postings are not used then.
    pub all_grams: u32,
}

/// Extend matches of a query, which is the first text, with the others, which are documents of these numbers (u32). Columns: for every
/// run its bytes, start and end on the left, start and end on the right; for every match its first run, its symbols, its
/// longest run, its owners; for every document its first match, the symbols covered on the left and on the right, its
/// length, whether it is identical; and the query's length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_extend_matches(
    texts: *const ChfSource,
    count: usize,
    documents: ChfColumn,
    form_number: u32,
    shared: *const ChfShared,
    threads: u32,
    level: u32,
) -> *mut ChfResult {
    result(|| {
        let mut sources = unsafe { sources(texts, count, form(form_number)?) }?.into_iter();
        let query =
            sources.next().ok_or_else(|| "the query is the first source, but there is none".to_string())?;
        let documents = unsafe { numbers::<u32>(&documents, "the numbers of documents") }?;
        ensure_rows("documents, their numbers", &[sources.len(), documents.len()])?;
        let documents: Vec<_> = documents.iter().copied().zip(sources).collect();
        let shared = unsafe { reference(shared, "what is shared") }?;
        let column = |column, name| unsafe { numbers::<u32>(column, name) };
        let (positions, hashes) =
            (column(&shared.positions, "positions")?, column(&shared.numbers, "numbers of hashes")?);
        ensure_rows("positions, numbers of hashes", &[positions.len(), hashes.len()])?;
        let (owner_positions, owners) =
            (column(&shared.owner_positions, "positions of owners")?, column(&shared.owners, "owners")?);
        ensure_rows("positions of owners, owners", &[owner_positions.len(), owners.len()])?;
        let owners = OwnerCounts::new(owner_positions, owners);
        let postings = SharedPostings {
            hashes: column(&shared.queries, "queries")?,
            documents: column(&shared.documents, "documents")?,
            offsets: column(&shared.offsets, "offsets")?,
        };
        ensure_rows(
            "queries, documents, offsets",
            &[postings.hashes.len(), postings.documents.len(), postings.offsets.len()],
        )?;
        let all_grams = shared.all_grams != 0;
        let query = Query { source: query, positions, numbers: hashes, owners, all_grams };
        let settings = settings(shared.k, shared.gap, shared.guarantee)?;
        let (all, size) =
            extend_matches(&query, &documents, &postings, settings, Level::at_most(level), threads as usize)?;
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
    removed: ChfColumn,
    threads: u32,
) -> *mut ChfResult {
    result_with(|| {
        let (segments, removed) =
            unsafe { (all_opened(handles, len)?, sorted(&removed, "removed documents")?) };
        let hash_bits = |segment: &&Segment| segment.shape.hash_bits;
        ensure!(
            segments.windows(2).all(|two| hash_bits(&two[0]) == hash_bits(&two[1])),
            "segments that keep different numbers of hash bits cannot be merged"
        );
        Ok((Mutex::new(Merge::new(segments, removed, threads as usize)?), Vec::new()))
    })
}

/// Return the bytes that come next in a merge; none at the end or after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_merge_next(merge: *const ChfResult) -> *mut ChfResult {
    result(|| {
        handle_bus_errors();
        let merge = unsafe { object::<Mutex<Merge>>(merge, "a merge") }?;
        Ok(vec![merge.lock().expect("a merge that has not failed").piece()?.into()])
    })
}
