//! The instructions that the hot loops use, chosen at run time.
//!
//! The loops are written once, in plain Rust. `Level::run` calls the same inlined code in a function with AVX-512, with
//! AVX2 or with neither, so the levels cannot drift apart and a reader sees one algorithm. Compilers vectorise the
//! hashing, the order keys and the sliding minima; the four steps that they do not are in `avx512.rs`. Closures and
//! iterator adaptors that are not inlined lose the instructions of the function they are written in.

/// A level that this machine has, by its number. It can only be made by `best` and `at_most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u32);

const AVX2: u32 = 1;
const AVX512: u32 = 2;

/// Work that is compiled for every level. `run` and everything it calls must be `#[inline(always)]`.
pub trait Task {
    type Output;
    fn run(self) -> Self::Output;
}

impl Level {
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2");
            if has_avx2 && has_avx512 {
                return Level(AVX512);
            }
            if has_avx2 {
                return Level(AVX2);
            }
        }
        Level(0)
    }

    /// Return the level with this number (0 portable, 1 AVX2, 2 AVX-512), or the best one if the machine lacks it.
    pub fn at_most(number: u32) -> Self {
        Level(number.min(Level::best().0))
    }

    pub fn number(self) -> u32 {
        self.0
    }

    pub fn is_avx512(self) -> bool {
        self.0 == AVX512
    }

    #[inline(always)]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        match self.0 {
            // SAFETY: `best` detected the instructions, and no level is above it.
            #[cfg(target_arch = "x86_64")]
            AVX512 => unsafe { avx512(task) },
            #[cfg(target_arch = "x86_64")]
            AVX2 => unsafe { avx2(task) },
            _ => task.run(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn avx2<T: Task>(task: T) -> T::Output {
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2")]
fn avx512<T: Task>(task: T) -> T::Output {
    task.run()
}
