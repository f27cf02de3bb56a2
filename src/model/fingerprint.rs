//! A number that stands for a text.

/// A number that stands for a text (FNV-1a); it is stored, and never changes.
#[must_use]
pub fn fingerprint(text: &str) -> i64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash.cast_signed()
}
