//! The roles of the servers that Lockstep starts itself.

/// Lockstep's own superuser.
pub(crate) const SUPERUSER: &str = "lockstep_admin";

/// The role of everything a scenario brings.
pub(crate) const SCRIPTED: &str = "lockstep";
