//! Streams -> fingerprints.

pub mod batch;
pub mod fingerprints;
pub mod hash;
pub(crate) mod rare;
pub mod selector;
pub(crate) mod sliding_min;
pub mod window;
