//! Random names and passwords.

use std::fmt::Write;

use tokio_rustls::rustls::crypto::ring;

/// A random number.
pub(super) fn random() -> u64 {
    u64::from_ne_bytes(bytes())
}

/// A password nobody can guess: 256 bits, as hexadecimal digits, so that it needs no quoting.
pub(super) fn secret() -> String {
    hex(&bytes::<32>())
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .expect("the system's source of randomness can be read");
    bytes
}
