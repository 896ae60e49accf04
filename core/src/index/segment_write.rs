//! Writes a segment: postings are sorted, encoded in groups, and framed by header and footer.

use crate::compare::to_u32;
use crate::index::bits::{Packer, mask, width};
use crate::index::checksum::checksum;
use crate::index::segment::{
    ENTRY, GROUP, HEADER, LARGE, LARGE_FLAG, MAGIC, OFFSET_BITS, PAGE, Record, Shape, TRAILER, VERSION,
};
use crate::machine::parallel::in_order;

/// Postings that a thread sorts at a time. They fit the second-level cache.
const SHARE: usize = 1 << 14;
/// Postings. Smaller batches are not worth a second thread.
const THREADS_WORTH: usize = 1 << 15;
const MAX_PARTS: usize = 1 << 12;
/// Postings in a slot, on average. Slots are sorted by comparing.
const SLOT: usize = 2;

/// Encoded groups, and the directory entry of each. Offsets count from the first group.
pub struct Part {
    pub bytes: Vec<u8>,
    pub entries: Vec<[u64; 2]>,
}

/// Encode the groups from `first` up to `last`, which is not included, from their sorted postings.
pub fn encode(shape: &Shape, first: usize, last: usize, records: &[Record]) -> Part {
    let rest = shape.rest_bits();
    let mut packer = Packer::default();
    packer.bytes.reserve(records.len() * 9 + 64);
    let mut entries = Vec::with_capacity(last - first);
    let mut records = records;
    for group in first..last {
        let buckets: [&[Record]; GROUP] = std::array::from_fn(|i| {
            let number = (group * GROUP + i) as u64;
            let (bucket, behind) = records.split_at(records.partition_point(|r| r.0 >> rest == number));
            records = behind;
            bucket
        });
        let mut entry = packer.bytes.len() as u64;
        let mut counts = 0;
        if buckets.iter().any(|b| b.len() as u64 >= LARGE) {
            entry |= LARGE_FLAG;
            buckets.iter().for_each(|b| packer.push(b.len() as u64, 64));
        } else {
            counts = (0..GROUP).fold(0, |all, i| all | (buckets[i].len() as u64) << (16 * i));
        }
        let positions = buckets.iter().copied().flatten().fold(0, |all, r| all | r.1 as u32);
        let position_bits = width(positions as u64);
        buckets.iter().for_each(|bucket| encode_bucket(shape, bucket, position_bits, &mut packer));
        entries.push([entry | (position_bits as u64) << OFFSET_BITS, counts]);
    }
    assert!(records.is_empty(), "postings outside these groups");
    Part { bytes: packer.bytes, entries }
}

fn encode_bucket(shape: &Shape, bucket: &[Record], position_bits: u32, packer: &mut Packer) {
    if bucket.is_empty() {
        return;
    }
    let high_bits = shape.high_bits(bucket.len() as u64);
    let low_bits = shape.rest_bits() - high_bits;
    let mut before = 0;
    for record in bucket {
        let high = record.0 >> low_bits & mask(high_bits);
        packer.unary(high - before);
        before = high;
    }
    packer.zeros((1 << high_bits) - before);
    for record in bucket {
        packer.push(record.0 & mask(low_bits), low_bits);
    }
    for record in bucket {
        packer.push((record.1 >> 32) - shape.first as u64, shape.document_bits);
    }
    if position_bits > 0 {
        for record in bucket {
            packer.push(record.1 & mask(32), position_bits);
        }
    }
    packer.align();
}

/// Writes header and footer around groups. All bytes pass through it, so that it can sum them up.
pub struct Writer {
    shape: Shape,
    len: u64,
    directory: Vec<u8>,
    sums: Vec<u8>,
    page: Vec<u8>,
}

impl Writer {
    /// Append the header.
    pub fn new(shape: Shape, out: &mut Vec<u8>) -> Self {
        let directory = Vec::with_capacity(shape.groups() * ENTRY);
        let mut writer = Writer { shape, len: 0, directory, sums: Vec::new(), page: Vec::with_capacity(PAGE) };
        let header = [MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat();
        debug_assert_eq!(header.len(), HEADER);
        writer.pass(&header, out);
        writer
    }

    /// Append the next groups.
    pub fn add(&mut self, part: &Part, out: &mut Vec<u8>) {
        for &[entry, counts] in &part.entries {
            self.directory.extend((entry + self.len).to_le_bytes());
            self.directory.extend(counts.to_le_bytes());
        }
        self.pass(&part.bytes, out);
        assert!(self.len >> OFFSET_BITS == 0, "a segment has less than 2^48 bytes");
    }

    fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.len += bytes.len() as u64;
        out.extend_from_slice(bytes);
        let mut rest = bytes;
        if !self.page.is_empty() {
            let (head, behind) = rest.split_at(rest.len().min(PAGE - self.page.len()));
            self.page.extend_from_slice(head);
            rest = behind;
            if self.page.len() == PAGE {
                self.sums.extend(checksum(&self.page).to_le_bytes());
                self.page.clear();
            }
        }
        let mut pages = rest.chunks_exact(PAGE);
        for page in &mut pages {
            self.sums.extend(checksum(page).to_le_bytes());
        }
        self.page.extend_from_slice(pages.remainder());
    }

    /// Append the footer.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        assert_eq!(self.directory.len(), self.shape.groups() * ENTRY, "a segment needs all its groups");
        if !self.page.is_empty() {
            self.sums.extend(checksum(&self.page).to_le_bytes());
        }
        let Shape { postings, first, last, hash_bits, bucket_bits, document_bits } = self.shape;
        let bits = hash_bits as u64 | (bucket_bits as u64) << 8 | (document_bits as u64) << 16;
        let start = out.len();
        out.extend(self.directory);
        out.extend(self.sums);
        for number in [postings, self.len, first as u64 | (last as u64) << 32, bits] {
            out.extend(number.to_le_bytes());
        }
        let sum = checksum(&out[start..]);
        let len = out.len() - start + TRAILER - 32;
        [sum, len as u64, MAGIC].iter().for_each(|number| out.extend(number.to_le_bytes()));
    }
}

/// Sort postings whose keys differ only in their lowest `bits`. Like hashes, they are spread evenly there.
fn sorted(mut records: Vec<Record>, bits: u32) -> Vec<Record> {
    let slot_bits = (records.len() / SLOT).checked_ilog2().unwrap_or(0).min(bits);
    if slot_bits == 0 {
        records.sort_unstable();
        return records;
    }
    let slot_of = |record: &Record| (record.0 >> (bits - slot_bits) & mask(slot_bits)) as usize;
    to_u32(records.len()); // so that every end fits
    let mut ends = vec![0u32; (1 << slot_bits) + 1];
    records.iter().for_each(|record| ends[slot_of(record) + 1] += 1);
    (0..1 << slot_bits).for_each(|slot| ends[slot + 1] += ends[slot]);
    let starts = ends.clone();
    let mut placed = vec![(0, 0); records.len()];
    for record in records {
        let end = &mut ends[slot_of(&record)];
        placed[*end as usize] = record;
        *end += 1;
    }
    starts.windows(2).for_each(|slot| placed[slot[0] as usize..slot[1] as usize].sort_unstable());
    placed
}

/// Return the bytes of a segment of postings in any order.
pub fn build(hashes: &[u64], documents: &[u32], positions: &[u32], hash_bits: u32, threads: usize) -> Vec<u8> {
    let n = hashes.len();
    assert!(documents.len() == n && positions.len() == n, "columns must be equally long");
    let (first, last) = match (documents.iter().min(), documents.iter().max()) {
        (Some(&first), Some(&last)) => (first, last),
        _ => (0, 0),
    };
    let shape = Shape::new(hash_bits, n as u64, first, last);
    let threads = if n < THREADS_WORTH { 1 } else { threads.max(1) };
    // Parts of the key range: whole groups, small enough to sort in the cache.
    let parts = shape.groups().min(MAX_PARTS).min((n / SHARE).next_power_of_two());
    let part_bits = parts.trailing_zeros();
    let part_of = |key: u64| if part_bits == 0 { 0 } else { (key >> (hash_bits - part_bits)) as usize };
    // Every thread distributes its stretch of the input over the parts.
    let stretches = in_order(n, n.div_ceil(threads).max(1), threads, |range| {
        let mut ends = vec![0usize; parts + 1];
        for &hash in &hashes[range.clone()] {
            ends[part_of(shape.key(hash)) + 1] += 1;
        }
        (0..parts).for_each(|p| ends[p + 1] += ends[p]);
        let starts = ends.clone();
        let mut records: Vec<Record> = vec![(0, 0); range.len()];
        for i in range {
            let key = shape.key(hashes[i]);
            let slot = &mut ends[part_of(key)];
            records[*slot] = (key, (documents[i] as u64) << 32 | positions[i] as u64);
            *slot += 1;
        }
        (records, starts)
    });
    let groups = shape.groups() / parts;
    let encoded = in_order(parts, 1, threads, |range| {
        let p = range.start;
        let mut records = Vec::with_capacity(stretches.iter().map(|(_, s)| s[p + 1] - s[p]).sum());
        stretches.iter().for_each(|(all, starts)| records.extend_from_slice(&all[starts[p]..starts[p + 1]]));
        let records = sorted(records, hash_bits - part_bits);
        encode(&shape, p * groups, (p + 1) * groups, &records)
    });
    drop(stretches);
    let mut out = Vec::with_capacity(encoded.iter().map(|part| part.bytes.len() + part.bytes.len() / 64).sum());
    let mut writer = Writer::new(shape, &mut out);
    encoded.iter().for_each(|part| writer.add(part, &mut out));
    writer.finish(&mut out);
    out
}
