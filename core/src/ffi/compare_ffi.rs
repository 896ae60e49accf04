//! The C interface to comparing: pairs, matches, overlaps.

use std::ffi::{c_char, c_void};

use crate::compare::candidates::Postings;
use crate::compare::matches::{Common, How, Spread, common};
use crate::compare::overlap::Bags;
use crate::compare::seeds::{Side, again};
use crate::ffi::boundary::{ChfTable, chf_message_free, guarded, slice, table};
use crate::machine::parallel::in_order;

/// Documents one after another: `offsets` has a place for each in each column, and one more.
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
    /// Of every symbol 1 if it is base code, 2 if it is between documents, else 0; or of none.
    pub given: *const u8,
    pub given_len: usize,
}

impl ChfDocuments {
    unsafe fn all_symbols(&self) -> (&[u32], &[u64]) {
        unsafe {
            let offsets = slice(self.symbol_offsets, self.len + 1);
            (slice(self.symbols, offsets[self.len] as usize), offsets)
        }
    }

    /// A document, and the owners of its hashes.
    unsafe fn side(&self, document: u32) -> (Side<'_>, &[u32]) {
        let d = document as usize;
        assert!(d < self.len, "no document {d}");
        unsafe {
            let (symbols, ends) = self.all_symbols();
            let offsets = slice(self.hash_offsets, self.len + 1);
            let (prints, all) = (offsets[d] as usize..offsets[d + 1] as usize, offsets[self.len] as usize);
            let range = ends[d] as usize..ends[d + 1] as usize;
            let side = Side {
                symbols: &symbols[range.clone()],
                given: slice(self.given, self.given_len).get(range).unwrap_or_default(),
                hashes: &slice(self.hashes, all)[prints.clone()],
                positions: &slice(self.positions, all)[prints.clone()],
            };
            (side, &slice(self.owners, all)[prints])
        }
    }
}

/// Pairs of documents with anything in common: left, right, left, right; how many hashes they share; for every hash
/// given, in how many documents it stands; and for every document how many hashes it usually shares with another, with
/// the histogram of how many pairs share. Hashes are distinct and sorted within each document.
///
/// # Safety
/// `hashes` must hold what `offsets` says, `offsets` `documents` + 1 numbers, `old` `documents`, and `rarity`
/// `documents` + 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_pairs(
    hashes: *const u64,
    offsets: *const u64,
    old: *const u8,
    documents: usize,
    rarity: *const f32,
    least: f32,
    threads: u32,
) -> *mut ChfTable {
    table(|| {
        let (offsets, old, rarity) =
            unsafe { (slice(offsets, documents + 1), slice(old, documents), slice(rarity, documents + 1)) };
        let hashes = unsafe { slice(hashes, offsets[documents] as usize) };
        let postings = Postings::new(hashes, offsets, old);
        let (pairs, usual) = postings.pairs(rarity, least, threads as usize);
        vec![
            pairs.documents,
            pairs.shared,
            postings.frequencies(),
            [usual.medians(old), usual.histogram].concat(),
        ]
    })
}

/// The matches of pairs of documents, given as left, right, left, right: for every run its start on the left, on the
/// right, and its length; for every match its first run, its owners, and whether a longer one has its passage; for every
/// pair its first match, and the symbols covered on the left and on the right. What is behind the last match and the
/// last pair follows.
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
    sure: u32,
    threads: u32,
) -> *mut ChfTable {
    table(|| {
        let pairs = unsafe { slice(pairs, 2 * len) };
        let how = How { k: k as usize, gap, sure };
        // Pointers are not shared between threads; what they point to is.
        let documents = Shared(documents);
        let found = in_order(len, 16, threads as usize, |range| {
            let documents = unsafe { documents.get() };
            let one = |i: usize| {
                let ((left, owners), (right, _)) =
                    unsafe { (documents.side(pairs[2 * i]), documents.side(pairs[2 * i + 1])) };
                common(left, right, &Spread::new(left.positions, owners), how)
            };
            range.map(one).collect::<Vec<_>>()
        });
        let mut columns = vec![Vec::new(); 5];
        for Common { matches, covered } in found.into_iter().flatten() {
            let first = (columns[3].len() / 3) as u32;
            columns[4].extend([first, covered[0], covered[1]]);
            let repeated = again(&matches.iter().map(|one| &one.runs[..]).collect::<Vec<_>>());
            for (one, again) in matches.into_iter().zip(repeated) {
                let first = columns[0].len() as u32;
                columns[3].extend([first, one.owners, again as u32]);
                for run in one.runs {
                    columns[0].push(run.left);
                    columns[1].push(run.right);
                    columns[2].push(run.len);
                }
            }
        }
        let (runs, matches) = (columns[0].len() as u32, (columns[3].len() / 3) as u32);
        columns[3].extend([runs, 0, 0]);
        columns[4].extend([matches, 0, 0]);
        columns
    })
}

struct Shared(*const ChfDocuments);
// SAFETY: what it points to is only read.
unsafe impl Sync for Shared {}

impl Shared {
    unsafe fn get(&self) -> &ChfDocuments {
        unsafe { &*self.0 }
    }
}

/// Short grams, counted, to be asked for many pairs.
#[repr(C)]
pub struct ChfBags {
    /// For each document the shares of its grams that each of the others has, added up.
    pub with_all: *const f32,
    pub error: *mut c_char,
    owner: *mut c_void,
}

/// The grams of n symbols of documents.
///
/// # Safety
/// `documents` must hold what `ChfDocuments` says; `rarity` must hold a number for each document and one more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_bags(
    documents: *const ChfDocuments,
    n: u32,
    rarity: *const f32,
    threads: u32,
) -> *mut ChfBags {
    let (bags, error) = guarded(|| {
        let documents = unsafe { &*documents };
        let (symbols, offsets) = unsafe { documents.all_symbols() };
        let rarity = unsafe { slice(rarity, documents.len + 1) };
        Bags::new(symbols, offsets, n as usize, rarity, threads as usize)
    });
    let owner = Box::new(bags);
    let with_all = owner.with_all.as_ptr();
    Box::into_raw(Box::new(ChfBags { with_all, error, owner: Box::into_raw(owner).cast() }))
}

/// # Safety
/// `bags` must come from `chf_bags`, be freed once, and not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_bags_free(bags: *mut ChfBags) {
    unsafe {
        let bags = Box::from_raw(bags);
        drop(Box::from_raw(bags.owner.cast::<Bags>()));
        chf_message_free(bags.error);
    }
}

/// For pairs of documents, given as left, right, left, right: the share of the left's grams that the right has, and the
/// other way round, as the bits of floats.
///
/// # Safety
/// `bags` must come from `chf_bags`, and `pairs` must hold twice `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_shares(
    bags: *const ChfBags,
    pairs: *const u32,
    len: usize,
    threads: u32,
) -> *mut ChfTable {
    table(|| {
        let bags = unsafe { &*(*bags).owner.cast::<Bags>() };
        bags.shares(unsafe { slice(pairs, 2 * len) }, threads as usize).into()
    })
}
