//! Feed changed and joined seeds to a front end for some seconds and check what it returns. tools/fuzz.py runs this as
//! `fuzz TARGET SECONDS TABLES SEEDS FAILURE`, or with one more argument, the file of an input to try again.
//!
//! Built with `-C instrument-coverage --cfg coverage` it keeps the inputs that reach new code and changes those.
//! The first bytes of an input say how to read the rest. An input that fails is written to FAILURE.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chaffinch_core::machine::level::Level;
use chaffinch_core::read::fold::Form;
use chaffinch_core::read::language::Language;
use chaffinch_core::read::page_text::page_text;
use chaffinch_core::read::source::Source;
use chaffinch_core::read::stream::{Stream, Streams, read_streams};
use chaffinch_core::read::text::Endian;
use chaffinch_core::select::batch::fingerprint;
use chaffinch_core::select::selector::{Recipe, Scheme};

const HEAD: usize = 4;
const LONGEST: usize = 4096;
/// Bytes that a document is repeated to, and how long reading it may take: linear time is a tenth of that.
const LARGE: usize = 1 << 18;
const LIMIT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, PartialEq)]
enum Target {
    Code,
    Html,
    Text,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

struct Fuzzer {
    target: Target,
    languages: Vec<Language>,
    /// Openings, keywords and other bytes with a meaning.
    words: Vec<Vec<u8>>,
}

impl Fuzzer {
    /// Read a document at these levels, which must agree.
    fn check(&self, head: &[u8], document: &[u8], levels: &[Level]) {
        let latin: Vec<u32> = (0..256).collect();
        let codes: Vec<u32> = document.iter().map(|&b| b as u32 * 0x101).collect();
        let offsets: Vec<u32> = (0..=document.len() as u32).collect();
        let form = if head[1] & 1 == 0 { Form::Letters } else { Form::Consonants };
        let endian = if head[1] & 2 == 0 { Endian::Little } else { Endian::Big };
        let source = match (self.target, head[0] % 7) {
            (Target::Code, _) => {
                Source::Code(document, &self.languages[head[0] as usize % self.languages.len()])
            }
            (Target::Html, kind) => Source::Html(document, form, (kind % 2 == 1).then_some(&latin[..])),
            (Target::Text, 0) => Source::Bytes(document),
            (Target::Text, 1) => Source::Utf16(document, form, endian),
            (Target::Text, 2) => Source::Utf32(document, form, endian),
            (Target::Text, 3) => Source::SingleByte(document, form, &latin),
            (Target::Text, 4) => Source::Symbols(&codes),
            (Target::Text, 5) => Source::Decoded(&codes, form, &offsets),
            (Target::Text, _) => Source::Utf8(document, form),
        };
        let scheme = Scheme::numbered(head[2] as u32 % 9).expect("nine schemes");
        let (k, w) = (1 + head[3] as usize % 16, 1 + head[3] as usize / 16);
        let (robust, p, skip) = (head[2] & 8 == 0, w as u64, head[2] as u32 / 16);
        let recipe = Recipe { scheme, robust, k, w, window: w, p, r: 1, skip, only_starts: false, seed: 0 };
        let mut before = None;
        for &level in levels {
            let streams = read_streams(&[source], true, 1, level);
            self.check_stream(&streams, document.len());
            if let Source::Html(page, form, None) = source
                && std::str::from_utf8(page).is_ok()
            {
                let text = page_text(page);
                let letters = read_streams(&[Source::Utf8(&text, form)], false, 1, level).symbols;
                assert!(letters == streams.symbols, "the text of a page has other letters than its stream");
            }
            let Streams { symbols, starts, ends, .. } = &streams;
            let batch = fingerprint(&[source], recipe, 1, level);
            assert!(batch.symbols[0] == symbols.len() as u64, "fingerprints are of another stream");
            let prints = batch.fingerprints;
            for (i, &position) in prints.positions.iter().enumerate() {
                let (first, last) = (position as usize, position as usize + k - 1);
                assert!(prints.starts[i] == starts[first], "a fingerprint starts elsewhere");
                assert!(prints.ends[i] == ends[last], "a fingerprint ends elsewhere");
            }
            let stream = Source::Stream(Stream { symbols, starts, ends });
            let again = fingerprint(&[stream], recipe, 1, level).fingerprints;
            assert!(again == prints, "a stream has other fingerprints than its document");
            let all = (streams.symbols, streams.named, prints);
            assert!(before.is_none_or(|earlier| earlier == all), "the levels differ");
            before = Some(all);
        }
    }

    fn check_stream(&self, Streams { symbols, starts, ends, named, .. }: &Streams, size: usize) {
        let columns = [symbols, starts, ends, named];
        assert!(columns.iter().all(|column| column.len() == symbols.len()), "columns of different lengths");
        for i in 0..starts.len() {
            assert!(starts[i] < ends[i] && ends[i] as usize <= size, "a span is empty or outside");
            // All symbols that one character folds to have its span.
            let may_share = self.target != Target::Code && i > 0 && starts[i] == starts[i - 1];
            assert!(i == 0 || may_share || ends[i - 1] <= starts[i], "spans overlap");
        }
    }

    /// Return what is wrong with the input, if anything.
    fn complaint(&self, input: &[u8], also_large: bool) -> Option<String> {
        let (head, document) = input.split_at(HEAD.min(input.len()));
        let mut full = [0; HEAD];
        full[..head.len()].copy_from_slice(head);
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.check(&full, document, &[Level::at_most(0), Level::best()]);
            if also_large && !document.is_empty() {
                let large = document.repeat(LARGE / document.len());
                let start = Instant::now();
                self.check(&full, &large, &[Level::best()]);
                assert!(start.elapsed() < LIMIT, "a repeated document takes {:?}", start.elapsed());
            }
        }));
        let panic = result.err()?;
        let text = panic.downcast_ref::<String>().cloned();
        Some(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
    }

    /// Return a changed input from the corpus.
    fn changed(&self, random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[random.below(corpus.len())].clone();
        for _ in 0..1 + random.below(6) {
            // Most bugs are at the end.
            let at = if random.below(4) == 0 { input.len() } else { random.below(input.len() + 1) };
            let end = at + random.below((input.len() - at).min(64) + 1);
            match random.below(8) {
                0 => input.insert(at, random.below(256) as u8),
                1 if at < input.len() => input[at] = random.below(256) as u8,
                2 => drop(input.drain(at..end)),
                7 => input.truncate(at),
                3 | 4 => drop(input.splice(at..at, self.words[random.below(self.words.len())].clone())),
                5 => {
                    let copy = input[at..end].repeat(1 + random.below(8));
                    drop(input.splice(at..at, copy));
                }
                _ => {
                    let other = &corpus[random.below(corpus.len())];
                    let from = random.below(other.len());
                    let to = (from + random.below(256)).min(other.len());
                    drop(input.splice(at..at, other[from..to].iter().copied()));
                }
            }
        }
        input.truncate(LONGEST);
        input
    }
}

/// Return how often each piece of code has run since the counters were reset; empty without coverage.
#[cfg(coverage)]
fn counters() -> &'static mut [u64] {
    unsafe extern "C" {
        fn __llvm_profile_begin_counters() -> *mut u64;
        fn __llvm_profile_end_counters() -> *mut u64;
    }
    // SAFETY: the counters of an instrumented program, used by this thread alone.
    unsafe {
        let (start, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
        std::slice::from_raw_parts_mut(start, end.offset_from(start) as usize)
    }
}

#[cfg(not(coverage))]
fn counters() -> &'static mut [u64] {
    &mut []
}

/// Return whether a piece of code ran for the first time, or many times more often than before. Reset the counters.
fn is_new(reached: &mut Vec<u8>) -> bool {
    let now = counters();
    reached.resize(now.len(), 0);
    let mut new = false;
    for (count, before) in now.iter_mut().zip(reached) {
        let much = 1u8 << (64 - count.leading_zeros()).div_ceil(3).min(7);
        if *count > 0 && *before & much == 0 {
            *before |= much;
            new = true;
        }
        *count = 0;
    }
    new
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, target, seconds, tables, seeds, failure, again @ ..] = &arguments[..] else {
        panic!("usage: fuzz TARGET SECONDS TABLES SEEDS FAILURE [INPUT]");
    };
    let target = match target.as_str() {
        "code" => Target::Code,
        "html" => Target::Html,
        "text" => Target::Text,
        other => panic!("there is no target {other}; choose code, html or text"),
    };
    let read = |path: &Path| std::fs::read(path).expect("a readable file");
    let tables: Vec<Vec<u8>> = files(tables).iter().map(|path| read(path)).collect();
    let languages = tables.iter().map(|table| Language::parse(table).expect("a language")).collect();
    let mut words: Vec<Vec<u8>> =
        tables.iter().flat_map(|t| t.split(|b| matches!(b, 30 | 31))).map(<[u8]>::to_vec).collect();
    words.extend(
        ["<!--", "-->", "<script>", "</script>", "&eacute;", "&#x41;", "é", "日本", "ﷺ"].map(|w| w.into()),
    );
    words.sort();
    words.dedup();
    let fuzzer = Fuzzer { target, languages, words };
    std::panic::set_hook(Box::new(|_| {}));
    if let [input] = again {
        let complaint = fuzzer.complaint(&read(Path::new(input)), true);
        println!("{}", complaint.as_deref().unwrap_or("this input passes"));
        return if complaint.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let seeds: Vec<Vec<u8>> = files(seeds).iter().map(|path| read(path)).collect();
    let end = Instant::now() + Duration::from_secs_f64(seconds.parse().expect("a number of seconds"));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut corpus, mut reached, mut runs) = (Vec::new(), Vec::new(), 0);
    while Instant::now() < end {
        let input = if runs < seeds.len() { seeds[runs].clone() } else { fuzzer.changed(&mut random, &corpus) };
        let mut complaint = fuzzer.complaint(&input, false);
        let is_seed = runs < seeds.len();
        let new = is_new(&mut reached) || is_seed;
        if new && !is_seed && complaint.is_none() {
            complaint = fuzzer.complaint(&input, true);
            is_new(&mut reached);
        }
        if let Some(why) = complaint {
            std::fs::write(failure, &input).expect("a writable file");
            println!("{why}");
            return ExitCode::FAILURE;
        }
        if new {
            corpus.push(input);
        }
        runs += 1;
    }
    let count = reached.iter().filter(|&&counts| counts != 0).count();
    println!("{runs} inputs, {} kept, {count} of {} pieces of code reached", corpus.len(), reached.len());
    ExitCode::SUCCESS
}
