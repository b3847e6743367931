//! Steps in which the runner acts, and no session.

use super::super::model::{Action, SessionIndex, Shutdown};
use super::clock::Clock;
use super::duration;
use super::mistakes::Mistake;
use super::node::{Entry, Kind, Node};
use super::steps::Reader;
use super::values::{self, Fields, Keys};

/// Keys that say what happens, apart from the names of sessions.
pub(super) const ACTING: &[&str] = &[
    "say",
    "check",
    "wait_for",
    "advance",
    "sleep",
    "disconnect",
    "connect",
    "cancel",
    "terminate",
    "restart",
    "crash",
];

const WAIT_KEYS: Keys = Keys {
    of: "`wait_for`",
    known: &["closed"],
    later: &[],
};

const ADVANCE: &str =
    "write how far the clock moves: `advance: 61s`; the units are `ms`, `s`, `min`, `h` and `d`";

impl Reader<'_> {
    /// What a step does whose first key is one of [`ACTING`].
    pub(super) fn act(&mut self, first: &Entry) -> Option<Action> {
        let value = &*first.value;
        match first.key.as_str() {
            "say" => values::text(self.mistakes, value, "prose", "write Markdown").map(Action::Say),
            "check" => self.check(value).map(Action::Check),
            "wait_for" => self.wait_for(value),
            "advance" => self.advance(first),
            "sleep" => duration::read(self.mistakes, value).map(Action::Sleep),
            "disconnect" => self.session(first).map(Action::Disconnect),
            "connect" => self.session(first).map(Action::Connect),
            "cancel" => self.session(first).map(Action::Cancel),
            "terminate" => self.session(first).map(Action::Terminate),
            "restart" => {
                self.stops_server(first);
                self.restart(value)
            }
            "crash" => {
                self.stops_server(first);
                self.crash(value)
            }
            _ => None,
        }
    }

    fn session(&mut self, entry: &Entry) -> Option<SessionIndex> {
        let help = format!("name the session: `{}: A`", entry.key);
        self.named_session(&entry.value, &help)
    }

    fn named_session(&mut self, node: &Node, help: &str) -> Option<SessionIndex> {
        let name = values::text(self.mistakes, node, "the name of a session", help)?;
        self.sessions.find(self.mistakes, &name, node.span)
    }

    fn wait_for(&mut self, node: &Node) -> Option<Action> {
        let help = "name the session whose statement must end, `wait_for: A`, or whose connection the server must close, `wait_for: { closed: A }`";
        if !matches!(node.kind, Kind::Mapping(_)) {
            return self.named_session(node, help).map(Action::WaitFor);
        }
        let fields = Fields::of(self.mistakes, node, "the name of a session", help)?;
        fields.refuse_others(self.mistakes, &WAIT_KEYS);
        let closed = fields.require(self.mistakes, "closed", &WAIT_KEYS, help)?;
        self.named_session(closed, "name the session: `wait_for: { closed: A }`")
            .map(Action::WaitForClose)
    }

    fn advance(&mut self, entry: &Entry) -> Option<Action> {
        let by = duration::read_any(self.mistakes, &entry.value, ADVANCE);
        let now = match self.clock {
            Clock::At(now) => now,
            Clock::Unknown => return None,
            Clock::Real => {
                self.mistakes.report(
                    Mistake::new(
                        entry.key_span,
                        "`advance` moves the virtual clock, and this scenario lives in real time",
                    )
                    .label("there is no clock to move")
                    .help("say at the top of the file where the clock stands, `clock: \"2026-01-01 09:00:00+00\"`, or let real time pass with `sleep:`"),
                );
                return None;
            }
        };
        let Some(by) = by else {
            self.clock = Clock::Unknown;
            return None;
        };
        let Some(to) = now.checked_add(by) else {
            self.mistakes.report(
                Mistake::new(entry.value.span, "the clock ends with the year 9999")
                    .label(format!("it stands at {now} before this step"))
                    .help("advance it by less"),
            );
            self.clock = Clock::Unknown;
            return None;
        };
        self.clock = Clock::At(to);
        Some(Action::Advance { by, to })
    }

    fn stops_server(&mut self, first: &Entry) {
        self.steps.stops_server.get_or_insert(first.key_span);
    }

    fn restart(&mut self, node: &Node) -> Option<Action> {
        let help =
            "write `restart: fast`; with `crash: true` the server stops as when the power fails";
        let how = values::text(self.mistakes, node, "`fast`", help)?;
        if how == "fast" {
            return Some(Action::Restart(Shutdown::Fast));
        }
        let mistake = Mistake::new(
            node.span,
            format!("the server cannot be restarted `{}`", values::shown(&how)),
        );
        self.mistakes.report(match how.as_str() {
            "immediate" => mistake.label("this is a crash").help("write `crash: true`"),
            "smart" => mistake
                .label("the sessions, which stay connected, would be waited for")
                .help("write `restart: fast`"),
            _ => mistake.label("not a way to stop a server").help(help),
        });
        None
    }

    fn crash(&mut self, node: &Node) -> Option<Action> {
        let crashes = values::boolean(self.mistakes, node)?;
        if !crashes.value {
            self.mistakes.report(
                Mistake::new(node.span, "a step in which nothing happens")
                    .label("no crash")
                    .help("write `crash: true`, or take the step out"),
            );
            return None;
        }
        Some(Action::Restart(Shutdown::Immediate))
    }
}
