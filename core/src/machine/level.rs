//! Which instructions the hot loops are compiled for, chosen at run time.
//!
//! The loops are written once, in plain Rust that compilers vectorise, and compiled for each level, so the
//! levels agree by construction. What compilers do not vectorise is in avx512.rs.

/// A level that this machine has; there is no other way to make one than `best` and `at_most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub struct Level(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Instructions {
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
                return Level(Instructions::Avx512);
            }
            if has_avx2 {
                return Level(Instructions::Avx2);
            }
        }
        Level(Instructions::Portable)
    }

    /// The level of this number (0 portable, 1 AVX2, 2 AVX-512), or the best the machine has if that is less.
    pub fn at_most(number: u32) -> Self {
        let all = [Instructions::Portable, Instructions::Avx2, Instructions::Avx512];
        let (asked, best) = (Level(all[number.min(2) as usize]), Level::best());
        if asked > best { best } else { asked }
    }

    pub fn number(self) -> u32 {
        self.0 as u32
    }

    pub fn is_avx512(self) -> bool {
        self.0 == Instructions::Avx512
    }

    /// Runs the task with this level's instructions.
    #[inline(always)]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        match self.0 {
            // SAFETY: `best` found the instructions, and a level is never above it.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { avx512(task) },
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { avx2(task) },
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
