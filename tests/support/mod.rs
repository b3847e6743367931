//! A real server for tests: the pinned release of PostgreSQL 18, fetched once into the cache.

use std::path::PathBuf;

use lockstep::runner::{Fleet, Start};
use lockstep::server::embedded::{self, Environment};
use lockstep::server::{self, Endpoint, Pin, Pins, Release};

/// The machine as the test finds it.
#[allow(dead_code, reason = "each program of tests uses what it needs")]
pub fn environment() -> Environment {
    Environment {
        cache: None,
        xdg_cache_home: std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from),
        home: std::env::home_dir(),
        path: std::env::var_os("PATH").unwrap_or_default(),
        temp: std::env::temp_dir(),
        servers: None,
    }
}

fn pin() -> &'static Pin {
    Pins::built_in().major(18).expect("18 is pinned")
}

/// A fleet of one server, and its release.
#[allow(dead_code, reason = "each program of tests uses what it needs")]
pub fn fleet() -> (Fleet, Release) {
    let start: Box<Start> = Box::new(|_, _| {
        Box::pin(async {
            let report = |progress| eprintln!("{progress}");
            let server = embedded::start(pin(), &environment(), &report).await?;
            Ok(server::Server::Embedded(server))
        })
    });
    let release = pin().release;
    (Fleet::start(&[release], start), release)
}

/// A running server, which ends with the test.
#[allow(dead_code, reason = "each program of tests uses what it needs")]
pub struct Server {
    running: embedded::Server,
    programs: PathBuf,
}

#[allow(dead_code, reason = "each program of tests uses what it needs")]
impl Server {
    /// Starts one.
    pub async fn start() -> Self {
        let (environment, pin) = (environment(), pin());
        let report = |progress| eprintln!("{progress}");
        let programs = embedded::fetch(pin, &environment, &report)
            .await
            .unwrap_or_else(|error| panic!("failed to fetch a server: {error}"));
        let running = embedded::start(pin, &environment, &report)
            .await
            .unwrap_or_else(|error| panic!("failed to start a server: {error}"));
        Self { running, programs }
    }

    /// Its superuser.
    pub fn endpoint(&self) -> &Endpoint {
        self.running.endpoint()
    }

    /// The psql of the same release.
    pub fn psql(&self) -> PathBuf {
        self.programs.join("psql")
    }

    /// As the runner takes it.
    pub fn into_running(self) -> server::Server {
        server::Server::Embedded(self.running)
    }
}
