//! What every part of the C interface uses: slices of the caller's memory, and results that the caller owns.

use std::any::Any;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;

use crate::index::segment::Damage;
use crate::index::segment_merge;

/// `len` numbers of `width` bytes each.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ChfColumn {
    pub data: *const c_void,
    pub len: usize,
    pub width: usize,
}

/// What a function returns: columns, or an error; it may hold an object that other functions take. The caller owns it
/// until `chf_free`.
#[repr(C)]
pub struct ChfResult {
    pub columns: *const ChfColumn,
    pub len: usize,
    /// Null if the function succeeded.
    pub error: *const c_char,
    /// One more than the number of the segment that the error is about, or 0 if it is about none.
    pub damaged: usize,
    owner: *mut c_void,
}

/// What the pointers of a result point to.
struct Owner {
    views: Vec<ChfColumn>,
    _memory: Vec<Box<dyn Any>>,
    error: Option<CString>,
    object: Box<dyn Any>,
}

/// A column and its memory.
pub(crate) struct Column(ChfColumn, Box<dyn Any>);

impl<T: 'static> From<Vec<T>> for Column {
    fn from(numbers: Vec<T>) -> Self {
        let view = ChfColumn { data: numbers.as_ptr().cast(), len: numbers.len(), width: size_of::<T>() };
        Column(view, Box::new(numbers))
    }
}

/// Why a function failed, and `damaged` as in `ChfResult`.
pub(crate) struct Failure(String, usize);

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure(why, 0)
    }
}

/// Of the only segment.
impl From<Damage> for Failure {
    fn from(Damage(why): Damage) -> Self {
        Failure(why, 1)
    }
}

impl From<segment_merge::Failure> for Failure {
    fn from((segment, Damage(why)): segment_merge::Failure) -> Self {
        Failure(why, segment + 1)
    }
}

/// Return the columns that `work` makes, or its error.
pub(crate) fn result(work: impl FnOnce() -> Result<Vec<Column>, Failure>) -> *mut ChfResult {
    result_with(|| Ok(((), work()?)))
}

/// Return an object for `object` and columns, or an error. A panic becomes an error too: if it left an `extern "C"`
/// function, it would end the process.
pub(crate) fn result_with<T: 'static>(
    work: impl FnOnce() -> Result<(T, Vec<Column>), Failure>,
) -> *mut ChfResult {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        Err(Failure(text.unwrap_or("the core failed".to_string()), 0))
    });
    let mut owner = Owner { views: Vec::new(), _memory: Vec::new(), error: None, object: Box::new(()) };
    let mut damaged = 0;
    match outcome {
        Ok((object, columns)) => {
            (owner.views, owner._memory) =
                columns.into_iter().map(|Column(view, memory)| (view, memory)).unzip();
            owner.object = Box::new(object);
        }
        Err(Failure(why, segment)) => {
            owner.error = Some(CString::new(why.replace('\0', " ")).unwrap_or_default());
            damaged = segment;
        }
    }
    Box::into_raw(Box::new(ChfResult {
        columns: owner.views.as_ptr(),
        len: owner.views.len(),
        error: owner.error.as_ref().map_or(null(), |error| error.as_ptr()),
        damaged,
        owner: Box::into_raw(Box::new(owner)).cast(),
    }))
}

/// Return the object of a result; a result with another object is an error.
pub(crate) unsafe fn object<'a, T: 'static>(result: *const ChfResult) -> &'a T {
    let owner = unsafe { &*(*result).owner.cast::<Owner>() };
    owner.object.downcast_ref().expect("this result holds another object")
}

/// Free a result, its columns and its object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_free(result: *mut ChfResult) {
    unsafe {
        let result = Box::from_raw(result);
        drop(Box::from_raw(result.owner.cast::<Owner>()));
    }
}

/// Return a slice of the caller's memory; an empty one may come with any pointer.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}
