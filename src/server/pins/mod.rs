//! The table of pinned releases.

mod check;
mod overrides;
mod table;

pub use overrides::{PINS_FILE, PinsError};
pub use table::{Client, Image, Package, PackageFile, Pin, Pins, this_platform};
