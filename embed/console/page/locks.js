// The names in use, by prefix, page by page.
import {byId, h, nothing, table} from "./dom.js";
import {encoded, modeOf, number, party, plural, shownName} from "./server.js";
import * as server from "./server.js";

const pageSize = 50;

const search = {prefix: "", pages: [""]};  // the names after which the pages begin, encoded
let last = {locks: [], next: null};

export const linkTo = (name) =>
  h("a", {class: "mono name", href: `#/lock/${encoded(name)}`}, shownName(name));

export function kindText(lock) {
  if (lock.kind === "semaphore")
    return `semaphore, ${plural(lock.limit.permits, "permit")}`;
  if (lock.kind === "latch") return `latch, ${number(lock.latch.remaining)} to be counted`;
  if (lock.kind === "barrier")
    return `barrier, ${lock.barrier.arrived} of ${lock.barrier.parties} arrived` +
      (lock.barrier.broken ? ", broken" : "");
  return "lock";
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
      " ", h("span", {class: "mono token"}, holder.token)));
  const closed = lock.closures.slice(0, 1).map((closure) =>
    h("div", {class: "party closed"}, h("span", {class: "tag bad"}, "closed"), " ",
      closedText[closure.by] ?? closure.by));
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
  last = await server.locks(search.prefix, search.pages.at(-1), pageSize);
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

export function searchField(id, label, value, onInput) {
  return h("form", {class: "search", role: "search", onsubmit: (event) => event.preventDefault()},
    h("label", {for: id}, label),
    h("input", {id, type: "search", class: "mono", value, autocomplete: "off", spellcheck: "false",
      maxlength: 512, placeholder: "orders/", oninput: (event) => onInput(event.target.value)}));
}

function searchFor(prefix, refresh) {
  search.prefix = prefix;
  search.pages = [""];
  refresh();
}

// `above` is shown above the list.
export function locksView(refresh, isLoaded, above) {
  const rows = last.locks.map(rowOf);
  const nothing = search.prefix === "" ? "No name is in use." : "No name begins like this.";
  return [
    h("div", {class: "head"},
      h("h1", {}, "Locks"),
      searchField("prefix", "Names that begin with", search.prefix,
        (text) => searchFor(text, refresh))),
    above,
    rows.length > 0 ? table("Names in use, in byte order", columns, rows)
      : h("p", {class: "empty"}, isLoaded ? nothing : "Asking the node…"),
    last.next !== null || !isFirst() ? pager(refresh) : null,
  ];
}
