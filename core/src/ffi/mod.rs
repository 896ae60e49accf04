//! The C interface: the only place where raw pointers become slices.
//!
//! The safety contract of every function: a pointer holds as many values as the number beside it says, or as the
//! structure it points to says, until the function returns. What a result's object refers to stays until `chf_free`,
//! which frees each result once. Numbers from outside are checked; a wrong one is an error.
#![allow(clippy::missing_safety_doc)] // said once, here

pub mod boundary;
pub mod compare_ffi;
pub mod fingerprint_ffi;
pub mod index_ffi;
