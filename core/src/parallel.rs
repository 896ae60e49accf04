//! Independent pieces of work on several threads; the results come in order.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each stretch of at most `share` items, in order, whatever the number of threads.
pub fn in_order<T: Send>(
    items: usize,
    share: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let shares = items.div_ceil(share);
    let range = |i: usize| i * share..items.min((i + 1) * share);
    if threads <= 1 || shares <= 1 {
        return (0..shares).map(|i| work(range(i))).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(shares));
    std::thread::scope(|scope| {
        let (next, done, work) = (&next, &done, &work);
        let spawn = |_| {
            scope.spawn(move || {
                while let i = next.fetch_add(1, Ordering::Relaxed)
                    && i < shares
                {
                    let found = work(range(i));
                    done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((i, found));
                }
            })
        };
        let workers: Vec<_> = (0..threads.min(shares)).map(spawn).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic); // with its own message
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, found)| found).collect()
}
