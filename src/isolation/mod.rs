//! PostgreSQL's isolation specs: the `.spec` format is read, played by isolationtester's rules, and
//! printed as isolationtester prints it.

mod convert;
mod discover;
mod environment;
mod expected;
mod names;
mod needs;
mod play;
mod print;
mod read;
mod refill;
mod run;
mod shared;
mod spec;
mod stage;
mod surroundings;
mod yaml;

pub use convert::convert;
pub use discover::{discover, is_spec};
pub use environment::EnvironmentError;
pub use expected::{Expected, ExpectedError, beside};
pub use needs::{Need, superuser_needs};
pub use play::{Figures, Played};
pub use print::{error_line, table};
pub use read::parse;
pub use run::{PlayOptions, RunError, SpecEnd, run, side_by_side};
pub use spec::{Spec, SpecSession, SpecStep};
