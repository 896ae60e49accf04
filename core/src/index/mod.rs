//! Segments of postings: written, merged, looked up; matches of a search.

pub(crate) mod bits;
pub(crate) mod bucket;
pub(crate) mod checksum;
pub mod evidence;
pub mod lookup;
pub mod segment;
pub mod segment_merge;
pub mod segment_scan;
pub mod segment_write;
