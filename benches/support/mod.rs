//! The machine as programs beside the library find it.

use lockstep::server::embedded::Environment;

/// What the embedded provider has to know, from the variables that the command line reads, too.
pub fn environment() -> Environment {
    Environment {
        cache: std::env::var_os("LOCKSTEP_CACHE").map(Into::into),
        xdg_cache_home: std::env::var_os("XDG_CACHE_HOME").map(Into::into),
        home: std::env::home_dir(),
        path: std::env::var_os("PATH").unwrap_or_default(),
        temp: std::env::temp_dir(),
        servers: None,
    }
}
