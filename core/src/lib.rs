//! The native core of Chaffinch: buffers in, buffers out. No files, no configuration, no Python objects.

pub mod compare;
pub mod ffi;
pub mod index;
pub mod machine;
pub mod read;
pub mod select;
