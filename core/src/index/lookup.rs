//! Looks up hashes in segments: which documents have them, and where.

use std::ops::Range;

use crate::index::bits::mask;
use crate::index::bucket::{Bucket, Cursor};
use crate::index::segment::{Damage, GROUP, Segment};
use crate::index::segment_merge::{Failure, Removed};
use crate::machine::parallel::in_order;

/// Queries that are prefetched together before the first is answered.
const BLOCK: usize = 64;
/// Queries that a thread looks up in a segment at a time.
const SHARE: usize = 1024;
/// Look-ups that are worth a thread.
const THREAD_LOOKUPS: usize = 4096;

/// Postings, each with the number of its hash among those looked up; sorted.
pub struct LookupResult {
    pub queries: Vec<u32>,
    pub documents: Vec<u32>,
    pub positions: Vec<u32>,
}

/// Postings of consecutive queries in one segment, each with the document above the position.
struct Part {
    postings: Vec<u64>,
    /// Where the postings of each query end.
    ends: Vec<usize>,
}

impl Part {
    fn of(&self, query: usize) -> &[u64] {
        &self.postings[if query == 0 { 0 } else { self.ends[query - 1] }..self.ends[query]]
    }
}

/// Return the postings of these hashes, except those of removed documents.
pub fn lookup(
    segments: &[&Segment],
    hashes: &[u64],
    removed: &[u32],
    threads: usize,
) -> Result<LookupResult, Failure> {
    assert!(u32::try_from(hashes.len()).is_ok(), "look up at most 2^32 - 1 hashes at a time");
    let removed = Removed::few(removed);
    let mut queries: Vec<(u64, u32)> = hashes.iter().zip(0..).map(|(&hash, i)| (hash, i)).collect();
    queries.sort_unstable();
    let shares: Vec<&[(u64, u32)]> = queries.chunks(SHARE).collect();
    let lookups = segments.len() * queries.len();
    let threads = threads.min(lookups / THREAD_LOOKUPS).max(1);
    let parts = in_order(segments.len() * shares.len(), 1, threads, |range| {
        let (segment, share) = (range.start / shares.len(), range.start % shares.len());
        find(segments[segment], shares[share], &removed).map_err(|damage| (segment, damage))
    });
    let parts: Vec<Part> = parts.into_iter().collect::<Result<_, _>>()?;
    Ok(join(&parts, shares.len(), &queries))
}

/// Sort by query, document and position. There are `shares` parts for each segment.
fn join(parts: &[Part], shares: usize, queries: &[(u64, u32)]) -> LookupResult {
    let total = parts.iter().map(|part| part.postings.len()).sum();
    let mut found = LookupResult {
        queries: Vec::with_capacity(total),
        documents: Vec::with_capacity(total),
        positions: Vec::with_capacity(total),
    };
    let mut place_of = vec![0; queries.len()];
    queries.iter().enumerate().for_each(|(place, &(_, query))| place_of[query as usize] = place);
    let mut own: Vec<u64> = Vec::new();
    for (query, place) in place_of.into_iter().enumerate() {
        let in_segments = parts.iter().skip(place / SHARE).step_by(shares).map(|part| part.of(place % SHARE));
        let mut filled = in_segments.filter(|postings| !postings.is_empty());
        let Some(mut postings) = filled.next() else { continue };
        if let Some(more) = filled.next() {
            own.clear();
            [postings, more].into_iter().chain(filled).for_each(|some| own.extend_from_slice(some));
            if !own.is_sorted() {
                own.sort_unstable();
            }
            postings = &own;
        }
        found.queries.resize(found.queries.len() + postings.len(), query as u32);
        found.documents.extend(postings.iter().map(|&posting| (posting >> 32) as u32));
        found.positions.extend(postings.iter().map(|&posting| posting as u32));
    }
    found
}

/// Look up sorted hashes in one segment.
fn find(segment: &Segment, queries: &[(u64, u32)], removed: &Removed) -> Result<Part, Damage> {
    let shape = &segment.shape;
    let rest_bits = shape.rest_bits();
    let mut part =
        Part { postings: Vec::with_capacity(queries.len()), ends: Vec::with_capacity(queries.len()) };
    let mut cursor_in: Option<(usize, Cursor)> = None;
    let mut last = None;
    let mut buckets: Vec<Bucket> = Vec::with_capacity(BLOCK);
    let mut ranges: Vec<Range<u64>> = Vec::with_capacity(BLOCK);
    for block in queries.chunks(BLOCK) {
        let number = |hash: u64| (shape.key(hash) >> rest_bits) as usize;
        block.iter().for_each(|query| segment.prefetch(number(query.0) / GROUP));
        buckets.clear();
        for &(hash, _) in block {
            let bucket = segment.bucket(&segment.group(number(hash) / GROUP)?, number(hash));
            bucket.prefetch(shape.key(hash) & mask(rest_bits));
            buckets.push(bucket);
        }
        ranges.clear();
        for (&(hash, _), bucket) in block.iter().zip(&buckets) {
            let key = shape.key(hash);
            let range = match &last {
                Some((last_key, range)) if *last_key == key => Range::clone(range),
                _ => {
                    let cursor = match &mut cursor_in {
                        Some((bucket, cursor)) if *bucket == number(hash) => cursor,
                        _ => &mut cursor_in.insert((number(hash), Cursor::default())).1,
                    };
                    bucket.find(key & mask(rest_bits), cursor)?
                }
            };
            if !range.is_empty() {
                bucket.prefetch_posting(range.start);
            }
            last = Some((key, range.clone()));
            ranges.push(range);
        }
        for (bucket, range) in buckets.iter().zip(ranges.drain(..)) {
            if !range.is_empty() {
                bucket.verify_postings(&range)?;
                let start = part.postings.len();
                part.postings.extend(bucket.postings(range));
                if !removed.is_empty() {
                    let own = part.postings.split_off(start);
                    part.postings.extend(own.iter().filter(|&&p| !removed.contains((p >> 32) as u32)));
                }
            }
            part.ends.push(part.postings.len());
        }
    }
    segment.ensure_readable()?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::bits::word;
    use crate::index::checksum::checksum;
    use crate::index::segment::{PAGE, TRAILER};
    use crate::index::segment_merge::Merge;
    use crate::index::segment_scan::scan;
    use crate::index::segment_write::build;
    use crate::select::hash::mix64;

    /// Make all checksums fit, as an attacker would.
    fn seal(bytes: &mut [u8]) {
        let len = bytes.len();
        let data_len = word(bytes, len - TRAILER + 8) as usize;
        if data_len > len - TRAILER {
            return;
        }
        let pages = data_len.div_ceil(PAGE);
        let Some(sums) = (len - TRAILER).checked_sub(pages * 8) else { return };
        for page in 0..pages {
            let sum = checksum(&bytes[page * PAGE..data_len.min((page + 1) * PAGE)]);
            bytes[sums + page * 8..][..8].copy_from_slice(&sum.to_le_bytes());
        }
        let sum = checksum(&bytes[data_len..len - 24]);
        bytes[len - 24..len - 16].copy_from_slice(&sum.to_le_bytes());
    }

    /// Read a segment in every way, and tell whether all went well.
    fn read(bytes: &[u8], hashes: &[u64]) -> Result<(), Damage> {
        let segment = Segment::open(bytes)?;
        let checked = segment.check(1);
        let looked_up = lookup(&[&segment], hashes, &[3], 1);
        let mut start = (0, 0);
        let scanned = (0..20).try_for_each(|_| scan(&segment, start, 5000).map(|some| start = some.next));
        for removed in [&[][..], &[3, 7]] {
            if let Ok(mut merge) = Merge::new(vec![&segment], removed, 1) {
                while let Ok(bytes) = merge.piece()
                    && !bytes.is_empty()
                {}
            }
        }
        looked_up.map_err(|failure| failure.1)?;
        checked.and(scanned)
    }

    #[test]
    fn a_segment_made_to_do_harm_does_none() {
        for n in [0u64, 5, 700, 70_000] {
            // The last has mostly one hash, which makes a large group.
            let hash = |i: u64| if n == 70_000 && i > 9 { 1 << 63 } else { mix64(i) };
            let hashes: Vec<u64> = (0..n).map(hash).collect();
            let documents: Vec<u32> = (0..n).map(|i| (mix64(i) % 50) as u32).collect();
            let positions: Vec<u32> = (0..n).map(|i| (i % 30) as u32).collect();
            let whole = build(&hashes, &documents, &positions, 64, 1);
            let queries = [&hashes[..hashes.len().min(300)], &[0, u64::MAX]].concat();
            assert_eq!(read(&whole, &queries), Ok(()));
            let tries = if n == 70_000 { 30 } else { 600 };
            for seed in 0..tries {
                let mut bytes = whole.clone();
                for change in 0..1 + mix64(seed) % 3 {
                    let r = mix64(seed * 10 + change);
                    // Anywhere, or near the end, where the footer is.
                    let reach = if r & 1 == 0 { bytes.len() } else { bytes.len().min(200) };
                    let byte = bytes.len() - 1 - (r >> 8) as usize % reach;
                    bytes[byte] =
                        [0, 255, 1, bytes[byte] ^ 128, bytes[byte].wrapping_add(1)][(r >> 1) as usize % 5];
                }
                seal(&mut bytes);
                let _ = read(&bytes, &queries);
            }
        }
    }
}
