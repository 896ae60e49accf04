//! Segments of postings: written, merged, searched. Candidates and matches of a query.

pub(crate) mod bits;
pub(crate) mod bucket;
pub(crate) mod checksum;
pub mod lookup;
pub(crate) mod mapped;
pub mod query_matches;
pub mod segment;
pub mod segment_merge;
pub mod segment_scan;
pub mod segment_write;
pub mod tally;
