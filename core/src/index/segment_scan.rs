//! Everything in a segment, in order and piece by piece; and whether it is as it should be.

use crate::index::segment::{Damage, GROUP, Record, Segment};
use crate::machine::parallel::in_order;

/// Groups that a thread checks at a time.
const SHARE: usize = 256;

/// Columns of postings, and the place behind them: a bucket, and how many of its postings come before.
pub struct Scanned {
    pub hashes: Vec<u64>,
    pub documents: Vec<u32>,
    pub positions: Vec<u32>,
    pub next: (usize, u64),
}

/// At most `limit` postings from a place on.
pub fn scan(segment: &Segment, from: (usize, u64), limit: usize) -> Result<Scanned, Damage> {
    let mut records: Vec<Record> = Vec::with_capacity(limit.min(segment.shape.postings as usize));
    let (mut number, mut skipped) = from;
    while number / GROUP < segment.shape.groups() {
        let bucket = segment.bucket(&segment.group(number / GROUP)?, number);
        let end = bucket.n.min(skipped.saturating_add((limit - records.len()) as u64));
        bucket.decode(skipped, end, &mut records)?;
        if end < bucket.n {
            skipped = end;
            break;
        }
        (number, skipped) = (number + 1, 0);
    }
    Ok(Scanned {
        hashes: records.iter().map(|r| segment.shape.hash(r.0)).collect(),
        documents: records.iter().map(|r| (r.1 >> 32) as u32).collect(),
        positions: records.iter().map(|r| r.1 as u32).collect(),
        next: (number, skipped),
    })
}

impl Segment<'_> {
    /// Makes sure that the directory has as many postings as it should.
    pub fn count(&self) -> Result<(), Damage> {
        let mut postings = 0;
        for number in 0..self.shape.groups() {
            postings += self.group(number)?.counts.iter().sum::<u64>();
        }
        if postings == self.shape.postings {
            return Ok(());
        }
        Err(Damage(format!("the directory has {postings} postings and should have {}", self.shape.postings)))
    }

    /// Verifies every page, that postings are in order, and that they are as many as they should be.
    pub fn check(&self, threads: usize) -> Result<(), Damage> {
        self.ensure_all(threads)?;
        self.count()?;
        let checked = in_order(self.shape.groups(), SHARE, threads, |groups| {
            let mut records: Vec<Record> = Vec::new();
            for number in groups {
                let group = self.group(number)?;
                records.clear();
                for i in 0..GROUP {
                    let bucket = self.bucket(&group, number * GROUP + i);
                    bucket.decode(0, bucket.n, &mut records)?;
                }
                // Groups are in order by their numbers.
                let known = |r: &Record| (self.shape.first..=self.shape.last).contains(&((r.1 >> 32) as u32));
                if !records.is_sorted() || !records.iter().all(known) {
                    return Err(Damage(format!("the postings of group {number} make no sense")));
                }
            }
            Ok(())
        });
        checked.into_iter().collect()
    }
}
