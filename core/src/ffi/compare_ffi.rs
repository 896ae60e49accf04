//! The C interface to comparing: candidate pairs, matches, gram counts.

use crate::compare::candidates::Postings;
use crate::compare::chain::repeats;
use crate::compare::matches::{OwnerCounts, PairMatches, Settings, find_matches};
use crate::compare::overlap::GramCounts;
use crate::compare::seeds::Side;
use crate::compare::to_u32;
use crate::ffi::boundary::{
    ChfColumn, ChfResult, Column, Failure, ensure, ensure_offsets, ensure_rows, ensure_weights, numbers,
    object, reference, result, result_with,
};
use crate::ffi::fingerprint_ffi::ensure_k;
use crate::machine::parallel::in_order;

/// Documents one after another. Both columns of offsets hold where each document begins, and the end of the last.
#[repr(C)]
pub struct ChfDocuments {
    /// u32.
    pub symbols: ChfColumn,
    /// u64.
    pub symbol_offsets: ChfColumn,
    /// Sorted within each document (u64).
    pub hashes: ChfColumn,
    /// u32.
    pub positions: ChfColumn,
    /// How many documents have each hash (u32).
    pub owners: ChfColumn,
    /// u64.
    pub hash_offsets: ChfColumn,
    /// The kind of every symbol (u8): 1 base code, 2 a separator between files, 0 any other. Not given without base code.
    pub kinds: ChfColumn,
}

/// The same as slices that fit each other.
struct Documents<'a> {
    symbols: &'a [u32],
    symbol_offsets: &'a [u64],
    hashes: &'a [u64],
    positions: &'a [u32],
    owners: &'a [u32],
    hash_offsets: &'a [u64],
    kinds: &'a [u8],
}

impl<'a> Documents<'a> {
    unsafe fn new(documents: *const ChfDocuments) -> Result<Self, Failure> {
        let all = unsafe {
            let documents = reference(documents, "the documents")?;
            Documents {
                symbols: numbers(&documents.symbols, "symbols")?,
                symbol_offsets: numbers(&documents.symbol_offsets, "the offsets of symbols")?,
                hashes: numbers(&documents.hashes, "hashes")?,
                positions: numbers(&documents.positions, "positions")?,
                owners: numbers(&documents.owners, "owners")?,
                hash_offsets: numbers(&documents.hash_offsets, "the offsets of hashes")?,
                kinds: if documents.kinds.is_given() {
                    let kinds = numbers(&documents.kinds, "kinds")?;
                    ensure_rows("symbols, kinds", &[documents.symbols.len, kinds.len()])?;
                    kinds
                } else {
                    &[]
                },
            }
        };
        let prints = all.hashes.len();
        ensure_rows("hashes, positions, owners", &[prints, all.positions.len(), all.owners.len()])?;
        let len = ensure_offsets(all.symbol_offsets, all.symbols.len(), "symbols")?;
        ensure_rows(
            "documents with symbols, documents with hashes",
            &[len, ensure_offsets(all.hash_offsets, prints, "hashes")?],
        )?;
        for document in 0..len {
            let (Side { symbols, hashes, positions, .. }, _) = all.side(document as u32);
            ensure!(
                u32::try_from(symbols.len()).is_ok(),
                "a document has more than 2^32 - 1 symbols; split it"
            );
            ensure!(hashes.is_sorted(), "the hashes of document {document} are not sorted");
            ensure!(
                positions.iter().all(|&position| (position as usize) < symbols.len()),
                "document {document} has {} symbols, and fingerprints behind them",
                symbols.len()
            );
        }
        Ok(all)
    }

    fn len(&self) -> usize {
        self.symbol_offsets.len() - 1
    }

    /// Return a document, and the owners of its hashes.
    fn side(&self, document: u32) -> (Side<'a>, &'a [u32]) {
        let range =
            |offsets: &[u64]| offsets[document as usize] as usize..offsets[document as usize + 1] as usize;
        let (symbols, prints) = (range(self.symbol_offsets), range(self.hash_offsets));
        let side = Side {
            symbols: &self.symbols[symbols.clone()],
            kinds: self.kinds.get(symbols).unwrap_or_default(),
            hashes: &self.hashes[prints.clone()],
            positions: &self.positions[prints.clone()],
        };
        (side, &self.owners[prints])
    }
}

/// Return pairs as left, right, left, right, of this number of documents.
unsafe fn pairs_of<'a>(pairs: &ChfColumn, documents: usize) -> Result<&'a [u32], Failure> {
    let pairs = unsafe { numbers::<u32>(pairs, "pairs") }?;
    ensure!(pairs.len().is_multiple_of(2), "pairs: give two documents for each");
    let largest = pairs.iter().max();
    ensure!(
        largest.is_none_or(|&document| (document as usize) < documents),
        "there is no document {}; there are {documents}",
        largest.unwrap_or(&0)
    );
    Ok(pairs)
}

/// Return the weight of what n of the documents have, for every n from 0 on.
unsafe fn rarity_of<'a>(rarity: &ChfColumn, documents: usize) -> Result<&'a [f32], Failure> {
    let rarity = unsafe { numbers::<f32>(rarity, "rarity") }?;
    ensure!(
        rarity.len() == documents + 1,
        "rarity: give weights for 0 to {documents} documents, which are {}; there are {}",
        documents + 1,
        rarity.len()
    );
    ensure_weights(rarity)?;
    Ok(rarity)
}

/// Symbols. No gap and no guarantee need to be longer, and sums of several fit 32 bits.
const MAX_REACH: u32 = 1 << 20;

pub(crate) fn settings(k: u32, gap: u32, guarantee: u32) -> Result<Settings, Failure> {
    ensure_k(k)?;
    ensure!(gap <= MAX_REACH, "the gap is {gap}; give 0 to {MAX_REACH}");
    ensure!(guarantee <= MAX_REACH, "the guarantee is {guarantee}; give 0 to {MAX_REACH}");
    Ok(Settings { k: k as usize, gap, guarantee })
}

/// Find the pairs of documents that share hashes, which are distinct and sorted within each document. Columns: the
/// pairs as left, right, left, right; how many hashes each shares; for every hash, how many documents have it; and for
/// every document the median number of hashes it shares, followed by the histogram of shared hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_pairs(
    hashes: ChfColumn,
    offsets: ChfColumn,
    old: ChfColumn,
    rarity: ChfColumn,
    min_share: f32,
    enough: f32,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let (hashes, offsets, old) = unsafe {
            (numbers::<u64>(&hashes, "hashes")?, numbers(&offsets, "offsets")?, numbers(&old, "old")?)
        };
        let documents = ensure_offsets(offsets, hashes.len(), "hashes")?;
        ensure_rows("documents, old", &[documents, old.len()])?;
        let rarity = unsafe { rarity_of(&rarity, documents) }?;
        ensure!(
            min_share >= 0.0 && enough >= 0.0,
            "min_share is {min_share}, enough is {enough}; give at least 0"
        );
        for (document, range) in offsets.windows(2).enumerate() {
            let own = &hashes[range[0] as usize..range[1] as usize];
            // No hash has more owners than there are documents.
            ensure!(
                own.is_sorted_by(|a, b| a < b),
                "the hashes of document {document} are not distinct and sorted"
            );
        }
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
    pairs: ChfColumn,
    k: u32,
    gap: u32,
    guarantee: u32,
    threads: u32,
) -> *mut ChfResult {
    result(|| {
        let settings = settings(k, gap, guarantee)?;
        let documents = unsafe { Documents::new(documents) }?;
        let pairs = unsafe { pairs_of(&pairs, documents.len()) }?;
        // Where there is base code, a separator counts as more than a gap, and such counts have 32 bits.
        let widest = documents.kinds.len() as u64 * (gap as u64 + 1);
        ensure!(
            u32::try_from(widest).is_ok(),
            "there are too many symbols for a gap of {gap}; give a smaller one"
        );
        let found = in_order(pairs.len() / 2, 16, threads as usize, |range| {
            let matches_of = |i: usize| {
                let ((left, owners), (right, _)) =
                    (documents.side(pairs[2 * i]), documents.side(pairs[2 * i + 1]));
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
    symbols: ChfColumn,
    offsets: ChfColumn,
    n: u32,
    rarity: ChfColumn,
    threads: u32,
) -> *mut ChfResult {
    result_with(|| {
        let (symbols, offsets) =
            unsafe { (numbers::<u32>(&symbols, "symbols")?, numbers(&offsets, "offsets")?) };
        let documents = ensure_offsets(offsets, symbols.len(), "symbols")?;
        let rarity = unsafe { rarity_of(&rarity, documents) }?;
        ensure!(n >= 1, "n is 0; give at least 1");
        let (grams, share_sums) = GramCounts::new(symbols, offsets, n as usize, rarity, threads as usize);
        Ok((grams, vec![share_sums.into()]))
    })
}

/// Compare pairs of documents, given as left, right, left, right. Columns: the share of the left's grams that the right
/// has, and the reverse, as floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_shares(grams: *const ChfResult, pairs: ChfColumn, threads: u32) -> *mut ChfResult {
    result(|| {
        let grams = unsafe { object::<GramCounts>(grams, "a count of grams") }?;
        let pairs = unsafe { pairs_of(&pairs, grams.document_count()) }?;
        let [left, right] = grams.shares(pairs, threads as usize);
        Ok(vec![left.into(), right.into()])
    })
}
