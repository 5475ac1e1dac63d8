// Who waits for whom: the names that somebody waits for, as a picture and as a table.
import {h, table} from "./dom.js";
import {linkTo, searchField} from "./locks.js";
import {age, encoded, modeOf, number, party, plural} from "./server.js";
import * as server from "./server.js";
import {picture} from "./wait_picture.js";

let prefix = "";
let last = null;

export async function load() {
  last = await server.waits(prefix);
}

const listed = 3;

function partiesOf(list, total, text) {
  const shownOnes = list.slice(0, listed).map((info) => h("div", {}, text(info)));
  if (total > listed) shownOnes.push(h("div", {class: "more"}, `and ${number(total - listed)} more`));
  return shownOnes;
}

const described = (lock) => (info) => `${modeOf(info, lock.kind)}: ${party(info)}` +
  (info.age_ms === undefined ? "" : `, for ${age(info)}`);

const rowOf = (lock) => ({
  key: encoded(lock.name),
  cells: [
    linkTo(lock.name),
    partiesOf(lock.waiters, lock.waiters_total, described(lock)),
    lock.holders.length > 0
      ? partiesOf(lock.holders, lock.holders_total, described(lock))
      : lock.closed ? "nobody: the name is closed" : "nobody",
  ],
});

export function waitsView(refresh) {
  const locks = last?.locks ?? [];
  const note = last?.next
    ? `Only ${plural(last.scanned, "name")} were looked at; a prefix narrows the search.`
    : "An arrow leads from who waits to the name, and from there to who holds it.";
  return [
    h("div", {class: "head"},
      h("h1", {}, "Waits"),
      searchField("wait-prefix", "Names that begin with", prefix, (text) => {
        prefix = text;
        refresh();
      })),
    h("p", {class: "note"}, note,
      locks.length > 0 ? h("span", {class: "wide"}, " The picture is wider than this window: scroll it.") : null),
    locks.length > 0
      ? h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Picture of waits"},
        picture(locks))
      : h("p", {class: "empty"}, last === null ? "Asking the node…" : "Nobody waits."),
    locks.length > 0
      ? table("The same as a table", ["Name", "Wait for it, in order", "Held by"]
        .map((label) => ({label})), locks.map(rowOf))
      : null,
  ];
}
