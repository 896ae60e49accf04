//! What a query has in common with documents: their bytes and the fingerprints both have -> matches, in bytes.

use std::collections::HashMap;

use crate::compare::matches::{self, How, Spread, common};
use crate::compare::seeds::{Run, Side};
use crate::machine::level::Level;
use crate::machine::parallel::in_order;
use crate::read::source::Source;
use crate::read::stream::{Stream, StreamReader};

/// The fingerprints of a query that matches grow from: positions in its stream, and which hash each has.
pub struct Asked<'a> {
    pub positions: &'a [u32],
    pub numbers: &'a [u32],
    /// From these positions on so many documents have what is there.
    pub spread: (&'a [u32], &'a [u32]),
}

/// Who has the query's hashes: the number of the hash, the document, the byte where it begins; sorted.
pub struct Seeds<'a> {
    pub hashes: &'a [u32],
    pub documents: &'a [u32],
    pub places: &'a [u32],
}

/// Equal bytes, as start and end on the left and on the right.
pub type Spans = [u32; 4];

#[derive(Default)]
pub struct Match {
    pub runs: Vec<Spans>,
    pub symbols: u32,
    pub longest: u32,
    pub owners: u32,
}

#[derive(Default)]
pub struct Evidence {
    pub matches: Vec<Match>,
    /// Symbols of the query and of the document that stand in matches.
    pub covered: [u32; 2],
    /// The length of the document's stream.
    pub symbols: u32,
    /// Whether its stream is that of the query.
    pub same: bool,
}

/// For each of the numbered documents its evidence; and the length of the query's stream.
pub fn evidence(
    query: &Source,
    documents: &[(u32, Source)],
    asked: &Asked,
    seeds: &Seeds,
    how: How,
    level: Level,
    threads: usize,
) -> (Vec<Evidence>, u32) {
    let mut reader = StreamReader::new(query.size(), false);
    let query = reader.read(query, level);
    let size = query.symbols.len();
    let mut left: Vec<(u64, u32)> =
        asked.numbers.iter().map(|&n| n as u64).zip(asked.positions.iter().copied()).collect();
    left.sort_unstable();
    let (hashes, positions): (Vec<u64>, Vec<u32>) = left.into_iter().unzip();
    let left = Side { symbols: query.symbols, given: &[], hashes: &hashes, positions: &positions };
    let spread = Spread::new(asked.spread.0, asked.spread.1);
    let rows = rows(seeds, documents);
    let share = documents.len().div_ceil(threads.max(1)).max(1);
    let found = in_order(documents.len(), share, threads, |range| {
        let mut reader = StreamReader::new(documents[range.start].1.size(), false);
        let one = |i: usize| {
            let document = reader.read(&documents[i].1, level);
            let (hashes, positions) = placed(document, seeds, &rows[i]);
            let right = Side { symbols: document.symbols, given: &[], hashes: &hashes, positions: &positions };
            let found = common(left, right, &spread, how);
            let spans = |run: &Run| {
                let (left, right) = (bytes(query, run.left, run.len), bytes(document, run.right, run.len));
                [left.0, left.1, right.0, right.1]
            };
            let matched = |m: &matches::Match| Match {
                runs: m.runs.iter().map(spans).collect(),
                symbols: m.symbols(),
                longest: m.longest(),
                owners: m.owners,
            };
            Evidence {
                covered: found.covered,
                matches: found.matches.iter().map(matched).collect(),
                symbols: document.symbols.len() as u32,
                same: document.symbols == query.symbols,
            }
        };
        range.map(one).collect::<Vec<_>>()
    });
    (found.into_iter().flatten().collect(), size as u32)
}

/// The hashes of seeds, and the symbols that begin at their bytes. Symbols that come of one character begin at one byte:
/// each may be meant, the others grow to nothing.
fn placed(document: Stream, seeds: &Seeds, rows: &[usize]) -> (Vec<u64>, Vec<u32>) {
    let mut found = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for &row in rows {
        let place = seeds.places[row];
        let first = document.starts.partition_point(|&start| start < place);
        let meant = document.starts[first..].iter().take_while(|&&start| start == place).count();
        found.0.extend((0..meant).map(|_| seeds.hashes[row] as u64));
        found.1.extend((first..first + meant).map(|at| at as u32));
    }
    found
}

fn bytes(stream: Stream, start: u32, len: u32) -> (u32, u32) {
    (stream.starts[start as usize], stream.ends[(start + len - 1) as usize])
}

/// The rows of each document, in their order.
fn rows(seeds: &Seeds, documents: &[(u32, Source)]) -> Vec<Vec<usize>> {
    let which: HashMap<u32, usize> =
        documents.iter().enumerate().map(|(i, &(number, _))| (number, i)).collect();
    let mut rows = vec![Vec::new(); documents.len()];
    for (row, document) in seeds.documents.iter().enumerate() {
        if let Some(&i) = which.get(document) {
            rows[i].push(row);
        }
    }
    rows
}
