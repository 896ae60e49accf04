//! The C interface: the only place where raw pointers become slices.

pub mod boundary;
pub mod compare_ffi;
pub mod fingerprint_ffi;
pub mod index_ffi;
