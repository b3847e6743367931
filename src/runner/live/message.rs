//! What a step sends: one message after the other, each over when the server is ready again.

use std::collections::VecDeque;

use crate::scenario::{Bound, Param, Sending, SqlText, Statement, as_one_message, split};
use crate::wire::{Request, SendError, Sender};

/// Why a COPY gets no data that nobody has written any for.
const NO_DATA: &str = "the scenario has no rows for this COPY";

/// Why a COPY that has got some data gets no more.
const STREAM_LEFT: &str = "the scenario goes on without ending the data of this COPY";

/// What is sent at once, and answered until the server is ready again.
#[derive(Debug)]
pub(super) struct Message {
    /// Its statements, each with the piece of the step's SQL it is from; never none.
    pub(super) statements: Vec<(usize, Statement)>,
    pub(super) how: How,
}

/// How statements are sent.
#[derive(Debug)]
pub(super) enum How {
    /// As a simple query.
    Query,
    /// By the extended protocol, each with its parameters.
    Bound(Vec<Vec<Param>>),
    /// To be kept under a name.
    Prepare(String),
    /// One that is kept.
    Execute {
        /// Its name.
        name: String,
        /// Its parameters.
        params: Vec<Param>,
    },
    /// As a simple query that asks for data.
    Copy(Data),
    /// More data for one that has asked for it.
    MoreData(Data),
    /// The end of a stream that nothing more comes for.
    GiveUpCopy,
}

/// Data of COPY … FROM STDIN.
#[derive(Debug, Clone)]
pub(super) struct Data {
    pub(super) text: String,
    /// Whether more is to come.
    pub(super) more: bool,
}

impl Message {
    /// The messages of a step.
    pub(super) fn all_of(sending: &Sending) -> VecDeque<Self> {
        // The loader has refused what cannot be split, and what holds no statement.
        let only = |how, sql: &SqlText| {
            let statements: Vec<_> = first_of(sql).map(|one| (0, one)).into_iter().collect();
            (!statements.is_empty()).then_some(Self { statements, how })
        };
        let one = match sending {
            Sending::Statements(sql) => {
                let statements = split(&sql.text).unwrap_or_default().into_iter();
                return statements
                    .map(|statement| Self {
                        statements: vec![(0, statement)],
                        how: How::Query,
                    })
                    .collect();
            }
            Sending::Message(sql) => {
                let whole = as_one_message(&sql.text).ok().flatten();
                whole.map(|whole| Self {
                    statements: vec![(0, whole)],
                    how: How::Query,
                })
            }
            Sending::Bound(Bound { sql, params }) => only(How::Bound(vec![params.clone()]), sql),
            Sending::Prepare { name, sql } => only(How::Prepare(name.value.clone()), sql),
            Sending::Execute { name, params } => Some(Self {
                statements: vec![(0, Statement::default())],
                how: How::Execute {
                    name: name.value.clone(),
                    params: params.clone(),
                },
            }),
            Sending::Pipeline(list) => Self::pipeline(list),
            Sending::Copy {
                sql: Some(sql),
                data,
                more,
            } => only(How::Copy(Data::of(data, *more)), sql),
            Sending::Copy {
                sql: None,
                data,
                more,
            } => Some(Self {
                statements: vec![(0, Statement::default())],
                how: How::MoreData(Data::of(data, *more)),
            }),
        };
        one.into_iter().collect()
    }

    /// The SQL of all its statements.
    pub(super) fn sql(&self) -> String {
        let texts: Vec<&str> = self
            .statements
            .iter()
            .map(|(_, statement)| statement.text.as_str())
            .collect();
        texts.join(";")
    }

    fn pipeline(list: &[Bound]) -> Option<Self> {
        let (statements, params): (Vec<_>, Vec<_>) = list
            .iter()
            .enumerate()
            .filter_map(|(part, Bound { sql, params })| {
                Some(((part, first_of(sql)?), params.clone()))
            })
            .unzip();
        (!statements.is_empty()).then_some(Self {
            statements,
            how: How::Bound(params),
        })
    }

    /// What ends a stream that nothing more comes for.
    pub(super) fn give_up_copy(statement: (usize, Statement)) -> Self {
        Self {
            statements: vec![statement],
            how: How::GiveUpCopy,
        }
    }

    /// Whether it is data for a stream that is open.
    pub(super) const fn is_data(&self) -> bool {
        matches!(self.how, How::MoreData(_))
    }

    /// Whether a stream is open behind it.
    pub(super) const fn leaves_stream_open(&self) -> bool {
        matches!(&self.how, How::Copy(data) | How::MoreData(data) if data.more)
    }

    /// The statement of a message that has only one.
    pub(super) fn statement(&self) -> Statement {
        self.statements
            .first()
            .map(|(_, statement)| statement.clone())
            .unwrap_or_default()
    }

    /// Answers the server, which asks for data in its statement at `place`, that there is none.
    pub(super) async fn refuse_copy(
        &self,
        place: usize,
        sender: &mut Sender,
    ) -> Result<(), SendError> {
        if matches!(self.how, How::Query) {
            return sender.copy_fail(NO_DATA).await;
        }
        // While it waits for data the server passes over a Sync; any other request makes the COPY
        // fail by itself.
        if place + 1 < self.statements.len() {
            return Ok(());
        }
        sender.copy_fail(NO_DATA).await?;
        sender.request(&[Request::Sync]).await
    }

    /// Sends it.
    pub(super) async fn send(&self, sender: &mut Sender) -> Result<(), SendError> {
        match &self.how {
            How::Query | How::Copy(_) => match self.statements.first() {
                Some((_, statement)) => sender.query(&statement.text).await,
                None => Ok(()),
            },
            How::Bound(params) => {
                let mut requests = Vec::with_capacity(4 * params.len() + 1);
                for ((_, statement), params) in self.statements.iter().zip(params) {
                    requests.push(Request::Parse {
                        name: "",
                        sql: &statement.text,
                    });
                    requests.extend(run("", params));
                }
                requests.push(Request::Sync);
                sender.request(&requests).await
            }
            How::Prepare(name) => {
                let sql = self.statements.first().map_or("", |(_, one)| &one.text);
                sender
                    .request(&[Request::Parse { name, sql }, Request::Sync])
                    .await
            }
            How::Execute { name, params } => {
                let [bind, describe, execute] = run(name, params);
                sender
                    .request(&[bind, describe, execute, Request::Sync])
                    .await
            }
            How::MoreData(data) => data.send(sender).await,
            How::GiveUpCopy => sender.copy_fail(STREAM_LEFT).await,
        }
    }
}

impl Data {
    fn of(text: &SqlText, more: bool) -> Self {
        Self {
            text: text.text.clone(),
            more,
        }
    }

    /// Sends it, and the end of the stream unless more is to come.
    pub(super) async fn send(&self, sender: &mut Sender) -> Result<(), SendError> {
        if !self.text.is_empty() {
            sender.copy_data(self.text.as_bytes()).await?;
        }
        if self.more {
            return Ok(());
        }
        sender.copy_done().await
    }
}

/// What runs a statement that has been parsed.
const fn run<'a>(statement: &'a str, params: &'a [Param]) -> [Request<'a>; 3] {
    [
        Request::Bind { statement, params },
        Request::Describe,
        Request::Execute { max_rows: 0 },
    ]
}

fn first_of(sql: &SqlText) -> Option<Statement> {
    split(&sql.text).ok()?.into_iter().next()
}
