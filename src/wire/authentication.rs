//! The ways to prove who one is: none, the password itself, its MD5, SCRAM-SHA-256.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::error::ConnectErrorKind;
use super::startup::Startup;

/// How far authentication has come.
pub(super) enum Authentication {
    /// The server has not asked for SCRAM, and may never.
    Open,
    /// In the middle of SCRAM, in which the server must prove itself, too.
    Scram(Box<ScramSha256>),
    /// Both sides have proved themselves.
    Proven,
    /// The server lets the client in.
    Done,
}

impl Authentication {
    /// Takes an authentication message, and gives what to answer, if anything.
    pub(super) fn step(
        &mut self,
        message: &Message,
        startup: &Startup,
    ) -> Result<Option<BytesMut>, ConnectErrorKind> {
        let password = startup.password.as_bytes();
        let mut answer = BytesMut::new();
        match (message, &mut *self) {
            (Message::AuthenticationOk, Self::Open | Self::Proven) => {
                *self = Self::Done;
                return Ok(None);
            }
            (Message::AuthenticationCleartextPassword, Self::Open) => {
                frontend::password_message(password, &mut answer)
                    .map_err(|_| ConnectErrorKind::NulByte)?;
            }
            (Message::AuthenticationMd5Password(body), Self::Open) => {
                let hash = md5_hash(startup.user.as_bytes(), password, body.salt());
                frontend::password_message(hash.as_bytes(), &mut answer)
                    .map_err(|_| ConnectErrorKind::NulByte)?;
            }
            (Message::AuthenticationSasl(body), Self::Open) => {
                require_scram(body)?;
                let scram = ScramSha256::new(password, ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut answer)
                    .map_err(ConnectErrorKind::Scram)?;
                *self = Self::Scram(Box::new(scram));
            }
            (Message::AuthenticationSaslContinue(body), Self::Scram(scram)) => {
                scram.update(body.data()).map_err(ConnectErrorKind::Scram)?;
                frontend::sasl_response(scram.message(), &mut answer)
                    .map_err(ConnectErrorKind::Scram)?;
            }
            (Message::AuthenticationSaslFinal(body), Self::Scram(scram)) => {
                scram.finish(body.data()).map_err(ConnectErrorKind::Scram)?;
                *self = Self::Proven;
                return Ok(None);
            }
            (Message::AuthenticationKerberosV5, _) => return Err(unsupported("Kerberos")),
            (Message::AuthenticationGss, _) => return Err(unsupported("GSSAPI")),
            (Message::AuthenticationSspi, _) => return Err(unsupported("SSPI")),
            (Message::AuthenticationScmCredential, _) => return Err(unsupported("SCM")),
            // Among them: being let in before the server has proved that it knows the password.
            _ => {
                return Err(ConnectErrorKind::Malformed(
                    "a message out of order during authentication".to_owned(),
                ));
            }
        }
        Ok(Some(answer))
    }
}

fn require_scram(body: &AuthenticationSaslBody) -> Result<(), ConnectErrorKind> {
    let offered: Vec<&str> = body
        .mechanisms()
        .collect()
        .map_err(ConnectErrorKind::Scram)?;
    if offered.contains(&SCRAM_SHA_256) {
        return Ok(());
    }
    Err(unsupported(&offered.join(", ")))
}

fn unsupported(method: &str) -> ConnectErrorKind {
    ConnectErrorKind::UnsupportedAuthentication(method.to_owned())
}
