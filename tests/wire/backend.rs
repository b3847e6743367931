//! A server that says what a test tells it to say.

use lockstep::server::Address;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};

/// The fields of the error a server sends when it is shut down.
pub const FATAL_SHUTDOWN: &[u8] =
    b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";

/// Listens on a Unix socket in a folder of its own, or on a port of the loopback address.
pub enum Backend {
    Unix(TempDir, UnixListener),
    Tcp(TcpListener),
}

impl Backend {
    pub fn listen() -> Self {
        let directory = tempfile::tempdir().expect("a folder");
        let listener =
            UnixListener::bind(directory.path().join(".s.PGSQL.5432")).expect("a socket");
        Self::Unix(directory, listener)
    }

    pub async fn listen_tcp() -> Self {
        Self::Tcp(TcpListener::bind(("127.0.0.1", 0)).await.expect("a port"))
    }

    pub fn address(&self) -> Address {
        match self {
            Self::Unix(directory, _) => Address::Unix {
                directory: directory.path().to_owned(),
                port: 5432,
            },
            Self::Tcp(listener) => Address::Tcp {
                host: "127.0.0.1".to_owned(),
                port: listener.local_addr().expect("an address").port(),
            },
        }
    }

    pub async fn accept(&mut self) -> Client {
        let stream: Box<dyn Stream> = match self {
            Self::Unix(_, listener) => Box::new(listener.accept().await.expect("a client").0),
            Self::Tcp(listener) => Box::new(listener.accept().await.expect("a client").0),
        };
        Client { stream }
    }

    /// A client that has been let in without a password.
    pub async fn welcomed(&mut self) -> Client {
        let mut client = self.accept().await;
        client.startup().await;
        client.welcome().await;
        client
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// One connection, seen from the server.
pub struct Client {
    stream: Box<dyn Stream>,
}

impl Client {
    /// Reads the first message: its parameters, as `name=value name=value`.
    pub async fn startup(&mut self) -> String {
        let length = self.stream.read_u32().await.expect("a length");
        let version = self.stream.read_u32().await.expect("a version");
        assert_eq!(version, 3 << 16);
        let mut body = vec![0; length as usize - 8];
        self.stream.read_exact(&mut body).await.expect("parameters");
        let text = String::from_utf8(body).expect("UTF-8");
        let words: Vec<&str> = text.trim_end_matches('\0').split('\0').collect();
        let pairs: Vec<String> = words.chunks(2).map(|pair| pair.join("=")).collect();
        pairs.join(" ")
    }

    /// Lets the client in.
    pub async fn welcome(&mut self) {
        self.say(b'R', &[0; 4]).await;
        self.say(b'S', b"server_version\x0018.6\0").await;
        let key = [4711_i32.to_be_bytes(), 123_456_i32.to_be_bytes()].concat();
        self.say(b'K', &key).await;
        self.say(b'Z', b"I").await;
    }

    /// Sends a message.
    pub async fn say(&mut self, tag: u8, body: &[u8]) {
        assert!(self.try_say(tag, body).await, "the client is gone");
    }

    /// Sends a message, and says whether the client is still there.
    pub async fn try_say(&mut self, tag: u8, body: &[u8]) -> bool {
        let length = u32::try_from(body.len() + 4).expect("a short message");
        let message = [&[tag], &length.to_be_bytes()[..], body].concat();
        self.stream.write_all(&message).await.is_ok()
    }

    /// Sends bytes that need be no message.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.stream
            .write_all(bytes)
            .await
            .expect("the client is there");
    }

    /// Reads one message.
    pub async fn hear(&mut self) -> (u8, Vec<u8>) {
        let tag = self.stream.read_u8().await.expect("a tag");
        let length = self.stream.read_u32().await.expect("a length");
        (tag, self.rest_of(length as usize - 4).await)
    }

    /// Reads so many bytes.
    pub async fn rest_of(&mut self, length: usize) -> Vec<u8> {
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.expect("a body");
        body
    }

    /// Reads until the client goes.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).await.expect("an end");
        rest
    }
}
