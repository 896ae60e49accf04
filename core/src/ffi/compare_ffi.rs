//! The C interface to comparing: candidate pairs, matches, gram counts.

use crate::compare::candidates::Postings;
use crate::compare::chain::repeats;
use crate::compare::matches::{OwnerCounts, PairMatches, Settings, find_matches};
use crate::compare::overlap::GramCounts;
use crate::compare::seeds::Side;
use crate::compare::to_u32;
use crate::ffi::boundary::{ChfResult, Column, object, result, result_with, slice};
use crate::machine::parallel::in_order;

/// Documents one after another. Both columns of offsets hold where each document begins, and the end of the last.
#[repr(C)]
pub struct ChfDocuments {
    pub len: usize,
    pub symbols: *const u32,
    pub symbol_offsets: *const u64,
    /// Sorted within each document.
    pub hashes: *const u64,
    pub positions: *const u32,
    /// How many documents have each hash.
    pub owners: *const u32,
    pub hash_offsets: *const u64,
    /// The kind of every symbol: 1 base code, 2 a separator between files, 0 any other. Empty without base code.
    pub kinds: *const u8,
    pub kinds_len: usize,
}

// SAFETY: what it points to is only read.
unsafe impl Sync for ChfDocuments {}

impl ChfDocuments {
    unsafe fn all_symbols(&self) -> (&[u32], &[u64]) {
        unsafe {
            let offsets = slice(self.symbol_offsets, self.len + 1);
            (slice(self.symbols, offsets[self.len] as usize), offsets)
        }
    }

    /// Return a document, and the owners of its hashes.
    unsafe fn side(&self, document: u32) -> (Side<'_>, &[u32]) {
        let d = document as usize;
        assert!(d < self.len, "no document {d}");
        unsafe {
            let (symbols, offsets) = self.all_symbols();
            let range = offsets[d] as usize..offsets[d + 1] as usize;
            to_u32(range.len()); // so that every position fits
            let offsets = slice(self.hash_offsets, self.len + 1);
            let (prints, all) = (offsets[d] as usize..offsets[d + 1] as usize, offsets[self.len] as usize);
            let side = Side {
                symbols: &symbols[range.clone()],
                kinds: slice(self.kinds, self.kinds_len).get(range).unwrap_or_default(),
                hashes: &slice(self.hashes, all)[prints.clone()],
                positions: &slice(self.positions, all)[prints.clone()],
            };
            (side, &slice(self.owners, all)[prints])
        }
    }
}

/// Find the pairs of documents that share hashes, which are distinct and sorted within each document. Columns: the
/// pairs as left, right, left, right; how many hashes each shares; for every hash, how many documents have it; and for
/// every document the median number of hashes it shares, followed by the histogram of shared hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_pairs(
    hashes: *const u64,
    offsets: *const u64,
    old: *const u8,
    documents: usize,
    rarity: *const f32,
    min_share: f32,
    enough: f32,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let (offsets, old, rarity) =
            unsafe { (slice(offsets, documents + 1), slice(old, documents), slice(rarity, documents + 1)) };
        let hashes = unsafe { slice(hashes, offsets[documents] as usize) };
        let postings = Postings::new(hashes, offsets, old);
        let (pairs, background) = postings.pairs(rarity, min_share, enough, threads as usize);
        let statistics = [background.medians(old), background.histogram].concat();
        Ok(vec![pairs.documents.into(), pairs.shared.into(), postings.frequencies().into(), statistics.into()])
    })
}

/// Find the matches of pairs of documents, given as left, right, left, right. Columns: the start of every run on the
/// left, on the right, and its length; for every match its first run, its owners, and whether it is a repeat; for every
/// pair its first match, and the symbols covered on the left and on the right. The last two columns have a last row for
/// the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_matches(
    documents: *const ChfDocuments,
    pairs: *const u32,
    len: usize,
    k: u32,
    gap: u32,
    guarantee: u32,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let pairs = unsafe { slice(pairs, 2 * len) };
        let settings = Settings { k: k as usize, gap, guarantee };
        let documents = unsafe { &*documents };
        let found = in_order(len, 16, threads as usize, |range| {
            let matches_of = |i: usize| {
                let ((left, owners), (right, _)) =
                    unsafe { (documents.side(pairs[2 * i]), documents.side(pairs[2 * i + 1])) };
                find_matches(left, right, &OwnerCounts::new(left.positions, owners), settings)
            };
            range.map(matches_of).collect::<Vec<_>>()
        });
        let mut columns = vec![Vec::new(); 5];
        for PairMatches { matches, covered } in found.into_iter().flatten() {
            let first = to_u32(columns[3].len() / 3);
            columns[4].extend([first, covered[0], covered[1]]);
            let repeats = repeats(&matches.iter().map(|one| &one.runs[..]).collect::<Vec<_>>());
            for (one, is_repeat) in matches.into_iter().zip(repeats) {
                let first = to_u32(columns[0].len());
                columns[3].extend([first, one.owners, is_repeat as u32]);
                for run in one.runs {
                    columns[0].push(run.left);
                    columns[1].push(run.right);
                    columns[2].push(run.len);
                }
            }
        }
        let (runs, matches) = (to_u32(columns[0].len()), to_u32(columns[3].len() / 3));
        columns[3].extend([runs, 0, 0]);
        columns[4].extend([matches, 0, 0]);
        Ok(columns.into_iter().map(Column::from).collect())
    })
}

/// Count the grams of n symbols of documents. Column: for each document, the sum over all others of the share of its
/// grams that the other has, as floats. The object is for `chf_shares`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_grams(
    documents: *const ChfDocuments,
    n: u32,
    rarity: *const f32,
    threads: u32,
) -> *mut ChfResult {
    result_with(|| {
        let documents = unsafe { &*documents };
        let (symbols, offsets) = unsafe { documents.all_symbols() };
        let rarity = unsafe { slice(rarity, documents.len + 1) };
        let (grams, share_sums) = GramCounts::new(symbols, offsets, n as usize, rarity, threads as usize);
        Ok((grams, vec![share_sums.into()]))
    })
}

/// Compare pairs of documents, given as left, right, left, right. Columns: the share of the left's grams that the right
/// has, and the reverse, as floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_shares(
    grams: *const ChfResult,
    pairs: *const u32,
    len: usize,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let grams = unsafe { object::<GramCounts>(grams) };
        let [left, right] = grams.shares(unsafe { slice(pairs, 2 * len) }, threads as usize);
        Ok(vec![left.into(), right.into()])
    })
}
