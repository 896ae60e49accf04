//! Buffers that start on a cache line: loading a vector that straddles two lines takes twice as long.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A vector of fixed length whose first element starts a cache line.
pub struct AlignedVec<T> {
    memory: Vec<T>,
    skip: usize,
    len: usize,
}

impl<T: Copy + Default> AlignedVec<T> {
    pub fn new(len: usize) -> Self {
        let memory = vec![T::default(); len + LINE / size_of::<T>()];
        let skip = memory.as_ptr().align_offset(LINE);
        AlignedVec { memory, skip, len }
    }
}

impl<T> Deref for AlignedVec<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.memory[self.skip..self.skip + self.len]
    }
}

impl<T> DerefMut for AlignedVec<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.skip..self.skip + self.len]
    }
}
