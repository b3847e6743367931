//! Placeholder of report.
