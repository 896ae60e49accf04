//! Fingerprints in columns.

use crate::machine::huge_pages::prefer_huge_pages;

/// Chosen grams: hash, position in the stream, byte range in the document.
#[derive(Default, Debug, PartialEq)]
pub struct Fingerprints {
    pub hashes: Vec<u64>,
    pub positions: Vec<u32>,
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
}

impl Fingerprints {
    /// Return the same memory, empty.
    pub fn cleared(mut self) -> Self {
        self.hashes.clear();
        self.positions.clear();
        self.starts.clear();
        self.ends.clear();
        self
    }

    #[inline]
    pub fn push(&mut self, hash: u64, position: u32, start: u32, end: u32) {
        self.hashes.push(hash);
        self.positions.push(position);
        self.starts.push(start);
        self.ends.push(end);
    }

    /// Reserve room for n more in every column. If the memory is refused, columns grow as they are filled.
    pub fn reserve(&mut self, n: usize) {
        let Fingerprints { hashes, positions, starts, ends } = self;
        let mut others = [positions, starts, ends];
        if hashes.try_reserve(n).is_ok() && others.iter_mut().all(|column| column.try_reserve(n).is_ok()) {
            prefer_huge_pages(hashes);
            others.into_iter().for_each(prefer_huge_pages);
        } else {
            hashes.shrink_to_fit();
            others.into_iter().for_each(Vec::shrink_to_fit);
        }
    }

    pub fn append(&mut self, other: &Fingerprints) {
        self.hashes.extend_from_slice(&other.hashes);
        self.positions.extend_from_slice(&other.positions);
        self.starts.extend_from_slice(&other.starts);
        self.ends.extend_from_slice(&other.ends);
    }
}
