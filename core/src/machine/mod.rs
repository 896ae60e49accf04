//! Using the hardware: threads, vector instructions, huge pages.

pub(crate) mod aligned;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod huge_pages;
pub mod level;
pub mod parallel;
