//! Cases with a server of their own, played on real servers.

#![cfg(unix)]

mod support;

use std::time::Duration;

use lockstep::runner::{self, Outcome, Trouble};
use lockstep::scenario::{self, RenderStyle, Scenario, SourceFile};
use lockstep::server::{Release, Server};

/// The release that the servers here are of.
const RELEASE: Release = Release {
    major: 18,
    minor: 6,
};

async fn start() -> Server {
    support::Server::start().await.into_running()
}

async fn replay(scenario: &Scenario, server: &Server) -> Outcome {
    runner::replay(scenario, server, Duration::from_secs(30)).await
}

fn parse(yaml: &str) -> Scenario {
    let source = SourceFile {
        path: "own.yaml".into(),
        text: yaml.into(),
    };
    scenario::parse(&source)
        .unwrap_or_else(|mistakes| panic!("{}", scenario::render(&mistakes, RenderStyle::plain())))
        .remove(0)
}

#[tokio::test]
async fn files_that_ask_for_a_server_are_played_on_one() {
    let server = start().await;
    for path in scenario::discover(&["tests/data/own-server"]).expect("the folder is there") {
        let scenario = scenario::load(&path).expect("it is right").remove(0);
        let outcome = replay(&scenario, &server).await;
        assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
        let unmet = runner::expect::unmet_in(&scenario, &outcome.transcript, RELEASE);
        assert!(
            unmet.is_empty(),
            "{}",
            scenario::render(&unmet, RenderStyle::plain())
        );
        let name = path
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy();
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "data/own-server", omit_expression => true }, {
            insta::assert_snapshot!(&*name, outcome.transcript.text().as_str());
        });
    }
    // Nothing of it has reached the server that others use.
    let others = parse(
        "title: T\nsessions: [A]\nsteps:\n  - A: SELECT rolname FROM pg_roles WHERE rolname IN ('ann', 'bob');\n    expect: { empty: true }\n  - A: SHOW synchronous_standby_names;\n    expect: { rows: [['']] }\n",
    );
    let outcome = replay(&others, &server).await;
    assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
    assert!(runner::expect::unmet_in(&others, &outcome.transcript, RELEASE).is_empty());
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_role_with_a_server_of_its_own_still_cannot_leave_it() {
    let server = start().await;
    let statements = [
        "COPY (SELECT 1) TO PROGRAM 'true';",
        "SELECT pg_read_file('/etc/passwd');",
        "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/libc.so.6', 'getpid';",
        "CREATE ROLE boss SUPERUSER;",
        "CREATE ROLE copier REPLICATION;",
        "CREATE ROLE ghost BYPASSRLS;",
        "CREATE ROLE r IN ROLE pg_execute_server_program;",
        "GRANT pg_execute_server_program TO CURRENT_USER;",
        "GRANT pg_read_server_files TO CURRENT_USER;",
        "GRANT pg_write_server_files TO CURRENT_USER;",
        "GRANT lockstep_admin TO CURRENT_USER;",
        "ALTER ROLE lockstep_admin PASSWORD 'x';",
        "ALTER ROLE CURRENT_USER SUPERUSER;",
        "ALTER ROLE CURRENT_USER REPLICATION;",
        "SET ROLE lockstep_admin;",
        "DO $$ BEGIN EXECUTE 'ALTER ROLE ALL SET archive_command = ''true'''; END $$;",
        "CREATE SUBSCRIPTION s CONNECTION 'host=localhost' PUBLICATION p WITH (connect = false);",
        "SELECT pg_reload_conf();",
    ];
    let steps: String = statements
        .iter()
        .map(|sql| format!("  - A: |\n      {sql}\n    expect: {{ error: \"42501\" }}\n"))
        .collect();
    let scenario = parse(&format!(
        "title: T\nserver: own\nsessions: [A]\nsteps:\n{steps}"
    ));
    let outcome = replay(&scenario, &server).await;
    assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
    let unmet = runner::expect::unmet_in(&scenario, &outcome.transcript, RELEASE);
    assert!(
        unmet.is_empty(),
        "{}",
        scenario::render(&unmet, RenderStyle::plain())
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_setting_that_the_server_does_not_take_is_shown_in_the_file() {
    let server = start().await;
    let scenario = parse(
        "title: T\nserver:\n  own: true\n  settings:\n    autovacuum: 'on'\n    max_prepared_transactions: many\nsessions: [A]\nsteps:\n  - A: BEGIN;\n",
    );
    let Some(Trouble::Invalid(diagnostic)) = replay(&scenario, &server).await.trouble else {
        panic!("the value is wrong");
    };
    let drawn = scenario::render(&[diagnostic], RenderStyle::plain());
    insta::assert_snapshot!(drawn, @r#"
    error: invalid value for parameter "max_prepared_transactions": "many"
     --> own.yaml:6:5
      |
    6 |     max_prepared_transactions: many
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^ the server does not start with this
    "#);
    server.stop().await.unwrap();
}
