//! The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), just enough to be talked to.

use sha2::{Digest, Sha256};

use crate::backend::Client;

const SALT: &[u8] = b"sixteen bytes ok";
const ITERATIONS: u32 = 64;

/// Goes through the exchange and lets the client in. Panics when the client does not prove that it
/// knows `password`; proves itself with `own_password`.
pub async fn authenticate(client: &mut Client, password: &str, own_password: &str) {
    client
        .say(b'R', b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")
        .await;
    let (_, initial) = client.hear().await;
    let name = b"SCRAM-SHA-256\0";
    assert!(
        initial.starts_with(name),
        "the mechanism without channel binding"
    );
    let first = std::str::from_utf8(&initial[name.len() + 4..]).expect("UTF-8");
    let first_bare = first.strip_prefix("n,,").expect("no channel binding");
    let client_nonce = first_bare.rsplit_once("r=").expect("a nonce").1;

    let nonce = format!("{client_nonce}and-the-server");
    let challenge = format!("r={nonce},s={},i={ITERATIONS}", base64(SALT));
    say(client, 11, &challenge).await;

    let (_, last) = client.hear().await;
    let last = String::from_utf8(last).expect("UTF-8");
    let (last_bare, proof) = last.split_once(",p=").expect("a proof");
    assert_eq!(last_bare, format!("c=biws,r={nonce}"));
    let signed = format!("{first_bare},{challenge},{last_bare}");

    let client_key = hmac(&salted(password), b"Client Key");
    let signature = hmac(&Sha256::digest(client_key), signed.as_bytes());
    let expected: Vec<u8> = client_key
        .iter()
        .zip(signature)
        .map(|(key, bit)| key ^ bit)
        .collect();
    assert_eq!(proof, base64(&expected), "the client knows the password");

    let server_key = hmac(&salted(own_password), b"Server Key");
    let own_proof = base64(&hmac(&server_key, signed.as_bytes()));
    say(client, 12, &format!("v={own_proof}")).await;
    // A client that does not believe the proof hangs up.
    let ready = [
        &b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c"[..],
        &[0; 8],
        b"Z\0\0\0\x05I",
    ]
    .concat();
    client.write(&ready).await;
}

async fn say(client: &mut Client, kind: u32, text: &str) {
    let body = [&kind.to_be_bytes()[..], text.as_bytes()].concat();
    client.say(b'R', &body).await;
}

/// PBKDF2 with HMAC-SHA-256, one block.
fn salted(password: &str) -> [u8; 32] {
    let mut block = hmac(password.as_bytes(), &[SALT, &[0, 0, 0, 1]].concat());
    let mut sum = block;
    for _ in 1..ITERATIONS {
        block = hmac(password.as_bytes(), &block);
        for (sum, byte) in sum.iter_mut().zip(block) {
            *sum ^= byte;
        }
    }
    sum
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut padded = [0; 64];
    padded[..key.len()].copy_from_slice(key);
    let inner = Sha256::digest([&padded.map(|byte| byte ^ 0x36)[..], text].concat());
    Sha256::digest([&padded.map(|byte| byte ^ 0x5c)[..], &inner].concat()).into()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            text.push(if digit <= chunk.len() {
                char::from(ALPHABET[group >> (18 - 6 * digit) & 63])
            } else {
                '='
            });
        }
    }
    text
}
