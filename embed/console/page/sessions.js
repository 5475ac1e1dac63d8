// The sessions of the cluster: which processes may hold locks, since when and from where.
import {h, nothing, table} from "./dom.js";
import {address, age, duration, from, nodeOf, number, plural, shown} from "./server.js";
import * as server from "./server.js";

let last = null;

export async function load() {
  try {
    last = await server.sessions();
  } catch (error) {
    if (error.code !== "invalid_argument") throw error;
    last = {sessions: [], sessions_total: 0};  // a client node, which keeps none
  }
}

const rowOf = (session) => ({
  key: String(session.session),
  cells: [
    labelled(session),
    nodeOf(session),
    String(session.session),
    age(session),
    session.left_ms === null ? "unknown" : duration(session.left_ms),
    number(session.holds),
    number(session.waits),
  ],
});

const labelled = (session) => [
  from(session) ? h("strong", {class: "mono"}, from(session)) : nothing,
  address(session) ? h("div", {class: "mono faint"}, address(session)) : null,
  shown(session.label) ? h("div", {}, shown(session.label)) : null,
];

const columns = [{label: "From"}, {label: "Node"}, {label: "Session", class: "number"},
  {label: "For"}, {label: "Lease left"}, {label: "Holds", class: "number"},
  {label: "Waits", class: "number"}];

function content() {
  if (last === null) return h("p", {class: "empty"}, "Asking the node…");
  if (last.sessions.length === 0)
    return h("p", {class: "empty"}, "This node knows no session. A client never does.");
  const more = last.sessions_total > last.sessions.length
    ? `, the oldest ${number(last.sessions.length)}` : "";
  return table(`${plural(last.sessions_total, "session")}${more}, the oldest first`, columns,
    last.sessions.map(rowOf));
}

export const sessionsView = () => [
  h("div", {class: "head"}, h("h1", {}, "Sessions")),
  h("p", {class: "note"}, "A program holds and waits with its session, which ends when its lease " +
    "is not renewed."),
  content(),
];
