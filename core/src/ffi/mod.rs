//! The C interface: the only place where raw pointers become slices.
//!
//! The safety contract of every function: a column, and a pointer with a number beside it, has as many values as it
//! says, and they stay as they are until the function returns. What a result's object refers to stays until `chf_free`,
//! which frees each result once. All else is checked here, before anything is read: that there is a pointer, the width
//! of numbers, that columns and tables fit each other, that numbers are in range. What is wrong is an error. So nothing
//! that a caller can get wrong panics further in.
#![allow(clippy::missing_safety_doc)] // said once, here

pub mod boundary;
pub mod compare_ffi;
pub mod fingerprint_ffi;
pub mod formats_ffi;
pub mod index_ffi;
