//! A segment: sorted postings that never change, in one run of bytes. This is the format, and how it is opened.
//!
//! Hashes are random, so in a tree every posting would dirty a page of its own. A segment is written once, in order, and
//! searched through a table on the top bits of the hash.
//!
//! All numbers are little endian. A posting's key is the top `hash_bits` of its hash. Keys share a bucket if their top
//! `bucket_bits` agree; four buckets in a row are a group. Postings are sorted by key, document and position.
//!
//! - Header, 16 bytes: magic, version (u32), zero (u32).
//! - Data: one group after another, without gaps; see below.
//! - Footer, which comes last so that a merge can be streamed without knowing its size:
//!   - the directory, 16 bytes a group: a u64 (bits 0 to 47 are where its bytes begin, 48 to 53 the width of its
//!     positions, 63 whether it is large), and four u16, the number of postings in each bucket, 0 if the group is large;
//!   - a checksum (u64) of every 4,096 bytes before the footer;
//!   - postings (u64), the length of header and data (u64), first and last document (u32 each), hash_bits,
//!     bucket_bits, document_bits, zero (u8 each), zero (u32);
//!   - a checksum of the footer up to here, the footer's length (u64), magic.
//!
//! A group is its four buckets. If one has 65,535 postings or more, four u64 before them hold the number of postings in
//! each. The size of a bucket follows from its number of postings, so one line of the directory tells all addresses that
//! a look-up needs, and they can be prefetched together.
//!
//! A bucket of n postings is a row of bits, padded to a whole byte. Its keys, without the bucket's number, are Elias-Fano
//! coded: the high bits in unary (a one for every posting, a zero after all postings that share the value; as many values
//! as the power of two at or above n), then the low bits of each. The documents follow, less the first document, then the
//! positions. This is close to the smallest possible size, and a look-up reads a few words of the unary part before it
//! is left with a few candidates at most.
//!
//! A segment is checked where it is read. Page checksums are verified on the first touch and remembered. Opening a large
//! index reads only its footers, and a bad page is an error with its offset, never a wrong answer.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::index::bits::{mask, prefetch, width, word};
use crate::index::bucket::Bucket;
use crate::index::checksum::checksum;
use crate::index::mapped::Watch;

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"chfsegm\n");
pub(crate) const VERSION: u64 = 1;
pub(crate) const HEADER: usize = 16;
pub(crate) const PAGE: usize = 4096;
pub(crate) const GROUP: usize = 4;
pub(crate) const ENTRY: usize = 16;
/// Postings of a bucket. From here on the number does not fit the directory.
pub(crate) const LARGE: u64 = 0xffff;
pub(crate) const LARGE_FLAG: u64 = 1 << 63;
pub(crate) const OFFSET_BITS: u32 = 48;
pub(crate) const NUMBERS: usize = 32;
pub(crate) const TRAILER: usize = NUMBERS + 24;
/// Postings. Buckets have at least this many on average, and less than twice as many.
const BUCKET_POSTINGS: u64 = 192;
const MAX_BUCKET_BITS: u32 = 32;

/// A key, and a number with the document above the position.
pub type Record = (u64, u64);

/// Why a segment cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Damage(pub String);

impl Damage {
    pub fn at(byte: usize) -> Self {
        Damage(format!("damaged at byte {byte}"))
    }
}

/// The numbers that determine how postings are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub postings: u64,
    pub first: u32,
    pub last: u32,
    pub hash_bits: u32,
    pub bucket_bits: u32,
    pub document_bits: u32,
}

impl Shape {
    pub fn new(hash_bits: u32, postings: u64, first: u32, last: u32) -> Self {
        assert!((32..=64).contains(&hash_bits), "hash_bits must be 32 to 64");
        let mut bucket_bits = GROUP.trailing_zeros();
        while postings >> (bucket_bits + 1) >= BUCKET_POSTINGS && bucket_bits < MAX_BUCKET_BITS.min(hash_bits) {
            bucket_bits += 1;
        }
        Shape { postings, first, last, hash_bits, bucket_bits, document_bits: width((last - first) as u64) }
    }

    pub fn groups(&self) -> usize {
        1 << self.group_bits()
    }

    pub fn group_bits(&self) -> u32 {
        self.bucket_bits - GROUP.trailing_zeros()
    }

    /// The bits of a key that its bucket does not determine.
    pub fn rest_bits(&self) -> u32 {
        self.hash_bits - self.bucket_bits
    }

    pub fn key(&self, hash: u64) -> u64 {
        hash >> (64 - self.hash_bits)
    }

    pub fn hash(&self, key: u64) -> u64 {
        key << (64 - self.hash_bits)
    }

    /// How many bits of a key are unary in a bucket of n postings. This choice takes the fewest bytes.
    pub fn high_bits(&self, n: u64) -> u32 {
        width(n.saturating_sub(1)).min(self.rest_bits())
    }

    /// The bytes of a bucket of n postings.
    pub fn size(&self, n: u64, position_bits: u32) -> u64 {
        if n == 0 {
            return 0;
        }
        let high = self.high_bits(n);
        let each = 1 + self.rest_bits() - high + self.document_bits + position_bits;
        (n * each as u64 + (1 << high)).div_ceil(8)
    }
}

/// Four buckets: how many postings each has, and where its bytes begin.
#[derive(Clone, Copy)]
pub struct Group {
    pub counts: [u64; GROUP],
    pub starts: [usize; GROUP],
    pub position_bits: u32,
}

/// An open segment, which remembers the pages whose checksums it has verified.
pub struct Segment<'a> {
    pub bytes: &'a [u8],
    pub shape: Shape,
    pub data_len: usize,
    directory: &'a [u8],
    sums: &'a [u8],
    verified: Box<[AtomicU64]>,
    watch: Watch,
}

impl<'a> Segment<'a> {
    /// Open a segment and check its header and footer.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Damage> {
        let watch = Watch::new(bytes);
        let damage = |why: &str| Err(Damage(why.to_string()));
        if bytes.len() < HEADER || word(bytes, 0) != MAGIC {
            return damage("it is not a segment");
        }
        if word(bytes, 8) != VERSION {
            return Err(Damage(format!(
                "it has version {} of the format, but this program reads version {VERSION}",
                word(bytes, 8)
            )));
        }
        let len = bytes.len();
        if len < HEADER + TRAILER || word(bytes, len - 8) != MAGIC {
            return damage("the end is missing");
        }
        let numbers = &bytes[len - TRAILER..][..NUMBERS];
        let (postings, data_len) = (word(numbers, 0), word(numbers, 8));
        let (documents, bits) = (word(numbers, 16), word(numbers, 24));
        let (first, last) = (documents as u32, (documents >> 32) as u32);
        let [hash_bits, bucket_bits, document_bits] = [0, 8, 16].map(|shift| (bits >> shift & 0xff) as u32);
        let footer_len = word(bytes, len - 16);
        if footer_len < TRAILER as u64
            || data_len < HEADER as u64
            || data_len.checked_add(footer_len) != Some(len as u64)
            || checksum(&bytes[data_len as usize..len - 24]) != word(bytes, len - 24)
        {
            return damage("the footer is damaged");
        }
        // These numbers are as they were written, but anybody may have written them.
        let data_len = data_len as usize;
        if !(32..=64).contains(&hash_bits)
            || !(GROUP.trailing_zeros()..=MAX_BUCKET_BITS.min(hash_bits)).contains(&bucket_bits)
            || last < first
            || bits >> 24 != 0
            || postings / 8 > data_len as u64
            || data_len as u64 >> OFFSET_BITS != 0
        {
            return damage("the footer contradicts itself");
        }
        let shape = Shape { postings, first, last, hash_bits, bucket_bits, document_bits };
        let pages = data_len.div_ceil(PAGE);
        let directory_len = shape.groups() * ENTRY;
        if document_bits != width((last - first) as u64)
            || directory_len as u64 + pages as u64 * 8 + TRAILER as u64 != footer_len
        {
            return damage("the footer contradicts itself");
        }
        let (directory, sums) = bytes[data_len..len - TRAILER].split_at(directory_len);
        let verified = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let segment = Segment { bytes, shape, data_len, directory, sums, verified, watch };
        segment.ensure_readable()?;
        Ok(segment)
    }

    /// Fail if some of the bytes could not be read. Readers call this before they return what they have read.
    pub fn ensure_readable(&self) -> Result<(), Damage> {
        if self.watch.is_lost() {
            return Err(Damage("it was cut short while it was read, or the disk failed".to_string()));
        }
        Ok(())
    }

    /// Verify that these bytes are as they were written.
    #[inline]
    pub fn verify(&self, from: usize, to: usize) -> Result<(), Damage> {
        for page in from / PAGE..to.div_ceil(PAGE) {
            let bit = 1 << (page % 64);
            // Two threads may check the same page. Nothing else depends on the bit, so no order is needed.
            if self.verified[page / 64].load(Ordering::Relaxed) & bit == 0 {
                self.verify_page(page)?;
                self.verified[page / 64].fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    #[cold]
    fn verify_page(&self, page: usize) -> Result<(), Damage> {
        let from = page * PAGE;
        let sum = checksum(&self.bytes[from..self.data_len.min(from + PAGE)]);
        if sum == word(self.sums, page * 8) { Ok(()) } else { Err(Damage::at(from)) }
    }

    /// Prefetch the directory's entry of a group.
    #[inline]
    pub fn prefetch(&self, group: usize) {
        prefetch(self.directory, group * ENTRY);
    }

    /// Return where the buckets of a group are.
    pub fn group(&self, number: usize) -> Result<Group, Damage> {
        let at = number * ENTRY;
        let (entry, counts) = (word(self.directory, at), word(self.directory, at + 8));
        let position_bits = (entry >> OFFSET_BITS & 63) as u32;
        let mut start = entry & mask(OFFSET_BITS);
        let end = match self.directory.get(at + ENTRY..at + ENTRY + 8) {
            Some(next) => word(next, 0) & mask(OFFSET_BITS),
            None => self.data_len as u64,
        };
        let wrong = || Err(Damage(format!("the directory is wrong at group {number}")));
        if start < HEADER as u64 || start > end || end > self.data_len as u64 || position_bits > 32 {
            return wrong();
        }
        let mut counts: [u64; GROUP] = std::array::from_fn(|i| counts >> (16 * i) & 0xffff);
        if entry & LARGE_FLAG != 0 {
            let begin = start as usize;
            start += 8 * GROUP as u64;
            if start > end {
                return wrong();
            }
            self.verify(begin, start as usize)?;
            counts = std::array::from_fn(|i| word(self.bytes, begin + 8 * i));
            if counts.iter().any(|&n| n > self.shape.postings) {
                return wrong();
            }
        }
        let mut starts = [0; GROUP];
        for (i, &n) in counts.iter().enumerate() {
            starts[i] = start as usize;
            start += self.shape.size(n, position_bits);
        }
        if start == end { Ok(Group { counts, starts, position_bits }) } else { wrong() }
    }

    /// Return the bucket of this number, which is in this group.
    pub fn bucket(&self, group: &Group, number: usize) -> Bucket<'_> {
        let i = number % GROUP;
        Bucket::new(self, number as u64, group.counts[i], group.starts[i], group.position_bits)
    }

    /// Append the postings with keys from `low` to `high`, both included.
    pub fn range(&self, low: u64, high: u64, out: &mut Vec<Record>) -> Result<(), Damage> {
        let rest = self.shape.rest_bits();
        let (first, last) = ((low >> rest) as usize, (high >> rest) as usize);
        for number in first / GROUP..=last / GROUP {
            let group = self.group(number)?;
            for b in (number * GROUP).max(first)..=(number * GROUP + GROUP - 1).min(last) {
                let bucket = self.bucket(&group, b);
                if bucket.n == 0 {
                    continue;
                }
                let from = if b == first { bucket.lower_bound(low & mask(rest))? } else { 0 };
                let to = if b == last && high & mask(rest) != mask(rest) {
                    bucket.lower_bound((high & mask(rest)) + 1)?
                } else {
                    bucket.n
                };
                bucket.decode(from, to, out)?;
            }
        }
        Ok(())
    }
}
