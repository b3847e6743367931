//! SQL that reaches beyond the database of its case.

use super::super::model::Scenario;
use super::super::sql::{ClusterWide, cluster_wide, split};
use super::mistakes::{Mistake, Mistakes};
use super::sql;

/// Reports statements that change what the whole server shares, where that is not the case's own
/// to change: other cases run on the same server.
pub(super) fn check(mistakes: &mut Mistakes, scenario: &Scenario, has_server: bool) {
    for text in scenario.all_sql() {
        // What cannot be split was reported.
        for statement in split(&text.text).unwrap_or_default() {
            let Some((range, what)) = cluster_wide(&statement.text) else {
                continue;
            };
            if has_server && scenario.superuser.is_some() {
                continue;
            }
            let Some((message, help)) = refusal(what, has_server) else {
                continue;
            };
            let place = sql::statement_place(mistakes, text, &statement, range);
            mistakes.report(
                Mistake::new(place, message)
                    .label("beyond the database of the case")
                    .help(help),
            );
        }
    }
}

const fn refusal(what: ClusterWide, has_server: bool) -> Option<(&'static str, &'static str)> {
    match what {
        ClusterWide::System => Some((
            "a scenario cannot change the configuration of its server while it runs",
            "start the case's own server with it: `server: { own: true, settings: { max_prepared_transactions: 10 } }`",
        )),
        ClusterWide::Tablespace => Some((
            "a tablespace is a folder on the machine, which a scenario cannot reach",
            "leave it out: a database needs none",
        )),
        ClusterWide::Role if !has_server => Some((
            "roles belong to the whole server, which other cases use too",
            "give the case a server of its own: write `server: own` at the top of the file",
        )),
        ClusterWide::Database if !has_server => Some((
            "databases belong to the whole server, which other cases use too",
            "give the case a server of its own: write `server: own` at the top of the file",
        )),
        ClusterWide::Role | ClusterWide::Database => None,
    }
}
