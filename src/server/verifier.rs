//! What a server keeps of a password, to see whether a client knows it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// What makes equal passwords differ. No two of Lockstep's are equal, so one will do.
const SALT: &[u8] = b"lockstep";

/// How often a password is hashed to make its key.
///
/// Many rounds shield passwords that can be guessed, and make each connection 5 ms dearer. These
/// are 256 random bits, made for one run and gone with it, which nobody tries out: one round will
/// do. Every release takes the number from the verifier, though only those from 16 on would make
/// one with it themselves.
const ROUNDS: u32 = 1;

/// The SCRAM-SHA-256 verifier of a random password, as `PASSWORD` takes it, between single quotes.
/// It is no secret: nobody can log in with it, nor find the password.
pub(super) fn verifier(password: &str) -> String {
    // RFC 5802: the first round hashes the salt and the number of the block, which is 1.
    let salted = hash(password.as_bytes(), &[SALT, &1_u32.to_be_bytes()].concat());
    let stored_key = Sha256::digest(hash(&salted, b"Client Key"));
    let server_key = hash(&salted, b"Server Key");
    format!(
        "SCRAM-SHA-256${ROUNDS}:{}${}:{}",
        STANDARD.encode(SALT),
        STANDARD.encode(stored_key),
        STANDARD.encode(server_key)
    )
}

fn hash(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut hash = Hmac::<Sha256>::new_from_slice(key).expect("any length will do for a key");
    hash.update(text);
    hash.finalize().into_bytes().to_vec()
}
