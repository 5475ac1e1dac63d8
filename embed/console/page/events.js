// Live events: the changes of locks, and what the node tells of itself.
import {h, nothing, table} from "./dom.js";
import {searchField} from "./locks.js";
import {clock, encoded, inMode, noteBegin, number, party, shown} from "./server.js";

const kept = 1000;
const drawn = 200;
const events = [];  // the newest first
let filter = "";
let paused = null;  // the events at that moment
let source = null;
let counter = 0;

const words = {
  gap: "events are missing here",
  begin: "live from here on",
  granted: "granted",
  converted: "changed its mode",
  published: "is in use",
  released: "released",
  value_set: "value written",
  value_removed: "value removed",
  value_dirty: "value became dirty",
  value_consistent: "value declared consistent",
};

const endings = {clean: "released", expired: "expired", broken: "broken"};

function textOf(event) {
  if (event.kind === "released") return endings[event.how] ?? "ended";
  return words[event.kind] ?? inMode(event.kind);
}

function gravity(event) {
  if (event.kind === "gap" || event.how === "expired" || event.how === "broken") return "bad";
  if (["value_dirty", "slow_hold", "long_wait", "timing_differs"].includes(event.kind))
    return "warn";
  const bad = ["not_ready", "lost_leadership", "peer_down", "session_expired", "hold_lost",
    "stopped", "removed", "lock_broken", "certificate_expires", "suspended"];
  return event.isNode && bad.includes(event.kind) ? "bad" : null;
}

// The node of a session that has ended is not known any more.
const whoOf = (holder) => holder.node === 0 && !holder.label ? [] :
  [holder.node === 0 ? shown(holder.label) : party(holder)];

function detailsOf(event) {
  const details = [];
  if (event.holder) details.push(inMode(event.holder.mode), ...whoOf(event.holder));
  if (event.peer) details.push(`node ${event.peer}`);
  if (event.session && event.isNode) details.push(`session ${event.session}`);
  if (event.reason) details.push(inMode(event.reason));
  if (event.took_ms !== undefined) details.push(`${number(event.took_ms)} ms`);
  if (event.asked_by) details.push(shown(event.asked_by));
  if (event.value) details.push(`version ${event.value.version}`);
  if (event.text) details.push(shown(event.text));
  return details.join(", ");
}

function tokenOf(event) {
  const token = event.holder?.token ?? event.token;
  return token === undefined ? nothing : h("span", {class: "mono"}, token);
}

function add(event) {
  event.at = new Date();
  event.number = ++counter;
  event.key = event.name === undefined ? null : encoded(event.name);
  if (event.kind === "granted") noteBegin(event.key, event.holder);
  events.unshift(event);
  if (events.length > kept) events.length = kept;
}

export const eventsOf = (key) => events.filter((event) => event.key === key || event.kind === "gap");

// {"event": "granted", ...}: its kind is called so here.
function parsed(message) {
  const {event: kind, ...more} = JSON.parse(message.data);
  return {kind, ...more};
}

// One stream for the whole page. The browser continues it by itself after the last position.
export function connect(changed) {
  source = new EventSource("/api/v1/events");
  const take = (isNode) => (message) => {
    add({...parsed(message), isNode});
    changed();
  };
  source.addEventListener("lock", take(false));
  source.addEventListener("node", take(true));
  source.addEventListener("begin", (message) => {
    if (counter === 0) add({...parsed(message), kind: "begin", isNode: false});
    changed();
  });
  source.onerror = () => {
    // A browser gives up for good when it is refused, for example with too many pages open.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => connect(changed), 5000);
    changed();
  };
  source.onopen = changed;
}

export const isLive = () => source?.readyState === EventSource.OPEN;

export function eventTable(caption, list, hasNames) {
  const columns = [{label: "Time", class: "time"}, {label: "What"},
    ...(hasNames ? [{label: "Name"}] : []), {label: "Token", class: "number"},
    {label: "Details"}];
  const rows = list.slice(0, drawn).map((event) => ({
    key: String(event.number),
    class: gravity(event),
    cells: [
      h("time", {datetime: event.at.toISOString()}, clock(event.at)),
      [event.isNode ? h("span", {class: "tag"}, "node") : null, event.isNode ? " " : null,
        h("span", {class: "what"}, textOf(event))],
      ...(hasNames ? [event.name === undefined ? nothing
        : h("a", {class: "mono name", href: `#/lock/${event.key}`}, shown(event.name))] : []),
      tokenOf(event),
      detailsOf(event) || nothing,
    ],
  }));
  return table(caption, columns, rows);
}

export function eventsView(refresh) {
  const all = paused ?? events;
  const list = all.filter((event) =>
    filter === "" || event.key === null || shown(event.name).startsWith(filter));
  const news = paused ? events[0]?.number - (paused[0]?.number ?? 0) : 0;
  const toggle = () => {
    paused = paused ? null : [...events];
    refresh();
  };
  return [
    h("div", {class: "head"},
      h("h1", {}, "Events"),
      searchField("event-prefix", "Names that begin with", filter, (text) => {
        filter = text;
        refresh();
      }),
      h("button", {type: "button", "aria-pressed": String(paused !== null), onclick: toggle},
        paused ? `Continue${news > 0 ? ` (${number(news)} new)` : ""}` : "Pause")),
    h("p", {class: "note"}, isLive()
      ? "Every change that the cluster decides, in its order. A gap is shown where changes are missing."
      : "The stream of events is interrupted. It continues by itself."),
    list.length > 0
      ? eventTable(`The newest first, at most ${drawn}`, list, true)
      : h("p", {class: "empty"}, "Nothing has happened since this page was opened."),
  ];
}
