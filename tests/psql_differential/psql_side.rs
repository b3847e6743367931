//! Running the real psql.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use lockstep::server::Address;

use crate::support::Server;

/// What psql prints for its input, standard output and standard error as they come.
///
/// Both are the same pipe, and psql flushes the one before it writes to the other, so nothing
/// changes its place.
pub fn run(server: &Server, database: &str, input: &str) -> String {
    let (host, port) = match &server.endpoint().address {
        Address::Unix { directory, port } => (directory.display().to_string(), port),
        Address::Tcp { host, port } => (host.clone(), port),
    };
    let (mut output, writer) = std::io::pipe().expect("a pipe can be made");
    let mut psql = Command::new(server.psql())
        .arg("-X")
        .args(["-h", &host])
        .args(["-p", &port.to_string()])
        .args(["-U", &server.endpoint().user])
        .args(["-d", database])
        .env("PGPASSWORD", &server.endpoint().password)
        .env("PGCLIENTENCODING", "UTF8")
        .env("LC_ALL", "C")
        .env_remove("PGOPTIONS")
        .stdin(Stdio::piped())
        .stderr(writer.try_clone().expect("a pipe can be shared"))
        .stdout(writer)
        .spawn()
        .expect("psql can be started");
    let mut stdin = psql.stdin.take().expect("its standard input is a pipe");
    let input = input.to_owned();
    let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let mut text = Vec::new();
    output
        .read_to_end(&mut text)
        .expect("what psql prints can be read");
    feeder
        .join()
        .expect("the feeder does not panic")
        .expect("psql reads all its input");
    let status = psql.wait().expect("psql ends");
    assert!(status.success(), "psql ends with {status}");
    String::from_utf8(text).expect("psql prints UTF-8")
}
