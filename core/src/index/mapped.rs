//! Keeps the process alive when a mapped file shrinks while it is read.
//!
//! Reading a page that the file no longer has, or that the disk cannot deliver, raises SIGBUS, which ends the process.
//! The handler here puts a page of zeros in its place instead and marks the buffer as lost. Readers look at the mark
//! when they are done, and report damage instead of what they read.
//!
//! Reading with pread would need no handler. But a look-up reads a few bytes in each of hundreds of buckets: a pread
//! costs about 1 us and a mapped read 0.03 us, so a search of 40 million postings would take half as long again.
//! Windows refuses to shrink a mapped file, so there is nothing to do.

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use watched::{Watch, handle_bus_errors};

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod watched {
    use std::ffi::c_void;
    use std::ptr::{null, null_mut};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

    const IS_LINUX: bool = cfg!(target_os = "linux");
    const SIGBUS: i32 = if IS_LINUX { 7 } else { 10 };
    const SA_SIGINFO: i32 = if IS_LINUX { 4 } else { 0x40 };
    const SA_ONSTACK: i32 = if IS_LINUX { 0x0800_0000 } else { 1 };
    const MAP_ANONYMOUS: i32 = if IS_LINUX { 0x20 } else { 0x1000 };
    const PROT_READ: i32 = 1;
    const MAP_PRIVATE: i32 = 2;
    const MAP_FIXED: i32 = 0x10;

    #[repr(C)]
    struct Action {
        handler: usize,
        #[cfg(target_os = "linux")]
        mask: [usize; 128 / size_of::<usize>()],
        #[cfg(target_os = "macos")]
        mask: u32,
        flags: i32,
        #[cfg(target_os = "linux")]
        restorer: usize,
    }

    #[repr(C)]
    struct Info {
        numbers: [i32; if IS_LINUX { 3 } else { 6 }],
        address: usize,
    }

    unsafe extern "C" {
        fn sigaction(signal: i32, new: *const Action, old: *mut Action) -> i32;
        fn mmap(address: usize, len: usize, protection: i32, flags: i32, file: i32, offset: i64) -> usize;
        fn getpagesize() -> i32;
        fn raise(signal: i32) -> i32;
    }

    /// A watched buffer. Slots stay forever and are used again, so the handler can walk them at any time.
    #[derive(Default)]
    struct Slot {
        start: AtomicUsize,
        /// 0 if the slot is free.
        end: AtomicUsize,
        is_lost: AtomicBool,
        next: AtomicPtr<Slot>,
    }

    static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(null_mut());
    /// Held while slots are taken, and while the handler is installed.
    static CHANGING: Mutex<()> = Mutex::new(());
    static PAGE_SIZE: AtomicUsize = AtomicUsize::new(0);
    static PREVIOUS: AtomicPtr<Action> = AtomicPtr::new(null_mut());
    /// Where the last fault was that is not ours.
    static FOREIGN: AtomicUsize = AtomicUsize::new(0);

    fn slots() -> impl Iterator<Item = &'static Slot> {
        // SAFETY: slots are never freed.
        let slot = |pointer: &AtomicPtr<Slot>| unsafe { pointer.load(SeqCst).as_ref() };
        std::iter::successors(slot(&SLOTS), move |last| slot(&last.next))
    }

    impl Slot {
        fn contains(&self, address: usize) -> bool {
            let start = self.start.load(SeqCst);
            let is_inside = start <= address && address < self.end.load(SeqCst);
            is_inside && self.start.load(SeqCst) == start // else it was given to another buffer in between
        }
    }

    /// Watches a buffer until it is dropped.
    pub struct Watch(&'static Slot);

    impl Watch {
        pub fn new(bytes: &[u8]) -> Self {
            let _changing = CHANGING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let slot = slots().find(|slot| slot.end.load(SeqCst) == 0).unwrap_or_else(|| {
                let slot = Box::leak(Box::<Slot>::default());
                slot.next.store(SLOTS.load(SeqCst), SeqCst);
                SLOTS.store(slot, SeqCst);
                slot
            });
            let start = bytes.as_ptr() as usize;
            slot.start.store(start, SeqCst);
            slot.is_lost.store(false, SeqCst);
            slot.end.store(start + bytes.len(), SeqCst);
            Watch(slot)
        }

        /// Whether some of the buffer could not be read.
        pub fn is_lost(&self) -> bool {
            self.0.is_lost.load(SeqCst)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            self.0.end.store(0, SeqCst);
        }
    }

    /// Install the handler unless it is there. Call this before reading, since other libraries install theirs too.
    pub fn handle_bus_errors() {
        let is_ours = |action: &Action| action.handler == on_bus_error as *const () as usize;
        // SAFETY: the structures are those of the system, all zeros are valid, and the handler stays forever.
        unsafe {
            let mut current: Action = std::mem::zeroed();
            if sigaction(SIGBUS, null(), &mut current) != 0 || is_ours(&current) {
                return;
            }
            let _changing = CHANGING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            PAGE_SIZE.store(getpagesize() as usize, SeqCst);
            let mut ours: Action = std::mem::zeroed();
            (ours.handler, ours.flags) = (on_bus_error as *const () as usize, SA_SIGINFO | SA_ONSTACK);
            // Leaked, because the handler may be reading the one before. This happens once or twice in a process.
            PREVIOUS.store(Box::leak(Box::new(current)), SeqCst);
            sigaction(SIGBUS, &ours, null_mut());
        }
    }

    /// Runs on the thread that reads, between two instructions: it takes no lock and no memory.
    extern "C" fn on_bus_error(signal: i32, info: *const Info, _: *mut c_void) {
        // SAFETY: the system passes a valid structure. The new page replaces one of a watched buffer, which cannot be
        // read any more.
        unsafe {
            let (address, page) = ((*info).address, PAGE_SIZE.load(SeqCst));
            if let Some(slot) = slots().find(|slot| slot.contains(address)) {
                let (start, flags) = (address / page * page, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
                if mmap(start, page, PROT_READ, flags, -1, 0) == start {
                    slot.is_lost.store(true, SeqCst);
                    return;
                }
            }
            // The fault is not ours. The previous handler gets its turn when the instruction runs again, or when a
            // signal that was sent is sent once more. If it hands the fault back to us, the default ends the process.
            let was_sent = (*info).numbers[2] <= 0;
            let is_back =
                if was_sent { FOREIGN.load(SeqCst) != 0 } else { FOREIGN.swap(address, SeqCst) == address };
            let mut action: Action = std::mem::zeroed();
            if !is_back && let Some(previous) = PREVIOUS.load(SeqCst).as_ref() {
                action = std::ptr::read(previous);
            }
            sigaction(SIGBUS, &action, null_mut());
            if was_sent {
                raise(signal);
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub struct Watch;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
impl Watch {
    pub fn new(_: &[u8]) -> Self {
        Watch
    }

    pub fn is_lost(&self) -> bool {
        false
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn handle_bus_errors() {}
