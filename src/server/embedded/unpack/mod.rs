//! Unpacking packages of server programs.

mod links;
mod tarball;
mod target;
mod wheel;

pub(super) use tarball::unpack_tarball;
pub(super) use wheel::unpack_wheel;
