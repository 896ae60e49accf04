//! Fingerprints of many documents -> pairs, matches, overlaps.

pub(crate) mod blanks;
pub mod candidates;
pub mod matches;
pub mod overlap;
pub mod seeds;
