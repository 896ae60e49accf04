//! The native core of Chaffinch: buffers in, buffers out. No files, no configuration, no Python objects.

mod aligned;
pub mod batch;
mod bits;
mod bucket;
mod checksum;
pub mod chunk;
mod code;
pub mod evidence;
pub mod ffi;
pub mod ffi_compare;
pub mod ffi_index;
mod find;
pub mod fingerprints;
pub mod fold;
pub mod gather;
pub mod grow;
pub mod hash;
mod html;
mod keyword;
mod lane;
pub mod language;
pub mod level;
pub mod lookup;
pub mod overlap;
mod pages;
pub mod parallel;
pub mod postings;
mod rare;
pub mod segment;
pub mod segment_merge;
pub mod segment_scan;
pub mod segment_write;
pub mod select;
#[cfg(target_arch = "x86_64")]
mod simd;
pub mod text;
pub mod window;
