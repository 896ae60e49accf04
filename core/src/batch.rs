//! Many documents at once, on several threads; the result does not depend on how many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

use crate::level::Level;
use crate::select::{Fingerprints, Recipe, Selector};
use crate::text::Source;

/// Bytes of input that a thread takes at a time.
const SHARE: usize = 1 << 18;

#[derive(Default)]
pub struct Batch {
    pub fingerprints: Fingerprints,
    /// offsets[i] .. offsets[i+1] are the fingerprints of document i.
    pub offsets: Vec<u64>,
    /// The number of symbols in each document.
    pub symbols: Vec<u64>,
    /// The number of bytes in each that should be UTF-8 and are not.
    pub invalid: Vec<u64>,
}

impl Batch {
    /// Takes over what another batch holds; returns memory to use again.
    fn append(&mut self, other: Batch) -> Fingerprints {
        let before = self.fingerprints.hashes.len() as u64;
        self.offsets.extend(other.offsets.iter().map(|o| o + before));
        self.symbols.extend(other.symbols);
        self.invalid.extend(other.invalid);
        if before == 0 {
            return std::mem::replace(&mut self.fingerprints, other.fingerprints);
        }
        self.fingerprints.append(&other.fingerprints);
        other.fingerprints.cleared()
    }
}

/// Fingerprints of every document, in their order.
pub fn fingerprint(sources: &[Source], recipe: Recipe, threads: usize, level: Level) -> Batch {
    let shares = share(sources);
    let threads = threads.clamp(1, shares.len().max(1));
    let mut batch = Batch::default();
    if threads == 1 {
        let mut selector = Selector::new(recipe, level);
        for share in shares {
            let done = work(&mut selector, &sources[share], level);
            selector.reuse(batch.append(done));
        }
    } else {
        let next = AtomicUsize::new(0);
        let spare = Mutex::new(Vec::new());
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            let spawn = |_| {
                let (send, next, shares, spare) = (send.clone(), &next, &shares, &spare);
                scope.spawn(move || {
                    let mut selector = Selector::new(recipe, level);
                    while let i = next.fetch_add(1, Ordering::Relaxed)
                        && let Some(share) = shares.get(i)
                    {
                        let done = work(&mut selector, &sources[share.clone()], level);
                        if send.send((i, done)).is_err() {
                            break;
                        }
                        if let Some(memory) = spare.lock().ok().and_then(|mut all| all.pop()) {
                            selector.reuse(memory);
                        }
                    }
                })
            };
            let workers: Vec<_> = (0..threads).map(spawn).collect();
            drop(send);
            // Shares are joined in order as they come in, so that few wait and memory stays flat.
            let mut waiting = BTreeMap::new();
            let mut expected = 0;
            for (i, done) in receive {
                waiting.insert(i, done);
                while let Some(done) = waiting.remove(&expected) {
                    let memory = batch.append(done);
                    expected += 1;
                    if let Ok(mut all) = spare.lock() {
                        all.push(memory);
                    }
                }
            }
            for worker in workers {
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic); // with its own message
                }
            }
        });
    }
    batch.offsets.push(batch.fingerprints.hashes.len() as u64);
    batch
}

fn work(selector: &mut Selector, sources: &[Source], level: Level) -> Batch {
    let mut batch = Batch::default();
    for source in sources {
        batch.offsets.push(selector.found() as u64);
        batch.invalid.push(source.read(selector, level));
        batch.symbols.push(selector.finish(source));
    }
    batch.fingerprints = selector.take();
    batch
}

/// Consecutive documents of about `SHARE` bytes.
fn share(sources: &[Source]) -> Vec<std::ops::Range<usize>> {
    let mut shares = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (i, source) in sources.iter().enumerate() {
        size += source.size();
        if size >= SHARE || i + 1 == sources.len() {
            shares.push(start..i + 1);
            (start, size) = (i + 1, 0);
        }
    }
    shares
}
