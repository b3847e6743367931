//! Looking for programs on the path.

use std::ffi::OsString;
use std::path::PathBuf;

use super::environment::Environment;

impl Environment {
    /// The programs named `name` on the path, in its order.
    pub(super) fn programs<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        self.search_folders()
            .map(move |folder| folder.join(name))
            .filter(|program| program.is_file())
    }

    /// A `PATH` for what runs in another folder than the caller's, with the system's own programs
    /// at its end.
    pub(super) fn search_path(&self) -> OsString {
        let system = ["/usr/bin", "/bin"].map(PathBuf::from);
        std::env::join_paths(self.search_folders().chain(system))
            .expect("what was split can be joined")
    }

    fn search_folders(&self) -> impl Iterator<Item = PathBuf> {
        std::env::split_paths(&self.path).filter(|folder| folder.is_absolute())
    }
}
