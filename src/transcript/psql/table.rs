//! Aligned tables, as psql draws them with its default settings.

use super::cell::Cell;
use crate::transcript::answer::{Column, ResultSet};

/// The types whose values psql aligns to the right, by oid: int8, int2, int4, oid, xid, cid,
/// float4, float8, money, numeric, xid8.
const RIGHT_ALIGNED: [u32; 11] = [20, 21, 23, 26, 28, 29, 700, 701, 790, 1700, 5069];

/// Draws a table with its heading, its rows, the line that counts them, and the empty line.
pub(super) fn render(result: &ResultSet) -> String {
    let headings: Vec<Cell> = result
        .columns
        .iter()
        .map(|column| Cell::new(&column.name))
        .collect();
    let rows: Vec<Vec<Cell>> = result
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|value| Cell::new(value.as_deref().unwrap_or_default()))
                .collect()
        })
        .collect();
    let widths = column_widths(&headings, &rows);

    let mut out = String::new();
    push_headings(&mut out, &headings, &widths);
    push_rule(&mut out, &widths);
    // A row without columns leaves no line.
    if !widths.is_empty() {
        for row in &rows {
            push_row(&mut out, row, &result.columns, &widths);
        }
    }
    push_footer(&mut out, rows.len());
    out
}

fn column_widths(headings: &[Cell], rows: &[Vec<Cell>]) -> Vec<usize> {
    let mut widths: Vec<usize> = headings.iter().map(Cell::width).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    widths
}

/// Headings are centred, the odd column to the right. The mark `+` says that the heading goes on
/// in the next line.
fn push_headings(out: &mut String, headings: &[Cell], widths: &[usize]) {
    let height = headings
        .iter()
        .map(|heading| heading.lines.len())
        .max()
        .unwrap_or(0);
    for index in 0..height {
        for (column, (heading, &width)) in headings.iter().zip(widths).enumerate() {
            if column > 0 {
                out.push('|');
            }
            out.push(' ');
            if let Some(line) = heading.lines.get(index) {
                let space = width - line.width;
                push_spaces(out, space / 2);
                out.push_str(&line.text);
                push_spaces(out, space.div_ceil(2));
            } else {
                push_spaces(out, width);
            }
            out.push(mark(heading, index).unwrap_or(' '));
        }
        out.push('\n');
    }
}

fn push_rule(out: &mut String, widths: &[usize]) {
    out.push('-');
    for (column, &width) in widths.iter().enumerate() {
        if column > 0 {
            out.push_str("-+-");
        }
        out.extend(std::iter::repeat_n('-', width));
    }
    out.push_str("-\n");
}

/// Draws one row, on as many lines as its highest cell has. The last column is not padded, unless
/// the mark `+` has to stand at its right edge.
fn push_row(out: &mut String, row: &[Cell], columns: &[Column], widths: &[usize]) {
    let height = row.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
    for index in 0..height {
        for (position, (cell, &width)) in row.iter().zip(widths).enumerate() {
            if position > 0 {
                out.push('|');
            }
            out.push(' ');
            let is_last = position + 1 == widths.len();
            let mark = mark(cell, index).or((!is_last).then_some(' '));
            let is_right_aligned = RIGHT_ALIGNED.contains(&columns[position].type_oid);
            match cell.lines.get(index) {
                Some(line) if is_right_aligned => {
                    push_spaces(out, width - line.width);
                    out.push_str(&line.text);
                }
                Some(line) => {
                    out.push_str(&line.text);
                    if mark.is_some() {
                        push_spaces(out, width - line.width);
                    }
                }
                None if is_last => {}
                None => push_spaces(out, width),
            }
            out.extend(mark);
        }
        out.push('\n');
    }
}

/// What stands to the right of a line of a cell if there are more lines in the cell.
fn mark(cell: &Cell, index: usize) -> Option<char> {
    (index + 1 < cell.lines.len()).then_some('+')
}

fn push_footer(out: &mut String, rows: usize) {
    let word = if rows == 1 { "row" } else { "rows" };
    out.push_str(&format!("({rows} {word})\n\n"));
}

fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}
