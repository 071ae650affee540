//! Control-flow graphs laid out in layers, for drawing (after K. Sugiyama, S. Tagawa, M. Toda,
//! "Methods for Visual Understanding of Hierarchical System Structures", 1981).
//!
//! Blocks stand in layers, each below all that lead to it, back edges aside. Long edges pass through
//! invisible nodes of the layers between. Sweeps order each layer by the middle of the neighbours in
//! the layer before, then move nodes towards that middle. Back edges run up on the right. All numbers
//! are integers, and ties keep the order of the text: the same graph gives the same drawing.

use serde::Serialize;
use xlate_ir::cfg::Cfg;
use xlate_ir::entities::{Block, Entity};
use xlate_ir::module::Body;

use super::lines::Lines;
use crate::graph::ways;

/// Characters of a line of text in a node, at most.
pub(super) const NODE_COLUMNS: usize = 34;

/// Lines of text in a node, at most.
const NODE_LINES: usize = 7;

/// Width of a character, height of a line, space around the text: in units of the drawing.
const CHARACTER: i32 = 7;
const LINE: i32 = 15;
const PADDING: i32 = 10;

/// Space between layers, between neighbours in a layer, and between back edges.
const LAYER_GAP: i32 = 38;
const GAP: i32 = 24;
const LANE: i32 = 14;

/// How often layers are ordered and moved, down and up.
const SWEEPS: usize = 6;

/// A graph with places.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub(super) struct Flow {
    width: i32,
    height: i32,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// A block.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub(super) struct Node {
    /// Its name in the text form.
    name: String,
    /// The first of its lines in its unit, and how many there are; the heading is one of them.
    row: usize,
    count: usize,
    /// How many of the lines are shown.
    shown: usize,
    x: i32,
    y: i32,
    w: i32,
    h: i32,
}

/// An edge.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
struct Edge {
    from: usize,
    to: usize,
    /// Which way of a branch it is, if it is one.
    way: &'static str,
    /// Where it passes, both ends included.
    path: Vec<(i32, i32)>,
    /// Whether it goes back up.
    back: bool,
}

impl Node {
    /// A node of a block whose lines begin at a row of its unit; its place is not known yet.
    pub(super) fn new<'t>(
        block: Block,
        row: usize,
        texts: impl ExactSizeIterator<Item = &'t str>,
    ) -> Node {
        let count = texts.len();
        let shown = if count > NODE_LINES { NODE_LINES - 1 } else { count };
        let widest = texts.take(shown).map(|text| text.trim().chars().count()).max().unwrap_or(0);
        let columns = widest.clamp(8, NODE_COLUMNS);
        let lines = count.min(NODE_LINES);
        Node {
            name: block.to_string(),
            row,
            count,
            shown,
            x: 0,
            y: 0,
            w: columns as i32 * CHARACTER + 2 * PADDING,
            h: lines as i32 * LINE + PADDING,
        }
    }
}

impl Flow {
    /// The graph of a body whose lines are `rows`.
    pub(super) fn of(body: &Body, rows: &[usize], lines: &Lines) -> Flow {
        let nodes = Node::all(body, rows, lines);
        let mut number = vec![0; body.blocks.len()];
        for (n, block) in body.layout.iter().enumerate() {
            number[block.index()] = n;
        }
        let cfg = Cfg::of(body);
        let mut order = vec![usize::MAX; nodes.len()];
        for (at, block) in cfg.reverse_postorder().iter().enumerate() {
            order[number[block.index()]] = at;
        }
        let mut edges = Vec::new();
        for (from, block) in body.layout.iter().enumerate() {
            let terminator = &body.blocks[*block].terminator;
            for (call, way) in terminator.successors().zip(ways(terminator)) {
                let to = number[call.block.index()];
                let back = order[to] <= order[from];
                edges.push(Edge { from, to, way, path: Vec::new(), back });
            }
        }
        let mut flow = Flow { width: 0, height: 0, nodes, edges };
        Layout::new(&flow, &order).apply(&mut flow);
        flow
    }
}

/// A node in a layer: a block, or where a long edge passes.
#[derive(Clone, Debug)]
struct Spot {
    layer: usize,
    w: i32,
    /// The middle.
    x: i32,
    above: Vec<usize>,
    below: Vec<usize>,
}

struct Layout {
    spots: Vec<Spot>,
    layers: Vec<Vec<usize>>,
    /// For each edge of the graph: the spots that it passes, both ends included.
    chains: Vec<Vec<usize>>,
}

impl Layout {
    /// Spots and layers. The first spots are the nodes.
    fn new(flow: &Flow, order: &[usize]) -> Layout {
        let layer = layers(flow, order);
        let spot = |layer, w| Spot { layer, w, x: 0, above: Vec::new(), below: Vec::new() };
        let mut spots: Vec<Spot> =
            flow.nodes.iter().zip(&layer).map(|(node, &layer)| spot(layer, node.w)).collect();
        let mut chains = Vec::new();
        for edge in &flow.edges {
            let mut chain = vec![edge.from];
            if !edge.back {
                for layer in spots[edge.from].layer + 1..spots[edge.to].layer {
                    spots.push(spot(layer, CHARACTER));
                    chain.push(spots.len() - 1);
                }
            }
            chain.push(edge.to);
            for pair in chain.windows(2).filter(|_| !edge.back) {
                spots[pair[0]].below.push(pair[1]);
                spots[pair[1]].above.push(pair[0]);
            }
            chains.push(chain);
        }
        let mut layers =
            vec![Vec::new(); spots.iter().map(|spot| spot.layer + 1).max().unwrap_or(0)];
        let mut by_order: Vec<usize> = (0..spots.len()).collect();
        by_order.sort_by_key(|&n| order.get(n).copied().unwrap_or(usize::MAX));
        for n in by_order {
            layers[spots[n].layer].push(n);
        }
        Layout { spots, layers, chains }
    }

    fn apply(mut self, flow: &mut Flow) {
        for layer in 0..self.layers.len() {
            self.spread(layer, |_, _| None);
        }
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let count = self.layers.len();
            for n in 0..count {
                let layer = if down { n } else { count - 1 - n };
                self.order(layer, down);
                self.spread(layer, |layout, spot| layout.middle(spot, down));
            }
        }
        self.place(flow);
    }

    /// The middle of a spot's neighbours in the layer before, if it has some.
    fn middle(&self, spot: usize, down: bool) -> Option<i32> {
        let spot = &self.spots[spot];
        let near = if down { &spot.above } else { &spot.below };
        let sum: i32 = near.iter().map(|&n| self.spots[n].x).sum();
        (!near.is_empty()).then(|| sum / near.len() as i32)
    }

    /// Orders a layer by where its neighbours are.
    fn order(&mut self, layer: usize, down: bool) {
        let mut spots = std::mem::take(&mut self.layers[layer]);
        spots.sort_by_key(|&spot| self.middle(spot, down).unwrap_or(self.spots[spot].x));
        self.layers[layer] = spots;
    }

    /// Gives the spots of a layer places near those wanted, with room between them: left to right as
    /// far left as wanted and possible, then the whole layer moved so that it is right on average.
    fn spread(&mut self, layer: usize, wanted: impl Fn(&Layout, usize) -> Option<i32>) {
        let spots = self.layers[layer].clone();
        let wanted: Vec<i32> =
            spots.iter().map(|&spot| wanted(self, spot).unwrap_or(self.spots[spot].x)).collect();
        let mut left = i32::MIN / 2;
        let mut error = 0;
        for (&spot, &want) in spots.iter().zip(&wanted) {
            let half = self.spots[spot].w / 2;
            let x = want.max(left + half);
            error += x - want;
            self.spots[spot].x = x;
            left = x + half + GAP;
        }
        let shift = error / spots.len().max(1) as i32;
        for &spot in &spots {
            self.spots[spot].x -= shift;
        }
    }

    /// Writes places into the graph.
    fn place(self, flow: &mut Flow) {
        let edge_of = |spot: &Spot, sign: i32| spot.x + sign * spot.w / 2;
        let left = self.spots.iter().map(|spot| edge_of(spot, -1)).min().unwrap_or(0) - PADDING;
        let right = self.spots.iter().map(|spot| edge_of(spot, 1)).max().unwrap_or(0) - left;
        let mut tops = Vec::new();
        let mut top = PADDING;
        for layer in &self.layers {
            let height = layer.iter().filter_map(|&n| flow.nodes.get(n)).map(|node| node.h).max();
            tops.push((top, height.unwrap_or(LINE)));
            top += height.unwrap_or(LINE) + LAYER_GAP;
        }
        for (node, spot) in flow.nodes.iter_mut().zip(&self.spots) {
            node.x = spot.x - spot.w / 2 - left;
            node.y = tops[spot.layer].0;
        }
        let mut lanes = 0;
        let mut ways = vec![0; flow.nodes.len()];
        for edge in &flow.edges {
            ways[edge.from] += 1;
        }
        let mut taken = vec![0; flow.nodes.len()];
        for (edge, chain) in flow.edges.iter_mut().zip(&self.chains) {
            let (from, to) = (&flow.nodes[edge.from], &flow.nodes[edge.to]);
            taken[edge.from] += 1;
            let port = from.x + from.w * taken[edge.from] / (ways[edge.from] + 1);
            let start = (port, from.y + from.h);
            let end = (to.x + to.w / 2, to.y);
            edge.path = vec![start];
            if edge.back {
                lanes += 1;
                let lane = right + lanes * LANE;
                edge.path.extend([(lane, start.1 + LANE), (lane, end.1 - LANE)]);
            } else {
                for &spot in &chain[1..chain.len() - 1] {
                    let (top, height) = tops[self.spots[spot].layer];
                    let x = self.spots[spot].x - left;
                    edge.path.extend([(x, top), (x, top + height)]);
                }
            }
            edge.path.push(end);
        }
        flow.width = right + PADDING + lanes * LANE + if lanes > 0 { LANE } else { 0 };
        flow.height = top - LAYER_GAP + PADDING + if lanes > 0 { LANE } else { 0 };
    }
}

/// The layer of each node: below all that lead to it. `order` is a reverse postorder, in which only
/// back edges lead back.
fn layers(flow: &Flow, order: &[usize]) -> Vec<usize> {
    let mut nodes: Vec<usize> = (0..flow.nodes.len()).collect();
    nodes.sort_by_key(|&node| order[node]);
    let mut layer = vec![0; flow.nodes.len()];
    for node in nodes {
        for edge in flow.edges.iter().filter(|edge| edge.from == node && !edge.back) {
            layer[edge.to] = layer[edge.to].max(layer[node] + 1);
        }
    }
    layer
}

#[cfg(test)]
mod tests {
    use super::*;
    use xlate_ir::text;

    fn flow(blocks: &str) -> Flow {
        let module = text::parse(&format!("handler @h0 {{\n{blocks}}}\n")).expect("a module");
        let (id, data) = module.handlers.iter().next().expect("a handler");
        let mut lines = Lines::default();
        let text = text::print_handler(&module, id);
        let rows: Vec<usize> = text.lines().map(|line| lines.line(line)).collect();
        Flow::of(&data.body, &rows, &lines)
    }

    fn no_two_overlap(flow: &Flow) {
        for (n, a) in flow.nodes.iter().enumerate() {
            assert!(a.x >= 0 && a.x + a.w <= flow.width && a.y + a.h <= flow.height, "{flow:?}");
            for b in &flow.nodes[n + 1..] {
                let apart =
                    a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
                assert!(apart, "{} and {}: {flow:?}", a.name, b.name);
            }
        }
    }

    #[test]
    fn a_diamond_has_three_layers() {
        let flow = flow(
            "b0:\n  v0 = ctx.cpu: long\n  branch v0, b1, b2\nb1:\n  jump b3\nb2:\n  jump b3\nb3:\n  ret\n",
        );
        no_two_overlap(&flow);
        let [b0, b1, b2, b3] = &flow.nodes[..] else { panic!("{flow:?}") };
        assert!(b0.y + b0.h < b1.y && b1.y == b2.y && b2.y + b2.h < b3.y);
        assert!(b1.x < b2.x, "the first way is on the left");
        let middle = |node: &Node| node.x + node.w / 2;
        assert!((middle(b0) - middle(b3)).abs() <= 2, "{flow:?}");
        assert_eq!((b0.row, b0.count, b1.row), (1, 3, 4));
        let ways: Vec<&str> = flow.edges.iter().map(|edge| edge.way).collect();
        assert_eq!(ways, ["true", "false", "", ""]);
    }

    #[test]
    fn a_long_edge_goes_around_what_is_between() {
        let flow = flow(
            "b0:\n  v0 = ctx.cpu: long\n  branch v0, b1, b3\nb1:\n  v1 = ctx.pid: long\n\
             \x20 branch v1, b2, b3\nb2:\n  print \"x\"\n  jump b3\nb3:\n  ret\n",
        );
        no_two_overlap(&flow);
        let long = flow.edges.iter().find(|edge| edge.from == 0 && edge.to == 3).expect("an edge");
        let between = &flow.nodes[2];
        let inside = |&(x, y): &(i32, i32)| {
            x > between.x
                && x < between.x + between.w
                && y >= between.y
                && y <= between.y + between.h
        };
        assert!(long.path.len() > 2 && !long.path.iter().any(inside), "{flow:?}");
    }

    #[test]
    fn a_loop_goes_back_on_the_right() {
        let flow = flow(
            "b0:\n  jump b1\nb1:\n  v0 = ctx.cpu: long\n  branch v0, b2, b3\nb2:\n  jump b1\nb3:\n  ret\n",
        );
        no_two_overlap(&flow);
        let back: Vec<&Edge> = flow.edges.iter().filter(|edge| edge.back).collect();
        assert_eq!(back.iter().map(|edge| (edge.from, edge.to)).collect::<Vec<_>>(), [(2, 1)]);
        let right = flow.nodes.iter().map(|node| node.x + node.w).max().expect("nodes");
        assert!(back[0].path.iter().any(|&(x, _)| x > right && x <= flow.width));
    }

    #[test]
    fn long_blocks_are_cut() {
        let prints = "  print \"x\"\n".repeat(30);
        let flow = flow(&format!("b0:\n{prints}  ret\n"));
        assert_eq!((flow.nodes[0].count, flow.nodes[0].shown), (32, NODE_LINES - 1));
        assert!(flow.height < 200);
    }
}
