//! The C interface: the only place where raw pointers become slices.

pub mod compare_ffi;
pub mod fingerprint_ffi;
pub mod index_ffi;
