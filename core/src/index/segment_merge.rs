//! Merges segments into one, piece by piece, without the postings of removed documents.

use std::ops::Range;

use crate::index::bits::mask;
use crate::index::segment::{Damage, GROUP, Record, Segment, Shape};
use crate::index::segment_write::{Part, Writer, encode};
use crate::machine::parallel::in_order;

/// Postings that a thread merges at a time.
const SHARE: u64 = 1 << 15;
/// Shares in a piece, unless there are many threads. Enough to keep threads busy, few enough to take little memory.
const SHARES: usize = 32;
/// Documents. Removed ones become a bit set if they span fewer than this.
const MAX_BIT_SET: u32 = 1 << 27;

/// Documents that have been removed.
pub struct Removed<'a> {
    sorted: &'a [u32],
    bits: Vec<u64>,
}

impl<'a> Removed<'a> {
    /// Take a few questions: nothing is prepared.
    pub fn few(sorted: &'a [u32]) -> Self {
        Removed { sorted, bits: Vec::new() }
    }

    /// Prepare for many questions.
    pub fn many(sorted: &'a [u32]) -> Self {
        assert!(sorted.is_sorted(), "removed documents must be sorted");
        let mut removed = Removed::few(sorted);
        if let (Some(&first), Some(&last)) = (sorted.first(), sorted.last())
            && last - first < MAX_BIT_SET
        {
            removed.bits = vec![0; (last - first) as usize / 64 + 1];
            for &document in sorted {
                removed.bits[(document - first) as usize / 64] |= 1 << ((document - first) % 64);
            }
        }
        removed
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    #[inline]
    pub fn contains(&self, document: u32) -> bool {
        let Some(&first) = self.sorted.first() else { return false };
        if self.bits.is_empty() {
            return self.sorted.binary_search(&document).is_ok();
        }
        let Some(i) = document.checked_sub(first) else { return false };
        self.bits.get(i as usize / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    fn touches(&self, shape: &Shape) -> bool {
        let from = self.sorted.partition_point(|&d| d < shape.first);
        self.sorted.get(from).is_some_and(|&d| d <= shape.last)
    }
}

/// The number of a segment, and what is wrong with it.
pub type Failure = (usize, Damage);

/// A merge under way.
pub struct Merge<'a> {
    segments: Vec<&'a Segment<'a>>,
    removed: Removed<'a>,
    shape: Shape,
    writer: Option<Writer>,
    /// Ranges of groups still to write, the next one last.
    ahead: Vec<Range<usize>>,
    threads: usize,
}

impl<'a> Merge<'a> {
    pub fn new(segments: Vec<&'a Segment<'a>>, removed: &'a [u32], threads: usize) -> Result<Self, Failure> {
        let hash_bits = segments.first().map_or(64, |s| s.shape.hash_bits);
        assert!(
            segments.iter().all(|s| s.shape.hash_bits == hash_bits),
            "segments must keep the same number of hash bits"
        );
        let removed = Removed::many(removed);
        let (mut postings, mut first, mut last) = (0, u32::MAX, 0);
        for (i, segment) in segments.iter().enumerate() {
            segment.check_count().map_err(|damage| (i, damage))?;
            let mut left = (segment.shape.postings, segment.shape.first, segment.shape.last);
            if removed.touches(&segment.shape) {
                left = remaining(segment, &removed, threads).map_err(|damage| (i, damage))?;
            }
            if left.0 > 0 {
                (postings, first, last) = (postings + left.0, first.min(left.1), last.max(left.2));
            }
        }
        let shape = Shape::new(hash_bits, postings, if postings == 0 { 0 } else { first }, last);
        let mut merge = Merge { segments, removed, shape, writer: None, ahead: Vec::new(), threads };
        merge.plan(0..shape.groups())?;
        merge.ahead.reverse();
        Ok(merge)
    }

    /// Split a range of groups until no part has more postings than a thread's share, judged by the directories.
    fn plan(&mut self, groups: Range<usize>) -> Result<(), Failure> {
        if groups.len() > 1 && self.weight(&groups)? > SHARE {
            let middle = groups.start + groups.len() / 2;
            self.plan(groups.start..middle)?;
            return self.plan(middle..groups.end);
        }
        self.ahead.push(groups);
        Ok(())
    }

    /// The first and the last key of a range of groups.
    fn keys(&self, groups: &Range<usize>) -> (u64, u64) {
        let shift = self.shape.hash_bits - self.shape.group_bits();
        if shift == 64 {
            return (0, u64::MAX);
        }
        ((groups.start as u64) << shift, ((groups.end - 1) as u64) << shift | mask(shift))
    }

    /// Return an upper bound for the postings in a range of groups.
    fn weight(&self, groups: &Range<usize>) -> Result<u64, Failure> {
        let (low, high) = self.keys(groups);
        let mut weight = 0;
        for (i, segment) in self.segments.iter().enumerate() {
            let rest = segment.shape.rest_bits();
            for number in (low >> rest) as usize / GROUP..=(high >> rest) as usize / GROUP {
                weight += segment.group(number).map_err(|damage| (i, damage))?.counts.iter().sum::<u64>();
            }
        }
        Ok(weight)
    }

    /// Return the bytes that come next; none after the end or a failure.
    pub fn piece(&mut self) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None if self.ahead.is_empty() => return Ok(out),
            None => Writer::new(self.shape, &mut out),
        };
        let shares: Vec<_> = (0..SHARES.max(2 * self.threads)).map_while(|_| self.ahead.pop()).collect();
        let parts = in_order(shares.len(), 1, self.threads, |range| self.part(shares[range.start].clone()));
        let parts: Result<Vec<Part>, Failure> = parts.into_iter().collect();
        let parts = parts.inspect_err(|_| self.ahead.clear())?;
        out.reserve(parts.iter().map(|part| part.bytes.len()).sum());
        parts.iter().for_each(|part| writer.add(part, &mut out));
        if self.ahead.is_empty() {
            writer.finish(&mut out);
        } else {
            self.writer = Some(writer);
        }
        Ok(out)
    }

    fn part(&self, groups: Range<usize>) -> Result<Part, Failure> {
        let (low, high) = self.keys(&groups);
        let mut records: Vec<Record> = Vec::new();
        for (i, segment) in self.segments.iter().enumerate() {
            let before = records.len();
            segment.range(low, high, &mut records).map_err(|damage| (i, damage))?;
            segment.ensure_readable().map_err(|damage| (i, damage))?;
            // A damaged segment may hold postings that do not belong here.
            let documents = segment.shape.first..=segment.shape.last;
            let is_wrong = |r: &Record| r.0 < low || r.0 > high || !documents.contains(&((r.1 >> 32) as u32));
            if records[before..].iter().any(is_wrong) {
                return Err((i, Damage(format!("the postings of keys {low} to {high} are not in order"))));
            }
        }
        if !self.removed.sorted.is_empty() {
            records.retain(|r| !self.removed.contains((r.1 >> 32) as u32));
        }
        // This sort finds the sorted run of each segment and merges them.
        records.sort();
        Ok(encode(&self.shape, groups.start, groups.end, &records))
    }
}

/// Return how many postings remain without removed documents, and their first and last document.
fn remaining(segment: &Segment, removed: &Removed, threads: usize) -> Result<(u64, u32, u32), Damage> {
    let counted = in_order(segment.shape.groups(), 256, threads, |groups| {
        let (mut left, mut first, mut last) = (0, u32::MAX, 0);
        for number in groups {
            let group = segment.group(number)?;
            for i in 0..GROUP {
                let bucket = segment.bucket(&group, number * GROUP + i);
                bucket.documents(|document| {
                    if !removed.contains(document) {
                        (left, first, last) = (left + 1, first.min(document), last.max(document));
                    }
                })?;
            }
        }
        segment.ensure_readable()?;
        Ok((left, first, last))
    });
    let mut all = (0, u32::MAX, 0);
    for part in counted {
        let (left, first, last) = part?;
        all = (all.0 + left, all.1.min(first), all.2.max(last));
    }
    Ok(all)
}
