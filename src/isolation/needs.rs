//! What a spec needs that only a superuser has, as far as its text tells.

use std::sync::LazyLock;

use regex::Regex;

use super::spec::Spec;
use crate::scenario::{SUPERUSER_SETTINGS, Span};

/// Something in a spec that only a superuser may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Where it stands.
    pub span: Span,
    /// What it is, as the spec writes it.
    pub what: String,
}

/// Words that a role refuses which owns its database and no more. What hides in functions or in
/// text that is put together at run time is not found; the server refuses it then.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(?: (?:create|alter|drop) \s+ (?:role|user|group|database|tablespace|subscription
                |event \s+ trigger|access \s+ method)
            | alter \s+ system
            | create \s+ extension
            | create \s+ publication \s+ \w+ \s+ for \s+ (?:all \s+ tables|tables \s+ in)
            | set \s+ (?:session \s+ authorization
                | (?:session \s+ | local \s+)? (?: log_\w+|track_\w+
                    |session_replication_role|lc_messages|zero_damaged_pages|ignore_\w+
                    |allow_\w+))
            | copy \s+ [^;]*? \s (?:from|to) \s+ (?:program\b | e?'[^']*')
            | pg_(?:read_file|read_binary_file|ls_dir|stat_file|reload_conf|rotate_logfile
                |switch_wal|promote|create_restore_point|backup_start|backup_stop
                |create_physical_replication_slot|create_logical_replication_slot
                |logical_\w+|drop_replication_slot|stat_reset\w*)
            | (?:update|insert \s+ into|delete \s+ from|merge \s+ into) \s+ (?:pg_catalog\.)? pg_\w+
            | injection_points_\w+
            | language \s+ (?:c|internal)
        )\b",
    )
    .expect("the words are a regular expression")
});

/// What a spec needs that only a superuser has, in the order of the file. The harmless settings among
/// it are granted to everybody.
#[must_use]
pub fn superuser_needs(spec: &Spec) -> Vec<Need> {
    let mut needs: Vec<Need> = spec
        .all_sql()
        .flat_map(|sql| {
            // The value of a block is cut at its ends; its place is not.
            let text = &spec.source.text[sql.span.start..sql.span.end];
            let is_granted = |words: &str| {
                let name = words.split_whitespace().last().unwrap_or_default();
                SUPERUSER_SETTINGS.contains(&name.to_ascii_lowercase().as_str())
            };
            let found = WORDS.find_iter(text);
            found
                .filter(move |found| !is_granted(found.as_str()))
                .map(|found| Need {
                    span: Span {
                        start: sql.span.start + found.start(),
                        end: sql.span.start + found.end(),
                    },
                    what: found
                        .as_str()
                        .split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" "),
                })
        })
        .collect();
    needs.sort_by_key(|need| need.span);
    needs
}
