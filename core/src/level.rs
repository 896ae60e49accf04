//! Which instructions the hot loops are compiled for, chosen at run time.
//!
//! The loops are written once, in plain Rust that compilers vectorise, and compiled for each level, so the
//! levels agree by construction. What compilers do not vectorise is in simd.rs.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum Level {
    Portable,
    Avx2,
    Avx512,
}

/// A piece of work to be compiled for every level. `run` must be `#[inline(always)]`, as must all it calls.
pub trait Task {
    type Output;
    fn run(self) -> Self::Output;
}

impl Level {
    /// The best level this machine has.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2");
            if has_avx2 && has_avx512 {
                return Level::Avx512;
            }
            if has_avx2 {
                return Level::Avx2;
            }
        }
        Level::Portable
    }

    /// Runs the task with this level's instructions, or with the best the machine has if it lacks them.
    #[inline(always)]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        {
            // The level comes from `best` or was clamped to it in `at_most`: the instructions are there.
            match self {
                Level::Avx512 => return unsafe { avx512(task) },
                Level::Avx2 => return unsafe { avx2(task) },
                Level::Portable => {}
            }
        }
        task.run()
    }

    /// The level of this number, or the best the machine has if that is less.
    pub fn at_most(number: u32) -> Self {
        let asked = [Level::Portable, Level::Avx2, Level::Avx512][number.min(2) as usize];
        if asked > Level::best() { Level::best() } else { asked }
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
