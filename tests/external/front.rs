//! What stands before a server of the tests: a TCP port, encrypted or not.
//!
//! The embedded servers listen on a Unix socket only, and are built without TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstep::server::{Address, Endpoint};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A port on the loopback address, which ends with the test.
pub struct Front {
    pub port: u16,
    accepting: JoinHandle<()>,
}

impl Front {
    /// One that, as poolers do, gives each session another process id than its backend's.
    pub async fn pooling(server: &Endpoint) -> Self {
        let socket = socket(server);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(rename(client, socket.clone()));
            }
        });
        Self { port, accepting }
    }

    /// With a certificate of `tests/data/tls`; without one it does not encrypt.
    pub async fn open(server: &Endpoint, certificate: Option<&str>) -> Self {
        let socket = socket(server);
        let acceptor = certificate.map(acceptor);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, acceptor.clone(), socket.clone()));
            }
        });
        Self { port, accepting }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn socket(server: &Endpoint) -> PathBuf {
    let Address::Unix { directory, port } = &server.address else {
        panic!("an embedded server listens on a Unix socket");
    };
    directory.join(format!(".s.PGSQL.{port}"))
}

/// Forwards, with another process id in the message that tells it.
async fn rename(client: TcpStream, socket: PathBuf) {
    let Ok(server) = UnixStream::connect(socket).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let there = tokio::io::copy(&mut from_client, &mut to_server);
    let back = async {
        let mut said = Vec::new();
        while from_server.read_buf(&mut said).await.is_ok_and(|n| n > 0) {
            let header = b"K\0\0\0\x0c";
            if let Some(at) = said.windows(9).position(|bytes| bytes.starts_with(header)) {
                said[at + 8] ^= 1;
            }
            if to_client.write_all(&said).await.is_err() {
                return;
            }
            said.clear();
        }
    };
    tokio::select! {
        _ = there => {}
        () = back => {}
    }
}

async fn serve(mut stream: TcpStream, acceptor: Option<TlsAcceptor>, socket: PathBuf) {
    let mut first = [0; 8];
    if stream.read_exact(&mut first).await.is_err() {
        return;
    }
    if first != SSL_REQUEST {
        // Plain connections are let through only where nothing is encrypted.
        if acceptor.is_none() {
            forward(stream, &first, &socket).await;
        }
        return;
    }
    let Some(acceptor) = acceptor else {
        let _ = stream.write_all(b"N").await;
        return;
    };
    if stream.write_all(b"S").await.is_ok()
        && let Ok(stream) = acceptor.accept(stream).await
    {
        forward(stream, &[], &socket).await;
    }
}

async fn forward(mut client: impl AsyncRead + AsyncWrite + Unpin, first: &[u8], socket: &Path) {
    let Ok(mut server) = UnixStream::connect(socket).await else {
        return;
    };
    if server.write_all(first).await.is_ok() {
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

/// A file of `tests/data/tls`.
pub fn tls_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/tls")
        .join(name)
}

fn acceptor(certificate: &str) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(tls_file(certificate))
        .and_then(Iterator::collect)
        .expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(tls_file("server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .expect("they fit");
    TlsAcceptor::from(Arc::new(config))
}
