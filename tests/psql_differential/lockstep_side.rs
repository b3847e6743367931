//! Running the same through Lockstep: the wire, and the text.

use lockstep::server::Endpoint;
use lockstep::transcript::{Answer, psql};
use lockstep::wire::{self, Incoming, Receiver, Sender, Startup};

use crate::statements::Entry;

/// A connection that speaks to one database.
pub struct Session {
    sender: Sender,
    receiver: Receiver,
}

impl Session {
    pub async fn connect(endpoint: &Endpoint, database: &str) -> Self {
        let startup = Startup {
            user: endpoint.user.clone(),
            password: endpoint.password.clone(),
            database: database.to_owned(),
            application_name: "psql".to_owned(),
            options: Vec::new(),
        };
        let (sender, receiver) = wire::connect(&endpoint.address, &startup)
            .await
            .expect("the server lets us in");
        Self { sender, receiver }
    }

    /// All that comes for one message.
    pub async fn ask(&mut self, sql: &str, data: Option<&str>) -> Vec<Answer> {
        self.sender.query(sql).await.expect("the query can be sent");
        let mut answers = Vec::new();
        loop {
            match self.receiver.next().await {
                Some(Incoming::Answer(answer)) => {
                    if answer == Answer::CopyIn {
                        let data = data.expect("COPY FROM STDIN has data").as_bytes();
                        self.sender.copy_data(data).await.expect("data can be sent");
                        self.sender.copy_done().await.expect("its end can be sent");
                    }
                    answers.push(answer);
                }
                Some(Incoming::Ready(_)) => return answers,
                end => panic!("the connection is over: {end:?}"),
            }
        }
    }

    /// What Lockstep prints for some entries, each with its mark.
    pub async fn run(&mut self, entries: &[Entry]) -> String {
        let mut text = String::new();
        for (number, entry) in entries.iter().enumerate() {
            let message = entry.message();
            let answers = self.ask(&message, entry.data.as_deref()).await;
            text.push_str(&psql::render(&message, &answers));
            text.push_str(&Entry::mark(number));
        }
        text
    }
}
