//! Streams -> fingerprints.

pub mod batch;
pub mod fingerprints;
pub(crate) mod fixed_size;
pub mod hash;
pub mod selector;
pub(crate) mod sliding_min;
pub mod window;
