//! Extends the fingerprints that a query shares with documents to matches, in bytes.
//!
//! A search knows the shared fingerprints and their positions, so documents are not fingerprinted again, which would take
//! longer than all the rest. Bytes become matches in one call: done in Python, this took three quarters of a search.

use crate::compare::all_grams::{GramIndex, Scratch};
use crate::compare::matches::{Match, OwnerCounts, Settings, covered_symbols, find_matches, matches_of_runs};
use crate::compare::seeds::{Run, Side};
use crate::compare::to_u32;
use crate::index::tally::RowTable;
use crate::machine::level::Level;
use crate::machine::parallel::in_order;
use crate::read::source::Source;
use crate::read::stream::{Stream, StreamReader};

/// Postings of the query's hashes, sorted: the number of the hash, the document, the byte where its gram begins.
pub struct SharedPostings<'a> {
    pub hashes: &'a [u32],
    pub documents: &'a [u32],
    pub offsets: &'a [u32],
}

pub struct ByteMatch {
    /// Bytes: start and end on the left, start and end on the right.
    pub runs: Vec<[u32; 4]>,
    pub symbols: u32,
    /// Symbols of the longest run.
    pub longest: u32,
    pub owners: u32,
}

/// What a query and a document have in common.
pub struct QueryMatches {
    pub matches: Vec<ByteMatch>,
    /// Symbols of the query and of the document that matches cover.
    pub covered: [u32; 2],
    /// Symbols of the document.
    pub symbols: u32,
    /// Whether the document has the query's symbols.
    pub is_identical: bool,
}

pub struct Query<'a> {
    pub source: Source<'a>,
    /// The positions of its fingerprints in its stream, and the number of the hash of each.
    pub positions: &'a [u32],
    pub numbers: &'a [u32],
    pub owners: OwnerCounts,
    /// Whether every gram is a seed, rather than the postings.
    pub all_grams: bool,
}

/// Return the matches of a query with each of the numbered documents, and the number of the query's symbols. Fail if a
/// fingerprint is not in the query.
pub fn extend_matches(
    query: &Query,
    documents: &[(u32, Source)],
    postings: &SharedPostings,
    settings: Settings,
    level: Level,
    threads: usize,
) -> Result<(Vec<QueryMatches>, u32), String> {
    let mut reader = StreamReader::new(query.source.size(), false);
    let stream = reader.read(&query.source, level);
    let size = stream.symbols.len();
    if query.positions.iter().any(|&position| position as usize >= size) {
        return Err(format!("the query has {size} symbols, and fingerprints behind them"));
    }
    let numbers = query.numbers.iter().map(|&number| number as u64);
    let mut seeds: Vec<(u64, u32)> = numbers.zip(query.positions.iter().copied()).collect();
    seeds.sort_unstable();
    let (hashes, positions): (Vec<u64>, Vec<u32>) = seeds.into_iter().unzip();
    let index = query.all_grams.then(|| GramIndex::new(stream.symbols, settings.k));
    let left = Side { symbols: stream.symbols, kinds: &[], hashes: &hashes, positions: &positions };
    let rows = rows_by_document(postings, documents);
    // The first documents share the most, so the work is shared out in small pieces.
    let pieces = if threads > 1 { 4 * threads } else { 1 };
    let share = documents.len().div_ceil(pieces).max(1);
    let parts = in_order(documents.len(), share, threads, |range| {
        let largest = documents[range.clone()].iter().map(|(_, source)| source.size()).max();
        let mut reader = StreamReader::new(largest.unwrap_or(0), false);
        let mut scratch = Scratch::default();
        let matches_with = |i: usize| {
            let document = reader.read(&documents[i].1, level);
            let (hashes, positions) = seeds_in(document, postings, &rows[i]);
            let right = Side { symbols: document.symbols, kinds: &[], hashes: &hashes, positions: &positions };
            let found = if let Some(index) = &index {
                let runs = index.maximal_runs(document.symbols, &mut scratch);
                matches_of_runs(&runs, [left, right], &query.owners, settings)
            } else {
                find_matches(left, right, &query.owners, settings)
            };
            let spans = |run: &Run| {
                let (left, right) = (bytes(stream, run.left, run.len), bytes(document, run.right, run.len));
                [left.0, left.1, right.0, right.1]
            };
            let in_bytes = |Match { runs, owners }: &Match| ByteMatch {
                runs: runs.iter().map(spans).collect(),
                symbols: covered_symbols(runs.iter()).into_iter().min().unwrap_or(0),
                longest: runs.iter().map(|run| run.len).max().unwrap_or(0),
                owners: *owners,
            };
            QueryMatches {
                covered: found.covered,
                matches: found.matches.iter().map(in_bytes).collect(),
                symbols: to_u32(document.symbols.len()),
                is_identical: document.symbols == stream.symbols,
            }
        };
        range.map(matches_with).collect::<Vec<_>>()
    });
    Ok((parts.into_iter().flatten().collect(), to_u32(size)))
}

/// Return the hashes of a document's postings, and the positions of the symbols that begin at their bytes. Several symbols
/// of one character begin at the same byte. All of them are returned, since wrong seeds extend to nothing.
fn seeds_in(document: Stream, postings: &SharedPostings, rows: &[usize]) -> (Vec<u64>, Vec<u32>) {
    let (mut hashes, mut positions) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for &row in rows {
        let offset = postings.offsets[row];
        let first = document.starts.partition_point(|&start| start < offset);
        let count = document.starts[first..].iter().take_while(|&&start| start == offset).count();
        hashes.extend((0..count).map(|_| postings.hashes[row] as u64));
        positions.extend((first..first + count).map(to_u32));
    }
    (hashes, positions)
}

fn bytes(stream: Stream, start: u32, len: u32) -> (u32, u32) {
    (stream.starts[start as usize], stream.ends[(start + len - 1) as usize])
}

/// Return the postings of each document, in their order.
fn rows_by_document(postings: &SharedPostings, documents: &[(u32, Source)]) -> Vec<Vec<usize>> {
    let mut table = RowTable::default();
    for (i, &(number, _)) in documents.iter().enumerate() {
        *table.slot(number) = to_u32(i + 1);
    }
    let mut rows = vec![Vec::new(); documents.len()];
    for (posting, &document) in postings.documents.iter().enumerate() {
        if let Some(i) = table.row(document) {
            rows[i].push(posting);
        }
    }
    rows
}
