//! What every part of the C interface uses: slices of the caller's memory, and results that the caller owns.

use std::any::Any;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::ptr::null;
use std::sync::{Mutex, Once, PoisonError};

use crate::index::segment::Damage;
use crate::index::segment_merge;

/// `len` numbers of `width` bytes each. Every column that crosses the interface, either way, tells its own size. A
/// width of 0 means that there is no column.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ChfColumn {
    pub data: *const c_void,
    pub len: usize,
    pub width: usize,
}

impl ChfColumn {
    pub(crate) fn is_given(&self) -> bool {
        self.width != 0
    }
}

/// What a function returns: columns, or an error; it may hold an object that other functions take. The caller owns it
/// until `chf_free`.
#[repr(C)]
pub struct ChfResult {
    pub columns: *const ChfColumn,
    pub len: usize,
    /// Null if the function succeeded.
    pub error: *const c_char,
    /// Why it failed: 0 an argument is wrong, 1 the core has a defect, 2 and more a segment is damaged; its number is
    /// 2 less.
    pub cause: usize,
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

/// Why a function failed.
pub(crate) enum Failure {
    Argument(String),
    Defect(String),
    /// The number of the segment, and what is wrong with it.
    Damage(usize, String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure::Argument(why)
    }
}

/// Of the only segment.
impl From<Damage> for Failure {
    fn from(Damage(why): Damage) -> Self {
        Failure::Damage(0, why)
    }
}

impl From<segment_merge::Failure> for Failure {
    fn from((segment, Damage(why)): segment_merge::Failure) -> Self {
        Failure::Damage(segment, why)
    }
}

/// Fail with a message unless an argument is as it should be.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(crate::ffi::boundary::Failure::Argument(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

/// Return the columns that `work` makes, or its error.
pub(crate) fn result(work: impl FnOnce() -> Result<Vec<Column>, Failure>) -> *mut ChfResult {
    result_with(|| Ok(((), work()?)))
}

/// Return an object for `object` and columns, or an error. A panic becomes an error too: if it left an `extern "C"`
/// function, it would end the process.
pub(crate) fn result_with<T: 'static>(
    work: impl FnOnce() -> Result<(T, Vec<Column>), Failure>,
) -> *mut ChfResult {
    static KEEP_QUIET: Once = Once::new();
    KEEP_QUIET.call_once(|| set_hook(Box::new(note_panic)));
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let noted = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Err(Failure::Defect(noted))
    });
    let mut owner = Owner { views: Vec::new(), _memory: Vec::new(), error: None, object: Box::new(()) };
    let mut cause = 0;
    match outcome {
        Ok((object, columns)) => {
            (owner.views, owner._memory) =
                columns.into_iter().map(|Column(view, memory)| (view, memory)).unzip();
            owner.object = Box::new(object);
        }
        Err(failure) => {
            let (number, why) = match failure {
                Failure::Argument(why) => (0, why),
                Failure::Defect(why) => (1, why),
                Failure::Damage(segment, why) => (2 + segment, why),
            };
            owner.error = Some(CString::new(why.replace('\0', " ")).unwrap_or_default());
            cause = number;
        }
    }
    Box::into_raw(Box::new(ChfResult {
        columns: owner.views.as_ptr(),
        len: owner.views.len(),
        error: owner.error.as_ref().map_or(null(), |error| error.as_ptr()),
        cause,
        owner: Box::into_raw(Box::new(owner)).cast(),
    }))
}

/// What went wrong in the last panic of any thread, and where.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Keep what a panic says for the error, rather than print it to where the caller's output goes.
fn note_panic(panic: &PanicHookInfo) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("the core failed");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    let noted = format!("{text}{}", place.unwrap_or_default());
    *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = noted;
}

/// Return the object of a result, which `name` describes.
pub(crate) unsafe fn object<'a, T: 'static>(result: *const ChfResult, name: &str) -> Result<&'a T, Failure> {
    let result = unsafe { reference(result, name) }?;
    let owner = unsafe { &*result.owner.cast::<Owner>() };
    owner.object.downcast_ref().ok_or_else(|| Failure::Argument(format!("this is not {name}")))
}

/// Free a result, its columns and its object. Nothing happens if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn chf_free(result: *mut ChfResult) {
    if result.is_null() {
        return;
    }
    unsafe {
        let result = Box::from_raw(result);
        drop(Box::from_raw(result.owner.cast::<Owner>()));
    }
}

/// Return a structure of the caller.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    ensure!(!pointer.is_null() && pointer.is_aligned(), "{name} is missing");
    Ok(unsafe { &*pointer })
}

/// Return structures of the caller, one after another.
pub(crate) unsafe fn structures<'a, T>(pointer: *const T, len: usize, name: &str) -> Result<&'a [T], Failure> {
    let column = ChfColumn { data: pointer.cast(), len, width: size_of::<T>() };
    unsafe { numbers(&column, name) }
}

/// Return a column of the caller, after a look at everything that would make it something else than a slice.
pub(crate) unsafe fn numbers<'a, T>(column: &ChfColumn, name: &str) -> Result<&'a [T], Failure> {
    let &ChfColumn { data, len, width } = column;
    let wanted = size_of::<T>();
    ensure!(width == wanted, "{name}: give numbers of {wanted} bytes instead of {width}");
    if len == 0 {
        return Ok(&[]); // it may come with any pointer
    }
    let data = data.cast::<T>();
    ensure!(!data.is_null(), "{name}: give the {len} numbers");
    ensure!(data.is_aligned(), "{name}: numbers of {wanted} bytes must begin at a multiple of {wanted} bytes");
    ensure!(len <= isize::MAX as usize / wanted, "{name}: {len} numbers are too many");
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// Columns that belong together row by row are equally long.
pub(crate) fn ensure_rows(names: &str, lengths: &[usize]) -> Result<(), Failure> {
    ensure!(
        lengths.windows(2).all(|pair| pair[0] == pair[1]),
        "{names}: give columns of equal length, not {lengths:?}"
    );
    Ok(())
}

/// Return the number of documents whose parts of a column of `len` begin at these offsets; the last is the end.
pub(crate) fn ensure_offsets(offsets: &[u64], len: usize, name: &str) -> Result<usize, Failure> {
    let ends = (offsets.first(), offsets.last());
    ensure!(
        ends == (Some(&0), Some(&(len as u64))) && offsets.is_sorted(),
        "{name}: offsets must rise from 0 to {len}, the length of the column"
    );
    Ok(offsets.len() - 1)
}

/// Weights are added up and compared, which needs numbers.
pub(crate) fn ensure_weights<T: Copy + Into<f64>>(weights: &[T]) -> Result<(), Failure> {
    let is_weight = |&weight: &T| (0.0..f64::INFINITY).contains(&weight.into());
    ensure!(weights.iter().all(is_weight), "weights must be finite and not negative");
    Ok(())
}
