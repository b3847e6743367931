//! Statements that nobody thought of: tables and misplaced words made of awkward characters. They
//! are the same ones in every run.

use crate::statements::Entry;

const TABLES: usize = 150;
const PLACES: usize = 450;

/// Awkward pieces of text: of no width, of one column, of two, of lines and tabs, unprintable.
const PIECES: [&str; 26] = [
    "a",
    "b",
    "xyz",
    " ",
    "  ",
    "0",
    "|",
    "+",
    "a longer piece",
    "é",
    "世",
    "界",
    "😀",
    "ש",
    "\u{301}",
    "\u{200d}",
    "\u{fe0f}",
    "\u{ad}",
    "\t",
    "\t",
    "\n",
    "\n",
    "\r",
    "\u{1}",
    "\u{85}",
    "\u{1fffe}",
];

/// What may stand between two expressions.
const SEPARATORS: [&str; 6] = [", ", ",\t", ",\n", ",\n  ", ", ", ",\r\n"];

/// The statements.
pub fn entries() -> Vec<Entry> {
    let mut dice = Dice(0);
    let tables = (0..TABLES).map(|_| ("a table", Dice::table as fn(&mut Dice) -> String));
    let places = (0..PLACES).map(|_| ("a place", Dice::misplaced as fn(&mut Dice) -> String));
    tables
        .chain(places)
        .map(|(title, sql)| Entry {
            title: title.to_owned(),
            sql: sql(&mut dice),
            data: None,
        })
        .collect()
}

/// A row of numbers that looks random, by SplitMix64.
struct Dice(u64);

impl Dice {
    /// A number below a limit.
    fn roll(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let limit = u64::try_from(limit).expect("a limit is small");
        usize::try_from(mixed % limit).expect("it is below the limit")
    }

    fn text(&mut self, pieces: usize) -> String {
        (0..self.roll(pieces + 1))
            .map(|_| PIECES[self.roll(PIECES.len())])
            .collect()
    }

    /// A query for a table of numbers and texts under awkward headings.
    fn table(&mut self) -> String {
        let columns = 1 + self.roll(5);
        let are_numbers: Vec<bool> = (0..columns).map(|_| self.roll(4) == 0).collect();
        let rows: Vec<String> = (0..=self.roll(4))
            .map(|_| {
                let values: Vec<String> = are_numbers
                    .iter()
                    .map(|is_number| match (is_number, self.roll(10)) {
                        (true, _) => format!("{}", self.roll(100_000)),
                        (false, 0) => "NULL::text".to_owned(),
                        (false, _) => format!("'{}'::text", self.text(8)),
                    })
                    .collect();
                format!("({})", values.join(", "))
            })
            .collect();
        let headings: Vec<String> = (0..columns)
            .map(|column| format!("c{column} AS \"h{}\"", self.text(4)))
            .collect();
        let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        format!(
            "SELECT {} FROM (VALUES {}) AS t ({});",
            headings.join(", "),
            rows.join(", "),
            names.join(", ")
        )
    }

    /// A query with an unknown word somewhere.
    fn misplaced(&mut self) -> String {
        let (before, after) = (self.roll(7), self.roll(7));
        let mut sql = String::from("SELECT ");
        for number in 0..=before + after {
            if number > 0 {
                sql.push_str(SEPARATORS[self.roll(SEPARATORS.len())]);
            }
            if number == before {
                sql.push_str("nothere");
            } else {
                sql.push_str(&format!("'{}'", self.text(20)));
            }
        }
        sql.push(';');
        sql
    }
}
