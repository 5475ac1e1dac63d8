// Draws who waits for what, and who holds it: from left to right, the last ones wait for nobody.
import {h} from "./dom.js";
import {encoded, labelOf, modeOf, nodeOf, number, shownName} from "./server.js";

const box = {width: 164, height: 40, gapX: 84, gapY: 12, margin: 4};
const betweenGroups = 14;
const waitersDrawn = 4;
const holdersDrawn = 4;

const partyKey = (info) => `party ${info.node}/${info.session}/${JSON.stringify(info.label)}`;

// Those that hold something, or wait for several names: where a chain goes on.
function linkedOf(locks) {
  const linked = new Set();
  const waiting = new Set();
  for (const lock of locks) {
    for (const holder of lock.holders) linked.add(partyKey(holder));
    for (const key of new Set(lock.waiters.map(partyKey))) {
      if (waiting.has(key)) linked.add(key);
      waiting.add(key);
    }
  }
  return linked;
}

// Who of those without a box of their own is the first in the queue.
function firstOf(lock, alone) {
  const drawn = new Set(alone.map(({place}) => place));
  const at = lock.waiters.findIndex((_, place) => !drawn.has(place + 1));
  if (at < 0) return "";
  const waiter = lock.waiters[at];
  return `${at + 1}. ${labelOf(waiter) || nodeOf(waiter)}`;
}

// The waiters that have a box of their own, with their places in the queue: all if they are few,
// otherwise those that are linked. The rest have one box together.
function drawnAlone(lock, linked) {
  const all = lock.waiters.map((waiter, at) => ({waiter, place: at + 1}));
  if (lock.waiters_total <= waitersDrawn) return all;
  return all.filter(({waiter}) => linked.has(partyKey(waiter))).slice(0, waitersDrawn);
}

// The vertices and edges: {key, title, subtitle, kind, href} and {from, to, label, kind}.
export function graphOf(locks) {
  const vertices = new Map();
  const edges = [];
  const vertex = (key, made) => {
    if (!vertices.has(key)) vertices.set(key, {key, order: vertices.size, out: [], ...made});
    return vertices.get(key);
  };
  const edge = (from, to, kind, label) => {
    from.out.push(to);
    edges.push({from, to, kind, label});
  };
  const partyVertex = (info) => vertex(partyKey(info), {kind: "party",
    title: labelOf(info) || `session ${info.session}`, subtitle: nodeOf(info)});
  const linked = linkedOf(locks);
  for (const lock of locks) {
    const name = vertex(`name ${encoded(lock.name)}`, {kind: lock.closed ? "name closed" : "name",
      title: shownName(lock.name), subtitle: lock.closed ? `${lock.kind}, closed` : lock.kind,
      href: `#/lock/${encoded(lock.name)}`});
    const alone = drawnAlone(lock, linked);
    for (const {waiter, place} of alone)
      edge(partyVertex(waiter), name, "waits", `${place}. ${modeOf(waiter, lock.kind)}`);
    const together = lock.waiters_total - alone.length;
    if (together > 0)
      edge(vertex(`more ${name.key}`, {kind: "more",
        title: `${number(together)}${alone.length > 0 ? " more" : ""} wait`,
        subtitle: firstOf(lock, alone)}),
      name, "waits", "");
    for (const holder of lock.holders.slice(0, holdersDrawn))
      edge(name, partyVertex(holder), "holds", modeOf(holder));
    if (lock.holders_total > holdersDrawn)
      edge(name, vertex(`holders ${name.key}`, {kind: "more",
        title: `${number(lock.holders_total - holdersDrawn)} more hold it`, subtitle: ""}),
      "holds", "");
  }
  return {vertices: [...vertices.values()], edges};
}

// How far each vertex is from those that wait for nobody. Requests of one label and session may
// look like a cycle without being one; the step that would close it is left out.
function setDepths(vertices) {
  const visit = (vertex) => {
    if (vertex.depth !== undefined) return vertex.depth;
    vertex.depth = 0;
    let depth = 0;
    for (const next of vertex.out) depth = Math.max(depth, visit(next) + 1);
    return (vertex.depth = depth);
  };
  vertices.forEach(visit);
}

// Those that are connected, in the order of their first ones.
function groupsOf(vertices) {
  const near = new Map(vertices.map((vertex) => [vertex, new Set(vertex.out)]));
  for (const vertex of vertices) for (const next of vertex.out) near.get(next).add(vertex);
  const seen = new Set();
  return vertices.filter((vertex) => !seen.has(vertex)).map((first) => {
    const group = [];
    const open = [first];
    while (open.length > 0) {
      const vertex = open.pop();
      if (seen.has(vertex)) continue;
      seen.add(vertex);
      group.push(vertex);
      open.push(...near.get(vertex));
    }
    return group.sort((a, b) => a.order - b.order);
  }).filter((group) => group.length > 0);
}

// In each column, a vertex is near those that it points to. Returns the numbers of columns and rows.
function placeGroup(group) {
  const columns = [];
  for (const vertex of group) (columns[vertex.depth] ??= []).push(vertex);
  let rows = 0;
  columns.forEach((column, depth) => {
    const wish = (vertex) => {
      const near = vertex.out.map((next) => next.row ?? 0);
      return near.length > 0 ? near.reduce((a, b) => a + b) / near.length : 0;
    };
    if (depth > 0) column.sort((a, b) => wish(a) - wish(b));
    column.forEach((vertex, row) => (vertex.row = row));
    rows = Math.max(rows, column.length);
  });
  // A short column is in the middle.
  for (const vertex of group) {
    const column = columns.length - 1 - vertex.depth;
    const offset = (rows - columns[vertex.depth].length) / 2;
    vertex.x = box.margin + column * (box.width + box.gapX);
    vertex.y = (vertex.row + offset) * (box.height + box.gapY);
  }
  return {columns: columns.length, rows};
}

// One group below the other, the longest chain first.
function place(vertices) {
  setDepths(vertices);
  const groups = groupsOf(vertices).map((group) => ({group, size: placeGroup(group)}));
  groups.sort((a, b) => b.size.columns - a.size.columns);
  let top = box.margin;
  let columns = 0;
  for (const {group, size} of groups) {
    for (const vertex of group) vertex.y += top;
    top += size.rows * (box.height + box.gapY) + betweenGroups;
    columns = Math.max(columns, size.columns);
  }
  return {
    width: columns * (box.width + box.gapX) - box.gapX + 2 * box.margin,
    height: top - box.gapY - betweenGroups + box.margin,
  };
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function drawVertex(vertex) {
  const shape = h("g", {class: `vertex ${vertex.kind}`, "data-key": vertex.key,
    transform: `translate(${vertex.x} ${vertex.y})`},
  h("title", {}, vertex.title),
  h("rect", {width: box.width, height: box.height, rx: vertex.kind === "party" ? 20 : 6}),
  h("text", {x: 14, y: vertex.subtitle ? 17 : 25}, cut(vertex.title, vertex.href ? 19 : 17)),
  vertex.subtitle ? h("text", {x: 14, y: 32, class: "small"}, cut(vertex.subtitle, 24)) : null);
  return shape;
}

function drawEdge({from, to, kind, label}) {
  const x1 = from.x + box.width;
  const y1 = from.y + box.height / 2;
  const x2 = to.x - 2;
  const y2 = to.y + box.height / 2;
  const bend = Math.max(28, (x2 - x1) / 2);
  return h("g", {class: `edge ${kind}`, "data-key": `${from.key} ${to.key} ${label}`},
    h("path", {d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
      "marker-end": `url(#arrow-${kind})`}));
}

// Above all lines, near the one who waits.
function drawLabel({from, to, label}) {
  if (!label) return null;
  const x = from.x + box.width + box.gapX * 0.46;
  const y = from.y + box.height / 2 + (to.y - from.y) * 0.36 - 5;
  return h("text", {class: "label", "data-key": `label ${from.key} ${to.key} ${label}`, x, y,
    "text-anchor": "middle"}, cut(label, 14));
}

const arrow = (kind) =>
  h("marker", {id: `arrow-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
    markerWidth: 7, markerHeight: 7, orient: "auto"}, h("path", {d: "M0 0L8 4L0 8z"}));

export function picture(locks) {
  const {vertices, edges} = graphOf(locks);
  const size = place(vertices);
  return h("svg", {class: "waits", role: "img", "aria-labelledby": "picture-title",
    width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`},
  h("title", {id: "picture-title"},
    `Who waits for what, and who holds it: ${locks.length} names. The table below says the same.`),
  h("defs", {}, arrow("waits"), arrow("holds")),
  edges.map(drawEdge), edges.map(drawLabel), vertices.map(drawVertex));
}
