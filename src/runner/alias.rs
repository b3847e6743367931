//! The name of a case's database and role, which is another one in each run.

use crate::transcript::{Answer, ServerMessage};

/// What a case's database and role are called in answers.
const SHOWN: &str = "lockstep";

/// Puts one name in the place of the database's and the role's own, so that `current_user`, the
/// owner of a table and an error that names the role read the same in each run.
///
/// The name is made for the case and nothing else can be called so; wherever the server says it,
/// it is meant.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    name: String,
}

impl Alias {
    pub(crate) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
        }
    }

    /// An answer as it would be if the database and the role had the name that is shown.
    pub(crate) fn apply(&self, answer: &mut Answer) {
        match answer {
            Answer::Rows(rows) => {
                for column in &mut rows.columns {
                    self.replace(&mut column.name);
                }
                for value in rows.rows.iter_mut().flatten().flatten() {
                    self.replace(value);
                }
            }
            Answer::Notice(message) | Answer::Error(message) => self.apply_to_message(message),
            Answer::Notification(notification) => {
                self.replace(&mut notification.channel);
                self.replace(&mut notification.payload);
            }
            Answer::CopyOut(data) => {
                if let Ok(text) = std::str::from_utf8(data)
                    && text.contains(&self.name)
                {
                    *data = text.replace(&self.name, SHOWN).into_bytes();
                }
            }
            Answer::Command(_) | Answer::Empty | Answer::CopyIn | Answer::ConnectionLost => {}
        }
    }

    fn apply_to_message(&self, message: &mut ServerMessage) {
        if let (Some(query), Some(position)) =
            (&message.internal_query, &mut message.internal_position)
        {
            // What stands before the place of the error becomes shorter.
            let before = usize::try_from(*position).unwrap_or(usize::MAX) - 1;
            let before: String = query.chars().take(before).collect();
            let removed = before.matches(&self.name).count() * (self.name.len() - SHOWN.len());
            *position -= u32::try_from(removed).unwrap_or(0);
        }
        self.replace(&mut message.message);
        for field in [
            &mut message.detail,
            &mut message.hint,
            &mut message.internal_query,
            &mut message.context,
            &mut message.schema,
            &mut message.table,
            &mut message.column,
            &mut message.datatype,
            &mut message.constraint,
        ] {
            field.iter_mut().for_each(|text| self.replace(text));
        }
    }

    fn replace(&self, text: &mut String) {
        if text.contains(&self.name) {
            *text = text.replace(&self.name, SHOWN);
        }
    }
}
