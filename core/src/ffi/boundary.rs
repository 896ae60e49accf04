//! What every part of the C interface uses: slices of the caller's memory, results that the caller owns, and the guard
//! that turns a panic into an error.
//!
//! Every function that returns a pointer hands over ownership; the matching `_free` takes it back. Every function that
//! can panic goes through `guarded`: a panic that left an `extern "C"` function would end the process. The `_free`
//! functions and `chf_best_level` cannot panic.

use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// Up to six columns of 32-bit numbers.
#[repr(C)]
pub struct ChfTable {
    pub columns: [*const u32; 6],
    pub lengths: [usize; 6],
    pub error: *mut c_char,
    owner: *mut c_void,
}

/// `len` bytes. `damaged` is one more than the number of the segment that the error is about, or 0 if it is about none.
#[repr(C)]
pub struct ChfBytes {
    pub data: *const u8,
    pub len: usize,
    pub error: *mut c_char,
    pub damaged: usize,
    owner: *mut c_void,
}

pub(crate) type Columns = Vec<Vec<u32>>;

/// Return a slice of the caller's memory; an empty one may come with any pointer.
///
/// # Safety
/// `data` must hold `len` values for as long as the slice is used.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}

/// Run `work`; a panic becomes an error message and the default value.
pub(crate) fn guarded<T: Default>(work: impl FnOnce() -> T) -> (T, *mut c_char) {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => (value, null_mut()),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("the core failed");
            (T::default(), message(text))
        }
    }
}

/// Return a text that the caller owns, until `chf_message_free`.
pub(crate) fn message(text: &str) -> *mut c_char {
    CString::new(text.replace('\0', " ")).unwrap_or_default().into_raw()
}

/// # Safety
/// `message` must be null or come from a function of this interface, and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_message_free(message: *mut c_char) {
    if !message.is_null() {
        drop(unsafe { CString::from_raw(message) });
    }
}

/// Return the columns that `work` makes, or an error.
pub(crate) fn table(work: impl FnOnce() -> Columns) -> *mut ChfTable {
    let (mut value, error) = guarded(work);
    value.resize(6, Vec::new());
    let owner = Box::new(value);
    Box::into_raw(Box::new(ChfTable {
        columns: std::array::from_fn(|i| owner[i].as_ptr()),
        lengths: std::array::from_fn(|i| owner[i].len()),
        error,
        owner: Box::into_raw(owner).cast(),
    }))
}

/// # Safety
/// `table` must come from a function of this interface and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_table_free(table: *mut ChfTable) {
    unsafe {
        let table = Box::from_raw(table);
        drop(Box::from_raw(table.owner.cast::<Columns>()));
        chf_message_free(table.error);
    }
}

/// Return bytes with an error that may be null, and the segment it is about.
pub(crate) fn bytes((value, error, damaged): (Vec<u8>, *mut c_char, usize)) -> *mut ChfBytes {
    let owner = Box::new(value);
    Box::into_raw(Box::new(ChfBytes {
        data: owner.as_ptr(),
        len: owner.len(),
        error,
        damaged,
        owner: Box::into_raw(owner).cast(),
    }))
}

/// # Safety
/// `bytes` must come from a function of this interface and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_bytes_free(bytes: *mut ChfBytes) {
    unsafe {
        let bytes = Box::from_raw(bytes);
        drop(Box::from_raw(bytes.owner.cast::<Vec<u8>>()));
        chf_message_free(bytes.error);
    }
}
