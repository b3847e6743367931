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
            Answer::Command(_)
            | Answer::Empty
            | Answer::CopyIn
            | Answer::Prepared
            | Answer::Skipped
            | Answer::ConnectionLost
            | Answer::ReplyLost => {}
        }
    }

    fn apply_to_message(&self, message: &mut ServerMessage) {
        if let (Some(query), Some(position)) =
            (&message.internal_query, &mut message.internal_position)
        {
            // What stands before the place of the error becomes shorter.
            let before = usize::try_from(*position)
                .unwrap_or(usize::MAX)
                .saturating_sub(1);
            let before: String = query.chars().take(before).collect();
            let removed = before.matches(&self.name).count() * (self.name.len() - SHOWN.len());
            *position = position.saturating_sub(u32::try_from(removed).unwrap_or(0));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Column, ResultSet, Severity};

    const NAME: &str = "lockstep_00c0ffee00c0ffee_000007";

    #[test]
    fn the_name_is_replaced_wherever_the_server_says_it() {
        let mut answer = Answer::Rows(ResultSet {
            columns: vec![Column {
                name: NAME.to_owned(),
                type_oid: 1033,
            }],
            rows: vec![vec![
                Some(format!("{NAME}=arwd/{NAME}")),
                None,
                Some("lockstep_00c0ffee00c0ffee_000008".to_owned()),
            ]],
            tag: "SELECT 1".to_owned(),
        });
        Alias::of(NAME).apply(&mut answer);
        let Answer::Rows(rows) = answer else {
            panic!("they are rows");
        };
        assert_eq!(rows.columns[0].name, "lockstep");
        assert_eq!(
            rows.rows[0],
            [
                Some("lockstep=arwd/lockstep".to_owned()),
                None,
                // A neighbour's is left alone: that a case can see it is worth knowing.
                Some("lockstep_00c0ffee00c0ffee_000008".to_owned()),
            ]
        );
    }

    #[test]
    fn the_place_of_an_error_moves_with_the_text_before_it() {
        let query = format!("ALTER TABLE t OWNER TO {NAME} oops");
        let at = query.find("oops").expect("it is there") + 1;
        let mut answer = Answer::Error(ServerMessage {
            internal_position: u32::try_from(at).ok(),
            internal_query: Some(query),
            ..ServerMessage::new(Severity::Error, "42601", "syntax error")
        });
        Alias::of(NAME).apply(&mut answer);
        let Answer::Error(error) = answer else {
            panic!("it is an error");
        };
        let query = error.internal_query.expect("it is kept");
        let at = error.internal_position.expect("it is kept") as usize - 1;
        assert_eq!(&query[at..], "oops");
    }
}
