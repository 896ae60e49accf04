//! Hashes looked up in segments: who has them, and where.

use crate::bits::mask;
use crate::bucket::{Bucket, Cursor};
use crate::parallel::in_order;
use crate::segment::{Damage, GROUP, Segment};
use crate::segment_merge::{Failure, Removed};

/// Queries whose memory is asked for before any of them is answered.
const BLOCK: usize = 32;
/// Queries of one segment that a thread takes at a time.
const SHARE: usize = 1024;
/// A thread is worth so many.
const WORTH: usize = 4096;

/// Postings, each with the number of the hash that was asked for; sorted.
#[derive(Default)]
pub struct Found {
    pub queries: Vec<u32>,
    pub documents: Vec<u32>,
    pub positions: Vec<u32>,
}

/// The number of a query, and the document above the position.
type Hit = (u32, u64);

/// Who has these hashes, but for removed documents.
pub fn lookup(
    segments: &[&Segment],
    hashes: &[u64],
    removed: &[u32],
    threads: usize,
) -> Result<Found, Failure> {
    assert!(hashes.len() <= u32::MAX as usize, "at most 2^32 - 1 hashes at a time");
    let removed = Removed::few(removed);
    let mut queries: Vec<(u64, u32)> = hashes.iter().zip(0..).map(|(&hash, i)| (hash, i)).collect();
    queries.sort_unstable();
    let shares: Vec<&[(u64, u32)]> = queries.chunks(SHARE).collect();
    let work = segments.len() * queries.len();
    let threads = threads.min(work / WORTH).max(1);
    let found = in_order(segments.len() * shares.len(), 1, threads, |range| {
        let (segment, share) = (range.start / shares.len(), range.start % shares.len());
        find(segments[segment], shares[share], &removed).map_err(|damage| (segment, damage))
    });
    let found: Vec<Vec<Hit>> = found.into_iter().collect::<Result<_, _>>()?;
    Ok(ordered(&found, hashes.len()))
}

/// By query, document and position.
fn ordered(found: &[Vec<Hit>], queries: usize) -> Found {
    let mut ends = vec![0usize; queries + 1];
    found.iter().flatten().for_each(|hit| ends[hit.0 as usize + 1] += 1);
    (0..queries).for_each(|q| ends[q + 1] += ends[q]);
    let total = ends[queries];
    let mut places = vec![0u64; total];
    let mut next = ends.clone();
    for &(query, place) in found.iter().flatten() {
        let slot = &mut next[query as usize];
        places[*slot] = place;
        *slot += 1;
    }
    let mut all = Found { queries: Vec::with_capacity(total), ..Found::default() };
    for q in 0..queries {
        let own = &mut places[ends[q]..ends[q + 1]];
        if !own.is_sorted() {
            own.sort_unstable();
        }
        all.queries.resize(ends[q + 1], q as u32);
    }
    all.documents = places.iter().map(|&place| (place >> 32) as u32).collect();
    all.positions = places.iter().map(|&place| place as u32).collect();
    all
}

/// What one segment has, for hashes in order.
fn find(segment: &Segment, queries: &[(u64, u32)], removed: &Removed) -> Result<Vec<Hit>, Damage> {
    let shape = &segment.shape;
    let rest_bits = shape.rest_bits();
    let mut hits = Vec::with_capacity(queries.len());
    let mut touched = 0;
    let mut here: Option<(usize, Cursor)> = None;
    let mut last = None;
    let mut buckets: Vec<Bucket> = Vec::with_capacity(BLOCK);
    for block in queries.chunks(BLOCK) {
        let number = |hash: u64| (shape.key(hash) >> rest_bits) as usize;
        for &(hash, _) in block {
            touched ^= segment.touch(number(hash) / GROUP);
        }
        buckets.clear();
        for &(hash, _) in block {
            let bucket = segment.bucket(&segment.group(number(hash) / GROUP)?, number(hash));
            touched ^= bucket.touch(shape.key(hash) & mask(rest_bits));
            buckets.push(bucket);
        }
        for (&(hash, query), bucket) in block.iter().zip(&buckets) {
            let key = shape.key(hash);
            let range = match last {
                Some((before, ref range)) if before == key => Clone::clone(range),
                _ => {
                    let cursor = match &mut here {
                        Some((at, cursor)) if *at == number(hash) => cursor,
                        _ => &mut here.insert((number(hash), Cursor::default())).1,
                    };
                    bucket.find(key & mask(rest_bits), cursor)?
                }
            };
            last = Some((key, range.clone()));
            bucket.visit(range, |document, position| {
                if !removed.contains(document) {
                    hits.push((query, (document as u64) << 32 | position as u64));
                }
            })?;
        }
    }
    std::hint::black_box(touched);
    Ok(hits)
}
