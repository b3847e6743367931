//! A YAML document as a small tree of nodes that know their places.
//!
//! The tree has a budget, so that no file can make the loader work long: see the constants.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, Span as YamlSpan};

use super::super::source::Span;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Entry, Kind, Node, Scalar};
use super::syntax;

/// Nodes in one file, those that aliases repeat counted again.
const MOST_NODES: usize = 100_000;
/// Text that aliases repeat, in bytes.
const MOST_REPEATED_TEXT: usize = 1 << 20;
/// Levels of lists and mappings within each other.
const DEEPEST: usize = 32;

/// A node whose end has not been read yet.
struct Open {
    start: Span,
    /// Behind the last child that was read.
    end: usize,
    flow: bool,
    anchor: usize,
    children: Children,
    nodes: usize,
    text: usize,
}

enum Children {
    List(Vec<Rc<Node>>),
    Mapping {
        entries: Vec<Entry>,
        seen: HashMap<String, Span>,
        key: Option<(String, Span)>,
    },
}

/// Reads a document. `None` means that a mistake was reported which leaves nothing to look at.
pub(super) fn parse(mistakes: &mut Mistakes) -> Option<Rc<Node>> {
    let source = mistakes.source().text.clone();
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        disallow_directives: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
        simple_key_max_lookahead: 1024,
    };
    let mut builder = Builder {
        source: &source,
        mistakes,
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        nodes: 0,
        repeated: 0,
    };
    for next in Parser::new_from_str_with_options(&source, options) {
        match next {
            Ok((event, span)) => builder.event(event, span)?,
            Err(error) => {
                let open = builder
                    .open
                    .last()
                    .filter(|open| open.flow)
                    .map(|open| open.start);
                let mistake = syntax::mistake(&source, &error, open);
                builder.mistakes.report(mistake);
                return None;
            }
        }
    }
    let root = builder.root;
    if root.is_none() && mistakes.is_empty() {
        mistakes.report(
            Mistake::new(Span { start: 0, end: 0 }, "the file is empty")
                .label("nothing is written here")
                .help("a scenario needs at least `title:`, `sessions:` and `steps:`"),
        );
    }
    root
}

struct Builder<'a> {
    source: &'a str,
    mistakes: &'a mut Mistakes,
    open: Vec<Open>,
    /// Anchors by number; `None` while the node is still open.
    anchors: HashMap<usize, Option<Rc<Node>>>,
    root: Option<Rc<Node>>,
    nodes: usize,
    repeated: usize,
}

impl Builder<'_> {
    /// Takes one event in; `None` ends the reading.
    fn event(&mut self, event: Event<'_>, yaml_span: YamlSpan) -> Option<()> {
        let raw = bytes(&yaml_span);
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let line = self.source[raw.start..]
                    .split('\n')
                    .next()
                    .unwrap_or_default();
                let end = raw.start + line.trim_end().len();
                self.mistakes.report(
                    Mistake::new(
                        Span {
                            start: raw.start,
                            end,
                        },
                        "a file holds one scenario",
                    )
                    .label("a second document begins here")
                    .help("put the second scenario in a file of its own"),
                );
                return None;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), &yaml_span);
                let node = Rc::new(Node {
                    span: visible(self.source, raw),
                    nodes: 1,
                    text: text.len(),
                    kind: Kind::Scalar(Scalar {
                        text: text.into_owned(),
                        style,
                        raw,
                        written: None,
                    }),
                });
                if anchor != 0 {
                    self.anchors.insert(anchor, Some(node.clone()));
                }
                self.count(1, raw)?;
                let end = node.span.end;
                self.attach(node, end);
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), &yaml_span);
                let flow = style == granit_parser::StructureStyle::Flow;
                self.begin(raw, flow, anchor, Children::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), &yaml_span);
                let flow = style == granit_parser::StructureStyle::Flow;
                let children = Children::Mapping {
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    key: None,
                };
                self.begin(raw, flow, anchor, children)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(raw),
            Event::Alias(target) => self.alias(target, raw)?,
            Event::UnresolvedAlias(name) => {
                self.mistakes.report(
                    Mistake::new(raw, format!("nothing is anchored as `&{name}`"))
                        .label("YAML reads a leading `*` as an alias")
                        .help(format!("quote it if it is meant as text: \"*{name}\"")),
                );
                let node = Rc::new(Node {
                    span: raw,
                    nodes: 1,
                    text: 0,
                    kind: Kind::Scalar(Scalar {
                        text: format!("*{name}"),
                        style: ScalarStyle::Plain,
                        raw,
                        written: None,
                    }),
                });
                self.attach(node, raw.end);
            }
            _ => {}
        }
        Some(())
    }

    fn begin(&mut self, start: Span, flow: bool, anchor: usize, children: Children) -> Option<()> {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.count(1, start)?;
        self.open.push(Open {
            start,
            end: start.end,
            flow,
            anchor,
            children,
            nodes: 1,
            text: 0,
        });
        Some(())
    }

    fn end(&mut self, raw: Span) {
        let Some(open) = self.open.pop() else { return };
        let kind = match open.children {
            Children::List(items) => Kind::List(items),
            Children::Mapping { entries, .. } => Kind::Mapping(entries),
        };
        // The parser sees the end of a block where something else begins, which may be lines below.
        let span = Span {
            start: open.start.start,
            end: if open.flow { raw.end } else { open.end },
        };
        let node = Rc::new(Node {
            span,
            kind,
            nodes: open.nodes,
            text: open.text,
        });
        if open.anchor != 0 {
            self.anchors.insert(open.anchor, Some(node.clone()));
        }
        self.attach(node, span.end);
    }

    fn alias(&mut self, target: usize, raw: Span) -> Option<()> {
        match self.anchors.get(&target) {
            Some(Some(node)) => {
                let node = node.clone();
                self.repeated = self.repeated.saturating_add(node.text);
                if self.repeated > MOST_REPEATED_TEXT {
                    self.refuse_bomb(raw, &format!("{} KiB of text", MOST_REPEATED_TEXT >> 10));
                    return None;
                }
                self.count(node.nodes, raw)?;
                self.attach(node, raw.end);
                Some(())
            }
            _ => {
                self.mistakes.report(
                    Mistake::new(raw, "an alias cannot stand inside what it repeats")
                        .label("this would have no end")
                        .help("write the value out"),
                );
                None
            }
        }
    }

    /// Counts nodes before they are made, so that an alias bomb costs nothing.
    fn count(&mut self, nodes: usize, at: Span) -> Option<()> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MOST_NODES {
            self.refuse_bomb(at, &format!("{} thousand values", MOST_NODES / 1000));
            return None;
        }
        Some(())
    }

    fn refuse_bomb(&mut self, at: Span, limit: &str) {
        self.mistakes.report(
            Mistake::new(
                at,
                format!(
                    "the file comes to more than {limit}, those that aliases repeat counted again"
                ),
            )
            .label("the limit is passed here")
            .help("a scenario is a small file: write it out without aliases, or split it"),
        );
    }

    fn refuse_tag(&mut self, tagged: bool, span: &YamlSpan) {
        if !tagged {
            return;
        }
        let at = span.tag_span().as_ref().map_or_else(|| bytes(span), bytes);
        self.mistakes.report(
            Mistake::new(at, "YAML tags have no meaning in a scenario")
                .label("a tag")
                .help("leave it out; quote the value if `!` is meant as text"),
        );
    }

    /// Gives a finished node to the one that holds it. It was read up to `end`: an alias gives a
    /// node that stands elsewhere.
    fn attach(&mut self, node: Rc<Node>, end: usize) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.end = end.max(open.end);
        open.nodes = open.nodes.saturating_add(node.nodes);
        open.text = open.text.saturating_add(node.text);
        match &mut open.children {
            Children::List(items) => items.push(node),
            Children::Mapping { entries, seen, key } => match key.take() {
                None => *key = Some(self::key(&node, self.mistakes)),
                Some((name, key_span)) => {
                    if name == "<<" {
                        self.mistakes.report(
                            Mistake::new(key_span, "merge keys are not supported")
                                .label("`<<` mixes another mapping into this one")
                                .help("write the keys out"),
                        );
                        return;
                    }
                    // An empty name stands for a key that was refused already.
                    if let Some(first) = seen.get(&name).filter(|_| !name.is_empty()) {
                        self.mistakes.report(
                            Mistake::new(key_span, format!("`{name}` is written twice"))
                                .label("again here")
                                .related(*first, "first here")
                                .help("keep one of them"),
                        );
                        return;
                    }
                    seen.insert(name.clone(), key_span);
                    entries.push(Entry {
                        key: name,
                        key_span,
                        value: node,
                    });
                }
            },
        }
    }
}

/// The name that a key is; empty, with a mistake, where it is none.
fn key(node: &Node, mistakes: &mut Mistakes) -> (String, Span) {
    match &node.kind {
        Kind::Scalar(scalar) if !node.is_empty_plain() && !scalar.text.is_empty() => {
            (scalar.text.clone(), node.span)
        }
        _ => {
            mistakes.report(
                Mistake::new(
                    node.span,
                    format!("expected a word as the key, found {}", node.described()),
                )
                .label("not a key")
                .help("write `key: value`; quote a value that begins with `{` or `[`"),
            );
            (String::new(), node.span)
        }
    }
}

/// A place without the white space at its end.
fn visible(source: &str, raw: Span) -> Span {
    let trimmed = source[raw.start..raw.end].trim_end_matches([' ', '\t', '\n', '\r']);
    Span {
        start: raw.start,
        end: raw.start + trimmed.len(),
    }
}

fn bytes(span: &YamlSpan) -> Span {
    // The parser knows byte offsets whenever it reads from a string, as it does here.
    let range = span.byte_range().unwrap_or_default();
    Span {
        start: range.start,
        end: range.end.max(range.start),
    }
}
