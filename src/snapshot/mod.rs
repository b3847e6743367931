//! Placeholder of snapshot.
