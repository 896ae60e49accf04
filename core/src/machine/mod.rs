//! What the hardware offers: threads, vector instructions, huge pages.

pub(crate) mod aligned;
pub mod level;
pub(crate) mod pages;
pub mod parallel;
#[cfg(target_arch = "x86_64")]
pub(crate) mod simd;
