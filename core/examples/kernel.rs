//! Measure the speed of selection on one core: `cargo run --release --example kernel -- FILE`.
//!
//! Each line of output is `name k w seconds-per-byte fingerprints`, the best of several interleaved rounds. Compare lines
//! of one run: memcpy and the loop of the paper are measured beside it.

use std::hint::black_box;
use std::time::Instant;

use chaffinch_core::machine::level::Level;
use chaffinch_core::read::fold::Form;
use chaffinch_core::read::source::Source;
use chaffinch_core::select::batch::fingerprint;
use chaffinch_core::select::selector::{Recipe, Scheme};
use chaffinch_core::select::window::Order;

const ROUNDS: usize = 7;

/// The paper's figure 5, transcribed: `next_hash` is a rolling 64-bit hash of k-grams.
fn figure_5(text: &[u8], k: usize, w: usize) -> (Vec<u64>, Vec<u32>) {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut hashes, mut positions) = (Vec::new(), Vec::new());
    let base_to_k = (0..k).fold(1u64, |p, _| p.wrapping_mul(BASE));
    let mut rolling = text[..k - 1].iter().fold(0u64, |x, &c| x.wrapping_mul(BASE).wrapping_add(c as u64 + 1));
    let mut next_hash = |i: usize| {
        rolling = rolling.wrapping_mul(BASE).wrapping_add(text[i + k - 1] as u64 + 1);
        if i > 0 {
            rolling = rolling.wrapping_sub(base_to_k.wrapping_mul(text[i - 1] as u64 + 1));
        }
        let mixed = rolling.wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ (mixed >> 32)
    };
    // circular buffer implementing window of size w
    let mut h = vec![u64::MAX; w];
    let mut r = 0; // window right end
    let mut min = 0; // index of minimum hash
    for i in 0..=text.len() - k {
        r = (r + 1) % w; // shift the window by one
        h[r] = next_hash(i); // and add one new hash
        let mut record = |min: usize| {
            hashes.push(h[min]);
            positions.push((i - (r + w - min) % w) as u32);
        };
        if min == r {
            // The previous minimum is no longer in this window.
            let mut j = (r + w - 1) % w;
            while j != r {
                if h[j] < h[min] {
                    min = j;
                }
                j = (j + w - 1) % w;
            }
            record(min);
        } else if h[r] <= h[min] {
            // The new minimum is the rightmost.
            min = r;
            record(min);
        }
    }
    (hashes, positions)
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: kernel FILE");
    let text = std::fs::read(&path).expect("a readable file");
    let mut copy = vec![1u8; text.len()];
    let shapes = [(50, 100), (25, 26), (12, 9)];
    let open_closed = Scheme::Windows(Order::OpenClosed);
    let mut best = std::collections::BTreeMap::new();
    for _ in 0..ROUNDS {
        let mut time = |name: String, work: &mut dyn FnMut() -> usize| {
            let start = Instant::now();
            let count = work();
            let per_byte = start.elapsed().as_secs_f64() / text.len() as f64;
            let entry = best.entry(name).or_insert((per_byte, count));
            entry.0 = entry.0.min(per_byte);
        };
        time("memcpy 0 0".into(), &mut || {
            copy.copy_from_slice(&text);
            black_box(&copy).len()
        });
        for (k, w) in shapes {
            time(format!("figure-5 {k} {w}"), &mut || black_box(figure_5(&text, k, w)).0.len());
            let recipe = Recipe {
                scheme: open_closed,
                robust: true,
                k,
                w,
                window: w,
                p: 1,
                r: 3,
                skip: 0,
                only_starts: false,
                seed: 0,
            };
            for (number, name) in ["portable", "avx2", "avx512"].into_iter().enumerate() {
                let level = Level::at_most(number as u32);
                if level.number() != number as u32 {
                    continue;
                }
                let select = |source| fingerprint(&[source], recipe, 1, level).fingerprints.hashes.len();
                time(format!("select-{name} {k} {w}"), &mut || select(Source::Bytes(&text)));
                time(format!("text-{name} {k} {w}"), &mut || select(Source::Utf8(&text, Form::Letters)));
            }
        }
    }
    for (name, (per_byte, count)) in best {
        println!("{name} {per_byte:e} {count}");
    }
}
