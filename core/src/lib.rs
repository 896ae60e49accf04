//! The native core of Chaffinch: buffers in, buffers out. It knows no files, no configuration and no Python objects.
//!
//! The crate has no dependencies and a C interface, so it builds wherever cargo does and one wheel serves every Python.
//! Raw pointers become slices in `ffi` alone. Unsafe code elsewhere: the calls of vector instructions (`level.rs`,
//! `avx512.rs` and their callers), the advice to the system in `huge_pages.rs`, the handler of lost pages in
//! `index/mapped.rs`, and a prefetch in `index/bits.rs`.

pub mod compare;
pub mod ffi;
pub mod index;
pub mod machine;
pub mod read;
pub mod select;
