//! What psql prints for what a server answers.

mod cell;
mod excerpt;
mod message;
mod render;
mod table;
mod width;
mod width_table;

pub use render::render;
pub(super) use render::render_with;
pub(crate) use width::of_text as display_width;
