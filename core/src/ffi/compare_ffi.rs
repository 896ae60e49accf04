//! The C interface to comparing: candidate pairs, matches, gram counts.

use std::ffi::{c_char, c_void};

use crate::compare::candidates::Postings;
use crate::compare::chain::repeats;
use crate::compare::matches::{OwnerCounts, PairMatches, Settings, find_matches};
use crate::compare::overlap::GramCounts;
use crate::compare::seeds::Side;
use crate::compare::to_u32;
use crate::ffi::boundary::{ChfTable, chf_message_free, guarded, slice, table};
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
///
/// # Safety
/// `offsets` must hold `documents` + 1 numbers, `hashes` as many as the last of them, `old` `documents`, and `rarity`
/// `documents` + 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_pairs(
    hashes: *const u64,
    offsets: *const u64,
    old: *const u8,
    documents: usize,
    rarity: *const f32,
    min_share: f32,
    threads: u32,
) -> *mut ChfTable {
    table(|| {
        let (offsets, old, rarity) =
            unsafe { (slice(offsets, documents + 1), slice(old, documents), slice(rarity, documents + 1)) };
        let hashes = unsafe { slice(hashes, offsets[documents] as usize) };
        let postings = Postings::new(hashes, offsets, old);
        let (pairs, background) = postings.pairs(rarity, min_share, threads as usize);
        let statistics = [background.medians(old), background.histogram].concat();
        vec![pairs.documents, pairs.shared, postings.frequencies(), statistics]
    })
}

/// Find the matches of pairs of documents, given as left, right, left, right. Columns: the start of every run on the
/// left, on the right, and its length; for every match its first run, its owners, and whether it is a repeat; for every
/// pair its first match, and the symbols covered on the left and on the right. The last two columns have a last row for
/// the end.
///
/// # Safety
/// `documents` must hold what `ChfDocuments` says, and `pairs` twice `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_matches(
    documents: *const ChfDocuments,
    pairs: *const u32,
    len: usize,
    k: u32,
    gap: u32,
    guarantee: u32,
    threads: u32,
) -> *mut ChfTable {
    table(|| {
        let pairs = unsafe { slice(pairs, 2 * len) };
        let settings = Settings { k: k as usize, gap, guarantee };
        let documents = Shared(documents);
        let found = in_order(len, 16, threads as usize, |range| {
            let documents = unsafe { documents.get() };
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
        columns
    })
}

/// A pointer that threads may share.
struct Shared(*const ChfDocuments);
// SAFETY: what it points to is only read.
unsafe impl Sync for Shared {}

impl Shared {
    unsafe fn get(&self) -> &ChfDocuments {
        unsafe { &*self.0 }
    }
}

/// The short grams of documents, counted.
#[repr(C)]
pub struct ChfGrams {
    /// For each document, the sum over all others of the share of its grams that the other has.
    pub share_sums: *const f32,
    pub error: *mut c_char,
    owner: *mut c_void,
}

/// Count the grams of n symbols of documents.
///
/// # Safety
/// `documents` must hold what `ChfDocuments` says; `rarity` must hold a number for each document and one more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_grams(
    documents: *const ChfDocuments,
    n: u32,
    rarity: *const f32,
    threads: u32,
) -> *mut ChfGrams {
    let (grams, error) = guarded(|| {
        let documents = unsafe { &*documents };
        let (symbols, offsets) = unsafe { documents.all_symbols() };
        let rarity = unsafe { slice(rarity, documents.len + 1) };
        GramCounts::new(symbols, offsets, n as usize, rarity, threads as usize)
    });
    let owner = Box::new(grams);
    let share_sums = owner.share_sums.as_ptr();
    Box::into_raw(Box::new(ChfGrams { share_sums, error, owner: Box::into_raw(owner).cast() }))
}

/// # Safety
/// `grams` must come from `chf_grams`, be freed once, and not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_grams_free(grams: *mut ChfGrams) {
    unsafe {
        let grams = Box::from_raw(grams);
        drop(Box::from_raw(grams.owner.cast::<GramCounts>()));
        chf_message_free(grams.error);
    }
}

/// Return for pairs of documents, given as left, right, left, right, two columns: the share of the left's grams that
/// the right has, and the reverse, as the bits of floats.
///
/// # Safety
/// `grams` must come from `chf_grams`, and `pairs` must hold twice `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_shares(
    grams: *const ChfGrams,
    pairs: *const u32,
    len: usize,
    threads: u32,
) -> *mut ChfTable {
    table(|| {
        let grams = unsafe { &*(*grams).owner.cast::<GramCounts>() };
        grams.shares(unsafe { slice(pairs, 2 * len) }, threads as usize).into()
    })
}
