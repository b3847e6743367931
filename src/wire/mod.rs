//! The scripted sessions' own PostgreSQL frontend.
