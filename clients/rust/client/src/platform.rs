//! The platform's secure generator.

use optldp_drawing::{NoRandomness, Words};

#[cfg(not(unix))]
compile_error!("Platform knows the secure generator of Unix alone: implement Words for that of this platform");

const MOST: usize = 32; // words that getentropy gives at once: all or none

extern "C" {
    fn getentropy(bytes: *mut u8, size: usize) -> i32; // of Linux, macOS, iOS and the BSDs; std is linked with it
}

/// The operating system's secure generator.
#[derive(Clone, Copy, Debug)]
pub struct Platform;

impl Words for Platform {
    fn fill(&mut self, words: &mut [u64]) -> Result<(), NoRandomness> {
        for part in words.chunks_mut(MOST) {
            // SAFETY: the part has that many bytes, and every pattern of bits is a word.
            if unsafe { getentropy(part.as_mut_ptr().cast(), size_of_val(part)) } != 0 {
                return Err(NoRandomness);
            }
        }
        Ok(())
    }
}
