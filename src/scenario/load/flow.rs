//! What has to hold from step to step: who is connected, what is prepared, which streams are open.

use std::collections::HashMap;

use super::super::model::{Action, Expectation, Reply, Sending, SessionIndex};
use super::super::source::{Span, Spanned, SqlText};
use super::super::sql as lexical;
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::sessions::Sessions;
use super::steps::{Placed, Steps};
use super::values;

/// Reports steps that cannot be played after those before them.
pub(super) fn check(mistakes: &mut Mistakes, steps: &Steps, sessions: &Sessions) {
    // Connections may end by themselves where somebody has said so.
    let text = mistakes.source().text.to_lowercase();
    let may_end = ENDING.iter().any(|word| text.contains(word));
    let mut flow = Flow {
        mistakes,
        sessions,
        may_end,
        connections: sessions.setups().map(Connection::new).collect(),
    };
    for placed in steps.placed() {
        flow.step(placed);
    }
    flow.refuse_open_streams();
}

/// Words of what ends connections without a step that does.
const ENDING: [&str; 5] = [
    "pg_terminate_backend",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "transaction_timeout",
    "drop database",
];

/// SQLSTATEs of errors after which the server closes the connection.
const FATAL: [&str; 6] = ["25P03", "25P04", "57P01", "57P02", "57P04", "57P05"];

/// The connection of a session, as far as the file tells.
struct Connection {
    state: State,
    prepared: HashMap<String, Prepared>,
    stream: Stream,
}

enum State {
    Open,
    /// Gone, since this place, for this reason.
    Lost(Span, &'static str),
    /// Perhaps it is open, perhaps the server has closed it.
    Doubtful,
}

/// A prepared statement; how many parameters it has, and where that is seen.
struct Prepared {
    parameters: Option<usize>,
    place: Option<Span>,
}

enum Stream {
    Closed,
    /// Since the step with this value.
    Open(Span),
    /// An error may have ended it.
    Doubtful,
}

impl Connection {
    fn new(setup: Option<&SqlText>) -> Self {
        let mut connection = Self {
            state: State::Open,
            prepared: HashMap::new(),
            stream: Stream::Closed,
        };
        if let Some(sql) = setup {
            connection.prepare_in(sql);
        }
        connection
    }

    /// Notes what `PREPARE` prepares: it is there for the extended protocol, too.
    fn prepare_in(&mut self, sql: &SqlText) {
        for statement in lexical::split(&sql.text).unwrap_or_default() {
            if let Some(name) = lexical::prepared_name(&statement.text) {
                let prepared = Prepared {
                    parameters: None,
                    place: None,
                };
                self.prepared.insert(name, prepared);
            }
        }
    }

    const fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost(..))
    }
}

struct Flow<'a> {
    mistakes: &'a mut Mistakes,
    sessions: &'a Sessions,
    /// Whether a connection may end without a step that ends it.
    may_end: bool,
    connections: Vec<Connection>,
}

impl Flow<'_> {
    fn connection(&mut self, session: SessionIndex) -> &mut Connection {
        &mut self.connections[session.0]
    }

    fn step(&mut self, placed: &Placed) {
        match &placed.step.action {
            Action::Say(_) | Action::Check(_) | Action::Advance { .. } | Action::Sleep(_) => {}
            Action::Send {
                session,
                sending,
                reply,
            } => self.send(placed, *session, sending, *reply),
            Action::WaitFor(session) => {
                self.refuse_lost(*session, placed.value, "nothing of it can end");
            }
            Action::WaitForClose(session) => {
                let connection = self.connection(*session);
                if !connection.is_lost() {
                    connection.state = State::Doubtful;
                }
                connection.stream = Stream::Closed;
            }
            Action::Disconnect(session) => {
                self.refuse_lost(*session, placed.value, "there is nothing to lose");
                self.lose(*session, placed.key, "it was disconnected here");
            }
            Action::Connect(session) => self.connect(*session, placed),
            Action::Cancel(session) => {
                self.refuse_lost(*session, placed.value, "nobody is there to cancel");
                self.doubt(*session);
            }
            Action::Terminate(session) => {
                self.doubt(*session);
                let connection = self.connection(*session);
                if !connection.is_lost() {
                    connection.state = State::Doubtful;
                }
            }
            Action::Restart(_) => {
                for session in 0..self.connections.len() {
                    self.doubt(SessionIndex(session));
                    let connection = &mut self.connections[session];
                    if !connection.is_lost() {
                        connection.state = State::Doubtful;
                    }
                }
            }
        }
    }

    fn lose(&mut self, session: SessionIndex, place: Span, why: &'static str) {
        let connection = self.connection(session);
        connection.state = State::Lost(place, why);
        connection.stream = Stream::Closed;
    }

    /// An open stream may be over.
    fn doubt(&mut self, session: SessionIndex) {
        let connection = self.connection(session);
        if matches!(connection.stream, Stream::Open(_)) {
            connection.stream = Stream::Doubtful;
        }
    }

    /// Reports a step of a session that has no connection, and says whether it is so.
    fn refuse_lost(&mut self, session: SessionIndex, place: Span, label: &str) -> bool {
        let State::Lost(since, why) = self.connections[session.0].state else {
            return false;
        };
        let name = self.sessions.name(session);
        self.mistakes.report(
            Mistake::new(
                values::first_line(self.mistakes, place),
                format!("the session `{name}` has no connection"),
            )
            .label(label)
            .related(since, why)
            .help(format!("give it a new one before: `- connect: {name}`")),
        );
        true
    }

    fn connect(&mut self, session: SessionIndex, placed: &Placed) {
        if matches!(self.connections[session.0].state, State::Open) && !self.may_end {
            let name = self.sessions.name(session);
            self.mistakes.report(
                Mistake::new(
                    placed.value,
                    format!("the session `{name}` is connected already"),
                )
                .label("nothing has ended its connection")
                .help(format!(
                    "take the step out, or let the connection go before: `- disconnect: {name}`"
                )),
            );
        }
        let setup = self.sessions.setups().nth(session.0).flatten();
        self.connections[session.0] = Connection::new(setup);
    }

    fn send(&mut self, placed: &Placed, session: SessionIndex, sending: &Sending, reply: Reply) {
        if self.refuse_lost(session, placed.key, "it cannot send anything") {
            return;
        }
        self.stream(placed, session, sending);
        match sending {
            Sending::Prepare { name, sql } => {
                let parameters = lexical::highest_parameter(&sql.text);
                let prepared = Prepared {
                    parameters: Some(parameters.map_or(0, |(number, _)| number)),
                    place: Some(name.span),
                };
                let name = name.value.clone();
                self.connection(session).prepared.insert(name, prepared);
            }
            Sending::Execute { name, params } => {
                self.refuse_unprepared(session, name, params.len(), placed);
            }
            _ => {
                for sql in sending.sql() {
                    self.connection(session).prepare_in(sql);
                }
            }
        }
        match reply {
            Reply::Lost => self.lose(session, placed.key, "it was lost with the answer to this"),
            Reply::Unsent => self.lose(session, placed.key, "it was lost before this was sent"),
            Reply::Awaited | Reply::Later => {
                if errors(&placed.step.expect).any(|code| FATAL.contains(&code)) {
                    self.connection(session).state = State::Doubtful;
                }
            }
        }
    }

    /// Holds what is sent against the stream of a COPY that is open or not.
    fn stream(&mut self, placed: &Placed, session: SessionIndex, sending: &Sending) {
        let goes_on = matches!(sending, Sending::Copy { sql: None, .. });
        let name = self.sessions.name(session);
        let stays_open = matches!(sending, Sending::Copy { more: true, .. });
        let mistake = match self.connections[session.0].stream {
            Stream::Open(since) if !goes_on => Some(
                Mistake::new(
                    placed.key,
                    format!("a COPY of `{name}` still waits for data"),
                )
                .label("this is something else")
                .related(
                    values::first_line(self.mistakes, since),
                    "`more` left the stream open",
                )
                .help(format!(
                    "end it before, with data or without: `- {name}: {{ data: \"\" }}`"
                )),
            ),
            Stream::Closed if goes_on => Some(
                Mistake::new(
                    values::first_line(self.mistakes, placed.value),
                    "data without a COPY that reads it",
                )
                .label(format!("no COPY of `{name}` is open here"))
                .help(format!(
                    "begin one: `- {name}: {{ sql: COPY … FROM STDIN, data: …, more: true }}`"
                )),
            ),
            _ => None,
        };
        if let Some(mistake) = mistake {
            self.mistakes.report(mistake);
        }
        let may_fail = errors(&placed.step.expect).next().is_some();
        self.connection(session).stream = match (stays_open, may_fail) {
            (true, true) => Stream::Doubtful,
            (true, false) => Stream::Open(placed.value),
            (false, _) => Stream::Closed,
        };
    }

    fn refuse_unprepared(
        &mut self,
        session: SessionIndex,
        name: &Spanned<String>,
        values: usize,
        placed: &Placed,
    ) {
        let connection = &self.connections[session.0];
        let who = self.sessions.name(session);
        let mistake = match connection.prepared.get(&name.value) {
            None => {
                let known = connection.prepared.keys().map(String::as_str);
                let help = names::closest(self.mistakes, &name.value, known).map_or_else(
                    || {
                        format!(
                            "prepare it before: `- {who}: {{ prepare: {}, sql: … }}`",
                            name.value
                        )
                    },
                    |meant| format!("did you mean `{meant}`?"),
                );
                Mistake::new(
                    name.span,
                    format!(
                        "`{who}` has prepared no `{}` in this connection",
                        name.value
                    ),
                )
                .label("nothing to execute")
                .help(help)
            }
            Some(Prepared {
                parameters: Some(parameters),
                place,
            }) if *parameters != values => {
                let mistake = Mistake::new(
                    values::first_line(self.mistakes, placed.value),
                    format!(
                        "`{}` has {}, and is given {}",
                        name.value,
                        values::counted(*parameters, "parameter"),
                        values::counted(values, "value")
                    ),
                )
                .label(values::counted(values, "value"))
                .help("give each of `$1`, `$2`, … one value: `params: [1, null]`");
                match place {
                    Some(place) => mistake.related(*place, "prepared here"),
                    None => mistake,
                }
            }
            Some(_) => return,
        };
        self.mistakes.report(mistake);
    }

    fn refuse_open_streams(&mut self) {
        for (session, connection) in self.connections.iter().enumerate() {
            let Stream::Open(since) = connection.stream else {
                continue;
            };
            let name = self.sessions.name(SessionIndex(session));
            self.mistakes.report(
                Mistake::new(
                    values::first_line(self.mistakes, since),
                    "a COPY that is never ended",
                )
                .label("`more` leaves the stream open")
                .help(format!(
                    "take `more` out, or end it: `- {name}: {{ data: \"\" }}`"
                )),
            );
        }
    }
}

/// The SQLSTATEs that a step may end with; an error without one counts as an empty code.
fn errors(expect: &[Expectation]) -> impl Iterator<Item = &str> {
    expect
        .iter()
        .flat_map(|expectation| &expectation.outcomes)
        .filter_map(|outcome| outcome.error.as_ref())
        .map(|error| error.code.as_deref().unwrap_or_default())
}
