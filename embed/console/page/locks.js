// The names in use, by prefix, page by page.
import {byId, h, nothing, table} from "./dom.js";
import {age, encoded, modeOf, number, party, plural, shownName} from "./server.js";
import * as server from "./server.js";

const pageSize = 50;

// `pages` are the names after which the pages begin, encoded.
const search = {prefix: "", contains: "", contended: false, sort: "name", pages: [""]};
let last = {locks: [], next: null, total: null};

export const linkTo = (name) =>
  h("a", {class: "mono name", href: `#/lock/${encoded(name)}`}, shownName(name));

// Of a kind that this page knows nothing about: "counter, count 4".
const factsText = (kind, facts) => [kind,
  ...Object.entries(facts).map(([name, value]) => `${name} ${value}`)].join(", ");

export function kindText(lock) {
  if (lock.kind === "semaphore")
    return `semaphore, ${plural(lock.limit.permits, "permit")}`;
  if (lock.kind === "latch") return `latch, ${number(lock.latch.remaining)} to be counted`;
  if (lock.kind === "barrier")
    return `barrier, ${lock.barrier.arrived} of ${lock.barrier.parties} arrived` +
      (lock.barrier.broken ? ", broken" : "");
  if (lock.kind !== "lock") return factsText(lock.kind, lock[lock.kind]);
  if (lock.election) return "election";
  const isUsed = lock.holders_total > 0 || lock.waiters_total > 0 || lock.closed;
  return lock.value && !isUsed ? "value" : "lock";
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// A value that the node does not tell here, as it is long or one of many, has its version only.
export function valueText(lock) {
  const told = lock.election?.value ?? lock.value.bytes;
  const text = told === undefined ? "" : ` “${cut(shownName(told), 64)}”`;
  return `${lock.election ? "the leader’s value" : "value"}${text}, version ${lock.value.version}`;
}

export const closedText = {
  broken: "broken, and its holder may not know yet",
  min_hold: "the min_hold of its last holder runs",
  lock_delay: "the lock_delay of its last holder runs",
};

const more = (total, listed) =>
  total > listed ? h("span", {class: "more"}, ` and ${number(total - listed)} more`) : null;

function heldBy(lock) {
  const first = lock.holders.slice(0, 2).map((holder) =>
    h("div", {class: "party"},
      h("span", {class: "tag mode", "data-mode": holder.slots ? "slots" : holder.mode},
        modeOf(holder)),
      " ", party(holder), holder.cached ? " (cached)" : "",
      " ", h("span", {class: "mono token"}, holder.token),
      holder.age_ms === undefined ? null : h("span", {class: "faint"}, ` for ${age(holder)}`)));
  const closed = lock.closures.slice(0, 1).map((closure) =>
    h("div", {class: "party closed"}, h("span", {class: "tag bad"}, "closed"), " ",
      closedText[closure.by] ?? closure.by));
  if (lock.election) first.push(h("div", {class: "party"}, valueText(lock)));
  const all = [...first, more(lock.holders_total, Math.min(2, lock.holders.length)), ...closed];
  if (lock.holders_total > 0 || lock.closures.length > 0) return all;
  return h("span", {class: "faint"}, lock.kind === "lock" ? "free, keeps its value" : "nobody");
}

function waiting(lock) {
  if (lock.waiters_total === 0) return nothing;
  return [h("span", {class: "count"}, number(lock.waiters_total)), " ",
    h("span", {class: "faint"}, `first: ${party(lock.waiters[0])}`)];
}

const rowOf = (lock) => ({
  key: encoded(lock.name),
  class: lock.closed ? "is-closed" : lock.waiters_total > 0 ? "is-contended" : null,
  cells: [linkTo(lock.name), kindText(lock), heldBy(lock), waiting(lock)],
});

const columns = ["Name", "Kind", "Held by, with its token", "Waiting"].map((label) => ({label}));

export const isFirst = () => search.pages.length === 1;

export async function load() {
  const wishes = {
    ...(search.contains && {contains: search.contains}),
    ...(search.contended && {contended: 1}),
    ...(search.sort !== "name" && {sort: search.sort}),
  };
  last = await server.locks(search.prefix, search.pages.at(-1), pageSize, wishes);
  if (last.locks.length === 0 && !isFirst()) search.pages.pop();  // the names there are gone
}

function turn(refresh, change) {
  change();
  refresh();
  byId("main").focus({preventScroll: true});
}

function pager(refresh) {
  const next = last.next;
  return h("nav", {class: "pager", "aria-label": "Pages of the list"},
    h("button", {type: "button", disabled: isFirst(),
      onclick: () => turn(refresh, () => search.pages.pop())}, "Previous page"),
    h("span", {}, `Page ${search.pages.length}`),
    h("button", {type: "button", disabled: next === null,
      onclick: () => turn(refresh, () => search.pages.push(encoded(next)))}, "Next page"));
}

export function searchField(id, label, value, onInput, placeholder = "orders/") {
  return h("form", {class: "search", onsubmit: (event) => event.preventDefault()},
    h("label", {for: id}, label),
    h("input", {id, type: "search", class: "mono", value, autocomplete: "off", spellcheck: "false",
      maxlength: 512, placeholder, oninput: (event) => onInput(event.target.value)}));
}

function searchFor(wish, refresh) {
  Object.assign(search, wish, {pages: [""]});
  refresh();
}

const captions = {name: "their bytes", queue: "their queue, the longest first",
  age: "their age, the oldest hold first"};
const orders = {name: "name", queue: "longest queue", age: "held the longest"};

function filters(refresh) {
  return h("form", {class: "search", onsubmit: (event) => event.preventDefault()},
    h("label", {class: "check"},
      h("input", {type: "checkbox", id: "contended", checked: search.contended,
        onclick: (event) => searchFor({contended: event.target.checked}, refresh)}),
      " Only contended"),
    h("label", {for: "sort"}, "Order by"),
    h("select", {id: "sort", onchange: (event) => searchFor({sort: event.target.value}, refresh)},
      Object.entries(orders).map(([value, text]) =>
        h("option", {value, selected: value === search.sort}, text))));
}

// How many names there are, or why that is not known.
function totalText() {
  const {total, scanned, locks} = last;
  if (total !== null) return plural(total, "name");
  if (scanned !== undefined && search.sort !== "name")
    return `The first ${number(scanned)} names were looked at; a prefix narrows the search.`;
  return last.next === null && isFirst() ? plural(locks.length, "name") : "";
}

// `above` is shown above the list.
export function locksView(refresh, isLoaded, above) {
  const rows = last.locks.map(rowOf);
  const isFiltered = search.contains !== "" || search.contended;
  const nothing = isFiltered ? "No name is like this."
    : search.prefix === "" ? "No name is in use." : "No name begins like this.";
  return [
    h("div", {class: "head"},
      h("h1", {}, "Locks"),
      searchField("prefix", "Names that begin with", search.prefix,
        (text) => searchFor({prefix: text}, refresh)),
      searchField("contains", "Names that contain", search.contains,
        (text) => searchFor({contains: text}, refresh), "42"),
      filters(refresh)),
    above,
    isLoaded && totalText() ? h("p", {class: "note", id: "total"}, totalText()) : null,
    rows.length > 0 ? table(`Names in use, in order of ${captions[search.sort]}`, columns, rows)
      : h("p", {class: "empty"}, isLoaded ? nothing : "Asking the node…"),
    last.next !== null || !isFirst() ? pager(refresh) : null,
  ];
}
