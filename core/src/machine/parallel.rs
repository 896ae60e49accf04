//! Independent work on several threads, with results in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Bytes of input that a thread takes at a time.
const SHARE: usize = 1 << 18;

/// Return ranges of consecutive items whose sizes add up to about `SHARE` bytes.
pub fn shares(sizes: impl ExactSizeIterator<Item = usize>) -> Vec<Range<usize>> {
    let items = sizes.len();
    let mut shares = Vec::new();
    let (mut start, mut share) = (0, 0);
    for (i, size) in sizes.enumerate() {
        share += size;
        if share >= SHARE || i + 1 == items {
            shares.push(start..i + 1);
            (start, share) = (i + 1, 0);
        }
    }
    shares
}

/// Return the results of `work` for consecutive ranges of at most `share` items, in order.
pub fn in_order<T: Send>(
    items: usize,
    share: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let mut all = Vec::with_capacity(items.div_ceil(share));
    each_in_order(items, share, threads, work, |result| all.push(result));
    all
}

/// Do the same, but hand each result to `take` as soon as those before it are there, so that few wait in memory.
pub fn each_in_order<T: Send>(
    items: usize,
    share: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
    mut take: impl FnMut(T),
) {
    let shares = items.div_ceil(share);
    let range = |i: usize| i * share..items.min((i + 1) * share);
    if threads <= 1 || shares <= 1 {
        return (0..shares).for_each(|i| take(work(range(i))));
    }
    let next = AtomicUsize::new(0);
    let (done, arriving) = mpsc::channel();
    std::thread::scope(|scope| {
        let (next, work) = (&next, &work);
        let spawn = |_| {
            let done = done.clone();
            scope.spawn(move || {
                while let i = next.fetch_add(1, Ordering::Relaxed)
                    && i < shares
                    && done.send((i, work(range(i)))).is_ok()
                {}
            })
        };
        let workers: Vec<_> = (0..threads.min(shares)).map(spawn).collect();
        drop(done); // the loop below ends when the last worker does
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (i, result) in arriving {
            early.insert(i, result);
            while let Some(result) = early.remove(&due) {
                take(result);
                due += 1;
            }
        }
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic); // keeps the message
            }
        }
    });
}
