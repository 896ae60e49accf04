//! Reads a whole segment in order, piece by piece, and checks it.

use crate::index::segment::{Damage, GROUP, Record, Segment};
use crate::machine::parallel::in_order;

/// Groups that a thread checks at a time.
const SHARE: usize = 256;

/// Columns of postings, and where the next ones begin: a bucket, and how many of its postings to skip.
pub struct Scanned {
    pub hashes: Vec<u64>,
    pub documents: Vec<u32>,
    pub positions: Vec<u32>,
    pub next: (usize, u64),
}

/// Return at most `limit` postings, starting where the last scan ended.
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
    segment.ensure_readable()?;
    Ok(Scanned {
        hashes: records.iter().map(|r| segment.shape.hash(r.0)).collect(),
        documents: records.iter().map(|r| (r.1 >> 32) as u32).collect(),
        positions: records.iter().map(|r| r.1 as u32).collect(),
        next: (number, skipped),
    })
}

impl Segment<'_> {
    /// Check that the directory has as many postings as the footer says.
    pub fn check_count(&self) -> Result<(), Damage> {
        let mut postings = 0;
        for number in 0..self.shape.groups() {
            postings += self.group(number)?.counts.iter().sum::<u64>();
        }
        self.ensure_readable()?;
        if postings == self.shape.postings {
            return Ok(());
        }
        Err(Damage(format!("the directory has {postings} postings instead of {}", self.shape.postings)))
    }

    /// Check every page, the order of postings, and their number.
    pub fn check(&self, threads: usize) -> Result<(), Damage> {
        let pages = in_order(self.data_len, 1 << 20, threads, |range| self.verify(range.start, range.end));
        pages.into_iter().collect::<Result<(), _>>()?;
        self.check_count()?;
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
                let is_known =
                    |r: &Record| (self.shape.first..=self.shape.last).contains(&((r.1 >> 32) as u32));
                if !records.is_sorted() || !records.iter().all(is_known) {
                    return Err(Damage(format!("the postings of group {number} are not in order")));
                }
            }
            self.ensure_readable()
        });
        checked.into_iter().collect()
    }
}
