//! Whether and how connections to a server are encrypted.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{
    WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{
    CertificateDer, InvalidDnsNameError, PrivateKeyDer, ServerName, UnixTime,
};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// Whether and how connections to a server are encrypted. Connections over Unix sockets never are.
#[derive(Clone, Default)]
pub struct Tls(Option<Arc<ClientConfig>>);

/// What is asked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Nothing: who can get between reads everything.
    Nothing,
    /// That an authority signed it that is trusted, for whatever host.
    Authority,
    /// That an authority signed it that is trusted, for this host.
    Full,
}

/// The files that encryption needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of the authorities to trust; `None` is those that the machine trusts.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate, with what its authority needs, and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Encryption could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of certificates or of a key cannot be read.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The machine trusts no authority.
    #[error("this machine has no certificates of authorities{0}")]
    NoAuthorities(String),
    /// Certificate and key do not fit together, or are of an unknown kind.
    #[error("the certificates cannot be used: {0}")]
    Unusable(String),
}

impl Tls {
    /// No encryption.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// Encryption that the server cannot decline.
    ///
    /// # Errors
    ///
    /// A file cannot be used, or there is no authority to trust.
    pub fn required(verification: Verification, files: &TlsFiles) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(verification, files, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &files.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(unusable)?,
        };
        Ok(Self(Some(Arc::new(config))))
    }

    /// Whether connections are encrypted.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// What encrypts connections to a host; `None` where they are not encrypted.
    pub(crate) fn to_host(&self, host: &str) -> Option<Result<TlsToHost, InvalidDnsNameError>> {
        let config = self.0.as_ref()?;
        Some(ServerName::try_from(host.to_owned()).map(|name| TlsToHost {
            connector: TlsConnector::from(Arc::clone(config)),
            name,
        }))
    }
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Tls {}

impl fmt::Debug for Tls {
    /// Leaves out the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_on() {
            "Tls(required)"
        } else {
            "Tls(off)"
        })
    }
}

/// What encrypts connections to one host.
pub(crate) struct TlsToHost {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsToHost {
    /// Shakes hands over a stream whose other side has agreed to.
    pub(crate) async fn encrypt<S>(self, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.connector.connect(self.name, stream).await
    }
}

/// Asks less of a certificate than what web browsers do.
#[derive(Debug)]
struct Lenient {
    /// `None`: nothing is asked.
    authorities: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _host: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(authorities) = &self.authorities {
            verify_server_cert_signed_by_trust_anchor(
                &ParsedCertificate::try_from(certificate)?,
                authorities,
                intermediates,
                now,
                self.provider.signature_verification_algorithms.all,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn verifier(
    verification: Verification,
    files: &TlsFiles,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    let lenient = |authorities| {
        Arc::new(Lenient {
            authorities,
            provider: Arc::clone(provider),
        })
    };
    Ok(match verification {
        Verification::Nothing => lenient(None),
        Verification::Authority => lenient(Some(authorities(files)?)),
        Verification::Full => WebPkiServerVerifier::builder_with_provider(
            Arc::new(authorities(files)?),
            Arc::clone(provider),
        )
        .build()
        .map_err(unusable)?,
    })
}

fn authorities(files: &TlsFiles) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    if let Some(path) = &files.authorities {
        for certificate in certificates(path)? {
            store.add(certificate).map_err(unreadable(path))?;
        }
        return Ok(store);
    }
    let found = rustls_native_certs::load_native_certs();
    // The machine may trust some that are too old to be read; others are enough.
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let why = found.errors.first();
        return Err(TlsError::NoAuthorities(
            why.map(|error| format!(": {error}")).unwrap_or_default(),
        ));
    }
    Ok(store)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(unreadable(path))?;
    if all.is_empty() {
        return Err(unreadable(path)("there is no certificate in it"));
    }
    Ok(all)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(unreadable(path))
}

fn unreadable<E: fmt::Display>(path: &Path) -> impl Fn(E) -> TlsError {
    move |cause| TlsError::File {
        path: path.to_owned(),
        cause: cause.to_string(),
    }
}

fn unusable(cause: impl fmt::Display) -> TlsError {
    TlsError::Unusable(cause.to_string())
}
