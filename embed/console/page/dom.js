// Elements, and how a page changes without flicker: what is the same stays.

const svgTags = new Set(["svg", "g", "path", "rect", "text", "title", "defs", "marker", "desc"]);

// h("td", {class: "mono", onclick: f}, "text", child). Children that are null or false are left out.
export function h(tag, attributes = {}, ...children) {
  const element = svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset?.key : undefined);
const isAlike = (a, b) =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function takeAttributes(into, from) {
  for (const {name, value} of from.attributes)
    if (into.getAttribute(name) !== value) into.setAttribute(name, value);
  for (const {name} of [...into.attributes])
    if (!from.hasAttribute(name)) into.removeAttribute(name);
  for (const handler of ["onclick", "oninput", "onchange", "onsubmit"]) into[handler] = from[handler];
}

function take(into, from) {
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (into.nodeValue !== from.nodeValue) into.nodeValue = from.nodeValue;
    return;
  }
  takeAttributes(into, from);
  // What somebody types is theirs.
  if (from.nodeName !== "INPUT") fill(into, [...from.childNodes]);
}

// Makes `nodes` the children of `parent`. Those that were there before and are alike stay, with
// their focus and selection; data-key names the ones that move.
export function fill(parent, nodes) {
  const keyed = new Map();
  for (const child of parent.childNodes) {
    const key = keyOf(child);
    if (key !== undefined && !keyed.has(key)) keyed.set(key, child);
  }
  let at = parent.firstChild;
  for (const node of nodes) {
    const key = keyOf(node);
    const same = key !== undefined ? keyed.get(key) : at;
    if (same && isAlike(same, node)) {
      keyed.delete(key);  // a second node with this key is another one
      if (same === at) at = at.nextSibling;
      else parent.insertBefore(same, at);
      take(same, node);
    } else {
      parent.insertBefore(node, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

export const byId = (id) => document.getElementById(id);

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Shows a message in the corner of the page, and has screen readers speak it.
export function say(text) {
  const said = byId("said");
  said.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (said.textContent = ""), 8000);
}

const classOf = (cell, column) =>
  cell === nothing ? `${column.class ?? ""} none` : column.class;

// The content of a cell that has none.
export const nothing = "–";

// Rows may have one key, such as those of readers that share a token: the second one is k#2.
function distinctKeys(rows) {
  const counts = new Map();
  return rows.map(({key}) => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? key : `${key}#${count}`;
  });
}

// A table that is a list of cards where there is little room. Some browsers forget that such a
// table is one; the roles say it. Columns are {label, class}; rows are {key, class, cells}. Where
// `dense` is true, a card has no labels, and is as low as its text.
export function table(caption, columns, rows, {dense = false} = {}) {
  const head = columns.map((column) =>
    h("th", {role: "columnheader", scope: "col", class: column.class}, column.label));
  const keys = distinctKeys(rows);
  const body = rows.map((row, place) =>
    h("tr", {role: "row", class: row.class, "data-key": keys[place]},
      row.cells.map((cell, at) =>
        h("td", {role: "cell", class: classOf(cell, columns[at]), "data-label": columns[at].label},
          h("div", {}, cell)))));
  return h("table", {role: "table", class: dense ? "dense" : undefined},
    h("caption", {}, caption),
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, head)),
    h("tbody", {role: "rowgroup"}, body));
}
