//! Fingerprints of many documents, on several threads; the result does not depend on how many.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::machine::level::Level;
use crate::machine::parallel::shares;
use crate::read::source::Source;
use crate::select::fingerprints::Fingerprints;
use crate::select::selector::{Recipe, Selector};

/// The fingerprints of documents, one after another.
#[derive(Default)]
pub struct Batch {
    pub fingerprints: Fingerprints,
    /// offsets[i] .. offsets[i+1] are the fingerprints of document i.
    pub offsets: Vec<u64>,
    /// The number of symbols in each document.
    pub symbols: Vec<u64>,
}

impl Batch {
    /// Append another batch, which was made from this part of the whole input. Return memory to use again. The first
    /// batch that holds anything tells about how much room all will need.
    fn append(&mut self, other: Batch, part: f64) -> Fingerprints {
        let before = self.fingerprints.hashes.len() as u64;
        self.offsets.extend(other.offsets.iter().map(|o| o + before));
        self.symbols.extend(other.symbols);
        if before == 0 && part == 1.0 {
            return std::mem::replace(&mut self.fingerprints, other.fingerprints);
        }
        if before == 0 {
            self.fingerprints.reserve((other.fingerprints.hashes.len() as f64 / part * 1.0625) as usize);
        }
        self.fingerprints.append(&other.fingerprints);
        other.fingerprints.cleared()
    }
}

/// Shares joined in order. The thread that finishes a share joins it, so few wait and memory stays flat.
#[derive(Default)]
struct Joined {
    batch: Batch,
    waiting: BTreeMap<usize, Batch>,
    expected: usize,
    spare: Vec<Fingerprints>,
}

impl Joined {
    /// Add share number `i`. Return memory to use again, if there is any.
    fn join(&mut self, i: usize, done: Batch, part: impl Fn(usize) -> f64) -> Option<Fingerprints> {
        self.waiting.insert(i, done);
        while let Some(done) = self.waiting.remove(&self.expected) {
            self.spare.push(self.batch.append(done, part(self.expected)));
            self.expected += 1;
        }
        self.spare.pop()
    }
}

pub fn fingerprint(sources: &[Source], recipe: Recipe, threads: usize, level: Level) -> Batch {
    let shares = shares(sources.iter().map(Source::size));
    let threads = threads.clamp(1, shares.len().max(1));
    let size = |some: &[Source]| some.iter().map(Source::size).sum::<usize>() as f64;
    let total = size(sources);
    let part = |share: usize| size(&sources[shares[share].clone()]) / total;
    let next = AtomicUsize::new(0);
    let joined = Mutex::new(Joined::default());
    let worker = || {
        let mut selector = Selector::new(recipe, level);
        while let i = next.fetch_add(1, Ordering::Relaxed)
            && let Some(share) = shares.get(i)
        {
            let done = work(&mut selector, &sources[share.clone()], level);
            let Ok(mut all) = joined.lock() else { break }; // another thread has panicked
            if let Some(memory) = all.join(i, done, part) {
                selector.reuse(memory);
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        worker();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic); // keeps the message
            }
        }
    });
    let mut batch = joined.into_inner().unwrap_or_default().batch;
    batch.offsets.push(batch.fingerprints.hashes.len() as u64);
    batch
}

fn work(selector: &mut Selector, sources: &[Source], level: Level) -> Batch {
    let mut batch = Batch::default();
    for source in sources {
        batch.offsets.push(selector.count() as u64);
        source.read(selector, level);
        batch.symbols.push(selector.finish(source));
    }
    batch.fingerprints = selector.take();
    batch
}
