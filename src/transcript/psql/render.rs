//! The order in which psql prints the answers to a statement.

use super::{message, table};
use crate::transcript::answer::{Answer, Notification};

/// Commands whose tag psql prints below the rows they return.
const TAG_BELOW_ROWS: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];

/// The text psql 18 prints for the answers to one statement, each line ended by a newline.
///
/// It is what psql with its default settings writes to a terminal, byte for byte: aligned tables,
/// each with the empty line that follows it, command tags, errors and notices with the place in the
/// statement, the data of `COPY … TO STDOUT`, and notifications last.
///
/// `statement` is the text that was sent: errors quote it. It is empty for a statement that the server
/// has kept, of which psql knows only the name. If it was a single message of several
/// statements, psql has already read up to the end of the next result when it prints one, so that
/// a notice stands before the result it came after; so it does here. (Whether psql then prints it
/// even one result earlier depends on how the network cut the answer into pieces.)
///
/// [`Answer::ConnectionLost`] gives no text: what psql says then speaks of its own attempts to
/// connect again.
///
/// ```
/// use lockstep::transcript::{Answer, Column, ResultSet, psql};
///
/// let one = ResultSet {
///     columns: vec![Column { name: "n".to_owned(), type_oid: 23 }],
///     rows: vec![vec![Some("1".to_owned())]],
///     tag: "SELECT 1".to_owned(),
/// };
/// let text = psql::render("SELECT 1 AS n;", &[Answer::Rows(one)]);
/// assert_eq!(text, " n \n---\n 1\n(1 row)\n\n");
/// ```
#[must_use]
pub fn render(statement: &str, answers: &[Answer]) -> String {
    render_with(statement, answers, &|pid| pid.to_string())
}

/// The same, with names for the backends that notifications come from.
pub(in crate::transcript) fn render_with(
    statement: &str,
    answers: &[Answer],
    backend: &dyn Fn(i32) -> String,
) -> String {
    let mut page = Page::default();
    for answer in answers {
        page.take(statement, answer);
    }
    page.finish(backend)
}

/// Text that grows answer by answer.
#[derive(Default)]
struct Page<'a> {
    text: String,
    /// The text of a result that is printed when the next one has come.
    held: String,
    /// The data of a running COPY, which may be cut anywhere, also within a character.
    copied: Vec<u8>,
    /// Whether the next command tag is that of a COPY … TO STDOUT, which is not printed.
    is_copying_out: bool,
    notifications: Vec<&'a Notification>,
}

impl<'a> Page<'a> {
    fn take(&mut self, statement: &str, answer: &'a Answer) {
        if !matches!(answer, Answer::CopyOut(_)) {
            self.end_copied();
        }
        match answer {
            Answer::Rows(result) => {
                self.release();
                self.held = table::render(result);
                if TAG_BELOW_ROWS.iter().any(|tag| result.tag.starts_with(tag)) {
                    self.hold_tag(&result.tag);
                }
            }
            Answer::Command(tag) => {
                self.release();
                if !std::mem::take(&mut self.is_copying_out) {
                    self.hold_tag(tag);
                }
            }
            Answer::Empty | Answer::CopyIn => self.release(),
            Answer::Notice(notice) => self.text.push_str(&message::render(statement, notice)),
            Answer::Error(error) => {
                self.release();
                self.is_copying_out = false;
                self.text.push_str(&message::render(statement, error));
            }
            Answer::Notification(notification) => self.notifications.push(notification),
            Answer::CopyOut(piece) => {
                self.release();
                self.is_copying_out = true;
                self.copied.extend_from_slice(piece);
            }
            Answer::Prepared | Answer::Skipped | Answer::ConnectionLost | Answer::ReplyLost => {}
        }
    }

    fn hold_tag(&mut self, tag: &str) {
        self.held.push_str(tag);
        self.held.push('\n');
    }

    fn release(&mut self) {
        self.text.push_str(&self.held);
        self.held.clear();
    }

    fn end_copied(&mut self) {
        self.text.push_str(&String::from_utf8_lossy(&self.copied));
        self.copied.clear();
    }

    fn finish(mut self, backend: &dyn Fn(i32) -> String) -> String {
        self.end_copied();
        self.release();
        for notification in &self.notifications {
            self.text.push_str(&announcement(notification, backend));
        }
        self.text
    }
}

/// The line for a notification.
fn announcement(notification: &Notification, backend: &dyn Fn(i32) -> String) -> String {
    let Notification {
        pid,
        channel,
        payload,
    } = notification;
    let with_payload = if payload.is_empty() {
        String::new()
    } else {
        format!(" with payload \"{payload}\"")
    };
    let backend = backend(*pid);
    format!(
        "Asynchronous notification \"{channel}\"{with_payload} received from server process with PID {backend}.\n"
    )
}
