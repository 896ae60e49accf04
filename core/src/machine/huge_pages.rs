//! Huge pages for large columns: faulting in new memory by small pages takes longer than reading a text.

/// Bytes. A column at least this large is worth the call.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Ask for huge pages where a column will be written.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_huge_pages<T>(numbers: &mut Vec<T>) {
    const PAGE: usize = 4096;
    const MADV_HUGEPAGE: i32 = 14;
    unsafe extern "C" {
        fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
    }
    let room = numbers.spare_capacity_mut();
    let (address, size) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
    let skipped = address.align_offset(PAGE);
    if size >= LARGE {
        // SAFETY: the range lies within the column's own memory. This is advice: a refusal changes nothing.
        unsafe { madvise(address.add(skipped), (size - skipped) / PAGE * PAGE, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_huge_pages<T>(_: &mut Vec<T>) {}
