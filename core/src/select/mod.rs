//! Streams -> fingerprints.

pub mod batch;
pub mod fingerprints;
pub mod hash;
pub(crate) mod lane;
pub(crate) mod rare;
pub mod selector;
pub mod window;
